/* troubles.c - archives that were there at the last check, and how they were. */
#include "troubles.h"

#include <stdlib.h>

enum {
    LASTING = 2,  /* checks until trouble is reported */
    DELETED = 3,  /* checks in which a deleted archive may still be seen */
    MISSED = 1000 /* archives that are gone and may come back */
};

struct archive_known {
    char *name, *path;
    unsigned checks;  /* in trouble, in a row */
    unsigned deleted; /* by a client: checks that this is still remembered */
    bool told, gone;
    char why[160]; /* as reported */
};

struct archive_troubles {
    struct archive_known *known; /* in order of names */
    size_t n, gone;
    bool begun;
};

struct archive_troubles *archive_troubles_new(void)
{
    return calloc(1, sizeof(struct archive_troubles));
}

static void forget(struct archive_known *k)
{
    free(k->name);
    free(k->path);
}

void archive_troubles_free(struct archive_troubles *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++)
        forget(&t->known[i]);
    free(t->known);
    free(t);
}

/* Trouble in this check: is it time to report it? */
static void complain(struct archive_troubles *t, struct archive_set *set,
                     struct archive_known *k, const char *why)
{
    k->checks++;
    if ((t->begun && k->checks < LASTING) ||
        (k->told && !strncmp(k->why, why, sizeof k->why - 1)))
        return;
    k->told = true;
    memcpy(k->why, why, strnlen(why, sizeof k->why - 1) + 1);
    k->why[sizeof k->why - 1] = '\0';
    archive_set_tell(set, k->name, k->path,
                     k->gone ? ARCHIVE_IS_GONE : ARCHIVE_FAILS, k->why);
}

static void look_at(struct archive_troubles *t, struct archive_set *set,
                    struct archive_known *k, const struct archive *a)
{
    if (k->gone) {
        k->gone = false;
        k->checks = 0;
    }
    if (k->deleted)
        k->deleted--;
    if (!a->filter) {
        complain(t, set, k, a->why.text);
        return;
    }
    if (k->told)
        archive_set_tell(set, k->name, k->path, ARCHIVE_ANSWERS, NULL);
    k->told = false;
    k->checks = 0;
}

/* An archive is not there any more. False if it need not be remembered. */
static bool miss(struct archive_troubles *t, struct archive_set *set,
                 struct archive_known *k)
{
    if (k->deleted || t->gone >= MISSED)
        return false;
    if (!k->gone) {
        k->gone = true;
        k->checks = 0;
        k->told = false;
    }
    t->gone++;
    complain(t, set, k, "the file is gone");
    return true;
}

static bool copy(struct archive_known *k, const struct archive *a)
{
    *k = (struct archive_known){ .name = strdup(a->name),
                                 .path = strdup(a->path) };
    if (k->name && k->path)
        return true;
    forget(k);
    return false;
}

/* Clients that delete archives are no trouble. */
static void mark_deleted(struct archive_known *known, size_t n,
                         const struct archive_list *deleted)
{
    for (size_t i = 0; i < deleted->n; i++)
        for (size_t j = 0; j < n; j++)
            if (!strcmp(known[j].path, deleted->entry[i].path))
                known[j].deleted = DELETED;
}

/* Both lists are in order of names. */
void archive_troubles_check(struct archive_troubles *t,
                            struct archive_set *set, struct archive_view *v)
{
    struct archive *const *archive = archive_view_named(v);
    const size_t n = archive_view_count(v);
    struct archive_known *next = calloc(n + t->n + 1, sizeof *next);
    size_t i = 0, j = 0, kept = 0;
    struct archive_list deleted;

    if (!next)
        return; /* the next check finds it */
    archive_set_take_deleted(set, &deleted);
    mark_deleted(t->known, t->n, &deleted);
    t->gone = 0;
    while (i < t->n || j < n) {
        struct archive_known *k = &t->known[i];
        const int order = i == t->n ? 1
                          : j == n  ? -1
                                    : strcmp(k->name, archive[j]->name);

        if (order < 0) {
            if (miss(t, set, k))
                next[kept++] = *k;
            else
                forget(k);
            i++;
            continue;
        }
        if (archive[j]->remote) {
            if (!order)
                forget(&t->known[i++]);
            j++;
            continue;
        }
        if (!order)
            next[kept++] = t->known[i++];
        else if (copy(&next[kept], archive[j]))
            kept++;
        else {
            j++;
            continue;
        }
        look_at(t, set, &next[kept - 1], archive[j++]);
    }
    /* Also those that the view, which is older, still has, for the first
       time. */
    mark_deleted(next, kept, &deleted);
    archive_list_clear(&deleted);
    free(t->known);
    t->known = next;
    t->n = kept;
    t->begun = true;
}
