/*
 * pages.c - rank, then read what is shown of the best.
 *
 *     1  all pages that match, the last ones first: their number and rank
 *     2  of the few that are shown: URL, dates, title, beginning of the text
 *     3  of these again, by the index: title and excerpt with marks
 *
 * FTS5 can sort by itself (ORDER BY rank), but keeps for each page the places
 * of all its hits while it does, in memory, and returns nothing if it is
 * stopped. Here a page takes 16 bytes, and only the best are kept.
 *
 * Step 3 reads all matches once more instead of asking for each page by its
 * number: a word with a * costs FTS5 the same for one page as for all.
 */
#include "pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/disk/lock.h"
#include "../../lib/disk/walk.h"
#include "../../lib/text/array.h"
#include "../../lib/text/buffer.h"
#include "../../lib/text/span.h"
#include "../../sql/sql.h"

enum {
    CACHE = 4 << 20, /* bytes of database pages in memory */
    VERSION = 2, /* of the state, or earlier: CRAWL_VERSION of
                    crawl/folder/state.h */
    TRIES = 2,
    STARS = 64, /* the part of a budget that may be spent on them */
    SHOWN = 300 /* characters of a title or text without marks */
};

struct search_rank {
    int64_t id;
    double rank;
};

struct search_reading {
    const struct search_question *q;
    struct search_found *found;
    struct budget *budget;
    struct sql *db;
    struct search_rank *best; /* room for twice `most` */
    size_t n, most;
};

/* --- 1: ranks --- */

static int compare(const void *a, const void *b)
{
    const struct search_rank *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->id < y->id ? 1 : x->id > y->id ? -1 : 0;
}

static void keep_best(struct search_reading *r)
{
    qsort(r->best, r->n, sizeof *r->best, compare);
    r->n = r->n < r->most ? r->n : r->most;
}

static enum seen_code prepare_ranks(struct search_reading *r,
                                    struct sql_statement **st,
                                    struct seen_error *why)
{
    /* CROSS JOIN: the index comes first, whatever SQLite thinks. */
    enum seen_code code = sql_prepare(
        st, r->db,
        "SELECT s.rowid, s.rank FROM search s CROSS JOIN fetched f ON f.id = "
        "s.rowid WHERE s.search MATCH ?1 AND (?2 = 0 OR f.visit = ?2) AND "
        "f.last >= ?3 AND f.last < ?4 ORDER BY s.rowid DESC",
        why);

    if (code != SEEN_OK)
        return code;
    sql_bind_text(*st, 1, r->q->words);
    sql_bind_number(*st, 2, r->q->visit);
    sql_bind_number(*st, 3, r->q->from);
    sql_bind_number(*st, 4, r->q->to);
    return SEEN_OK;
}

/*
 * For a word with a * FTS5 merges the pages of all words that begin so, in
 * memory, before it returns the first row: about 30 us per step, where all else
 * takes 0.1 us, or a few for hostile texts. So that much may be spent until
 * then. Only a star stands behind a quote and a space.
 */
static uint64_t before_first(const struct search_question *q, uint64_t steps)
{
    return memmem(q->words.text, q->words.len, "\" *", 3) ? steps / STARS
                                                          : steps;
}

/* It gets half of the budget: to read all matches again costs about half as
   much as to rank them. */
static enum seen_code rank(struct search_reading *r, struct seen_error *why)
{
    struct budget part = budget_lend(r->budget, r->budget->left / 2);
    const uint64_t lent = part.left;
    struct search_found *found = r->found;
    struct sql_statement *st;
    enum seen_code code = prepare_ranks(r, &st, why);
    uint64_t later;
    bool row;

    part.left = before_first(r->q, lent);
    later = lent - part.left;
    sql_spend(r->db, &part);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        part.left += later;
        later = 0;
        if (r->n == 2 * r->most)
            keep_best(r);
        r->best[r->n++] = (struct search_rank){ sql_number(st, 0),
                                                sql_real(st, 1) };
        found->total++;
    }
    sql_spend(r->db, NULL);
    budget_settle(r->budget, &part, lent - later);
    found->complete = code == SEEN_OK;
    if (code != SEEN_OK && budget_empty(&part)) {
        found->costly = !found->total;
        code = SEEN_OK;
    }
    keep_best(r);
    return code;
}

/* --- 2 and 3: what is shown --- */

static char *copy_of(struct seen_span text)
{
    char *copy = malloc(text.len + 1);

    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.text, text.len);
    copy[text.len] = '\0';
    return copy;
}

