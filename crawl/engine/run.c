/*
 * run.c - a run of a crawl: its threads begin, and end.
 *
 * The caller's thread is the fetching one (crawl.c). Readers, lookers and the
 * committing thread begin before it. A run ends when the fetching thread and the
 * committing thread have nothing more to do: after a stop, when a budget is
 * spent, when nothing is left, or after the first fault of any thread. Readers
 * and lookers only wait for work, so they return last.
 */
#include "store.h"

#include <errno.h>
#include <malloc.h>
#include <unistd.h>

#include "../../lib/disk/clock.h"

enum { LARGE = 64 << 10, KEPT = 8 << 20 }; /* bytes */

/* --- the clock --- */

int64_t crawl_now(const struct crawl *c)
{
    return clock_boot_ms() + atomic_load(&c->offset);
}

void crawl_set_clock(struct crawl *c, int64_t now)
{
    atomic_fetch_add(&c->offset, now - crawl_now(c));
}

/* --- lists --- */

void crawl_list_add(struct crawl_list *l, struct crawl_page *page)
{
    page->next = NULL;
    if (l->last)
        l->last->next = page;
    else
        l->first = page;
    l->last = page;
    l->n++;
}

struct crawl_page *crawl_list_take(struct crawl_list *l)
{
    struct crawl_page *page = l->first;

    if (!page)
        return NULL;
    l->first = page->next;
    if (!l->first)
        l->last = NULL;
    l->n--;
    page->next = NULL;
    return page;
}

/* --- the end --- */

void crawl_enter_phase(struct crawl *c, enum crawl_phase phase)
{
    if (c->phase < phase)
        c->phase = phase;
}

void crawl_fault(struct crawl *c, enum seen_code code,
                 const struct seen_error *why)
{
    pthread_mutex_lock(&c->lock);
    if (c->code == SEEN_OK) {
        c->code = code;
        c->why = *why;
    }
    crawl_enter_phase(c, CRAWL_QUITS);
    atomic_store(&c->hurry, true);
    pthread_cond_broadcast(&c->to_work);
    pthread_cond_broadcast(&c->to_look);
    pthread_cond_broadcast(&c->to_commit);
    pthread_mutex_unlock(&c->lock);
    if (c->web)
        fetch_wakeup(c->web);
}

void crawl_stop(struct crawl *c)
{
    atomic_store(&c->stop, 1);
    atomic_store(&c->hurry, true);
    if (c->web)
        fetch_wakeup(c->web);
}

void crawl_no_memory(struct crawl *c)
{
    struct seen_error why;

    seen_fail(&why, SEEN_NOMEM, 0, "no memory for a page");
    if (c->code == SEEN_OK) {
        c->code = SEEN_NOMEM;
        c->why = why;
    }
    crawl_enter_phase(c, CRAWL_QUITS);
}

/* --- threads --- */

static void end_threads(struct crawl *c, bool committer)
{
    if (committer)
        pthread_join(c->committer, NULL);
    pthread_mutex_lock(&c->lock);
    crawl_enter_phase(c, CRAWL_QUITS);
    pthread_cond_broadcast(&c->to_work);
    pthread_cond_broadcast(&c->to_look);
    pthread_mutex_unlock(&c->lock);
    while (c->readers)
        pthread_join(c->reader[--c->readers], NULL);
    while (c->lookers)
        pthread_join(c->looker[--c->lookers], NULL);
}

static enum seen_code start_threads(struct crawl *c, void *(*commits)(void *),
                                    struct seen_error *why)
{
    uint64_t wanted = c->settings->threads;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int fault = 0;

    if (!wanted)
        wanted = cpus > 0 ? (uint64_t)cpus : 1;
    if (wanted > CRAWL_READERS_MOST)
        wanted = CRAWL_READERS_MOST;
    c->loads_most = wanted < 2 * CRAWL_LOADS ? ((unsigned)wanted + 1) / 2
                                             : CRAWL_LOADS;
    while (!fault && c->readers < wanted) {
        fault = pthread_create(&c->reader[c->readers], NULL, crawl_read_thread,
                               c);
        c->readers += !fault;
    }
    while (!fault && c->lookers < CRAWL_LOOKERS) {
        fault = pthread_create(&c->looker[c->lookers], NULL, crawl_look_thread,
                               c);
        c->lookers += !fault;
    }
    if (!fault)
        fault = pthread_create(&c->committer, NULL, commits, c);
    if (!fault)
        return SEEN_OK;
    end_threads(c, false);
    errno = fault;
    return seen_fail(why, SEEN_IO, 0, "a thread cannot be started");
}

enum seen_code crawl_engine_run(struct crawl *c, void *(*commits)(void *),
                                struct seen_error *why)
{
    enum seen_code code;

    /* Large pieces of memory go back to the system at once. By itself malloc()
       moves its border up to 32 MB, and pages that one thread makes and
       another frees leave holes: 165 MB instead of 124 for pages with 2,000
       links each, at the same speed. But the end of a heap is mostly used again
       by the next page: to give it back each time takes 4 % of the time. */
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, KEPT);
    c->began = crawl_now(c);
    c->next_due = INT64_MAX;
    code = start_threads(c, commits, why);
    if (code != SEEN_OK)
        return code;
    crawl_fetch_all(c);
    pthread_mutex_lock(&c->lock);
    crawl_enter_phase(c, CRAWL_CLOSES);
    pthread_cond_broadcast(&c->to_commit);
    pthread_mutex_unlock(&c->lock);
    end_threads(c, true);
    crawl_say_warnings(c);
    if (c->code != SEEN_OK && why)
        *why = c->why;
    return c->code;
}
