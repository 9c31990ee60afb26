/*
 * state.c - the folder of a crawl and its database: open, close, and what is
 * kept by name.
 *
 * One process has the folder, by a lock on the file `lock`. A crawl that did
 * not begin removes what it made, while it still has the lock: another process
 * may be waiting for it, and finds then that the file has no name any more.
 */
#include "state_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/disk/disk.h"
#include "../../lib/disk/lock.h"
#include "../../lib/disk/walk.h"
#include "../../lib/text/span.h"
#include "left_out.h"
#include "prune.h"

enum { CACHE = 16 << 20 }; /* bytes of database pages in memory */

/* --- open and close --- */

static enum seen_code read_version(struct crawl_state *s, int64_t *version,
                                   struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, s->db, "PRAGMA user_version", why);
    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    *version = row ? sql_number(st, 0) : 0;
    sql_reset(st);
    return SEEN_OK;
}

static enum seen_code read_position(struct crawl_state *s,
                                    struct seen_error *why)
{
    struct crawl_position *p = &s->position;
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, s->db,
                       "SELECT warc_file, warc, cdxj, pages, log, urls FROM "
                       "position",
                       why);
    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    if (!row)
        return seen_fail(why, SEEN_CORRUPT, 0, "the state has no position");
    p->warc_file = (unsigned)sql_number(st, 0);
    p->warc = (uint64_t)sql_number(st, 1);
    p->cdxj = (uint64_t)sql_number(st, 2);
    p->pages = (uint64_t)sql_number(st, 3);
    p->log = (uint64_t)sql_number(st, 4);
    p->urls = (uint64_t)sql_number(st, 5);
    sql_reset(st);
    return SEEN_OK;
}

static enum seen_code read_visit(struct crawl_state *s, struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_VISIT_LAST];
    struct seen_span name;
    enum seen_code code;
    bool row;

    code = sql_step(st, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    s->visit.id = sql_number(st, 0);
    name = sql_text(st, 1);
    snprintf(s->visit.name, sizeof s->visit.name, "%.*s", (int)name.len,
             name.text);
    s->visit.seed = (uint64_t)sql_number(st, 2);
    s->visit.began = sql_number(st, 3);
    s->visit.ended = sql_number(st, 4);
    s->visit.expected = sql_real(st, 5);
    sql_reset(st);
    return SEEN_OK;
}

static enum seen_code open_tables(struct crawl_state *s, bool make,
                                  struct seen_error *why)
{
    int64_t version = 0;
    enum seen_code code = read_version(s, &version, why);

    if (code == SEEN_OK && !version && make && s->bare)
        code = crawl_state_create(s->db, why);
    else if (code == SEEN_OK && !version && make)
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "state.db is empty, but the folder has other files "
                         "of a crawl");
    else if (code == SEEN_OK && !version)
        code = seen_fail(why, SEEN_MISMATCH, 0, "not the folder of a crawl");
    else if (code == SEEN_OK && version == 1)
        code = make ? crawl_state_upgrade(s->db, why) : SEEN_OK;
    else if (code == SEEN_OK && version != CRAWL_VERSION)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "the state is of version %lld; this program reads "
                         "version %d",
                         (long long)version, CRAWL_VERSION);
    if (code == SEEN_OK)
        code = frontier_open(&s->frontier, s->db, why);
    for (int i = 0; code == SEEN_OK && i < STATE_STATEMENTS; i++)
        code = sql_prepare(&s->st[i], s->db, crawl_state_texts[i], why);
    if (code == SEEN_OK)
        code = read_position(s, why);
    return code == SEEN_OK ? read_visit(s, why) : code;
}

static enum seen_code open_state(struct crawl_state *s, const char *folder,
                                 enum sql_access access,
                                 struct seen_error *why)
{
    char *path;
    enum seen_code code;

    _Static_assert(STATE_STATEMENTS <= sizeof s->st / sizeof *s->st, "room");
    path = walk_path(folder, "state.db");
    if (!path)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the state");
    else
        code = sql_open(&s->db, path, access, CACHE, why);
    free(path);
    return code == SEEN_OK ? open_tables(s, access == SQL_CREATE, why) : code;
}

/*
 * A folder that has files, but no state, is somebody else's. A state without
 * tables is that of a crawl which was killed as it began, but not if there are
 * other files: it lost its contents, and a new crawl would cut the files to
 * nothing.
 */
static enum seen_code check_folder(const char *folder, bool *bare,
                                   struct seen_error *why)
{
    struct walk_names names = { .name = NULL };
    enum seen_code code = walk_folder(&names, folder, true, why);
    bool ours = code != SEEN_OK || !names.n;

    *bare = true;
    for (size_t i = 0; i < names.n; i++) {
        bool lock = !strcmp(names.name[i], "lock");

        ours |= !strcmp(names.name[i], "state.db") || (names.n == 1 && lock);
        *bare &= lock || !strncmp(names.name[i], "state.db", 8);
    }
    walk_clear(&names);
    if (!ours)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the folder has files, but is not that of a crawl");
    return code;
}

