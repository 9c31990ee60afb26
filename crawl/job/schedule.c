/*
 * schedule.c - templates of a folder, and their slots.
 *
 * A look lists the folder, sorted, and merges the list with the files that are
 * known, also sorted. A file is read again if its device, inode, length or
 * times differ from those before it was last read: what is written while it is
 * read differs at the next look. An editor writes a file in pieces, so a file
 * that is not valid is reported at the second look that finds it the same.
 *
 * The newest slot of each name is remembered while the process runs, also when
 * the file goes. That and the visit's id, which follows from name and slot, are
 * all that keeps a visit from being asked for twice.
 */
#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/disk/disk.h"
#include "../../lib/disk/walk.h"
#include "../../lib/text/map.h"
#include "../../lib/text/memory.h"
#include "../../lib/text/span.h"
#include "job.h"

/* What distinguishes one version of a file from the next. */
struct schedule_version {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec written, changed;
};

/* A file. It has a text while it is valid. */
struct schedule_file {
    char *path, *base; /* base: its name in the folder */
    char *text;
    size_t len;
    char name[CRAWL_JOB_NAME_MOST + 1];
    uint64_t interval; /* s */
    struct schedule_version version;
    bool shadowed; /* an earlier file has its name */
    bool doubtful; /* this version is not valid, and not reported yet */
};

/* The newest slot of a name that was published. It stays when the file goes:
   a file that comes back must not bring an old slot. */
struct schedule_slot {
    char name[CRAWL_JOB_NAME_MOST + 1];
    uint64_t due;
};

struct crawl_schedule {
    struct crawl_schedule_plan plan;
    struct schedule_file **file; /* in the order of their names */
    size_t n;
    struct map slots; /* by name; since this process began */
    struct buffer message;
    char visit[128];
    const struct schedule_file *current; /* due, and not done */
    uint64_t due;
};

enum seen_code crawl_schedule_new(struct crawl_schedule **out,
                                  const struct crawl_schedule_plan *plan,
                                  struct seen_error *why)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return no_memory_for(why, "a schedule");
    (*out)->plan = *plan;
    return SEEN_OK;
}

static void free_file(struct schedule_file *f)
{
    free(f->path);
    free(f->base);
    free(f->text);
    free(f);
}

void crawl_schedule_free(struct crawl_schedule *s)
{
    void *slot;

    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        free_file(s->file[i]);
    free(s->file);
    for (size_t at = 0; (slot = map_next(&s->slots, &at));)
        free(slot);
    map_clear(&s->slots);
    buffer_clear(&s->message);
    free(s);
}

/* --- one file --- */

static void report(const struct crawl_schedule *s,
                   const struct schedule_file *f, const char *what)
{
    char text[512];

    snprintf(text, sizeof text, "%.200s: %.200s", f->path, what);
    if (s->plan.warn)
        s->plan.warn(s->plan.owner, text);
}

/* The name and the interval, from the template. */
static enum seen_code read_facts(const struct crawl_schedule *s,
                                 struct schedule_file *f, const char *text,
                                 size_t len, struct seen_error *why)
{
    struct crawl_template *t;
    struct seen_error detail;
    struct seen_span name;
    uint64_t interval;
    enum seen_code code = crawl_template_new(&t, text, len, NULL, NULL,
                                             &detail);

    if (code != SEEN_OK)
        return detail.at
                   ? seen_fail(why, code, detail.at, "line %llu: %.120s",
                               (unsigned long long)detail.at, detail.text)
                   : seen_fail(why, code, 0, "%s", detail.text);
    name = crawl_job_name(t, f->base);
    snprintf(f->name, sizeof f->name, "%.*s", (int)name.len, name.text);
    interval = crawl_template_limits(t)->interval;
    f->interval = interval == CRAWL_UNSET ? s->plan.every : interval / 1000;
    if (strlen(f->name) != name.len)
        code = seen_fail(why, SEEN_RANGE, 0, "its name is too long");
    else if (!f->interval)
        code = seen_fail(why, SEEN_RANGE, 0, "interval: less than a second");
    crawl_template_free(t);
    return code;
}

