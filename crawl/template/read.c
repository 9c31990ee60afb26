/*
 * read.c - check a template and take it apart.
 *
 * Reading goes on after a mistake, so that all of them are reported at once.
 * Each kind of object has a table of its members; a member that is not in the
 * table is a mistake, since a misspelt "dney" would let a crawler loose.
 */
#include "inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/url.h>

#include "../../lib/text/array.h"
#include "../../lib/text/nearest.h"
#include "../../lib/text/span.h"

enum { MISTAKES = 100, MEMBERS = 16 };

struct template_reader {
    struct crawl_template *t;
    const struct crawl_source *source;
    crawl_mistake *mistake;
    void *owner;
    unsigned mistakes;
    bool memory; /* ran out */
    struct seen_error *why;
};

typedef void template_member(struct template_reader *r,
                             const struct crawl_place *at, json_t *value,
                             void *to);

struct template_entry {
    const char *name;
    template_member *read;
};

/* --- mistakes --- */

static void wrong(struct template_reader *r, const struct crawl_place *at,
                  const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static uint64_t line_of(const struct template_reader *r,
                        const struct crawl_place *at)
{
    const struct crawl_source *s = r->source;

    return s->xml ? crawl_place_xml_line(at, s->text, s->len)
                  : crawl_place_line(at, s->text, s->len);
}

static void wrong(struct template_reader *r, const struct crawl_place *at,
                  const char *format, ...)
{
    struct buffer b = { .bytes = NULL };
    char text[512], *whole;
    uint64_t line;
    va_list args;

    if (r->mistakes++ >= MISTAKES)
        return;
    line = line_of(r, at);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    crawl_place_name(&b, at);
    if (b.len)
        buffer_text(&b, ": ");
    buffer_text(&b, text);
    whole = buffer_take(&b);
    if (!whole) {
        r->memory = true;
        return;
    }
    if (r->mistakes == 1)
        seen_fail(r->why, SEEN_CORRUPT, line, "%s", whole);
    if (r->mistake)
        r->mistake(r->owner, line, whole);
    free(whole);
}

/* A failure of a part: memory, or something wrong with this value. */
static void failed(struct template_reader *r, const struct crawl_place *at,
                   const struct seen_error *why)
{
    if (why->code == SEEN_NOMEM)
        r->memory = true;
    else
        wrong(r, at, "%s", why->text);
}

/* --- values --- */

static struct crawl_place member(const struct crawl_place *up,
                                 const char *name)
{
    return (struct crawl_place){ .up = up, .name = name };
}

static const char *read_text(struct template_reader *r,
                             const struct crawl_place *at, json_t *value)
{
    if (!json_is_string(value)) {
        wrong(r, at, "expected a text");
        return NULL;
    }
    if (!*json_string_value(value)) {
        wrong(r, at, "the text is empty");
        return NULL;
    }
    return json_string_value(value);
}

static char *copy(struct template_reader *r, const char *text)
{
    char *to = strdup(text);

    r->memory |= !to;
    return to;
}

static void read_flag(struct template_reader *r, const struct crawl_place *at,
                      json_t *value, void *to)
{
    if (json_is_boolean(value))
        *(bool *)to = json_is_true(value);
    else
        wrong(r, at, "expected true or false");
}

static void read_count(struct template_reader *r, const struct crawl_place *at,
                       json_t *value, void *to)
{
    if (json_is_integer(value) && json_integer_value(value) >= 1)
        *(uint64_t *)to = (uint64_t)json_integer_value(value);
    else
        wrong(r, at, "expected a number of at least 1");
}

/* A number of seconds, or "500ms", "2s", "30m", "6h", "1d"; as milliseconds. */
static void read_time(struct template_reader *r, const struct crawl_place *at,
                      json_t *value, void *to)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = { { "ms", 1 },
                  { "s", 1000 },
                  { "m", 60000 },
                  { "h", 3600000 },
                  { "d", 86400000 } };
    const uint64_t most = UINT64_C(3660) * 86400000; /* ten years */
    uint64_t n = 0, ms = 0;

    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        n = (uint64_t)json_integer_value(value);
        ms = 1000;
    } else if (json_is_string(value)) {
        const char *text = json_string_value(value);
        size_t digits = strspn(text, "0123456789");

        for (size_t i = 0; i < digits && n <= most; i++)
            n = 10 * n + (uint64_t)(text[i] - '0');
        for (size_t i = 0; digits && i < 5; i++)
            if (!strcmp(text + digits, units[i].name))
                ms = units[i].ms;
    }
    if (!ms)
        wrong(r, at,
              "expected seconds, or a time as \"500ms\", \"30s\", "
              "\"15m\", \"6h\" or \"1d\"");
    else if (n > most / ms)
        wrong(r, at, "more than ten years");
    else
        *(uint64_t *)to = n * ms;
}

