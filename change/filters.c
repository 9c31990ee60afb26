/*
 * filters.c - add, journal, save, replay.
 *
 * The first part reads entries of the journal, because it is needed twice: to
 * replay what files lack when a state is opened, and to add the words of a row
 * later. An entry is
 *
 *     1 byte    the filter, and RUN
 *     16 bytes  the key of a URL; or
 *      8 bytes  a number, of which seen_key_number() makes the key; or
 *     12 + 4n   with RUN: the shingles of a value of n words, as its base, n,
 *               and a hash per word
 *
 * Then follow the thread that adds words, asking and adding, the journal's
 * row, the files, and figures. A key goes into the row of the batch if it was
 * new. Words that are added later are not asked about first, and a value with
 * many new words goes in as a whole: a replay adds some keys twice, which
 * changes nothing, since cells are only ever set.
 *
 * The row is also what the thread reads. `settled` says up to which byte the
 * words of the row are in the filter, so that each of them is added once. The
 * thread adds them, or a question about words that comes before it
 * (settle_for()).
 */
#include "filters.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/key.h>
#include <seen/store.h>

#include "../lib/text/little.h"
#include "../lib/text/span.h"
#include "shingle.h"

enum {
    BATCH = 256,
    FIRST = 10000,        /* keys of the first part, */
    FIRST_WORDS = 500000, /* and of words: a page has hundreds */
    WORDS_LEAST = 16,     /* words of a page, if many pages are expected */
    LONG = 128 << 20,     /* bytes of the journal before files are renewed, or
                            half of the filters, if that is more */
    SMALL = 16 << 20,     /* bytes of a filter that is saved at the end */
    URL_KEY = 16,         /* bytes in the journal */
    KEY = 8,
    RUN = 0x10,
    RUN_HEAD = 12
};

/*
 * Parts are several filters that must agree, of about 1 % each when there are
 * many parts. A bloom per part takes 3 to 5 % fewer bits, and two cache misses
 * where this has one: with 10 million keys at 1e-6 a question takes 72 ns
 * instead of 214, and an add 104 instead of 259. States that were made with
 * growing/bloom keep it.
 */
static const struct {
    const char *name, *kind, *profile;
    double rate;
} plans[CHANGE_FILTERS] = {
    [CHANGE_URLS] = { "urls", "growing/spatial:4/blocked", "whatwg", 1e-6 },
    [CHANGE_VERSIONS] = { "versions", "growing/spatial:4/blocked", "raw",
                          1e-6 },
    [CHANGE_TEXTS] = { "texts", "growing/spatial:3/blocked", "raw", 1e-4 },
    [CHANGE_TREES] = { "trees", "growing/spatial:2/blocked", "raw", 1e-3 },
    [CHANGE_WORDS] = { "words", "growing:3/blocked", "raw", 2e-3 },
};

/* --- read entries of the journal --- */

/* Keys of each filter, in the order in which they were added. */
struct replay {
    struct change_one_filter *one;
    bool words; /* only those */
    struct seen_key key[CHANGE_FILTERS][BATCH];
    size_t n[CHANGE_FILTERS];
};

static enum seen_code replay_keys(struct replay *r, enum change_filter which,
                                  struct seen_error *why)
{
    size_t n = r->n[which];

    r->n[which] = 0;
    return seen_filter_add(r->one[which].filter, r->key[which], n, NULL, why);
}

static enum seen_code replay_key(struct replay *r, enum change_filter which,
                                 uint64_t lo, const uint64_t *hi,
                                 struct seen_error *why)
{
    struct seen_key *key = &r->key[which][r->n[which]++];

    if (hi)
        *key = (struct seen_key){ .lo = lo, .hi = *hi };
    else
        seen_key_number(key, lo);
    return r->n[which] == BATCH ? replay_keys(r, which, why) : SEEN_OK;
}

static enum seen_code replay_run(struct replay *r, const char *run, size_t n,
                                 struct seen_error *why)
{
    uint64_t base = little_64(run);
    enum seen_code code = SEEN_OK;
    uint32_t a = CHANGE_PAD, b = CHANGE_PAD, c;

    for (size_t i = 0; code == SEEN_OK && i < n + 2; i++, a = b, b = c) {
        c = i < n ? little_32(run + RUN_HEAD + 4 * i) : CHANGE_PAD;
        code = replay_key(r, CHANGE_WORDS, change_shingle(base, a, b, c), NULL,
                          why);
    }
    return code;
}

