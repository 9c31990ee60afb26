/*
 * prune.c - read answers, and write two files anew without some of their lines.
 *
 * The last answer of a page counts. A page that was fetched again after it was
 * called removed is back, whatever an old results file says: pages.jsonl is
 * read once before it is written, and such pages are kept whole.
 *
 * The row of a dropped page is deleted, so that the next visit does not ask for
 * it unless a link leads there, and then stores it in full: a revisit record
 * would refer to a response that the index does not have any more. While a
 * visit goes on the row stays, since it counts the page's records of this
 * visit, whose ids must differ; only what a revisit compares is cleared.
 */
#include "prune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/disk/disk.h"
#include "../../lib/text/buffer.h"
#include "../../lib/text/json_tree.h"
#include "../../lib/text/map.h"
#include "../../lib/text/span.h"
#include "../page/scope.h"
#include "left_out.h"

enum { CHUNK = 1 << 20 };

static const char *const names[] = { "pages.jsonl", "index.cdxj" };
enum { PAGES, INDEX, FILES };

/* A page that was called removed. */
struct gone {
    bool removed;  /* by its last answer */
    bool returned; /* fetched since */
    bool found;    /* in one of the files */
    int64_t visit; /* number of the visit that found it gone; 0: unknown */
    char when[32]; /* when that was; "": unknown */
    size_t len;
    char url[];
};

struct pruning {
    struct crawl_state state;
    struct map gone;
    struct crawl_pruned *done;
    bool dry;
    uint64_t length[FILES]; /* of the new files */
};

/* --- lines of files --- */

/* Lines of a file up to a length. */
struct lines {
    FILE *file;
    char *line;
    size_t room;
    uint64_t left;
};

static enum seen_code next_line(struct lines *in, struct seen_span *line,
                                bool *more, struct seen_error *why)
{
    ssize_t n = in->left ? getline(&in->line, &in->room, in->file) : -1;

    if (n < 0 && in->left && (ferror(in->file) || !feof(in->file)))
        return seen_fail(why, errno == ENOMEM ? SEEN_NOMEM : SEEN_IO, 0,
                         "a line cannot be read");
    *more = n > 0;
    if (n <= 0)
        return SEEN_OK;
    if ((uint64_t)n > in->left)
        n = (ssize_t)in->left;
    in->left -= (uint64_t)n;
    *line = (struct seen_span){ in->line, (size_t)n };
    return SEEN_OK;
}

static void close_lines(struct lines *in)
{
    if (in->file && in->file != stdin)
        fclose(in->file);
    free(in->line);
}

static struct seen_span text_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return json_is_string(value)
               ? (struct seen_span){ json_string_value(value),
                                     json_string_length(value) }
               : (struct seen_span){ "", 0 };
}

/* "2@1767225600" is of visit 2. */
static int64_t visit_number(struct seen_span visit)
{
    return strtoll(visit.text, NULL, 10); /* jansson ends texts with a zero */
}

/* --- the answers --- */

static enum seen_code note_removed(struct pruning *p, const json_t *answer,
                                   struct seen_span url,
                                   struct seen_error *why)
{
    struct gone *page = map_get(&p->gone, url.text, url.len);
    struct seen_span when = text_of(answer, "_fetched_at");

    if (!page) {
        page = calloc(1, sizeof *page + url.len + 1);
        if (page) {
            memcpy(page->url, url.text, url.len);
            page->len = url.len;
        }
        if (!page || !map_set(&p->gone, page->url, page->len, page)) {
            free(page);
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for the answers");
        }
    }
    page->removed = true;
    page->visit = visit_number(text_of(answer, "_visit"));
    snprintf(page->when, sizeof page->when, "%.*s", (int)when.len, when.text);
    return SEEN_OK;
}

/* Answers that say that the page has content. "unchanged" may mean that it is
   still gone; the records decide that. */
static bool is_back(struct seen_span class)
{
    static const char *const back[] = { "new",       "updated",  "reverted",
                                        "duplicate", "flapping", NULL };

    for (int i = 0; back[i]; i++)
        if (span_is(class, back[i]))
            return true;
    return false;
}

