/*
 * state.c - open and close a state.
 *
 * A state is made in this order: tables, filters, and then its version in the
 * table of settings. A folder without a version is one whose making was
 * interrupted, and is made again. If its filters are in use, the folder has
 * lost its state.db instead: a new one would call every page new again, so
 * that is refused.
 */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/disk/disk.h"
#include "../lib/disk/lock.h"
#include "../lib/text/span.h"

enum {
    VERSION = 2,
    CACHE = 32 << 20, /* bytes of database pages in memory */
    REMEMBER = 30 * 86400
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT "
    "NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS answers (number INTEGER PRIMARY KEY, id BLOB "
    "NOT NULL, at INTEGER NOT NULL, class INTEGER NOT NULL, json TEXT NOT "
    "NULL, cause INTEGER);"
    "CREATE INDEX IF NOT EXISTS answers_cause ON answers (cause) WHERE cause "
    "IS NOT NULL;";

/* --- settings --- */

enum seen_code change_setting(struct change_state *s, const char *name,
                              struct buffer *value, struct seen_error *why)
{
    enum seen_code code;
    bool row;

    value->len = 0;
    sql_bind_text(s->get, 1, span_of(name));
    code = sql_step(s->get, &row, why);
    if (code == SEEN_OK && row) {
        buffer_span(value, sql_text(s->get, 0));
        sql_reset(s->get);
    }
    buffer_byte(value, '\0');
    if (code == SEEN_OK && value->failed)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a setting");
    return code;
}

enum seen_code change_set(struct change_state *s, const char *name,
                          struct seen_span value, struct seen_error *why)
{
    sql_bind_text(s->set, 1, span_of(name));
    sql_bind_text(s->set, 2, value);
    return sql_do(s->set, why);
}

enum seen_code change_set_number(struct change_state *s, const char *name,
                                 uint64_t value, struct seen_error *why)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return change_set(s, name, span_of(text), why);
}

static enum seen_code number_setting(struct change_state *s, const char *name,
                                     uint64_t *value, struct seen_error *why)
{
    enum seen_code code = change_setting(s, name, &s->line, why);

    if (code == SEEN_OK)
        *value = strtoull(s->line.bytes, NULL, 10);
    return code;
}

/* --- options that a state is made with --- */

struct fixed {
    const char *name, *option;
    uint64_t asked;
    bool given;
};

static void fixed_options(const struct change_options *o, struct fixed f[5])
{
    f[0] = (struct fixed){ "exact", "--exact", o->exact, true };
    f[1] = (struct fixed){ "confirm", "--confirm", o->confirm, true };
    f[2] = (struct fixed){ "no_words", "--no-words", o->no_words, true };
    f[3] = (struct fixed){ "shards", "--shards", o->shards, o->shards > 0 };
    f[4] = (struct fixed){ "shard", "--shard", o->shard, o->shards > 0 };
}

static enum seen_code check_options(struct change_state *s,
                                    struct seen_error *why)
{
    uint64_t value[5];
    struct fixed f[5];

    fixed_options(&s->options, f);
    for (int i = 0; i < 5; i++) {
        enum seen_code code = number_setting(s, f[i].name, &value[i], why);

        if (code != SEEN_OK)
            return code;
        if (!f[i].given || f[i].asked == value[i])
            continue;
        if (i < 3)
            return seen_fail(why, SEEN_MISMATCH, 0, "the state was made %s %s",
                             value[i] ? "with" : "without", f[i].option);
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the state is of shard %llu of %llu",
                         (unsigned long long)(i == 4 ? value[4] : 0),
                         (unsigned long long)value[3]);
    }
    s->options.shards = value[3];
    s->options.shard = value[4];
    return SEEN_OK;
}

