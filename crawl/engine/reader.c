/*
 * reader.c - a page from its answer to what is stored.
 *
 *     decode ──> judge ──────────> compare, pack ──> extract ──> page->...
 *                reader_answer.c   WARC members      extract.c
 *                reader_links.c
 *
 * All of it pays from one budget per page. What the page contains is never a
 * fault of the crawl: if nothing can be made of it, that is its outcome.
 */
#include "reader_inside.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/text/span.h"
#include "../../web/robots.h"
#include "extract.h"

enum { KEPT = 1 << 20 }; /* bytes of a buffer for the next page */

enum seen_code crawl_reader_new(struct crawl_reader **out,
                                const atomic_bool *stop,
                                struct seen_error *why)
{
    struct crawl_reader *r = calloc(1, sizeof *r);
    enum seen_code code;

    *out = NULL;
    if (!r)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a reader");
    r->stop = stop;
    crawl_reader_limit(r, CRAWL_PAGE_STEPS, CRAWL_STOP_STEPS);
    r->decoded.budget = r->other.budget = &r->budget;
    code = warc_packer_new(&r->packer, 0, why);
    if (code != SEEN_OK) {
        free(r);
        return code;
    }
    *out = r;
    return SEEN_OK;
}

void crawl_reader_limit(struct crawl_reader *r, uint64_t steps,
                        uint64_t stop_steps)
{
    r->steps = steps;
    r->stop_steps = r->grace = stop_steps;
}

void crawl_reader_free(struct crawl_reader *r)
{
    if (!r)
        return;
    warc_packer_free(r->packer);
    fetch_decoded_clear(&r->decoded);
    fetch_decoded_clear(&r->other);
    crawl_copy_clear(&r->copy);
    buffer_clear(&r->text);
    buffer_clear(&r->title);
    buffer_clear(&r->record);
    buffer_clear(&r->fields);
    warc_packed_clear(&r->packed);
    free(r);
}

/* --- what it costs --- */

/* Steps per byte of words, per word of the focus, per byte that is packed. */
enum { WORD_BYTE = 24, WORD = 40, PACK_BYTE = 5 };

static void begin_budget(struct crawl_reader *r, bool may_stop)
{
    r->budget = (struct budget){ .left = r->steps };
    r->paying = &r->budget;
    if (!may_stop)
        return;
    if (!r->stop || !atomic_load(r->stop))
        r->grace = r->stop_steps; /* a run goes on after a lease has ended */
    r->budget.stop = r->stop;
    r->budget.grace = r->grace;
}

/* A page is packed whatever it has cost; but a stop does not wait for that. */
static bool may_pack(struct crawl_reader *r)
{
    struct budget packing = r->budget;
    bool may;

    if (!packing.hurried)
        packing.left = UINT64_MAX;
    may = budget_spend(&packing, PACK_BYTE * (uint64_t)r->page->raw.len);
    if (packing.hurried)
        r->budget = packing;
    return may;
}

/* The first reason counts. */
void crawl_reader_note_cost(struct crawl_reader *r, bool costly,
                            const char *what)
{
    if (costly)
        crawl_page_note_cost(r->page, "%s", what);
}

uint64_t crawl_reader_focus_cost(const struct crawl_reader *r, size_t bytes)
{
    return WORD_BYTE * (uint64_t)bytes +
           WORD * (uint64_t)crawl_focus_words(r->shared->focus);
}

/* --- members --- */

static bool wants_warc(const struct crawl_reader *r)
{
    return !r->shared->settings->urls_only && !r->shared->no_warc;
}

static enum seen_code pack(struct crawl_reader *r, struct seen_error *why)
{
    struct crawl_page *page = r->page;
    const struct crawl_known *known = &page->known;
    struct warc_exchange x = {
        .url = page->url,
        .when = (uint64_t)page->started,
        .address = *page->address ? page->address : NULL,
        .request = span_of_buffer(&page->sent),
        .head = span_of_buffer(&page->head),
        .body = span_of_buffer(&page->raw),
        .payload = r->decoded.payload,
        .truncated = page->cut,
        .status = page->status,
        .type = *page->mime ? page->mime : NULL,
    };
    enum seen_code code;
    char digest[WARC_DIGEST];

