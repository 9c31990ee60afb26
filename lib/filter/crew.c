/* crew.c - the same step of some work, in several threads. */
#include "crew.h"

#include <pthread.h>
#include <stdbool.h>

struct member {
    void (*step)(void *share);
    void *share;
    pthread_t thread;
    bool started;
};

static void *run(void *argument)
{
    const struct member *m = argument;

    m->step(m->share);
    return NULL;
}

void crew_run(void (*step)(void *share), void *shares, size_t size, unsigned n)
{
    struct member member[MOST_THREADS];

    for (unsigned i = 0; i < n; i++) {
        struct member *m = &member[i];

        m->step = step;
        m->share = (char *)shares + i * size;
        m->started = i && !pthread_create(&m->thread, NULL, run, m);
    }
    for (unsigned i = 0; i < n; i++)
        if (!member[i].started)
            step(member[i].share);
    for (unsigned i = 0; i < n; i++)
        if (member[i].started)
            pthread_join(member[i].thread, NULL);
}
