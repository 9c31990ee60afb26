/*
 * meta.c - names and values that are stored with a filter.
 *
 * All pairs are in one block of memory, in the order of names, so that one
 * free() releases them:
 *
 *     holder\0Internet Archive\0title\0Example\0
 *
 * There are a handful of them, so a linear search will do.
 */
#include "meta.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

struct seen_meta {
    size_t len;
    char pairs[];
};

static const char *past(const char *text)
{
    return text + strlen(text) + 1;
}

static bool valid_name(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.");

    return len && !name[len];
}

static bool one_line(const char *value)
{
    for (; *value; value++)
        if ((unsigned char)*value < 0x20 || *value == 0x7f)
            return false;
    return true;
}

/* The first pair whose name is not before `name`, as an offset. */
static size_t offset_of(const struct seen_meta *meta, const char *name)
{
    size_t at = 0;

    while (meta && at < meta->len && strcmp(meta->pairs + at, name) < 0)
        at = (size_t)(past(past(meta->pairs + at)) - meta->pairs);
    return at;
}

/* The pair at `at` if it has this name, else NULL. */
static const char *pair_at(const struct seen_meta *meta, size_t at,
                           const char *name)
{
    if (!meta || at >= meta->len || strcmp(meta->pairs + at, name))
        return NULL;
    return meta->pairs + at;
}

static enum seen_code check(const char *name, const char *value,
                            struct seen_error *why)
{
    if (!valid_name(name))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a name has letters, digits, '-' and '.'");
    if (store_text_taken(name, strlen(name)))
        return seen_fail(why, SEEN_RANGE, 0, "%s is a name of the plan", name);
    if (value && !one_line(value))
        return seen_fail(why, SEEN_RANGE, 0,
                         "the value of %s has control bytes", name);
    return SEEN_OK;
}

enum seen_code seen_meta_set(struct seen_filter *f, const char *name,
                             const char *value, struct seen_error *why)
{
    enum seen_code code = check(name, value, why);
    struct seen_meta *was = f->meta, *now;
    size_t at = offset_of(was, name), len = was ? was->len : 0;
    const char *old = pair_at(was, at, name);
    size_t gone = old ? (size_t)(past(past(old)) - old) : 0;
    size_t more = value ? strlen(name) + strlen(value) + 2 : 0;

    if (code != SEEN_OK)
        return code;
    if (len - gone + more > SEEN_META_TEXT)
        return seen_fail(why, SEEN_RANGE, 0, "metadata has more than %d bytes",
                         SEEN_META_TEXT);
    now = malloc(sizeof *now + len - gone + more);
    if (!now)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for metadata");
    now->len = len - gone + more;
    if (was) {
        memcpy(now->pairs, was->pairs, at);
        memcpy(now->pairs + at + more, was->pairs + at + gone,
               len - at - gone);
    }
    if (value) {
        memcpy(now->pairs + at, name, strlen(name) + 1);
        memcpy(now->pairs + at + strlen(name) + 1, value, strlen(value) + 1);
    }
    f->meta = now;
    free(was);                  /* last: `value` may point into it */
    return SEEN_OK;
}

const char *seen_meta_get(const struct seen_filter *f, const char *name)
{
    const char *pair = pair_at(f->meta, offset_of(f->meta, name), name);

    return pair ? past(pair) : NULL;
}

bool seen_meta_at(const struct seen_filter *f, size_t i, const char **name,
                  const char **value)
{
    const char *at = f->meta ? f->meta->pairs : NULL;
    const char *end = f->meta ? at + f->meta->len : NULL;

    while (at < end && i--)
        at = past(past(at));
    if (at >= end)
        return false;
    *name = at;
    *value = past(at);
    return true;
}

void store_meta_print(const struct seen_filter *f, struct buffer *to)
{
    const char *name, *value;

    for (size_t i = 0; seen_meta_at(f, i, &name, &value); i++)
        buffer_format(to, "%s=%s\n", name, value);
}
