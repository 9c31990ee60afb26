/*
 * pattern_set.c - "[^]a-z[:digit:]-]" to a set of bytes.
 *
 * In the locale that the programs run in, C, a range is one of byte values,
 * and "[=a=]" and "[.a.]" are the byte itself.
 */
#include "pattern_set.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { NAME = 32 };

static const struct {
    const char *name;
    int (*has)(int);
} classes[] = {
    { "alnum", isalnum }, { "cntrl", iscntrl }, { "lower", islower },
    { "space", isspace }, { "alpha", isalpha }, { "digit", isdigit },
    { "print", isprint }, { "upper", isupper }, { "blank", isblank },
    { "graph", isgraph }, { "punct", ispunct }, { "xdigit", isxdigit },
};

bool pattern_set_class(struct pattern_set *s, const char *name)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (!strcmp(classes[i].name, name)) {
            for (int c = 0; c < 256; c++)
                if (classes[i].has(c))
                    pattern_set_add(s, (unsigned char)c);
            return true;
        }
    return false;
}

void pattern_set_invert(struct pattern_set *s)
{
    for (size_t i = 0; i < 4; i++)
        s->bits[i] = ~s->bits[i];
}

/* What may stand in brackets: "a", "[:alpha:]", "[=a=]" or "[.a.]". */
struct pattern_member {
    char kind; /* 'a', ':', '=' or '.' */
    unsigned char byte;
    char name[NAME];
};

/* Read one; NULL if it does not end, or is more than a byte. */
static const char *read_member(struct pattern_member *m, const char *at)
{
    size_t n = 0;

    m->kind = 'a';
    m->byte = (unsigned char)*at;
    if (*at != '[' || !at[1] || !strchr(":=.", at[1]))
        return *at ? at + 1 : NULL;
    m->kind = at[1];
    for (at += 2; *at && !(*at == m->kind && at[1] == ']'); at++)
        if (n + 1 < NAME)
            m->name[n++] = *at;
        else
            return NULL;
    m->name[n] = '\0';
    m->byte = (unsigned char)m->name[0];
    return *at && (m->kind == ':' || n == 1) ? at + 2 : NULL;
}

/* The last byte of a range, whose "-" is next; else `first`. */
static const char *read_range(const char *at, unsigned char first,
                              unsigned *last)
{
    struct pattern_member m;

    *last = first;
    if (*at != '-' || at[1] == ']')
        return at;
    at = read_member(&m, at + 1);
    if (!at || m.kind == ':' || m.kind == '=' || m.byte < first)
        return NULL;
    *last = m.byte;
    return at;
}

const char *pattern_set_read(struct pattern_set *s, const char *at)
{
    struct pattern_member m;
    bool inverted = *at == '^';
    unsigned last;

    *s = (struct pattern_set){ { 0 } };
    at += inverted;
    for (bool first = true; first || *at != ']'; first = false) {
        if (*at == '-' && !first && at[1] != ']')
            return NULL;
        at = read_member(&m, at);
        if (at && (m.kind == 'a' || m.kind == '.'))
            at = read_range(at, m.byte, &last);
        else
            last = m.byte;
        if (!at || (m.kind == ':' && !pattern_set_class(s, m.name)))
            return NULL;
        for (unsigned c = m.byte; m.kind != ':' && c <= last; c++)
            pattern_set_add(s, (unsigned char)c);
    }
    if (inverted)
        pattern_set_invert(s);
    return at + 1;
}
