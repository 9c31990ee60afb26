/* keys.c - batches of keys, and filters with a given number of cells. */
#include "spectral.h"

#include <math.h>
#include <string.h>

#include "../band.h"
#include "../paper_table.h"

const char *notes_say(const char *name)
{
    const struct paper_table *p = paper_table("spectral-notes");
    size_t columns = paper_columns(p);

    return paper_text(p, paper_row(p, name), columns - 1);
}

uint64_t keys_ask(const struct seen_filter *f, const struct seen_key *key,
                  uint64_t n, bool *marks)
{
    enum { BATCH = 1024 };
    bool own[BATCH];
    struct seen_error why;
    uint64_t sum = 0;

    for (uint64_t done = 0, some; done < n; done += some) {
        bool *seen = marks ? marks + done : own;

        some = n - done < BATCH ? n - done : BATCH;
        lab_must(seen_filter_has(f, key + done, (size_t)some, seen, &why),
                 &why);
        for (uint64_t i = 0; i < some; i++)
            sum += seen[i];
    }
    return sum;
}

void keys_add(struct seen_filter *f, const struct seen_key *key, uint64_t n)
{
    struct seen_error why;

    lab_must(seen_filter_add(f, key, (size_t)n, NULL, &why), &why);
}

void keys_remove(struct seen_filter *f, const struct seen_key *key, uint64_t n)
{
    struct seen_error why;

    lab_must(seen_filter_remove(f, key, (size_t)n, &why), &why);
}

struct seen_filter *keys_filter(const char *kind, uint64_t n, uint64_t cells,
                                unsigned width, unsigned probes, uint64_t seed)
{
    struct seen_plan plan = {
        .capacity = n,
        .bits = cells * width,
        .probes = probes,
        .seed = seed,
        .over = true,
    };

    strcpy(plan.kind, kind);
    return lab_filter(&plan);
}

unsigned notes_probes(double cells_a_url)
{
    return (unsigned)fmax(1, round(log(2) * cells_a_url));
}

void notes_none(struct table *t, const char *of, double measured)
{
    struct finding f = band_finding(0, (struct band){ 0, 0 }, measured, 0);

    table_text(t, "%s", of);
    table_finding(t, &f);
}
