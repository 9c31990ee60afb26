/*
 * words.c - shingles: compare and remember.
 *
 * words.h says why three words in a row. Here a value is a row of answers of
 * the filter, and its maximal runs of new shingles are what changed:
 *
 *     shingle   old  old  NEW  NEW  NEW  NEW  old  NEW  old
 *                         └─ 4: 2 new words ┘      └─ 1: a seam
 *
 * All keys are numbers mixed from (URL, field, kind); kinds keep a shingle, a
 * count and the note "this field had a value" apart in the filters.
 *
 * Comparing costs a question per shingle, in one batch per value, and then
 * questions for the number of words before: 2, 4, 8, ... counts at a time from
 * the least that fits, at most 2 words + 1024 and never more than 8,192. Mostly
 * the first two hold the right one.
 */
#include "words.h"

#include <math.h>
#include <stdlib.h>

#include "../lib/text/memory.h"
#include "shingle.h"

enum {
    COUNTS = 256,       /* lengths that are tried at a time */
    COUNTS_MOST = 8192, /* lengths that are tried in all */
    KEY_MATCHED = 1,    /* kinds of keys */
    KEY_COUNT = 2,
    KEY_SHINGLE = 3
};

static uint64_t field_key(uint64_t url, const struct change_page_field *field,
                          int kind)
{
    return change_mix(change_mix(url, field->hash), (uint64_t)kind);
}

uint64_t change_words_count_key(uint64_t url,
                                const struct change_page_field *field)
{
    return change_mix(field_key(url, field, KEY_COUNT), field->words);
}

enum seen_code change_words_matched(struct change_filters *f, uint64_t url,
                                    const struct change_page_field *field,
                                    bool *matched, struct seen_error *why)
{
    return change_filters_has(
        f, CHANGE_WORDS, field_key(url, field, KEY_MATCHED), matched, why);
}

/* --- compare --- */

struct comparison {
    struct change_filters *filters;
    const struct change_page *page;
    struct change_answers *answers;
    uint64_t url;
    uint64_t *key;
    bool *old;
    size_t added, seams;
};

enum seen_code change_words_part(struct change_answers *answers,
                                 const struct change_page *page, size_t first,
                                 size_t n, struct seen_error *why)
{
    struct change_part *part = change_answers_part(answers);
    struct buffer text = { .bytes = NULL };

    if (!part)
        return no_memory_for(why, "words");
    part->value = page->place[first].value;
    part->at = page->place[first].at;
    part->words = n;
    for (size_t i = 0; i < n; i++) {
        if (i)
            buffer_byte(&text, ' ');
        buffer_span(&text, page->place[first + i].shown);
    }
    part->text = change_answers_keep(
        answers, (struct seen_span){ text.bytes, text.len });
    if (text.failed)
        part->text.text = NULL;
    buffer_clear(&text);
    return part->text.text ? SEEN_OK : no_memory_for(why, "words");
}

static enum seen_code add_seam(struct comparison *c, size_t value, size_t at,
                               struct seen_error *why)
{
    struct change_part *part = change_answers_part(c->answers);

    if (!part)
        return no_memory_for(why, "words");
    part->value = value;
    part->at = at;
    c->seams++;
    return SEEN_OK;
}

/* A run of new shingles, from a to before b: three or more have new words, the
   words a to b - 3. */
static enum seen_code add_run(struct comparison *c, size_t value, size_t first,
                              size_t a, size_t b, struct seen_error *why)
{
    if (b - a < 3)
        return add_seam(c, value, a, why);
    c->added += b - a - 2;
    return change_words_part(c->answers, c->page, first + a, b - a - 2, why);
}

static enum seen_code compare_value(struct comparison *c, uint64_t base,
                                    size_t number,
                                    const struct change_page_value *v,
                                    struct seen_error *why)
{
    enum seen_code code;
    size_t n = v->n + 2;

    if (!v->n)
        return SEEN_OK;
    for (size_t i = 0; i < n; i++)
        c->key[i] = change_shingle_at(base, c->page->word + v->first, v->n, i);
    code = change_filters_has_all(c->filters, CHANGE_WORDS, c->key, n, c->old,
                                  why);
    for (size_t a = 0, b; code == SEEN_OK && a < n; a = b) {
        for (b = a + 1; b < n && c->old[b] == c->old[a];)
            b++;
        if (!c->old[a])
            code = add_run(c, number, v->first, a, b, why);
    }
    return code;
}

/*
 * How many words the field had: the least count, from `least` on, that is a
 * key. 0 if none is found among those that are plausible.
 */
static enum seen_code find_count(struct comparison *c,
                                 const struct change_page_field *field,
                                 size_t least, size_t *before,
                                 struct seen_error *why)
{
    uint64_t base = field_key(c->url, field, KEY_COUNT), key[COUNTS];
    size_t most = 2 * field->words + 1024;
    bool has[COUNTS];

