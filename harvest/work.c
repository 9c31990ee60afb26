/* work.c - telling, counting, and the clock. */
#include "work.h"

#include <poll.h>
#include <time.h>

enum { LEAST = 1000 }; /* bytes a second */

double work_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void work_wait(unsigned milliseconds)
{
    poll(NULL, 0, (int)milliseconds);
}

double work_again(const struct work *w, unsigned tries, unsigned after)
{
    double pause = tries * tries * w->how->pause / 1000.0;

    if (after > w->how->patience)
        return 0;
    return work_clock() + (pause > after ? pause : after);
}

bool pace_slow(struct pace *p, const struct work *w)
{
    double now = work_clock(), took = p->since > 0 ? now - p->since : 0;
    bool slow = took > w->how->patience && (double)p->bytes < LEAST * took;

    if (took > w->how->patience)
        *p = (struct pace){ .since = now };
    return slow;
}

bool work_stopped(const struct work *w)
{
    return w->how->stop && *w->how->stop;
}

void work_moved(struct work *w)
{
    w->sum->travelled = fetch_bytes(w->web);
    if (w->how->moved)
        w->how->moved(w->how->owner, w->done, w->items.n, w->sum->travelled);
}

void work_tell(struct work *w, const struct harvest_news *news)
{
    w->sum->count[news->what]++;
    if (news->what <= HARVEST_REFUSED)
        w->done++;
    if (w->how->tell)
        w->how->tell(w->how->owner, news);
}

unsigned work_share(const struct work *w)
{
    unsigned all = w->how->rules.parallel;

    return all > 1 && w->items.parties > 1 ? all / 2 : all;
}

/* A host that gives no answer gives none to others either. That it is slow
   with what one party names is nothing that another should suffer from. */
void work_failed(struct work *w, const struct source *s, const char *url,
                 double took, bool mute)
{
    s->party->lost += took;
    items_failed(&w->items, s->party, url);
    if (mute)
        items_failed(&w->items, NULL, url);
}

void work_worked(struct work *w, const struct source *s, const char *url)
{
    items_worked(&w->items, s->party, url);
    items_worked(&w->items, NULL, url);
}

bool work_given_up(const struct work *w, const struct source *s,
                   const char *url, struct seen_error *why)
{
    double most = (double)LOST_TIME * w->how->patience;

    if (items_failures(&w->items, s->party, url) >= FAILURES ||
        items_failures(&w->items, NULL, url) >= FAILURES)
        seen_fail(why, SEEN_CORRUPT, 0,
                  "is left for the next time: of its host, %d in a row failed "
                  "or were too slow",
                  FAILURES);
    else if (s->party->lost > most)
        seen_fail(why, SEEN_CORRUPT, 0,
                  "is left for the next time: %.0f seconds went into what "
                  "failed of this source",
                  most);
    else
        return false;
    return true;
}

void work_refuse(struct work *w, const char *url, const char *name,
                 const struct seen_error *why)
{
    struct harvest_news news = { .what = HARVEST_REFUSED,
                                 .name = name,
                                 .url = url,
                                 .reason = why->text,
                                 .size = UINT64_MAX };

    work_tell(w, &news);
}

void work_unread(struct work *w, const char *url, const struct seen_error *why)
{
    struct harvest_news news = { .what = HARVEST_UNREAD,
                                 .name = "",
                                 .url = url,
                                 .reason = why->text,
                                 .size = UINT64_MAX };

    work_tell(w, &news);
}

enum seen_code work_status(int status, struct seen_error *why)
{
    const char *words = status == 401   ? ": it wants a password"
                        : status == 403 ? ": forbidden"
                        : status == 404 ? ": not found"
                        : status == 410 ? ": gone"
                        : status == 429 ? ": too many requests"
                        : status >= 500 ? ": a fault of the server"
                                        : "";

    enum seen_code code = status == 429 || status >= 500 ? SEEN_IO
                                                         : SEEN_UNABLE;

    seen_fail(why, SEEN_UNABLE, 0, "is answered with %d%s", status, words);
    if (why)
        why->code = code; /* but no errno belongs to it */
    return code;
}
