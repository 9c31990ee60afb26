/* ask.c - the same URLs under each profile, for each archive. */
#define _GNU_SOURCE
#include "ask.h"

static bool same(const struct seen_profile *a, const struct seen_profile *b)
{
    return a->rules == b->rules && a->segments == b->segments;
}

/* Was an archive before number `a` asked under the same profile? */
static bool done_before(struct loop *l, size_t a)
{
    struct archive *it = shelf_at(l->shelf, a);

    for (size_t i = 0; i < a; i++) {
        struct archive *other = shelf_at(l->shelf, i);

        if (other->filter && same(&other->profile, &it->profile))
            return true;
    }
    return false;
}

/* Make the keys of all URLs that have one; which[j] is whose key j is. */
static void make_keys(struct loop *l, struct question *q, size_t from,
                      size_t *to, size_t n, const struct seen_profile *p,
                      unsigned short *which)
{
    struct keys *k = &l->keys;
    struct seen_error why;
    size_t i;

    k->n = k->used = 0;
    for (i = from; i < n && k->used <= LOOP_TEXT; i++) {
        if (keys_add(k, q[i].url.text, q[i].url.len, p, &why) != SEEN_OK)
            continue;
        which[k->n - 1] = (unsigned short)i;
        q[i].fault = NULL;
    }
    *to = i;
}

void ask_all(struct loop *l, struct question *q, size_t n, size_t archives,
             bool *held)
{
    struct keys *k = &l->keys;
    unsigned short which[LOOP_BATCH];
    uint64_t asked = 0, yes = 0;
    bool any = false;

    memset(held, 0, archives * LOOP_BATCH);
    for (size_t a = 0; a < archives; a++)
        any |= shelf_at(l->shelf, a)->filter != NULL;
    for (size_t i = 0; i < n; i++) /* who nobody can be asked for is not bad */
        q[i].fault = any ? "no URL" : NULL;
    for (size_t a = 0; a < archives; a++) {
        struct archive *first = shelf_at(l->shelf, a);

        if (!first->filter || done_before(l, a))
            continue;
        for (size_t from = 0, to; from < n; from = to) {
            make_keys(l, q, from, &to, n, &first->profile, which);
            for (size_t b = a; b < archives; b++) {
                struct archive *it = shelf_at(l->shelf, b);

                if (!it->filter || !same(&it->profile, &first->profile) ||
                    archive_ask(it, k->key, k->n, k->seen, NULL) != SEEN_OK)
                    continue;
                for (size_t j = 0; j < k->n; j++) {
                    held[b * LOOP_BATCH + which[j]] = k->seen[j];
                    yes += k->seen[j];
                }
                asked += k->n;
            }
        }
    }
    k->n = k->used = 0;
    COUNT(l, asked, asked);
    COUNT(l, held, yes);
}