    *before = 0;
    if (most > COUNTS_MOST)
        most = COUNTS_MOST;
    /* Mostly one of the first is right: ask for 2, then 4, and so on. */
    for (size_t at = least, n = 2; at < least + most;) {
        enum seen_code code;

        for (size_t i = 0; i < n; i++)
            key[i] = change_mix(base, at + i);
        code = change_filters_has_all(c->filters, CHANGE_VERSIONS, key, n, has,
                                      why);
        if (code != SEEN_OK)
            return code;
        for (size_t i = 0; i < n; i++)
            if (has[i]) {
                *before = at + i;
                return SEEN_OK;
            }
        at += n;
        if (n < COUNTS)
            n *= 2;
    }
    return SEEN_OK;
}

static enum seen_code compare_field(struct comparison *c,
                                    const struct change_page_field *field,
                                    struct seen_error *why)
{
    uint64_t base = field_key(c->url, field, KEY_SHINGLE);
    size_t first = c->answers->parts, before, least;
    double rate = fmax(change_filters_rate(c->filters, CHANGE_WORDS), 1e-12);
    struct change_in_field *change;
    enum seen_code code = SEEN_OK;

    c->added = c->seams = 0;
    for (size_t i = 0; code == SEEN_OK && i < field->values; i++)
        code = compare_value(c, base, i, &c->page->value[field->value + i],
                             why);
    if (code != SEEN_OK)
        return code;
    least = field->words - c->added + c->seams;
    code = find_count(c, field, least, &before, why);
    if (code != SEEN_OK)
        return code;
    /* Neither a new shingle nor another number of words: it is the same. */
    if (first == c->answers->parts && before == field->words)
        return SEEN_OK;
    if (!before)
        before = least;
    change = change_answers_change(c->answers);
    if (!change)
        return no_memory_for(why, "words");
    change->field = change_answers_keep(c->answers, field->name);
    change->words = field->words;
    change->added = c->added;
    change->removed = before + c->added - field->words;
    if (before + field->words)
        change->distance = (double)(change->added + change->removed) /
                           (double)(before + field->words);
    change->large = change->distance >= CHANGE_LARGE;
    change->wrong = -expm1(3 * log1p(-rate));
    change->first = first;
    change->parts = c->answers->parts - first;
    return change->field.text ? SEEN_OK : no_memory_for(why, "words");
}

static size_t longest(const struct change_page *page)
{
    size_t most = 0;

    for (size_t i = 0; i < page->values; i++)
        if (page->value[i].n > most)
            most = page->value[i].n;
    return most;
}

enum seen_code change_words_compare(struct change_filters *f, uint64_t url,
                                    const struct change_page *page,
                                    struct change_answers *answers,
                                    struct seen_error *why)
{
    size_t room = longest(page) + 2, first = answers->changes;
    struct comparison c = { .filters = f,
                            .page = page,
                            .answers = answers,
                            .url = url,
                            .key = malloc(room * sizeof *c.key),
                            .old = malloc(room * sizeof *c.old) };
    enum seen_code code = c.key && c.old ? SEEN_OK
                                         : no_memory_for(why, "words");

    if (code == SEEN_OK)
        code = change_filters_settle(f, why); /* its rate is asked for, too */
    for (size_t i = 0; code == SEEN_OK && i < page->fields; i++)
        code = compare_field(&c, &page->field[i], why);
    answers->answer[answers->n - 1].first = first;
    answers->answer[answers->n - 1].changes = answers->changes - first;
    free(c.key);
    free(c.old);
    return code;
}

/* --- remember --- */

enum seen_code change_words_remember(struct change_filters *f, uint64_t url,
                                     const struct change_page *page, bool all,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && i < page->fields; i++) {
        const struct change_page_field *field = &page->field[i];
        uint64_t base = field_key(url, field, KEY_SHINGLE), key;

        if (!field->matched)
            continue;
        key = field_key(url, field, KEY_MATCHED);
        if (all)
            change_filters_key_later(f, key);
        else
            code = change_filters_add(f, CHANGE_WORDS, key, NULL, why);
        if (code == SEEN_OK)
            code = change_filters_add(f, CHANGE_VERSIONS,
                                      change_words_count_key(url, field), NULL,
                                      why);
        for (size_t k = 0; code == SEEN_OK && k < field->values; k++) {
            const struct change_page_value *v = &page->value[field->value + k];

            if (all)
                change_filters_run_later(f, base, page->word + v->first, v->n);
            else
                code = change_filters_add_run(f, base, page->word + v->first,
                                              v->n, why);
        }
    }
    return code;
}
