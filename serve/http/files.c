/*
 * files.c - the filters themselves, for others to download.
 *
 *     GET /files/NAME.seen    the file; ranges, ETag, sendfile()
 */
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/disk/disk.h"
#include "../../lib/text/percent.h"
#include "../../publish/sitemap.h"

enum { SOME = 1 << 18 };

/* --- sending --- */

struct http_sending {
    struct http_exchange exchange;
    int file;
    off_t at, end;
};

static void send_free(struct http_exchange *x)
{
    close(((struct http_sending *)x)->file);
    free(x);
}

/* A part of the file, so that other clients have their turns. */
static void send_more(struct http_exchange *x)
{
    struct http_sending *s = (struct http_sending *)x;
    struct conn *c = x->conn;
    ssize_t n = sendfile(
        c->socket.fd, s->file, &s->at,
        (size_t)(s->end - s->at < SOME ? s->end - s->at : SOME));

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        conn_send_more(c);
        return;
    }
    if (n <= 0) { /* an error, or the file became shorter */
        conn_drop(c);
        return;
    }
    c->moved = c->loop->now;
    COUNT(c->loop, bytes_out, (uint64_t)n);
    if (s->at < s->end) {
        conn_send_more(c);
        return;
    }
    http_go_on(c);
}

static void send_end(struct http_exchange *x)
{
    conn_wait(x->conn);
    conn_send_more(x->conn);
}

/* Send bytes `at` to before `end` of the file, after the head that is written
   next. False: that is answered, and the file closed. */
static bool send_file(struct conn *c, const struct http_request *r, int fd,
                      off_t at, off_t end)
{
    static const struct http_exchange_kind kind = { .end = send_end,
                                                    .more = send_more,
                                                    .free = send_free };
    struct http_sending *s = calloc(1, sizeof *s);

    if (!s) {
        close(fd);
        reply_error(c, r, 503, NULL, "the file cannot be sent");
        return false;
    }
    s->file = fd;
    s->at = at;
    s->end = end;
    s->exchange.kind = &kind;
    return http_exchange_bare(c, r, &s->exchange);
}

/* --- which bytes --- */

static void put_time(char *to, size_t room, time_t when)
{
    struct tm tm;

    gmtime_r(&when, &tm);
    strftime(to, room, "%a, %d %b %Y %H:%M:%S GMT", &tm);
}

struct http_version {
    char tag[64], changed[64];
};

static void version_of(struct http_version *v, const struct stat *it)
{
    snprintf(v->tag, sizeof v->tag, "\"%llx-%llx-%llx\"",
             (unsigned long long)it->st_ino, (unsigned long long)it->st_size,
             (unsigned long long)it->st_mtim.tv_sec * 1000000000ull +
                 (unsigned long long)it->st_mtim.tv_nsec);
    put_time(v->changed, sizeof v->changed, it->st_mtime);
}

static bool unchanged(const struct http_request *r,
                      const struct http_version *v)
{
    struct seen_span value;

    if (http_find(r, "If-None-Match", &value))
        return span_is(value, "*") ||
               memmem(value.text, value.len, v->tag, strlen(v->tag));
    return http_find(r, "If-Modified-Since", &value) &&
           span_is(value, v->changed);
}

static bool number(const char **at, const char *end, uint64_t *x)
{
    const char *from = *at;

    for (*x = 0; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
        if (*x > UINT64_MAX / 16)
            return false;
        *x = *x * 10 + (uint64_t)(**at - '0');
    }
    return *at > from;
}

/*
 * The requested range, as the status of the answer: 206; 200 if no range or
 * several are asked for, or if the file has changed since; 416 if the range
 * begins beyond the end.
 */
static int one_range(const struct http_request *r,
                     const struct http_version *v, uint64_t size,
                     uint64_t *from, uint64_t *to)
{
    struct seen_span value, tag;
    const char *at, *end;

    if (!http_find(r, "Range", &value) || !span_begins(value, "bytes=") ||
        memchr(value.text, ',', value.len))
        return 200;
    if (http_find(r, "If-Range", &tag) && !span_is(tag, v->tag) &&
        !span_is(tag, v->changed))
        return 200;
    at = value.text + 6;
    end = value.text + value.len;
    if (at < end && *at == '-') { /* the last N bytes */
        at++;
        if (!number(&at, end, to) || at != end)
            return 200;
        if (!*to)
            return 416;
        *from = *to < size ? size - *to : 0;
        *to = size;
        return 206;
    }
    if (!number(&at, end, from) || at == end || *at++ != '-')
        return 200;
    if (at < end) {
        if (!number(&at, end, to) || at != end || *to < *from)
            return 200;
        *to = *to < size ? *to + 1 : size;
    }
    return *from < size ? 206 : 416;
}

static int range_of(const struct http_request *r, const struct http_version *v,
                    uint64_t size, uint64_t *from, uint64_t *to)
{
    int status;

    *from = 0;
    *to = size;
    status = one_range(r, v, size, from, to);
    if (status == 200) { /* whatever it had parsed before it gave up */
        *from = 0;
        *to = size;
    }
    return status;
}

/* --- the file --- */

static void send_some(struct conn *c, const struct http_request *r, int fd,
                      const struct stat *it)
{
    uint64_t size = (uint64_t)it->st_size, from = 0, to = 0;
    struct http_version v;
    bool bytes;
    int status;

    version_of(&v, it);
    status = unchanged(r, &v) ? 304 : range_of(r, &v, size, &from, &to);
    bytes = (status == 200 || status == 206) && from < to &&
            r->method != HTTP_HEAD_ONLY;
    if (!bytes)
        close(fd);
    else if (!send_file(c, r, fd, (off_t)from, (off_t)to))
        return;
    reply_begin(c, r, status);
    buffer_format(conn_out(c),
                  "ETag: %s\r\nLast-Modified: %s\r\nAccept-Ranges: bytes\r\n",
                  v.tag, v.changed);
    if (status == 206)
        buffer_format(conn_out(c),
                      "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64
                      "\r\n",
                      from, to - 1, size);
    else if (status == 416)
        buffer_format(conn_out(c), "Content-Range: bytes */%" PRIu64 "\r\n",
                      size);
    if (status == 304 || status == 416)
        reply_end(c, r, NULL, 0);
    else
        reply_end(c, r, PUBLISH_FILTER_TYPE, to - from);
}

void http_file(struct conn *c, const struct http_request *r,
               const struct http_path *p)
{
    const bool offered = c->loop->server->options.files;
    struct seen_span name;
    char room[512];
    struct archive *a;
    struct stat it;
    int fd;

    name.text = room;
    if (!offered || p->rest.len > sizeof room ||
        !percent_decode(room, &name.len, p->rest.text, p->rest.len) ||
        !span_ends(name, ".seen")) {
        reply_error(c, r, 404, NULL,
                    offered ? "there is no such file"
                            : "this server does not offer files");
        return;
    }
    name.len -= strlen(".seen");
    a = http_archive(c, r, name);
    if (!a)
        return;
    if (a->remote) {
        reply_error(c, r, 404, NULL,
                    "its cells are on another server: seen convert copies it");
        return;
    }
    fd = disk_open(a->path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0 || fstat(fd, &it)) {
        if (fd >= 0)
            close(fd);
        reply_error(c, r, 503, NULL, "the file cannot be read");
        return;
    }
    send_some(c, r, fd, &it);
}