static enum seen_code read_answer(struct pruning *p, struct seen_span line,
                                  struct seen_error *why)
{
    json_t *answer;
    enum seen_code code = json_tree_read(&answer, line, JSON_REJECT_DUPLICATES,
                                         NULL, why);
    struct seen_span class = text_of(answer, "class");
    struct seen_span url = text_of(answer, "_url");
    struct gone *page;

    if (code == SEEN_NOMEM)
        return code;
    code = SEEN_OK; /* a line that is no JSON is counted */
    p->done->answers++;
    if (!url.len || (!class.len && !json_object_get(answer, "error"))) {
        p->done->bad++;
    } else if (span_is(class, "removed")) {
        code = note_removed(p, answer, url, why);
    } else if (is_back(class)) {
        page = map_get(&p->gone, url.text, url.len);
        if (page)
            page->removed = false;
    }
    json_decref(answer);
    return code;
}

static enum seen_code read_answers(struct pruning *p, const char *path,
                                   struct seen_error *why)
{
    struct lines in = { .left = UINT64_MAX };
    struct seen_span line;
    enum seen_code code = SEEN_OK;
    struct gone *page;
    bool more = true;

    in.file = strcmp(path, "-") ? fopen(path, "re") : stdin;
    if (!in.file)
        return seen_fail(why, SEEN_IO, 0, "%.100s", path);
    while (code == SEEN_OK && more) {
        code = next_line(&in, &line, &more, why);
        if (code == SEEN_OK && more && *line.text != '\n')
            code = read_answer(p, line, why);
    }
    close_lines(&in);
    for (size_t at = 0; (page = map_next(&p->gone, &at));)
        p->done->removed += page->removed;
    return code;
}

/* --- the records --- */

/* Does the record show that the page is back? */
static bool is_later(const struct gone *page, const json_t *record)
{
    json_int_t status = json_integer_value(json_object_get(record, "_status"));

    if (status == 404 || status == 410)
        return false;
    if (*page->when)
        /* Both are of the form 2026-01-02T03:04:05.678Z. */
        return strcmp(text_of(record, "_fetched_at").text, page->when) > 0;
    return page->visit &&
           visit_number(text_of(record, "_visit")) > page->visit;
}

/* *page is that of a line, if it was called removed, else NULL; *record is for
   json_decref(). */
static enum seen_code find_page(const struct pruning *p, int file,
                                struct seen_span line, struct gone **page,
                                json_t **record, struct seen_error *why)
{
    const char *brace = file == INDEX ? memchr(line.text, '{', line.len)
                                      : line.text;
    struct seen_span url;

    *page = NULL;
    *record = NULL;
    if (brace) {
        size_t before = (size_t)(brace - line.text);
        struct seen_span json = { brace, line.len - before };

        if (json_tree_read(record, json, JSON_DISABLE_EOF_CHECK, NULL, why) ==
            SEEN_NOMEM)
            return SEEN_NOMEM;
    }
    url = text_of(*record, file == INDEX ? "url" : "_url");
    *page = map_get(&p->gone, url.text, url.len);
    if (*page && !(*page)->removed)
        *page = NULL;
    return SEEN_OK;
}

static enum seen_code open_old(struct pruning *p, int file, struct lines *in,
                               struct seen_error *why)
{
    const struct crawl_position *at = &p->state.position;
    char *path = crawl_state_path(&p->state, names[file]);

    *in = (struct lines){ .left = file == PAGES ? at->pages : at->cdxj };
    in->file = path ? fopen(path, "re") : NULL;
    if (!path)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    free(path);
    if (!in->file && (errno != ENOENT || in->left))
        return seen_fail(why, SEEN_IO, 0, "%s", names[file]);
    if (!in->file)
        in->left = 0; /* a crawl with --urls-only */
    return SEEN_OK;
}

static enum seen_code find_returned(struct pruning *p, struct seen_error *why)
{
    struct seen_span line;
    struct lines in;
    struct gone *page;
    bool more = true;
    json_t *record;
    enum seen_code code = open_old(p, PAGES, &in, why);

