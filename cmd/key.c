/*
 * key.c - seen key: the text that a URL is hashed as.
 *
 *     $ seen key HTTP://www.Example.com:80/a/../b
 *     http://www.example.com/b
 *     $ seen key --profile surt HTTP://www.Example.com:80/a/../b
 *     com,example)/b
 *
 * It shows why a URL is found or not, and makes canonical lists for other
 * programs. Every input line gives one output line, so that `paste` can put the
 * two side by side; for a bad URL the line is empty.
 */
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include <seen/cdx.h>
#include <seen/url.h>

#include "../lib/text/hex.h"
#include "ingest.h"
#include "json.h"
#include "output.h"

struct key {
    const char *profile, *base;
    struct cmd_inputs inputs;
    bool json;

    bool raw;  /* the profile */
    bool lost; /* a part of the input */
    uint64_t bad;
};

static const struct option options[] = {
    { "profile", 0, TEXT, "P", offsetof(struct key, profile),
      "raw, whatwg, surt, or surt:host, surt:1, surt:2 ... for the host and "
      "that many segments of the path; default whatwg" },
    { "base", 0, TEXT, "URL", offsetof(struct key, base),
      "the base of relative URLs; not under raw" },
    JSON_OPTION(
        struct key, json,
        "print one JSON object per line, with the hash: {\"url\": ..., \"key\": "
        "..., \"lo\": ..., \"hi\": ...}, or {\"url\": ..., \"error\": ...}"),
    INPUT_OPTIONS(struct key, inputs),
    { .name = NULL }
};

static enum seen_code make(const struct key *k, struct seen_key *key,
                           char *text, const struct seen_capture *c,
                           struct seen_error *why)
{
    static char room[SEEN_KEY_TEXT];
    const struct seen_keying keying = { .profile = k->profile };
    enum seen_made made;
    const char *whole;
    enum seen_code code;
    size_t len;

    if (c->fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", c->fault);
    if (!k->base)
        return seen_capture_key(key, text, c, &keying, &made, why);
    code = seen_url_whatwg(&whole, &len, room, c->url.text, c->url.len,
                           k->base, strlen(k->base), why);
    if (code == SEEN_OK)
        code = seen_key_make(key, text, whole, len, k->profile, why);
    return code;
}

static void show_hex(const char *name, uint64_t half)
{
    unsigned char bytes[8];
    char hex[17];

    for (int i = 7; i >= 0; i--, half >>= 8)
        bytes[i] = (unsigned char)half;
    hex_write(hex, bytes, 8);
    cmd_json_text(name, hex, 16);
}

static void show_json(const char *url, size_t len, const struct seen_key *key,
                      const struct seen_error *why)
{
    cmd_json_open(NULL, '{');
    cmd_json_text("url", url, len);
    if (key) {
        cmd_json_text("key", key->text, key->len);
        show_hex("lo", key->lo);
        show_hex("hi", key->hi);
    } else {
        cmd_json_word("error", why->text);
        cmd_json_count("at", why->at);
    }
    cmd_json_shut('}');
}

/* Print the key of one URL; `what` and `number` are for an error message. */
static bool answer(struct key *k, const struct seen_capture *c,
                   const char *input, const char *what, uint64_t number)
{
    static char text[SEEN_KEY_TEXT];
    struct seen_span url = c->url.len ? c->url : c->line;
    struct seen_error why;
    struct seen_key key;
    enum seen_code code = make(k, &key, text, c, &why);
    bool good = code == SEEN_OK;

    if (!good) {
        k->bad++;
        trouble("%s%s%s %llu: %s", input ? input : "", input ? ": " : "", what,
                (unsigned long long)number, why.text);
        if (k->inputs.strict || code == SEEN_NOMEM)
            return false;
    }
    if (k->json)
        show_json(url.text, url.len, good ? &key : NULL, &why);
    else if (good)
        output_bytes(key.text, key.len);
    if (!k->json)
        output_bytes("\n", 1);
    return true;
}

/* A line without a capture gets an answer, too, and is not an error. */
static void answer_empty(const struct key *k, uint64_t n)
{
    static const struct seen_error none = { .text = "there is no URL" };

    while (n--)
        if (k->json)
            show_json("", 0, NULL, &none);
        else
            output_bytes("\n", 1);
}

/* All captures of a piece; *before is the lines of its file so far. */
static bool answer_piece(struct key *k, struct seen_reader *reader, bool named,
                         uint64_t *before)
{
    const struct seen_piece *piece = seen_reader_piece(reader);
    const char *input = named ? piece->input : NULL;
    bool lines = piece->format != SEEN_FORMAT_WARC &&
                 piece->format != SEEN_FORMAT_ARC;
    uint64_t last = 0;
    struct seen_error why;
    struct seen_capture c;

    if (piece->first)
        *before = 0;
    while (!output_dead() && seen_reader_fill(reader)) {
        while (seen_reader_next(reader, &c)) {
            if (lines)
                answer_empty(k, piece->lines - last - 1);
            last = piece->lines;
            if (!answer(k, &c, input, "line", *before + last))
                return false;
        }
    }
    if (lines)
        answer_empty(k, piece->lines - last);
    *before += piece->lines;
    if (seen_reader_end(reader, &why) != SEEN_OK) {
        trouble("%s: %s; what follows is lost", piece->input, why.text);
        k->lost = true;
    }
    k->lost |= piece->damaged > 0;
    return true;
}

static enum outcome answer_inputs(struct key *k)
{
    static const char *const standard_input[] = { "-" };
    const struct texts *inputs = &k->inputs.inputs;
    struct seen_reader *reader = NULL;
    struct seen_source *source = NULL;
    const struct seen_layout *layout;
    const char *name, *packing;
    struct seen_error why;
    uint64_t before = 0;
    enum outcome out;
    bool more = true;

