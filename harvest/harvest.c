/*
 * harvest.c - a round: lists, plan, downloads, and withdrawn files.
 *
 * The order is the safety. Every list is read before any filter is planned,
 * since two of them may announce one name. Change lists, which are long, are
 * read only if some filter could be patched. And files are called withdrawn
 * last, and never in a round that was stopped: a list that was not read does
 * not announce anything, which is not the same as withdrawing it.
 */
#include "harvest.h"

#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>

#include "../fetch/credentials.h"
#include "../lib/text/span.h"
#include "download.h"
#include "lists.h"
#include "plan.h"
#include "withdrawn.h"

enum {
    ATTEMPTS = 3,
    PARALLEL = 4,
    PARALLEL_MOST = 64,
    PAUSE = 1000,
    PATIENCE = 60
};
static const uint64_t max_size = UINT64_C(16) << 30;

struct harvest {
    struct harvest_options options;
    struct harvest_folder folder;
};

enum seen_code harvest_open(struct harvest **out,
                            const struct harvest_options *options,
                            struct seen_error *why)
{
    struct harvest *h = calloc(1, sizeof *h);
    struct harvest_options *o;
    enum seen_code code;

    *out = NULL;
    if (!h)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a harvest");
    o = &h->options;
    *o = *options;
    o->max_size = o->max_size ? o->max_size : max_size;
    o->pause = o->pause ? o->pause : PAUSE;
    o->patience = o->patience ? o->patience : PATIENCE;
    if (!o->fetch.parallel)
        o->fetch.parallel = PARALLEL;
    if (o->fetch.parallel > PARALLEL_MOST)
        o->fetch.parallel = PARALLEL_MOST;
    o->fetch.per_host = o->fetch.parallel; /* the catalog has the limits */
    o->fetch.slow = o->patience;
    xmlInitParser();
    code = harvest_folder_open(&h->folder, o->into, o->dry_run, why);
    if (code == SEEN_OK)
        *out = h;
    else
        free(h);
    return code;
}

void harvest_close(struct harvest *h)
{
    if (!h)
        return;
    harvest_folder_close(&h->folder);
    free(h);
}

static enum seen_code add_roots(struct harvest_lists *l,
                                char (*root)[HARVEST_URL + 1],
                                const char *const *url, size_t n,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        code = harvest_url_read(root[i], span_of(url[i]), why);
        if (code == SEEN_OK)
            code = harvest_lists_add(l, root[i], why);
        if (code != SEEN_OK && why)
            why->at = i;
    }
    return code;
}

static enum seen_code run(struct harvest_round *r, struct harvest_lists *l,
                          struct seen_error *why)
{
    bool patchable;

    harvest_lists_read(l);
    if (harvest_catalog_sort(&r->catalog, why) != SEEN_OK)
        return SEEN_NOMEM;
    harvest_plan_all(r, &patchable);
    if (patchable && !r->options->dry_run)
        harvest_lists_read_changes(l);
    harvest_download_all(r);
    r->sum->stopped = harvest_stopped(r);
    if (!r->sum->stopped)
        harvest_withdraw(r);
    return SEEN_OK;
}

/* The file may have changed since the last round. */
static enum seen_code read_credentials(struct fetch_credentials **out,
                                       const char *path,
                                       struct seen_error *why)
{
    struct seen_error fault;
    enum seen_code code = fetch_credentials_load(out, path, &fault);

    if (code != SEEN_OK)
        seen_fail(why, code, fault.at, "the credentials: %s", fault.text);
    return code;
}

enum seen_code harvest_run(struct harvest *h, const char *const *url, size_t n,
                           struct harvest_summary *sum, struct seen_error *why)
{
    struct harvest_round r = { .options = &h->options,
                               .folder = h->folder,
                               .retry = { .attempts = ATTEMPTS,
                                          .pause = h->options.pause,
                                          .patience = h->options.patience },
                               .sum = sum };
    struct harvest_lists *l = NULL;
    struct fetch_options fetch = h->options.fetch;
    struct fetch_credentials *credentials = NULL;
    char(*root)[HARVEST_URL + 1] = calloc(n ? n : 1, sizeof *root);
    enum seen_code code = SEEN_OK;

    memset(sum, 0, sizeof *sum);
    if (!root)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for URLs");
    harvest_catalog_init(&r.catalog, h->options.fetch.parallel);
    if (h->options.credentials)
        code = read_credentials(&credentials, h->options.credentials, why);
    fetch.credentials = credentials;
    if (code == SEEN_OK)
        code = fetch_new(&r.web, &fetch, why);
    if (code == SEEN_OK)
        code = harvest_lists_new(&l, &r, why);
    if (code == SEEN_OK)
        code = add_roots(l, root, url, n, why);
    if (code == SEEN_OK) {
        code = run(&r, l, why);
        sum->received = fetch_bytes(r.web);
        sum->forbidden = fetch_refused(r.web);
    }
    fetch_free(r.web); /* first: ends of requests look at the rest */
    fetch_credentials_free(credentials);
    harvest_lists_free(l);
    fetch_health_clear(&r.health);
    harvest_catalog_clear(&r.catalog);
    free(root);
    return code;
}
