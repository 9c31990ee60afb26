/*
 * classify.c - records in, answers out, a batch in one transaction: what was
 * answered before is repeated (stored.c), the rest is judged (judge.c) and
 * stored.
 */
#include <stdlib.h>

#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "question.h"
#include "words.h"

/* --- a record --- */

/* The answer has a place in the list before its changes are added. */
static enum seen_code place_answer(struct change_question *q)
{
    struct change_answer *a = change_answers_add(q->all);

    return a ? SEEN_OK : no_memory_for(q->why, "an answer");
}

static bool is_ours(const struct change_question *q)
{
    const struct change_options *o = &q->s->options;

    if (o->shards < 2)
        return true;
    return q->r->end ? q->r->shard == o->shard
                     : q->r->key.lo % o->shards == o->shard;
}

static enum seen_code set_aside(struct change_question *q, const char *reason)
{
    q->answer.class = CHANGE_ERROR;
    q->answer.why = change_answers_keep(q->all, span_of(reason));
    return q->answer.why.text ? SEEN_OK : no_memory_for(q->why, "an answer");
}

static enum seen_code answer_one(struct change_question *q)
{
    const struct change_record *r = q->r;

    if (*r->fault)
        return set_aside(q, r->fault);
    if (!is_ours(q))
        return set_aside(q, "of another shard");
    if (r->end) {
        q->answer.class = CHANGE_END;
        return SEEN_OK;
    }
    return change_judge(q);
}

/* Note the field that was compared as it is, since its pattern cost too much. */
static enum seen_code note_costly(struct change_question *q)
{
    const struct change_page *page = q->s->page;
    struct buffer *b = &q->s->other;

    if (!page || !page->pattern || q->answer.class == CHANGE_ERROR)
        return SEEN_OK;
    b->len = 0;
    buffer_span(b, page->costly);
    buffer_text(b, ": ");
    buffer_text(b, page->pattern);
    if (!b->failed)
        q->answer.costly = change_answers_keep(
            q->all, (struct seen_span){ b->bytes, b->len });
    return b->failed || !q->answer.costly.text
               ? no_memory_for(q->why, "an answer")
               : SEEN_OK;
}

static enum seen_code finish(struct change_question *q)
{
    struct change_state *s = q->s;
    struct change_answer *a = &q->all->answer[q->all->n - 1];

    *a = q->answer;
    s->line.len = 0;
    if (a->class != CHANGE_END) {
        change_answer_write(&s->line, q->all, a);
        a->json = change_answers_keep(
            q->all, (struct seen_span){ s->line.bytes, s->line.len });
        if (s->line.failed || !a->json.text)
            return no_memory_for(q->why, "an answer");
    }
    return change_stored_add(q);
}

/* s->page is that of the record. */
static enum seen_code classify_one(struct change_state *s,
                                   const struct change_record *r,
                                   struct change_answers *all,
                                   struct seen_error *why)
{
    const struct seen_span none = { "", 0 };
    struct change_question q = { .s = s,
                                 .r = r,
                                 .all = all,
                                 .answer = { .url = r->url,
                                             .visit = r->visit,
                                             .type = r->type,
                                             .fetched = r->fetched,
                                             .of = none,
                                             .why = none,
                                             .json = none },
                                 .why = why };
    enum seen_code code = change_stored_id(&q);
    bool stored = false;

    if (code == SEEN_OK)
        code = change_stored_repeat(&q, &stored);
    if (code != SEEN_OK || stored)
        return code;
    code = place_answer(&q);
    if (code == SEEN_OK)
        code = answer_one(&q);
    if (code == SEEN_OK)
        code = note_costly(&q);
    return code == SEEN_OK ? finish(&q) : code;
}

/* --- a group of records --- */

/* Keys of a group that are asked for soon. */
struct soon {
    struct change_page *page[CHANGE_GROUP]; /* NULL: there is none */
    struct seen_key url[CHANGE_GROUP];
    uint64_t version[2 * CHANGE_GROUP], text[CHANGE_GROUP], tree[CHANGE_GROUP];
    size_t urls, versions, texts, trees;
};

static void add_soon(struct soon *soon, const struct change_record *r,
                     const struct change_page *page)
{
    uint64_t url = change_mix(r->key.lo, r->key.hi);

    soon->url[soon->urls++] = r->key;
    soon->version[soon->versions++] = change_version_of(url, page);
    if (page->fields)
        soon->version[soon->versions++] = change_words_count_key(
            url, &page->field[0]);
    soon->text[soon->texts++] = page->content.lo;
    if (r->has_skeleton)
        soon->tree[soon->trees++] = change_mix(url, r->skeleton);
}

