/*
 * classify_sink.c - answers to standard output, into a file, or to a queue.
 *
 * A file has each answer once, whatever happens: change/results.c. Standard
 * output and a queue get a repeated answer again, the same bytes, since nobody
 * knows whether the first one arrived; `sort -u` and the id of the message
 * tell.
 */
#include "classify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/disk/disk.h"
#include "output.h"

struct classify_sink {
    const struct classify_settings *settings;
    struct change_state *state;
    struct queue *queue;
    int fd;
    uint64_t len; /* of the file */
    struct buffer lines;
};

/* --- a file --- */

static enum seen_code write_lines(struct classify_sink *k,
                                  struct seen_error *why)
{
    enum seen_code code;

    if (k->lines.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for answers");
    if (!k->lines.len)
        return SEEN_OK;
    code = disk_write(k->fd, k->lines.bytes, k->lines.len, k->len, why);
    if (code == SEEN_OK)
        code = disk_flush(k->fd, why);
    if (code == SEEN_OK)
        k->len += k->lines.len;
    k->lines.len = 0;
    return code;
}

static enum seen_code take_line(void *owner, struct seen_span json,
                                struct seen_error *why)
{
    struct classify_sink *k = owner;

    buffer_span(&k->lines, json);
    buffer_byte(&k->lines, '\n');
    return k->lines.len < 1 << 20 ? SEEN_OK : write_lines(k, why);
}

static bool open_file(struct classify_sink *k)
{
    const char *path = k->settings->output;
    bool missing = access(path, F_OK) && errno == ENOENT;
    struct seen_error why;
    enum seen_code code;
    char *whole;
    struct stat s;

    k->fd = disk_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (k->fd < 0 || fstat(k->fd, &s) != 0) {
        trouble("%s: %s", path, strerror(errno));
        return false;
    }
    whole = realpath(path, NULL);
    if (!whole) {
        trouble("%s: %s", path, strerror(errno));
        return false;
    }
    k->len = (uint64_t)s.st_size;
    /* The lines that may be missing are collected while it is asked, and
       written when the file is cut. The file may be new, or be what a killed
       process had just made: its name must last as long as its lines. */
    code = disk_flush_name(whole, &why);
    if (code == SEEN_OK)
        code = change_results_resume(k->state, whole, &k->len,
                                     k->settings->again, take_line, k, &why);
    if (code != SEEN_OK && missing && !k->len)
        unlink(whole); /* a refusal leaves no file behind */
    free(whole);
    if (code == SEEN_OK && ftruncate(k->fd, (off_t)k->len) != 0)
        code = seen_fail(&why, SEEN_IO, 0, "cannot cut it");
    if (code == SEEN_OK)
        code = write_lines(k, &why);
    if (code == SEEN_OK)
        change_results_written(k->state, k->len);
    if (code != SEEN_OK)
        trouble_with(path, &why);
    return code == SEEN_OK;
}

static bool put_file(struct classify_sink *k,
                     const struct change_answers *answers)
{
    struct seen_error why;

    for (size_t i = 0; i < answers->n; i++)
        if (answers->answer[i].json.len && !answers->answer[i].again) {
            buffer_span(&k->lines, answers->answer[i].json);
            buffer_byte(&k->lines, '\n');
        }
    if (write_lines(k, &why) != SEEN_OK) {
        trouble_with(k->settings->output, &why);
        return false;
    }
    change_results_written(k->state, k->len);
    return true;
}

/* --- a queue --- */

static bool put_queue(struct classify_sink *k,
                      const struct change_answers *answers)
{
    struct queue_message *message = calloc(answers->n + 1, sizeof *message);
    struct seen_error why;
    bool good = true;
    size_t n = 0;

    if (!message) {
        trouble("no memory for messages");
        return false;
    }
    for (size_t i = 0; i < answers->n; i++)
        if (answers->answer[i].json.len) {
            message[n].id = answers->answer[i].id;
            message[n++].body = answers->answer[i].json;
        }
    if (n && queue_publish(k->queue, k->settings->results, message, n, &why) !=
                 SEEN_OK) {
        cmd_place_trouble(k->queue, &why, "");
        good = false;
    }
    free(message);
    return good;
}

/* --- all of them --- */

struct classify_sink *classify_sink_open(const struct classify_settings *s,
                                         struct change_state *state,
                                         struct queue *q)
{
    struct classify_sink *k = calloc(1, sizeof *k);

    if (!k) {
        trouble("no memory for answers");
        return NULL;
    }
    k->settings = s;
    k->state = state;
    k->queue = q;
    k->fd = -1;
    if (!s->output || open_file(k))
        return k;
    classify_sink_close(k);
    return NULL;
}

void classify_sink_close(struct classify_sink *k)
{
    if (!k)
        return;
    if (k->fd >= 0)
        close(k->fd);
    buffer_clear(&k->lines);
    free(k);
}

bool classify_sink_put(struct classify_sink *k,
                       const struct change_answers *answers)
{
    if (k->settings->output && !put_file(k, answers))
        return false;
    if (k->settings->results && !put_queue(k, answers))
        return false;
    if (!k->settings->json)
        return true;
    for (size_t i = 0; i < answers->n; i++)
        if (answers->answer[i].json.len) {
            output_bytes(answers->answer[i].json.text,
                         answers->answer[i].json.len);
            output_text("\n");
        }
    return !output_sync() && !output_dead();
}
