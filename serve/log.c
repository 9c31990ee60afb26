/* log.c - lines of the access log. */
#include "log.h"

#include <arpa/inet.h>
#include <inttypes.h>
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

/* Bytes that could end the quotes or the line are \xHH, as in nginx. */
static void put_quoted(struct buffer *b, struct seen_span s)
{
    buffer_byte(b, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.text[i];

        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            buffer_format(b, "\\x%02X", c);
        else
            buffer_byte(b, (char)c);
    }
    buffer_byte(b, '"');
}

void log_write(struct log *l, const struct sockaddr_storage *client,
               const struct log_entry *entry)
{
    char address[INET6_ADDRSTRLEN] = "-";
    struct buffer *b = &l->lines;

    if (l->fd < 0)
        return;
    if (client->ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)client)->sin_addr,
                  address, sizeof address);
    else if (client->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)client)->sin6_addr,
                  address, sizeof address);
    buffer_format(b, "%s - - %s ", address, l->time);
    put_quoted(b, entry->request);
    buffer_format(b, " %d %" PRIu64 " ", entry->status, entry->bytes);
    put_quoted(b, entry->from);
    buffer_byte(b, ' ');
    put_quoted(b, entry->with);
    buffer_byte(b, '\n');
    if (b->len > FULL)
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
