/* round.c - reports, and what is left for the next round. */
#include "round.h"

bool harvest_stopped(const struct harvest_round *r)
{
    return r->options->stop && *r->options->stop;
}

void harvest_progress(struct harvest_round *r)
{
    const struct harvest_options *o = r->options;

    r->sum->received = fetch_bytes(r->web);
    if (o->progress)
        o->progress(o->owner, r->done, r->catalog.n, r->sum->received);
}

void harvest_report(struct harvest_round *r, const struct harvest_event *event)
{
    r->sum->count[event->result]++;
    if (event->result <= HARVEST_REFUSED || event->result == HARVEST_IGNORED)
        r->done++;
    if (r->options->report)
        r->options->report(r->options->owner, event);
}

void harvest_refuse(struct harvest_round *r, const char *url, const char *name,
                    const struct seen_error *why)
{
    harvest_report(r, &(struct harvest_event){ .result = HARVEST_REFUSED,
                                               .name = name,
                                               .url = url,
                                               .reason = why->text,
                                               .size = UINT64_MAX });
}

void harvest_unread(struct harvest_round *r, const char *url,
                    const struct seen_error *why)
{
    harvest_report(r, &(struct harvest_event){ .result = HARVEST_UNREAD,
                                               .name = "",
                                               .url = url,
                                               .reason = why->text,
                                               .size = UINT64_MAX });
}

enum seen_code harvest_fits(const struct harvest_round *r, uint64_t bytes,
                            uint64_t have, struct seen_error *why)
{
    uint64_t most = r->options->max_size;

    if (bytes > most)
        return seen_fail(why, SEEN_RANGE, 0,
                         "has %llu bytes, more than the %llu allowed",
                         (unsigned long long)bytes, (unsigned long long)most);
    if (bytes > have && bytes - have > harvest_folder_room(&r->folder))
        return seen_fail(why, SEEN_RANGE, 0,
                         "has %llu bytes, more than the disk has room for",
                         (unsigned long long)bytes);
    return SEEN_OK;
}

double harvest_time_left(const struct harvest_round *r,
                         const struct harvest_publisher *p)
{
    return (double)HARVEST_PUBLISHER_TIME * r->options->patience - p->seconds;
}

bool harvest_left_out(const struct harvest_round *r,
                      const struct harvest_publisher *p, const char *url,
                      struct seen_error *why)
{
    if (fetch_health_down(&r->health, p->number, url))
        seen_fail(why, SEEN_CORRUPT, 0,
                  "is left for the next round: %d requests in a row to its "
                  "host failed or were too slow",
                  FETCH_FAILURES);
    else if (harvest_time_left(r, p) <= 0)
        seen_fail(why, SEEN_CORRUPT, 0,
                  "is left for the next round: requests for this publisher "
                  "took longer than %u seconds",
                  HARVEST_PUBLISHER_TIME * r->options->patience);
    else
        return false;
    return true;
}
