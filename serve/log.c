/* log.c - lines of the access log. */
#define _GNU_SOURCE
#include "log.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { FULL = 1 << 16 };

void log_clock(struct log *l, long seconds)
{
    time_t now = seconds;
    struct tm tm;

    localtime_r(&now, &tm);
    strftime(l->time, sizeof l->time, "[%d/%b/%Y:%H:%M:%S %z]", &tm);
}

/* Between quotes, what could end them or the line is \xHH, as in nginx. */
static void put_quoted(struct out *o, struct span s)
{
    out_bytes(o, "\"", 1);
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.text[i];

        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            out_format(o, "\\x%02X", c);
        else
            out_bytes(o, s.text + i, 1);
    }
    out_bytes(o, "\"", 1);
}

static void put_header(struct out *o, const struct http_request *r,
                       const char *name)
{
    struct span value = { "-", 1 };

    http_find(r, name, &value);
    out_text(o, " ");
    put_quoted(o, value);
}

void log_request(struct log *l, const struct sockaddr_storage *who,
                 const struct http_request *r, int status, uint64_t bytes)
{
    char address[INET6_ADDRSTRLEN] = "-";
    struct out *o = &l->lines;

    if (l->fd < 0)
        return;
    if (who->ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)who)->sin_addr,
                  address, sizeof address);
    else if (who->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)who)->sin6_addr,
                  address, sizeof address);
    out_format(o, "%s - - %s ", address, l->time);
    put_quoted(o, r->line);
    out_format(o, " %d %" PRIu64, status, bytes);
    put_header(o, r, "Referer");
    put_header(o, r, "User-Agent");
    out_text(o, "\n");
    if (o->len > FULL)
        log_flush(l);
}

void log_flush(struct log *l)
{
    size_t at = 0;

    while (l->fd >= 0 && at < l->lines.len) {
        ssize_t n = write(l->fd, l->lines.bytes + at, l->lines.len - at);

        if (n <= 0)
            break; /* a full disk costs the log, not the service */
        at += (size_t)n;
    }
    l->lines.len = 0;
}
