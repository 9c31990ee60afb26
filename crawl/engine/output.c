/*
 * output.c - append to the files of a crawl, flush them, and cut them back.
 *
 * Texts are collected in memory and written once per commit. A write that
 * failed may leave a part of a line in the file: it is cut off before the next
 * one, since the lengths count only what was written as a whole.
 *
 * Each file is flushed by a thread of its own, which ends with it. One after the
 * other, the four files and the log of the database cost five flushes per
 * group; so they cost two, one of them while rows are written. 5,000 pages on
 * a disk that takes 10 and 30 ms per flush took 4.1 and 5.3 s so, and 3.4 and
 * 4.3 s now, where memory takes 2.7 to 3.0 s.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/disk/disk.h"
#include "../../lib/disk/walk.h"

static const char *const names[CRAWL_FILES] = {
    [CRAWL_FILE_CDXJ] = "index.cdxj",
    [CRAWL_FILE_PAGES] = "pages.jsonl",
    [CRAWL_FILE_LOG] = "crawl.log",
    [CRAWL_FILE_URLS] = "urls.txt",
};

static enum seen_code open_at(int *fd, const char *path, uint64_t length,
                              struct seen_error *why)
{
    struct stat st;

    *fd = disk_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0 || fstat(*fd, &st))
        return seen_fail(why, SEEN_IO, 0, "%.100s", path);
    if ((uint64_t)st.st_size < length)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "%.80s is shorter than the state says", path);
    if ((uint64_t)st.st_size > length && ftruncate(*fd, (off_t)length))
        return seen_fail(why, SEEN_IO, 0, "%.100s cannot be cut back", path);
    return SEEN_OK;
}

enum seen_code crawl_output_open(struct crawl_output *o, const char *folder,
                                 const struct crawl_position *at,
                                 const struct crawl_settings *settings,
                                 const struct warc_facts *facts,
                                 struct seen_error *why)
{
    const struct warc_position warc = { at->warc_file, at->warc };
    enum seen_code code = SEEN_OK;
    char *path;

    memset(o, 0, sizeof *o);
    for (int i = 0; i < CRAWL_FILES; i++)
        o->fd[i] = -1;
    o->length[CRAWL_FILE_CDXJ] = at->cdxj;
    o->length[CRAWL_FILE_PAGES] = at->pages;
    o->length[CRAWL_FILE_LOG] = at->log;
    o->length[CRAWL_FILE_URLS] = at->urls;
    for (int i = 0; code == SEEN_OK && i < CRAWL_FILES; i++) {
        bool wanted = i == CRAWL_FILE_LOG ||
                      (i == CRAWL_FILE_URLS) == settings->urls_only;

        if (!wanted)
            continue;
        path = walk_path(folder, names[i]);
        code = path ? open_at(&o->fd[i], path, o->length[i], why)
                    : seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
        free(path);
    }
    if (code == SEEN_OK && !settings->urls_only) {
        path = walk_path(folder, "warc");
        code = path ? warc_files_open(&o->warc, path, "crawl", facts,
                                      settings->warc_size, &warc, why)
                    : seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
        free(path);
    }
    if (code == SEEN_OK)
        code = disk_flush_folder(folder, why);
    if (code != SEEN_OK)
        crawl_output_close(o);
    return code;
}

void crawl_output_close(struct crawl_output *o)
{
    crawl_output_flush_end(o, NULL, NULL);
    warc_files_close(o->warc);
    o->warc = NULL;
    for (int i = 0; i < CRAWL_FILES; i++) {
        if (o->fd[i] >= 0)
            close(o->fd[i]);
        o->fd[i] = -1;
        buffer_clear(&o->pending[i]);
    }
}

enum seen_code crawl_output_warc(struct crawl_output *o,
                                 const struct buffer *members,
                                 const char **file, uint64_t *offset,
                                 struct seen_error *why)
{
    enum seen_code code;

    o->warc_changed = true;
    code = warc_files_append(o->warc, members->bytes, members->len, file,
                             offset, why);
    return o->where ? disk_named(code, o->where, why) : code;
}

/* Write what is pending. *changed has a bit per file that was written to. */
static enum seen_code write_pending(struct crawl_output *o, unsigned *changed,
                                    struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    *changed = 0;
    for (int i = 0; code == SEEN_OK && i < CRAWL_FILES; i++) {
        struct buffer *b = &o->pending[i];

        if (b->failed)
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for output");
        if (o->fd[i] < 0)
            b->len = 0;
        if (!b->len)
            continue;
        code = disk_named(
            disk_write(o->fd[i], b->bytes, b->len, o->length[i], why),
            names[i], why);
        if (code != SEEN_OK)
            break;
        o->length[i] += b->len;
        b->len = 0;
        *changed |= 1u << i;
    }
    return code;
}

