/*
 * folder.c - the folder of a worker, and those that died workers left.
 *
 *     DIR/worker-7/warc/crawl-00001.warc.gz
 *     DIR/worker-7/index.cdxj, pages.jsonl, crawl.log
 *     DIR/worker-7/commit        while a worker has the folder
 *
 * Which lines count? Those of a group of pages are flushed before the
 * transaction of the frontier that makes the pages done (team.h, steps 2 and
 * 4). A worker that dies between these leaves lines of pages that another
 * worker fetches again. So before it writes lines it notes, in the file
 * `commit`, the number of that transaction and how long the files are without
 * the lines and with them:
 *
 *     seen-commit TOKEN LEASE COMMIT INDEX PAGES LOG INDEX PAGES LOG end
 *
 * The frontier knows the last commit of each lease (frontier/shared.c). If it
 * is this one or a later one, the lines count; else they are cut off. A note
 * that is older than the last lines says the same of them: they were not
 * flushed together, so their commit was not tried. TOKEN is that of the
 * frontier, for a DIR that was used with another one.
 *
 * Who decides? The worker itself, if a commit failed and it lives. Else
 * whoever finds the folder without a worker: `commit` is locked while one has
 * it. All workers of a DIR look when they begin, once per lease, and when they
 * end. A worker that died may have had a COMMIT under way at the server: the
 * row of its lease is read with a lock, which waits for that.
 *
 * Rows of leases stay for a day. After that nobody knows whether the lines
 * count: they stay, with a warning.
 *
 * The WARC files are not cut: records that no index names do no harm.
 */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/disk/clock.h"
#include "../../lib/disk/disk.h"
#include "../../lib/disk/lock.h"
#include "../../lib/disk/walk.h"
#include "cache.h"

enum {
    LINES = CRAWL_FILE_LOG + 1, /* index, pages and log are the first files */
    NOTE = 256,
    TOKEN = 23
};

static const char note_name[] = "commit";

struct note {
    char token[TOKEN + 1];
    int64_t lease, commit;
    uint64_t without[LINES], with[LINES]; /* the lines of the commit */
};

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
}

/* --- notes --- */

static enum seen_code write_note(int fd, const struct note *n,
                                 struct seen_error *why)
{
    char text[NOTE];
    int len = snprintf(text, sizeof text,
                       "seen-commit %s %" PRId64 " %" PRId64, n->token,
                       n->lease, n->commit);

    for (int i = 0; i < 2 * LINES; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, " %" PRIu64,
                        i < LINES ? n->without[i] : n->with[i - LINES]);
    len += snprintf(text + len, sizeof text - (size_t)len, " end");
    memset(text + len, ' ', sizeof text - (size_t)len);
    text[NOTE - 1] = '\n';
    return disk_named(disk_write(fd, text, NOTE, 0, why), note_name, why);
}

/* False: there is none, so no line was written. */
static bool read_note(int fd, struct note *n)
{
    char text[NOTE];
    int end = 0;

    if (disk_read(fd, text, sizeof text, 0, NULL) != SEEN_OK)
        return false;
    text[NOTE - 1] = '\0';
    return sscanf(text,
                  "seen-commit %23s %" SCNd64 " %" SCNd64 " %" SCNu64
                  " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                  " end%n",
                  n->token, &n->lease, &n->commit, &n->without[0],
                  &n->without[1], &n->without[2], &n->with[0], &n->with[1],
                  &n->with[2], &end) == 9 &&
           end;
}

/* --- folders that nobody has --- */

static enum seen_code cut_text(const char *folder, enum crawl_file file,
                               uint64_t length, struct seen_error *why)
{
    char *path = walk_path(folder, crawl_output_name(file));
    int fd = path ? disk_open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0) : -1;
    enum seen_code code = SEEN_OK;
    struct stat st;

    free(path);
    if (!path)
        return no_memory(why);
    if (fd < 0 || fstat(fd, &st) ||
        ((uint64_t)st.st_size > length && ftruncate(fd, (off_t)length)))
        code = seen_fail(why, SEEN_IO, 0, "cannot be cut back");
    if (code == SEEN_OK)
        code = disk_flush(fd, why);
    if (fd >= 0)
        close(fd);
    return disk_named(code, crawl_output_name(file), why);
}

static enum seen_code mend_by(struct crawl *c, const char *folder,
                              const struct note *n, struct seen_error *why)
{
    enum seen_code code;
    int64_t last;

    if (strcmp(n->token, crawl_team_of(c)->token))
        return SEEN_MISMATCH; /* of another frontier, whose workers do it */
    code = frontier_spread_last_commit(crawl_team_of(c)->frontier, n->lease,
                                       n->commit, &last, why);
    if (code == SEEN_ABSENT)
        return seen_fail(why, code, 0,
                         "nobody knows any more whether its last lines count "
                         "twice; they stay");
    for (int i = 0; code == SEEN_OK && i < LINES; i++)
        code = cut_text(folder, (enum crawl_file)i,
                        last >= n->commit ? n->with[i] : n->without[i], why);
    return code;
}

/* What cannot be mended now is looked at again, but for what nobody knows. */
static enum seen_code mend_folder(struct crawl *c, const char *folder,
                                  const char *note, struct seen_error *why)
{
    enum seen_code code;
    struct note n;
    int lock, fd;

    code = lock_take(&lock, note, "it has a worker", why);
    if (code != SEEN_OK)
        return code == SEEN_BUSY ? SEEN_OK : code;
    fd = disk_open(note, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd >= 0 && read_note(fd, &n))
        code = mend_by(c, folder, &n, why);
    if (fd >= 0)
        close(fd);
    lock_release(lock, code == SEEN_OK || code == SEEN_ABSENT ? note : NULL);
    return code == SEEN_MISMATCH ? SEEN_OK : code;
}

