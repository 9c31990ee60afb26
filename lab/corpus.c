/*
 * corpus.c - texts and their keys in memory.
 *
 * Texts lie one after the other in one block, in the order in which they are
 * asked for, so that reading them costs the same with every structure that is
 * timed. A round hashes each text anew: a crawler has texts and not keys.
 * The fastest of some rounds counts, since what disturbs a round makes it
 * longer.
 */
#include "corpus.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BATCH = 256, ROUNDS = 3 };

/* Everything is written twice: first to know how much memory it takes. */
void corpus_write(struct corpus *t, corpus_writer *write, const void *of,
                  uint64_t from, size_t n)
{
    char one[URL_MOST], *to;

    *t = (struct corpus){ .n = n };
    for (size_t i = 0; i < n; i++)
        t->bytes += write(of, from + i, one);
    t->key = lab_memory(n, sizeof *t->key);
    t->memory = to = lab_memory(t->bytes, 1);
    for (size_t i = 0; i < n; i++) {
        size_t len = write(of, from + i, one);

        memcpy(to, one, len);
        seen_key_hash(&t->key[i], to, len);
        to += len;
    }
}

static size_t write_url(const void *of, uint64_t i, char *to)
{
    return urls_get(of, i, to);
}

void corpus_init(struct corpus *t, const struct urls *urls, uint64_t from,
                 size_t n)
{
    corpus_write(t, write_url, urls, from, n);
}

void corpus_clear(struct corpus *t)
{
    free(t->memory);
    free(t->key);
    *t = (struct corpus){ .n = 0 };
}

/* Hash up to `batch` texts from i on anew; how many that is. */
static size_t hash(const struct corpus *t, size_t i, size_t batch,
                   struct seen_key *key)
{
    size_t some = t->n - i < batch ? t->n - i : batch;

    for (size_t j = 0; j < some; j++)
        seen_key_hash(&key[j], t->key[i + j].text, t->key[i + j].len);
    return some;
}

double corpus_ask(const struct corpus *t, const struct seen_filter *f,
                  size_t batch)
{
    struct seen_key key[MOST_BATCH];
    bool seen[MOST_BATCH];
    struct seen_error why;
    double best = INFINITY;

    for (int round = 0; round < ROUNDS; round++) {
        double begin = lab_cpu_clock();

        for (size_t i = 0, some; i < t->n; i += some) {
            some = hash(t, i, batch, key);
            lab_must(seen_filter_has(f, key, some, seen, &why), &why);
        }
        best = fmin(best, lab_cpu_clock() - begin);
    }
    return best / (double)t->n;
}

double corpus_add(const struct corpus *t, struct seen_filter *f, size_t batch)
{
    struct seen_key key[MOST_BATCH];
    struct seen_error why;
    double begin = lab_cpu_clock();

    for (size_t i = 0, some; i < t->n; i += some) {
        some = hash(t, i, batch, key);
        lab_must(seen_filter_add(f, key, some, NULL, &why), &why);
    }
    return (lab_cpu_clock() - begin) / (double)t->n;
}

void corpus_must(uint64_t n, uint64_t least)
{
    if (n < least)
        lab_fail("%s URLs are too few for this experiment; it takes %s",
                 lab_count((double)n), lab_count((double)least));
}

uint64_t corpus_enough(const struct lab *lab, struct section *s, uint64_t n,
                       double times, uint64_t least)
{
    uint64_t count = urls_count(lab->urls);
    double most = (double)count / times;

    corpus_must(n, least);
    if (!((double)n > most))
        return n;
    if (most < (double)least)
        lab_fail("the list has %llu URLs, and this takes %.0f at least",
                 (unsigned long long)count, ceil((double)least * times));
    section_text(s,
                 "The list of URLs has %llu, so that the experiment is done "
                 "with %.0f of them where %llu were wanted.",
                 (unsigned long long)count, floor(most),
                 (unsigned long long)n);
    return (uint64_t)most;
}
