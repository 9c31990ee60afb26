/*
 * excerpt.c - seen_excerpt(): a piece of a text with the words that were found.
 *
 * FTS5 has snippet() and highlight() for this. Their cost grows with the
 * square of the number of hits in a text, and pages are written by others: of
 * a page of 1 MB that repeats one letter, one snippet took more than five
 * minutes. This one looks at each hit twice and reads the text once, up to
 * where the piece ends.
 *
 *     1  the window: the first `tokens` tokens in a row that have the most
 *        different phrases of the question (two ends that only move forward)
 *     2  which tokens of the window are hits
 *     3  the text is cut into tokens again, as FTS5 keeps no places of bytes
 */
#include <sqlite3.h>
#include <stdlib.h>

#include "../lib/text/buffer.h"
#include "excerpt.h"

enum {
    TOKENS = 64,  /* of a piece, at most */
    BYTES = 320,  /* of a piece: a token may be as long as the page */
    BEFORE = 6,   /* tokens before the first hit, */
    BEFORE_BYTES = 120,
    HITS_PER_STEP = 16,
    BYTES_PER_STEP = 16
};

#define GAP " ... "

struct excerpt {
    const Fts5ExtensionApi *api;
    Fts5Context *context;
    int column, tokens;
    int first, hit; /* tokens: of the window, and its first hit */
    bool any;
    bool marked[TOKENS];
    /* Step 3: the piece is written */
    int at; /* the next token */
    int from, to; /* bytes: where the piece begins, and what was written */
    bool begun, cut;
    const char *text;
    struct buffer out;
};

/* Hit i, if it is in the column. */
static bool hit_at(struct excerpt *e, int i, int *phrase, int *token)
{
    int column;

    return e->api->xInst(e->context, i, phrase, &column, token) == SQLITE_OK &&
           column == e->column;
}

/* Step 1. Hits come in the order of their places. */
static bool find_window(struct excerpt *e, int hits)
{
    const int phrases = e->api->xPhraseCount(e->context);
    int *count = calloc((size_t)phrases + 1, sizeof *count);
    int different = 0, best = 0, phrase, token, last_phrase, last_token;
    int behind = 0;

    if (!count)
        return false;
    for (int i = 0; i < hits; i++) {
        if (!hit_at(e, i, &phrase, &token))
            continue;
        different += !count[phrase]++;
        for (; behind < i; behind++) {
            if (!hit_at(e, behind, &last_phrase, &last_token))
                continue;
            if (last_token + e->tokens - BEFORE > token)
                break;
            different -= !--count[last_phrase];
        }
        if (different <= best)
            continue;
        best = different;
        e->any = true;
        hit_at(e, behind, &last_phrase, &e->hit);
    }
    free(count);
    return true;
}

/* Step 2. */
static void mark(struct excerpt *e, int hits)
{
    int phrase, token;

    e->first = e->any && e->hit > BEFORE ? e->hit - BEFORE : 0;
    for (int i = 0; i < hits; i++) {
        if (!hit_at(e, i, &phrase, &token) || token >= e->first + e->tokens)
            continue;
        for (int n = e->api->xPhraseSize(e->context, phrase); n--; token++)
            if (token >= e->first && token < e->first + e->tokens)
                e->marked[token - e->first] = true;
    }
}

/* The text up to this byte, or to where the piece has its length. Never half
   of a character. */
static void write_to(struct excerpt *e, int to)
{
    if (to - e->from > BYTES) {
        to = e->from + BYTES;
        while (to > e->to && ((unsigned char)e->text[to] & 0xc0) == 0x80)
            to--;
        e->cut = true;
    }
    if (to > e->to)
        buffer_bytes(&e->out, e->text + e->to, (size_t)(to - e->to));
    e->to = to > e->to ? to : e->to;
}

static void begin_at(struct excerpt *e, int byte)
{
    e->begun = true;
    e->from = e->to = byte;
    e->out.len = 0;
}

