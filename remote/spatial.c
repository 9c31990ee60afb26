/*
 * spatial.c - one filter whose parts are on several servers.
 *
 *     key --+--> redis://a/haw, seed s0 --.
 *           |                             +-- and --> seen?
 *           '--> redis://b/haw, seed s1 --'
 *
 * The spatial strategy of the thesis (sections 4.3 and 6.4): filters with
 * different seeds err on different URLs, so the rates multiply. Each part is a
 * filter of its own, of equal plan but for the seed, and each machine needs the
 * memory of its part only.
 *
 * A part that does not answer makes an error of the question. To leave it out
 * would answer with the rate of the others; to count it as "no" would say "new"
 * to known URLs.
 *
 * Test and set over several servers, without a lock. Part 0 is the one with the
 * lowest seed, for everybody.
 *
 *     1  ask the parts in order 0, 1, ...: d is the first that lacks the key
 *     2  add the key to the parts in the order N-1, ..., d
 *     3  it is new if part d says so
 *
 * At most one client gets "new". Two of the same d do not, since a part says
 * "new" once. Let P decide by d and Q by e > d. Then Q found the key in part d:
 * if before P added it there, part d does not say "new" to P; if after, P had
 * added it to part e already, and Q, which asks e after d, would have found it.
 * Nobody gets "new" if the key is a false positive of all parts, if an answer
 * was an error, or if other keys have set its bits in part d between 1 and 3.
 * The last has a chance of about k p b / n, for parts of rate p and k probes with
 * n keys, to which clients add b keys meanwhile: 6e-5 at 1 %, a million keys and
 * one client with its batch of 1024.
 */
#include "spatial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/memory.h"

enum { BATCH = 1024, PARTS = 16 };

/* Keys of a batch that concern a part, and which of the batch they are. */
struct remote_some {
    struct seen_key key[BATCH];
    bool answer[BATCH];
    unsigned short at[BATCH];
    size_t n;
};

static void pick(struct remote_some *s, const struct seen_key *key, size_t i)
{
    s->at[s->n] = (unsigned short)i;
    s->key[s->n++] = key[i];
}

/* Find the first part that lacks each key; f->parts if all parts have it. */
static enum seen_code ask(const struct seen_filter *f,
                          const struct seen_key *key, size_t n,
                          unsigned *lacks, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct remote_some s;

    for (size_t i = 0; i < n; i++)
        lacks[i] = f->parts;
    for (unsigned p = 0; p < f->parts && code == SEEN_OK; p++) {
        s.n = 0;
        for (size_t i = 0; i < n; i++)
            if (lacks[i] == f->parts)
                pick(&s, key, i);
        if (s.n)
            code = f->part[p]->kind->has(f->part[p], s.key, s.n, s.answer,
                                         why);
        for (size_t i = 0; i < s.n && code == SEEN_OK; i++)
            if (!s.answer[i])
                lacks[s.at[i]] = p;
    }
    return code;
}

static enum seen_code spatial_has(const struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool *seen, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    unsigned lacks[BATCH];

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        code = ask(f, key + done, some, lacks, why);
        for (size_t i = 0; i < some && code == SEEN_OK; i++)
            seen[done + i] = lacks[i] == f->parts;
    }
    return code;
}

/* A key whose part is full is not added: that part still lacks it. */
static enum seen_code add_some(struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool *fresh, struct seen_error *why)
{
    unsigned lacks[BATCH];
    enum seen_code code = ask(f, key, n, lacks, why);
    struct remote_some s;

    for (size_t i = 0; i < n; i++)
        fresh[i] = false;
    for (unsigned p = f->parts; p-- > 0 && code == SEEN_OK;) {
        s.n = 0;
        for (size_t i = 0; i < n; i++)
            if (lacks[i] <= p)
                pick(&s, key, i);
        if (s.n)
            code = f->part[p]->kind->add(f->part[p], s.key, s.n, s.answer,
                                         why);
        for (size_t i = 0; i < s.n && code == SEEN_OK; i++)
            if (lacks[s.at[i]] == p)
                fresh[s.at[i]] = s.answer[i];
    }
    return code;
}

