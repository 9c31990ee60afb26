/* rejects.c - count bad lines by cause. */
#include "rejects.h"

#include <stdio.h>
#include <string.h>

static struct seen_cause *cause_of(struct seen_rejects *r, const char *text,
                                   enum seen_cost cost)
{
    int i = 0;

    while (i < SEEN_CAUSES - 1 && r->cause[i].count &&
           (strcmp(r->cause[i].text, text) || r->cause[i].cost != cost))
        i++;
    if (!r->cause[i].count || r->cause[i].cost < cost)
        r->cause[i].cost = cost; /* of all other causes, the worst */
    if (!r->cause[i].count)
        snprintf(r->cause[i].text, sizeof r->cause[i].text, "%s",
                 i < SEEN_CAUSES - 1 ? text : "other causes");
    return &r->cause[i];
}

void cdx_rejects_add(struct seen_rejects *r, const char *input, uint64_t line,
                     const char *text, enum seen_cost cost)
{
    struct seen_cause *c = cause_of(r, text, cost);

    if (c->count < SEEN_PLACES)
        c->at[c->count] = (struct seen_place){ input, line };
    c->count++;
    r->count++;
}

void cdx_rejects_fold(struct seen_rejects *r, struct seen_rejects *from,
                      uint64_t before)
{
    if (!from->count)
        return;
    for (int i = 0; i < SEEN_CAUSES; i++) {
        struct seen_cause *c = &from->cause[i];

        for (uint64_t j = 0; j < c->count && j < SEEN_PLACES; j++)
            cdx_rejects_add(r, c->at[j].input, before + c->at[j].line, c->text,
                            c->cost);
        if (c->count > SEEN_PLACES) {
            cause_of(r, c->text, c->cost)->count += c->count - SEEN_PLACES;
            r->count += c->count - SEEN_PLACES;
        }
    }
    memset(from, 0, sizeof *from);
}