bool crawl_state_exists(const char *folder)
{
    char *path = walk_path(folder, "state.db");
    struct stat st;
    bool there = path && !lstat(path, &st);

    free(path);
    return there;
}

/* Make the folder, and lock it. A crawl that did not begin removes its folder
   again, perhaps between the two. */
static enum seen_code lock_folder(struct crawl_state *s, const char *folder,
                                  struct seen_error *why)
{
    enum { TRIES = 10 };
    char *path = walk_path(folder, "lock");
    enum seen_code code;
    struct seen_error detail;
    int tries = 0;

    if (!path)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the state");
    do {
        s->made_folder = access(folder, F_OK) != 0;
        code = disk_make_folders(path, &detail);
        if (code == SEEN_OK)
            code = check_folder(folder, &s->bare, &detail);
        if (code == SEEN_OK)
            code = lock_take(&s->lock, path, "a crawl runs in this folder",
                             &detail);
    } while (code == SEEN_IO && detail.system == ENOENT && ++tries < TRIES);
    free(path);
    if (code != SEEN_OK && why)
        *why = detail;
    return code;
}

enum seen_code crawl_state_open(struct crawl_state *s, const char *folder,
                                struct seen_error *why)
{
    enum seen_code code;

    memset(s, 0, sizeof *s);
    s->lock = -1;
    s->folder = strdup(folder);
    if (!s->folder)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the state");
    code = lock_folder(s, folder, why);
    if (code == SEEN_OK) {
        s->made = !crawl_state_exists(folder);
        code = open_state(s, folder, SQL_CREATE, why);
    }
    if (code == SEEN_OK)
        code = crawl_prune_resume(s, why);
    if (code != SEEN_OK) {
        s->unwanted = s->made;
        crawl_state_close(s);
    }
    return code;
}

enum seen_code crawl_state_look(struct crawl_state *s, const char *folder,
                                struct seen_error *why)
{
    enum seen_code code;
    struct stat st;
    char *path;

    memset(s, 0, sizeof *s);
    s->lock = -1;
    s->folder = strdup(folder);
    path = walk_path(folder, "state.db");
    if (!s->folder || !path)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the state");
    else if (stat(path, &st))
        code = errno == ENOENT
                   ? seen_fail(why, SEEN_MISMATCH, 0,
                               "not the folder of a crawl: it has no state.db")
                   : seen_fail(why, SEEN_IO, 0, "state.db");
    else
        code = open_state(s, folder, SQL_READ, why);
    free(path);
    if (code != SEEN_OK)
        crawl_state_close(s);
    return code;
}

/* All but the lock, which keeps others out until the last of it is gone. */
static void remove_files(const struct crawl_state *s)
{
    static const char *const name[] = { "state.db", "state.db-wal",
                                        "state.db-shm" };
    int before = errno;
    char *path;

    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        path = walk_path(s->folder, name[i]);
        if (path)
            unlink(path);
        free(path);
    }
    errno = before;
}

/* Whoever waits for the lock finds that it is of a file without a name, and
   begins again with the folder. */
static void give_up_folder(struct crawl_state *s)
{
    char *path = walk_path(s->folder, "lock");
    int before = errno;

    remove_files(s);
    if (path)
        unlink(path);
    if (s->made_folder)
        rmdir(s->folder);
    errno = before;
    free(path);
}

void crawl_state_close(struct crawl_state *s)
{
    crawl_left_forget(s);
    frontier_close(s->frontier);
    sql_close(s->db);
    if (s->unwanted && s->lock >= 0)
        give_up_folder(s);
    lock_release(s->lock, NULL);
    free(s->folder);
    memset(s, 0, sizeof *s);
    s->lock = -1;
}

char *crawl_state_path(const struct crawl_state *s, const char *name)
{
    return walk_path(s->folder, name);
}

/* --- values --- */

char *crawl_state_copy(struct sql_statement *st)
{
    struct seen_span text = sql_text(st, 0);

    return strndup(text.text, text.len);
}

enum seen_code crawl_state_get(struct crawl_state *s, const char *name,
                               char **value, struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_GET];
    enum seen_code code;
    bool row;

    *value = NULL;
    sql_bind_text(st, 1, span_of(name));
    code = sql_step(st, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    *value = crawl_state_copy(st);
    sql_reset(st);
    return *value ? SEEN_OK
                  : seen_fail(why, SEEN_NOMEM, 0, "no memory for a setting");
}

enum seen_code crawl_state_set(struct crawl_state *s, const char *name,
                               const char *value, struct seen_error *why)
{
    sql_bind_text(s->st[STATE_SET], 1, span_of(name));
    sql_bind_text(s->st[STATE_SET], 2, span_of(value));
    return sql_do(s->st[STATE_SET], why);
}

/* --- the clock --- */

enum seen_code crawl_state_note_clock(struct crawl_state *s, int64_t now,
                                      struct seen_error *why)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)now);
    return crawl_state_set(s, "clock", text, why);
}

