/*
 * judge.c - what happened to a page: the rules, in the order in which they
 * are asked.
 *
 *     stored answer?  ── yes ──> repeat it
 *     older than known?  (exact) ──> late
 *     304 ──> unchanged          404, 410 ──> removed, or absent if it was
 *                                             never there
 *     a field that had text matches nothing ──> broken
 *     URL known?  ── no ──> content known ──> duplicate, or else new
 *     content as the last one (exact), or as any earlier one ──> unchanged
 *     as an earlier one (exact) ──> reverted      else ──> updated
 *     with --confirm, the first sight of the last two ──> flapping
 *
 * A page that is broken changes nothing in the state, so that it is not
 * "updated" when the template was repaired; it is broken until then. 304 and
 * late records change nothing either.
 */
#include <math.h>
#include <string.h>

#include "../lib/text/little.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "question.h"
#include "words.h"

enum { /* kinds of keys in the filter of versions */
       KEY_VERSION = 11,
       KEY_PENDING = 12
};

/* All keys are hashes of 64 bits, so no rate below 1e-12 is claimed. */
static double rate(const struct change_question *q, enum change_filter which)
{
    return fmax(change_filters_rate(&q->s->filters, which), 1e-12);
}

static void answer_is(struct change_question *q, enum change_class class,
                      double wrong)
{
    q->answer.class = class;
    q->answer.wrong = q->s->options.exact && class != CHANGE_REVERTED ? 0
                                                                      : wrong;
}

/* Is the page empty, and was it never before? */
static enum seen_code has_emptied(struct change_question *q, bool *emptied)
{
    enum seen_code code = SEEN_OK;
    bool had = true;

    if (q->s->page->empty)
        code = change_filters_has(&q->s->filters, CHANGE_VERSIONS, q->version,
                                  &had, q->why);
    *emptied = !had;
    return code;
}

static enum seen_code find_broken(struct change_question *q, bool *broken)
{
    const struct change_page *page = q->s->page;
    struct change_state *s = q->s;
    size_t first = q->all->changes;
    enum seen_code code = SEEN_OK;

    *broken = false;
    for (size_t i = 0; code == SEEN_OK && i < page->fields; i++) {
        const struct change_page_field *f = &page->field[i];
        struct change_in_field *change;
        bool matched = false;

        if (f->matched)
            continue;
        if (s->options.exact)
            matched = change_exact_matched(&s->known.fields, f->name);
        else if (!s->options.no_words)
            code = change_words_matched(&s->filters, q->url, f, &matched,
                                        q->why);
        else /* only if all of them are gone, since (URL, nothing) is known
                or not */
            code = has_emptied(q, &matched);
        if (!matched)
            continue;
        *broken = true;
        change = change_answers_change(q->all);
        if (!change)
            return no_memory_for(q->why, "an answer");
        change->broken = true;
        change->field = f->name;
        change->exact = s->options.exact;
    }
    q->answer.first = first;
    q->answer.changes = q->all->changes - first;
    return code;
}

static enum seen_code find_structure(struct change_question *q)
{
    struct change_state *s = q->s;
    bool same = false;
    enum seen_code code = SEEN_OK;

    if (!q->r->has_skeleton || !q->known)
        return SEEN_OK;
    if (s->options.exact) {
        if (!s->known.has_skeleton)
            return SEEN_OK;
        same = s->known.skeleton == q->r->skeleton;
    } else {
        code = change_filters_has(&s->filters, CHANGE_TREES,
                                  change_mix(q->url, q->r->skeleton), &same,
                                  q->why);
    }
    q->answer.structure = same ? CHANGE_STRUCTURE_SAME
                               : CHANGE_STRUCTURE_CHANGED;
    return code;
}

/*
 * What a page is now, in the filters and in its row. To ask a filter for a key
 * and to add it takes twice as long as to add it and learn whether it was
 * there, so the URL was added when it was asked for, unless there are rows of
 * pages; is_new() adds the text of a new page, and find_version() most
 * versions.
 */
static enum seen_code remember(struct change_question *q)
{
    struct change_filters *f = &q->s->filters;
    const struct change_page *page = q->s->page;
    bool exact = q->s->options.exact;
    enum seen_code code = SEEN_OK;

    if (exact)
        code = change_filters_add_url(f, &q->r->key, NULL, q->why);
    if (code == SEEN_OK && !q->added)
        code = change_filters_add(f, CHANGE_VERSIONS, q->version, NULL,
                                  q->why);
    if (code == SEEN_OK && !page->empty && (exact || q->known))
        code = change_filters_add(f, CHANGE_TEXTS, page->content.lo, NULL,
                                  q->why);
    if (code == SEEN_OK && !q->s->options.no_words && !exact)
        code = change_words_remember(f, q->url, page, !q->known, q->why);
    return code;
}

