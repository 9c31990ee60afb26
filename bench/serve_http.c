/*
 * serve_http.c - rows of HTTP.
 *
 * A lookup is the smallest request, so it is compared with the least that a
 * good server does: nginx that returns 200 to everything and looks nothing up,
 * in a third of the bytes; and with the least that any server does.
 *
 * All servers run all the time, and the same client asks them in slices, in
 * turns: in turns of 2 seconds the ratio of two servers was 0.87 to 1.26. In
 * slices of 40 ms each server began with cold caches, which costs nginx more
 * than us: 1.20 to 1.34, where wrk says 1.10 to 1.17 and slices of 400 ms 1.15
 * to 1.19.
 */
#include "serve.h"

#include <string.h>

enum { SLICE_MS = 400, SLICES_A_SECOND = 1000 / SLICE_MS };

static bool by_clients(const struct load_options *s, struct peer *p,
                       void *with, struct serve_load *out)
{
    static const struct paced_load slice = { .seconds = SLICE_MS / 1e3 };
    struct paced_clients *const *clients = with;
    struct paced_result it;

    (void)s;
    if (!paced_load(*clients, &slice, &it))
        return false;
    if (it.failed)
        fprintf(stderr, "seen: bench: %s failed %llu requests\n", p->name,
                (unsigned long long)it.failed);
    *out = (struct serve_load){ (double)it.answers, it.seconds, it.spent };
    return !it.failed;
}

/* Each server has connections of its own, which rest while another one is
   asked. */
struct asked_server {
    struct peer peer;
    struct paced_clients *clients;
};

static bool connect_to(const struct load_options *s, struct asked_server *it,
                       unsigned depth)
{
    const struct paced_load warm_up = { .seconds = WARM_UP_SECONDS };
    struct paced_result ignored;

    peer_settle(&it->peer);
    it->clients = paced_open(s, &it->peer, depth);
    return it->clients && paced_load(it->clients, &warm_up, &ignored);
}

static bool against_nginx(const struct load_options *s, struct serve_row *r,
                          unsigned depth)
{
    enum { OURS, NGINX, BARE, ALL };
    struct asked_server it[ALL] = { 0 };
    struct serve_turn turn[ALL];
    const char *more[] = { served_made(s, "bench", 2), NULL };
    bool good = more[0] && peer_limit(&it[BARE].peer) &&
                peer_nginx(&it[NGINX].peer, s) &&
                peer_seen(&it[OURS].peer, s, more);

    for (int i = 0; i < ALL && good; i++) {
        turn[i] = (struct serve_turn){ by_clients, &it[i].peer,
                                       &it[i].clients };
        good = connect_to(s, &it[i], depth);
    }
    if (s->threads == 1) /* it has one */
        r->limit = &turn[BARE];
    r->slices = s->turns * s->seconds * SLICES_A_SECOND;
    good = good && row_turns(s, r, &turn[OURS], &turn[NGINX]);
    for (int i = 0; i < ALL; i++) {
        paced_close(it[i].clients);
        process_stop(&it[i].peer.pid);
    }
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