static enum seen_code spatial_add(struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool *fresh, struct seen_error *why)
{
    struct seen_error unasked;
    enum seen_code code = SEEN_OK;
    bool dropped[BATCH];

    why = why ? why : &unasked;
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        code = add_some(f, key + done, some, fresh ? fresh + done : dropped,
                        why);
        if (code != SEEN_OK)
            why->at = done;
    }
    return code;
}

static double spatial_rate(const struct seen_filter *f)
{
    double product = 1;

    for (unsigned p = 0; p < f->parts; p++)
        product *= seen_filter_rate(f->part[p]);
    return product;
}

static double spatial_planned(const struct seen_filter *f)
{
    double product = 1;

    for (unsigned p = 0; p < f->parts; p++)
        product *= seen_filter_planned(f->part[p]);
    return product;
}

static double spatial_entries(const struct seen_filter *f)
{
    double sum = 0;

    for (unsigned p = 0; p < f->parts; p++)
        sum += seen_filter_entries(f->part[p]);
    return sum / f->parts;
}

static uint64_t spatial_cost(const struct seen_filter *f)
{
    (void)f;
    return 0; /* that of the parts */
}

const struct seen_kind remote_spatial = {
    .name = "remote-spatial",
    .synopsis = "remote-spatial",
    .summary = "parts on several servers, all of which must say yes",
    .combines = true,
    .target = SEEN_TO_ALL,
    .state = sizeof(struct seen_filter),
    .has = spatial_has,
    .add = spatial_add,
    .rate = spatial_rate,
    .entries = spatial_entries,
    .planned = spatial_planned,
    .cost = spatial_cost,
};

/* --- opening --- */

static int by_seed(const void *a, const void *b)
{
    const struct seen_filter *const *f = a, *const *g = b;

    return (*f)->plan.seed < (*g)->plan.seed   ? -1
           : (*f)->plan.seed > (*g)->plan.seed ? 1
                                               : 0;
}

/* Equal plans, but for the seeds. */
static enum seen_code agree(const struct seen_filter *f,
                            struct seen_error *why)
{
    const struct seen_plan *a = &f->part[0]->plan;

    errno = 0;
    for (unsigned i = 1; i < f->parts; i++) {
        const struct seen_plan *b = &f->part[i]->plan;

        if (strcmp(a->profile, b->profile))
            return seen_fail(why, SEEN_MISMATCH, 0,
                             "its parts have profiles %s and %s", a->profile,
                             b->profile);
        if (strcmp(a->kind, b->kind) || a->capacity != b->capacity ||
            a->keyed != b->keyed || f->part[0]->check != f->part[i]->check)
            return seen_fail(why, SEEN_MISMATCH, 0,
                             "its parts have different kinds, capacities or "
                             "keys: they are not of one filter");
        if (f->part[i - 1]->plan.seed == b->seed)
            return seen_fail(why, SEEN_MISMATCH, 0,
                             "two of its parts have seed %llu, so they err on "
                             "the same URLs; build them as spatial:%u/%s",
                             (unsigned long long)b->seed, f->parts, a->kind);
    }
    return SEEN_OK;
}

static void describe(struct seen_filter *f)
{
    const struct seen_filter *first = f->part[0];

    f->plan = first->plan;
    snprintf(f->plan.kind, sizeof f->plan.kind, "spatial:%u/%.80s", f->parts,
             first->plan.kind);
    f->plan.bits = 0;
    f->plan.probes = 0;
    f->plan.rate = 1;
    f->check = first->check;
    memcpy(f->secret, first->secret, sizeof f->secret);
    f->offered = first->offered;
    f->traits = SEEN_CAN_ADD;
    for (unsigned i = 0; i < f->parts; i++) {
        f->traits &= f->part[i]->traits;
        f->plan.rate *= f->part[i]->plan.rate;
    }
    f->traits |= SEEN_IS_SLOW | SEEN_CELLS_ELSEWHERE | SEEN_PARTS_AGREE;
    for (unsigned i = 0; i < f->parts; i++)
        f->traits |= f->part[i]->traits & SEEN_READS_TEXT;
}