    while (code == SEEN_OK && more) {
        code = next_line(&in, &line, &more, why);
        if (code != SEEN_OK || !more)
            break;
        code = find_page(p, PAGES, line, &page, &record, why);
        if (page && is_later(page, record))
            page->returned = true;
        json_decref(record);
    }
    close_lines(&in);
    for (size_t at = 0; (page = map_next(&p->gone, &at));) {
        p->done->returned += page->removed && page->returned;
        page->removed &= !page->returned;
    }
    return code;
}

/* --- new files --- */

static enum seen_code write_out(int fd, struct buffer *out, uint64_t *length,
                                struct seen_error *why)
{
    enum seen_code code;

    if (out->failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a file");
    if (fd < 0 || !out->len)
        code = SEEN_OK;
    else
        code = disk_write(fd, out->bytes, out->len, *length, why);
    *length += out->len;
    out->len = 0;
    return code;
}

/* All lines but those of pages that are gone, to fd unless it is -1. */
static enum seen_code copy_lines(struct pruning *p, int file, struct lines *in,
                                 int fd, uint64_t *dropped,
                                 struct seen_error *why)
{
    struct buffer out = { .bytes = NULL };
    enum seen_code code = SEEN_OK;
    struct seen_span line;
    struct gone *page;
    json_t *record;
    bool more = true;

    while (code == SEEN_OK && more) {
        code = next_line(in, &line, &more, why);
        if (code != SEEN_OK || !more)
            break;
        code = find_page(p, file, line, &page, &record, why);
        json_decref(record);
        if (code != SEEN_OK)
            break;
        if (page) {
            p->done->pages += !page->found;
            page->found = true;
            ++*dropped;
            continue;
        }
        buffer_span(&out, line);
        if (out.failed || out.len >= CHUNK)
            code = write_out(fd, &out, &p->length[file], why);
    }
    if (code == SEEN_OK)
        code = write_out(fd, &out, &p->length[file], why);
    buffer_clear(&out);
    return code;
}

static char *next_path(const struct crawl_state *s, int file)
{
    char name[32];

    snprintf(name, sizeof name, "%s.new", names[file]);
    return crawl_state_path(s, name);
}

static enum seen_code write_new(struct pruning *p, int file, uint64_t *dropped,
                                struct seen_error *why)
{
    char *path = next_path(&p->state, file);
    struct lines in;
    int fd = -1;
    enum seen_code code = open_old(p, file, &in, why);

    if (code == SEEN_OK && !path)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    if (code == SEEN_OK && in.file && !p->dry)
        code = disk_begin(path, &fd, why);
    if (code == SEEN_OK && in.file)
        code = copy_lines(p, file, &in, fd, dropped, why);
    if (code == SEEN_OK && fd >= 0)
        code = disk_flush(fd, why);
    if (fd >= 0)
        close(fd);
    close_lines(&in);
    free(path);
    return code;
}

/* --- the swap --- */

static enum seen_code swap_files(struct crawl_state *s, bool due,
                                 struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (int i = 0; code == SEEN_OK && i < FILES; i++) {
        char *next = next_path(s, i), *path = crawl_state_path(s, names[i]);

        if (!next || !path)
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
        else if ((due ? rename(next, path) : unlink(next)) && errno != ENOENT)
            code = seen_fail(why, SEEN_IO, 0, "%s cannot be replaced",
                             names[i]);
        free(next);
        free(path);
    }
    return code;
}

enum seen_code crawl_prune_resume(struct crawl_state *s,
                                  struct seen_error *why)
{
    enum seen_code code;
    char *due;

