/*
 * check_many.c - which of several filters have seen these URLs?
 *
 * Filters may have different profiles, so URLs are read as they are, and their
 * keys are made once per profile:
 *
 *     batch of URLs ──> keys of surt ──> haw.seen, ia.seen
 *                  └──> keys of raw  ──> crawl.seen
 *
 * A profile that refuses a URL has no key for it: its filters cannot answer.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/percent.h"
#include "json.h"
#include "output.h"
#include "secret.h"

enum many_answer { NO_KEY, SAYS_NEW, SAYS_SEEN };

struct many_filter {
    const struct cmd_filter *of;
    struct seen_filter *filter; /* NULL: it cannot be read */
    struct seen_profile profile;
    bool unable; /* to answer for prefixes; was reported */
    unsigned char answer[SEEN_BATCH];
};

struct many {
    const struct check_options *o;
    struct many_filter *filter;
    size_t n;
    struct seen_ingest in;
    struct seen_batch keys;      /* under one profile, */
    size_t of[SEEN_BATCH];       /* and of which URL each is */
    bool seen[SEEN_BATCH];
    char cause[SEEN_BATCH][160]; /* why a profile refused a URL */
    uint64_t sum[CHECK_ANSWERS];
    bool failed; /* a filter could not be read */
};

/* --- opening --- */

/* Look whether it is keyed, and open it with the key, if it has one, and checks.
   What is on a web server is opened once: its blocks are always checked. */
static enum seen_code open_one(struct many_filter *f,
                               const struct check_options *o, bool few,
                               const unsigned char *secret,
                               struct seen_error *why)
{
    const bool distant = access_is_distant(f->of->path);
    struct seen_access how = { .profile = distant ? o->access.profile : NULL,
                               .unverified = true };
    enum seen_code code = access_map(&f->filter, f->of->path, &how,
                                     &o->access.web, why);
    bool keyed = false;

    if (code == SEEN_OK)
        keyed = seen_filter_plan(f->filter)->keyed;
    if (keyed && !secret)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "the filter is keyed; give its key with --keyed "
                         "KEYFILE");
    how = (struct seen_access){ .profile = o->access.profile,
                                .secret = keyed ? secret : NULL,
                                .lazy = few && !o->access.verify };
    if (code == SEEN_OK && (keyed || !distant)) {
        seen_filter_free(f->filter);
        code = access_map(&f->filter, f->of->path, &how, &o->access.web, why);
    }
    if (code == SEEN_OK && distant && o->access.verify)
        code = seen_store_verify(f->filter, why);
    if (code == SEEN_OK)
        code = seen_profile_find(&f->profile,
                                 seen_filter_plan(f->filter)->profile, why);
    return code;
}

static enum outcome open_all(struct many *m, const struct cmd_filters *list,
                             bool few)
{
    unsigned char secret[SEEN_SECRET];
    const bool keyed = m->o->access.keyed;
    struct seen_error why;
    enum outcome out = YES;

    if (m->o->access.profile &&
        seen_profile_find(NULL, m->o->access.profile, &why) != SEEN_OK)
        return trouble_with("--profile", &why);
    if (keyed && !secret_read(m->o->access.keyed, secret))
        return TROUBLE;
    for (m->n = 0; m->n < list->n && out == YES; m->n++) {
        struct many_filter *f = &m->filter[m->n];

        f->of = &list->filter[m->n];
        if (open_one(f, m->o, few, keyed ? secret : NULL, &why) == SEEN_OK) {
            access_warn(f->filter, f->of->path);
            continue;
        }
        trouble_with(f->of->path, &why);
        seen_filter_free(f->filter);
        f->filter = NULL;
        m->failed = true;
        if (!f->of->found)
            out = TROUBLE;
    }
    explicit_bzero(secret, sizeof secret);
    return out;
}

/* --- asking --- */

