/*
 * urls.c - the URLs of an experiment: made up, or the user's own.
 *
 * The user's are read by seen_ingest, as every command reads them, into a
 * hash set that keeps the order in which they came: so what is left out is a
 * repetition for certain.
 */
#include "urls.h"

#include <stdlib.h>
#include <string.h>

#include <seen/ingest.h>

#include "../lib/text/array.h"
#include "exact.h"
#include "made.h"

struct urls {
    struct made made;
    bool listed;       /* the URLs are a list of the user's */
    struct exact list; /* its URLs, in their order */
    uint64_t repeated, bad;
    uint32_t *row; /* per row of the user's file, its number in the list */
    size_t rows, row_room;
};

enum seen_code urls_new(struct urls **out, uint64_t seed,
                        struct seen_error *why)
{
    struct urls *u = calloc(1, sizeof *u);

    *out = u;
    if (!u)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for URLs");
    made_init(&u->made, seed);
    return SEEN_OK;
}

void urls_free(struct urls *u)
{
    if (!u)
        return;
    exact_clear(&u->list);
    free(u->row);
    free(u);
}

/* --- reading files --- */

/*
 * Where the URL of a line begins: after the last comma before its scheme, if
 * nothing of a URL is before that. "1901,https://a/b,c" is a row of a CSV
 * file, and "https://a/b,http://c" is not.
 */
static size_t csv_prefix(const char *text, size_t len)
{
    const char *scheme = memmem(text, len, "://", 3), *at = scheme;

    while (at && at > text && at[-1] >= 'a' && at[-1] <= 'z')
        at--;
    if (at && at > text && at[-1] == '"')
        at--;
    if (!at || at == text || at[-1] != ',' ||
        memchr(text, '/', (size_t)(at - text)) ||
        memchr(text, ':', (size_t)(at - text)))
        return 0;
    return (size_t)(at - text);
}

/* The key of a line's URL: the line's own, or that of a column in it. */
static struct seen_key url_key(const struct seen_key *line)
{
    size_t from = csv_prefix(line->text, line->len), len = line->len - from;
    const char *text = line->text + from;
    struct seen_key key = *line;

    if (!from)
        return key;
    if (len > 1 && text[0] == '"' && text[len - 1] == '"') {
        text++;
        len -= 2;
    }
    seen_key_hash(&key, text, len);
    return key;
}

static enum seen_code note_row(struct urls *u, const struct seen_key *key,
                               struct seen_error *why)
{
    u->row = array_grow(u->row, &u->row_room, u->rows + 1, sizeof *u->row);
    if (!u->row)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for URLs");
    u->row[u->rows++] = (uint32_t)exact_number(&u->list, key);
    return SEEN_OK;
}

static enum seen_code keep(void *to, unsigned thread, struct seen_batch *batch,
                           struct seen_error *why)
{
    struct urls *u = to;

    (void)thread;
    for (size_t i = 0; i < batch->n; i++) {
        struct seen_key key = url_key(&batch->key[i]);

        if (key.len > URL_MOST) {
            u->bad++;
            continue;
        }
        u->repeated += !exact_add_key(&u->list, &key);
        if (note_row(u, &key, why) != SEEN_OK)
            return SEEN_NOMEM;
    }
    return SEEN_OK;
}

static enum seen_code read_urls(struct urls *u, const char *path,
                                struct seen_error *why)
{
    const struct seen_source_options options = { .in_order = true };
    struct seen_ingest in = {
        .keying.profile = "raw", .every = true, .keys = keep, .to = u
    };
    enum seen_code code = seen_source_open(&in.source, &path, 1, &options,
                                           why);

    if (code == SEEN_OK)
        code = seen_ingest_run(&in, why);
    if (code == SEEN_OK &&
        (in.tally.lost || in.tally.damaged || seen_source_lost(in.source)))
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "is damaged or was not read to its end");
    seen_source_close(in.source);
    u->bad += in.rejects.count;
    if (code == SEEN_OK && !u->list.n)
        code = seen_fail(why, SEEN_RANGE, 0, "has no URL");
    return code;
}

enum seen_code urls_load(struct urls **out, const char *path,
                         struct seen_error *why)
{
    struct urls *u;
    enum seen_code code = urls_new(&u, 0, why);

    *out = NULL;
    if (code != SEEN_OK)
        return code;
    u->listed = true;
    u->list.way = HASHED;
    code = read_urls(u, path, why);
    if (code == SEEN_OK)
        *out = u;
    else
        urls_free(u);
    return code;
}

/* --- using them --- */

uint64_t urls_count(const struct urls *u)
{
    return u->listed ? u->list.n : UINT64_MAX;
}

uint64_t urls_rows(const struct urls *u)
{
    return u->rows;
}

uint64_t urls_row(const struct urls *u, uint64_t i)
{
    return u->row[i];
}

uint64_t urls_repeated(const struct urls *u)
{
    return u->repeated;
}

uint64_t urls_bad(const struct urls *u)
{
    return u->bad;
}

size_t urls_get(const struct urls *u, uint64_t i, char url[URL_MOST])
{
    size_t number, len;

    if (!u->listed)
        return made_url(&u->made, i, url);
    number = (size_t)(i % u->list.n);
    len = u->list.item[number].len;
    memcpy(url, exact_text(&u->list, number), len);
    return len;
}

void urls_keys(const struct urls *u, uint64_t from, size_t n,
               struct seen_key *key, char *text)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = urls_get(u, from + i, text);

        seen_key_hash(&key[i], text, len);
        text += len;
    }
}

_Static_assert((int)MADE_MOST <= (int)URL_MOST, "made-up URLs fit");