/* A text or a list of texts: take(text) for each. */
static void each_text(struct template_reader *r, const struct crawl_place *at,
                      json_t *value, void *to,
                      void (*take)(struct template_reader *r,
                                   const struct crawl_place *at,
                                   const char *text, void *to))
{
    const char *text;
    json_t *one;
    size_t i;

    if (!json_is_array(value)) {
        text = read_text(r, at, value);
        if (text)
            take(r, at, text, to);
        return;
    }
    if (!json_array_size(value))
        wrong(r, at, "the list is empty");
    json_array_foreach(value, i, one)
    {
        struct crawl_place here = { .up = at, .index = i };

        text = read_text(r, &here, one);
        if (text)
            take(r, &here, text, to);
    }
}

static void take_text(struct template_reader *r, const struct crawl_place *at,
                      const char *text, void *to)
{
    struct crawl_texts *list = to;
    char **more = array_grow(list->text, &list->room, list->n + 1,
                             sizeof *more);

    (void)at;
    if (!more) {
        r->memory = true;
        return;
    }
    list->text = more;
    more[list->n] = copy(r, text);
    list->n += more[list->n] != NULL;
}

static void take_pattern(struct template_reader *r,
                         const struct crawl_place *at, const char *text,
                         void *to)
{
    struct seen_error why;

    if (crawl_patterns_add(to, text, false, &why) != SEEN_OK)
        failed(r, at, &why);
}

static void read_patterns(struct template_reader *r,
                          const struct crawl_place *at, json_t *value,
                          void *to)
{
    each_text(r, at, value, to, take_pattern);
}

/* --- objects --- */

/* The members of an object, by a table of them. */
static void read_members(struct template_reader *r,
                         const struct crawl_place *at, json_t *object,
                         const struct template_entry *table, void *to)
{
    const char *name, *names[MEMBERS + 1];
    size_t n = 0;
    json_t *value;

    if (!json_is_object(object)) {
        wrong(r, at, "expected an object");
        return;
    }
    for (; table[n].name && n < MEMBERS; n++)
        names[n] = table[n].name;
    names[n] = NULL;
    json_object_foreach(object, name, value)
    {
        struct crawl_place here = member(at, name);
        const struct template_entry *e = table;

        while (e->name && strcmp(e->name, name))
            e++;
        if (e->read)
            e->read(r, &here, value, to);
        else if (e->name)
            continue; /* read elsewhere */
        else if (nearest(name, names))
            wrong(r, &here, "no such member; did you mean %s?",
                  nearest(name, names));
        else
            wrong(r, &here, "no such member");
    }
}

/* `css` or `xpath`, at most one of them. */
static struct web_selector *read_selector(struct template_reader *r,
                                          const struct crawl_place *at,
                                          json_t *object)
{
    json_t *css = json_object_get(object, "css");
    json_t *xpath = json_object_get(object, "xpath");
    struct crawl_place here = member(at, css ? "css" : "xpath");
    struct web_selector *s = NULL;
    struct seen_error why;
    const char *text;

    if (css && xpath) {
        here = member(at, "xpath");
        wrong(r, &here, "there is css already");
        return NULL;
    }
    if (!css && !xpath)
        return NULL;
    text = read_text(r, &here, css ? css : xpath);
    if (text && web_selector_new(&s, text, strlen(text), xpath != NULL,
                                 &why) != SEEN_OK)
        failed(r, &here, &why);
    return s;
}

/* --- fields --- */

#define FIELD(name) ((struct crawl_field *)to)->name