static enum seen_code remember_tree(struct change_question *q)
{
    if (!q->r->has_skeleton ||
        (!q->s->options.exact && q->answer.structure == CHANGE_STRUCTURE_SAME))
        return SEEN_OK;
    return change_filters_add(&q->s->filters, CHANGE_TREES,
                              change_mix(q->url, q->r->skeleton), NULL,
                              q->why);
}

static enum seen_code is_new(struct change_question *q)
{
    struct change_state *s = q->s;
    bool copy = false;
    enum seen_code code = SEEN_OK;

    if (s->page->empty) {
        answer_is(q, CHANGE_NEW, 0);
    } else if (s->options.exact) {
        code = change_exact_same(&s->exact, &q->r->key, q->content, &s->other,
                                 q->why);
        copy = s->other.len;
        if (copy)
            q->answer.of = change_answers_keep(
                q->all, (struct seen_span){ s->other.bytes, s->other.len });
    } else {
        code = change_filters_add(&s->filters, CHANGE_TEXTS,
                                  s->page->content.lo, &copy, q->why);
    }
    if (code != SEEN_OK || s->other.failed || !q->answer.of.text)
        return code == SEEN_OK ? no_memory_for(q->why, "an answer") : code;
    answer_is(q, copy ? CHANGE_DUPLICATE : CHANGE_NEW,
              copy ? rate(q, CHANGE_TEXTS) : 0);
    return remember(q);
}

static enum seen_code has_changed(struct change_question *q, bool back)
{
    struct change_state *s = q->s;
    bool confirmed = !s->options.confirm;
    enum seen_code code = SEEN_OK;
    double wrong = rate(q, back ? CHANGE_VERSIONS : CHANGE_URLS);

    if (!confirmed && s->options.exact)
        confirmed = s->known.waits &&
                    !memcmp(s->known.pending, q->content, CHANGE_SUM);
    else if (!confirmed)
        code = change_filters_add(&s->filters, CHANGE_VERSIONS, q->pending,
                                  &confirmed, q->why);
    if (code != SEEN_OK)
        return code;
    if (!confirmed) {
        s->known.waits = true;
        memcpy(s->known.pending, q->content, CHANGE_SUM);
        answer_is(q, CHANGE_FLAPPING, wrong);
        return SEEN_OK;
    }
    if (s->options.confirm && !s->options.exact)
        wrong += rate(q, CHANGE_VERSIONS);
    answer_is(q, back ? CHANGE_REVERTED : CHANGE_UPDATED, wrong);
    if (!s->options.no_words)
        code = change_page_find(s->page, q->why);
    if (!s->options.no_words && code == SEEN_OK) {
        code = s->options.exact
                   ? change_exact_compare(&s->known.fields, s->page, q->all,
                                          q->why)
                   : change_words_compare(&s->filters, q->url, s->page, q->all,
                                          q->why);
        q->answer.first = q->all->answer[q->all->n - 1].first;
        q->answer.changes = q->all->answer[q->all->n - 1].changes;
    }
    return code == SEEN_OK ? remember(q) : code;
}

/* Had the URL this content before? If not, it has it now, unless a change must
   be confirmed. */
static enum seen_code find_version(struct change_question *q)
{
    const struct change_options *o = &q->s->options;

    q->added = !o->exact && !o->confirm;
    return q->added ? change_filters_add(&q->s->filters, CHANGE_VERSIONS,
                                         q->version, &q->had, q->why)
                    : change_filters_has(&q->s->filters, CHANGE_VERSIONS,
                                         q->version, &q->had, q->why);
}

static enum seen_code compare(struct change_question *q)
{
    struct change_state *s = q->s;
    bool same, back = false;
    enum seen_code code;

    if (!q->known)
        return is_new(q);
    code = find_version(q);
    if (code != SEEN_OK)
        return code;
    same = q->had;
    if (s->options.exact) {
        same = !s->known.gone &&
               !memcmp(s->known.content, q->content, CHANGE_SUM);
        back = q->had;
    }
    if (!same)
        return has_changed(q, back);
    s->known.waits = false;
    answer_is(q, CHANGE_UNCHANGED, rate(q, CHANGE_VERSIONS));
    return SEEN_OK;
}

/* 404 and 410: it is gone, if it was there. A URL that was never there is not
   "unchanged", which is what pages are: a link to it is dead. */
static enum seen_code is_gone(struct change_question *q)
{
    struct change_state *s = q->s;

