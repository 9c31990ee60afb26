/*
 * rules.c - rules by template, type and field; patterns to ignore.
 *
 * A rule is found by one name, "template 0 type 0 field" in a hash map, and
 * precedence is the order of questions: at most six per field, none if there
 * are no rules. Names have no zero inside, so no two triples share one.
 *
 * Patterns come from users and texts from strangers, so both the time and the
 * memory of matching are bounded (budget.h):
 *
 *     time     each value and each pattern has its share of the record's
 *              steps, by length alone: the same text always loses the same
 *              matches, or its fingerprint would change
 *     window   a pattern sees 16 KiB at a time, cut at white space
 *     memory   patterns share 32 MiB of machine states per thread
 *
 * A pattern that exceeds its share ignores nothing in that value: a change
 * too many is reported rather than one too few.
 */
#include "rules.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/map.h"
#include "../lib/text/pattern.h"
#include "../lib/text/span.h"

enum {
    WINDOW = 16384,    /* bytes that a pattern sees */
    STEPS = 200000000, /* that all patterns may take for a record */
    LEAST = 64,        /* that a pattern has per byte in any case */
    MEMORY = 32 << 20, /* bytes that all patterns may keep, per thread */
    KEPT = 256 << 10   /* bytes that one of them may keep */
};

struct change_rule {
    struct change_rule *next; /* in the list of all */
    struct buffer name; /* template, type and field, with zeros between */
    bool compared;
    struct pattern **pattern;
    size_t n, room;
};

struct change_rules {
    struct map by_name;
    struct change_rule *all;
    size_t patterns; /* of all rules */
    size_t limited;  /* how many there were when memory was last shared out */
};

struct change_rules *change_rules_new(void)
{
    return calloc(1, sizeof(struct change_rules));
}

static void free_rule(struct change_rule *rule)
{
    for (size_t i = 0; i < rule->n; i++)
        pattern_free(rule->pattern[i]);
    free(rule->pattern);
    buffer_clear(&rule->name);
    free(rule);
}

void change_rules_free(struct change_rules *r)
{
    if (!r)
        return;
    while (r->all) {
        struct change_rule *rule = r->all;

        r->all = rule->next;
        free_rule(rule);
    }
    map_clear(&r->by_name);
    free(r);
}

static enum seen_code add_pattern(struct change_rule *rule, const char *text,
                                  struct seen_error *why)
{
    struct pattern **more = array_grow(rule->pattern, &rule->room, rule->n + 1,
                                       sizeof *more);
    struct seen_error wrong;
    enum seen_code code;

    if (!more)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a pattern");
    rule->pattern = more;
    code = pattern_new(&more[rule->n], text, false, &wrong);
    if (code != SEEN_OK)
        return seen_fail(why, code, 0, "%.60s: %.100s", text, wrong.text);
    rule->n++;
    return SEEN_OK;
}

/* All patterns share their memory. Whenever they are twice as many, each gets
   half of what it had. */
static void limit_memory(struct change_rules *r)
{
    size_t each = MEMORY / (2 * r->patterns + 1);

    if (r->patterns < 2 * r->limited)
        return;
    for (struct change_rule *rule = r->all; rule; rule = rule->next)
        for (size_t i = 0; i < rule->n; i++)
            pattern_limit(rule->pattern[i], each < KEPT ? each : KEPT);
    r->limited = r->patterns;
}

enum seen_code change_rules_add(struct change_rules *r, const char *template,
                                const char *type, const char *field,
                                bool compared, const char *const *ignore,
                                struct seen_error *why)
{
    struct change_rule *rule = calloc(1, sizeof *rule);
    enum seen_code code = SEEN_OK;

    if (!rule)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a rule");
    rule->compared = compared;
    buffer_bytes(&rule->name, template, strlen(template) + 1);
    buffer_bytes(&rule->name, type, strlen(type) + 1);
    buffer_text(&rule->name, field);
    for (; code == SEEN_OK && ignore && *ignore; ignore++)
        code = add_pattern(rule, *ignore, why);
    if (code == SEEN_OK &&
        (rule->name.failed ||
         !map_set(&r->by_name, rule->name.bytes, rule->name.len, rule)))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a rule");
    if (code != SEEN_OK) {
        free_rule(rule);
        return code;
    }
    rule->next = r->all;
    r->all = rule;
    r->patterns += rule->n;
    limit_memory(r);
    return SEEN_OK;
}

static const struct change_rule *find(const struct change_rules *r,
                                      struct seen_span template,
                                      struct seen_span type,
                                      struct seen_span field)
{
    char name[3 * CHANGE_NAME_MOST + 2], *to = name;
    const struct seen_span part[] = { template, type, field };

