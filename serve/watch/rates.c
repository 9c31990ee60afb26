/* rates.c - a ring of samples per number. */
#include "rates.h"

#include <stdbool.h>
#include <stdlib.h>

#include "../../lib/text/buffer.h"
#include "../../lib/text/map.h"

enum { SAMPLES = 16, EVERY = 4000, LEAST = 500 /* ms */ };

/* The oldest sample is at `first`. */
struct samples {
    uint64_t at[SAMPLES];
    int64_t number[SAMPLES];
    unsigned first, n;
    bool named; /* in this look */
    size_t len;
    char key[];
};

struct watch_rates {
    struct map numbers;
};

struct watch_rates *watch_rates_new(void)
{
    return calloc(1, sizeof(struct watch_rates));
}

void watch_rates_free(struct watch_rates *r)
{
    struct samples *s;

    if (!r)
        return;
    for (size_t at = 0; (s = map_next(&r->numbers, &at));)
        free(s);
    map_clear(&r->numbers);
    free(r);
}

static struct samples *find(struct watch_rates *r, const char *kind,
                            const char *crawl, const char *name)
{
    struct buffer key = { .bytes = NULL };
    struct samples *s = NULL;

    buffer_text(&key, kind);
    buffer_byte(&key, '\n');
    buffer_text(&key, crawl);
    buffer_byte(&key, '\n');
    buffer_text(&key, name);
    if (!key.failed)
        s = map_get(&r->numbers, key.bytes, key.len);
    if (!s && !key.failed && (s = calloc(1, sizeof *s + key.len))) {
        s->len = key.len;
        memcpy(s->key, key.bytes, key.len);
        if (!map_set(&r->numbers, s->key, s->len, s)) {
            free(s);
            s = NULL;
        }
    }
    buffer_clear(&key);
    return s;
}

static void keep(struct samples *s, int64_t number, uint64_t now)
{
    unsigned last = (s->first + s->n) % SAMPLES;

    if (s->n == SAMPLES)
        s->first = (s->first + 1) % SAMPLES;
    else
        s->n++;
    s->at[last] = now;
    s->number[last] = number;
}

double watch_rate(struct watch_rates *r, const char *kind, const char *crawl,
                  const char *name, int64_t number, uint64_t now)
{
    struct samples *s = find(r, kind, crawl, name);
    unsigned last;
    double rate = -1;

    if (!s)
        return -1;
    s->named = true;
    last = (s->first + s->n + SAMPLES - 1) % SAMPLES;
    if (s->n && number < s->number[last])
        s->n = 0;
    /* Nobody looked for a long time: the mean since then says little. */
    if (s->n && now - s->at[last] > SAMPLES * EVERY)
        s->n = 0;
    if (s->n && now - s->at[s->first] >= LEAST)
        rate = (double)(number - s->number[s->first]) * 1000 /
               (double)(now - s->at[s->first]);
    if (!s->n || now - s->at[last] >= EVERY)
        keep(s, number, now);
    return rate;
}

/* A map must not change while it is walked, so those that stay move. */
void watch_rates_turn(struct watch_rates *r)
{
    struct map stay = { .slot = NULL };
    struct samples *s;

    for (size_t at = 0; (s = map_next(&r->numbers, &at));) {
        if (!s->named || !map_set(&stay, s->key, s->len, s))
            free(s);
        else
            s->named = false;
    }
    map_clear(&r->numbers);
    r->numbers = stay;
}