static void read_field_type(struct template_reader *r,
                            const struct crawl_place *at, json_t *value,
                            void *to)
{
    static const char *const names[] = {
        [CRAWL_TEXT] = "text", [CRAWL_NUMBER] = "number",
        [CRAWL_DATE] = "date", [CRAWL_URL] = "url",
        [CRAWL_HTML] = "html",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (json_is_string(value) &&
            !strcmp(json_string_value(value), names[i])) {
            FIELD(type) = (enum crawl_field_type)i;
            return;
        }
    wrong(r, at, "expected text, number, date, url or html");
}

static void read_regex(struct template_reader *r, const struct crawl_place *at,
                       json_t *value, void *to)
{
    const char *text = read_text(r, at, value);

    struct seen_error why;

    if (text && crawl_patterns_add(&FIELD(regex), text, true, &why) != SEEN_OK)
        failed(r, at, &why);
}

static void read_many(struct template_reader *r, const struct crawl_place *at,
                      json_t *value, void *to)
{
    read_flag(r, at, value, &FIELD(many));
}

static void read_required(struct template_reader *r,
                          const struct crawl_place *at, json_t *value,
                          void *to)
{
    read_flag(r, at, value, &FIELD(required));
}

static void read_ignore(struct template_reader *r,
                        const struct crawl_place *at, json_t *value, void *to)
{
    read_patterns(r, at, value, &FIELD(ignore));
}

static void read_change(struct template_reader *r,
                        const struct crawl_place *at, json_t *value, void *to)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";

    if (!strcmp(text, "off"))
        FIELD(unwatched) = true;
    else if (strcmp(text, "on") != 0)
        wrong(r, at, "expected \"on\" or \"off\"");
}

static const struct template_entry field_members[] = {
    { "css", NULL },
    { "xpath", NULL },
    { "regex", read_regex },
    { "type", read_field_type },
    { "many", read_many },
    { "required", read_required },
    { "ignore", read_ignore },
    { "change", read_change },
    { NULL, NULL }
};

static void read_field(struct template_reader *r, const struct crawl_place *at,
                       json_t *value, struct crawl_page_type *page)
{
    struct crawl_field *f = array_grow(page->field, &page->room, page->n + 1,
                                       sizeof *f);
    struct seen_error why;
    const char *text;

    if (!f) {
        r->memory = true;
        return;
    }
    page->field = f;
    f += page->n++;
    *f = (struct crawl_field){ .name = copy(r, at->name) };
    if (!*at->name || *at->name == '_')
        wrong(r, at, "a field has a name that does not begin with _");
    if (json_is_string(value)) {
        text = read_text(r, at, value);
        if (text && web_selector_new(&f->selector, text, strlen(text), false,
                                     &why) != SEEN_OK)
            failed(r, at, &why);
        return;
    }
    if (!json_is_object(value)) {
        wrong(r, at, "expected a selector, or an object with css or xpath");
        return;
    }
    if (!json_object_get(value, "css") && !json_object_get(value, "xpath"))
        wrong(r, at, "css or xpath is missing");
    f->selector = read_selector(r, at, value);
    read_members(r, at, value, field_members, f);
}

/* --- types of pages --- */

static void read_fields(struct template_reader *r,
                        const struct crawl_place *at, json_t *value, void *to)
{
    const char *name;
    json_t *one;

    if (!json_is_object(value)) {
        wrong(r, at, "expected an object of fields");
        return;
    }
    json_object_foreach(value, name, one)
    {
        struct crawl_place here = member(at, name);

        read_field(r, &here, one, to);
    }
}

static void read_page_url(struct template_reader *r,
                          const struct crawl_place *at, json_t *value,
                          void *to)
{
    read_patterns(r, at, value, &((struct crawl_page_type *)to)->url);
}

static void read_page_revisit(struct template_reader *r,
                              const struct crawl_place *at, json_t *value,
                              void *to)
{
    read_time(r, at, value, &((struct crawl_page_type *)to)->revisit);
}

static const struct template_entry page_members[] = {
    { "url", read_page_url },
    { "fields", read_fields },
    { "revisit", read_page_revisit },
    { NULL, NULL }
};

static void read_pages(struct template_reader *r, const struct crawl_place *at,
                       json_t *value, void *to)
{
    struct crawl_template *t = to;
    const char *name;
    json_t *one;

    if (!json_is_object(value)) {
        wrong(r, at, "expected an object of page types");
        return;
    }
    json_object_foreach(value, name, one)
    {
        struct crawl_place here = member(at, name);
        struct crawl_page_type *p = array_grow(t->type, &t->types_room,
                                               t->types + 1, sizeof *p);

        if (!p) {
            r->memory = true;
            return;
        }
        t->type = p;
        p += t->types++;
        *p = (struct crawl_page_type){ .name = copy(r, name),
                                       .revisit = CRAWL_UNSET };
        if (!*name)
            wrong(r, &here, "the name of the page type is empty");
        read_members(r, &here, one, page_members, p);
    }
}

