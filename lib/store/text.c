/*
 * text.c - a plan as lines of name=value, and back.
 *
 *     kind=routed:2/bloom
 *     profile=surt
 *     capacity=1000
 *     rate=0.01
 *     seed=7
 *     part=1 kind=bloom capacity=500 rate=0.01 bits=5120 probes=7 ... size=640
 *     part=1 kind=bloom capacity=500 rate=0.01 bits=5120 probes=7 ... size=640
 *     title=Example
 *
 * One table has the names of a plan's fields in their order; writing and
 * reading both use it. A part's line begins with its depth; parts are in
 * preorder. The rest is metadata in the order of names.
 *
 * Reading trusts nothing: the filter that a text describes is made, its text
 * is written again, and the two must be equal. So this one comparison finds
 * numbers that are too large, signs, names that occur twice, a wrong order,
 * and offsets that do not follow from the sizes.
 */
#include "text.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/store.h>

#include "../filter/cells.h"
#include "../filter/kinds.h"
#include "../filter/tree.h"
#include "../key/secret.h"
#include "../text/buffer.h"
#include "meta.h"

enum { DEPTH = 16 }; /* more than tree.c allows, which checks it */

enum store_type { WORD, CHOICE, NUMBER, SMALL, REAL, FLAG, SECRET, LIST };

/* The values of `keys`, by enum seen_index_keys; the first is left out. */
static const char *const choices[] = { "", "trusted", "derived" };

static const struct store_field {
    const char *name;
    enum store_type type;
    size_t at, room;
    bool root; /* parts have the same, so it is not repeated */
} fields[] = {
#define MEMBER(name, of, type, root) \
    { \
#name, type, offsetof(struct filter_record, of), \
            sizeof((struct filter_record *)0)->of, root \
    }
#define FIELD(name, type, root) MEMBER(name, plan.name, type, root)
    FIELD(kind, WORD, false),          FIELD(profile, WORD, true),
    FIELD(keys, CHOICE, true),         FIELD(capacity, NUMBER, false),
    FIELD(rate, REAL, false),          FIELD(bits, NUMBER, false),
    FIELD(probes, SMALL, false),       FIELD(multiplier, REAL, false),
    FIELD(seed, NUMBER, false),        FIELD(over, FLAG, false),
    FIELD(tight, FLAG, false),         FIELD(hostile, FLAG, false),
    FIELD(keyed, SECRET, true),        FIELD(segments, LIST, false),
    MEMBER(shape, shape, LIST, false),
#undef FIELD
#undef MEMBER
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

/* Names that are derived, not fields of a plan. */
static const char *const others[] = { "part", "at", "size", "set", "offered" };

static const struct store_field *field_of(const char *name, size_t len)
{
    for (int i = 0; i < FIELDS; i++)
        if (strlen(fields[i].name) == len &&
            !memcmp(fields[i].name, name, len))
            return &fields[i];
    return NULL;
}

bool store_text_taken(const char *name, size_t len)
{
    const struct store_field *field;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strlen(others[i]) == len && !memcmp(others[i], name, len))
            return true;
    field = field_of(name, len);
    return field && field->type != CHOICE; /* version 1 did not have it */
}

bool store_text_alike(const struct seen_filter *f, const struct seen_filter *g)
{
    const struct filter_record p = filter_record(f), q = filter_record(g);

    for (int i = 0; i < FIELDS; i++) {
        const char *a = (const char *)&p + fields[i].at;
        const char *b = (const char *)&q + fields[i].at;

        if (fields[i].at != offsetof(struct filter_record, plan.over) &&
            fields[i].type != CHOICE &&
            (fields[i].type == WORD ? strcmp(a, b)
                                    : memcmp(a, b, fields[i].room)))
            return false;
    }
    return p.check == q.check;
}

/* --- to text ---------------------------------------------------------- */

/* The shortest of 15 to 17 digits that reads back as the same number. */
static void print_real(struct buffer *to, double x)
{
    char text[32];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    buffer_text(to, text);
}

static void print_list(struct buffer *to, const uint64_t *list, size_t n)
{
    while (n && !list[n - 1])
        n--;
    for (size_t i = 0; i < n; i++) {
        if (i)
            buffer_byte(to, ',');
        buffer_number(to, list[i]);
    }
}

