/*
 * aside.c - suspects and pages that are set aside, in the state of a folder.
 *
 * A run begins with the notes of the run before: if that one died, the pages
 * that its readers had become suspects. The table of pages that are set aside
 * is made with its first row, so that most folders do not have it.
 */
#include "aside.h"

#include <stdlib.h>

#include "../../lib/text/span.h"
#include "../engine/group.h"
#include "../page/scope.h"
#include "inside.h"

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS aside (key BLOB PRIMARY KEY, visit INTEGER "
    "NOT NULL, priority INTEGER NOT NULL, via INTEGER NOT NULL, depth INTEGER "
    "NOT NULL, flags INTEGER NOT NULL, url TEXT NOT NULL, path TEXT NOT NULL, "
    "type TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS suspect_robots (origin TEXT PRIMARY KEY, "
    "deaths INTEGER NOT NULL, noted INTEGER NOT NULL) WITHOUT ROWID";

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a page set aside");
}

/* --- suspects --- */

/* Is this the page that has the row now? A number may be used again. */
static enum seen_code has_row(struct crawl_state *s,
                              const struct crawl_suspect *suspect, bool *has,
                              struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct sql_statement *st;
    struct seen_key key;
    enum seen_code code;

    code = frontier_unpack(s->frontier, suspect->id, why);
    if (code == SEEN_OK)
        code = sql_prepare(&st, s->db,
                           "SELECT url FROM frontier WHERE id = ?1", why);
    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, suspect->id);
    code = sql_step(st, has, why);
    if (code != SEEN_OK || !*has)
        return code;
    crawl_key(&key, text, sql_text(st, 0));
    *has = key.lo == suspect->lo && key.hi == suspect->hi;
    sql_reset(st);
    return SEEN_OK;
}

static enum seen_code suspect_row(struct crawl_state *s,
                                  const struct crawl_suspect *suspect,
                                  struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool waits;

    code = has_row(s, suspect, &waits, why);
    if (code != SEEN_OK || !waits)
        return code; /* it was committed, and only its note remained */
    code = sql_prepare(&st, s->db,
                       "UPDATE frontier SET flags = " FRONTIER_SUSPECTED(
                           "?2") " WHERE id = ?1",
                       why);
    if (code != SEEN_OK)
        return code;
    SQL_NUMBERS(st, 1, suspect->id, suspect->alone);
    return sql_do(st, why);
}

static enum seen_code count_death(struct crawl *c,
                                  const struct crawl_suspect *suspect,
                                  struct seen_error *why)
{
    const int64_t now = crawl_now(c), day = 86400000;
    struct sql_statement *st;
    enum seen_code code;

    code = sql_prepare(
        &st, crawl_folder_of(c)->state.db,
        "INSERT INTO suspect_robots VALUES (?1, ?2, ?3) ON CONFLICT (origin) "
        "DO UPDATE SET deaths = CASE WHEN noted > ?4 THEN deaths ELSE 0 END + "
        "?2, noted = ?3",
        why);
    if (code != SEEN_OK)
        return code;
    sql_bind_text(st, 1, span_of(suspect->origin));
    sql_bind_number(st, 2, suspect->alone);
    sql_bind_number(st, 3, now);
    sql_bind_number(st, 4, now - CRAWL_SUSPECT_DAYS * day);
    return sql_do(st, why);
}

/* The third death makes a row of those that are set aside. */
static enum seen_code suspect_robots(struct crawl *c,
                                     const struct crawl_suspect *suspect,
                                     struct seen_error *why)
{
    struct crawl_state *s = &crawl_folder_of(c)->state;
    unsigned char key[CRAWL_ASIDE_KEY];
    enum seen_code code = sql_run(s->db, tables, why);
    struct sql_statement *st;

    if (code == SEEN_OK)
        code = count_death(c, suspect, why);
    if (code == SEEN_OK)
        code = sql_prepare(&st, s->db,
                           "INSERT OR REPLACE INTO aside SELECT ?1, ?2, 0, 0, "
                           "0, 0, origin || '/robots.txt', 'P', '' FROM "
                           "suspect_robots WHERE origin = ?3 AND deaths >= 3",
                           why);
    if (code != SEEN_OK)
        return code;
    crawl_aside_robots_key(key, span_of(suspect->origin));
    sql_bind_bytes(st, 1, (struct seen_span){ (const char *)key, sizeof key });
    sql_bind_number(st, 2, s->visit.id);
    sql_bind_text(st, 3, span_of(suspect->origin));
    return sql_do(st, why);
}

/* The notes are emptied after this. Who dies in between counts a death twice,
   which takes three such moments to matter. */
static enum seen_code note_suspects(struct crawl *c, const char *path,
                                    struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    struct crawl_suspect suspect[CRAWL_READING_MOST];
    enum seen_code code;
    size_t n;

    code = crawl_reading_left(path, suspect, &n, why);
    if (code == SEEN_OK && n)
        code = sql_begin(f->state.db, why);
    if (code != SEEN_OK || !n)
        return code;
    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        code = *suspect[i].origin ? suspect_robots(c, &suspect[i], why)
                                  : suspect_row(&f->state, &suspect[i], why);
    return sql_end(f->state.db, code, why);
}

/* --- set aside --- */