/* What is later than now, by so many ms. When a response was stored stays, as
   its date in the WARC file does. */
static enum seen_code move_times(struct crawl_state *s, int64_t now,
                                 int64_t back, struct seen_error *why)
{
    static const char *const moves[] = {
        "UPDATE hosts SET due = due - ?2 WHERE due > ?1",
        "UPDATE robots SET until = until - ?2 WHERE until > ?1",
        "UPDATE visits SET began = CASE WHEN began > ?1 THEN began - ?2 ELSE "
        "began END, ended = CASE WHEN ended > ?1 THEN ended - ?2 ELSE ended "
        "END WHERE began > ?1 OR ended > ?1",
        "UPDATE fetched SET due = CASE WHEN due = 9223372036854775807 THEN "
        "due ELSE due - ?2 END, first = CASE WHEN first > ?1 THEN first - ?2 "
        "ELSE first END, last = last - ?2 WHERE last > ?1",
    };
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && i < sizeof moves / sizeof *moves;
         i++) {
        struct sql_statement *st;

        code = sql_prepare(&st, s->db, moves[i], why);
        if (code != SEEN_OK)
            break;
        SQL_NUMBERS(st, 1, now, back);
        code = sql_do(st, why);
    }
    return code;
}

enum seen_code crawl_state_set_back(struct crawl_state *s, int64_t now,
                                    int64_t *back, struct seen_error *why)
{
    enum seen_code code;
    char *noted;

    *back = 0;
    code = crawl_state_get(s, "clock", &noted, why);
    if (code != SEEN_OK || !noted)
        return code;
    *back = strtoll(noted, NULL, 10) - now;
    free(noted);
    if (*back <= 0) {
        *back = 0;
        return SEEN_OK;
    }
    code = sql_begin(s->db, why);
    if (code != SEEN_OK)
        return code;
    code = move_times(s, now, *back, why);
    if (code == SEEN_OK)
        code = crawl_state_note_clock(s, now, why);
    if (code == SEEN_OK)
        code = read_visit(s, why);
    return sql_end(s->db, code, why);
}

/* --- visits --- */

enum seen_code crawl_state_begin_visit(struct crawl_state *s, uint64_t seed,
                                       int64_t now, struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_VISIT_ADD];
    char name[64];
    enum seen_code code;

    snprintf(name, sizeof name, "%lld@%lld", (long long)s->visit.id + 1,
             (long long)(now / 1000));
    sql_bind_text(st, 1, span_of(name));
    SQL_NUMBERS(st, 2, (int64_t)seed, now);
    code = sql_do(st, why);
    return code == SEEN_OK ? read_visit(s, why) : code;
}

enum seen_code crawl_state_end_visit(struct crawl_state *s, int64_t now,
                                     struct seen_error *why)
{
    SQL_NUMBERS(s->st[STATE_VISIT_END], 1, s->visit.id, now);
    s->visit.ended = now;
    return sql_do(s->st[STATE_VISIT_END], why);
}

enum seen_code crawl_state_write(struct crawl_state *s, struct seen_error *why)
{
    const struct crawl_position *p = &s->position;
    struct sql_statement *st = s->st[STATE_WRITE];
    enum seen_code code;

    SQL_NUMBERS(st, 1, p->warc_file, (int64_t)p->warc, (int64_t)p->cdxj,
                (int64_t)p->pages, (int64_t)p->log, (int64_t)p->urls);
    code = sql_do(st, why);
    if (code != SEEN_OK)
        return code;
    sql_bind_number(s->st[STATE_EXPECTED], 1, s->visit.id);
    sql_bind_real(s->st[STATE_EXPECTED], 2, s->visit.expected);
    return sql_do(s->st[STATE_EXPECTED], why);
}

/* --- counters --- */

enum seen_code crawl_state_count(struct crawl_state *s, const char *name,
                                 int64_t more, struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_COUNT_ADD];

    sql_bind_number(st, 1, s->visit.id);
    sql_bind_text(st, 2, span_of(name));
    sql_bind_number(st, 3, more);
    return sql_do(st, why);
}

enum seen_code crawl_state_counts(struct crawl_state *s,
                                  void (*take)(void *owner, const char *name,
                                               int64_t n),
                                  void *owner, struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_COUNT_READ];
    enum seen_code code;
    char name[100];
    bool row;

    sql_bind_number(st, 1, s->visit.id);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct seen_span text = sql_text(st, 0);

        snprintf(name, sizeof name, "%.*s", (int)text.len, text.text);
        take(owner, name, sql_number(st, 1));
    }
    return code;
}

enum seen_code crawl_state_has_table(struct crawl_state *s, const char *name,
                                     bool *found, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(
        &st, s->db, "SELECT 1 FROM sqlite_master WHERE name = ?1", why);

    *found = false;
    if (code != SEEN_OK)
        return code;
    sql_bind_text(st, 1, span_of(name));
    return sql_has(st, found, why);
}
