/*
 * page.c - fold the fields of a record and make their fingerprints.
 *
 *     content = hash of, per field:  hash of the name | 128-bit hash of the
 *               folded words, a space after each and a line feed after each
 *               value
 *
 * Lengths need not be in it: no word has a space, and no value a line feed,
 * after they were cut. Fields come in the order of their names (record.h), so
 * a template that lists them in another order changes nothing.
 *
 * Why are texts read twice, once for hashes and again for places? Most pages
 * did not change, and places are 32 bytes per word. The second reading cuts
 * the same words, as the patterns' budget depends on the record alone.
 */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/little.h"
#include "../lib/text/memory.h"

static uint64_t hash_of(struct seen_span text)
{
    struct seen_key key;

    seen_key_hash(&key, text.text, text.len);
    return key.lo;
}

/* The words of a value, folded: their hashes, and all of them as a line. */
static bool read_value(struct change_page *p, struct change_page_field *f,
                       struct seen_span text, const struct change_rule *rule)
{
    struct change_page_value *value = array_grow(p->value, &p->values_room,
                                                 p->values + 1, sizeof *value);
    uint32_t *word;

    if (value)
        p->value = value;
    change_words_read(&p->cut, text, rule, change_rules_share(p->record));
    if (p->cut.costly && !p->pattern) {
        p->costly = f->name;
        p->pattern = p->cut.costly;
    }
    word = array_grow(p->word, &p->words_room, p->words + p->cut.n + 1,
                      sizeof *word);
    if (word)
        p->word = word;
    if (!value || !word || p->cut.failed)
        return false;
    value[p->values++] = (struct change_page_value){ p->words, p->cut.n };
    for (size_t i = 0; i < p->cut.n; i++)
        word[p->words++] = (uint32_t)hash_of(p->cut.word[i]);
    buffer_bytes(&p->folded, p->cut.folded.bytes, p->cut.folded.len);
    buffer_byte(&p->folded, '\n');
    f->words += p->cut.n;
    return true;
}

static bool has_text(struct seen_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.text[i] != ' ' && text.text[i] != '\n' &&
            text.text[i] != '\t' && text.text[i] != '\r')
            return true;
    return false;
}

static enum seen_code read_field(struct change_page *p, size_t number,
                                 struct seen_error *why)
{
    const struct change_record *r = p->record;
    const struct change_field *from = &r->field[number];
    const struct change_rule *rule = change_rules_find(p->rules, r,
                                                       from->name);
    struct change_page_field *f;
    struct seen_key sum;
    char bytes[24];

    if (!change_rule_compared(rule))
        return SEEN_OK;
    f = array_grow(p->field, &p->fields_room, p->fields + 1, sizeof *f);
    if (!f)
        return no_memory_for(why, "a page");
    p->field = f;
    f += p->fields++;
    *f = (struct change_page_field){ .name = from->name,
                                     .from = number,
                                     .hash = hash_of(from->name),
                                     .value = p->values,
                                     .values = from->n,
                                     .first = p->words };
    p->folded.len = 0;
    for (size_t i = 0; i < from->n; i++) {
        f->matched |= has_text(r->value[from->first + i]);
        if (!read_value(p, f, r->value[from->first + i], rule))
            return no_memory_for(why, "a page");
    }
    seen_key_hash(&sum, p->folded.bytes ? p->folded.bytes : "", p->folded.len);
    little_put_64(bytes, f->hash);
    little_put_64(bytes + 8, sum.lo);
    little_put_64(bytes + 16, sum.hi);
    buffer_bytes(&p->names, bytes, sizeof bytes);
    return p->folded.failed || p->names.failed ? no_memory_for(why, "a page")
                                               : SEEN_OK;
}

enum seen_code change_page_read(struct change_page *p,
                                const struct change_record *r,
                                const struct change_rules *rules,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    p->record = r;
    p->rules = rules;
    p->pattern = NULL;
    p->fields = p->values = p->words = p->places = 0;
    p->names.len = p->folded.len = 0;
    for (size_t i = 0; code == SEEN_OK && i < r->fields; i++)
        code = read_field(p, i, why);
    if (code != SEEN_OK)
        return code;
    seen_key_hash(&p->content, p->names.bytes ? p->names.bytes : "",
                  p->names.len);
    p->content.text = NULL;
    p->content.len = 0;
    p->empty = !p->words;
    return SEEN_OK;
}

/* --- places --- */

/* Words of a text that a rule has changed are in memory that the next value
   uses: keep a copy of them. */
static bool keep_shown(struct change_page *p)
{
    const char *from = p->cut.stripped.bytes;
    size_t at = p->folded.len;

    buffer_bytes(&p->folded, from, p->cut.stripped.len);
    if (p->folded.failed)
        return false;
    for (size_t i = 0; i < p->cut.n; i++)
        p->cut.shown[i].text = p->folded.bytes + at +
                               (p->cut.shown[i].text - from);
    return true;
}

static enum seen_code find_in_field(struct change_page *p,
                                    const struct change_page_field *f,
                                    struct seen_error *why)
{
    const struct change_field *from = &p->record->field[f->from];
    const struct change_rule *rule = change_rules_find(p->rules, p->record,
                                                       f->name);

    for (size_t i = 0; i < from->n; i++) {
        change_words_read(&p->cut, p->record->value[from->first + i], rule,
                          change_rules_share(p->record));
        if (p->cut.failed || (change_rule_ignores(rule) && !keep_shown(p)))
            return no_memory_for(why, "a page");
        for (size_t k = 0; k < p->cut.n; k++)
            p->place[p->places++] = (struct change_place){ i, k,
                                                           p->cut.shown[k] };
    }
    return SEEN_OK;
}

/* How many bytes of stripped text there can be at most. */
static size_t all_bytes(const struct change_record *r)
{
    size_t sum = 0;

    for (size_t i = 0; i < r->values; i++)
        sum += r->value[i].len;
    return sum;
}

enum seen_code change_page_find(struct change_page *p, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct change_place *place;

    place = array_grow(p->place, &p->places_room, p->words + 1, sizeof *place);
    if (place)
        p->place = place;
    p->places = p->folded.len = 0;
    /* All at once: what is kept in it must not move. */
    if (!place || !buffer_room(&p->folded, all_bytes(p->record) + 1))
        return no_memory_for(why, "a page");
    for (size_t i = 0; code == SEEN_OK && i < p->fields; i++)
        code = find_in_field(p, &p->field[i], why);
    return code;
}

void change_page_pass(struct change_page *from, struct change_page *to)
{
    const struct change_words cut = to->cut;
    const struct buffer folded = to->folded, names = to->names;

    to->cut = from->cut;
    to->folded = from->folded;
    to->names = from->names;
    from->cut = cut;
    from->folded = folded;
    from->names = names;
}

void change_page_clear(struct change_page *p)
{
    free(p->field);
    free(p->value);
    free(p->place);
    free(p->word);
    change_words_clear(&p->cut);
    buffer_clear(&p->folded);
    buffer_clear(&p->names);
    *p = (struct change_page){ .field = NULL };
}
