/*
 * files.c - the filters themselves, for others to take, and the lists by
 * which they are found.
 *
 *     GET /files/NAME.seen             the file; ranges, ETag, sendfile()
 *     GET /sitemap.xml                 all of them, as ResourceSync's list
 *     GET /.well-known/resourcesync    where that list is
 */
#define _GNU_SOURCE
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

#include "../percent.h"

enum { SOME = 1 << 18 };

/* --- sending --- */

/*
 * libuv does not tell when a socket can take more, so a copy of its
 * descriptor is polled. The handle is closed in its own time, after the
 * exchange has gone.
 */
struct send;
struct sending {
    uv_poll_t poll;
    int file, socket;
    struct send *send;
};

struct send {
    struct exchange exchange;
    struct sending *sending;
    off_t at, end;
};

static void on_unpolled(uv_handle_t *handle)
{
    struct sending *s = handle->data;

    close(s->file);
    close(s->socket);
    free(s);
}

static void send_free(struct exchange *x)
{
    struct send *s = (struct send *)x;

    uv_close((uv_handle_t *)&s->sending->poll, on_unpolled);
    free(s);
}

static void send_body(struct exchange *x, const char *bytes, size_t n)
{
    (void)x, (void)bytes, (void)n;
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
    struct sending *sending = poll->data;
    struct send *s = sending->send;
    struct conn *c = s->exchange.conn;
    ssize_t n;

    (void)events;
    if (c->closing || (c->writing && status >= 0))
        return;       /* the head comes first */
    if (status < 0) { /* the client has gone, and nobody polls any more */
        conn_drop(c);
        return;
    }
    n = sendfile(sending->socket, sending->file, &s->at,
                 (size_t)(s->end - s->at < SOME ? s->end - s->at : SOME));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) { /* an error, or a file that became shorter */
        conn_drop(c);
        return;
    }
    c->moved = c->loop->now;
    COUNT(c->loop, bytes_out, (uint64_t)n);
    if (s->at < s->end)
        return;
    web_done(c);
    conn_go_on(c);
}

static void send_end(struct exchange *x)
{
    conn_wait(x->conn);
}

/* Send bytes `at` to before `end` of the file after the head. */
static bool send_file(struct conn *c, const struct http_request *r, int fd,
                      off_t at, off_t end)
{
    static const struct exchange_kind kind = { send_body, send_end,
                                               send_free };
    struct send *s = calloc(1, sizeof *s);
    struct sending *it = calloc(1, sizeof *it);
    struct http_request bare = *r; /* a body, if it has one, is not read */
    uv_os_fd_t socket = -1;

    if (!s || !it || uv_fileno((uv_handle_t *)&c->tcp, &socket))
        goto fail;
    it->file = fd;
    it->socket = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (it->socket < 0)
        goto fail;
    if (uv_poll_init(&c->loop->uv, &it->poll, it->socket)) {
        close(it->socket);
        goto fail;
    }
    it->poll.data = it;
    it->send = s;
    s->sending = it;
    s->at = at;
    s->end = end;
    s->exchange.kind = &kind;
    uv_poll_start(&it->poll, UV_WRITABLE, on_writable);
    bare.length = 0;
    bare.chunked = bare.waits = false;
    return web_exchange(c, &bare, &s->exchange);
fail:
    free(s);
    free(it);
    close(fd);
    return false;
}

/* --- which bytes --- */

static void put_time(char *to, size_t room, time_t when)
{
    struct tm tm;

    gmtime_r(&when, &tm);
    strftime(to, room, "%a, %d %b %Y %H:%M:%S GMT", &tm);
}

struct version {
    char tag[64], changed[64];
};

static void version_of(struct version *v, const struct stat *it)
{
    snprintf(v->tag, sizeof v->tag, "\"%llx-%llx-%llx\"",
             (unsigned long long)it->st_ino, (unsigned long long)it->st_size,
             (unsigned long long)it->st_mtim.tv_sec * 1000000000ull +
                 (unsigned long long)it->st_mtim.tv_nsec);
    put_time(v->changed, sizeof v->changed, it->st_mtime);
}