/* One entry; *len becomes its bytes, or 0 if it is damaged. */
static enum seen_code replay_entry(struct replay *r, const char *entry,
                                   size_t left, uint64_t end, size_t *len,
                                   struct seen_error *why)
{
    bool run = *entry & RUN;
    unsigned which = (unsigned char)*entry & ~(unsigned)RUN;
    const char *at = entry + 1;
    uint64_t hi;

    *len = 0;
    if (which >= CHANGE_FILTERS || !r->one[which].filter ||
        (run && (which != CHANGE_WORDS || left < 1 + RUN_HEAD)))
        return SEEN_OK;
    *len = 1 + (run ? RUN_HEAD + 4 * (size_t)little_32(at + 8)
                : which == CHANGE_URLS ? (size_t)URL_KEY
                                       : (size_t)KEY);
    if (*len > left)
        *len = 0;
    if (!*len || end <= r->one[which].saved ||
        (r->words && which != CHANGE_WORDS))
        return SEEN_OK;
    if (run)
        return replay_run(r, at, little_32(at + 8), why);
    hi = which == CHANGE_URLS ? little_64(at + 8) : 0;
    return replay_key(r, (enum change_filter)which, little_64(at),
                      which == CHANGE_URLS ? &hi : NULL, why);
}

/* `end`: the position after the row. */
static enum seen_code replay_row(void *owner, struct seen_span entries,
                                 uint64_t end, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t at = 0, len;

    for (; code == SEEN_OK && at < entries.len; at += len) {
        code = replay_entry(owner, entries.text + at, entries.len - at, end,
                            &len, why);
        if (code == SEEN_OK && !len)
            code = seen_fail(why, SEEN_CORRUPT, 0,
                             "a row of the journal is damaged");
    }
    return code;
}

static enum seen_code replay_rest(struct replay *r, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (int i = 0; code == SEEN_OK && i < CHANGE_FILTERS; i++)
        if (r->n[i])
            code = replay_keys(r, (enum change_filter)i, why);
    return code;
}

/* --- words, later --- */

/* The thread has `row` and the filter of words while it runs. */
struct change_later {
    pthread_t thread;
    bool runs;
    struct buffer row;
    size_t from; /* byte of the row */
    struct replay replay;
    enum seen_code code; /* a fault stays */
    struct seen_error why;
};

static void add_words(struct change_later *l, const struct buffer *row,
                      size_t from)
{
    if (l->code == SEEN_OK && row->len > from)
        l->code = replay_row(
            &l->replay,
            (struct seen_span){ row->bytes + from, row->len - from },
            UINT64_MAX, &l->why);
    if (l->code == SEEN_OK)
        l->code = replay_rest(&l->replay, &l->why);
}

static void *add_words_later(void *owner)
{
    struct change_later *l = owner;

    add_words(l, &l->row, l->from);
    return NULL;
}

static enum seen_code wait_for_words(struct change_filters *f,
                                     struct seen_error *why)
{
    struct change_later *l = f->later;

    if (l->runs)
        pthread_join(l->thread, NULL);
    l->runs = false;
    if (l->code != SEEN_OK && why)
        *why = l->why;
    return l->code;
}

enum seen_code change_filters_settle(struct change_filters *f,
                                     struct seen_error *why)
{
    enum seen_code code;

    if (!f->one[CHANGE_WORDS].filter)
        return SEEN_OK;
    code = wait_for_words(f, why);
    if (code != SEEN_OK || f->settled == f->journal.row.len)
        return code;
    add_words(f->later, &f->journal.row, f->settled);
    f->settled = f->journal.row.len;
    return wait_for_words(f, why);
}

static enum seen_code settle_for(struct change_filters *f,
                                 enum change_filter which,
                                 struct seen_error *why)
{
    return which == CHANGE_WORDS ? change_filters_settle(f, why) : SEEN_OK;
}

/* The batch is complete: the thread is to add the keys of its row. */
static enum seen_code begin_words(struct change_filters *f,
                                  struct seen_error *why)
{
    struct change_later *l = f->later;
    struct buffer row = f->journal.row;
    enum seen_code code = wait_for_words(f, why);

    if (code != SEEN_OK)
        return code;
    f->journal.row = l->row;
    f->journal.row.len = 0;
    l->row = row;
    l->from = f->settled;
    f->settled = 0;
    l->runs = !pthread_create(&l->thread, NULL, add_words_later, l);
    if (!l->runs)
        add_words_later(l);
    return SEEN_OK;
}

