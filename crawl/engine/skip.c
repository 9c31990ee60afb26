/*
 * skip.c - filters in files, and on servers by POST /NAME.
 *
 * The answer of a server must have one line per line of the question, each
 * with the URL that was asked about. Otherwise none of it counts: a proxy's
 * page, a cut answer or the wrong archive must not skip anything.
 */
#include "skip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/kind.h>
#include <seen/store.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/buffer.h"
#include "../../lib/text/span.h"

enum {
    BATCH = 256,      /* keys per question to a filter in a file */
    LINES = 2000,     /* URLs per question to a server */
    POLL = 100,       /* milliseconds */
    LEFT_ALONE = 60000 /* the same, after a failure */
};

struct source {
    const char *name;           /* as it was given */
    struct seen_filter *filter; /* of a file; NULL: a server */
    uint64_t until;             /* clock_ms(): not asked before; 0: it works */
};

struct crawl_skip {
    struct source source[TEXTS_MOST];
    size_t n;
    struct fetch *web; /* NULL: there are only files */
    struct buffer question, answer;
    char text[SEEN_KEY_TEXT];
};

/* --- open and close --- */

static bool is_url(const char *text)
{
    return !strncmp(text, "http://", 7) || !strncmp(text, "https://", 8);
}

/* http://HOST/NAME, or below a path that the server's --base has. */
static enum seen_code check_url(const char *url, struct seen_error *why)
{
    const char *path = strchr(strstr(url, "//") + 2, '/');
    size_t n = path ? strlen(path) : 0;

    if (n < 2 || path[n - 1] == '/' || strpbrk(path, "?#"))
        return seen_fail(why, SEEN_RANGE, 0,
                         "--skip %.80s: not of the form http://HOST/NAME",
                         url);
    return SEEN_OK;
}

static enum seen_code open_file(struct source *s, struct seen_error *why)
{
    struct seen_error detail;
    enum seen_code code = seen_store_map(&s->filter, s->name, NULL, &detail);

    if (code != SEEN_OK)
        return seen_fail(why, code, 0, "--skip %.80s: %s", s->name,
                         detail.text);
    if (seen_filter_plan(s->filter)->keyed)
        return seen_fail(why, SEEN_RANGE, 0,
                         "--skip %.80s: the filter is keyed; ask its server",
                         s->name);
    return SEEN_OK;
}

static enum seen_code open_source(struct crawl_skip *s, const char *name,
                                  const struct fetch_options *web,
                                  struct seen_error *why)
{
    struct source *to = &s->source[s->n++];
    struct fetch_options options = *web;
    enum seen_code code;

    to->name = name;
    if (!is_url(name))
        return open_file(to, why);
    code = check_url(name, why);
    if (code != SEEN_OK || s->web)
        return code;
    if (!options.timeout || options.timeout > CRAWL_SKIP_DEADLINE)
        options.timeout = CRAWL_SKIP_DEADLINE;
    options.connect = options.stall = options.timeout;
    return fetch_new(&s->web, &options, why);
}

enum seen_code crawl_skip_open(struct crawl_skip **out,
                               const struct texts *filters,
                               const struct fetch_options *web,
                               struct seen_error *why)
{
    struct crawl_skip *s = calloc(1, sizeof *s);
    enum seen_code code = SEEN_OK;

    *out = NULL;
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for --skip");
    for (size_t i = 0; code == SEEN_OK && i < filters->n; i++)
        code = open_source(s, filters->text[i], web, why);
    if (code != SEEN_OK) {
        crawl_skip_close(s);
        return code;
    }
    *out = s;
    return SEEN_OK;
}

void crawl_skip_close(struct crawl_skip *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        seen_filter_free(s->source[i].filter);
    fetch_free(s->web);
    buffer_clear(&s->question);
    buffer_clear(&s->answer);
    free(s);
}

/* --- files --- */

/* The next URLs that nobody holds so far, as keys. A filter that hashes texts
   gets one at a time, since there is one text. */
static size_t make_keys(struct crawl_skip *s, const struct seen_filter *f,
                        const struct seen_span *url, size_t n,
                        const bool *held, size_t *at, struct seen_key *key,
                        size_t *place)
{
    const char *profile = seen_filter_plan(f)->profile;
    size_t most = seen_filter_can(f, SEEN_READS_TEXT) ? 1 : BATCH;
    size_t made = 0;

    for (; *at < n && made < most; ++*at) {
        if (held[*at] ||
            seen_key_make(&key[made], s->text, url[*at].text, url[*at].len,
                          *profile ? profile : "raw", NULL) != SEEN_OK)
            continue;
        place[made++] = *at;
    }
    return made;
}

static enum seen_code ask_file(struct crawl_skip *s, struct source *from,
                               const struct seen_span *url, size_t n,
                               bool *held, struct seen_error *why)
{
    struct seen_key key[BATCH];
    size_t place[BATCH], at = 0, made;
    bool seen[BATCH];
    enum seen_code code = SEEN_OK;

    while (code == SEEN_OK && (made = make_keys(s, from->filter, url, n, held,
                                                &at, key, place))) {
        code = seen_filter_has(from->filter, key, made, seen, why);
        for (size_t i = 0; code == SEEN_OK && i < made; i++)
            held[place[i]] = seen[i];
    }
    return code;
}

/* --- servers --- */

struct exchange {
    struct crawl_skip *skip;
    enum seen_code code;
    struct seen_error why;
    int status;
    bool ended;
};