static enum seen_code make_job(struct crawl_schedule *s,
                               const struct schedule_file *f, const char *text,
                               size_t len, uint64_t due,
                               struct seen_error *why)
{
    const struct crawl_job_facts facts = {
        .name = span_of(f->name),
        .due = due,
        .template = { text, len },
        .settings = s->plan.settings,
        .shards = s->plan.shards,
    };

    s->message.len = 0;
    return crawl_job_write(&s->message, s->visit, &facts, why);
}

static bool is_same(const struct schedule_version *a,
                    const struct schedule_version *b)
{
    return a->device == b->device && a->inode == b->inode &&
           a->size == b->size && a->written.tv_sec == b->written.tv_sec &&
           a->written.tv_nsec == b->written.tv_nsec &&
           a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

/* A file that cannot be looked at has a version, too. */
static struct schedule_version version_of(const char *path)
{
    struct schedule_version v = { .size = -1 };
    struct stat st;

    if (!stat(path, &st))
        v = (struct schedule_version){ st.st_dev, st.st_ino, st.st_size,
                                       st.st_mtim, st.st_ctim };
    return v;
}

/*
 * Read a file that is new or changed. The version is that from before the
 * reading: what is written meanwhile is read at the next look.
 */
static enum seen_code read_file(struct crawl_schedule *s,
                                struct schedule_file *f,
                                struct seen_error *why)
{
    struct schedule_version version = version_of(f->path);
    struct seen_error fault;
    enum seen_code code;
    bool again = is_same(&version, &f->version);
    char *text = NULL;
    size_t len = 0;

    if (again && !f->doubtful)
        return SEEN_OK;
    f->version = version;
    code = disk_load(&text, &len, f->path, CRAWL_TEMPLATE, &fault);
    if (code == SEEN_OK && !len)
        code = seen_fail(&fault, SEEN_CORRUPT, 0, "the file is empty");
    if (code == SEEN_OK)
        code = read_facts(s, f, text, len, &fault);
    if (code == SEEN_OK)
        code = make_job(s, f, text, len, 0, &fault);
    if (code == SEEN_NOMEM) {
        free(text);
        f->version.size = -2; /* another try at the next look */
        return no_memory_for(why, "a schedule");
    }
    free(f->text);
    f->text = code == SEEN_OK ? text : NULL;
    f->len = len;
    if (code == SEEN_OK) {
        f->doubtful = false;
        return SEEN_OK;
    }
    free(text);
    f->doubtful = !again && !s->plan.eager;
    if (!f->doubtful)
        report(s, f, fault.text);
    return SEEN_OK;
}

/* --- the folder --- */

static bool is_template(const char *name)
{
    struct seen_span s = span_of(name);

    return span_ends(s, ".json") || span_ends(s, ".xml");
}

static struct schedule_file *new_file(const char *folder, const char *name)
{
    struct schedule_file *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->version.size = -2;
    f->path = walk_path(folder, name);
    f->base = strdup(name);
    if (f->path && f->base)
        return f;
    free_file(f);
    return NULL;
}

/* Both lists are sorted: put new files in, and drop those that are gone. */
static enum seen_code merge(struct crawl_schedule *s,
                            const struct walk_names *names,
                            struct seen_error *why)
{
    struct schedule_file **merged = calloc(names->n + 1, sizeof *merged);
    enum seen_code code = SEEN_OK;
    size_t at = 0, n = 0;

    if (!merged)
        return no_memory_for(why, "a schedule");
    for (size_t i = 0; i < names->n; i++) {
        if (!is_template(names->name[i]))
            continue;
        while (at < s->n && strcmp(s->file[at]->base, names->name[i]) < 0)
            free_file(s->file[at++]);
        if (at < s->n && !strcmp(s->file[at]->base, names->name[i]))
            merged[n++] = s->file[at++];
        else if ((merged[n] = new_file(s->plan.folder, names->name[i])))
            n++;
        else
            code = no_memory_for(why, "a schedule");
    }
    while (at < s->n)
        free_file(s->file[at++]);
    free(s->file);
    s->file = merged;
    s->n = n;
    return code;
}

/* The first file with a name has it. */
static enum seen_code find_doubles(struct crawl_schedule *s,
                                   struct seen_error *why)
{
    struct map names = { 0 };
    enum seen_code code = SEEN_OK;
    char text[256];

    for (size_t i = 0; i < s->n && code == SEEN_OK; i++) {
        struct schedule_file *f = s->file[i];
        const struct schedule_file *first;

        if (!f->text)
            continue;
        first = map_get(&names, f->name, strlen(f->name));
        if (!first && !map_set(&names, f->name, strlen(f->name), f))
            code = no_memory_for(why, "a schedule");
        if (first && !f->shadowed) {
            snprintf(text, sizeof text, "%.60s has the name %.80s already",
                     first->base, f->name);
            report(s, f, text);
        }
        f->shadowed = first;
    }
    map_clear(&names);
    return code;
}

enum seen_code crawl_schedule_look(struct crawl_schedule *s,
                                   struct seen_error *why)
{
    struct walk_names names = { .n = 0 };
    enum seen_code code = walk_folder(&names, s->plan.folder, false, why);

    if (code != SEEN_OK)
        return code;
    s->current = NULL;
    code = merge(s, &names, why);
    for (size_t i = 0; i < s->n && code == SEEN_OK; i++)
        code = read_file(s, s->file[i], why);
    if (code == SEEN_OK)
        code = find_doubles(s, why);
    walk_clear(&names);
    return code;
}

void crawl_schedule_count(const struct crawl_schedule *s, size_t *valid,
                          size_t *faulty)
{
    *valid = *faulty = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->file[i]->text && !s->file[i]->shadowed)
            ++*valid;
        else
            ++*faulty;
}