/* --- ask and add --- */

enum seen_code change_filters_has_all(struct change_filters *f,
                                      enum change_filter which,
                                      const uint64_t *key, size_t n, bool *has,
                                      struct seen_error *why)
{
    struct seen_key some[BATCH];
    enum seen_code code = settle_for(f, which, why);

    for (size_t at = 0; code == SEEN_OK && at < n; at += BATCH) {
        size_t m = n - at < BATCH ? n - at : BATCH;

        for (size_t i = 0; i < m; i++)
            seen_key_number(&some[i], key[at + i]);
        code = seen_filter_has(f->one[which].filter, some, m, has + at, why);
    }
    return code;
}

static void note_key(struct change_filters *f, enum change_filter which,
                     uint64_t key)
{
    char entry[1 + KEY];

    entry[0] = (char)which;
    little_put_64(entry + 1, key);
    buffer_bytes(&f->journal.row, entry, sizeof entry);
}

enum seen_code change_filters_add_all(struct change_filters *f,
                                      enum change_filter which,
                                      const uint64_t *key, size_t n, bool *had,
                                      struct seen_error *why)
{
    struct seen_key some[BATCH];
    enum seen_code code = settle_for(f, which, why);
    bool fresh[BATCH];

    for (size_t at = 0; code == SEEN_OK && at < n; at += BATCH) {
        size_t m = n - at < BATCH ? n - at : BATCH;

        for (size_t i = 0; i < m; i++)
            seen_key_number(&some[i], key[at + i]);
        code = seen_filter_add(f->one[which].filter, some, m, fresh, why);
        for (size_t i = 0; code == SEEN_OK && i < m; i++) {
            if (fresh[i])
                note_key(f, which, key[at + i]);
            if (had)
                had[at + i] = !fresh[i];
        }
    }
    if (which == CHANGE_WORDS)
        f->settled = f->journal.row.len;
    return code;
}

static void note_run(struct change_filters *f, uint64_t base,
                     const uint32_t *word, size_t n)
{
    struct buffer *row = &f->journal.row;
    char head[1 + RUN_HEAD], *to;

    head[0] = CHANGE_WORDS | RUN;
    little_put_64(head + 1, base);
    little_put_32(head + 9, (uint32_t)n);
    buffer_bytes(row, head, sizeof head);
    to = buffer_room(row, 4 * n);
    if (!to)
        return;
    for (size_t i = 0; i < n; i++)
        little_put_32(to + 4 * i, word[i]);
    row->len += 4 * n;
}

enum seen_code change_filters_add_run(struct change_filters *f, uint64_t base,
                                      const uint32_t *word, size_t n,
                                      struct seen_error *why)
{
    size_t keys = n ? n + 2 : 0, before = f->journal.row.len;
    enum seen_code code = settle_for(f, CHANGE_WORDS, why);
    uint64_t key[BATCH];

    for (size_t at = 0; code == SEEN_OK && at < keys; at += BATCH) {
        size_t m = keys - at < BATCH ? keys - at : BATCH;
        struct seen_key some[BATCH];
        bool fresh[BATCH];

        for (size_t i = 0; i < m; i++) {
            key[i] = change_shingle_at(base, word, n, at + i);
            seen_key_number(&some[i], key[i]);
        }
        code = seen_filter_add(f->one[CHANGE_WORDS].filter, some, m, fresh,
                               why);
        for (size_t i = 0; code == SEEN_OK && i < m; i++)
            if (fresh[i])
                note_key(f, CHANGE_WORDS, key[i]);
    }
    /* If many were new, the whole run is shorter than their keys. */
    if (f->journal.row.len - before > 1 + RUN_HEAD + 4 * n) {
        f->journal.row.len = before;
        note_run(f, base, word, n);
    }
    f->settled = f->journal.row.len;
    return code;
}

void change_filters_key_later(struct change_filters *f, uint64_t key)
{
    note_key(f, CHANGE_WORDS, key);
}

void change_filters_run_later(struct change_filters *f, uint64_t base,
                              const uint32_t *word, size_t n)
{
    if (n)
        note_run(f, base, word, n);
}

enum seen_code change_filters_has(struct change_filters *f,
                                  enum change_filter which, uint64_t key,
                                  bool *has, struct seen_error *why)
{
    return change_filters_has_all(f, which, &key, 1, has, why);
}

