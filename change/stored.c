/*
 * stored.c - answers that were given, under the ids of their records, so that
 * a record that comes again gets the same answer; and the answers that come of
 * the end of a visit.
 */
#include <time.h>

#include "../lib/text/hex.h"
#include "../lib/text/little.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "question.h"

enum { FORGET = 4 }; /* old answers per new one, at most */

/* --- ids --- */

static void add_number(struct buffer *b, uint64_t x)
{
    char bytes[8];

    little_put_64(bytes, x);
    buffer_bytes(b, bytes, sizeof bytes);
}

/* 32 digits of the hash of what is in s->other. */
static struct seen_span made_id(struct change_state *s,
                                struct change_answers *all)
{
    char digits[CHANGE_ID + 1], bytes[CHANGE_ID / 2];
    struct seen_key key;

    seen_key_hash(&key, s->other.bytes, s->other.len);
    little_put_64(bytes, key.lo);
    little_put_64(bytes + 8, key.hi);
    hex_write(digits, bytes, sizeof bytes);
    return change_answers_keep(all, span_of(digits));
}

enum seen_code change_stored_id(struct change_question *q)
{
    const struct change_record *r = q->r;
    struct buffer *b = &q->s->other;

    q->answer.id = r->id;
    if (r->id.len && !*r->fault)
        return SEEN_OK;
    b->len = 0;
    if (*r->fault) {
        buffer_text(b, "fault ");
        buffer_span(b, r->line);
    } else if (r->visit.len || r->fetched) {
        buffer_text(b, "fetch ");
        buffer_span(b, r->visit);
        buffer_byte(b, 0);
        add_number(b, r->fetched);
        add_number(b, r->turn);
        buffer_span(b, r->url);
    } else {
        buffer_text(b, "record ");
        add_number(b, (uint64_t)q->s->last + 1);
        buffer_span(b, r->url);
    }
    if (!b->failed)
        q->answer.id = made_id(q->s, q->all);
    return b->failed || !q->answer.id.text ? no_memory_for(q->why, "an answer")
                                           : SEEN_OK;
}

/* --- stored answers --- */

static enum seen_code store(struct change_question *q, struct seen_span id,
                            uint64_t hash, enum change_class class,
                            struct seen_span json, int64_t cause)
{
    struct change_state *s = q->s;
    enum seen_code code;

    sql_bind_number(s->add, 1, s->last + 1);
    sql_bind_bytes(s->add, 2, id);
    sql_bind_number(s->add, 3, (int64_t)time(NULL));
    sql_bind_number(s->add, 4, class);
    sql_bind_text(s->add, 5, json);
    if (cause)
        sql_bind_number(s->add, 6, cause);
    else
        sql_bind_null(s->add, 6);
    code = sql_do(s->add, q->why);
    if (code != SEEN_OK)
        return code;
    s->last++;
    s->stored++;
    s->count[class]++;
    return change_ids_add(&s->ids, hash, s->last, q->why);
}

/* Answers that came because of another one are repeated with it. */
static enum seen_code repeat_caused(struct change_question *q, int64_t number)
{
    struct change_state *s = q->s;
    enum seen_code code;
    bool row;

    sql_bind_number(s->caused_by, 1, number);
    while ((code = sql_step(s->caused_by, &row, q->why)) == SEEN_OK && row) {
        buffer_byte(&s->caused, 'a'); /* again */
        buffer_span(&s->caused, sql_text(s->caused_by, 1));
        buffer_byte(&s->caused, '\n');
    }
    return code;
}

/* The row of the stored answer, if there is one. */
static enum seen_code find_stored(struct change_question *q, int64_t *number,
                                  bool *stored)
{
    struct change_state *s = q->s;
    struct change_ids_at at;
    enum seen_code code;

    *stored = false;
    q->id = change_ids_hash(q->answer.id);
    at = change_ids_begin(&s->ids, q->id);
    while (change_ids_next(&s->ids, &at, number)) {
        sql_bind_number(s->find, 1, *number);
        code = sql_step(s->find, stored, q->why);
        if (code != SEEN_OK)
            return code;
        if (*stored && span_equal(sql_text(s->find, 0), q->answer.id))
            return SEEN_OK;
        if (*stored)
            sql_reset(s->find);
        *stored = false;
    }
    return SEEN_OK;
}

enum seen_code change_stored_repeat(struct change_question *q, bool *stored)
{
    struct change_state *s = q->s;
    struct change_answer *last;
    struct seen_span json;
    enum seen_code code;
    int64_t number;

    code = find_stored(q, &number, stored);
    if (code != SEEN_OK || !*stored)
        return code;
    json = sql_text(s->find, 2);
    if (sql_number(s->find, 1) == CHANGE_END) {
        last = change_answers_add(q->all);
        if (last)
            last->class = CHANGE_END;
        code = last ? SEEN_OK : no_memory_for(q->why, "an answer");
    } else {
        code = change_answer_read(q->all, json, q->why);
    }
    sql_reset(s->find);
    if (code != SEEN_OK)
        return code;
    q->all->answer[q->all->n - 1].again = true;
    return s->options.exact ? repeat_caused(q, number) : SEEN_OK;
}

