/*
 * folder.c - a look at the folder of a crawl, while it runs or after.
 *
 * A reader of a database in WAL mode does not hold up its writer. Each look
 * opens the file anew, so a crawl that is deleted and made again is followed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/disk/lock.h"
#include "../../lib/disk/walk.h"
#include "../../lib/text/span.h"
#include "../../sql/sql.h"
#include "watch_read.h"

enum {
    CACHE = 1 << 20,  /* bytes of database pages in memory */
    LAST_PAGES = 2000 /* that are looked through for errors */
};

/* Of a page: its status, or why there was no answer. */
static void add_error(struct watch_look *look, struct watch_crawl *c,
                      struct sql_statement *st)
{
    const int64_t status = sql_number(st, 1);
    const struct seen_span note = sql_text(st, 2);
    struct watch_error *e = watch_add_error(look, c);
    char text[32];

    if (!e)
        return;
    snprintf(text, sizeof text, "status %lld", (long long)status);
    e->url = watch_text(look, sql_text(st, 0));
    e->text = status > 0 ? watch_text(look, span_of(text))
              : note.len ? watch_text(look, note)
                         : "no answer";
    e->at = sql_number(st, 3);
}

/* The last errors of the pages that were found last: the table has no index
   on time. It is the crawler's, and may be another in another version: then
   there are none to show. */
static void read_errors(struct watch_look *look, struct watch_crawl *c,
                        const char *path)
{
    struct sql_statement *st;
    struct sql *db;
    bool row;

    if (sql_open(&db, path, SQL_READ, CACHE, NULL) != SEEN_OK)
        return;
    if (sql_prepare(&st, db,
                    "SELECT url, status, note, last FROM (SELECT url, status, "
                    "note, last FROM fetched ORDER BY id DESC LIMIT ?1) WHERE "
                    "status <= 0 OR status >= 400 ORDER BY last DESC LIMIT ?2",
                    NULL) == SEEN_OK) {
        sql_bind_number(st, 1, LAST_PAGES);
        sql_bind_number(st, 2, WATCH_ERRORS);
        while (sql_step(st, &row, NULL) == SEEN_OK && row)
            add_error(look, c, st);
    }
    sql_close(db);
}

void watch_read_folder(struct watch_look *look, struct watch_crawl *c,
                       const char *folder)
{
    char *path = walk_path(folder, "state.db");
    char *lock = walk_path(folder, "lock");
    struct frontier_status *status;
    struct seen_error why;
    struct stat st;

    if (!path || !lock) {
        look->failed = true;
    } else if (stat(path, &st)) {
        c->why = watch_text(look, span_of(errno == ENOENT
                                              ? "there is no crawl here now"
                                              : strerror(errno)));
    } else if (!st.st_size) {
        c->why = "it is being made";
    } else if (frontier_status_open(&status, folder, &why) != SEEN_OK) {
        c->why = watch_text(look, span_of(why.text));
    } else {
        if (watch_read_frontier(look, c, status, lock_held(lock)))
            read_errors(look, c, path);
        frontier_status_close(status);
    }
    free(path);
    free(lock);
}
