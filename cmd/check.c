/*
 * check.c - seen check: which of these URLs has the filter seen?
 *
 *     $ seen check crawl.seen http://a.example/ http://b.example/
 *     seen    http://a.example/
 *     new     http://b.example/
 *     $ seen check --only new crawl.seen < found.txt > to-fetch.txt
 *
 * The exit code is 0 when every URL was seen, 1 when at least one is new,
 * 2 when something went wrong. Each line gets its line of answer, a bad one
 *
 *     bad     http://a b.example/
 *
 * so that a program at the other end of a pair of pipes never waits for an
 * answer that does not come, and never reads a bad line as "seen": the exit
 * code is then 2. With --strict a bad line ends the run.
 */
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "ingest.h"
#include "json.h"
#include "output.h"

extern const struct command cmd_check;

enum check_answer { NEW, SEEN, BAD, ANSWERS };
static const char *const word[] = { "new", "seen", "bad" };

struct check {
    const char *only;
    bool count, prefix, json;
    struct access_options access;
    struct cmd_inputs inputs;

    const char *path;
    struct seen_filter *filter;
    struct seen_ingest in;
    uint64_t sum[ANSWERS];
    bool seen[SEEN_BATCH];
};

static const struct option options[] = {
    { "only", 0, TEXT, "new|seen|bad", offsetof(struct check, only),
      "print only these URLs, without the word" },
    { "count", 0, FLAG, NULL, offsetof(struct check, count),
      "print only how many" },
    { "prefix", 0, FLAG, NULL, offsetof(struct check, prefix),
      "check whether any URL below this one was added; needs a layered filter, "
      "which may also say yes when segments of several URLs combine" },
    { "json", 0, FLAG, NULL, offsetof(struct check, json),
      "print one JSON object per line: {\"url\": ..., \"seen\": true}; for a bad "
      "URL {\"url\": ..., \"seen\": null, \"error\": ...}" },
    ACCESS_OPTIONS(struct check, access),
    INPUT_OPTIONS(struct check, inputs),
    KEYS_OPTION(struct check, inputs),
    { .name = NULL }
};

static bool wanted(const struct check *c, enum check_answer answer)
{
    return !c->only || !strcmp(c->only, word[answer]);
}

/* Print "new<TAB>URL"; with --only the URL alone, and not for the others. */
static void show(const struct check *c, enum check_answer answer,
                 struct seen_span url)
{
    if (c->count || !wanted(c, answer))
        return;
    if (c->json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("url", url.text, url.len);
        cmd_json_flag("seen", answer == SEEN);
        cmd_json_shut('}');
        return;
    }
    if (!c->only) {
        output_text(word[answer]);
        output_bytes("\t", 1);
    }
    output_bytes(url.text, url.len);
    output_bytes("\n", 1);
}

/* With --only the number alone. */
static void show_sums(const struct check *c)
{
    if (c->json)
        cmd_json_open(NULL, '{');
    for (int i = NEW; i < ANSWERS; i++) {
        if (c->json && wanted(c, i))
            cmd_json_count(word[i], c->sum[i]);
        else if (c->only && wanted(c, i))
            output_format("%llu\n", (unsigned long long)c->sum[i]);
        else if (wanted(c, i) && (i != BAD || c->sum[BAD]))
            output_format("%s\t%llu\n", word[i],
                          (unsigned long long)c->sum[i]);
    }
    if (c->json)
        cmd_json_shut('}');
}

static enum seen_code look_up(struct check *c, const struct seen_batch *batch,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!c->prefix)
        return seen_filter_has(c->filter, batch->key, batch->n, c->seen, why);
    for (size_t i = 0; i < batch->n && code == SEEN_OK; i++)
        code = seen_filter_has_prefix(c->filter, &batch->key[i], &c->seen[i],
                                      why);
    return code;
}

static enum seen_code answer(void *to, unsigned thread,
                             struct seen_batch *batch, struct seen_error *why)
{
    struct check *c = to;
    enum seen_code code = look_up(c, batch, why);

    (void)thread;
    if (code != SEEN_OK)
        return code;
    if (c->prefix && !c->sum[NEW] && !c->sum[SEEN])
        warning("%s: a prefix may be reported as seen although nothing is "
                "below it: its segments may come from several URLs",
                c->path);
    for (size_t i = 0; i < batch->n; i++) {
        enum check_answer a = c->seen[i] ? SEEN : NEW;

        c->sum[a]++;
        show(c, a, batch->url[i]);
    }
    c->in.stop = output_dead();
    return SEEN_OK;
}

static void answer_bad(void *to, struct seen_span line, const char *cause)
{
    struct check *c = to;

    c->sum[BAD]++;
    if (c->json && !c->count && wanted(c, BAD))
        cmd_answer_bad(true, "seen", line, cause);
    else if (!c->json)
        show(c, BAD, line);
    c->in.stop = output_dead();
}

static enum outcome check(struct check *c, char **url)
{
    struct seen_error why;
    enum outcome out;

    c->in = (struct seen_ingest){
        .keying = access_keying(c->filter),
        .detail = SEEN_DETAIL_URL,
        .every = true,
        .keys = answer,
        .bad = answer_bad,
        .to = c,
    };
    out = cmd_ingest_urls(&c->in, &c->inputs, url, &why);
    if (why.code != SEEN_OK)
        return trouble_with(c->path, &why);
    if (c->count && (out == YES || c->sum[NEW] || c->sum[SEEN] || c->sum[BAD]))
        show_sums(c);
    if (c->sum[BAD])
        return TROUBLE; /* the bad lines were reported */
    return out == YES && c->sum[NEW] ? NO : out;
}

static enum outcome run(char **argv)
{
    struct check *c = calloc(1, sizeof *c);
    enum outcome out = TROUBLE;
    char **operand;

    if (!c)
        return trouble("no memory for %zu bytes", sizeof *c);
    operand = options_read(&cmd_check, c, argv);
    if (!operand)
        goto free_check;
    c->filter = access_read(operand[0], &c->access, !operand[1]);
    if (!c->filter)
        goto free_check;
    c->path = operand[0];
    out = finish(check(c, operand + 1));
    seen_filter_free(c->filter);
free_check:
    free(c);
    return out;
}

const struct command cmd_check = {
    .name = "check",
    .summary = "print which URLs a filter has seen",
    .synopsis = "FILTER [URL...]",
    .operands = 1,
    .most = -1,
    .options = options,
    .about =
        "Prints one line per URL: seen or new, a tab, and the URL. A new URL "
        "was certainly never added. A seen one was added, or is a false "
        "positive; seen info prints how often that happens.\n"
        "\n"
        "URLs are operands, or come from the files and folders given by -i, or "
        "from standard input: lists, and all that seen build reads. Answers are "
        "printed as soon as the input pauses, so a program can send URLs line "
        "by line through a pair of pipes. Every line of a list gets one line of "
        "answer: for one that is empty or not a URL it is bad, a tab, and the "
        "line.\n"
        "\n"
        "FILTER may also be the address of a filter on a server, such as "
        "redis://HOST:PORT/NAME or bf://HOST:PORT/NAME: see doc/remote.md.\n",
    .exits = "0 if all URLs were seen, 1 if at least one is new, 2 if "
             "a URL was bad or something else went wrong.",
    .examples = "$ seen check crawl.seen http://a.example/ http://b.example/\n"
                "seen\thttp://a.example/\n"
                "new\thttp://b.example/\n"
                "$ seen check --only new crawl.seen <found.txt >to-fetch.txt\n"
                "$ seen check --count crawl.seen -i found.txt\n",
    .run = run,
};
