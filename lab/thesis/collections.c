/*
 * collections.c - an array and a hash set of strings.
 *
 * Both double when they are full; the set is full at three quarters, with
 * linear probing. The set does not keep hashes: growing hashes all strings
 * anew, which a measurement of adding then includes.
 */
#include "collections.h"

#include <stdlib.h>
#include <string.h>

#include <seen/key.h>

#include "thesis.h"

static void keep(struct strings *s, struct string *to, const char *text,
                 size_t len)
{
    to->text = thesis_memory(len, 1);
    to->len = len;
    memcpy(to->text, text, len);
    s->bytes += len;
    s->n++;
}

static bool same(const struct string *a, const char *text, size_t len)
{
    return a->len == len && !memcmp(a->text, text, len);
}

/* Room for twice as many, empty; the old places belong to the caller. */
static struct string *widen(struct strings *s)
{
    struct string *old = s->string;

    s->bytes -= s->room * sizeof *s->string;
    s->room = s->room ? 2 * s->room : 16;
    s->bytes += s->room * sizeof *s->string;
    s->string = thesis_memory(s->room, sizeof *s->string);
    return old;
}

void strings_room(struct strings *s, size_t n)
{
    while (3 * s->room < 4 * n)
        free(widen(s));
}

void array_add(struct strings *a, const char *text, size_t len)
{
    if (a->n == a->room) {
        struct string *old = widen(a);

        if (old)
            memcpy(a->string, old, a->n * sizeof *old);
        free(old);
    }
    keep(a, &a->string[a->n], text, len);
}

bool array_has(const struct strings *a, const char *text, size_t len)
{
    for (size_t i = 0; i < a->n; i++)
        if (same(&a->string[i], text, len))
            return true;
    return false;
}

/* Where a string is, or where it would be. */
static struct string *place(const struct strings *s, const char *text,
                            size_t len)
{
    struct seen_key key;
    size_t at;

    seen_key_hash(&key, text, len);
    at = key.lo & (s->room - 1);
    while (s->string[at].text && !same(&s->string[at], text, len))
        at = (at + 1) & (s->room - 1);
    return &s->string[at];
}

bool set_add(struct strings *s, const char *text, size_t len)
{
    struct string *to;

    if (4 * s->n >= 3 * s->room) {
        size_t places = s->room;
        struct string *old = widen(s);

        for (size_t i = 0; i < places; i++)
            if (old[i].text)
                *place(s, old[i].text, old[i].len) = old[i];
        free(old);
    }
    to = place(s, text, len);
    if (to->text)
        return false;
    keep(s, to, text, len);
    return true;
}

bool set_has(const struct strings *s, const char *text, size_t len)
{
    return s->room && place(s, text, len)->text;
}

void strings_clear(struct strings *s)
{
    for (size_t i = 0; i < s->room; i++)
        free(s->string[i].text);
    free(s->string);
    *s = (struct strings){ 0 };
}
