/*
 * warc.c - seen warc check: are WARC files, and their index, what they should
 * be?
 */
#include "command.h"

#include <stdio.h>
#include <string.h>

#include "../lib/text/number.h"
#include "../warc/check.h"
#include "json.h"
#include "output.h"

struct warc {
    const char *index;
    bool json, notes, strict, quiet;
    bool in_index; /* faults are of lines */
};

static const struct option options[] = {
    { "index", 0, PATH, "FILE", offsetof(struct warc, index),
      "also check that every line of this CDXJ file leads to its record; "
      "give all WARC files that it names" },
    { "notes", 0, FLAG, NULL, offsetof(struct warc, notes),
      "also print what is allowed but not recommended, or cannot be verified" },
    { "strict", 0, FLAG, NULL, offsetof(struct warc, strict),
      "take notes as faults" },
    QUIET_OPTION(struct warc, quiet),
    JSON_OPTION(struct warc, json,
                "print a JSON object per fault and per file"),
    { .name = NULL }
};

static void show(void *owner, const struct warc_fault *f)
{
    const struct warc *w = owner;

    if (f->note && !w->notes && !w->strict)
        return;
    if (w->json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("file", f->file, strlen(f->file));
        cmd_json_count(w->in_index ? "line" : "at", f->at);
        if (f->record)
            cmd_json_count("record", f->record);
        if (*f->type)
            cmd_json_word("type", f->type);
        if (*f->url)
            cmd_json_text("url", f->url, strlen(f->url));
        cmd_json_text(f->note ? "note" : "fault", f->text, strlen(f->text));
        cmd_json_shut('}');
        return;
    }
    output_format("%s: %s %llu: ", f->file, w->in_index ? "line" : "byte",
                  (unsigned long long)f->at);
    if (*f->type)
        output_format("%s: ", f->type);
    if (*f->url)
        output_format("%s: ", f->url);
    output_format("%s%s\n", f->note ? "note: " : "", f->text);
}

static void report_file(const struct warc *w, const char *path,
                        const struct warc_counts *c)
{
    if (w->json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("file", path, strlen(path));
        cmd_json_count("bytes", c->bytes);
        cmd_json_flag("gzip", c->gzip);
        if (c->records) {
            char version[32];

            snprintf(version, sizeof version, "%u.%u", c->major, c->minor);
            cmd_json_word("version", version);
        }
        cmd_json_count("records", c->records);
        cmd_json_open("types", '{');
        for (unsigned i = 0; i < WARC_TYPES; i++)
            if (c->type[i])
                cmd_json_count(warc_type_name(i), c->type[i]);
        cmd_json_shut('}');
        cmd_json_count("digests", c->digests);
        cmd_json_count("faults", c->faults);
        cmd_json_count("notes", c->notes);
        cmd_json_count("damaged", c->damaged);
        cmd_json_count("skipped", c->skipped);
        if (c->torn)
            cmd_json_count("torn", c->whole);
        cmd_json_shut('}');
    } else if (!w->quiet) {
        output_format("%s: %s, %s right, %s\n", path,
                      show_counted(c->records, "record"),
                      show_counted(c->digests, "digest"),
                      show_counted(c->faults, "fault"));
    }
}

static void report_index(const struct warc *w, const struct warc_lines *l)
{
    if (w->json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("index", w->index, strlen(w->index));
        cmd_json_count("lines", l->lines);
        cmd_json_count("faults", l->faults);
        cmd_json_count("notes", l->notes);
        cmd_json_count("unindexed", l->unindexed);
        cmd_json_flag("sorted", !l->unsorted);
        cmd_json_shut('}');
    } else if (!w->quiet) {
        output_format("%s: %s, %s, %s without a line%s\n", w->index,
                      show_counted(l->lines, "line"),
                      show_counted(l->faults, "fault"),
                      show_counted(l->unindexed, "capture"),
                      l->unsorted ? "; not sorted" : "");
    }
}

/* The sum over all files, and what was found only by comparing them. */
static void add(struct warc_counts *sum, const struct warc_counts *c)
{
    sum->records += c->records;
    sum->faults += c->faults;
    sum->notes += c->notes;
}

static enum outcome check_index(struct warc *w, struct warc_check *c,
                                struct warc_counts *sum)
{
    struct warc_lines lines;
    struct seen_error why;

    w->in_index = true;
    if (warc_check_index(c, w->index, &lines, &why) != SEEN_OK)
        return trouble_with(w->index, &why);
    w->in_index = false;
    sum->faults += lines.faults;
    sum->notes += lines.notes;
    report_index(w, &lines);
    return YES;
}

static enum outcome check(struct warc *w, char **file)
{
    struct warc_counts sum = { .bytes = 0 }, one;
    struct warc_check *c;
    struct seen_error why;
    enum outcome out = YES;

    if (warc_check_new(&c, show, w, &why) != SEEN_OK)
        return trouble("%s", why.text);
    for (; *file && !output_dead(); file++) {
        if (warc_check_file(c, *file, &one, &why) == SEEN_OK)
            report_file(w, *file, &one);
        else
            out = trouble_with(*file, &why);
        add(&sum, &one);
    }
    if (warc_check_end(c, &sum, &why) != SEEN_OK)
        out = trouble("%s", why.text);
    if (w->index && check_index(w, c, &sum) != YES)
        out = TROUBLE;
    warc_check_free(c);
    if (out == YES && (sum.faults || (w->strict && sum.notes)))
        out = NO;
    return out;
}

static enum outcome run_check(void *settings, char **operand)
{
    return check(settings, operand);
}

static const struct command_part parts[] = {
    { "check", "FILE...", 1, -1, NULL, run_check }, { .name = NULL }
};

const struct command cmd_warc = {
    .name = "warc",
    .summary = "check WARC files and their index",
    .synopsis = "check FILE...",
    .operands = 2,
    .most = -1,
    .settings = sizeof(struct warc),
    .options = options,
    .about =
        "Checks WARC files, plain or gzip, of version 1.0 and 1.1: gzip members "
        "and their checksums, one record per member; the fields that the "
        "standard demands, forbids and describes; lengths; the digests of "
        "blocks and payloads (SHA-1, SHA-256, MD5 and others, in base32 or "
        "base16); record ids that are used twice; and what revisit records "
        "refer to. Each fault is a line with the file, the byte where its "
        "record begins, and the reason; then one line per file with counts.\n"
        "\n"
        "The payload of an HTTP message is its body without chunks. A digest "
        "of the body with its chunks, as some programs write it, is a note. "
        "Notes are printed by --notes and change the exit code only with "
        "--strict.\n"
        "\n"
        "After damage the check goes on with the next gzip member or record "
        "that it finds. If the file ends inside a record, the fault says how "
        "many bytes before it are whole: truncate -s cuts the file there.\n"
        "\n"
        "With --index every line of a CDXJ file must point to a record with "
        "its URL, date, digest, length and status. Captures without a line are "
        "counted and are not faults.\n",
    .exits = "0 if no fault was found, 1 if there are faults, 2 if something "
             "could not be read.",
    .examples = "$ seen warc check crawl/warc/*.warc.gz\n"
                "$ seen warc check --index crawl/index.cdxj "
                "crawl/warc/*.warc.gz\n"
                "$ seen warc check --json old.warc | jq .fault\n",
    .parts = parts,
};