/* Fields that are zero or empty are left out. */
static bool present(const struct store_field *field,
                    const struct filter_record *r)
{
    const char *at = (const char *)r + field->at;

    if (field->type == WORD)
        return *at;
    for (size_t i = 0; i < field->room; i++)
        if (at[i])
            return true;
    return false;
}

static void print_field(struct buffer *to, const struct store_field *field,
                        const struct filter_record *r)
{
    const void *at = (const char *)r + field->at;

    buffer_format(to, "%s=", field->name);
    switch (field->type) {
    case WORD: buffer_text(to, at); break;
    case CHOICE: buffer_text(to, choices[r->plan.keys]); break;
    case NUMBER: buffer_number(to, *(const uint64_t *)at); break;
    case SMALL: buffer_number(to, *(const unsigned *)at); break;
    case REAL: print_real(to, *(const double *)at); break;
    case FLAG: buffer_byte(to, '1'); break;
    case SECRET: buffer_format(to, "%016" PRIx64, r->check); break;
    case LIST: print_list(to, at, field->room / sizeof(uint64_t)); break;
    }
}

/* The root has a line per field, a part has one line for all. */
static void print_node(struct buffer *to, const struct store_node *node,
                       bool counts, uint64_t *at)
{
    const struct seen_filter *f = node->f;
    const struct filter_record r = filter_record(f);
    const int depth = node->depth;
    const char *gap = "";

    if (depth) {
        buffer_format(to, "part=%d", depth);
        gap = " ";
    }
    for (int i = 0; i < FIELDS; i++) {
        if (!present(&fields[i], &r) || (depth && fields[i].root))
            continue;
        buffer_text(to, gap);
        print_field(to, &fields[i], &r);
        gap = depth ? " " : "\n";
    }
    if (!f->kind->combines) {
        *at = (*at + LINE - 1) / LINE * LINE;
        buffer_format(to, "%sat=%" PRIu64 "%ssize=%zu", gap, *at, gap,
                      f->size);
        *at += f->size;
        if (counts)
            buffer_format(to, "%sset=%" PRIu64, gap, set_cells(f));
    }
    if (!depth && counts)
        buffer_format(to, "%soffered=%" PRIu64, gap, seen_filter_offered(f));
    buffer_byte(to, '\n');
}

/* The text of a foreign kind may have any bytes; a line has words. */
static bool printable(const struct seen_filter *f)
{
    for (const char *at = f->plan.kind; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == 0x7f)
            return false;
    return true;
}

enum seen_code store_text_of(const struct store_nodes *s, bool counts,
                             char **text, size_t *len, struct seen_error *why)
{
    const struct seen_filter *f = s->node[0].f;
    struct buffer to = { .bytes = NULL };
    locale_t plain, was;
    uint64_t at = 0;

    *text = NULL;
    if (!printable(f))
        return seen_fail(why, SEEN_RANGE, 0,
                         "the kind has spaces or control bytes");
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    to.failed = !plain;
    if (plain) {
        was = uselocale(plain); /* 0.01, never 0,01 */
        for (size_t i = 0; i < s->n; i++)
            print_node(&to, &s->node[i], counts, &at);
        store_meta_print(f, &to);
        uselocale(was);
        freelocale(plain);
    }
    *len = to.len;
    *text = buffer_take(&to);
    if (!*text)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    return SEEN_OK;
}

enum seen_code store_text_make(const struct seen_filter *f, bool counts,
                               char **text, size_t *len,
                               struct seen_error *why)
{
    struct store_nodes s;
    enum seen_code code = store_nodes_init(&s, f, why);

    *text = NULL;
    if (code == SEEN_OK)
        code = store_text_of(&s, counts, text, len, why);
    store_nodes_clear(&s);
    return code;
}

enum seen_code seen_store_describe(const struct seen_filter *f, char **text,
                                   struct seen_error *why)
{
    size_t len;

    return store_text_make(f, true, text, &len, why);
}

/* --- from text -------------------------------------------------------- */

struct store_parser {
    const unsigned char *secret;
    struct filter_record root;       /* while it is read */
    struct seen_filter *open[DEPTH]; /* the root, its last part, ... */
    int depth;                       /* where the last open one is */
    uint64_t set, offered;           /* counts of the root */
    bool planned; /* the plan of the root has ended; metadata may follow */
    struct seen_error *why;
};