/* --- slots --- */

static struct schedule_slot *find_slot(const struct crawl_schedule *s,
                                       const struct schedule_file *f)
{
    return map_get(&s->slots, f->name, strlen(f->name));
}

enum seen_code crawl_schedule_due(struct crawl_schedule *s, uint64_t now,
                                  struct crawl_schedule_job *job,
                                  struct seen_error *why)
{
    enum seen_code code;

    s->current = NULL;
    for (size_t i = 0; i < s->n; i++) {
        const struct schedule_file *f = s->file[i];
        const struct schedule_slot *last = find_slot(s, f);

        if (!f->text || f->shadowed)
            continue;
        s->due = now - now % f->interval;
        if (last && last->due >= s->due)
            continue;
        code = make_job(s, f, f->text, f->len, s->due, why);
        if (code != SEEN_OK)
            return code;
        s->current = f;
        *job = (struct crawl_schedule_job){
            .visit = s->visit,
            .name = f->name,
            .due = s->due,
            .message = { s->message.bytes, s->message.len },
        };
        return SEEN_OK;
    }
    return SEEN_ABSENT;
}

enum seen_code crawl_schedule_done(struct crawl_schedule *s,
                                   struct seen_error *why)
{
    const struct schedule_file *f = s->current;
    struct schedule_slot *slot = f ? find_slot(s, f) : NULL;

    if (!f)
        return SEEN_OK;
    if (!slot) {
        slot = calloc(1, sizeof *slot);
        if (!slot)
            return no_memory_for(why, "a schedule");
        memcpy(slot->name, f->name, sizeof slot->name);
        if (!map_set(&s->slots, slot->name, strlen(slot->name), slot)) {
            free(slot);
            return no_memory_for(why, "a schedule");
        }
    }
    slot->due = s->due;
    s->current = NULL;
    return SEEN_OK;
}

uint64_t crawl_schedule_next(const struct crawl_schedule *s, uint64_t now)
{
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < s->n; i++) {
        const struct schedule_file *f = s->file[i];

        if (f->text && !f->shadowed &&
            now - now % f->interval + f->interval < next)
            next = now - now % f->interval + f->interval;
    }
    return next;
}