static void replace(char **text, struct seen_span by)
{
    char *copy = copy_of(by);

    if (!copy)
        return;
    free(*text);
    *text = copy;
}

static enum seen_code read_page(struct sql_statement *st,
                                struct search_page *page,
                                struct seen_error *why)
{
    enum seen_code code;
    bool row;

    sql_bind_number(st, 1, page->id);
    code = sql_step(st, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    page->url = copy_of(sql_text(st, 0));
    page->visit = sql_number(st, 1);
    page->fetched = sql_number(st, 2);
    page->stored = sql_number(st, 3);
    page->title = copy_of(sql_text(st, 4));
    page->excerpt = copy_of(sql_text(st, 5));
    sql_reset(st);
    return page->url && page->title && page->excerpt
               ? SEEN_OK
               : seen_fail(why, SEEN_NOMEM, 0, "no memory for a page");
}

static enum seen_code read_pages(struct search_reading *r,
                                 struct seen_error *why)
{
    struct search_found *found = r->found;
    struct sql_statement *st;
    enum seen_code code;

    if (r->q->first >= r->n)
        return SEEN_OK;
    found->page = calloc(r->n - r->q->first, sizeof *found->page);
    if (!found->page)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for pages");
    code = sql_prepare(&st, r->db,
                       "SELECT f.url, f.visit, f.last, f.stored, substr("
                       "s.title, 1, ?2), substr(s.text, 1, ?2) FROM fetched f "
                       "CROSS JOIN search s ON s.rowid = f.id WHERE f.id = ?1",
                       why);
    if (code == SEEN_OK)
        sql_bind_number(st, 2, SHOWN);
    for (size_t i = r->q->first; i < r->n && code == SEEN_OK; i++) {
        struct search_page *page = &found->page[found->pages];

        page->id = r->best[i].id;
        page->rank = r->best[i].rank;
        code = read_page(st, page, why);
        found->pages += page->url != NULL;
    }
    return code;
}

static struct search_page *page_of(struct search_found *found, int64_t id)
{
    for (size_t i = 0; i < found->pages; i++)
        if (found->page[i].id == id)
            return &found->page[i];
    return NULL;
}

/* The numbers are ours: they need no quotes, and SQLite sorts them. The + lets
   FTS5 find the pages by their words only. */
static char *marks_statement(const struct search_found *found)
{
    struct buffer text = { .bytes = NULL };

    buffer_text(&text, "SELECT rowid, seen_excerpt(search, 0, 40), "
                       "seen_excerpt(search, 1, 40) FROM search WHERE search "
                       "MATCH ?1 AND +rowid IN (");
    for (size_t i = 0; i < found->pages; i++)
        buffer_format(&text, i ? ", %lld" : "%lld",
                      (long long)found->page[i].id);
    buffer_text(&text, ") ORDER BY rowid DESC LIMIT ?2");
    return buffer_take(&text);
}

/* Without marks the answer is good enough, if they cannot be paid. */
static enum seen_code read_marks(struct search_reading *r,
                                 struct seen_error *why)
{
    struct search_found *found = r->found;
    char *text = found->pages ? marks_statement(found) : NULL;
    struct search_page *page;
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    if (!text)
        return SEEN_OK;
    code = sql_excerpts(r->db, why);
    if (code == SEEN_OK)
        code = sql_prepare(&st, r->db, text, why);
    free(text);
    if (code != SEEN_OK)
        return code;
    sql_spend(r->db, r->budget);
    sql_bind_text(st, 1, r->q->words);
    sql_bind_number(st, 2, (int64_t)found->pages);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        page = page_of(found, sql_number(st, 0));
        if (!page)
            continue;
        replace(&page->title, sql_text(st, 1));
        replace(&page->excerpt, sql_text(st, 2));
    }
    return budget_empty(r->budget) ? SEEN_OK : code;
}

/* --- the folder --- */

static enum seen_code read_visits(struct search_reading *r,
                                  struct seen_error *why)
{
    struct search_found *found = r->found;
    struct sql_statement *st;
    size_t room = 0;
    enum seen_code code = sql_prepare(&st, r->db,
                                      "SELECT id, began, ended FROM visits "
                                      "ORDER BY id DESC LIMIT ?1",
                                      why);
    bool row;

    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, SEARCH_VISITS);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct search_visit *more = array_grow(
            found->visit, &room, found->visits + 1, sizeof *more);

        if (!more)
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for visits");
        found->visit = more;
        more[found->visits++] = (struct search_visit){ sql_number(st, 0),
                                                       sql_number(st, 1),
                                                       sql_number(st, 2) };
    }
    return code;
}