    if (known->id && *known->digest) {
        x.refers_url = known->url;
        x.refers_when = (uint64_t)known->stored;
        x.refers_digest = known->digest;
        if (page->status == 304)
            x.revisit = WARC_NOT_MODIFIED;
        else if (page->outcome == CRAWL_STORED && !page->cut) {
            code = warc_digest(x.payload, digest, why);
            if (code != SEEN_OK)
                return code;
            if (!strcmp(digest, known->digest)) {
                x.revisit = WARC_IDENTICAL;
                page->outcome = CRAWL_UNCHANGED;
                page->revisit = true;
            }
        }
    }
    /* Packing needs more room than its result takes. */
    code = warc_pack(r->packer, &r->packed, &x, why);
    if (code != SEEN_OK)
        return code;
    page->packed = r->packed;
    page->packed.bytes = (struct buffer){ .bytes = NULL };
    return crawl_page_copy(&page->packed.bytes, &r->packed.bytes)
               ? SEEN_OK
               : seen_fail(why, SEEN_NOMEM, 0, "no memory for a page");
}

/* Without WARC files: is the payload the one that is known? */
static enum seen_code compare(struct crawl_reader *r, struct seen_error *why)
{
    struct crawl_page *page = r->page;
    enum seen_code code = warc_digest(r->decoded.payload, page->packed.digest,
                                      why);

    if (code == SEEN_OK && page->known.id && !page->cut &&
        !strcmp(page->packed.digest, page->known.digest))
        page->outcome = CRAWL_UNCHANGED;
    return code;
}

/* --- a page from begin to end --- */

static enum seen_code extract(struct crawl_reader *r, struct seen_error *why)
{
    enum seen_code code;

    r->record.len = r->fields.len = 0;
    r->record.failed = r->fields.failed = false;
    code = crawl_extract(r->shared, r->page, r->tree,
                         span_of_buffer(&r->title), span_of_buffer(&r->text),
                         &r->record, &r->fields, why);
    if (code == SEEN_OK && !crawl_page_copy(&r->page->record, &r->record))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a page record");
    return code;
}

static enum seen_code finish_answer(struct crawl_reader *r,
                                    struct seen_error *why)
{
    struct crawl_page *page = r->page;
    enum seen_code code = SEEN_OK;

    if (page->outcome != CRAWL_AGAIN && wants_warc(r) && may_pack(r))
        code = pack(r, why);
    else if (page->outcome == CRAWL_STORED && r->shared->digests)
        code = compare(r, why);
    if (code == SEEN_OK && page->outcome != CRAWL_AGAIN &&
        !r->shared->settings->urls_only)
        code = extract(r, why);
    if (code == SEEN_OK && r->shared->settings->index && !r->noindex) {
        buffer_append(&page->body, &r->title);
        page->title_len = page->body.len;
        buffer_append(&page->body, &r->text);
    }
    if (r->title.len && r->title.len < sizeof page->title) {
        memcpy(page->title, r->title.bytes, r->title.len);
        page->title[r->title.len] = '\0';
    }
    return code;
}

/* A page that was very large leaves no large buffers behind. */
static void trim(struct crawl_reader *r)
{
    struct buffer *const buffers[] = { &r->packed.bytes, &r->record,
                                       &r->fields, &r->text };

    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (buffers[i]->room > KEPT)
            buffer_clear(buffers[i]);
}

/* A body that came as a whole may still be damaged, or a bomb: some kilobytes
   that stand for gigabytes. */
static void note_unread(struct crawl_reader *r)
{
    const struct fetch_decoded *d = &r->decoded;
    struct crawl_page *page = r->page;
    uint64_t most = r->shared->settings->max_size;

    page->unread[0] = '\0';
    if (*d->fault)
        snprintf(page->unread, sizeof page->unread, "%s", d->fault);
    else if (d->cut && d->body.len >= most && d->payload.len < most)
        snprintf(page->unread, sizeof page->unread,
                 "it unpacks to more than %llu bytes",
                 (unsigned long long)most);
    else if (d->cut && !page->cut)
        snprintf(page->unread, sizeof page->unread,
                 "the packed data ends too early");
}

/* libcurl has one code for a line of a head that is too long, which a guard
   refuses, and for a lack of memory. */
bool crawl_read_refused(const struct crawl_page *page)
{
    return page->code == SEEN_RANGE &&
           !crawl_reader_mentions(span_of(page->fault), "line without end");
}

static enum seen_code work_robots(struct crawl_reader *r,
                                  struct seen_error *why)
{
    struct seen_span body = r->decoded.body;
    struct crawl_page *page = r->page;
    enum seen_code code;
    char charset[64];

    crawl_reader_type(page, charset);
    page->outcome = CRAWL_STORED;
    if (body.len > WEB_ROBOTS_MOST) /* it shows whether a line is cut */
        body.len = WEB_ROBOTS_MOST + 1;
    buffer_span(&page->body, body);
    code = crawl_reader_robots(r, why);
    return code == SEEN_OK && wants_warc(r) ? pack(r, why) : code;
}