static void *flush_file(void *flush)
{
    struct crawl_flush *f = flush;
    struct crawl_output *o = f->output;
    ptrdiff_t i = f - o->flush;

    f->code = i == CRAWL_FILES ? warc_files_flush(o->warc, &f->why)
                               : disk_named(disk_flush(o->fd[i], &f->why),
                                            names[i], &f->why);
    return NULL;
}

/* Without a thread the flush waits for its end. */
static void begin_flush(struct crawl_output *o, int i)
{
    struct crawl_flush *f = &o->flush[i];

    *f = (struct crawl_flush){ .output = o, .begun = true };
    f->apart = !pthread_create(&f->thread, NULL, flush_file, f);
}

static void end_flush(struct crawl_flush *f)
{
    if (f->apart)
        pthread_join(f->thread, NULL);
    else if (f->begun)
        flush_file(f);
    f->begun = f->apart = false;
}

static void set_position(const struct crawl_output *o,
                         struct crawl_position *position)
{
    if (o->warc) {
        struct warc_position at = warc_files_position(o->warc);

        position->warc_file = at.file;
        position->warc = at.length;
    }
    position->cdxj = o->length[CRAWL_FILE_CDXJ];
    position->pages = o->length[CRAWL_FILE_PAGES];
    position->log = o->length[CRAWL_FILE_LOG];
    position->urls = o->length[CRAWL_FILE_URLS];
}

enum seen_code crawl_output_flush_begin(struct crawl_output *o,
                                        struct seen_error *why)
{
    unsigned changed;
    enum seen_code code = write_pending(o, &changed, why);

    if (code != SEEN_OK)
        return code;
    for (int i = 0; i < CRAWL_FILES; i++)
        if (changed & 1u << i)
            begin_flush(o, i);
    if (o->warc_changed)
        begin_flush(o, CRAWL_FILES);
    o->warc_changed = false;
    return SEEN_OK;
}

enum seen_code crawl_output_flush_end(struct crawl_output *o,
                                      struct crawl_position *position,
                                      struct seen_error *why)
{
    const struct crawl_flush *failed = NULL;

    for (int i = 0; i <= CRAWL_FILES; i++) {
        end_flush(&o->flush[i]);
        if (o->flush[i].code != SEEN_OK && !failed)
            failed = &o->flush[i];
    }
    if (failed) {
        if (why)
            *why = failed->why;
        errno = failed->why.system;
        return failed->code;
    }
    if (position)
        set_position(o, position);
    return SEEN_OK;
}

/* A write that failed may have left a part of a line after the length. */
bool crawl_output_cut(struct crawl_output *o,
                      const uint64_t length[CRAWL_FILES])
{
    bool good = true;

    crawl_output_flush_end(o, NULL, NULL);
    for (int i = 0; i < CRAWL_FILES; i++) {
        if (o->fd[i] < 0)
            continue;
        buffer_clear(&o->pending[i]);
        if (ftruncate(o->fd[i], (off_t)length[i]))
            good = false;
        else
            o->length[i] = length[i];
    }
    return good;
}

const char *crawl_output_name(enum crawl_file file)
{
    return names[file];
}
