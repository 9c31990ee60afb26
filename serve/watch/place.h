/*
 * place.h - one place of --crawls: what is there, and how fast it goes.
 *
 *     crawls/            a folder of crawl folders: looked through each time
 *     crawls/site/       a crawl folder
 *     seen-work.db       a SQLite file of workers, also as sqlite:FILE
 *     postgresql://...   workers on many machines
 *     amqp://...         the queues of a broker
 *
 * "NAME=" before it gives it a name; otherwise it is called after its last
 * part. Passwords in URLs are never shown.
 *
 * Threads: watch_place_look() belongs to one thread; watch_place_unseen() may
 * be called by any.
 */
#ifndef SEEN_SERVE_WATCH_PLACE_H
#define SEEN_SERVE_WATCH_PLACE_H

#include "look.h"

struct watch_place;

/* NULL without memory. */
struct watch_place *watch_place_new(const char *text, bool broker);
void watch_place_free(struct watch_place *p);

/* Look at it; NULL without memory. Belongs to the caller. */
struct watch_look *watch_place_look(struct watch_place *p);

/* What to show before the first look. Belongs to the place. */
struct watch_look *watch_place_unseen(struct watch_place *p);

#endif
