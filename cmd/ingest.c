/*
 * ingest.c - operands, files or standard input, as batches of keys.
 *
 * Files are read by libseen, in several threads; operands are made into the
 * same batches here, so that a command has one function for both. Order is
 * kept wherever answers are printed: a bad line in the middle is answered after
 * the URLs before it, which is why the batch is handed over first.
 *
 * Before a pipe is waited for, output is flushed: a program that writes one URL
 * and reads its answer must not wait for a full buffer of ours.
 */
#include "ingest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/text/number.h"
#include "json.h"
#include "output.h"
#include "progress.h"

const struct command_absent cmd_keys_absent[] = {
    { "recanonicalise", "it is --keys derived now" }, { .name = NULL }
};

enum { MOST_THREADS = 256 };

unsigned cmd_ingest_threads(uint64_t asked)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (!asked)
        asked = cores > 0 ? (uint64_t)cores : 1;
    return asked < MOST_THREADS ? (unsigned)asked : MOST_THREADS;
}

/* --- files --- */

static void flush(void *to)
{
    (void)to;
    output_flush();
}

const struct seen_source_options cmd_answering = { .in_order = true,
                                                   .wait = flush };

enum outcome cmd_source_open(struct seen_source **out,
                             const char *const *input, size_t n,
                             const struct seen_source_options *options,
                             bool strict)
{
    const struct seen_error *left;
    struct seen_error why;
    const char *name;

    if (seen_source_open(out, input, n, options, &why) != SEEN_OK) {
        name = why.at < n ? input[why.at] : "inputs";
        return trouble_with(strcmp(name, "-") ? name : "standard input", &why);
    }
    for (size_t i = 0; seen_source_fault(*out, i, &name, &left); i++) {
        if (strict)
            return trouble_with(name, left);
        warning("%s: %s; left out", name, left->text);
    }
    return YES;
}

static void show_progress(void *to, const struct seen_ingest *in)
{
    (void)to;
    cmd_progress_at(in->bytes, in->tally.lines, in->tally.urls);
}

enum outcome cmd_ingest_run(struct seen_ingest *in, const char *what,
                            struct seen_error *why)
{
    enum seen_code code;

    why->code = SEEN_OK;
    in->progress = show_progress;
    cmd_progress_begin(what, seen_source_bytes(in->source));
    code = seen_ingest_run(in, why);
    cmd_progress_clear();
    if (in->strict && in->rejects.count)
        why->code = SEEN_OK;
    return code == SEEN_OK ? YES : TROUBLE;
}

/* --- the keys of an index --- */

bool cmd_keys_read(enum seen_index_keys *keys, const char *word)
{
    static const char *const words[] = { "auto", "trusted", "derived" };

    *keys = SEEN_KEYS_AUTO;
    for (int i = 0; word && i < 3; i++)
        if (!strcmp(word, words[i])) {
            *keys = (enum seen_index_keys)i;
            return true;
        }
    if (word)
        trouble("--keys: %s is neither trusted nor derived nor auto", word);
    return !word;
}

/*
 * A filter that does not say how its keys were made has those of URLs, or is
 * of an earlier version. Deriving is right for the one, and gives the other
 * what a lookup of the URL gives.
 */
enum outcome cmd_keys_choose(struct seen_keying *keying, const char *word)
{
    enum seen_index_keys asked;

    if (!cmd_keys_read(&asked, word))
        return TROUBLE;
    if (asked == SEEN_KEYS_TRUSTED && keying->keys == SEEN_KEYS_DERIVED)
        return trouble("--keys: the filter has keys that were derived from "
                       "URLs; trusted ones may differ");
    if (asked != SEEN_KEYS_AUTO)
        keying->keys = asked;
    else if (keying->keys == SEEN_KEYS_AUTO)
        keying->keys = SEEN_KEYS_DERIVED;
    return YES;
}

enum outcome cmd_keys_report(const struct seen_ingest *in, const char *word)
{
    const struct seen_agreement *a = &in->agreement;
    bool asked = word && strcmp(word, "auto");

