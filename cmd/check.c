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

#include "check.h"
#include "json.h"
#include "output.h"

static const char *const word[] = { "new", "seen", "bad" };

struct check {
    struct check_options o;
    const char *path;
    struct seen_filter *filter;
    struct seen_ingest in;
    uint64_t sum[CHECK_ANSWERS];
    bool seen[SEEN_BATCH];
};

static const struct option options[] = {
    { "filter", 'f', PATHS, "FILTER", offsetof(struct check_options, filters),
      "ask this filter, NAME=FILTER, or all of a folder; may be given many "
      "times; then all operands are URLs" },
    { "only", 0, TEXT, "new|seen|bad", offsetof(struct check_options, only),
      "print only these URLs, without the word" },
    { "count", 0, FLAG, NULL, offsetof(struct check_options, count),
      "print only how many" },
    { "prefix", 0, FLAG, NULL, offsetof(struct check_options, prefix),
      "check whether any URL below this one was added; needs a layered filter, "
      "which may also say yes when segments of several URLs combine" },
    JSON_OPTION(
        struct check_options, json,
        "print one JSON object per line: {\"url\": ..., \"seen\": true}; for a bad "
        "URL {\"url\": ..., \"seen\": null, \"error\": ...}"),
    { "decoys", 0, COUNT, "N",
      offsetof(struct check_options, access.web.decoys),
      "of a filter on a web server: with each block ask for N others, always "
      "the same ones, so that the server does not learn which one is meant" },
    WEB_OPTIONS(struct check_options, access.web),
    VERIFY_OPTION(struct check_options, access),
    ACCESS_OPTIONS(struct check_options, access),
    INPUT_OPTIONS(struct check_options, inputs),
    KEYS_OPTION(struct check_options, inputs),
    { .name = NULL }
};

bool check_wanted(const struct check_options *o, enum check_answer answer)
{
    return !o->only || !strcmp(o->only, word[answer]);
}

/* Print "new<TAB>URL"; with --only the URL alone, and not for the others. */
static void show(const struct check *c, enum check_answer answer,
                 struct seen_span url)
{
    if (c->o.count || !check_wanted(&c->o, answer))
        return;
    if (c->o.json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("url", url.text, url.len);
        cmd_json_flag("seen", answer == CHECK_SEEN);
        cmd_json_shut('}');
        return;
    }
    if (!c->o.only) {
        output_text(word[answer]);
        output_bytes("\t", 1);
    }
    output_bytes(url.text, url.len);
    output_bytes("\n", 1);
}

/* With --only the number alone. */
void check_show_sums(const struct check_options *o,
                     const uint64_t sum[CHECK_ANSWERS])
{
    if (o->json)
        cmd_json_open(NULL, '{');
    for (int i = CHECK_NEW; i < CHECK_ANSWERS; i++) {
        const bool wanted = check_wanted(o, (enum check_answer)i);

        if (o->json && wanted)
            cmd_json_count(word[i], sum[i]);
        else if (o->only && wanted)
            output_format("%llu\n", (unsigned long long)sum[i]);
        else if (wanted && (i != CHECK_BAD || sum[CHECK_BAD]))
            output_format("%s\t%llu\n", word[i], (unsigned long long)sum[i]);
    }
    if (o->json)
        cmd_json_shut('}');
}

static enum seen_code look_up(struct check *c, const struct seen_batch *batch,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!c->o.prefix)
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
    if (code != SEEN_OK && !c->sum[CHECK_NEW] && !c->sum[CHECK_SEEN]) {
        code = access_again(&c->filter, c->path, &c->o.access, code, why);
        if (code == SEEN_OK)
            code = look_up(c, batch, why);
    }
    if (code != SEEN_OK)
        return code;
    if (c->o.prefix && !c->sum[CHECK_NEW] && !c->sum[CHECK_SEEN])
        warning("%s: a prefix may be reported as seen although nothing is "
                "below it: its segments may come from several URLs",
                c->path);
    for (size_t i = 0; i < batch->n; i++) {
        enum check_answer a = c->seen[i] ? CHECK_SEEN : CHECK_NEW;

        c->sum[a]++;
        show(c, a, batch->url[i]);
    }
    c->in.stop = output_dead();
    return SEEN_OK;
}

