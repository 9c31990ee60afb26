/*
 * readers.c - the threads that read answers: which answer is next, and where
 * the page goes after that.
 *
 * An answer waits in one of four lists:
 *
 *     answers     the usual ones
 *     filed       those whose bodies are in files: body.h
 *     costly      those of hosts that pay for others which were costly
 *     suspects    those that are read alone: aside.h
 *
 * A reader takes one, works without the lock, and puts the page into the list
 * `done`, for the committing thread. Between two answers it asks a robots.txt
 * about the pages of a host (allow.c): the two kinds of work take turns, so that
 * a host with many of one kind does not hold up the other. A robots.txt that is
 * suspect is asked alone, too.
 */
#include "store.h"

/* --- what a page costs --- */

void crawl_page_account(struct crawl *c, struct crawl_page *page)
{
    c->made -= page->made;
    page->made = page->sent.room + page->head.room + page->raw.room +
                 page->packed.bytes.room + page->record.room +
                 page->texts.room + page->body.room +
                 page->room * sizeof *page->link;
    c->made += page->made;
}

void crawl_host_charge(struct crawl *c, const struct crawl_page *page,
                       int64_t more)
{
    struct crawl_host *host = page->host;
    int64_t from = host->hold > page->due ? host->hold : page->due;

    if (page->robots || !more)
        return;
    host->hold = from + more;
    host->delay += more;
    host->spent = true;
    if (host->place)
        crawl_host_set_due(&c->hosts, host, host->due);
    else if (host->due < host->hold)
        host->due = host->hold;
}

/* Its links are charged now, not when their rows are committed: readers would
   have read many more such pages by then. */
static void charge(struct crawl *c, struct crawl_page *page)
{
    uint64_t rows = CRAWL_ROW_STEPS * (uint64_t)page->links;
    int64_t more = crawl_delay_charge(page->host->delay, page->steps + rows);

    page->charged = more > 0;
    crawl_host_charge(c, page, more);
}

/* The page is as if it had not been requested: its row is still there, and
   its host keeps it out of reach until this run ends. The lock is held. */
static void drop(struct crawl *c, struct crawl_page *page)
{
    c->made -= page->made;
    c->unread -= page->made;
    c->working--;
    page->host->unread--;
    crawl_page_free(page);
    pthread_cond_signal(&c->to_commit);
}

static void leave_reader(struct crawl *c, struct crawl_host *host,
                         bool charged)
{
    bool waited = crawl_host_has_unread(host);

    crawl_host_note_read(host, charged);
    if (!waited || crawl_host_has_unread(host))
        return;
    crawl_host_rouse(c, host);
    fetch_wakeup(c->web);
}

/* The lock is held, but not while the work is done. */
static enum seen_code read_on(struct crawl *c, struct crawl_reader *r,
                              unsigned note, struct crawl_page *page,
                              bool apart, struct seen_error *why)
{
    const bool alone = c->alone;
    enum seen_code code;

    c->loads += apart;
    pthread_mutex_unlock(&c->lock);
    crawl_reading_begin(c->reading, note, page, alone);
    code = crawl_body_load(&c->bodies, page, why);
    if (code == SEEN_OK)
        code = crawl_read(r, page, why);
    crawl_body_drop(&c->bodies, page); /* it is packed, or not wanted */
    crawl_reading_end(c->reading, note);
    pthread_mutex_lock(&c->lock);
    c->loads -= apart;
    if (apart && (c->filed.n || c->costly.n))
        pthread_cond_signal(&c->to_work);
    if (code == SEEN_UNABLE) {
        drop(c, page);
        return SEEN_OK;
    }
    if (code != SEEN_OK) {
        crawl_page_free(page);
        return code;
    }
    crawl_spare_give(&c->spares, &page->raw);
    c->unread -= page->made;
    crawl_page_account(c, page);
    charge(c, page);
    leave_reader(c, page->host, page->charged);
    c->working--;
    crawl_list_add(&c->done, page);
    if (c->done.n >= CRAWL_GROUP || c->made >= CRAWL_MADE_MOST / 2 ||
        (!c->working && !c->active))
        pthread_cond_signal(&c->to_commit);
    if (c->full)
        fetch_wakeup(c->web);
    return SEEN_OK;
}

static enum seen_code ask_robots(struct crawl *c, unsigned note,
                                 struct seen_error *why)
{
    enum seen_code code;
    uint64_t steps;

    c->alone = c->to_ask_alone;
    code = crawl_allow_answer(c, crawl_allow_next(c), note, &steps, why);
    fetch_wakeup(c->web);
    return code;
}

/* What a host sent before it was charged may be as costly. */
static void set_apart(struct crawl *c)
{
    while (c->answers.n && c->answers.first->host->hold > crawl_now(c))
        crawl_list_add(&c->costly, crawl_list_take(&c->answers));
}

/*
 * The next answer for a reader, or NULL. Some readers at most have one that is
 * in a file, or of a host that is charged, and each of them takes one of the
 * others after it, so that large and costly pages do not hold up short ones. If
 * the commits do not keep up, readers wait for the next one: crawl_next_group()
 * wakes them.
 */
static struct crawl_page *next_answer(struct crawl *c, bool *apart)
{
    if (c->made - c->unread >= CRAWL_READ_MOST)
        return NULL;
    if (c->suspects.n) {
        *apart = false;
        c->alone = true;
        return crawl_list_take(&c->suspects);
    }
    set_apart(c);
    *apart = (c->filed.n || c->costly.n) && c->loads < c->loads_most &&
             (!*apart || !c->answers.n);
    if (!*apart)
        return crawl_list_take(&c->answers);
    return crawl_list_take(c->filed.n ? &c->filed : &c->costly);
}

static bool may_ask(const struct crawl *c)
{
    return c->to_ask || c->to_ask_alone;
}

/*
 * A page that was being read when a process died is read while the other
 * readers do nothing, so that it alone is at fault if the process dies again.
 * Such pages come first: the others wait a moment, instead of the suspects for
 * the end of the crawl.
 */
static bool may_read(const struct crawl *c)
{
    return !c->alone && ((!c->suspects.n && !c->to_ask_alone) || !c->busy);
}

/* The reader is done with what it had. */
static void leave_turn(struct crawl *c)
{
    c->busy--;
    if (c->alone)
        pthread_cond_broadcast(&c->to_work);
    c->alone = false;
}

/* Answers and questions to robots.txt take turns: a host with many of one kind
   does not hold up the other. */
void *crawl_read_thread(void *crawl)
{
    struct crawl *c = crawl;
    unsigned note;
    struct crawl_reader *r;
    struct crawl_page *page;
    struct seen_error why;
    enum seen_code code;
    bool asked = false, apart = false;

    code = crawl_reader_new(&r, &c->hurry, &why);
    pthread_mutex_lock(&c->lock);
    note = c->noted++;
    while (code == SEEN_OK && c->phase < CRAWL_QUITS) {
        if (!may_read(c)) {
            pthread_cond_wait(&c->to_work, &c->lock);
            continue;
        }
        asked = may_ask(c) && !asked;
        page = asked ? NULL : next_answer(c, &apart);
        if (!page && !may_ask(c)) {
            pthread_cond_wait(&c->to_work, &c->lock);
            continue;
        }
        c->busy++;
        code = page ? read_on(c, r, note, page, apart, &why)
                    : ask_robots(c, note, &why);
        leave_turn(c);
    }
    pthread_mutex_unlock(&c->lock);
    if (code != SEEN_OK)
        crawl_fault(c, code, &why);
    crawl_reader_free(r);
    return NULL;
}