/* The error of a part names the part; the address has no password. */
static void name_part(struct seen_error *why, unsigned part)
{
    struct seen_error it;

    if (!why)
        return;
    it = *why;
    errno = 0; /* the text has it */
    seen_fail(why, it.code, it.at, "part %u: %.150s", part, it.text);
    why->system = it.system;
}

enum seen_code remote_spatial_open(struct seen_filter **out,
                                   const char *address,
                                   const struct remote_options *options,
                                   struct seen_error *why)
{
    struct seen_filter *f = calloc(1, sizeof *f);
    const char *rest = address;
    enum seen_code code = SEEN_OK;
    char *one = NULL;

    *out = NULL;
    if (!f)
        return no_memory_for(why, "a filter");
    f->kind = &remote_spatial;
    f->part = calloc(PARTS, sizeof *f->part);
    if (!f->part)
        code = no_memory_for(why, "a filter");
    while (code == SEEN_OK && remote_spatial_next(&rest, &one)) {
        if (!one)
            code = no_memory_for(why, "a filter");
        else if (f->parts == PARTS)
            code = seen_fail(why, SEEN_RANGE, 0,
                             "an address has at most 16 parts");
        else
            code = remote_open(&f->part[f->parts], one, options, why);
        if (code == SEEN_OK && !f->part[f->parts]->recorded) {
            seen_filter_free(f->part[f->parts]);
            code = seen_fail(why, SEEN_UNABLE, 0,
                             "the seed of this server's filter is not known");
        }
        if (code != SEEN_OK && one)
            name_part(why, f->parts);
        f->parts += code == SEEN_OK;
        free(one);
    }
    if (code == SEEN_OK && f->parts < 2)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "spatial: needs two addresses or more, separated by "
                         "commas");
    if (code == SEEN_OK) {
        f->room = f->parts;
        qsort(f->part, f->parts, sizeof *f->part, by_seed);
        code = agree(f, why);
    }
    if (code != SEEN_OK) {
        int system = errno;

        seen_filter_free(f);
        errno = system;
        return code;
    }
    describe(f);
    *out = f;
    return SEEN_OK;
}

/* --- writing --- */

enum seen_code remote_spatial_able(const struct seen_filter *f,
                                   const char *address, struct seen_error *why)
{
    unsigned n = remote_address_parts(address);
    enum seen_code code = SEEN_OK;

    if (!f->kind->combines || f->kind->target != SEEN_TO_ALL ||
        !(f->traits & SEEN_PARTS_AGREE) || f->parts != n)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%s has not one part for each of the %u addresses: "
                         "take spatial:%u/blocked",
                         f->plan.kind, n, n);
    for (unsigned i = 0; i < f->parts && code == SEEN_OK; i++)
        code = remote_able(f->part[i], why);
    return code;
}

/* The parts are replaced one after the other. Each gets the metadata of the
   whole: it is a filter of its own. */
enum seen_code remote_spatial_save(const struct seen_filter *f,
                                   const char *address,
                                   const struct remote_options *options,
                                   struct seen_error *why)
{
    enum seen_code code = remote_spatial_able(f, address, why);
    const char *rest = address;
    char *one;

    for (unsigned i = 0; code == SEEN_OK && remote_spatial_next(&rest, &one);
         i++) {
        struct seen_filter part = *f->part[i];

        part.meta = f->meta;
        part.offered = f->offered;
        code = one ? remote_save(&part, one, options, why)
                   : no_memory_for(why, "a filter");
        if (code != SEEN_OK && one)
            name_part(why, i);
        free(one);
    }
    return code;
}