/* --- rules --- */

#define RULE(name) ((struct crawl_rule *)to)->name

static void read_allow(struct template_reader *r, const struct crawl_place *at,
                       json_t *value, void *to)
{
    read_patterns(r, at, value, &RULE(allow));
}

static void read_deny(struct template_reader *r, const struct crawl_place *at,
                      json_t *value, void *to)
{
    read_patterns(r, at, value, &RULE(deny));
}

static void read_rule_type(struct template_reader *r,
                           const struct crawl_place *at, json_t *value,
                           void *to)
{
    const char *text = read_text(r, at, value);

    if (text)
        RULE(type) = copy(r, text);
}

static void read_from(struct template_reader *r, const struct crawl_place *at,
                      json_t *value, void *to)
{
    struct crawl_texts list = { .n = 0 };

    each_text(r, at, value, &list, take_text);
    RULE(from) = list.text;
    RULE(froms) = list.n;
}

static void read_revisit(struct template_reader *r,
                         const struct crawl_place *at, json_t *value, void *to)
{
    read_time(r, at, value, &RULE(revisit));
}

static void read_priority(struct template_reader *r,
                          const struct crawl_place *at, json_t *value,
                          void *to)
{
    json_int_t n = json_integer_value(value);

    if (json_is_integer(value) && n >= -1000 && n <= 1000)
        RULE(priority) = (int)n;
    else
        wrong(r, at, "expected a number from -1000 to 1000");
}

static const struct template_entry rule_members[] = {
    { "css", NULL },
    { "xpath", NULL },
    { "allow", read_allow },
    { "deny", read_deny },
    { "type", read_rule_type },
    { "from", read_from },
    { "revisit", read_revisit },
    { "priority", read_priority },
    { NULL, NULL }
};

static void read_follow(struct template_reader *r,
                        const struct crawl_place *at, json_t *value, void *to)
{
    struct crawl_template *t = to;
    json_t *one;
    size_t i;

    if (!json_is_array(value)) {
        wrong(r, at, "expected a list of rules");
        return;
    }
    json_array_foreach(value, i, one)
    {
        struct crawl_place here = { .up = at, .index = i };
        struct crawl_rule *rule = array_grow(t->rule, &t->rules_room,
                                             t->rules + 1, sizeof *rule);

        if (!rule) {
            r->memory = true;
            return;
        }
        t->rule = rule;
        rule += t->rules++;
        *rule = (struct crawl_rule){ .revisit = CRAWL_UNSET };
        rule->area = json_is_object(one) ? read_selector(r, &here, one) : NULL;
        read_members(r, &here, one, rule_members, rule);
    }
}

/* --- settings --- */

static const struct {
    const char *name;
    size_t at;
} settings[] = {
    { "delay", offsetof(struct crawl_template_limits, delay) },
    { "per_host", offsetof(struct crawl_template_limits, per_host) },
    { "per_address", offsetof(struct crawl_template_limits, per_address) },
    { "pages", offsetof(struct crawl_template_limits, pages) },
    { "bytes", offsetof(struct crawl_template_limits, bytes) },
    { "depth", offsetof(struct crawl_template_limits, depth) },
    { "time", offsetof(struct crawl_template_limits, time) },
    { "host_pages", offsetof(struct crawl_template_limits, host_pages) },
};

static void *setting(void *to, const char *name)
{
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (!strcmp(settings[i].name, name))
            return (char *)to + settings[i].at;
    return NULL;
}

static void setting_count(struct template_reader *r,
                          const struct crawl_place *at, json_t *value,
                          void *to)
{
    read_count(r, at, value, setting(to, at->name));
}

static void setting_time(struct template_reader *r,
                         const struct crawl_place *at, json_t *value, void *to)
{
    read_time(r, at, value, setting(to, at->name));
}

static void refuse_robots(struct template_reader *r,
                          const struct crawl_place *at, json_t *value,
                          void *to)
{
    (void)value;
    (void)to;
    wrong(r, at, "robots.txt is always obeyed");
}