/*
 * Read the pages of a group, and fetch the cells that they will ask for.
 * Without that a record waits for the memory once per part of a filter: at ten
 * million URLs, which are in 14 parts, that was two thirds of its time.
 */
static enum seen_code look_ahead(struct change_state *s, struct soon *soon,
                                 const struct change_record *record, size_t n,
                                 struct seen_error *why)
{
    struct change_filters *f = &s->filters;
    enum seen_code code = SEEN_OK;

    soon->urls = soon->versions = soon->texts = soon->trees = 0;
    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        const struct change_record *r = &record[i];

        soon->page[i] = NULL;
        if (*r->fault || r->end || r->status == 404 || r->status == 410 ||
            r->status == 304)
            continue;
        soon->page[i] = r->page ? r->page : &s->group[i];
        if (!r->page && i)
            change_page_pass(&s->group[i - 1], &s->group[i]);
        if (!r->page)
            code = change_page_read(&s->group[i], r, s->options.rules, why);
        if (code == SEEN_OK)
            add_soon(soon, r, soon->page[i]);
    }
    if (s->options.exact)
        return code;
    if (code == SEEN_OK)
        code = change_filters_fetch_urls(f, soon->url, soon->urls, why);
    if (code == SEEN_OK)
        code = change_filters_fetch(f, CHANGE_VERSIONS, soon->version,
                                    soon->versions, why);
    if (code == SEEN_OK)
        code = change_filters_fetch(f, CHANGE_TEXTS, soon->text, soon->texts,
                                    why);
    return code == SEEN_OK ? change_filters_fetch(f, CHANGE_TREES, soon->tree,
                                                  soon->trees, why)
                           : code;
}

/* --- a batch --- */

/* Look ahead if a group begins at record i, and go to its page. */
static enum seen_code go_to(struct change_state *s, struct soon *soon,
                            const struct change_record *record, size_t i,
                            size_t n, struct seen_error *why)
{
    size_t at = i % CHANGE_GROUP;
    enum seen_code code = SEEN_OK;

    if (!at)
        code = look_ahead(s, soon, &record[i],
                          n - i < CHANGE_GROUP ? n - i : CHANGE_GROUP, why);
    s->page = soon->page[at];
    return code;
}

static enum seen_code classify(struct change_state *s,
                               const struct change_record *record, size_t n,
                               struct change_answers *answers,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct soon soon;

    s->caused.len = 0;
    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        code = go_to(s, &soon, record, i, n, why);
        if (code == SEEN_OK)
            code = classify_one(s, &record[i], answers, why);
    }
    if (code == SEEN_OK)
        code = change_stored_caused(s, answers, why);
    if (code == SEEN_OK)
        code = change_filters_note(&s->filters, why);
    if (code == SEEN_OK)
        code = change_ids_note(&s->ids, why);
    if (code == SEEN_OK)
        code = change_results_note(s, why);
    if (code == SEEN_OK)
        code = change_stored_forget(s, n, why);
    return code == SEEN_OK ? change_state_note(s, why) : code;
}

enum seen_code change_classify(struct change_state *s,
                               const struct change_record *record, size_t n,
                               struct change_answers *answers,
                               struct seen_error *why)
{
    enum seen_code code;

    change_answers_empty(answers);
    if (s->failed)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the state must be opened again after a fault");
    code = change_filters_save(&s->filters, false, why);
    if (code == SEEN_OK)
        code = sql_begin(s->db, why);
    if (code != SEEN_OK)
        return code;
    code = classify(s, record, n, answers, why);
    if (code == SEEN_OK)
        code = sql_commit(s->db, why);
    if (code != SEEN_OK) {
        sql_rollback(s->db);
        change_answers_empty(answers);
        s->failed = true;
    }
    return code;
}

enum seen_code change_state_fill(struct change_state *s,
                                 const struct change_record *record, size_t n,
                                 struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct soon soon;

    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        struct change_question q = { .s = s, .r = &record[i], .why = why };

        code = go_to(s, &soon, record, i, n, why);
        if (code == SEEN_OK)
            code = change_judge_fill(&q);
    }
    return code == SEEN_OK ? change_filters_drop(&s->filters, why) : code;
}
