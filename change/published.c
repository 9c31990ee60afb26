/*
 * published.c - the paper's five steps.
 *
 * The steps are numbered in published.h and in the code. Two things the paper
 * leaves open are decided here. Names and texts get their lengths before them
 * in the key of the content: without, a title "ab" with a text "c" would be
 * "existing" after "a" with "bc". And files are not flushed per record, since
 * the paper promises nothing after a crash; a state (state.h) does.
 */
#include "published.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/filter.h>
#include <seen/store.h>

#include "../lib/disk/disk.h"
#include "../lib/text/little.h"

enum { LOOKUP = 100000 }; /* the paper's lookup */

struct change_published {
    struct seen_filter *file[2];
    bool stored;
    struct buffer text;
};

static enum seen_code open_file(struct change_published *p, int i,
                                const char *folder, uint64_t capacity,
                                struct seen_error *why)
{
    /* The paper names neither kind nor rate: a plain filter of 0.1 %, whose
       rate rises when it has more than its capacity. */
    struct seen_plan plan = { .kind = "bloom",
                              .capacity = capacity ? capacity : LOOKUP,
                              .rate = 0.001,
                              .over = true };
    const char *profile = i ? "raw" : "whatwg";
    const struct seen_access access = { .profile = profile,
                                        .over = true,
                                        .sync = SEEN_SYNC_NO };
    struct seen_filter *fresh;
    enum seen_code code;
    char *path;

    strcpy(plan.profile, profile);
    if (!folder)
        return seen_filter_new(&p->file[i], &plan, why);
    if (asprintf(&path, "%s/file%d.seen", folder, i + 1) < 0)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    code = disk_make_folders(path, why);
    if (code == SEEN_OK)
        code = seen_filter_new(&fresh, &plan, why);
    if (code == SEEN_OK) {
        code = seen_store_create(fresh, path, why);
        seen_filter_free(fresh);
    }
    if (code == SEEN_OK || code == SEEN_EXISTS)
        code = seen_store_open(&p->file[i], path, &access, why);
    free(path);
    return code;
}

enum seen_code change_published_open(struct change_published **out,
                                     const char *folder, uint64_t capacity,
                                     struct seen_error *why)
{
    struct change_published *p = calloc(1, sizeof *p);
    enum seen_code code = SEEN_OK;

    *out = NULL;
    if (!p)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a lookup");
    p->stored = folder;
    for (int i = 0; code == SEEN_OK && i < 2; i++)
        code = open_file(p, i, folder, capacity, why);
    if (code != SEEN_OK)
        change_published_close(p, NULL);
    else
        *out = p;
    return code;
}

enum seen_code change_published_close(struct change_published *p,
                                      struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!p)
        return code;
    for (int i = 0; i < 2; i++) {
        enum seen_code one = SEEN_OK;

        if (p->stored && p->file[i])
            one = seen_store_close(p->file[i], code == SEEN_OK ? why : NULL);
        else
            seen_filter_free(p->file[i]);
        if (code == SEEN_OK)
            code = one;
    }
    buffer_clear(&p->text);
    free(p);
    return code;
}

/* The content: names and texts of all fields, as they are. */
static enum seen_code content_key(struct change_published *p,
                                  const struct change_record *r,
                                  struct seen_key *key, struct seen_error *why)
{
    char count[8];

    p->text.len = 0;
    for (size_t i = 0; i < r->fields; i++) {
        const struct change_field *f = &r->field[i];

        buffer_span(&p->text, f->name);
        little_put_64(count, f->n);
        buffer_bytes(&p->text, count, sizeof count);
        for (size_t k = 0; k < f->n; k++) {
            little_put_64(count, r->value[f->first + k].len);
            buffer_bytes(&p->text, count, sizeof count);
            buffer_span(&p->text, r->value[f->first + k]);
        }
    }
    if (p->text.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a content");
    seen_key_hash(key, p->text.len ? p->text.bytes : "", p->text.len);
    return SEEN_OK;
}

enum seen_code change_published_classify(struct change_published *p,
                                         const struct change_record *r,
                                         enum change_class *class,
                                         struct seen_error *why)
{
    struct seen_key content;
    enum seen_code code;
    bool known, existing;

    /* 2, 3: the URL */
    code = seen_filter_has(p->file[0], &r->key, 1, &known, why);
    /* 3a, 5: the content */
    if (code == SEEN_OK)
        code = content_key(p, r, &content, why);
    if (code != SEEN_OK)
        return code;
    if (!known) {
        *class = CHANGE_NEW;
        /* 4, 5 */
        code = seen_filter_add(p->file[0], &r->key, 1, NULL, why);
        return code == SEEN_OK
                   ? seen_filter_add(p->file[1], &content, 1, NULL, why)
                   : code;
    }
    /* 3b */
    code = seen_filter_has(p->file[1], &content, 1, &existing, why);
    if (code != SEEN_OK)
        return code;
    *class = existing ? CHANGE_UNCHANGED : CHANGE_UPDATED;
    return existing ? SEEN_OK
                    : seen_filter_add(p->file[1], &content, 1, NULL, why);
}

void change_published_rates(const struct change_published *p, double *file1,
                            double *file2)
{
    *file1 = seen_filter_rate(p->file[0]);
    *file2 = seen_filter_rate(p->file[1]);
}