/* --- visits --- */

struct completion {
    struct change_question *q;
    struct seen_span visit;
    int64_t cause;
};

static enum seen_code add_missing(void *owner, struct seen_span url,
                                  struct seen_error *why)
{
    struct completion *c = owner;
    struct change_question *q = c->q;
    struct buffer *b = &q->s->other, *line = &q->s->line;
    struct change_answer a = { .url = url,
                               .class = CHANGE_REMOVED,
                               .visit = c->visit,
                               .why = span_of("missing"),
                               .type = { "", 0 },
                               .of = { "", 0 } };
    enum seen_code code;

    b->len = 0;
    buffer_text(b, "missing ");
    buffer_span(b, c->visit);
    buffer_byte(b, 0);
    buffer_span(b, url);
    if (!b->failed)
        a.id = made_id(q->s, q->all);
    if (b->failed || !a.id.text)
        return no_memory_for(why, "an answer");
    line->len = 0;
    change_answer_write(line, q->all, &a);
    if (line->failed)
        return no_memory_for(why, "an answer");
    code = store(q, a.id, change_ids_hash(a.id), a.class,
                 (struct seen_span){ line->bytes, line->len }, c->cause);
    buffer_byte(&q->s->caused, 'n'); /* new */
    buffer_append(&q->s->caused, line);
    buffer_byte(&q->s->caused, '\n');
    return code;
}

/* A record or the end of a visit was stored: is the visit complete now? */
static enum seen_code count_visit(struct change_question *q, bool end)
{
    struct change_state *s = q->s;
    struct sql_statement *st = end ? s->visit_end : s->visit_add;
    struct completion c = { .q = q, .visit = q->r->visit, .cause = s->last };
    enum seen_code code;
    bool row, full;

    if (!s->options.exact || !q->r->visit.len)
        return SEEN_OK;
    if (end && q->r->missed) /* then nobody knows which pages are gone */
        return SEEN_OK;
    sql_bind_text(st, 1, q->r->visit);
    if (end)
        sql_bind_number(st, 2, (int64_t)q->r->records);
    code = sql_step(st, &row, q->why);
    if (code != SEEN_OK)
        return code;
    full = row && !sql_number(st, 2) && sql_number(st, 1) >= 0 &&
           sql_number(st, 0) >= sql_number(st, 1);
    sql_reset(st);
    if (!full)
        return SEEN_OK;
    sql_bind_text(s->visit_done, 1, q->r->visit);
    code = sql_do(s->visit_done, q->why);
    return code == SEEN_OK ? change_exact_missing(&s->exact, q->r->visit,
                                                  add_missing, &c, q->why)
                           : code;
}

enum seen_code change_stored_add(struct change_question *q)
{
    const struct change_answer *a = &q->all->answer[q->all->n - 1];
    enum seen_code code = store(q, a->id, q->id, a->class, a->json, 0);

    if (code == SEEN_OK && a->class != CHANGE_ERROR)
        code = count_visit(q, q->r->end);
    return code;
}

/* --- of a batch --- */

/* Answers that are older than --remember. They are numbered in the order of
   time. One that a results file may lack stays. */
enum seen_code change_stored_forget(struct change_state *s, size_t n,
                                    struct seen_error *why)
{
    int64_t until = (int64_t)time(NULL) - (int64_t)s->options.remember;
    int64_t last = 0;
    bool awaited = s->has_results || s->owed, row;
    uint64_t count = 0;
    enum seen_code code;

    sql_bind_number(s->oldest, 1, (int64_t)(FORGET * n));
    while ((code = sql_step(s->oldest, &row, why)) == SEEN_OK && row) {
        if (sql_number(s->oldest, 1) >= until ||
            (awaited && sql_number(s->oldest, 0) > s->written)) {
            sql_reset(s->oldest);
            break;
        }
        last = sql_number(s->oldest, 0);
        count++;
    }
    if (code != SEEN_OK || !last)
        return code;
    sql_bind_number(s->forget, 1, last);
    code = sql_do(s->forget, why);
    if (code == SEEN_OK)
        s->stored -= count;
    return code == SEEN_OK ? change_ids_forget(&s->ids, last, why) : code;
}

/* After the answers to records come those that they have caused. */
enum seen_code change_stored_caused(struct change_state *s,
                                    struct change_answers *all,
                                    struct seen_error *why)
{
    struct seen_span rest = { s->caused.bytes, s->caused.len }, line;
    enum seen_code code = s->caused.failed ? no_memory_for(why, "an answer")
                                           : SEEN_OK;

    while (code == SEEN_OK && span_cut(&rest, '\n', &line)) {
        bool again = *line.text == 'a';

        line.text++;
        line.len--;
        code = change_answer_read(all, line, why);
        if (code == SEEN_OK)
            all->answer[all->n - 1].again = again;
    }
    return code;
}