static enum seen_code read_one(struct sql *db, const char *text,
                               int64_t *value, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(&st, db, text, why);
    bool row = false;

    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    *value = code == SEEN_OK && row ? sql_number(st, 0) : 0;
    if (code == SEEN_OK && row)
        sql_reset(st);
    return code;
}

/* Is it a crawl of ours, with an index? */
static enum seen_code check(struct sql *db, struct seen_error *why)
{
    int64_t version, tables;
    enum seen_code code = read_one(db, "PRAGMA user_version", &version, why);

    if (code == SEEN_OK)
        code = read_one(db,
                        "SELECT count(*) FROM sqlite_master WHERE name IN "
                        "('search', 'fetched', 'visits')",
                        &tables, why);
    if (code != SEEN_OK)
        return code;
    if (version > VERSION)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "a later version of seen made this crawl");
    if (version < 1 || tables < 2)
        return seen_fail(why, SEEN_MISMATCH, 0, "not the folder of a crawl");
    return tables == 3 ? SEEN_OK
                       : seen_fail(why, SEEN_MISMATCH, 0,
                                   "this crawl has no index; seen crawl "
                                   "--index keeps one");
}

/* All that is read is of one moment. */
static enum seen_code read_all(struct search_reading *r,
                               struct seen_error *why)
{
    enum seen_code code = sql_run(r->db, "BEGIN", why);

    if (code == SEEN_OK)
        code = check(r->db, why);
    if (code == SEEN_OK)
        code = read_visits(r, why);
    if (code != SEEN_OK || !r->q->words.len)
        return code;
    code = rank(r, why);
    if (code == SEEN_OK)
        code = read_pages(r, why);
    return code == SEEN_OK ? read_marks(r, why) : code;
}

static void forget_pages(struct search_found *found)
{
    for (size_t i = 0; i < found->pages; i++) {
        free(found->page[i].url);
        free(found->page[i].title);
        free(found->page[i].excerpt);
    }
    free(found->page);
    free(found->visit);
    *found = (struct search_found){ .code = SEEN_OK };
}

static enum seen_code look_for(const char *path, struct seen_error *why)
{
    struct stat st;

    if (stat(path, &st))
        return errno == ENOENT || errno == ENOTDIR
                   ? seen_fail(why, SEEN_ABSENT, 0,
                               "there is no crawl here now")
                   : seen_fail(why, SEEN_IO, 0, "its state.db");
    return st.st_size ? SEEN_OK
                      : seen_fail(why, SEEN_ABSENT, 0, "it is being made");
}

static enum seen_code read_folder(struct search_reading *r, const char *folder,
                                  struct seen_error *why)
{
    char *path = walk_path(folder, "state.db");
    char *lock = walk_path(folder, "lock");
    enum seen_code code;

    r->db = NULL;
    r->n = 0;
    code = path && lock ? look_for(path, why)
                        : seen_fail(why, SEEN_NOMEM, 0, "no memory");
    if (code == SEEN_OK)
        code = sql_open(&r->db, path, SQL_READ, CACHE, why);
    if (code == SEEN_OK)
        code = read_all(r, why);
    if (code == SEEN_OK)
        r->found->running = lock_held(lock);
    sql_close(r->db);
    free(path);
    free(lock);
    return code;
}

/* May another try find it well? A file that nobody has open is read as one that
   does not change (sql/sqlite.c): if a crawl begins in that moment, it looks
   damaged. If one ends in that moment, its log is gone before it is opened. */
static bool is_passing(enum seen_code code)
{
    return code == SEEN_CORRUPT || code == SEEN_BUSY || code == SEEN_UNABLE;
}

struct search_found *search_pages(const char *folder,
                                  const struct search_question *q,
                                  struct budget *budget)
{
    struct search_found *found = calloc(1, sizeof *found);
    struct search_reading r = { .q = q, .found = found, .budget = budget };

    r.most = q->first + q->most < SEARCH_DEEP ? q->first + q->most
                                              : SEARCH_DEEP;
    r.best = calloc(2 * r.most + 1, sizeof *r.best);
    if (!found || !r.best) {
        free(r.best);
        free(found);
        return NULL;
    }
    for (int i = 0; i < TRIES; i++) {
        struct seen_error why = { .code = SEEN_OK };
        enum seen_code code;

        forget_pages(found);
        code = read_folder(&r, folder, &why);
        found->code = code;
        found->why = why;
        if (!is_passing(code))
            break;
    }
    free(r.best);
    return found;
}

void search_found_free(struct search_found *found)
{
    if (!found)
        return;
    forget_pages(found);
    free(found);
}