static enum seen_code keep_options(struct change_state *s,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct fixed f[5];

    if (!s->options.shards)
        s->options.shards = 1;
    fixed_options(&s->options, f);
    for (int i = 0; code == SEEN_OK && i < 5; i++)
        code = change_set_number(s, f[i].name, f[i].asked, why);
    if (code == SEEN_OK)
        code = change_set_number(s, "remember", s->options.remember, why);
    return code == SEEN_OK ? change_set_number(s, "version", VERSION, why)
                           : code;
}

/* --- counts --- */

enum seen_code change_state_note(struct change_state *s,
                                 struct seen_error *why)
{
    enum seen_code code;

    s->line.len = 0;
    for (int i = 0; i < CHANGE_CLASSES; i++) {
        buffer_number(&s->line, s->count[i]);
        buffer_byte(&s->line, ' ');
    }
    if (s->line.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for counts");
    code = change_set(s, "counts",
                      (struct seen_span){ s->line.bytes, s->line.len }, why);
    return code == SEEN_OK ? change_set_number(s, "stored", s->stored, why)
                           : code;
}

static enum seen_code read_counts(struct change_state *s,
                                  struct seen_error *why)
{
    enum seen_code code = change_setting(s, "counts", &s->line, why);
    char *at = s->line.bytes;

    for (int i = 0; code == SEEN_OK && i < CHANGE_CLASSES; i++)
        s->count[i] = strtoull(at, &at, 10);
    if (code == SEEN_OK)
        code = number_setting(s, "stored", &s->stored, why);
    if (code == SEEN_OK)
        code = number_setting(s, "written", (uint64_t *)&s->written, why);
    if (code == SEEN_OK)
        code = number_setting(s, "owed", (uint64_t *)&s->owed, why);
    return code;
}

/* --- open --- */

static enum seen_code one_number(struct change_state *s, const char *text,
                                 int64_t *number, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code = sql_prepare(&st, s->db, text, why);
    bool row = false;

    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    *number = row ? sql_number(st, 0) : 0;
    sql_reset(st);
    return SEEN_OK;
}

static enum seen_code prepare(struct change_state *s, struct seen_error *why)
{
    const struct {
        struct sql_statement **to;
        const char *text;
        bool exact;
    } all[] = {
        { &s->get, "SELECT value FROM settings WHERE name = ?1", false },
        { &s->set,
          "INSERT INTO settings VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE "
          "SET value = excluded.value",
          false },
        { &s->find, "SELECT id, class, json FROM answers WHERE number = ?1",
          false },
        { &s->caused_by,
          "SELECT class, json FROM answers WHERE cause = ?1 ORDER BY number",
          false },
        { &s->add,
          "INSERT INTO answers (number, id, at, class, json, cause) VALUES "
          "(?1, ?2, ?3, ?4, ?5, ?6)",
          false },
        { &s->oldest,
          "SELECT number, at FROM answers ORDER BY number LIMIT "
          "?1",
          false },
        { &s->forget, "DELETE FROM answers WHERE number <= ?1", false },
        { &s->visit_add,
          "INSERT INTO visits VALUES (?1, 1, -1, 0) ON CONFLICT (visit) DO "
          "UPDATE SET stored = stored + 1 RETURNING stored, expected, "
          "complete",
          true },
        { &s->visit_end,
          "INSERT INTO visits VALUES (?1, 0, ?2, 0) ON CONFLICT (visit) DO "
          "UPDATE SET expected = ?2 RETURNING stored, expected, complete",
          true },
        { &s->visit_done, "UPDATE visits SET complete = 1 WHERE visit = ?1",
          true },
    };
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && i < sizeof all / sizeof *all; i++)
        if (!all[i].exact || s->options.exact)
            code = sql_prepare(all[i].to, s->db, all[i].text, why);
    return code;
}

static enum seen_code make_tables(struct change_state *s,
                                  struct seen_error *why)
{
    enum seen_code code = sql_begin(s->db, why);