static enum seen_code look_up(struct many *m, struct many_filter *f,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (f->unable)
        return SEEN_OK;
    if (!m->o->prefix)
        code = seen_filter_has(f->filter, m->keys.key, m->keys.n, m->seen,
                               why);
    for (size_t i = 0; m->o->prefix && i < m->keys.n && code == SEEN_OK; i++)
        code = seen_filter_has_prefix(f->filter, &m->keys.key[i], &m->seen[i],
                                      why);
    if (code == SEEN_UNABLE && m->o->prefix) {
        warning("%s: %s", f->of->path, why->text);
        f->unable = m->failed = true;
        return SEEN_OK;
    }
    for (size_t i = 0; i < m->keys.n && code == SEEN_OK; i++)
        f->answer[m->of[i]] = m->seen[i] ? SAYS_SEEN : SAYS_NEW;
    return code;
}

/* Was any answer given? */
static bool answered(const struct many *m)
{
    return m->sum[CHECK_NEW] || m->sum[CHECK_SEEN];
}

static bool same_profile(const struct many_filter *f,
                         const struct many_filter *g)
{
    return f->filter && f->profile.rules == g->profile.rules &&
           f->profile.segments == g->profile.segments;
}

/* Ask all filters of the profile of `first`, which have no earlier one. */
static enum seen_code ask_profile(struct many *m,
                                  const struct seen_batch *batch, size_t first,
                                  struct seen_error *why)
{
    const struct seen_profile *profile = &m->filter[first].profile;
    struct seen_error refused;

    for (size_t at = 0; at < batch->n;) {
        m->keys.n = m->keys.used = 0;
        for (; at < batch->n && seen_batch_room(&m->keys); at++) {
            m->of[m->keys.n] = at;
            if (seen_batch_add(&m->keys, batch->url[at].text,
                               batch->url[at].len, profile,
                               &refused) != SEEN_OK)
                snprintf(m->cause[at], sizeof m->cause[at], "%s",
                         refused.text);
        }
        for (size_t i = first; i < m->n; i++) {
            enum seen_code code;

            if (!same_profile(&m->filter[i], &m->filter[first]))
                continue;
            code = look_up(m, &m->filter[i], why);
            if (code != SEEN_OK && !answered(m)) {
                code = access_again(&m->filter[i].filter,
                                    m->filter[i].of->path, &m->o->access, code,
                                    why);
                if (code == SEEN_OK)
                    code = look_up(m, &m->filter[i], why);
            }
            if (code != SEEN_OK) {
                trouble_with(m->filter[i].of->path, why);
                return code;
            }
        }
    }
    return SEEN_OK;
}

static bool is_first(const struct many *m, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_profile(&m->filter[j], &m->filter[i]))
            return false;
    return m->filter[i].filter;
}

/* --- printing --- */

/* A comma in a name must not look like one between names, nor a tab or a line
   feed as the end of a field. */
static void show_name(const char *name)
{
    for (; *name; name++) {
        char coded[3];

        if (*name == ',' || (unsigned char)*name < 0x20 || *name == 0x7f) {
            percent_write(coded, *name);
            output_bytes(coded, sizeof coded);
        } else {
            output_bytes(name, 1);
        }
    }
}

static void show_names(const struct many *m, size_t url,
                       enum many_answer wanted)
{
    bool any = false;

    for (size_t i = 0; i < m->n; i++) {
        if (m->filter[i].answer[url] != wanted)
            continue;
        if (m->o->json) {
            cmd_json_word(NULL, m->filter[i].of->name);
            continue;
        }
        if (any)
            output_bytes(",", 1);
        any = true;
        show_name(m->filter[i].of->name);
    }
    if (!any && !m->o->json)
        output_bytes("-", 1);
}

static void show_bad(struct many *m, struct seen_span url, const char *cause)
{
    m->sum[CHECK_BAD]++;
    if (m->o->count || !check_wanted(m->o, CHECK_BAD))
        return;
    if (m->o->json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("url", url.text, url.len);
        cmd_json_null("archives");
        cmd_json_null("unknown");
        cmd_json_word("error", cause);
        cmd_json_shut('}');
        return;
    }
    if (!m->o->only)
        output_text("!\t-\t");
    output_bytes(url.text, url.len);
    output_bytes("\n", 1);
}