    if (in->keying.keys != SEEN_KEYS_TRUSTED || !a->differ)
        return YES;
    warning("%s of %s of the index have keys that differ from ours: %s line "
            "%llu has %s, but its URL has %s; --keys derived derives them",
            show_count(a->differ), show_counted(a->checked, "checked line"),
            a->input, (unsigned long long)a->line, a->key, a->ours);
    return asked ? YES : TROUBLE;
}

uint64_t cmd_ingest_lost(const struct seen_ingest *in)
{
    return in->tally.lost + in->tally.damaged + seen_source_lost(in->source);
}

void cmd_left_out_report(const struct seen_source *source)
{
    size_t lost = seen_source_lost(source);

    if (lost)
        warning("%s left out: %s URLs were not read",
                show_counted(lost, "file"), lost == 1 ? "its" : "their");
}

struct cmd_wait {
    const struct seen_ingest *in;
    const struct cmd_inputs *given;
};

static void before_wait(void *to)
{
    const struct cmd_wait *w = to;

    if (w->given->wait)
        w->given->wait(w->in->to);
    output_flush();
}

static enum outcome take_inputs(struct seen_ingest *in,
                                const struct cmd_inputs *given,
                                struct seen_error *why)
{
    const struct texts *inputs = &given->inputs;
    static const char *const standard_input[] = { "-" };
    struct cmd_wait waiting = { in, given };
    const struct seen_source_options options = { .in_order = true,
                                                 .wait = before_wait,
                                                 .to = &waiting };
    enum outcome out;

    out = cmd_source_open(&in->source,
                          inputs->n ? inputs->text : standard_input,
                          inputs->n ? inputs->n : 1, &options, in->strict);
    if (out == YES) {
        out = cmd_ingest_run(in, "reading", why);
        cmd_rejects_report(in);
        cmd_left_out_report(in->source);
        if (cmd_ingest_lost(in) && out == YES)
            out = TROUBLE; /* and `why` says nothing more */
        if (cmd_keys_report(in, given->keys) != YES)
            out = TROUBLE;
    }
    seen_source_close(in->source);
    in->source = NULL;
    return out;
}

/* --- operands --- */

static enum seen_code hand_over(struct seen_ingest *in,
                                struct seen_batch *batch,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (batch->n)
        code = in->keys(in->to, 0, batch, why);
    batch->n = 0;
    batch->used = 0;
    return code;
}

/* An answer is one line: without tabs and line ends, which are not part of a
   URL (profile raw refuses them), and not longer than the longest URL. */
static void make_line(char *url)
{
    char *to = url;

    for (const char *from = url; *from && to - url < SEEN_LINE_TEXT; from++)
        if (!strchr("\t\n\r", *from))
            *to++ = *from;
    *to = '\0';
}

/*
 * With in->bad the URL gets its answer, after those before it, and the others
 * get theirs. Without it, the command stops.
 */
static bool pass_bad(struct seen_ingest *in, struct seen_batch *batch,
                     char *url, const char *cause, enum seen_code *code,
                     struct seen_error *why)
{
    if (!in->bad)
        return false;
    *code = hand_over(in, batch, why);
    make_line(url);
    if (*code == SEEN_OK)
        in->bad(in->to, (struct seen_span){ url, strlen(url) }, cause);
    return !in->strict;
}

static enum outcome take_operands(struct seen_ingest *in, char **operand,
                                  struct seen_error *why)
{
    struct seen_batch *batch = calloc(1, sizeof *batch);
    struct seen_profile profile;
    enum seen_code code = batch ? SEEN_OK : SEEN_NOMEM;
    enum outcome out = YES;
    struct seen_error bad;
    bool go_on = true;

    if (!batch)
        return trouble("no memory for %zu bytes", sizeof *batch);
    seen_profile_find(&profile, in->keying.profile, NULL); /* a plan's */
    for (size_t i = 0; operand[i] && code == SEEN_OK && go_on; i++) {
        if (!seen_batch_room(batch))
            code = hand_over(in, batch, why);
        if (profile.rules != SEEN_RAW && strlen(operand[i]) <= SEEN_LINE_TEXT)
            make_line(operand[i]);
        if (code == SEEN_OK &&
            seen_batch_add(batch, operand[i], strlen(operand[i]), &profile,
                           &bad) != SEEN_OK) {
            out = trouble("URL %zu: %s", i + 1, bad.text);
            go_on = pass_bad(in, batch, operand[i], bad.text, &code, why);
        }
    }
    if (code == SEEN_OK)
        code = hand_over(in, batch, why);
    if (code == SEEN_OK)
        why->code = SEEN_OK;
    free(batch);
    return code == SEEN_OK ? out : TROUBLE;
}