    if (code == SEEN_OK)
        code = sql_run(s->db, schema, why);
    if (code == SEEN_OK)
        code = sql_run(s->db, change_ids_schema, why);
    if (code == SEEN_OK && s->options.exact)
        code = sql_run(s->db, change_exact_schema, why);
    if (code == SEEN_OK)
        code = sql_commit(s->db, why);
    else
        sql_rollback(s->db);
    return code;
}

/* Other programs keep a state.db, too: the folder of a crawl is given for that
   of a state sooner or later. */
static enum seen_code look_at_tables(struct change_state *s, bool *ours,
                                     struct seen_error *why)
{
    int64_t own = 0, all = 0;
    enum seen_code code = one_number(
        s,
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
        "('settings', 'answers', 'ids')",
        &own, why);

    if (code == SEEN_OK)
        code = one_number(s, "SELECT count(*) FROM sqlite_schema", &all, why);
    *ours = own == 3;
    if (code == SEEN_OK && all && !*ours)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "state.db is not that of seen classify: give another "
                         "folder");
    return code;
}

static enum seen_code open_tables(struct change_state *s, const char *folder,
                                  uint64_t *version, struct seen_error *why)
{
    bool tables = false;
    enum seen_code code = look_at_tables(s, &tables, why);

    if (code == SEEN_OK && tables)
        code = sql_prepare(&s->get, s->db,
                           "SELECT value FROM settings WHERE name = ?1", why);
    if (code == SEEN_OK && tables)
        code = number_setting(s, "version", version, why);
    if (code == SEEN_OK && !*version)
        code = change_filters_unused(folder, why);
    if (code == SEEN_OK && !*version)
        code = make_tables(s, why); /* it may have been another kind */
    if (code == SEEN_OK && !tables)
        code = sql_prepare(&s->get, s->db,
                           "SELECT value FROM settings WHERE name = ?1", why);
    if (code != SEEN_OK)
        return code;
    if (*version && *version != VERSION)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the state is of version %llu; this program reads "
                         "version %d: begin another state",
                         (unsigned long long)*version, VERSION);
    if (*version)
        code = check_options(s, why);
    return code == SEEN_OK ? prepare(s, why) : code;
}

static enum seen_code open_remember(struct change_state *s, bool fresh,
                                    struct seen_error *why)
{
    uint64_t kept = 0;
    enum seen_code code = number_setting(s, "remember", &kept, why);

    if (code != SEEN_OK || fresh)
        return code;
    if (!s->options.remember || s->options.remember == kept) {
        s->options.remember = kept;
        return SEEN_OK;
    }
    return change_set_number(s, "remember", s->options.remember, why);
}

static enum seen_code open_state(struct change_state *s, const char *folder,
                                 struct seen_error *why)
{
    struct change_filters_options filters = {
        .words = !s->options.no_words && !s->options.exact,
        .capacity = s->options.capacity
    };
    uint64_t version = 0;
    enum seen_code code = open_tables(s, folder, &version, why);

    filters.fresh = !version;
    if (code == SEEN_OK && version)
        code = number_setting(s, "journal_begin", &filters.begin, why);
    if (code == SEEN_OK && version)
        code = number_setting(s, "journal_end", &filters.end, why);
    if (code == SEEN_OK)
        code = change_filters_open(&s->filters, s->db, folder, &filters, why);
    if (code == SEEN_OK)
        code = change_ids_open(&s->ids, s->db, why);
    if (code == SEEN_OK && s->options.exact)
        code = change_exact_open(&s->exact, s->db, why);
    if (code == SEEN_OK && !version && !s->options.remember)
        s->options.remember = REMEMBER;
    if (code == SEEN_OK)
        code = open_remember(s, !version, why);
    if (code == SEEN_OK && !version) {
        code = sql_begin(s->db, why);
        if (code == SEEN_OK)
            code = keep_options(s, why);
        if (code == SEEN_OK)
            code = sql_commit(s->db, why);
    }
    if (code == SEEN_OK)
        code = read_counts(s, why);
    if (code == SEEN_OK)
        code = one_number(s, "SELECT max(number) FROM answers", &s->last, why);
    if (code == SEEN_OK && s->last < s->written)
        s->last = s->written; /* all answers were forgotten */
    if (code == SEEN_OK)
        code = change_setting(s, "results", &s->line, why);
    if (code == SEEN_OK && s->line.len > 1 && s->written < s->last && !s->owed)
        s->owed = s->last;
    return code;
}