    for (size_t i = 0; i < 3; i++) {
        if (i)
            *to++ = '\0';
        if (part[i].len > CHANGE_NAME_MOST)
            return NULL;
        if (part[i].len)
            memcpy(to, part[i].text, part[i].len);
        to += part[i].len;
    }
    return map_get(&r->by_name, name, (size_t)(to - name));
}

const struct change_rule *change_rules_find(const struct change_rules *r,
                                            const struct change_record *record,
                                            struct seen_span field)
{
    const struct seen_span none = { "", 0 };
    const struct seen_span name[] = { field, none };
    const struct change_rule *rule = NULL;

    if (!r || !r->all)
        return NULL;
    for (size_t i = 0; i < 2 && !rule; i++) {
        rule = find(r, record->template, record->type, name[i]);
        if (!rule)
            rule = find(r, record->template, none, name[i]);
        if (!rule)
            rule = find(r, none, none, name[i]);
    }
    return rule;
}

bool change_rule_compared(const struct change_rule *rule)
{
    return !rule || rule->compared;
}

bool change_rule_ignores(const struct change_rule *rule)
{
    return rule && rule->n;
}

/* --- patterns --- */

uint64_t change_rules_share(const struct change_record *record)
{
    return STEPS / (record->text + 1);
}

/* Replace every match in a window by a space. */
static enum seen_code strip_window(const struct pattern *pattern,
                                   struct seen_span text, unsigned flags,
                                   struct budget *budget, struct buffer *to)
{
    enum seen_code code = SEEN_OK;
    struct pattern_search search;
    struct pattern_match m;
    size_t at = 0;
    bool any;

    pattern_search_init(&search, pattern, text, flags | PATTERN_NO_GROUP,
                        budget);
    while (at < text.len) {
        code = pattern_search_next(&search, at, &m, &any);
        if (code != SEEN_OK || !any)
            break;
        buffer_bytes(to, text.text + at, m.begin - at);
        at = m.end;
        if (m.end > m.begin)
            buffer_byte(to, ' ');
        else if (at < text.len) /* an empty match must not repeat */
            buffer_byte(to, text.text[at++]);
    }
    pattern_search_clear(&search);
    buffer_bytes(to, text.text + at, text.len - at);
    return code;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* How long the window is that begins here: it ends after white space, if
   there is any in its second half. */
static size_t window(struct seen_span text)
{
    size_t n = WINDOW;

    if (text.len <= WINDOW)
        return text.len;
    while (n > WINDOW / 2 && !is_space(text.text[n - 1]))
        n--;
    if (n == WINDOW / 2)
        for (n = WINDOW; n > WINDOW - 4 && (text.text[n] & 0xc0) == 0x80;)
            n--; /* no half characters */
    return n;
}

static enum seen_code strip_one(const struct pattern *pattern,
                                struct seen_span text, struct budget *budget,
                                struct buffer *to)
{
    enum seen_code code = SEEN_OK;
    unsigned flags = 0;

    while (code == SEEN_OK && text.len) {
        const struct seen_span part = { text.text, window(text) };

        text.text += part.len;
        text.len -= part.len;
        code = strip_window(pattern, part,
                            flags | (text.len ? PATTERN_NO_END : 0), budget,
                            to);
        flags = PATTERN_NO_BEGIN;
    }
    return code;
}

/* A zero counts as a space, since no pattern can name it. */
static void take_text(struct buffer *to, struct seen_span text)
{
    buffer_span(to, text);
    for (size_t i = 0; !to->failed && i < to->len; i++)
        if (!to->bytes[i])
            to->bytes[i] = ' ';
}

void change_rule_strip(const struct change_rule *rule, struct seen_span text,
                       uint64_t share, struct buffer *to, const char **costly)
{
    const uint64_t each = rule->n ? share / rule->n : 0;
    const uint64_t steps = (each > LEAST ? each : LEAST) * (text.len + 1);
    struct buffer now = { .bytes = NULL }, next = { .bytes = NULL };

    *costly = NULL;
    take_text(&now, text);
    for (size_t i = 0; i < rule->n; i++) {
        struct budget budget = { .left = steps };
        struct buffer old = now;
        enum seen_code code;

        next.len = 0;
        code = strip_one(rule->pattern[i],
                         (struct seen_span){ now.bytes, now.len }, &budget,
                         &next);
        now.failed |= next.failed || code == SEEN_NOMEM;
        if (code == SEEN_RANGE && !*costly)
            *costly = pattern_text(rule->pattern[i]);
        if (code != SEEN_OK || now.failed)
            continue;
        now = next;
        next = old;
    }
    buffer_append(to, &now);
    buffer_clear(&now);
    buffer_clear(&next);
}
