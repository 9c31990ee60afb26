/* rules.c - rules by template, type and field; patterns to ignore. */
#include "rules.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/map.h"
#include "../lib/text/span.h"

enum { WINDOW = 16384 }; /* bytes that a pattern sees */

struct change_rule {
    struct change_rule *next; /* in the list of all */
    struct buffer name; /* template, type and field, with zeros between */
    bool compared;
    regex_t *pattern;
    size_t n;
};

struct change_rules {
    struct map by_name;
    struct change_rule *all;
};

struct change_rules *change_rules_new(void)
{
    return calloc(1, sizeof(struct change_rules));
}

static void free_rule(struct change_rule *rule)
{
    for (size_t i = 0; i < rule->n; i++)
        regfree(&rule->pattern[i]);
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
    regex_t *more = realloc(rule->pattern, (rule->n + 1) * sizeof *more);
    char wrong[80];
    int code;

    if (!more)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a pattern");
    rule->pattern = more;
    code = regcomp(&more[rule->n], text, REG_EXTENDED);
    if (code) {
        regerror(code, &more[rule->n], wrong, sizeof wrong);
        return seen_fail(why, SEEN_RANGE, 0, "%.60s: %.80s", text, wrong);
    }
    rule->n++;
    return SEEN_OK;
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

/* Replace every match in a window, which ends with a zero. */
static void strip_window(const regex_t *pattern, const char *text, size_t len,
                         int flags, struct buffer *to)
{
    const char *end = text + len;
    regmatch_t match;

    while (text < end && !regexec(pattern, text, 1, &match, flags)) {
        size_t begin = (size_t)match.rm_so;
        size_t n = (size_t)(match.rm_eo - match.rm_so);

        buffer_bytes(to, text, begin);
        text += begin;
        if (n) {
            buffer_byte(to, ' ');
            text += n;
        } else if (text < end) { /* an empty match must not repeat */
            buffer_byte(to, *text++);
        }
        flags |= REG_NOTBOL;
    }
    buffer_bytes(to, text, (size_t)(end - text));
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Where the window ends that begins here: behind white space, if there is
   any in its second half. */
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

static void strip_one(const regex_t *pattern, struct seen_span text,
                      struct buffer *to)
{
    char room[WINDOW + 1];
    int flags = 0;

    while (text.len) {
        size_t n = window(text);

        memcpy(room, text.text, n);
        room[n] = '\0';
        for (size_t i = 0; i < n; i++)
            if (!room[i])
                room[i] = ' '; /* a zero would end the window */
        text.text += n;
        text.len -= n;
        strip_window(pattern, room, n, flags | (text.len ? REG_NOTEOL : 0),
                     to);
        flags = REG_NOTBOL;
    }
}

void change_rule_strip(const struct change_rule *rule, struct seen_span text,
                       struct buffer *to)
{
    struct buffer now = { .bytes = NULL }, next = { .bytes = NULL };

    buffer_span(&now, text);
    for (size_t i = 0; i < rule->n; i++) {
        struct buffer old = now;

        next.len = 0;
        strip_one(&rule->pattern[i], (struct seen_span){ now.bytes, now.len },
                  &next);
        next.failed |= now.failed;
        now = next;
        next = old;
    }
    buffer_append(to, &now);
    buffer_clear(&now);
    buffer_clear(&next);
}