static bool word_is(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && !memcmp(word, name, len);
}

static void parse_list(const char *value, uint64_t *list, size_t n)
{
    char *end;

    for (size_t i = 0; i < n; i++, value = end + 1) {
        list[i] = strtoull(value, &end, 10);
        if (*end != ',')
            break;
    }
}

/* Read a value as far as possible; the comparison finds errors. */
static void parse_field(const struct store_field *field, const char *value,
                        size_t len, struct filter_record *r)
{
    void *at = (char *)r + field->at;

    switch (field->type) {
    case WORD: snprintf(at, field->room, "%.*s", (int)len, value); break;
    case CHOICE:
        for (int i = SEEN_KEYS_TRUSTED; i <= SEEN_KEYS_DERIVED; i++)
            if (word_is(value, len, choices[i]))
                r->plan.keys = (enum seen_index_keys)i;
        break;
    case NUMBER: *(uint64_t *)at = strtoull(value, NULL, 10); break;
    case SMALL: *(unsigned *)at = (unsigned)strtoul(value, NULL, 10); break;
    case REAL: *(double *)at = strtod(value, NULL); break;
    case FLAG: *(bool *)at = true; break;
    case SECRET:
        r->plan.keyed = true;
        r->check = strtoull(value, NULL, 16);
        break;
    case LIST: parse_list(value, at, field->room / sizeof(uint64_t)); break;
    }
}

/* The text is complete, so a plan that cannot be made has a later version. */
static enum seen_code make(struct store_parser *p,
                           const struct filter_record *r,
                           struct seen_filter **out)
{
    enum seen_code code = filter_restore(out, r, p->secret, p->why);

    if (code == SEEN_RANGE || code == SEEN_UNABLE) {
        code = SEEN_MISMATCH;
        if (p->why)
            p->why->code = code;
    }
    return code;
}

static enum seen_code make_root(struct store_parser *p)
{
    enum seen_code code;

    if (p->secret && !p->root.plan.keyed)
        return seen_fail(p->why, SEEN_MISMATCH, 0,
                         "the filter is not keyed, but a key was given");
    code = make(p, &p->root, &p->open[0]);
    if (code == SEEN_OK) {
        p->open[0]->offered = p->offered;
        p->open[0]->set = p->set;
    }
    return code;
}

static enum seen_code parse_part(struct store_parser *p, const char *line)
{
    int depth = atoi(line + strlen("part="));
    struct seen_filter *above, *part;
    struct filter_record r = { .check = p->root.check };
    const char *word = line + strcspn(line, " \n");
    uint64_t set = 0;
    enum seen_code code = SEEN_OK;

    if (!p->open[0])
        code = make_root(p);
    if (code != SEEN_OK)
        return code;
    if (depth < 1 || depth > p->depth + 1 || depth >= DEPTH)
        return seen_fail(p->why, SEEN_CORRUPT, 0,
                         "has a part at a wrong depth");
    above = p->open[depth - 1];
    while (*word == ' ') {
        size_t len = strcspn(++word, "= \n");
        const char *value = word + len + (word[len] == '=');
        const struct store_field *field = field_of(word, len);

        if (field && !field->root)
            parse_field(field, value, strcspn(value, " \n"), &r);
        else if (word_is(word, len, "set"))
            set = strtoull(value, NULL, 10);
        else if (!store_text_taken(word, len))
            return seen_fail(
                p->why, SEEN_MISMATCH, 0,
                "parts have a field named %.*s, which this version "
                "does not know",
                (int)len, word);
        word = value + strcspn(value, " \n");
    }
    if (!above->kind->combines ||
        !kind_contains(above->plan.kind, r.plan.kind))
        return seen_fail(p->why, SEEN_CORRUPT, 0, "%s has a part of kind %s",
                         above->plan.kind, r.plan.kind);
    if (above->parts >= above->room)
        return seen_fail(p->why, SEEN_CORRUPT, 0, "%s has more than %u parts",
                         above->plan.kind, above->room);
    strcpy(r.plan.profile, p->root.plan.profile);
    r.plan.keyed = p->root.plan.keyed;
    code = make(p, &r, &part);
    if (code != SEEN_OK)
        return code;
    part->set = set;
    p->open[depth] = part;
    p->depth = depth;
    return filter_append(above, part, p->why);
}

