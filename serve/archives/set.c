/* set.c - from operands to a library, and its end. */
#define _GNU_SOURCE /* asprintf, clock waits */
#include "inside.h"

#include <stdlib.h>
#include <time.h>

static enum seen_code take_operand(struct library *l, const char *operand,
                                   struct seen_error *why)
{
    const char *equals = strchr(operand, '=');
    struct seen_filter *f = NULL;
    struct stat it;
    const char *fault;
    enum seen_code code;
    struct span name;

    if (!stat(operand, &it) && S_ISDIR(it.st_mode)) {
        char **more = realloc(l->folder, (l->folders + 1) * sizeof *more);

        if (more)
            l->folder = more;
        if (!more || !(more[l->folders] = realpath(operand, NULL)))
            return seen_fail(why, SEEN_IO, 0, "cannot be read");
        l->folders++;
        return SEEN_OK;
    }
    if (!equals)
        return seen_fail(why, SEEN_RANGE, 0,
                         "is no folder; for a filter give NAME=FILTER");
    name = (struct span){ operand, (size_t)(equals - operand) };
    fault = library_name_fault(name);
    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    code = seen_store_map(&f, equals + 1,
                          &(struct seen_access){ .unverified = true }, why);
    seen_filter_free(f);
    if (code != SEEN_OK)
        return code;
    if (!holding_append(&l->named, &l->names, strndup(name.text, name.len),
                        strdup(equals + 1), 0))
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a name");
    if (holding_named(l->named, l->names - 1, l->named[l->names - 1].name))
        return seen_fail(why, SEEN_RANGE, 0, "the name is given twice");
    return SEEN_OK;
}

static void library_free(struct library *l)
{
    for (size_t i = 0; i < l->folders; i++)
        free(l->folder[i]);
    free(l->folder);
    holdings_free(l->named, l->names);
    while (l->verdicts) {
        struct verdict_of *v = l->verdicts;

        l->verdicts = v->next;
        free(v->path);
        free(v);
    }
    pthread_mutex_destroy(&l->lock);
    pthread_mutex_destroy(&l->opening);
    pthread_cond_destroy(&l->changed);
    memset(l->secret, 0, sizeof l->secret);
    free(l);
}

enum seen_code library_new(struct library **out, const struct library_how *how,
                           struct seen_error *why)
{
    struct library *l = calloc(1, sizeof *l);
    enum seen_code code = SEEN_OK;

    *out = NULL;
    if (!l)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to serve");
    pthread_mutex_init(&l->lock, NULL);
    pthread_mutex_init(&l->opening, NULL);
    pthread_cond_init(&l->changed, NULL);
    l->writable = how->writable;
    l->sync = how->sync;
    l->keyed = how->secret;
    if (how->secret)
        memcpy(l->secret, how->secret, sizeof l->secret);
    for (size_t i = 0; i < how->operands && code == SEEN_OK; i++) {
        code = take_operand(l, how->operand[i], why);
        if (code != SEEN_OK && why)
            why->at = i;
    }
    if (code == SEEN_OK && pthread_create(&l->checker, NULL, verdict_run, l))
        code = seen_fail(why, SEEN_IO, 0, "no thread to check filters");
    if (code != SEEN_OK) {
        library_free(l);
        return code;
    }
    *out = l;
    return SEEN_OK;
}

void library_tell(struct library *l, void (*wake)(void *), void *to)
{
    pthread_mutex_lock(&l->lock);
    l->wake = wake;
    l->to = to;
    pthread_mutex_unlock(&l->lock);
}

const unsigned char *library_secret(const struct library *l)
{
    return l->keyed ? l->secret : NULL;
}

bool library_writable(const struct library *l)
{
    return l->writable;
}

unsigned library_age(const struct library *l)
{
    return __atomic_load_n(&l->age, __ATOMIC_ACQUIRE);
}

void library_older(struct library *l)
{
    __atomic_add_fetch(&l->age, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&l->changed);
    if (l->wake)
        l->wake(l->to);
}

enum seen_code library_close(struct library *l, struct seen_error *why)
{
    enum seen_code first = SEEN_OK;
    struct timespec end;

    pthread_mutex_lock(&l->lock);
    l->stop = true;
    l->wake = NULL;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    while (l->writers) {
        struct writer *w = l->writers;
        enum seen_code code;

        l->writers = w->next;
        code = writer_close(w, first ? NULL : why);
        first = first ? first : code;
    }
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += LEAVE_SECONDS;
    if (!pthread_timedjoin_np(l->checker, NULL, &end))
        library_free(l); /* else it still reads, and the process ends */
    return first;
}