/* Step 3, for one token. */
static int take_token(void *owner, int flags, const char *token, int n,
                      int start, int end)
{
    struct excerpt *e = owner;
    bool hit;
    int i;

    (void)token, (void)n;
    if (flags & FTS5_TOKEN_COLOCATED)
        return SQLITE_OK;
    i = e->at++ - e->first;
    if (i < 0)
        return SQLITE_OK;
    if (i >= e->tokens || e->cut) {
        e->cut = true;
        return SQLITE_DONE;
    }
    if (!e->begun)
        begin_at(e, e->first || e->from ? start : 0);
    if (e->any && e->at <= e->hit && end - e->from > BEFORE_BYTES) {
        e->begun = false; /* too long to stand before the first hit */
        e->from = end;
        return SQLITE_OK;
    }
    write_to(e, start);
    hit = e->marked[i] && !e->cut;
    if (hit)
        buffer_byte(&e->out, SQL_EXCERPT_BEGIN);
    write_to(e, end);
    if (hit)
        buffer_byte(&e->out, SQL_EXCERPT_END);
    return e->out.failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int write_piece(struct excerpt *e, int len)
{
    int result = e->api->xTokenize(e->context, e->text, len, e, take_token);

    if (result != SQLITE_OK && result != SQLITE_DONE)
        return result;
    if (!e->begun)
        begin_at(e, 0);
    if (!e->cut)
        write_to(e, len); /* what is after the last token */
    return e->out.failed ? SQLITE_NOMEM : SQLITE_OK;
}

static void reply(sqlite3_context *to, struct excerpt *e)
{
    struct buffer all = { .bytes = NULL };

    if (e->from)
        buffer_text(&all, GAP);
    buffer_append(&all, &e->out);
    if (e->cut)
        buffer_text(&all, GAP);
    if (all.failed)
        sqlite3_result_error_nomem(to);
    else
        sqlite3_result_text64(to, all.len ? all.bytes : "", all.len,
                              SQLITE_TRANSIENT, SQLITE_UTF8);
    buffer_clear(&all);
}

/* Can it be paid? Otherwise the piece is the beginning, without hits. */
static bool pays(struct excerpt *e, int hits, int len)
{
    struct budget *b = *(struct budget **)e->api->xUserData(e->context);

    return !b || budget_spend(b, (uint64_t)(hits / HITS_PER_STEP +
                                            len / BYTES_PER_STEP));
}

static void excerpt(const Fts5ExtensionApi *api, Fts5Context *context,
                    sqlite3_context *to, int n, sqlite3_value **value)
{
    struct excerpt e = { .api = api, .context = context };
    int hits, len, result;

    e.column = n > 0 ? sqlite3_value_int(value[0]) : 0;
    e.tokens = n > 1 ? sqlite3_value_int(value[1]) : TOKENS;
    if (e.tokens < 2 * BEFORE || e.tokens > TOKENS)
        e.tokens = TOKENS;
    result = api->xColumnText(context, e.column, &e.text, &len);
    if (result == SQLITE_OK)
        result = api->xInstCount(context, &hits);
    if (result == SQLITE_OK && !pays(&e, hits, len)) {
        begin_at(&e, 0);
        write_to(&e, len);
    } else if (result == SQLITE_OK) {
        if (!find_window(&e, hits))
            result = SQLITE_NOMEM;
        mark(&e, hits);
        if (result == SQLITE_OK)
            result = write_piece(&e, len);
    }
    if (result == SQLITE_OK)
        reply(to, &e);
    else
        sqlite3_result_error_code(to, result);
    buffer_clear(&e.out);
}

int sql_excerpt_add(sqlite3 *db, struct budget **budget)
{
    fts5_api *api = NULL;
    sqlite3_stmt *st;
    int result = sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &st, NULL);

    if (result != SQLITE_OK)
        return result;
    sqlite3_bind_pointer(st, 1, &api, "fts5_api_ptr", NULL);
    sqlite3_step(st);
    result = sqlite3_finalize(st);
    if (result == SQLITE_OK && !api)
        result = SQLITE_ERROR;
    return result == SQLITE_OK ? api->xCreateFunction(api, "seen_excerpt",
                                                      budget, excerpt, NULL)
                               : result;
}
