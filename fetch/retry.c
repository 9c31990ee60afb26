/*
 * retry.c - attempts, pauses, and hosts that are down.
 *
 * The n-th pause is n^2 times the policy's, or the server's Retry-After if
 * that is longer: a server that is overloaded gets more and more time. A wish
 * above the policy's patience ends the attempts, as there is more to fetch.
 *
 * A host's failures in a row are counted under "GROUP SCHEME://HOST:PORT", and
 * one success forgets them. Silence counts for group 0 as well, which every
 * group asks: no answer at all is not one publisher's fault. At most
 * FETCH_HEALTH_MOST hosts are counted, so that a list with a million hosts
 * takes no memory here; those beyond are asked in vain more often.
 */
#include "retry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/disk/clock.h"

static bool passing(int status)
{
    return status == 429 || status >= 500;
}

/* --- one request --- */

bool fetch_retry_helps(enum seen_code code,
                       const struct fetch_response *response)
{
    if (response->outcome == FETCH_DONE)
        return passing(response->status);
    return response->outcome == FETCH_FAILED &&
           (code == SEEN_IO || code == SEEN_CORRUPT);
}

bool fetch_retry_pause(struct fetch_retry *r,
                       const struct fetch_retry_policy *policy, unsigned after,
                       uint64_t *due)
{
    uint64_t pause, wish = (uint64_t)after * 1000;

    r->attempts++;
    if (r->attempts >= policy->attempts || after > policy->patience)
        return false;
    pause = (uint64_t)r->attempts * r->attempts * policy->pause;
    *due = clock_ms() + (pause > wish ? pause : wish);
    return true;
}

bool fetch_retry_again(struct fetch_retry *r,
                       const struct fetch_retry_policy *policy,
                       enum seen_code code,
                       const struct fetch_response *response, uint64_t *due)
{
    return fetch_retry_helps(code, response) &&
           fetch_retry_pause(r, policy, response->after, due);
}

/* --- hosts --- */

enum { KEY = 300 }; /* longer names are not hosts */

struct failing {
    unsigned times;
    char key[];
};

/* "GROUP SCHEME://HOST:PORT"; group 0 is everybody. */
static size_t key_of(char key[KEY], unsigned group, const char *url)
{
    const char *host = strstr(url, "://");
    size_t len = host ? (size_t)(host - url) + 3 : 0;
    int n;

    len += strcspn(url + len, "/?#");
    n = snprintf(key, KEY, "%u %.*s", group, (int)len, url);
    return n > 0 && n < KEY ? (size_t)n : 0;
}

void fetch_health_clear(struct fetch_health *h)
{
    struct failing *f;

    for (size_t at = 0; (f = map_next(&h->failures, &at));)
        free(f);
    map_clear(&h->failures);
}

static void worked(struct fetch_health *h, unsigned group, const char *url)
{
    char key[KEY];

    free(map_remove(&h->failures, key, key_of(key, group, url)));
}

/* Without memory for it, the host is only asked more often. */
static void failed(struct fetch_health *h, unsigned group, const char *url)
{
    char key[KEY];
    size_t n = key_of(key, group, url);
    struct failing *f = map_get(&h->failures, key, n);

    if (!f && n && h->failures.used < FETCH_HEALTH_MOST) {
        f = calloc(1, sizeof *f + n);
        if (!f)
            return;
        memcpy(f->key, key, n);
        if (!map_set(&h->failures, f->key, n, f)) {
            free(f);
            return;
        }
    }
    if (f)
        f->times++;
}

/* A redirect may have led to another host, which then was the silent one. */
static bool same_host(const char *a, const char *b)
{
    char x[KEY], y[KEY];
    size_t n = key_of(x, 0, a);

    return n && n == key_of(y, 0, b) && !memcmp(x, y, n);
}

void fetch_health_note(struct fetch_health *h, unsigned group, const char *url,
                       enum seen_code code,
                       const struct fetch_response *response)
{
    bool silent = response->outcome == FETCH_FAILED && !response->status &&
                  same_host(response->url, url);

    if (response->outcome == FETCH_LATE || fetch_retry_helps(code, response)) {
        failed(h, group, url);
        if (silent)
            failed(h, 0, url);
    } else if (code == SEEN_OK) {
        worked(h, group, url);
        worked(h, 0, url);
    }
}

bool fetch_health_down(const struct fetch_health *h, unsigned group,
                       const char *url)
{
    const unsigned groups[2] = { group, 0 };
    const struct failing *f;
    char key[KEY];

    for (int i = 0; i < 2; i++) {
        f = map_get(&h->failures, key, key_of(key, groups[i], url));
        if (f && f->times >= FETCH_FAILURES)
            return true;
    }
    return false;
}

/* --- words --- */

enum seen_code fetch_status_fault(int status, struct seen_error *why)
{
    const char *words = status == 401   ? ": it wants credentials"
                        : status == 403 ? ": forbidden"
                        : status == 404 ? ": not found"
                        : status == 410 ? ": gone"
                        : status == 429 ? ": too many requests"
                        : status >= 500 ? ": a fault of the server"
                                        : "";
    enum seen_code code = passing(status) ? SEEN_IO : SEEN_UNABLE;

    seen_fail(why, SEEN_UNABLE, 0, "is answered with %d%s", status, words);
    if (why)
        why->code = code; /* but errno says nothing about it */
    return code;
}
