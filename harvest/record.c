/*
 * record.c - records as JSON, replaced atomically.
 *
 * A record holds texts of servers: URLs, ETags, dates. All have fixed room, so
 * a record is at most RECORD bytes and is written from the stack; a text that
 * is too long, or not UTF-8, is left out. Such texts only save work: without
 * its ETag a file is asked for without a condition.
 *
 * Reading is as patient: a member of the wrong type counts as absent. Only a
 * text that is not a JSON object is an error, since then nothing is known of
 * the file, and it must not be taken for a foreign one without a word.
 */
#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/disk/disk.h"
#include "../lib/text/json_tree.h"
#include "../lib/text/span.h"
#include "../lib/text/utf8.h"

enum { RECORD = 64 << 10 }; /* bytes, at most */

const struct harvest_hash *harvest_version_hash(
    const struct harvest_version *v)
{
    return v->origin.known ? &v->origin : &v->hash;
}

uint64_t harvest_version_length(const struct harvest_version *v)
{
    return v->origin.known ? v->origin_length : v->length;
}

void harvest_record_settle(struct harvest_record *r,
                           const struct harvest_version *v,
                           const struct stat *it)
{
    r->file = *v;
    r->file.seconds = it->st_mtim.tv_sec;
    r->file.nanoseconds = it->st_mtim.tv_nsec;
    r->next.there = false;
}

void harvest_record_move(struct harvest_record *r, const char *loc,
                         const char *source, const char *root)
{
    strcpy(r->loc, loc);
    strcpy(r->source, source);
    strcpy(r->root, root);
}

/* --- reading --- */

/* A text that is too long is not ours, and is left out. */
static void read_text(char *to, size_t room, const json_t *from,
                      const char *name)
{
    const char *text = json_string_value(json_object_get(from, name));

    to[0] = '\0';
    if (text && strlen(text) < room)
        strcpy(to, text);
}

static void read_version(struct harvest_version *v, const json_t *from)
{
    const char *hash = json_string_value(json_object_get(from, "hash"));
    const char *origin = json_string_value(json_object_get(from, "origin"));
    json_int_t length;

    memset(v, 0, sizeof *v);
    if (!json_is_object(from))
        return;
    v->there = true;
    if (hash)
        harvest_hash_read(&v->hash, span_of(hash));
    length = json_integer_value(json_object_get(from, "length"));
    v->length = length > 0 ? (uint64_t)length : 0;
    if (origin)
        harvest_hash_read(&v->origin, span_of(origin));
    length = json_integer_value(json_object_get(from, "origin-length"));
    v->origin_length = length > 0 ? (uint64_t)length : 0;
    v->seconds = json_integer_value(json_object_get(from, "seconds"));
    v->nanoseconds = json_integer_value(json_object_get(from, "nanoseconds"));
    read_text(v->lastmod, sizeof v->lastmod, from, "lastmod");
    read_text(v->etag, sizeof v->etag, from, "etag");
    read_text(v->modified, sizeof v->modified, from, "modified");
}

enum seen_code harvest_record_load(struct harvest_record *r,
                                   const struct harvest_folder *f,
                                   const char *name, struct seen_error *why)
{
    char path[HARVEST_PATH], *text = NULL;
    enum seen_code code;
    json_t *whole = NULL;
    size_t len = 0;

    memset(r, 0, sizeof *r);
    harvest_folder_own(f, path, name, ".json");
    code = disk_load(&text, &len, path, RECORD, why);
    if (code == SEEN_IO && errno == ENOENT)
        return SEEN_OK;
    if (code == SEEN_IO)
        return seen_fail(why, SEEN_IO, 0, "its record cannot be read");
    if (code == SEEN_OK)
        code = json_tree_read(&whole, (struct seen_span){ text, len },
                              JSON_REJECT_DUPLICATES, NULL, why);
    free(text);
    if (code == SEEN_NOMEM)
        return code;
    if (code != SEEN_OK || !json_is_object(whole)) {
        json_decref(whole);
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its record in .harvest cannot be understood");
    }
    read_text(r->loc, sizeof r->loc, whole, "loc");
    read_text(r->source, sizeof r->source, whole, "source");
    read_text(r->root, sizeof r->root, whole, "root");
    read_text(r->part_loc, sizeof r->part_loc, whole, "part-of");
    read_version(&r->file, json_object_get(whole, "file"));
    read_version(&r->next, json_object_get(whole, "next"));
    read_version(&r->part, json_object_get(whole, "part"));
    json_decref(whole);
    return SEEN_OK;
}

/* --- writing --- */

/* These are false without memory. */

/* A server's text may not be UTF-8; then it is not kept. */
static bool write_text(json_t *to, const char *name, const char *text)
{
    return !*text || !utf8_valid(text, strlen(text)) ||
           !json_object_set_new(to, name, json_string(text));
}

static bool write_number(json_t *to, const char *name, int64_t number)
{
    return !json_object_set_new(to, name, json_integer(number));
}

static bool write_hash(json_t *to, const char *name,
                       const struct harvest_hash *hash)
{
    char text[HARVEST_HASH];

    if (!hash->known)
        return true;
    harvest_hash_write(text, hash);
    return write_text(to, name, text);
}

static bool write_version(json_t *to, const char *name,
                          const struct harvest_version *v)
{
    json_t *at = v->there ? json_object() : NULL;
    bool good;

    if (!at)
        return !v->there;
    good = write_hash(at, "hash", &v->hash) &&
           write_number(at, "length", (int64_t)v->length) &&
           write_hash(at, "origin", &v->origin) &&
           (!v->origin.known ||
            write_number(at, "origin-length", (int64_t)v->origin_length)) &&
           (!v->seconds ||
            (write_number(at, "seconds", v->seconds) &&
             write_number(at, "nanoseconds", v->nanoseconds))) &&
           write_text(at, "lastmod", v->lastmod) &&
           write_text(at, "etag", v->etag) &&
           write_text(at, "modified", v->modified);
    return !json_object_set_new(to, name, at) && good;
}

/* On the disk at once: a file whose record is lost by a power failure would
   not be recognised. */
enum seen_code harvest_record_save(const struct harvest_record *r,
                                   const struct harvest_folder *f,
                                   const char *name, struct seen_error *why)
{
    char path[HARVEST_PATH], text[RECORD];
    json_t *whole = json_object();
    size_t len = 0;

    if (whole && write_text(whole, "loc", r->loc) &&
        write_text(whole, "source", r->source) &&
        write_text(whole, "root", r->root) &&
        write_version(whole, "file", &r->file) &&
        write_version(whole, "next", &r->next) &&
        write_text(whole, "part-of", r->part_loc) &&
        write_version(whole, "part", &r->part))
        len = json_dumpb(whole, text, sizeof text, JSON_INDENT(2));
    json_decref(whole);
    if (!len || len > sizeof text)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a record");
    harvest_folder_own(f, path, name, ".json");
    return disk_replace(path, text, len, why);
}
