/*
 * learn.c - what the row of a page gets from an answer.
 *
 * The history of changes says how often the page changes. So a request that
 * failed must not count as a look at the page, and a page that is gone, or leads
 * elsewhere now, has changed.
 */
#include "learn.h"

#include <string.h>

#include "../page/revisit.h"
#include "../template/template.h"
#include "log.h"

/* What the answer says about changes of the page. A page that is gone, or
   that leads elsewhere, has changed; one that fails has not been seen. */
static void note_change(struct crawl_known *row, const struct crawl_page *page)
{
    bool had_content = row->status == 304 ||
                       (row->status >= 200 && row->status < 300);

    switch (page->outcome) {
    case CRAWL_STORED: crawl_revisit_note(row, page->started, true); break;
    case CRAWL_UNCHANGED:
        crawl_revisit_note(row, page->started, !had_content);
        break;
    case CRAWL_FAILED: crawl_revisit_miss(row, page->started); break;
    default:
        if (page->status == 429 || page->status >= 500)
            crawl_revisit_miss(row, page->started);
        else
            crawl_revisit_note(row, page->started,
                               row->status != page->status);
    }
}

/* Seconds between visits of the page, if a template says: by the rule that led
   to it, or for pages of its type. */
static int64_t find_interval(const struct crawl_template *template,
                             const struct crawl_page *page)
{
    const char *type;
    uint64_t ms;

    if (page->flags >> CRAWL_FLAG_MINUTES)
        return 60 * (int64_t)(page->flags >> CRAWL_FLAG_MINUTES);
    if (page->known.id && page->known.every)
        return page->known.every;
    if (!template)
        return 0;
    type = crawl_template_type(template, *page->type ? page->type : NULL,
                               page->url, strlen(page->url), NULL);
    ms = crawl_template_revisit(template, type);
    return ms == CRAWL_UNSET ? 0 : (int64_t)(ms / 1000);
}

/* The copy that is kept is that of the answer. */
static void note_content(struct crawl_known *row, struct crawl_page *page,
                         bool archived)
{
    static char empty[] = "";
    bool whole;

    if (page->outcome == CRAWL_STORED) {
        row->size = (int64_t)page->size;
        row->stored = page->started;
        row->digest = page->packed.digest;
        row->place = page->place;
    }
    if (page->status == 304)
        return;
    whole = (*row->place || !archived) && !page->cut && !page->incomplete;
    row->etag = whole ? page->etag : empty;
    row->modified = whole ? page->modified : empty;
}

void crawl_learn(struct crawl_known *row, struct crawl_page *page,
                 const struct crawl_template *template, bool archived)
{
    static char empty[] = "";

    if (!row->id) {
        row->first = page->started;
        row->etag = row->modified = row->digest = row->place = empty;
    }
    row->url = page->url;
    row->type = page->type;
    row->depth = page->depth;
    row->every = find_interval(template, page);
    row->note = *page->fault ? page->fault : page->costly;
    note_change(row, page);
    row->status = crawl_log_status(page);
    if (page->outcome == CRAWL_STORED || page->outcome == CRAWL_UNCHANGED)
        note_content(row, page, archived);
    row->last = page->started;
}