    code = crawl_state_get(s, "swap", &due, why);
    if (code == SEEN_OK)
        code = swap_files(s, due, why);
    if (code == SEEN_OK && due)
        code = disk_flush_folder(s->folder, why);
    if (code == SEEN_OK && due)
        code = sql_run(s->db, "DELETE FROM settings WHERE name = 'swap'", why);
    free(due);
    return code;
}

/* --- the state --- */

/* What one page has in the state. */
static enum seen_code forget(struct pruning *p, const struct gone *page,
                             struct sql_statement *unindex,
                             struct sql_statement *forget_row,
                             struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct crawl_state *s = &p->state;
    struct crawl_known known;
    struct seen_key key;
    enum seen_code code;
    bool found;

    crawl_key(&key, text, (struct seen_span){ page->url, page->len });
    code = crawl_state_find(s, &key, &found, &known, why);
    if (code != SEEN_OK || !found)
        return code;
    if (unindex) {
        sql_bind_number(unindex, 1, known.id);
        code = sql_do(unindex, why);
    }
    if (code == SEEN_OK) {
        sql_bind_number(forget_row, 1, known.id);
        code = sql_do(forget_row, why);
    }
    /* If it is found again, no filter has lost it. */
    if (code == SEEN_OK)
        code = crawl_state_unfetched(s, &key, why);
    if (code == SEEN_OK)
        code = crawl_left_keep(s, key.lo, CRAWL_LEFT_PRUNE, 0, why);
    crawl_known_clear(&known);
    return code;
}

static enum seen_code forget_all(struct pruning *p, struct seen_error *why)
{
    struct sql_statement *unindex = NULL, *row = NULL;
    struct crawl_state *s = &p->state;
    struct gone *page;
    bool indexed = false;
    enum seen_code code = crawl_state_has_table(s, "search", &indexed, why);

    if (code == SEEN_OK && indexed)
        code = sql_prepare(&unindex, s->db,
                           "DELETE FROM search WHERE rowid = ?1", why);
    if (code == SEEN_OK)
        code = sql_prepare(&row, s->db,
                           s->visit.ended
                               ? "DELETE FROM fetched WHERE id = ?1"
                               : "UPDATE fetched SET etag = '', modified = "
                                 "'', digest = '', place = '', stored = 0 "
                                 "WHERE id = ?1",
                           why);
    for (size_t at = 0; code == SEEN_OK && (page = map_next(&p->gone, &at));)
        if (page->removed)
            code = forget(p, page, unindex, row, why);
    return code;
}

static enum seen_code commit(struct pruning *p, bool swap,
                             struct seen_error *why)
{
    struct crawl_state *s = &p->state;
    enum seen_code code = sql_begin(s->db, why);

    if (code == SEEN_OK)
        code = forget_all(p, why);
    if (code == SEEN_OK && swap) {
        s->position.pages = p->length[PAGES];
        s->position.cdxj = p->length[INDEX];
        code = crawl_state_write(s, why);
        if (code == SEEN_OK)
            code = crawl_state_set(s, "swap", "due", why);
    }
    return sql_end(s->db, code, why);
}

/* --- a whole run --- */

static enum seen_code prune(struct pruning *p, const char *results,
                            struct seen_error *why)
{
    struct crawl_pruned *done = p->done;
    enum seen_code code = read_answers(p, results, why);
    bool swap;

    if (code == SEEN_OK)
        code = find_returned(p, why);
    if (code == SEEN_OK && done->removed == done->returned)
        return SEEN_OK; /* nothing is gone */
    if (code == SEEN_OK)
        code = write_new(p, PAGES, &done->records, why);
    if (code == SEEN_OK)
        code = write_new(p, INDEX, &done->captures, why);
    if (code != SEEN_OK || p->dry)
        return code;
    swap = done->records || done->captures;
    if (swap)
        code = disk_flush_folder(p->state.folder, why);
    if (code == SEEN_OK)
        code = commit(p, swap, why);
    return code;
}

enum seen_code crawl_prune(const char *folder, const char *results, bool dry,
                           struct crawl_pruned *done, struct seen_error *why)
{
    struct pruning p = { .dry = dry, .done = done };
    struct gone *page;
    enum seen_code code;

    memset(done, 0, sizeof *done);
    /* Look first: opening would make a folder that is missing. */
    code = crawl_state_look(&p.state, folder, why);
    if (code != SEEN_OK)
        return code;
    crawl_state_close(&p.state);
    code = crawl_state_open(&p.state, folder, why);
    if (code != SEEN_OK)
        return code;
    code = prune(&p, results, why);
    /* Rename, or remove what was written in vain. */
    if (code == SEEN_OK)
        code = crawl_prune_resume(&p.state, why);
    else
        crawl_prune_resume(&p.state, NULL);
    crawl_state_close(&p.state);
    for (size_t at = 0; (page = map_next(&p.gone, &at));)
        free(page);
    map_clear(&p.gone);
    return code;
}
