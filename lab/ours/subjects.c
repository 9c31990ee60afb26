/*
 * subjects.c - the structures that are compared.
 *
 * Every kind is there, those that hash the text by the published functions
 * and those under a secret too. What grows is planned for a tenth of the
 * URLs, since not to know how many there will be is what it is for.
 */
#include "ours.h"

#include <stdlib.h>
#include <string.h>

const struct subject subjects[] = {
    { .name = "bloom", .kind = "bloom", .drawn = true },
    { .name = "blocked", .kind = "blocked", .drawn = true },
    { .name = "counting:4", .kind = "counting:4", .drawn = true },
    { .name = "counting:16,minimal", .kind = "counting:16,minimal" },
    { .name = "fuse", .kind = "fuse", .drawn = true },
    { .name = "fuse:16", .kind = "fuse:16" },
    { .name = "ribbon", .kind = "ribbon", .drawn = true },
    { .name = "ribbon:8", .kind = "ribbon:8" },
    { .name = "layered:4,mixed", .kind = "layered:4,mixed", .drawn = true },
    { .name = "layered:4,published", .kind = "layered:4,published" },
    { .name = "spatial:2/bloom", .kind = "spatial:2/bloom" },
    { .name = "growing/blocked",
      .kind = "growing/blocked",
      .first = 10,
      .drawn = true },
    { .name = "dynamic:4/bloom", .kind = "dynamic:4/bloom", .drawn = true },
    { .name = "routed:16/blocked",
      .kind = "routed:16/blocked",
      .drawn = true },
    { .name = "bloom:murmur3", .kind = "bloom:murmur3" },
    { .name = "bloom:md5", .kind = "bloom:md5" },
    { .name = "bloom:sip", .kind = "bloom:sip", .keyed = true },
    { .name = "blocked, keyed", .kind = "blocked", .keyed = true },
    { .name = NULL },
};

unsigned subjects_count(void)
{
    unsigned n = 0;

    while (subjects[n].name)
        n++;
    return n;
}

struct seen_plan subject_plan(const struct lab *lab, const struct subject *of,
                              uint64_t n, double rate)
{
    struct seen_plan plan = {
        .capacity = of->first ? n / of->first + 1 : n,
        .rate = rate,
        .seed = lab->seed,
        .keyed = of->keyed,
    };

    strcpy(plan.kind, of->kind);
    return plan;
}

const unsigned char *subject_secret(const struct seen_plan *plan)
{
    static const unsigned char secret[SEEN_SECRET + 1] = "^^^^^^^^^^^^^^^^";

    return plan->keyed ? secret : NULL;
}
