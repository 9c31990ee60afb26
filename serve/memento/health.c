/* health.c - failures in a row, by the names of archives. */
#include "health.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/disk/clock.h"

struct memento_health {
    unsigned failures; /* in a row */
    uint64_t until;    /* it rests */
    uint64_t answered; /* last time, whatever it was */
    char name[];
};

/* What is known of an archive, which begins now; NULL without memory. */
static struct memento_health *health_of(struct map *health, const char *name)
{
    const size_t len = strlen(name);
    struct memento_health *h = map_get(health, name, len);

    if (h || !(h = calloc(1, sizeof *h + len + 1)))
        return h;
    memcpy(h->name, name, len);
    if (map_set(health, h->name, len, h))
        return h;
    free(h);
    return NULL;
}

void memento_health_note(struct map *health, const struct memento_asking *a)
{
    struct memento_health *h = health_of(health, a->report->name);

    if (!h)
        return;
    if (a->unreachable || (a->late && !a->count && h->answered < a->began)) {
        if (++h->failures >= MEMENTO_FAILURES)
            h->until = clock_ms() + MEMENTO_REST_MS;
    } else if (!a->late) {
        h->failures = 0;
        h->until = 0;
        h->answered = clock_ms();
    }
}

bool memento_health_rests(struct map *health, const char *name, uint64_t now,
                          uint64_t patience)
{
    struct memento_health *h = map_get(health, name, strlen(name));

    if (!h || h->failures < MEMENTO_FAILURES)
        return false;
    if (h->until > now)
        return true;
    h->until = now + patience;
    return false;
}

void memento_health_clear(struct map *health)
{
    struct memento_health *h;

    for (size_t at = 0; (h = map_next(health, &at));)
        free(h);
    map_clear(health);
}