static enum seen_code parse_other(struct store_parser *p, char *line,
                                  size_t len)
{
    char *value = line + len + 1;
    enum seen_code code = p->open[0] ? SEEN_OK : make_root(p);

    if (code != SEEN_OK)
        return code;
    if (*line == '!')
        return seen_fail(p->why, SEEN_MISMATCH, 0,
                         "has a field named %.*s, which this version must "
                         "know and does not",
                         (int)len, line);
    line[len] = '\0';
    value[strcspn(value, "\n")] = '\0';
    code = seen_meta_set(p->open[0], line, value, p->why);
    if (code == SEEN_RANGE && p->why)
        p->why->code = SEEN_CORRUPT;
    return code == SEEN_RANGE ? SEEN_CORRUPT : code;
}

static enum seen_code parse_lines(struct store_parser *p, char *text)
{
    enum seen_code code = SEEN_OK;
    char *after;

    for (char *line = text; *line && code == SEEN_OK; line = after) {
        size_t len = strcspn(line, "=\n");
        const struct store_field *field = field_of(line, len);
        const char *value = line + len + 1;

        after = strchr(line, '\n');
        if (!after || line[len] != '=')
            return seen_fail(p->why, SEEN_CORRUPT, (uint64_t)(line - text),
                             "has a line that is not name=value");
        after++;
        p->planned |= word_is(line, len, "size") || word_is(line, len, "part");
        if (field && field->type == CHOICE && p->planned)
            code = parse_other(p, line, len);
        else if (field)
            parse_field(field, value, strcspn(value, "\n"), &p->root);
        else if (word_is(line, len, "set"))
            p->set = strtoull(value, NULL, 10);
        else if (word_is(line, len, "offered"))
            p->offered = strtoull(value, NULL, 10);
        else if (word_is(line, len, "part"))
            code = parse_part(p, line);
        else if (!store_text_taken(line, len))
            code = parse_other(p, line, len);
    }
    if (code == SEEN_OK && !p->open[0])
        code = make_root(p);
    return code;
}

/* Does it have the parts that its kind begins with? */
static bool complete(const struct seen_filter *f)
{
    if (f->kind->combines && (!f->parts || f->parts < f->first))
        return false;
    for (unsigned i = 0; i < f->parts; i++)
        if (!complete(f->part[i]))
            return false;
    return true;
}

/* The filter of a text, in the locale where numbers have a dot. */
static enum seen_code parse(struct store_parser *p, const char *text)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), was;
    char *copy = plain ? strdup(text) : NULL;
    enum seen_code code;

    if (copy) {
        was = uselocale(plain);
        code = parse_lines(p, copy);
        uselocale(was);
    } else {
        code = seen_fail(p->why, SEEN_NOMEM, 0, "no memory for a text");
    }
    if (plain)
        freelocale(plain);
    free(copy);
    return code;
}

enum seen_code store_text_parse(struct seen_filter **out, const char *text,
                                bool counts, const struct seen_access *options,
                                struct seen_error *why)
{
    const struct seen_access any = { .profile = NULL };
    struct store_parser p = { .why = why };
    char *again = NULL;
    enum seen_code code;
    size_t len;

    *out = NULL;
    options = options ? options : &any;
    p.secret = options->secret;
    if (p.secret && !key_secret_known(p.secret))
        return seen_fail(why, SEEN_RANGE, 0, "a secret must not be all zeros");
    code = parse(&p, text);
    if (code == SEEN_OK && !complete(p.open[0]))
        code = seen_fail(why, SEEN_CORRUPT, 0, "%s lacks parts",
                         p.open[0]->plan.kind);
    if (code == SEEN_OK)
        code = store_text_make(p.open[0], counts, &again, &len, why);
    if (code == SEEN_OK && strcmp(text, again))
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "has a text that is not canonical");
    if (code == SEEN_OK && options->profile &&
        strcmp(options->profile, p.open[0]->plan.profile))
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "has profile %s, but %s was asked for",
                         p.open[0]->plan.profile, options->profile);
    free(again);
    if (code != SEEN_OK)
        seen_filter_free(p.open[0]);
    else
        *out = p.open[0];
    return code;
}

enum seen_code seen_store_restore(struct seen_filter **out, const char *text,
                                  const struct seen_access *options,
                                  struct seen_error *why)
{
    return store_text_parse(out, text, true, options, why);
}
