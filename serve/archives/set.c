/*
 * set.c - from operands to a set of archives, and its end.
 *
 * An operand is NAME=FILTER, a filter, or a folder of filters. Filters that are
 * named must be there and good when the server starts: a mistake in a command
 * line is said at once. Servers that cannot be reached, and files of a folder,
 * may come later.
 *
 * The other parts of the set are files of their own: names.c, checks.c,
 * writers.c, overlay.c and remote.c.
 */
#include "inside.h"

#include <stdlib.h>
#include <time.h>

#include "overlay.h"

static enum seen_code add_folder(struct archive_set *set, const char *path,
                                 struct seen_error *why)
{
    char **more = realloc(set->folder, (set->folders + 1) * sizeof *more);
    struct archive_said *said = realloc(set->said,
                                        (set->folders + 1) * sizeof *said);
    struct archive_said first = { .text = NULL };
    struct archive_overlay overlay;
    enum seen_code code;

    if (more)
        set->folder = more;
    if (said)
        set->said = said;
    code = archive_overlay_load(&overlay, path, &first.text, &first.len, why);
    archive_overlay_clear(&overlay);
    if (code != SEEN_OK)
        return code;
    if (!said || !more || !(more[set->folders] = realpath(path, NULL))) {
        free(first.text);
        return seen_fail(why, SEEN_IO, 0, "cannot be read");
    }
    said[set->folders++] = first;
    return SEEN_OK;
}

/* The path of an operand, and the name: NAME=FILTER, or NAME.seen alone. A
   file that is there is never taken for NAME=FILTER. An address has a name of
   its own only in front of it: it may have a '=' among its settings. */
static const char *path_of(const char *operand, struct seen_span *name)
{
    const char *equals = strchr(operand, '='), *slash = strrchr(operand, '/');
    struct stat file;

    if (equals && stat(operand, &file) && !archive_is_remote(operand)) {
        *name = (struct seen_span){ operand, (size_t)(equals - operand) };
        return equals + 1;
    }
    *name = span_of(slash ? slash + 1 : operand);
    if (span_ends(*name, ".seen"))
        name->len -= 5;
    return operand;
}

/* Can the filter be opened and asked? */
static enum seen_code try_filter(const struct archive_set *set,
                                 const char *path, struct seen_error *why)
{
    struct seen_filter *f = NULL;
    enum seen_code code = seen_store_map(
        &f, path, &(struct seen_access){ .unverified = true }, why);

    if (code == SEEN_OK && seen_filter_cost(f) > set->cost)
        code = seen_fail(why, SEEN_RANGE, 0, ARCHIVE_TOO_EXPENSIVE,
                         seen_filter_cost(f), set->cost);
    seen_filter_free(f);
    return code;
}

/* A server that cannot be reached now is waited for. Two archives may be at one
   address. */
static enum seen_code try_remote(struct archive_set *set, const char *address,
                                 struct seen_error *why)
{
    enum seen_code code;
    bool away;

    if (archive_remote_find(set, address))
        return SEEN_OK;
    code = archive_remote_open(set, address, &away, why);
    if (code == SEEN_OK && away && set->warn)
        set->warn(address, why->text);
    return code;
}

static enum seen_code add_operand(struct archive_set *set, const char *operand,
                                  struct seen_error *why)
{
    struct seen_span name;
    const char *path = path_of(operand, &name), *fault;
    struct stat file;
    enum seen_code code;

    if (!stat(operand, &file) && S_ISDIR(file.st_mode))
        return add_folder(set, operand, why);
    if (archive_is_remote(operand))
        return seen_fail(why, SEEN_RANGE, 0,
                         "an archive on a server needs a name: NAME=ADDRESS");
    fault = archive_name_fault(set, name);
    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    for (size_t i = 0; i < set->named.n; i++)
        if (span_is(name, set->named.entry[i].name))
            return seen_fail(why, SEEN_RANGE, 0, "the name is given twice");
    code = archive_is_remote(path) ? try_remote(set, path, why)
                                   : try_filter(set, path, why);
    if (code == SEEN_OK &&
        !archive_list_append(&set->named, strndup(name.text, name.len),
                             strdup(path), 0))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a name");
    return code;
}

/* False if a thread still waits for its server. */
static bool close_remotes(struct archive_set *set)
{
    const struct timespec end = archive_deadline();
    struct archive_remote *r, *next;
    bool all = true;

    for (r = set->remotes; r; r = archive_remote_next(r))
        archive_remote_stop(r);
    for (r = set->remotes; r; r = next) {
        next = archive_remote_next(r);
        all &= archive_remote_close(r, &end);
    }
    set->remotes = NULL;
    return all;
}

static void set_free(struct archive_set *set)
{
    for (size_t i = 0; i < set->folders; i++) {
        free(set->folder[i]);
        free(set->said[i].text);
    }
    free(set->folder);
    free(set->said);
    archive_list_clear(&set->named);
    archive_list_clear(&set->deleted);
    while (set->checks) {
        struct archive_check *check = set->checks;

        set->checks = check->next;
        free(check->path);
        free(check);
    }
    pthread_mutex_destroy(&set->lock);
    pthread_mutex_destroy(&set->opening);
    pthread_mutex_destroy(&set->reading);
    pthread_cond_destroy(&set->changed);
    explicit_bzero(set->secret, sizeof set->secret);
    free(set);
}

enum seen_code archive_set_open(struct archive_set **out,
                                const struct archive_set_options *options,
                                struct seen_error *why)
{
    struct archive_set *set = calloc(1, sizeof *set);
    enum seen_code code = SEEN_OK;
    pthread_condattr_t monotonic;

