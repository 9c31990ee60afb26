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
#include <time.h>

#include "text.h"

struct seen_meta {
    struct seen_meta *next; /* in the list of a writer: see meta.h */
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

static const struct seen_meta *meta_of(const struct seen_filter *f)
{
    return __atomic_load_n(&f->meta, __ATOMIC_ACQUIRE);
}

/* Set one name; what there was is *gone_to, for the caller to free. */
static enum seen_code change(struct seen_filter *f, const char *name,
                             const char *value, struct seen_meta **gone_to,
                             struct seen_error *why)
{
    enum seen_code code = check(name, value, why);
    struct seen_meta *was = f->meta, *now;
    size_t at = offset_of(was, name), len = was ? was->len : 0;
    const char *old = pair_at(was, at, name);
    size_t gone = old ? (size_t)(past(past(old)) - old) : 0;
    size_t more = value ? strlen(name) + strlen(value) + 2 : 0;

    *gone_to = NULL;
    if (code != SEEN_OK)
        return code;
    if (len - gone + more > SEEN_META_TEXT)
        return seen_fail(why, SEEN_RANGE, 0, "metadata has more than %d bytes",
                         SEEN_META_TEXT);
    now = malloc(sizeof *now + len - gone + more);
    if (!now)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for metadata");
    now->next = NULL;
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
    __atomic_store_n(&f->meta, now, __ATOMIC_RELEASE);
    *gone_to = was;
    return SEEN_OK;
}

enum seen_code seen_meta_set(struct seen_filter *f, const char *name,
                             const char *value, struct seen_error *why)
{
    struct seen_meta *was;
    enum seen_code code = change(f, name, value, &was, why);

    free(was);                  /* last: `value` may point into it */
    return code;
}

const char *seen_meta_get(const struct seen_filter *f, const char *name)
{
    const struct seen_meta *meta = meta_of(f);
    const char *pair = pair_at(meta, offset_of(meta, name), name);

    return pair ? past(pair) : NULL;
}

bool seen_meta_at(const struct seen_filter *f, size_t i, const char **name,
                  const char **value)
{
    const struct seen_meta *meta = meta_of(f);
    const char *at = meta ? meta->pairs : NULL;
    const char *end = meta ? at + meta->len : NULL;

    while (at < end && i--)
        at = past(past(at));
    if (at >= end)
        return false;
    *name = at;
    *value = past(at);
    return true;
}

/* --- the date --- */

/* How many bytes of a value are a date: "2026", "2026-11", or "2026-11-15",
   which a time may follow. 0 if it is not one. */
static size_t date_length(const char *value)
{
    static const char form[] = "dddd-dd-dd";
    size_t n = 0;

    while (form[n] && (form[n] == 'd' ? value[n] >= '0' && value[n] <= '9'
                                      : value[n] == form[n]))
        n++;
    if (n == 10)
        return !value[n] || value[n] == 'T' || value[n] == ' ' ? n : 0;
    return (n == 4 || n == 7) && !value[n] ? n : 0;
}

enum seen_code store_meta_follow(struct seen_filter *f, int64_t when,
                                 struct seen_meta **was,
                                 struct seen_error *why)
{
    const char *value = seen_meta_get(f, "as-of");
    size_t len = value ? date_length(value) : 0;
    const time_t moment = (time_t)when;
    char day[32];
    struct tm utc;

    *was = NULL;
    if (!len || !gmtime_r(&moment, &utc) ||
        strftime(day, sizeof day, "%Y-%m-%d", &utc) != 10)
        return SEEN_OK;
    day[len] = '\0';
    if (strncmp(value, day, len) >= 0)
        return SEEN_OK;
    return change(f, "as-of", day, was, why);
}

struct seen_meta *store_meta_undo(struct seen_filter *f, struct seen_meta *was)
{
    struct seen_meta *now = f->meta;

    __atomic_store_n(&f->meta, was, __ATOMIC_RELEASE);
    return now;
}

void store_meta_keep(struct seen_meta **list, struct seen_meta *was)
{
    was->next = *list;
    *list = was;
}

void store_meta_free(struct seen_meta *list)
{
    while (list) {
        struct seen_meta *next = list->next;

        free(list);
        list = next;
    }
}

/* --- as text --- */

void store_meta_print(const struct seen_filter *f, struct buffer *to)
{
    const char *name, *value;

    for (size_t i = 0; seen_meta_at(f, i, &name, &value); i++)
        buffer_format(to, "%s=%s\n", name, value);
}