static bool unchanged(const struct http_request *r, const struct version *v)
{
    struct span value;

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
 * The one range that was asked for: 206, 200 if there is none (or several,
 * or the file is another one by now), 416 if it is beyond the end.
 */
static int one_range(const struct http_request *r, const struct version *v,
                     uint64_t size, uint64_t *from, uint64_t *to)
{
    struct span value, tag;
    const char *at, *end;

    if (!http_find(r, "Range", &value) || !span_begins(value, "bytes=") ||
        memchr(value.text, ',', value.len))
        return 200;
    if (http_find(r, "If-Range", &tag) && !span_is(tag, v->tag) &&
        !span_is(tag, v->changed))
        return 200;
    at = value.text + 6;
    end = value.text + value.len;
    if (at < end && *at == '-') { /* the last so many */
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

static int range_of(const struct http_request *r, const struct version *v,
                    uint64_t size, uint64_t *from, uint64_t *to)
{
    int status;

    *from = 0;
    *to = size;
    status = one_range(r, v, size, from, to);
    if (status == 200) { /* whatever it had read before it gave up */
        *from = 0;
        *to = size;
    }
    return status;
}

/* --- the file --- */

static void send_some(struct conn *c, const struct http_request *r, int fd,
                      const struct stat *it)
{
    uint64_t size = (uint64_t)it->st_size, from, to;
    struct version v;
    int status;

    version_of(&v, it);
    status = unchanged(r, &v) ? 304 : range_of(r, &v, size, &from, &to);
    reply_begin(c, r, status);
    out_format(conn_out(c),
               "ETag: %s\r\nLast-Modified: %s\r\nAccept-Ranges: bytes\r\n",
               v.tag, v.changed);
    if (status == 206)
        out_format(conn_out(c),
                   "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64
                   "\r\n",
                   from, to - 1, size);
    else if (status == 416)
        out_format(conn_out(c), "Content-Range: bytes */%" PRIu64 "\r\n",
                   size);
    if (status == 304 || status == 416) {
        reply_end(c, r, NULL, 0);
        close(fd);
        return;
    }
    reply_end(c, r, "application/octet-stream", to - from);
    if (r->method == HTTP_HEAD_ONLY || from == to) {
        close(fd);
        return;
    }
    if (!send_file(c, r, fd, (off_t)from, (off_t)to))
        conn_drop(c); /* the head promised what cannot be kept */
}

void files_get(struct conn *c, const struct http_request *r, struct span rest)
{
    char name[512];
    struct archive *a;
    struct stat it;
    size_t len;
    int fd;

    if (rest.len >= sizeof name ||
        !percent_decode(name, &len, rest.text, rest.len))
        len = 0;
    name[len] = '\0';
    if (!c->loop->server->how.files || len <= 5 ||
        strcmp(name + len - 5, ".seen")) {
        reply_error(c, r, 404, NULL,
                    c->loop->server->how.files ? "there is no such file"
                                               : "files are not offered");
        return;
    }
    a = web_archive(c, r, (struct span){ name, len - 5 });
    if (!a)
        return;
    fd = open(a->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &it) || !S_ISREG(it.st_mode)) {
        reply_error(c, r, 503, NULL, "the file cannot be read");
        if (fd >= 0)
            close(fd);
        return;
    }
    send_some(c, r, fd, &it);
}

/* --- lists --- */

#define XML "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define SPACES \
    " xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"" \
    " xmlns:rs=\"http://www.openarchives.org/rs/terms/\"" \
    " xmlns:dc=\"http://purl.org/dc/elements/1.1/\""

static void put_name(struct out *o, const char *name)
{
    for (; *name; name++)
        if ((*name >= '0' && *name <= '9') || (*name >= 'a' && *name <= 'z') ||
            (*name >= 'A' && *name <= 'Z') || strchr("-._~", *name))
            out_bytes(o, name, 1);
        else
            out_format(o, "%%%02X", (unsigned char)*name);
}

static void put_element(struct out *o, const char *name, const char *value)
{
    if (!value)
        return;
    out_format(o, "    <dc:%s>", name);
    out_html(o, value, strlen(value));
    out_format(o, "</dc:%s>\n", name);
}

static void put_resource(struct out *o, const struct archive *a,
                         const struct out *origin)
{
    struct stat it;
    struct tm tm;
    char when[32];

    if (!a->filter || stat(a->path, &it))
        return;
    gmtime_r(&it.st_mtime, &tm);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
    out_text(o, "  <url>\n    <loc>");
    out_html(o, origin->bytes, origin->len);
    out_text(o, "/files/");
    put_name(o, a->name);
    out_format(o,
               ".seen</loc>\n    <lastmod>%s</lastmod>\n"
               "    <rs:md length=\"%lld\" "
               "type=\"application/octet-stream\"/>\n",
               when, (long long)it.st_size);
    put_element(o, "title", archive_meta(a, "title"));
    put_element(o, "publisher", archive_meta(a, "holder"));
    put_element(o, "date", a->as_of);
    out_text(o, "  </url>\n");
}

static void put_up(struct out *o, const struct out *origin, const char *path)
{
    out_text(o, "  <rs:ln rel=\"up\" href=\"");
    out_html(o, origin->bytes, origin->len);
    out_format(o, "%s\"/>\n", path);
}

void files_sitemap(struct conn *c, const struct http_request *r,
                   struct span rest)
{
    struct out body = { .bytes = NULL }, origin = { .bytes = NULL };
    struct archive *a;

    (void)rest;
    web_origin(c, r, &origin);
    out_text(&body, XML "<urlset" SPACES ">\n");
    put_up(&body, &origin, "/.well-known/capabilitylist.xml");
    out_text(&body, "  <rs:md capability=\"resourcelist\"/>\n");
    for (size_t i = 0;
         c->loop->server->how.files && (a = shelf_at(c->loop->shelf, i)); i++)
        put_resource(&body, a, &origin);
    out_text(&body, "</urlset>\n");
    reply_text(c, r, 200, "application/xml", body.bytes, body.len);
    out_clear(&body);
    out_clear(&origin);
}

/* A list of one: where the next list is. */
static void put_list(struct conn *c, const struct http_request *r,
                     const char *capability, const char *up, const char *path,
                     const char *of)
{
    struct out body = { .bytes = NULL }, origin = { .bytes = NULL };

    web_origin(c, r, &origin);
    out_text(&body, XML "<urlset" SPACES ">\n");
    if (up)
        put_up(&body, &origin, up);
    out_format(&body, "  <rs:md capability=\"%s\"/>\n  <url>\n    <loc>",
               capability);
    out_html(&body, origin.bytes, origin.len);
    out_format(&body,
               "%s</loc>\n    <rs:md capability=\"%s\"/>\n  </url>\n"
               "</urlset>\n",
               path, of);
    reply_text(c, r, 200, "application/xml", body.bytes, body.len);
    out_clear(&body);
    out_clear(&origin);
}

void files_known(struct conn *c, const struct http_request *r,
                 struct span rest)
{
    if (span_is(rest, "resourcesync"))
        put_list(c, r, "description", NULL, "/.well-known/capabilitylist.xml",
                 "capabilitylist");
    else if (span_is(rest, "capabilitylist.xml"))
        put_list(c, r, "capabilitylist", "/.well-known/resourcesync",
                 "/sitemap.xml", "resourcelist");
    else
        reply_error(c, r, 404, NULL, "there is nothing here");
}