    if (!q->known)
        answer_is(q, CHANGE_ABSENT, 0);
    else if (s->known.gone)
        answer_is(q, CHANGE_UNCHANGED, 0);
    else
        answer_is(q, CHANGE_REMOVED, rate(q, CHANGE_URLS));
    if (q->answer.class != CHANGE_UNCHANGED)
        q->answer.why = span_of(q->r->status == 404 ? "404" : "410");
    s->known.gone = true;
    return SEEN_OK;
}

static void new_row(struct change_question *q)
{
    struct change_known *known = &q->s->known;

    known->gone = false;
    known->waits = false;
    memcpy(known->content, q->content, CHANGE_SUM);
    known->has_skeleton = q->r->has_skeleton;
    known->skeleton = q->r->skeleton;
    change_exact_fields(&known->fields, q->s->page, q->s->options.no_words);
}

/* After the answer: the row of the URL. A page that is broken or flapping, and
   one that was only asked for, keeps what is known of it. */
static enum seen_code keep_row(struct change_question *q)
{
    struct change_state *s = q->s;

    if (!s->options.exact || q->answer.class == CHANGE_LATE ||
        q->answer.class == CHANGE_ABSENT)
        return SEEN_OK;
    if (q->r->fetched > s->known.fetched)
        s->known.fetched = q->r->fetched;
    switch (q->answer.class) {
    case CHANGE_NEW:
    case CHANGE_DUPLICATE:
    case CHANGE_UPDATED:
    case CHANGE_REVERTED: new_row(q); break;
    case CHANGE_UNCHANGED:
        if (!q->known)
            return SEEN_OK;
        if (q->r->has_skeleton) {
            s->known.has_skeleton = true;
            s->known.skeleton = q->r->skeleton;
        }
        break;
    default: break;
    }
    if (s->known.fields.failed)
        return no_memory_for(q->why, "an answer");
    return change_exact_keep(&s->exact, q->r, &s->known, q->why);
}

uint64_t change_version_of(uint64_t url, const struct change_page *page)
{
    return change_mix(change_mix(url, KEY_VERSION),
                      change_mix(page->content.lo, page->content.hi));
}

static void take_page(struct change_question *q)
{
    const struct change_page *page = q->s->page;

    little_put_64(q->content, page->content.lo);
    little_put_64(q->content + 8, page->content.hi);
    q->version = change_version_of(q->url, page);
    q->pending = change_mix(q->version, KEY_PENDING);
}

/* `page`: the record is of a page that is there, so that its URL is known from
   now on. */
static enum seen_code find_known(struct change_question *q, bool page)
{
    struct change_state *s = q->s;
    enum seen_code code;

    if (!s->options.exact && page)
        return change_filters_add_url(&s->filters, &q->r->key, &q->known,
                                      q->why);
    if (!s->options.exact)
        return change_filters_has_url(&s->filters, &q->r->key, &q->known,
                                      q->why);
    code = change_exact_find(&s->exact, &q->r->key, &s->known, q->why);
    q->known = s->known.found;
    return code;
}

static enum seen_code judge(struct change_question *q)
{
    struct change_state *s = q->s;
    bool gone = q->r->status == 404 || q->r->status == 410, broken = false;
    enum seen_code code;

    q->url = change_mix(q->r->key.lo, q->r->key.hi);
    s->known.gone = false;
    code = find_known(q, !gone && q->r->status != 304);
    if (code != SEEN_OK)
        return code;
    if (q->known && s->options.exact && q->r->fetched &&
        q->r->fetched < s->known.fetched) {
        answer_is(q, CHANGE_LATE, 0);
        return SEEN_OK;
    }
    if (gone)
        return is_gone(q);
    if (q->r->status == 304) {
        answer_is(q, CHANGE_UNCHANGED, 0);
        return SEEN_OK;
    }
    take_page(q);
    code = find_structure(q);
    if (code == SEEN_OK && q->known)
        code = find_broken(q, &broken);
    if (code != SEEN_OK)
        return code;
    if (broken) {
        answer_is(q, CHANGE_BROKEN,
                  rate(q, s->options.no_words ? CHANGE_URLS : CHANGE_WORDS));
        return SEEN_OK;
    }
    code = compare(q);
    return code == SEEN_OK ? remember_tree(q) : code;
}

enum seen_code change_judge(struct change_question *q)
{
    enum seen_code code = judge(q);

    return code == SEEN_OK ? keep_row(q) : code;
}

enum seen_code change_judge_fill(struct change_question *q)
{
    enum seen_code code;

    q->url = change_mix(q->r->key.lo, q->r->key.hi);
    code = find_known(q, true);
    if (code != SEEN_OK)
        return code;
    take_page(q);
    code = change_filters_add(&q->s->filters, CHANGE_TEXTS,
                              q->s->page->content.lo, NULL, q->why);
    if (code == SEEN_OK)
        code = remember(q);
    return code == SEEN_OK ? remember_tree(q) : code;
}