static void show(const struct many *m, size_t i, struct seen_span url)
{
    if (m->o->json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("url", url.text, url.len);
        cmd_json_open("archives", '[');
        show_names(m, i, SAYS_SEEN);
        cmd_json_shut(']');
        cmd_json_open("unknown", '[');
        show_names(m, i, NO_KEY);
        cmd_json_shut(']');
        cmd_json_shut('}');
        return;
    }
    if (!m->o->only) {
        show_names(m, i, SAYS_SEEN);
        output_bytes("\t", 1);
        show_names(m, i, NO_KEY);
        output_bytes("\t", 1);
    }
    output_bytes(url.text, url.len);
    output_bytes("\n", 1);
}

/* A URL is bad if every profile refuses it. */
static void show_answer(struct many *m, const struct seen_batch *batch,
                        size_t i)
{
    bool seen = false, refused = true;
    enum check_answer a;

    for (size_t j = 0; j < m->n; j++) {
        seen |= m->filter[j].answer[i] == SAYS_SEEN;
        refused &= m->filter[j].answer[i] == NO_KEY;
    }
    if (refused && m->cause[i][0]) {
        show_bad(m, batch->url[i], m->cause[i]);
        return;
    }
    a = seen ? CHECK_SEEN : CHECK_NEW;
    m->sum[a]++;
    if (!m->o->count && check_wanted(m->o, a))
        show(m, i, batch->url[i]);
}

static enum seen_code answer(void *to, unsigned thread,
                             struct seen_batch *batch, struct seen_error *why)
{
    struct many *m = to;
    enum seen_code code = SEEN_OK;

    (void)thread;
    for (size_t i = 0; i < m->n; i++)
        memset(m->filter[i].answer, NO_KEY, batch->n);
    for (size_t i = 0; i < batch->n; i++)
        m->cause[i][0] = '\0';
    for (size_t i = 0; i < m->n && code == SEEN_OK; i++)
        if (is_first(m, i))
            code = ask_profile(m, batch, i, why);
    for (size_t i = 0; i < batch->n && code == SEEN_OK; i++)
        show_answer(m, batch, i);
    m->in.stop = output_dead();
    return code;
}

static void answer_bad(void *to, struct seen_span line, const char *cause)
{
    struct many *m = to;

    show_bad(m, line, cause);
    m->in.stop = output_dead();
}

/* --- the whole list --- */

static enum outcome ask(struct many *m, char **url)
{
    struct seen_error why;
    enum outcome out;

    m->in = (struct seen_ingest){
        .keying = { "raw", SEEN_KEYS_DERIVED },
        .detail = SEEN_DETAIL_URL,
        .every = true,
        .keys = answer,
        .bad = answer_bad,
        .to = m,
    };
    out = cmd_ingest_urls(&m->in, &m->o->inputs, url, &why);
    if (why.code != SEEN_OK)
        return TROUBLE; /* was reported */
    if (m->o->count && (out == YES || m->sum[CHECK_NEW] ||
                        m->sum[CHECK_SEEN] || m->sum[CHECK_BAD]))
        check_show_sums(m->o, m->sum);
    if (m->sum[CHECK_BAD] || m->failed)
        return TROUBLE;
    return out == YES && m->sum[CHECK_NEW] ? NO : out;
}

enum outcome check_many(const struct check_options *o,
                        const struct cmd_filters *list, char **url)
{
    struct many *m = calloc(1, sizeof *m);
    enum outcome out;

    if (m)
        m->filter = calloc(list->n, sizeof *m->filter);
    if (!m || !m->filter) {
        free(m);
        return trouble("no memory for %zu filters", list->n);
    }
    m->o = o;
    if (o->inputs.keys)
        out = trouble("--keys: is for one filter; keys for several are "
                      "derived from URLs");
    else
        out = open_all(m, list, *url);
    if (out == YES && o->prefix)
        warning("a prefix may be reported as seen although nothing is below "
                "it: its segments may come from several URLs");
    if (out == YES)
        out = ask(m, url);
    for (size_t i = 0; i < m->n; i++)
        seen_filter_free(m->filter[i].filter);
    free(m->filter);
    free(m);
    return out;
}
