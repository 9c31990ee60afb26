/* record.c - records as JSON, replaced atomically. */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/disk/disk.h"

enum { RECORD_MOST = 64 << 10 };

/* --- reading --- */

/* Too long is as good as not there: it cannot be ours. */
static void take_text(char *to, size_t room, const json_t *from,
                      const char *name)
{
    const char *text = json_string_value(json_object_get(from, name));

    to[0] = '\0';
    if (text && strlen(text) < room)
        strcpy(to, text);
}

static void take_version(struct version *v, const json_t *from)
{
    const char *hash = json_string_value(json_object_get(from, "hash"));
    json_int_t length;

    memset(v, 0, sizeof *v);
    if (!json_is_object(from))
        return;
    v->there = true;
    if (hash)
        hash_read(&v->hash, hash, strlen(hash));
    length = json_integer_value(json_object_get(from, "length"));
    v->length = length > 0 ? (uint64_t)length : 0;
    v->seconds = json_integer_value(json_object_get(from, "seconds"));
    v->nanoseconds = json_integer_value(json_object_get(from, "nanoseconds"));
    take_text(v->lastmod, sizeof v->lastmod, from, "lastmod");
    take_text(v->etag, sizeof v->etag, from, "etag");
    take_text(v->modified, sizeof v->modified, from, "modified");
}

static enum seen_code take_record(struct record *r, const char *text,
                                  size_t len, struct seen_error *why)
{
    json_t *whole = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);

    if (!json_is_object(whole)) {
        json_decref(whole);
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its record in .harvest cannot be understood");
    }
    take_text(r->loc, sizeof r->loc, whole, "loc");
    take_text(r->source, sizeof r->source, whole, "source");
    take_text(r->root, sizeof r->root, whole, "root");
    take_text(r->part_loc, sizeof r->part_loc, whole, "part-of");
    take_version(&r->file, json_object_get(whole, "file"));
    take_version(&r->next, json_object_get(whole, "next"));
    take_version(&r->part, json_object_get(whole, "part"));
    json_decref(whole);
    return SEEN_OK;
}

enum seen_code record_load(struct record *r, const struct folder *f,
                           const char *name, struct seen_error *why)
{
    char path[FOLDER_PATH], text[RECORD_MOST];
    enum seen_code code = folder_own(f, path, name, ".json", why);
    ssize_t n;
    int fd;

    memset(r, 0, sizeof *r);
    if (code != SEEN_OK)
        return code;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT
                   ? SEEN_OK
                   : seen_fail(why, SEEN_IO, 0, "its record cannot be read");
    n = read(fd, text, sizeof text);
    if (n < 0)
        code = seen_fail(why, SEEN_IO, 0, "its record cannot be read");
    close(fd);
    return code == SEEN_OK ? take_record(r, text, (size_t)n, why) : code;
}

/* --- writing --- */

/* What a server said may be no UTF-8; then it is not kept. */
static void put_text(json_t *to, const char *name, const char *text)
{
    if (*text)
        json_object_set_new(to, name, json_string(text));
}

static void put_version(json_t *to, const char *name, const struct version *v)
{
    json_t *at = v->there ? json_object() : NULL;
    char hash[HASH_TEXT];

    if (!at)
        return;
    if (v->hash.known) {
        hash_write(hash, v->hash.digest);
        put_text(at, "hash", hash);
    }
    json_object_set_new(at, "length", json_integer((json_int_t)v->length));
    if (v->seconds) {
        json_object_set_new(at, "seconds", json_integer(v->seconds));
        json_object_set_new(at, "nanoseconds", json_integer(v->nanoseconds));
    }
    put_text(at, "lastmod", v->lastmod);
    put_text(at, "etag", v->etag);
    put_text(at, "modified", v->modified);
    json_object_set_new(to, name, at);
}

/* To the disk at once: a file whose record is lost by a power failure would
   not be known again. */
static enum seen_code replace(const char *path, const char *next,
                              const char *text, size_t len,
                              struct seen_error *why)
{
    enum seen_code code;
    int fd;

    code = disk_begin(next, &fd, why);
    if (code != SEEN_OK)
        return code;
    code = disk_write(fd, text, len, 0, why);
    if (code == SEEN_OK)
        code = disk_swap(fd, next, path, NULL, why);
    else
        unlink(next);
    close(fd);
    return code;
}

enum seen_code record_save(const struct record *r, const struct folder *f,
                           const char *name, struct seen_error *why)
{
    char path[FOLDER_PATH], next[FOLDER_PATH], text[RECORD_MOST];
    enum seen_code code = folder_own(f, path, name, ".json", why);
    json_t *whole = json_object();
    size_t len;

    if (code == SEEN_OK)
        code = folder_own(f, next, name, ".json.new", why);
    put_text(whole, "loc", r->loc);
    put_text(whole, "source", r->source);
    put_text(whole, "root", r->root);
    put_version(whole, "file", &r->file);
    put_version(whole, "next", &r->next);
    put_text(whole, "part-of", r->part_loc);
    put_version(whole, "part", &r->part);
    len = json_dumpb(whole, text, sizeof text, JSON_INDENT(2));
    json_decref(whole);
    if (code != SEEN_OK)
        return code;
    if (!len || len > sizeof text)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a record");
    return replace(path, next, text, len, why);
}