    out = cmd_source_open(&source, inputs->n ? inputs->text : standard_input,
                          inputs->n ? inputs->n : 1, &cmd_answering,
                          k->inputs.strict);
    if (out == YES &&
        seen_reader_new(&reader, source, SEEN_DETAIL_URL, &why) != SEEN_OK)
        out = trouble("%s", why.text);
    while (out == YES && more && !output_dead()) {
        bool named = seen_source_file(source, 1, &name, &layout, &packing);

        if (seen_source_next(source, reader, &more, &why) != SEEN_OK)
            out = trouble_with(seen_reader_piece(reader)->input, &why);
        else if (more && !answer_piece(k, reader, named, &before))
            out = TROUBLE;
    }
    if (out == YES && seen_source_lost(source)) {
        cmd_left_out_report(source);
        k->lost = true;
    }
    seen_reader_free(reader);
    seen_source_close(source);
    return out;
}

static enum outcome answer_operands(struct key *k, char **operand)
{
    static const struct seen_layout list = { .format = SEEN_FORMAT_URLS };

    for (uint64_t i = 1; *operand; operand++, i++) {
        struct seen_span url = { *operand, strlen(*operand) };
        struct seen_capture c = { .line = url, .url = url, .layout = &list };

        /* Other than a line, an operand may have tabs and line ends, which
           the parsers drop, and other control bytes, which they escape. */
        if (k->raw)
            c.fault = seen_key_fault(url.text, url.len);
        if (!answer(k, &c, NULL, "URL", i))
            return TROUBLE;
    }
    return YES;
}

static enum outcome look(struct key *k)
{
    static char text[SEEN_KEY_TEXT];
    struct seen_profile profile;
    struct seen_error why;
    const char *out;
    size_t len;

    if (!k->profile)
        k->profile = "whatwg";
    if (seen_profile_find(&profile, k->profile, &why) != SEEN_OK)
        return trouble_with("--profile", &why);
    k->raw = profile.rules == SEEN_RAW;
    if (!k->base)
        return YES;
    if (k->raw)
        return trouble("--base: profile raw takes URLs as they are given");
    if (seen_url_whatwg(&out, &len, text, k->base, strlen(k->base), NULL, 0,
                        &why) != SEEN_OK)
        return trouble_with("--base", &why);
    return YES;
}

static enum outcome run(void *settings, char **operand)
{
    struct key *k = settings;
    enum outcome out = TROUBLE;

    if (cmd_operands_check(operand, &k->inputs.inputs, k->base) == YES &&
        look(k) == YES)
        out = *operand ? answer_operands(k, operand) : answer_inputs(k);
    if (out == YES && k->lost)
        out = TROUBLE;
    else if (out == YES && k->bad)
        out = NO;
    return out;
}

const struct command cmd_key = {
    .name = "key",
    .summary = "print the text that a URL is hashed as",
    .synopsis = "[URL...]",
    .most = -1,
    .settings = sizeof(struct key),
    .options = options,
    .about =
        "Prints the canonical text of every URL under a profile, one per line: "
        "the text that a filter of that profile hashes. Two URLs with the same "
        "text are one URL to the filter.\n"
        "\n"
        "URLs are operands, or come from the files and folders given by -i, or "
        "from standard input: lists, and all that seen build reads. A bad URL "
        "gives an empty line, and so does an empty line, so that output lines "
        "match input lines; the reasons are printed on standard error.\n",
    .exits = "0 if every URL has a key, 1 if at least one has none, 2 if "
             "something went wrong.",
    .examples = "$ seen key HTTP://www.Example.com:80/a/../b\n"
                "http://www.example.com/b\n"
                "$ seen key --profile surt HTTP://www.Example.com:80/a/../b\n"
                "com,example)/b\n"
                "$ seen key --base http://a.example/x/y ../z\n"
                "http://a.example/z\n",
    .run = run,
};