static enum seen_code on_body(void *owner, const void *bytes, size_t n,
                              struct seen_error *why)
{
    struct exchange *x = owner;

    buffer_bytes(&x->skip->answer, bytes, n);
    return x->skip->answer.failed
               ? seen_fail(why, SEEN_NOMEM, 0, "no memory for an answer")
               : SEEN_OK;
}

static void on_end(void *owner, enum seen_code code,
                   const struct fetch_response *r,
                   const struct seen_error *why)
{
    struct exchange *x = owner;

    x->ended = true;
    x->code = code;
    x->status = r->status;
    if (code != SEEN_OK)
        x->why = *why;
}

/* Send the question, and wait for the answer. */
static enum seen_code converse(struct crawl_skip *s, const struct source *to,
                               const atomic_int *stop, struct seen_error *why)
{
    static const struct fetch_handler handler = { .body = on_body,
                                                  .end = on_end };
    struct exchange x = { .skip = s };
    const struct fetch_request request = {
        .url = to->name,
        .post = { s->question.bytes, s->question.len },
        .most = 2 * s->question.len + 4096,
        .handler = &handler,
        .owner = &x,
    };
    enum seen_code code = fetch_start(s->web, &request, why);

    s->answer.len = 0;
    if (code != SEEN_OK)
        return code;
    while (!x.ended) {
        fetch_poll(s->web, POLL);
        if (!x.ended && stop && atomic_load(stop))
            fetch_cancel(s->web, &x);
    }
    if (x.code != SEEN_OK) {
        *why = x.why;
        return x.code;
    }
    if (x.status == 404)
        return seen_fail(why, SEEN_UNABLE, 0, "there is no such archive");
    if (x.status != 200)
        return seen_fail(why, SEEN_UNABLE, 0, "it answered with status %d",
                         x.status);
    return SEEN_OK;
}

/* One line per URL, each about that URL. With `held`, note what they say. */
static bool read_answer(const struct crawl_skip *s,
                        const struct seen_span *url, const size_t *place,
                        size_t n, bool *held)
{
    struct seen_span rest = { s->answer.bytes, s->answer.len };
    struct seen_span line, word;

    for (size_t i = 0; i < n; i++) {
        if (!span_line(&rest, &line) || !span_cut(&line, '\t', &word) ||
            !span_equal(line, url[place[i]]))
            return false;
        if (!span_is(word, "seen") && !span_is(word, "new") &&
            !span_is(word, "!"))
            return false;
        if (held)
            held[place[i]] = span_is(word, "seen");
    }
    return !rest.len;
}

static enum seen_code ask_lines(struct crawl_skip *s, struct source *to,
                                const struct seen_span *url,
                                const size_t *place, size_t n, bool *held,
                                const atomic_int *stop, struct seen_error *why)
{
    enum seen_code code;

    s->question.len = 0;
    for (size_t i = 0; i < n; i++) {
        buffer_span(&s->question, url[place[i]]);
        buffer_byte(&s->question, '\n');
    }
    if (s->question.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a question");
    code = converse(s, to, stop, why);
    if (code != SEEN_OK)
        return code;
    if (!read_answer(s, url, place, n, NULL))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its answer is not that of a seen serve");
    read_answer(s, url, place, n, held);
    return SEEN_OK;
}

/* Returns how many URLs were not answered. */
static size_t ask_server(struct crawl_skip *s, struct source *to,
                         const struct seen_span *url, size_t n,
                         struct crawl_skip_answers *answers)
{
    size_t place[LINES], at = 0, made, unasked = 0;
    struct seen_error why;
    enum seen_code code;

    while (at < n) {
        for (made = 0; at < n && made < LINES; at++)
            if (!answers->held[at])
                place[made++] = at;
        if (!made)
            break;
        if (to->until > clock_ms()) {
            unasked += made;
            continue;
        }
        code = ask_lines(s, to, url, place, made, answers->held, answers->stop,
                         &why);
        if (code == SEEN_OK && to->until) {
            snprintf(answers->warning, CRAWL_SKIP_WARNING,
                     "--skip %.80s: answers again", to->name);
            to->until = 0;
        }
        if (code == SEEN_OK)
            continue;
        unasked += made;
        if (!to->until && !(answers->stop && atomic_load(answers->stop)))
            snprintf(answers->warning, CRAWL_SKIP_WARNING,
                     "--skip %.80s: %.100s; pages are fetched until it "
                     "answers",
                     to->name, why.text);
        to->until = clock_ms() + LEFT_ALONE;
    }
    return unasked;
}

/* --- both --- */

enum seen_code crawl_skip_ask(struct crawl_skip *s,
                              const struct seen_span *url, size_t n,
                              struct crawl_skip_answers *answers,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t open = 0;

    memset(answers->held, 0, n * sizeof *answers->held);
    answers->unasked = 0;
    answers->by = NULL;
    *answers->warning = '\0';
    for (size_t i = 0; code == SEEN_OK && i < s->n; i++) {
        struct source *from = &s->source[i];
        size_t unasked = 0;

        if (from->filter)
            code = ask_file(s, from, url, n, answers->held, why);
        else
            unasked = ask_server(s, from, url, n, answers);
        if (unasked > answers->unasked)
            answers->unasked = unasked;
        if (n && answers->held[0] && !answers->by)
            answers->by = from->name;
    }
    for (size_t i = 0; i < n; i++)
        open += !answers->held[i];
    if (answers->unasked > open)
        answers->unasked = open;
    return code;
}