enum seen_code crawl_folder_aside_keep(struct crawl *c,
                                       const struct crawl_page *page,
                                       struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    unsigned char key[CRAWL_ASIDE_KEY];
    const struct seen_span bytes = { (const char *)key, sizeof key };
    struct sql_statement *st;
    enum seen_code code = sql_run(f->state.db, tables, why);

    if (code == SEEN_OK)
        code = sql_prepare(&st, f->state.db,
                           "INSERT OR REPLACE INTO aside VALUES (?1, ?2, ?3, "
                           "?4, ?5, ?6, ?7, ?8, ?9)",
                           why);
    if (code != SEEN_OK)
        return code;
    crawl_aside_key(key, page->key.lo, page->key.hi);
    sql_bind_bytes(st, 1, bytes);
    SQL_NUMBERS(st, 2, f->state.visit.id, page->priority, page->via,
                page->depth,
                page->flags & ~(unsigned)(FRONTIER_SUSPECT | FRONTIER_DEATHS));
    sql_bind_text(st, 7, span_of(page->url));
    sql_bind_text(st, 8, span_of(page->path));
    sql_bind_text(st, 9, span_of(page->type));
    code = sql_do(st, why);
    return code == SEEN_OK && !crawl_aside_add(c, bytes) ? no_memory(why)
                                                         : code;
}

enum seen_code crawl_folder_aside_find(struct crawl_state *s,
                                       const struct seen_key *key, bool *found,
                                       struct seen_error *why)
{
    unsigned char bytes[CRAWL_ASIDE_KEY];
    struct sql_statement *st;
    enum seen_code code = crawl_state_has_table(s, "aside", found, why);

    if (code != SEEN_OK || !*found)
        return code;
    crawl_aside_key(bytes, key->lo, key->hi);
    code = sql_prepare(&st, s->db, "SELECT 1 FROM aside WHERE key = ?1", why);
    if (code != SEEN_OK)
        return code;
    sql_bind_bytes(st, 1,
                   (struct seen_span){ (const char *)bytes, sizeof bytes });
    return sql_has(st, found, why);
}

/* Both tables are made at once. */
static enum seen_code load(struct crawl *c, const char *rows,
                           bool (*add)(struct crawl *c, struct seen_span what),
                           struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, crawl_folder_of(c)->state.db, rows, why);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row)
        if (!add(c, sql_text(st, 0))) {
            sql_reset(st);
            return no_memory(why);
        }
    return code;
}

/* --- --retry-aside --- */

/* The cache of the visit that set a page aside has it. Another visit may have
   found it, or not: then its cache gets it. */
static enum seen_code queue_again(struct crawl *c, int64_t *all, int64_t *here,
                                  struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, f->state.db,
                       "SELECT priority, via, depth, flags, url, path, type, "
                       "visit FROM aside",
                       why);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        const struct frontier_page page = {
            .priority = sql_number(st, 0),
            .via = sql_number(st, 1),
            .depth = (unsigned)sql_number(st, 2),
            .flags = (unsigned)sql_number(st, 3),
            .url = sql_text(st, 4),
            .path = sql_text(st, 5),
            .type = sql_text(st, 6),
        };
        bool mine = sql_number(st, 7) == f->state.visit.id;

        ++*all;
        if (span_is(page.path, "P")) /* a robots.txt, which no row asks for */
            continue;
        *here += mine;
        code = crawl_commit_start(c, &page, !mine, why);
        if (code != SEEN_OK)
            sql_reset(st);
    }
    return code;
}

/* A visit that had ended goes on. */
static enum seen_code retry_all(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code;
    int64_t all = 0, here = 0;
    bool again;

    code = queue_again(c, &all, &here, why);
    if (code == SEEN_OK)
        code = crawl_cache_confirm(&f->cache, &again, why);
    if (code == SEEN_OK && again)
        code = seen_fail(why, SEEN_IO, 0,
                         "the server of --cache was replaced while the crawl "
                         "began; give the same command again");
    if (code == SEEN_OK)
        code = crawl_state_count(&f->state, crawl_outcome_names[CRAWL_ASIDE],
                                 -here, why);
    if (code == SEEN_OK)
        code = sql_run(f->state.db,
                       "DELETE FROM aside; DELETE FROM suspect_robots", why);
    if (code == SEEN_OK && all && f->state.visit.ended)
        code = crawl_state_end_visit(&f->state, 0, why);
    return code == SEEN_OK ? frontier_flush(f->state.frontier, why) : code;
}

/* Not rows of the frontier with three deaths, which are not set aside yet: the
   same command in a loop would begin with their first death again. */
static enum seen_code retry(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code = sql_begin(f->state.db, why);

    if (code == SEEN_OK)
        code = retry_all(c, why);
    return sql_end(f->state.db, code, why);
}

/* --- open --- */

enum seen_code crawl_folder_aside_open(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    char *path = crawl_state_path(&f->state, "reading");
    enum seen_code code;
    bool has = false;

    if (!path)
        return no_memory(why);
    code = note_suspects(c, path, why);
    if (code == SEEN_OK)
        code = crawl_state_has_table(&f->state, "aside", &has, why);
    if (code == SEEN_OK && has) /* made by an earlier version: one of them */
        code = sql_run(f->state.db, tables, why);
    if (code == SEEN_OK && has && c->settings->retry_aside)
        code = retry(c, why);
    if (code == SEEN_OK && has)
        code = load(c, "SELECT key FROM aside", crawl_aside_add, why);
    if (code == SEEN_OK && has)
        code = load(c, "SELECT origin FROM suspect_robots",
                    crawl_aside_suspect, why);
    if (code == SEEN_OK)
        code = crawl_reading_open(&c->reading, path, why);
    free(path);
    return code;
}