static const struct template_entry politeness_members[] = {
    { "delay", setting_time },
    { "per_host", setting_count },
    { "per_address", setting_count },
    { "robots", refuse_robots },
    { NULL, NULL }
};

static const struct template_entry limit_members[] = {
    { "pages", setting_count },      { "bytes", setting_count },
    { "depth", setting_count },      { "time", setting_time },
    { "host_pages", setting_count }, { NULL, NULL }
};

static void read_politeness(struct template_reader *r,
                            const struct crawl_place *at, json_t *value,
                            void *to)
{
    read_members(r, at, value, politeness_members,
                 &((struct crawl_template *)to)->settings);
}

static void read_limits(struct template_reader *r,
                        const struct crawl_place *at, json_t *value, void *to)
{
    read_members(r, at, value, limit_members,
                 &((struct crawl_template *)to)->settings);
}

/* The name of a parameter, with * for any bytes. */
static void take_strip(struct template_reader *r, const struct crawl_place *at,
                       const char *text, void *to)
{
    if (strpbrk(text, "&=?#;/ "))
        wrong(r, at, "expected the name of a parameter, as utm_*");
    else
        take_text(r, at, text, to);
}

static void read_strip(struct template_reader *r, const struct crawl_place *at,
                       json_t *value, void *to)
{
    each_text(r, at, value, &((struct crawl_template *)to)->strip, take_strip);
}

static const struct template_entry clean_members[] = { { "strip", read_strip },
                                                       { NULL, NULL } };

static void read_clean(struct template_reader *r, const struct crawl_place *at,
                       json_t *value, void *to)
{
    read_members(r, at, value, clean_members, to);
}

/* --- the template --- */

static void read_name(struct template_reader *r, const struct crawl_place *at,
                      json_t *value, void *to)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *text = read_text(r, at, value);

    if (!text)
        return;
    if (strlen(text) > 64 || strspn(text, good) != strlen(text) ||
        strchr("._-", *text))
        wrong(r, at,
              "a name has up to 64 letters, digits, \".\", \"_\" and "
              "\"-\", and begins with a letter or a digit");
    else
        ((struct crawl_template *)to)->name = copy(r, text);
}

static void take_start(struct template_reader *r, const struct crawl_place *at,
                       const char *text, void *to)
{
    struct crawl_template *t = to;
    struct crawl_start *s = array_grow(t->start, &t->starts_room,
                                       t->starts + 1, sizeof *s);
    struct seen_error why;

    if (!s) {
        r->memory = true;
        return;
    }
    t->start = s;
    s += t->starts;
    *s = (struct crawl_start){ .text = NULL };
    if (crawl_start_read(s, text, &why) == SEEN_OK)
        t->starts++;
    else
        failed(r, at, &why);
}

static void read_start(struct template_reader *r, const struct crawl_place *at,
                       json_t *value, void *to)
{
    each_text(r, at, value, to, take_start);
}

/* A host name as it stands in canonical URLs. */
static void take_domain(struct template_reader *r,
                        const struct crawl_place *at, const char *text,
                        void *to)
{
    struct crawl_template *t = to;
    char url[300], room[SEEN_KEY_TEXT], host[300];
    struct seen_span found = { NULL, 0 };
    const char *canonical;
    size_t len;

    if (strlen(text) < 254 && !strpbrk(text, "/?#@: ")) {
        snprintf(url, sizeof url, "http://%s/", text);
        if (seen_url_whatwg(&canonical, &len, room, url, strlen(url), NULL, 0,
                            NULL) == SEEN_OK)
            found = crawl_url_host(canonical, len);
    }
    if (!found.len || found.len >= sizeof host) {
        wrong(r, at, "expected the name of a host, as a.example");
        return;
    }
    memcpy(host, found.text, found.len);
    host[found.len] = 0;
    take_text(r, at, host, &t->domains);
}

static void read_domains(struct template_reader *r,
                         const struct crawl_place *at, json_t *value, void *to)
{
    each_text(r, at, value, to, take_domain);
}

static void read_interval(struct template_reader *r,
                          const struct crawl_place *at, json_t *value,
                          void *to)
{
    read_time(r, at, value, &((struct crawl_template *)to)->settings.interval);
}

/* For editors: the address of the schema, and a note to readers. */
static void read_note(struct template_reader *r, const struct crawl_place *at,
                      json_t *value, void *to)
{
    (void)to;
    if (!json_is_string(value))
        wrong(r, at, "expected a text");
}