/* `seen add f urls.txt` would add the name of the file. */
enum outcome cmd_operands_check(char **operand, const struct texts *inputs,
                                bool relative)
{
    if (*operand && inputs->n)
        return trouble("%s: URLs are operands or come from -i, not both",
                       *operand);
    for (; *operand; operand++) {
        if (!strcmp(*operand, "-"))
            return trouble("-: not a URL; without URLs and -i, standard "
                           "input is read");
        if (!relative && !strstr(*operand, "://") &&
            access(*operand, F_OK) == 0)
            return trouble("%s: a file, not a URL; to read the URLs in it, "
                           "use -i %s",
                           *operand, *operand);
    }
    return YES;
}

enum outcome cmd_ingest_urls(struct seen_ingest *in,
                             const struct cmd_inputs *inputs, char **operand,
                             struct seen_error *why)
{
    why->code = SEEN_OK;
    if (cmd_operands_check(operand, &inputs->inputs, false) != YES ||
        cmd_keys_choose(&in->keying, inputs->keys) != YES)
        return TROUBLE;
    in->strict = inputs->strict;
    in->compare = in->keying.keys == SEEN_KEYS_TRUSTED &&
                  (!inputs->keys || !strcmp(inputs->keys, "auto"));
    return *operand ? take_operands(in, operand, why)
                    : take_inputs(in, inputs, why);
}

/* --- bad lines --- */

void cmd_answer_bad(bool json, const char *name, struct seen_span line,
                    const char *cause)
{
    if (json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("url", line.text, line.len);
        if (name)
            cmd_json_null(name);
        cmd_json_word("error", cause);
        cmd_json_shut('}');
    } else {
        output_text("bad\t");
        output_bytes(line.text, line.len);
        output_bytes("\n", 1);
    }
}

/* "line 17, 20, 41", or "a.txt line 17, b.txt line 3". */
static void places(const struct seen_cause *c, bool named, char *text,
                   size_t room)
{
    uint64_t n = c->count < SEEN_PLACES ? c->count : SEEN_PLACES;
    const char *last = NULL;
    size_t len = 0;

    for (uint64_t i = 0; i < n && len < room; i++) {
        const char *input = c->at[i].input;
        bool name = named && input && (!last || strcmp(input, last));

        len += (size_t)snprintf(text + len, room - len, "%s%s%s%s%llu",
                                i ? ", " : "", name ? input : "",
                                name ? " " : "", name || !i ? "line " : "",
                                (unsigned long long)c->at[i].line);
        last = input;
    }
    if (c->count > SEEN_PLACES && len < room)
        snprintf(text + len, room - len, ", ...");
}

void cmd_rejects_report(const struct seen_ingest *in)
{
    const struct seen_cause *c = in->rejects.cause;
    const struct seen_layout *layout;
    const char *name, *packing;
    bool named = seen_source_file(in->source, 1, &name, &layout, &packing);
    char text[1024];

    if (in->strict && c->count) {
        trouble("%s%sline %llu: %s", named ? c->at[0].input : "",
                named ? " " : "", (unsigned long long)c->at[0].line, c->text);
        return;
    }
    for (int i = 0; i < SEEN_CAUSES && c[i].count; i++) {
        places(&c[i], named, text, sizeof text);
        if (c[i].cost == SEEN_COST_REST)
            warning("%s not read to the end: %s (%s)",
                    show_counted(c[i].count, "input"), c[i].text, text);
        else if (c[i].cost == SEEN_COST_RECORD)
            warning("%s passed over: %s (%s)",
                    show_counted(c[i].count, "damaged record"), c[i].text,
                    text);
        else if (in->bad)
            warning("%s: %s (%s)", show_counted(c[i].count, "bad line"),
                    c[i].text, text);
        else
            warning("%s left out: %s (%s)", show_counted(c[i].count, "line"),
                    c[i].text, text);
    }
    if (in->tally.skipped)
        warning("%s of damaged records skipped",
                show_bytes(in->tally.skipped));
}
