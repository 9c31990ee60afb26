/* page.c - fold the fields of a record and make their fingerprints. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/little.h"

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a page");
}

static uint64_t hash_of(struct seen_span text)
{
    struct seen_key key;

    seen_key_hash(&key, text.text, text.len);
    return key.lo;
}

/* Append the folded words of a value, and a line end. Without rules that
   ignore something the shown words are views of the record. */
static bool fold_value(struct change_page *p, struct change_page_field *f,
                       struct seen_span text, const struct change_rule *rule)
{
    change_words_read(&p->cut, text, rule);
    if (p->cut.failed)
        return false;
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

static enum seen_code read_field(struct change_page *p,
                                 const struct change_field *from,
                                 struct seen_error *why)
{
    const struct change_record *r = p->record;
    const struct change_rule *rule = change_rules_find(p->rules, r,
                                                       from->name);
    struct change_page_field *f;
    struct seen_key sum;
    char bytes[24];

    if (!change_rule_compared(rule))
        return SEEN_OK;
    f = array_grow(p->field, &p->fields_room, p->fields + 1, sizeof *f);
    if (!f)
        return no_memory(why);
    p->field = f;
    f += p->fields++;
    *f = (struct change_page_field){ .name = from->name,
                                     .hash = hash_of(from->name) };
    p->folded.len = 0;
    for (size_t i = 0; i < from->n; i++) {
        f->matched |= has_text(r->value[from->first + i]);
        if (!fold_value(p, f, r->value[from->first + i], rule))
            return no_memory(why);
    }
    p->words += f->words;
    seen_key_hash(&sum, p->folded.bytes ? p->folded.bytes : "", p->folded.len);
    little_put_64(bytes, f->hash);
    little_put_64(bytes + 8, sum.lo);
    little_put_64(bytes + 16, sum.hi);
    buffer_bytes(&p->names, bytes, sizeof bytes);
    return p->folded.failed || p->names.failed ? no_memory(why) : SEEN_OK;
}

enum seen_code change_page_read(struct change_page *p,
                                const struct change_record *r,
                                const struct change_rules *rules,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    p->record = r;
    p->rules = rules;
    p->fields = p->values = p->words = 0;
    p->names.len = p->folded.len = 0;
    p->hashed = false;
    for (size_t i = 0; code == SEEN_OK && i < r->fields; i++)
        code = read_field(p, &r->field[i], why);
    if (code != SEEN_OK)
        return code;
    seen_key_hash(&p->content, p->names.bytes ? p->names.bytes : "",
                  p->names.len);
    p->content.text = NULL;
    p->content.len = 0;
    p->empty = !p->words;
    return SEEN_OK;
}

/* --- words --- */

static enum seen_code add_value(struct change_page *p, size_t number,
                                struct seen_error *why)
{
    struct change_page_value *value = array_grow(p->value, &p->values_room,
                                                 p->values + 1, sizeof *value);

    if (!value)
        return no_memory(why);
    p->value = value;
    value[p->values++] = (struct change_page_value){ p->words, p->cut.n };
    for (size_t i = 0; i < p->cut.n; i++) {
        p->word[p->words] = hash_of(p->cut.word[i]);
        p->place[p->words++] = (struct change_place){ number, i,
                                                      p->cut.shown[i] };
    }
    return SEEN_OK;
}

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

static enum seen_code hash_field(struct change_page *p,
                                 struct change_page_field *f,
                                 const struct change_field *from,
                                 struct seen_error *why)
{
    const struct change_rule *rule = change_rules_find(p->rules, p->record,
                                                       f->name);
    enum seen_code code = SEEN_OK;

    f->value = p->values;
    f->values = from->n;
    f->first = p->words;
    for (size_t i = 0; code == SEEN_OK && i < from->n; i++) {
        change_words_read(&p->cut, p->record->value[from->first + i], rule);
        if (p->cut.failed || (change_rule_ignores(rule) && !keep_shown(p)))
            return no_memory(why);
        code = add_value(p, i, why);
    }
    return code;
}

/* How many bytes of stripped text there can be at most. */
static size_t all_bytes(const struct change_record *r)
{
    size_t sum = 0;

    for (size_t i = 0; i < r->values; i++)
        sum += r->value[i].len;
    return sum;
}

enum seen_code change_page_hash(struct change_page *p, struct seen_error *why)
{
    const struct change_record *r = p->record;
    enum seen_code code = SEEN_OK;
    struct change_place *place;
    uint64_t *word;
    size_t k = 0;

    if (p->hashed)
        return SEEN_OK;
    place = array_grow(p->place, &p->places_room, p->words + 1, sizeof *place);
    if (place)
        p->place = place;
    word = array_grow(p->word, &p->words_room, p->words + 1, sizeof *word);
    if (word)
        p->word = word;
    p->folded.len = 0;
    /* All at once: what is kept in it must not move. */
    if (!place || !word || !buffer_room(&p->folded, all_bytes(r) + 1))
        return no_memory(why);
    p->words = 0;
    for (size_t i = 0; code == SEEN_OK && i < r->fields; i++)
        if (k < p->fields && p->field[k].name.text == r->field[i].name.text)
            code = hash_field(p, &p->field[k++], &r->field[i], why);
    p->hashed = code == SEEN_OK;
    return code;
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