enum seen_code change_filters_add(struct change_filters *f,
                                  enum change_filter which, uint64_t key,
                                  bool *had, struct seen_error *why)
{
    return change_filters_add_all(f, which, &key, 1, had, why);
}

enum seen_code change_filters_has_url(const struct change_filters *f,
                                      const struct seen_key *key, bool *has,
                                      struct seen_error *why)
{
    return seen_filter_has(f->one[CHANGE_URLS].filter, key, 1, has, why);
}

enum seen_code change_filters_add_url(struct change_filters *f,
                                      const struct seen_key *key, bool *had,
                                      struct seen_error *why)
{
    char entry[1 + URL_KEY];
    enum seen_code code;
    bool fresh;

    code = seen_filter_add(f->one[CHANGE_URLS].filter, key, 1, &fresh, why);
    if (code == SEEN_OK && had)
        *had = !fresh;
    if (code == SEEN_OK && fresh) {
        entry[0] = CHANGE_URLS;
        little_put_64(entry + 1, key->lo);
        little_put_64(entry + 9, key->hi);
        buffer_bytes(&f->journal.row, entry, sizeof entry);
    }
    return code;
}

enum seen_code change_filters_fetch(struct change_filters *f,
                                    enum change_filter which,
                                    const uint64_t *key, size_t n,
                                    struct seen_error *why)
{
    struct seen_key some[BATCH];
    enum seen_code code = SEEN_OK;
    bool unused[BATCH];

    for (size_t at = 0; code == SEEN_OK && at < n; at += BATCH) {
        size_t m = n - at < BATCH ? n - at : BATCH;

        for (size_t i = 0; i < m; i++)
            seen_key_number(&some[i], key[at + i]);
        code = seen_filter_has(f->one[which].filter, some, m, unused, why);
    }
    return code;
}

enum seen_code change_filters_fetch_urls(struct change_filters *f,
                                         const struct seen_key *url, size_t n,
                                         struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool unused[BATCH];

    for (size_t at = 0; code == SEEN_OK && at < n; at += BATCH)
        code = seen_filter_has(f->one[CHANGE_URLS].filter, url + at,
                               n - at < BATCH ? n - at : BATCH, unused, why);
    return code;
}

/* --- the journal --- */

static enum seen_code set_position(struct change_filters *f, const char *name,
                                   uint64_t value, struct seen_error *why)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    sql_bind_text(f->set, 1, span_of(name));
    sql_bind_text(f->set, 2, span_of(text));
    return sql_do(f->set, why);
}

enum seen_code change_filters_note(struct change_filters *f,
                                   struct seen_error *why)
{
    struct seen_span row;
    enum seen_code code;

    if (f->journal.row.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the journal");
    if (!f->journal.row.len)
        return SEEN_OK;
    row = (struct seen_span){ f->journal.row.bytes, f->journal.row.len };
    code = f->one[CHANGE_WORDS].filter ? begin_words(f, why) : SEEN_OK;
    if (code == SEEN_OK)
        code = change_journal_write(&f->journal, row, why);
    f->journal.row.len = 0;
    return code == SEEN_OK
               ? set_position(f, "journal_end", f->journal.end, why)
               : code;
}

static enum seen_code replay(struct change_filters *f, struct seen_error *why)
{
    struct replay *r = calloc(1, sizeof *r);
    enum seen_code code;

    if (!r)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the journal");
    r->one = f->one;
    code = change_journal_read(&f->journal, replay_row, r, why);
    if (code == SEEN_OK)
        code = replay_rest(r, why);
    f->journal.row.len = 0;
    free(r);
    return code;
}

enum seen_code change_filters_drop(struct change_filters *f,
                                   struct seen_error *why)
{
    enum seen_code code = change_filters_settle(f, why);

    f->journal.row.len = f->settled = 0;
    return code;
}

/* --- files --- */

static enum seen_code save_one(struct change_filters *f,
                               struct change_one_filter *one,
                               struct seen_error *why)
{
    enum seen_code code;
    char position[32];

    snprintf(position, sizeof position, "%llu",
             (unsigned long long)f->journal.end);
    code = seen_meta_set(one->filter, "journal", position, why);
    if (code == SEEN_OK)
        code = seen_store_save(one->filter, one->path, why);
    if (code == SEEN_OK) {
        one->saved = f->journal.end;
        one->has_file = true;
    }
    return code;
}

/* A transaction of its own: in one that a fault has left open, the position
   would be lost, and the journal, too. */
static enum seen_code cut_journal(struct change_filters *f,
                                  struct seen_error *why)
{
    enum seen_code code = sql_begin(f->db, why);