static enum seen_code work_answer(struct crawl_reader *r,
                                  struct seen_error *why)
{
    struct crawl_page *page = r->page;
    enum seen_code code;

    code = fetch_decode(&r->decoded, span_of_buffer(&page->head),
                        span_of_buffer(&page->raw),
                        (size_t)r->shared->settings->max_size, why);
    if (code != SEEN_OK)
        return code;
    page->size = r->decoded.payload.len;
    note_unread(r);
    if (page->robots)
        return work_robots(r, why);
    code = crawl_reader_judge(r, why);
    if (code == SEEN_OK)
        code = finish_answer(r, why);
    crawl_reader_drop_tree(r);
    return code;
}

/* Is it about us, and not about what a page contains? */
static bool is_fault(enum seen_code code)
{
    return code != SEEN_OK && code != SEEN_RANGE && code != SEEN_CORRUPT &&
           code != SEEN_BAD_URL;
}

/* The page is one that nothing can be made of, for a reason of its own. */
static void give_up(struct crawl_reader *r, enum seen_code code,
                    const struct seen_error *why)
{
    struct crawl_page *page = r->page;

    page->code = code;
    page->outcome = CRAWL_FAILED;
    page->links = page->lefts = 0;
    page->revisit = false;
    buffer_clear(&page->record);
    page->packed.bytes.len = page->body.len = page->title_len = 0;
    snprintf(page->fault, sizeof page->fault, "%s", why->text);
}

static void take_up(struct crawl_reader *r, struct crawl_page *page)
{
    r->page = page;
    r->shared = page->shared;
    r->no_memory = r->noindex = false;
    r->text.len = r->title.len = 0;
}

/* The page is worked off with this code: is that a fault of ours? */
static enum seen_code put_down(struct crawl_reader *r, enum seen_code code,
                               const struct seen_error *reason,
                               struct seen_error *why)
{
    struct crawl_page *page = r->page;

    trim(r);
    if (r->budget.hurried)
        r->grace = r->budget.left;
    else
        page->steps = r->steps - r->budget.left +
                      PACK_BYTE * (uint64_t)page->raw.len;
    if (is_fault(code)) {
        if (why)
            *why = *reason;
        return code;
    }
    if (code != SEEN_OK)
        give_up(r, code, reason);
    if (r->no_memory || page->texts.failed || page->body.failed)
        return seen_fail(why, SEEN_NOMEM, 0,
                         "no memory for the links of %.80s", page->url);
    if (budget_stopped(&r->budget))
        return seen_fail(why, SEEN_UNABLE, 0, "it was stopped");
    return SEEN_OK;
}

/* Is it what was stored? One that was cut, as it may be by a --max-size that is
   smaller now, cannot be compared. */
static enum seen_code check_copy(struct crawl_reader *r,
                                 struct seen_error *why)
{
    const struct crawl_known *known = &r->page->known;
    char digest[WARC_DIGEST];
    enum seen_code code;

    if (!r->copy.whole)
        return seen_fail(why, SEEN_CORRUPT, 0, "there is no whole copy");
    if (r->other.cut || !*known->digest)
        return SEEN_OK;
    code = warc_digest(r->other.payload, digest, why);
    if (code == SEEN_OK && strcmp(digest, known->digest))
        code = seen_fail(why, SEEN_CORRUPT, 0, "the copy is damaged");
    return code;
}

enum seen_code crawl_read_stored(struct crawl_reader *r,
                                 struct crawl_page *page,
                                 struct seen_error *why)
{
    struct seen_error reason;
    enum seen_code code;

    take_up(r, page);
    page->copy = true;
    page->outcome = CRAWL_UNCHANGED;
    begin_budget(r, true);
    code = crawl_reader_copy(r, &reason);
    if (code == SEEN_OK)
        code = check_copy(r, &reason);
    return put_down(r, code, &reason, why);
}

enum seen_code crawl_read(struct crawl_reader *r, struct crawl_page *page,
                          struct seen_error *why)
{
    struct seen_error reason;
    enum seen_code code;

    take_up(r, page);
    if (page->code != SEEN_OK) {
        page->outcome = crawl_reader_may_retry(r) && !crawl_read_refused(page)
                            ? CRAWL_AGAIN
                            : CRAWL_FAILED;
        return SEEN_OK;
    }
    begin_budget(r, !page->robots);
    code = work_answer(r, &reason);
    return put_down(r, code, &reason, why);
}
