/* texts.c - URLs in memory, and what it takes to ask a filter for them. */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BATCH = 256, ROUNDS = 3 };

void texts_init(struct texts *t, const struct urls *urls, uint64_t from,
                size_t n)
{
    size_t room = 0, used = 0;
    char url[URL_MOST];

    t->n = n;
    t->text = NULL;
    t->end = calloc(n ? n : 1, sizeof *t->end);
    if (!t->end)
        lab_fail("no memory for %zu URLs", n);
    for (size_t i = 0; i < n; i++) {
        size_t len = urls_get(urls, from + i, url);

        if (used + len > room) {
            room = room * 2 + (1 << 16);
            t->text = realloc(t->text, room);
            if (!t->text)
                lab_fail("no memory for %zu URLs", n);
        }
        memcpy(t->text + used, url, len);
        used += len;
        t->end[i] = used;
    }
}

void texts_clear(struct texts *t)
{
    free(t->text);
    free(t->end);
    *t = (struct texts){ .n = 0 };
}

const char *texts_get(const struct texts *t, size_t i, size_t *len)
{
    uint64_t begin = i ? t->end[i - 1] : 0;

    *len = (size_t)(t->end[i] - begin);
    return t->text + begin;
}

/* The keys of up to `batch` URLs from i on; how many that is. */
static size_t keys(const struct texts *t, size_t i, size_t batch,
                   struct seen_key *key)
{
    size_t some = t->n - i < batch ? t->n - i : batch;

    for (size_t j = 0; j < some; j++) {
        size_t len;
        const char *text = texts_get(t, i + j, &len);

        seen_key_hash(&key[j], text, len);
    }
    return some;
}

double texts_ask(const struct texts *t, const struct seen_filter *f,
                 size_t batch)
{
    struct seen_key key[MOST_BATCH];
    bool seen[MOST_BATCH];
    struct seen_error why;
    double best = INFINITY;

    for (int round = 0; round < ROUNDS; round++) {
        double begin = lab_work_clock();

        for (size_t i = 0, some; i < t->n; i += some) {
            some = keys(t, i, batch, key);
            lab_must(seen_filter_has(f, key, some, seen, &why), &why);
        }
        best = fmin(best, lab_work_clock() - begin);
    }
    return best / (double)t->n;
}

double texts_add(const struct texts *t, struct seen_filter *f, size_t batch)
{
    struct seen_key key[MOST_BATCH];
    struct seen_error why;
    double begin = lab_work_clock();

    for (size_t i = 0, some; i < t->n; i += some) {
        some = keys(t, i, batch, key);
        lab_must(seen_filter_add(f, key, some, NULL, &why), &why);
    }
    return (lab_work_clock() - begin) / (double)t->n;
}

void texts_must(uint64_t n, uint64_t least)
{
    if (n < least)
        lab_fail("%s URLs are too few for this experiment; it takes %s",
                 lab_count((double)n), lab_count((double)least));
}

uint64_t texts_enough(const struct lab *lab, struct sheet *s, uint64_t n,
                      double times, uint64_t least)
{
    uint64_t count = urls_count(lab->urls);
    double most = (double)count / times;

    texts_must(n, least);
    if (!((double)n > most))
        return n;
    if (most < (double)least)
        lab_fail("the list has %llu URLs, and this takes %.0f at least",
                 (unsigned long long)count, ceil((double)least * times));
    sheet_text(s,
               "The list of URLs has %llu, so that the experiment is done "
               "with %.0f of them where %llu were wanted.",
               (unsigned long long)count, floor(most), (unsigned long long)n);
    return (uint64_t)most;
}
