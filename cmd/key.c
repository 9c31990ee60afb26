/*
 * key.c - seen key: the text that a URL is hashed as.
 *
 *     $ seen key HTTP://www.Example.com:80/a/../b
 *     http://www.example.com/b
 *     $ seen key --profile surt HTTP://www.Example.com:80/a/../b
 *     com,example)/b
 *
 * It tells why a URL is found or not, and makes canonical lists for other
 * programs. A line goes out for every line that comes in, so that `paste` can
 * put the two beside each other: of what is no URL, an empty one.
 */
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include <seen/url.h>

#include "json.h"
#include "lines.h"
#include "output.h"

extern const struct command cmd_key;

struct key {
    const char *profile, *base;
    struct texts inputs;
    bool json, strict;

    struct seen_profile as;
    uint64_t bad;
};

static const struct option options[] = {
    { "profile", 0, TEXT, "P", offsetof(struct key, profile),
      "raw, whatwg, surt, or surt:host, surt:1, surt:2 ... for the host and "
      "as many segments of the path; default whatwg" },
    { "base", 0, TEXT, "URL", offsetof(struct key, base),
      "what relative URLs are relative to; not under raw" },
    { "json", 0, FLAG, NULL, offsetof(struct key, json),
      "print a JSON object a line, with the hash: {\"url\": ..., \"key\": "
      "..., \"lo\": ..., \"hi\": ...}, or {\"url\": ..., \"error\": ...}" },
    { "input", 'i', PATHS, "INPUT", offsetof(struct key, inputs),
      "read URLs from this file, a line each; - is standard input; may be "
      "given many times" },
    { "strict", 0, FLAG, NULL, offsetof(struct key, strict),
      "stop at the first URL that cannot be used, with exit code 2" },
    { .name = NULL }
};

static enum seen_code make(const struct key *k, struct seen_key *key,
                           char *text, char *whole, const char *url,
                           size_t len, struct seen_error *why)
{
    const char *fault = seen_key_fault(url, len);
    enum seen_code code;

    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    if (k->base) {
        code = seen_url_whatwg(&url, &len, whole, url, len, k->base,
                               strlen(k->base), why);
        if (code != SEEN_OK)
            return code;
    }
    return seen_key_make_as(key, text, url, len, &k->as, why);
}

static void show_hex(const char *name, uint64_t half)
{
    char hex[17];

    for (int i = 15; i >= 0; i--, half >>= 4)
        hex[i] = "0123456789abcdef"[half & 15];
    json_text(name, hex, 16);
}

static void show_json(const char *url, size_t len, const struct seen_key *key,
                      const struct seen_error *why)
{
    json_open(NULL, '{');
    json_text("url", url, len);
    if (key) {
        json_text("key", key->text, key->len);
        show_hex("lo", key->lo);
        show_hex("hi", key->hi);
    } else {
        json_word("error", why->text);
        json_count("at", why->at);
    }
    json_shut('}');
}

/* Answer for one URL; `what` and `number` say which, if it is a bad one. */
static bool answer(struct key *k, const char *url, size_t len,
                   const char *input, const char *what, uint64_t number)
{
    static char text[SEEN_KEY_TEXT], whole[SEEN_KEY_TEXT];
    struct seen_error why;
    struct seen_key key;
    bool good = make(k, &key, text, whole, url, len, &why) == SEEN_OK;

    if (!good) {
        k->bad++;
        trouble("%s%s%s %llu: %s", input ? input : "", input ? ": " : "", what,
                (unsigned long long)number, why.text);
        if (k->strict)
            return false;
    }
    if (k->json)
        show_json(url, len, good ? &key : NULL, &why);
    else if (good)
        output_bytes(key.text, key.len);
    if (!k->json)
        output_bytes("\n", 1);
    return true;
}

/* Lines that are empty are answered by an empty line, and are no fault. */
static void answer_empty(const struct key *k, uint64_t n)
{
    while (n-- && !k->json)
        output_bytes("\n", 1);
}

static bool answer_block(struct key *k, struct block *b, uint64_t before)
{
    const char *line;
    uint64_t last = 0;
    size_t len;

    while (!output_dead() && block_line(b, &line, &len)) {
        answer_empty(k, b->line - last - 1);
        last = b->line;
        if (!answer(k, line, len, b->input, "line", before + last))
            return false;
    }
    answer_empty(k, b->line - last);
    return true;
}

static enum outcome answer_lines(struct key *k)
{
    enum outcome out = YES;
    struct seen_error why;
    struct lines l;
    struct block b;
    const char *name;
    uint64_t before = 0;

    if (lines_open(&l, k->inputs.text, k->inputs.n, &name, &why) != SEEN_OK)
        return trouble_with(name, &why);
    if (block_init(&b, &why) != SEEN_OK)
        return trouble("%s", why.text);
    l.eager = true;
    while (out == YES && !output_dead()) {
        if (lines_next(&l, &b, &name, &why) != SEEN_OK) {
            out = trouble_with(name, &why);
        } else if (!b.len) {
            break;
        } else {
            if (b.first)
                before = 0;
            if (!answer_block(k, &b, before))
                out = TROUBLE;
            before += b.line;
        }
    }
    block_clear(&b);
    lines_close(&l);
    return out;
}

static enum outcome answer_operands(struct key *k, char **operand)
{
    for (uint64_t i = 1; *operand; operand++, i++)
        if (!answer(k, *operand, strlen(*operand), NULL, "URL", i))
            return TROUBLE;
    return YES;
}

static enum outcome look(struct key *k)
{
    static char text[SEEN_KEY_TEXT];
    struct seen_error why;
    const char *out;
    size_t len;

    if (seen_profile_find(&k->as, k->profile ? k->profile : "whatwg", &why) !=
        SEEN_OK)
        return trouble_with("--profile", &why);
    if (!k->base)
        return YES;
    if (k->as.rules == SEEN_RAW)
        return trouble("--base: profile raw takes URLs as they are given");
    if (seen_url_whatwg(&out, &len, text, k->base, strlen(k->base), NULL, 0,
                        &why) != SEEN_OK)
        return trouble_with("--base", &why);
    return YES;
}

static enum outcome run(char **argv)
{
    struct key *k = calloc(1, sizeof *k);
    char **operand = k ? options_read(&cmd_key, k, argv) : NULL;
    enum outcome out = TROUBLE;

    if (!k)
        return trouble("no memory for %zu bytes", sizeof *k);
    if (operand && *operand && k->inputs.n)
        trouble("%s: URLs are operands or come from -i, not both", *operand);
    else if (operand && look(k) == YES)
        out = *operand ? answer_operands(k, operand) : answer_lines(k);
    if (out == YES && k->bad)
        out = NO;
    free(k);
    return finish(out);
}

const struct command cmd_key = {
    .name = "key",
    .summary = "print the text that a URL is hashed as",
    .synopsis = "[URL...]",
    .most = -1,
    .options = options,
    .about =
        "Prints the canonical text of every URL under a profile, on a line of "
        "its own: what a filter of that profile remembers of it. Two URLs with "
        "the same text are one URL to the filter.\n"
        "\n"
        "URLs are operands, or lines of the files given by -i, or lines of "
        "standard input. A URL that cannot be used is answered by an empty "
        "line, and an empty line by an empty line, so that answers stay "
        "beside questions; standard error has the reasons.\n",
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