    if (code != SEEN_OK)
        return code;
    code = set_position(f, "journal_begin", f->journal.end, why);
    if (code == SEEN_OK)
        code = sql_commit(f->db, why);
    if (code != SEEN_OK) {
        sql_rollback(f->db);
        return code;
    }
    return change_journal_cut(&f->journal, why);
}

enum seen_code change_filters_save(struct change_filters *f, bool closing,
                                   struct seen_error *why)
{
    uint64_t waiting = f->journal.end - f->journal.begin;
    bool all = waiting >= LONG, left = false;
    enum seen_code code;

    if (!all && !closing)
        return SEEN_OK;
    code = change_filters_settle(f, why);
    all = all && waiting >= change_filters_bytes(f) / 2;
    if (code != SEEN_OK || (!all && !closing))
        return code;
    for (int i = 0; code == SEEN_OK && i < CHANGE_FILTERS; i++) {
        struct change_one_filter *one = &f->one[i];

        if (!one->filter || (one->has_file && one->saved == f->journal.end))
            continue;
        if (all || !one->has_file || seen_filter_bytes(one->filter) <= SMALL)
            code = save_one(f, one, why);
        else
            left = true;
    }
    if (code != SEEN_OK || left || !waiting)
        return code;
    return cut_journal(f, why);
}

/* What a making that was interrupted has left is at position 0. */
static enum seen_code one_unused(const char *folder, enum change_filter which,
                                 struct seen_error *why)
{
    const struct seen_access any = { .unverified = true };
    struct seen_filter *filter = NULL;
    struct seen_error detail;
    enum seen_code code = SEEN_OK;
    const char *position;
    char *path;

    if (asprintf(&path, "%s/%s.seen", folder, plans[which].name) < 0)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    if (access(path, F_OK) == 0 || errno != ENOENT)
        code = seen_store_map(&filter, path, &any, &detail);
    free(path);
    if (code != SEEN_OK)
        return seen_fail(why, code == SEEN_NOMEM ? code : SEEN_CORRUPT, 0,
                         "%s.seen is there without its state.db, and cannot "
                         "be read: give another folder",
                         plans[which].name);
    position = filter ? seen_meta_get(filter, "journal") : "0";
    if (!position || strcmp(position, "0") != 0)
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "state.db is missing or empty, and %s.seen is in "
                         "use: restore it from a copy of the folder, or begin "
                         "another state",
                         plans[which].name);
    seen_filter_free(filter);
    return code;
}

enum seen_code change_filters_unused(const char *folder,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (int i = 0; code == SEEN_OK && i < CHANGE_FILTERS; i++)
        code = one_unused(folder, (enum change_filter)i, why);
    return code;
}

static enum seen_code make_one(struct change_filters *f,
                               enum change_filter which, uint64_t capacity,
                               bool words, struct seen_error *why)
{
    struct seen_plan plan = { .capacity = capacity ? capacity : FIRST,
                              .rate = plans[which].rate };

    strcpy(plan.kind, plans[which].kind);
    strcpy(plan.profile, plans[which].profile);
    if (which == CHANGE_VERSIONS && words)
        plan.capacity *= 2; /* how many words a field had is a key, too */
    if (which == CHANGE_WORDS)
        plan.capacity = capacity > FIRST_WORDS / WORDS_LEAST
                            ? capacity * WORDS_LEAST
                            : FIRST_WORDS;
    return seen_filter_new(&f->one[which].filter, &plan, why);
}

static enum seen_code load_one(struct change_filters *f,
                               enum change_filter which,
                               struct seen_error *why)
{
    const struct seen_access access = { .profile = plans[which].profile };
    struct change_one_filter *one = &f->one[which];
    struct seen_error detail;
    const char *position;

    if (seen_store_load(&one->filter, one->path, &access, &detail) !=
        SEEN_OK) {
        errno = detail.system;
        return seen_fail(why,
                         detail.code == SEEN_IO ? SEEN_ABSENT : detail.code, 0,
                         "%s.seen: %.110s", plans[which].name, detail.text);
    }
    position = seen_meta_get(one->filter, "journal");
    if (!position)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "%s.seen is not a filter of this state",
                         plans[which].name);
    one->has_file = true;
    one->saved = strtoull(position, NULL, 10);
    if (one->saved < f->journal.begin || one->saved > f->journal.end)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "%s.seen is %s than the rest of the state",
                         plans[which].name,
                         one->saved > f->journal.end ? "newer" : "older");
    return SEEN_OK;
}

