/* locked.h - a crawl that does not run, with its lock held: for tests of what
   its threads do with it. */
#ifndef SEEN_TEST_CRAWL_LOCKED_H
#define SEEN_TEST_CRAWL_LOCKED_H

#include <stdlib.h>
#include <string.h>

#include "crawl/engine/engine.h"
#include "test/test.h"

static inline struct crawl *begin(void)
{
    static struct crawl_settings settings;
    struct crawl *c = calloc(1, sizeof *c);

    assert_non_null(c);
    c->settings = &settings;
    crawl_engine_init(c);
    strcpy(c->product, "seen");
    pthread_mutex_lock(&c->lock);
    return c;
}

static inline void end(struct crawl *c)
{
    pthread_mutex_unlock(&c->lock);
    crawl_engine_clear(c);
    free(c);
}

#endif
