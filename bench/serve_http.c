/*
 * serve_http.c - rows of HTTP.
 *
 * A lookup is the least that a server can be asked, so it is compared with
 * the least that a good one does: nginx that returns 200 whatever it is
 * asked for, and looks nothing up.
 */
#include "serve.h"

#include <string.h>

static bool by_wrk(const struct settings *s, struct peer *p, void *with,
                   struct load *out)
{
    const unsigned *depth = with;

    return load_wrk(s, p, *depth, s->seconds, out);
}

static bool against_nginx(const struct settings *s, struct row *r,
                          unsigned depth)
{
    struct peer seen = { .pid = 0 }, nginx = { .pid = 0 };
    const struct turn ours = { by_wrk, &seen, &depth };
    const struct turn theirs = { by_wrk, &nginx, &depth };
    const char *more[] = { filter_made(s, "bench", 2), NULL };
    struct load ignored;
    bool good = more[0] && peer_nginx(&nginx, s) && peer_seen(&seen, s, more);

    good = good && load_wrk(s, &seen, depth, WARM_UP_SECONDS, &ignored) &&
           show_turns(s, r, &ours, &theirs);
    peer_stop(&seen);
    peer_stop(&nginx);
    return good;
}

bool row_http(const struct settings *s)
{
    struct row r = { .name = "http", .peer = "nginx", .asked = 1.3 };

    return against_nginx(s, &r, 1);
}

bool row_pipelined(const struct settings *s)
{
    struct row r = { .name = "http-16", .peer = "nginx", .asked = 3 };

    return against_nginx(s, &r, 16);
}

/* --- lists --- */

enum { LIST = 1000000, ARCHIVES = 3 };

static bool by_list(const struct settings *s, struct peer *p, void *with,
                    struct load *out)
{
    return list_post(s, p, with, LIST, out);
}

bool row_agg(const struct settings *s)
{
    char path[] = "/agg";
    struct row r = { .name = "agg",
                     .unit = "answers/s",
                     .asked = 2e6,
                     .alone = true,
                     .clock = true };
    struct peer seen = { .pid = 0 };
    const struct turn ours = { by_list, &seen, path };
    const char *more[] = { filter_made(s, "bench", 2),
                           filter_made(s, "second", 2),
                           filter_made(s, "third", 3), NULL };
    struct load first;
    bool good = more[0] && more[1] && more[2] && peer_seen(&seen, s, more) &&
                list_post(s, &seen, path, LIST, &first) &&
                fill_turns(s, &r, &ours, NULL);
    size_t len = strlen(r.note);

    peer_stop(&seen);
    snprintf(r.note + len, sizeof r.note - len, ", %.2f M URL x archive/s",
             ARCHIVES * r.ours / 1e6);
    if (good)
        show(s, &r);
    return good;
}