enum seen_code change_filters_open(struct change_filters *f, struct sql *db,
                                   const char *folder,
                                   const struct change_filters_options *o,
                                   struct seen_error *why)
{
    enum seen_code code;

    f->db = db;
    f->later = calloc(1, sizeof *f->later);
    if (!f->later)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for filters");
    f->later->replay.one = f->one;
    f->later->replay.words = true;
    code = sql_prepare(&f->set, db,
                       "INSERT INTO settings VALUES (?1, ?2) ON CONFLICT "
                       "(name) DO UPDATE SET value = excluded.value",
                       why);
    if (code == SEEN_OK)
        code = change_journal_open(&f->journal, folder, o->begin, o->end,
                                   o->fresh, why);
    for (int i = 0; code == SEEN_OK && i < CHANGE_FILTERS; i++) {
        if (i == CHANGE_WORDS && !o->words)
            continue;
        if (asprintf(&f->one[i].path, "%s/%s.seen", folder, plans[i].name) < 0)
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
        code = o->fresh ? make_one(f, (enum change_filter)i, o->capacity,
                                   o->words, why)
                        : load_one(f, (enum change_filter)i, why);
    }
    if (code == SEEN_OK)
        code = o->fresh ? change_filters_save(f, true, why) : replay(f, why);
    return code;
}

void change_filters_close(struct change_filters *f)
{
    if (f->later) {
        wait_for_words(f, NULL);
        buffer_clear(&f->later->row);
        free(f->later);
    }
    for (int i = 0; i < CHANGE_FILTERS; i++) {
        seen_filter_free(f->one[i].filter);
        free(f->one[i].path);
    }
    change_journal_close(&f->journal);
    *f = (struct change_filters){ .journal = { .fd = -1 } };
}

/* --- figures --- */

/*
 * The rate of a blocked filter takes 100 us to compute, more than all else
 * that a changed page needs. This is a bound for it: the rate at capacity
 * times the share of the capacity that is used. The rate is convex in the
 * number of keys and the cells that are set are concave in it, so neither
 * replacement makes it smaller. It depends on the cells alone, so that it is
 * the same after a replay.
 */
static double part_bound(const struct seen_filter *part)
{
    const struct seen_plan *plan = seen_filter_plan(part);
    double m = (double)plan->bits, full, share, all = 1;

    for (unsigned i = 0; i < seen_filter_parts(part); i++)
        all *= part_bound(seen_filter_part(part, i)); /* all must agree */
    if (seen_filter_parts(part))
        return all;
    if (!plan->bits || !plan->capacity)
        return plan->rate;
    full = -expm1(-(double)plan->probes * (double)plan->capacity / m);
    share = (double)seen_filter_cells_set(part) / m / full;
    return plan->rate * (share < 1 ? share : 1);
}

/* As seen_filter_rate(), which computes the rates of all parts each time: at
   ten million URLs, 11 of them. Of several blocked ones in the last part, a
   bound. */
static double any_part(struct change_one_filter *one)
{
    const unsigned parts = seen_filter_parts(one->filter);
    const struct seen_filter *last = seen_filter_part(one->filter, parts - 1);

    for (; one->full + 1 < parts; one->full++)
        one->right += log1p(
            -seen_filter_rate(seen_filter_part(one->filter, one->full)));
    return 0 - expm1(one->right + log1p(-(seen_filter_parts(last)
                                              ? part_bound(last)
                                              : seen_filter_rate(last))));
}

double change_filters_rate(struct change_filters *f, enum change_filter which)
{
    const struct seen_filter *filter = f->one[which].filter;
    double sum = 0;

    if (!filter)
        return 0;
    if (which != CHANGE_WORDS)
        return any_part(&f->one[which]);
    for (unsigned i = 0; i < seen_filter_parts(filter); i++)
        sum += part_bound(seen_filter_part(filter, i));
    return sum;
}

double change_filters_entries(const struct change_filters *f,
                              enum change_filter which)
{
    return f->one[which].filter ? seen_filter_entries(f->one[which].filter)
                                : 0;
}

uint64_t change_filters_bytes(const struct change_filters *f)
{
    uint64_t sum = 0;

    for (int i = 0; i < CHANGE_FILTERS; i++)
        if (f->one[i].filter)
            sum += seen_filter_bytes(f->one[i].filter);
    return sum;
}