    *out = NULL;
    if (!set)
        return seen_fail(why, SEEN_NOMEM, options->operands,
                         "no memory to serve");
    pthread_mutex_init(&set->lock, NULL);
    pthread_mutex_init(&set->opening, NULL);
    pthread_mutex_init(&set->reading, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&set->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    set->writable = options->writable;
    set->digests = options->digests;
    set->sync = options->sync;
    set->cost = options->cost ? options->cost : UINT64_MAX;
    set->reserved = options->reserved;
    set->report = options->report;
    set->tell = options->tell;
    set->warn = options->warn;
    set->mistaken = options->mistaken;
    set->keyed = options->secret;
    if (options->secret)
        memcpy(set->secret, options->secret, sizeof set->secret);
    for (size_t i = 0; i < options->operands && code == SEEN_OK; i++) {
        code = add_operand(set, options->operand[i], why);
        if (code != SEEN_OK && why)
            why->at = i;
    }
    if (code == SEEN_OK && options->report)
        archive_report(set, options->report);
    if (code == SEEN_OK &&
        pthread_create(&set->checker, NULL, archive_check_run, set))
        code = seen_fail(why, SEEN_IO, options->operands,
                         "cannot start the thread that checks filters");
    if (code != SEEN_OK) {
        if (close_remotes(set))
            set_free(set);
        return code;
    }
    *out = set;
    return SEEN_OK;
}

struct timespec archive_deadline(void)
{
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += ARCHIVE_LEAVE_SECONDS;
    return end;
}

void archive_set_notify(struct archive_set *set, void (*wake)(void *),
                        void *to)
{
    pthread_mutex_lock(&set->lock);
    set->wake = wake;
    set->to = to;
    pthread_mutex_unlock(&set->lock);
}

const unsigned char *archive_set_secret(const struct archive_set *set)
{
    return set->keyed ? set->secret : NULL;
}

bool archive_set_writable(const struct archive_set *set)
{
    return set->writable;
}

uint64_t archive_set_cost(const struct archive_set *set)
{
    return set->cost;
}

unsigned archive_set_rereads(const struct archive_set *set)
{
    return __atomic_load_n(&set->rereads, __ATOMIC_ACQUIRE);
}

void archive_set_reread(struct archive_set *set)
{
    if (set->report)
        archive_report(set, set->report);
    pthread_mutex_lock(&set->lock);
    __atomic_add_fetch(&set->rereads, 1, __ATOMIC_RELEASE);
    archive_set_changed(set);
    pthread_mutex_unlock(&set->lock);
}

void archive_set_tell(const struct archive_set *set, const char *name,
                      const char *path, enum archive_news news,
                      const char *why)
{
    if (set->tell)
        set->tell(name, path, news, why);
}

void archive_set_take_deleted(struct archive_set *set,
                              struct archive_list *list)
{
    pthread_mutex_lock(&set->lock);
    *list = set->deleted;
    memset(&set->deleted, 0, sizeof set->deleted);
    pthread_mutex_unlock(&set->lock);
}

/* The lock is held while the file is read, so that what is kept is what was
   read last. */
void archive_read_overlay(struct archive_set *set, size_t i,
                          struct archive_overlay *overlay)
{
    struct archive_said now = { .text = NULL }, *said = &set->said[i];
    struct archive_overlay next;
    enum seen_code code;
    bool known, wrong;

    pthread_mutex_lock(&set->reading);
    code = archive_overlay_load(&next, set->folder[i], &now.text, &now.len,
                                &now.mistake);
    wrong = code != SEEN_OK;
    known = !strcmp(said->mistake.text, now.mistake.text);
    if (!wrong) {
        free(said->text);
        *said = now;
    } else {
        said->mistake = now.mistake;
        code = said->text
                   ? archive_overlay_parse(&next, said->text, said->len, NULL)
                   : SEEN_OK; /* there was no file: next is empty */
    }
    pthread_mutex_unlock(&set->reading);
    if (wrong && !known && set->mistaken)
        set->mistaken(set->folder[i], now.mistake.text);
    if (code != SEEN_OK)
        return;
    archive_overlay_clear(overlay);
    *overlay = next;
}

unsigned archive_set_version(const struct archive_set *set)
{
    return __atomic_load_n(&set->version, __ATOMIC_ACQUIRE);
}

void archive_set_changed(struct archive_set *set)
{
    __atomic_add_fetch(&set->version, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&set->changed);
    if (set->wake)
        set->wake(set->to);
}

enum seen_code archive_set_close(struct archive_set *set,
                                 struct seen_error *why)
{
    const struct timespec end = archive_deadline();
    enum seen_code first = SEEN_OK;
    bool ended, alone;

    pthread_mutex_lock(&set->lock);
    set->stop = true;
    set->wake = NULL;
    pthread_cond_broadcast(&set->changed);
    pthread_mutex_unlock(&set->lock);
    while (set->writers) {
        struct archive_writer *w = set->writers;
        enum seen_code code;

        set->writers = w->next;
        code = archive_writer_close(w, first ? NULL : why);
        first = first ? first : code;
    }
    alone = close_remotes(set);
    pthread_mutex_lock(&set->lock);
    while (!set->checker_ended &&
           !pthread_cond_timedwait(&set->changed, &set->lock, &end))
        ;
    ended = set->checker_ended;
    pthread_mutex_unlock(&set->lock);
    if (ended) { /* else it still reads, until the process ends */
        pthread_join(set->checker, NULL);
        if (alone)
            set_free(set);
    }
    return first;
}