static const struct template_entry template_members[] = {
    { "$schema", read_note },    { "description", read_note },
    { "name", read_name },       { "start", read_start },
    { "domains", read_domains }, { "interval", read_interval },
    { "follow", read_follow },   { "pages", read_pages },
    { "clean", read_clean },     { "politeness", read_politeness },
    { "limits", read_limits },   { NULL, NULL }
};

/* Types that rules name must be there. */
static void check_types(struct template_reader *r,
                        const struct crawl_place *top)
{
    struct crawl_place follow = member(top, "follow");

    for (size_t i = 0; i < r->t->rules; i++) {
        const struct crawl_rule *rule = &r->t->rule[i];
        struct crawl_place here = { .up = &follow, .index = i };
        struct crawl_place type = member(&here, "type");
        struct crawl_place from = member(&here, "from");

        if (rule->type && !crawl_type_find(r->t, rule->type))
            wrong(r, &type, "pages has no type %s", rule->type);
        for (size_t k = 0; k < rule->froms; k++)
            if (!crawl_type_find(r->t, rule->from[k]))
                wrong(r, &from, "pages has no type %s", rule->from[k]);
    }
}

/* Without domains, those of the start URLs are allowed. */
static void add_domains(struct template_reader *r,
                        const struct crawl_place *top)
{
    char url[SEEN_KEY_TEXT];
    size_t len;

    for (size_t i = 0; i < r->t->starts; i++) {
        struct crawl_place start = member(top, "start");
        uint64_t before = 0;
        struct seen_error why;

        for (size_t k = 0; k < i; k++)
            before += r->t->start[k].count;
        if (crawl_template_start(r->t, before, url, &len, &why) != SEEN_OK) {
            failed(r, &start, &why);
            continue;
        }
        if (!crawl_template_within(r->t, url, len)) {
            struct seen_span host = crawl_url_host(url, len);
            char *name = strndup(host.text, host.len);

            if (name)
                take_text(r, &start, name, &r->t->domains);
            else
                r->memory = true;
            free(name);
        }
    }
}

/* All patterns that pages are searched with share the memory of one list. */
static enum seen_code join_patterns(struct crawl_template *t,
                                    struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t all = 0;

    for (int join = 0; join < 2; join++) {
        for (size_t i = 0; i < t->rules; i++) {
            struct pattern_list *l[] = { &t->rule[i].allow.list,
                                         &t->rule[i].deny.list };

            all += join ? 0 : l[0]->n + l[1]->n;
            for (size_t k = 0; join && code == SEEN_OK && k < 2; k++)
                code = pattern_list_join(l[k], all, why);
        }
        for (size_t i = 0; i < t->types; i++) {
            struct crawl_page_type *p = &t->type[i];

            all += join ? 0 : p->url.list.n + p->n;
            if (join && code == SEEN_OK)
                code = pattern_list_join(&p->url.list, all, why);
            for (size_t k = 0; join && code == SEEN_OK && k < p->n; k++)
                code = pattern_list_join(&p->field[k].regex.list, all, why);
        }
    }
    return code;
}

enum seen_code crawl_template_read(struct crawl_template *t, json_t *root,
                                   const struct crawl_source *source,
                                   crawl_mistake *mistake, void *owner,
                                   struct seen_error *why)
{
    struct template_reader r = { .t = t,
                                 .source = source,
                                 .mistake = mistake,
                                 .owner = owner,
                                 .why = why };
    const struct crawl_place top = { .up = NULL };
    uint64_t starts = 0;

    read_members(&r, &top, root, template_members, t);
    if (json_is_object(root) && !json_object_get(root, "start"))
        wrong(&r, &top, "start is missing");
    for (size_t i = 0; i < t->starts; i++)
        starts += t->start[i].count;
    if (starts > CRAWL_TEMPLATE_STARTS) {
        struct crawl_place start = member(&top, "start");

        wrong(&r, &start, "the ranges stand for more than %d URLs",
              CRAWL_TEMPLATE_STARTS);
    }
    check_types(&r, &top);
    if (!t->domains.n && !r.mistakes)
        add_domains(&r, &top);
    if (r.memory)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    return r.mistakes ? SEEN_CORRUPT : join_patterns(t, why);
}
