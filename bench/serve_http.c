/*
 * serve_http.c - rows of HTTP.
 *
 * A lookup is the smallest request, so it is compared with the least that a
 * good server does: nginx that returns 200 to everything and looks nothing up;
 * and with the least that any server does.
 */
#include "serve.h"

#include <string.h>

static bool by_wrk(const struct load_options *s, struct peer *p, void *with,
                   struct serve_load *out)
{
    const unsigned *depth = with;

    return load_wrk(s, p, *depth, (double)s->seconds, out);
}

static bool against_nginx(const struct load_options *s, struct serve_row *r,
                          unsigned depth)
{
    struct peer seen = { .pid = 0 }, nginx = { .pid = 0 }, bare = { .pid = 0 };
    const struct serve_turn ours = { by_wrk, &seen, &depth };
    const struct serve_turn theirs = { by_wrk, &nginx, &depth };
    const struct serve_turn limit = { by_wrk, &bare, &depth };
    const char *more[] = { served_made(s, "bench", 2), NULL };
    struct serve_load ignored;
    bool good = more[0] && peer_limit(&bare) && peer_nginx(&nginx, s) &&
                peer_seen(&seen, s, more);

    if (good)
        peer_settle(&seen);
    if (s->threads == 1) /* it has one */
        r->limit = &limit;
    good = good && load_wrk(s, &seen, depth, WARM_UP_SECONDS, &ignored) &&
           row_turns(s, r, &ours, &theirs);
    process_stop(&seen.pid);
    process_stop(&nginx.pid);
    process_stop(&bare.pid);
    return good;
}

bool row_http(const struct load_options *s)
{
    struct serve_row r = { .name = "http", .peer = "nginx", .asked = 1.3 };

    return against_nginx(s, &r, 1);
}

bool row_pipelined(const struct load_options *s)
{
    struct serve_row r = { .name = "http-16", .peer = "nginx", .asked = 3 };

    return against_nginx(s, &r, 16);
}

/* --- lists --- */

enum { LIST = 1000000, ARCHIVES = 3 };

static bool by_list(const struct load_options *s, struct peer *p, void *with,
                    struct serve_load *out)
{
    return load_list(s, p, with, LIST, out);
}

bool row_agg(const struct load_options *s)
{
    char path[] = "/agg";
    struct serve_row r = { .name = "agg",
                           .unit = "answers/s",
                           .asked = 2e6,
                           .alone = true,
                           .clock = true };
    struct peer seen = { .pid = 0 };
    const struct serve_turn ours = { by_list, &seen, path };
    const char *more[] = { served_made(s, "bench", 2),
                           served_made(s, "second", 2),
                           served_made(s, "third", 3), NULL };
    struct serve_load first;
    bool good = more[0] && more[1] && more[2] && peer_seen(&seen, s, more) &&
                load_list(s, &seen, path, LIST, &first) &&
                row_fill(s, &r, &ours, NULL);
    size_t len = strlen(r.note);

    process_stop(&seen.pid);
    snprintf(r.note + len, sizeof r.note - len, ", %.2f M URL x archive/s",
             ARCHIVES * r.ours / 1e6);
    if (good)
        row_show(s, &r);
    return good;
}