static void answer_bad(void *to, struct seen_span line, const char *cause)
{
    struct check *c = to;

    c->sum[CHECK_BAD]++;
    if (c->o.json && !c->o.count && check_wanted(&c->o, CHECK_BAD))
        cmd_answer_bad(true, "seen", line, cause);
    else if (!c->o.json)
        show(c, CHECK_BAD, line);
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
    out = cmd_ingest_urls(&c->in, &c->o.inputs, url, &why);
    if (why.code != SEEN_OK)
        return trouble_with(c->path, &why);
    if (c->o.count && (out == YES || c->sum[CHECK_NEW] || c->sum[CHECK_SEEN] ||
                       c->sum[CHECK_BAD]))
        check_show_sums(&c->o, c->sum);
    if (c->sum[CHECK_BAD])
        return TROUBLE; /* the bad lines were reported */
    return out == YES && c->sum[CHECK_NEW] ? NO : out;
}

static enum outcome run_one(const struct check_options *o, char **operand)
{
    struct check *c = calloc(1, sizeof *c);
    enum outcome out = TROUBLE;

    if (!c)
        return trouble("no memory for %zu bytes", sizeof *c);
    c->o = *o;
    c->path = operand[0];
    c->filter = access_read(c->path, &c->o.access, operand[1]);
    if (c->filter)
        out = check(c, operand + 1);
    seen_filter_free(c->filter);
    free(c);
    return out;
}

/* A folder as the first operand, or -f, is many filters. */
static enum outcome run(void *settings, char **operand)
{
    const struct check_options *o = settings;
    struct cmd_filters list = { .n = 0 };
    enum outcome out = TROUBLE;
    bool good = true;

    if (!o->filters.n && !operand[0])
        return trouble("FILTER is missing; usage: seen check %s",
                       cmd_check.synopsis);
    if (!o->filters.n)
        options_hide(operand, 1);
    if (!o->filters.n && !cmd_filters_folder(operand[0]))
        return run_one(o, operand);
    if (!o->filters.n)
        good = cmd_filters_add(&list, *operand++);
    for (size_t i = 0; i < o->filters.n && good; i++)
        good = cmd_filters_add(&list, o->filters.text[i]);
    if (good && cmd_filters_distinct(&list))
        out = check_many(o, &list, operand);
    cmd_filters_clear(&list);
    return out;
}

const struct command cmd_check = {
    .name = "check",
    .summary = "print which URLs a filter has seen",
    .synopsis = "FILTER|FOLDER [URL...]",
    .operands = 0,
    .most = -1,
    .settings = sizeof(struct check_options),
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
        "With a FOLDER, or with -f, all filters are asked, as POST /agg of "
        "seen serve does. A line has the names of the filters that say seen, of "
        "those that cannot answer, and the URL, with tabs between: "
        "haw,ia<TAB>-<TAB>URL. - is none, and ! in the first column a bad URL. "
        "haw.seen is named haw. A filter cannot answer if its profile refuses "
        "the URL, or if it cannot be read; the latter is also reported, and the "
        "exit code is 2. A filter that -f names must be readable. Keys are "
        "always derived from URLs.\n"
        "\n"
        "For URLs that are operands, only the parts of the file that they need "
        "are read and verified, in blocks of 64 KiB: the answer comes at once "
        "also from a large filter. A damaged block that is needed is reported "
        "by its number, with exit code 2, and never answered from; another one "
        "is not noticed. --verify verifies the whole file first, as is always "
        "done for lists, and by seen info.\n"
        "\n"
        "A filter on a web server, https://HOST/haw.seen, is asked where it "
        "is: the beginning of its file is fetched once, then for each URL the "
        "64 KiB that it needs, of other kinds than blocked several of them; all "
        "of the file when that is cheaper. They are verified, and kept in "
        "$XDG_CACHE_HOME/seen for the next question. The server learns in which "
        "block a URL is, not the URL; --decoys N hides the block among others. "
        "See doc/sharing.md.\n"
        "\n"
        "FILTER may also be the address of a filter on a server, such as "
        "redis://HOST:PORT/NAME or bf://HOST:PORT/NAME: see doc/remote.md.\n",
    .exits =
        "0 if all URLs were seen, of many filters by at least one; 1 if at "
        "least one is new, 2 if a URL was bad or something else went "
        "wrong.",
    .examples = "$ seen check crawl.seen http://a.example/ http://b.example/\n"
                "seen\thttp://a.example/\n"
                "new\thttp://b.example/\n"
                "$ seen check --only new crawl.seen <found.txt >to-fetch.txt\n"
                "$ seen check --count crawl.seen -i found.txt\n"
                "$ seen check mirror/ http://a.example/\n"
                "haw,ia\t-\thttp://a.example/\n"
                "$ seen check -f old=2024.seen -f new=2026.seen "
                "http://a.example/\n"
                "new\t-\thttp://a.example/\n"
                "$ seen check https://archive.example/haw.seen "
                "http://a.example/\n"
                "seen\thttp://a.example/\n",
    .run = run,
};