void crawl_team_folder_mend(struct crawl *c)
{
    struct crawl_team *t = crawl_team_of(c);
    struct walk_names names = { .name = NULL };
    struct seen_error why, warning;

    t->mended = clock_ms();
    if (!t->settings.into ||
        walk_folder(&names, t->settings.into, false, NULL) != SEEN_OK)
        return; /* it may not be there yet */
    for (size_t i = 0; i < names.n; i++) {
        char *folder = walk_path(t->settings.into, names.name[i]);
        char *note = folder ? walk_path(folder, note_name) : NULL;

        if (note && !strncmp(names.name[i], "worker-", 7) &&
            !access(note, F_OK) && !lock_held(note) &&
            mend_folder(c, folder, note, &why) != SEEN_OK) {
            seen_fail(&warning, why.code, 0, "%s", why.text);
            disk_named(warning.code, folder, &warning);
            crawl_team_warn(c, &warning);
        }
        free(note);
        free(folder);
    }
    walk_clear(&names);
}

/* --- the own folder --- */

static enum seen_code take_note(struct crawl_team *t, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    t->note = walk_path(t->folder, note_name);
    if (!t->note)
        return no_memory(why);
    code = lock_take(&t->note_lock, t->note, "another worker has it", why);
    if (code == SEEN_OK) {
        t->note_fd = disk_open(t->note, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
        if (t->note_fd < 0)
            code = seen_fail(why, SEEN_IO, 0, "cannot be opened");
    }
    return disk_named(code, t->note, why);
}

enum seen_code crawl_team_folder_open(struct crawl *c, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    const char *into = t->settings.into;
    const struct crawl_position begin = { .warc_file = 0 };
    enum seen_code code = SEEN_OK;

    if (!into)
        return SEEN_OK;
    if (!mkdir(into, 0777))
        code = disk_flush_name(into, why);
    else if (errno != EEXIST)
        code = seen_fail(why, SEEN_IO, 0, "cannot be made");
    if (code != SEEN_OK)
        return disk_named(code, into, why);
    code = crawl_team_token(t, why);
    if (code != SEEN_OK)
        return code;
    crawl_team_folder_mend(c);
    if (asprintf(&t->folder, "%s/worker-%lld", into,
                 (long long)frontier_spread_number(t->frontier)) < 0) {
        t->folder = NULL;
        return no_memory(why);
    }
    if (mkdir(t->folder, 0777)) {
        code = errno == EEXIST
                   ? seen_fail(why, SEEN_EXISTS, 0,
                               "is there, from another frontier; choose "
                               "another folder")
                   : seen_fail(why, SEEN_IO, 0, "cannot be made");
        return disk_named(code, t->folder, why);
    }
    code = disk_flush_name(t->folder, why);
    if (code != SEEN_OK)
        return disk_named(code, t->folder, why);
    code = take_note(t, why);
    if (code != SEEN_OK)
        return code;
    code = disk_named(
        crawl_engine_open_files(c, t->folder, t->name, &begin, why), t->folder,
        why);
    c->output.where = t->folder;
    return code;
}

/* The note stays if it is not decided whether the last lines count. */
void crawl_team_folder_close(struct crawl_team *t)
{
    if (t->note_fd >= 0)
        close(t->note_fd);
    lock_release(t->note_lock, t->undecided ? NULL : t->note);
    free(t->note);
    free(t->folder);
}

/* --- one commit --- */

/* Its lines are pending. */
static enum seen_code note_commit(struct crawl *c, struct seen_error *why)
{
    const struct crawl_output *o = &c->output;
    struct crawl_team *t = crawl_team_of(c);
    struct note n = { .lease = frontier_spread_number(t->frontier),
                      .commit = frontier_spread_next_commit(t->frontier,
                                                            t->database) };
    enum seen_code code;

    snprintf(n.token, sizeof n.token, "%s", t->token);
    for (int i = 0; i < LINES; i++) {
        n.without[i] = o->length[i];
        n.with[i] = o->length[i] + o->pending[i].len;
    }
    code = write_note(t->note_fd, &n, why);
    if (code == SEEN_OK)
        disk_flush_begin(t->note_fd);
    return code;
}

enum seen_code crawl_team_folder_write(struct crawl *c, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    enum seen_code code = SEEN_OK;
    bool any = false;

    for (int i = 0; i < LINES; i++)
        any |= c->output.pending[i].len || c->output.pending[i].failed;
    if (any)
        code = note_commit(c, why);
    if (code == SEEN_OK)
        code = crawl_output_flush_begin(&c->output, why);
    if (code == SEEN_OK)
        code = crawl_output_flush_end(&c->output, NULL, why);
    if (code == SEEN_OK && any)
        code = disk_named(disk_flush(t->note_fd, why), note_name, why);
    return disk_named(code, t->folder, why);
}

void crawl_team_folder_undo(struct crawl *c,
                            const uint64_t length[CRAWL_FILES])
{
    if (crawl_team_of(c)->folder && !crawl_output_cut(&c->output, length))
        crawl_team_of(c)->undecided = true;
}

void crawl_team_folder_settle(struct crawl *c,
                              const uint64_t length[CRAWL_FILES])
{
    struct crawl_team *t = crawl_team_of(c);
    struct note n;
    int64_t last;

    if (!t->folder || !read_note(t->note_fd, &n))
        return;
    if (frontier_spread_last_commit(t->frontier, n.lease, n.commit, &last,
                                    NULL) != SEEN_OK)
        t->undecided = true;
    else if (last < n.commit)
        crawl_team_folder_undo(c, length);
}