static void free_state(struct change_state *s)
{
    change_filters_close(&s->filters);
    sql_close(s->db);
    lock_release(s->lock, NULL);
    free(s->lock_path);
    change_ids_clear(&s->ids);
    for (int i = 0; i < CHANGE_GROUP; i++)
        change_page_clear(&s->group[i]);
    buffer_clear(&s->known.fields);
    buffer_clear(&s->line);
    buffer_clear(&s->other);
    buffer_clear(&s->caused);
    buffer_clear(&s->results);
    free(s);
}

static enum seen_code open_folder(struct change_state *s, const char *folder,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    char *path = NULL;

    if (asprintf(&path, "%s/state.db", folder) < 0)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    if (asprintf(&s->lock_path, "%s/lock", folder) < 0) {
        s->lock_path = NULL;
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    }
    if (code == SEEN_OK && s->options.existing && access(path, F_OK))
        code = seen_fail(why, SEEN_ABSENT, 0, "there is no state");
    if (code == SEEN_OK)
        code = disk_make_folders(path, why);
    if (code == SEEN_OK)
        code = lock_take(&s->lock, s->lock_path,
                         "another process classifies with this state", why);
    if (code == SEEN_OK)
        code = sql_open(&s->db, path, SQL_CREATE, CACHE, why);
    if (code == SEEN_OK)
        code = open_state(s, folder, why);
    free(path);
    return code;
}

enum seen_code change_state_open(struct change_state **out, const char *folder,
                                 const struct change_options *options,
                                 struct seen_error *why)
{
    struct change_state *s = calloc(1, sizeof *s);
    enum seen_code code;

    *out = NULL;
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a state");
    s->options = *options;
    s->lock = -1;
    s->filters.journal.fd = -1;
    if (options->shards && options->shard >= options->shards)
        code = seen_fail(why, SEEN_RANGE, 0, "shards are numbered from 0");
    else
        code = open_folder(s, folder, why);
    if (code == SEEN_OK)
        *out = s;
    else
        free_state(s);
    return code;
}

enum seen_code change_state_close(struct change_state *s,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!s)
        return code;
    sql_rollback(s->db); /* what a fault may have left open */
    if (!s->failed && s->results_changed)
        code = change_results_save(s, why);
    if (!s->failed && code == SEEN_OK)
        code = change_filters_save(&s->filters, true, why);
    free_state(s);
    return code;
}

void change_state_facts(struct change_state *s, struct change_facts *f)
{
    struct change_filters *all = &s->filters;

    /* A fault stays, and the next batch reports it. */
    change_filters_settle(all, NULL);
    *f = (struct change_facts){
        .urls = change_filters_entries(all, CHANGE_URLS),
        .versions = change_filters_entries(all, CHANGE_VERSIONS),
        .words = change_filters_entries(all, CHANGE_WORDS),
        .url_rate = change_filters_rate(all, CHANGE_URLS),
        .version_rate = change_filters_rate(all, CHANGE_VERSIONS),
        .text_rate = change_filters_rate(all, CHANGE_TEXTS),
        .tree_rate = change_filters_rate(all, CHANGE_TREES),
        .word_rate = change_filters_rate(all, CHANGE_WORDS),
        .bytes = change_filters_bytes(all),
        .answers = s->stored,
        .exact = s->options.exact,
        .confirm = s->options.confirm,
        .no_words = s->options.no_words,
        .shard = s->options.shard,
        .shards = s->options.shards,
        .remember = s->options.remember,
    };
    memcpy(f->count, s->count, sizeof f->count);
}
