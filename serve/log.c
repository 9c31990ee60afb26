/*
 * log.c - lines of the access log.
 *
 * Lines are written into memory of the loop and go to the file when there are
 * many, and once per second. Clients choose much of what stands in them, so
 * bytes that could end a quoted text or a line are escaped in both formats.
 */
#include "log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "../lib/text/json.h"
#include "../lib/text/span.h"

enum { FULL = 1 << 16 };

void log_clock(struct log *l, long seconds)
{
    time_t now = seconds;
    struct tm tm;

    if (l->json) {
        gmtime_r(&now, &tm);
        strftime(l->time, sizeof l->time, "%Y-%m-%dT%H:%M:%SZ", &tm);
    } else {
        localtime_r(&now, &tm);
        strftime(l->time, sizeof l->time, "[%d/%b/%Y:%H:%M:%S %z]", &tm);
    }
}

/* The text of an address; one of IPv4 that came to a socket of IPv6 is one of
   IPv4. */
static const char *address_of(const struct sockaddr_storage *s,
                              char room[INET6_ADDRSTRLEN])
{
    const void *four = &((const struct sockaddr_in *)s)->sin_addr;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)s)->sin6_addr;

    if (s->ss_family == AF_UNIX)
        return "unix:";
    if (s->ss_family == AF_INET)
        return inet_ntop(AF_INET, four, room, INET6_ADDRSTRLEN);
    if (s->ss_family != AF_INET6)
        return "-";
    if (IN6_IS_ADDR_V4MAPPED(six))
        return inet_ntop(AF_INET, six->s6_addr + 12, room, INET6_ADDRSTRLEN);
    return inet_ntop(AF_INET6, six, room, INET6_ADDRSTRLEN);
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

static void write_combined(const struct log *l, struct buffer *b,
                           const char *client, const struct log_entry *entry)
{
    buffer_format(b, "%s - - %s ", client, l->time);
    put_quoted(b, entry->request);
    buffer_format(b, " %d %" PRIu64 " ", entry->status, entry->bytes);
    put_quoted(b, entry->from);
    buffer_byte(b, ' ');
    put_quoted(b, entry->with);
    buffer_byte(b, '\n');
}

/* --- JSON --- */

/* `null` if there is none. */
static void put_field(struct buffer *b, const char *name, struct seen_span s)
{
    buffer_format(b, ",\"%s\":", name);
    if (s.text)
        buffer_json(b, s.text, s.len);
    else
        buffer_text(b, "null");
}

static struct seen_span unless_dash(struct seen_span s)
{
    return span_is(s, "-") ? (struct seen_span){ NULL, 0 } : s;
}

/* Method, target and protocol of a request line; false if it is not one. */
static bool split(struct seen_span line, struct seen_span part[3])
{
    const char *end = line.text + line.len;
    const char *first = memchr(line.text, ' ', line.len);
    const char *last = memrchr(line.text, ' ', line.len);

    if (!first || first == last || end - last < 6 ||
        memcmp(last + 1, "HTTP/", 5))
        return false;
    part[0] = (struct seen_span){ line.text, (size_t)(first - line.text) };
    part[1] = (struct seen_span){ first + 1, (size_t)(last - first - 1) };
    part[2] = (struct seen_span){ last + 1, (size_t)(end - last - 1) };
    return true;
}

static void write_json(const struct log *l, struct buffer *b,
                       const char *client, const struct log_entry *entry)
{
    struct seen_span part[3] = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
    struct seen_span other = { NULL, 0 }, proxy = { NULL, 0 };
    char room[INET6_ADDRSTRLEN];

    if (!split(entry->request, part))
        other = unless_dash(entry->request);
    if (entry->proxy)
        proxy = span_of(address_of(entry->proxy, room));
    buffer_format(b, "{\"time\":\"%s\",\"client\":\"%s\"", l->time, client);
    put_field(b, "proxy", proxy);
    put_field(b, "method", part[0]);
    put_field(b, "target", part[1]);
    put_field(b, "protocol", part[2]);
    put_field(b, "other", other);
    buffer_format(b, ",\"status\":%d,\"bytes\":%" PRIu64, entry->status,
                  entry->bytes);
    put_field(b, "referer", unless_dash(entry->from));
    put_field(b, "user_agent", unless_dash(entry->with));
    buffer_text(b, "}\n");
}

/* --- both --- */

void log_write(struct log *l, const struct sockaddr_storage *client,
               const struct log_entry *entry)
{
    struct buffer *b = &l->lines;
    char room[INET6_ADDRSTRLEN];
    const char *address;

    if (!l->file)
        return;
    address = address_of(client, room);
    if (l->json)
        write_json(l, b, address, entry);
    else
        write_combined(l, b, address, entry);
    if (b->len > FULL)
        log_flush(l);
}

static uint64_t count_lines(const char *text, size_t len)
{
    uint64_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    return n;
}

/* End a line of which only the beginning was written; errno if that fails. */
static int end_torn(struct log_file *f)
{
    if (f->torn && write(f->fd, "\n", 1) != 1)
        return errno ? errno : EIO;
    f->torn = false;
    return 0;
}

static void write_lines(struct log_file *f, const char *text, size_t len)
{
    size_t at = 0;
    int error = end_torn(f);

    while (at < len && !error) {
        ssize_t n = write(f->fd, text + at, len - at);

        if (n > 0)
            at += (size_t)n;
        else if (n == 0 || errno != EINTR)
            error = n < 0 ? errno : EIO;
    }
    f->torn |= error && at && text[at - 1] != '\n';
    if (error)
        __atomic_store_n(&f->lost, f->lost + count_lines(text + at, len - at),
                         __ATOMIC_RELAXED);
    __atomic_store_n(&f->error, error, __ATOMIC_RELAXED);
}

/* A full disk costs the log, not the service. */
void log_flush(struct log *l)
{
    const char *text = l->lines.bytes;
    size_t len = l->lines.len;

    if (!l->file || (!len && !l->lines.failed))
        return;
    while (l->lines.failed && len && text[len - 1] != '\n')
        len--; /* the line for which there was no memory */
    pthread_mutex_lock(&l->file->lock);
    write_lines(l->file, text, len);
    pthread_mutex_unlock(&l->file->lock);
    l->lines.len = 0;
    l->lines.failed = false;
}

bool log_file_replace(struct log_file *f, int fd)
{
    bool good;
    int system;

    pthread_mutex_lock(&f->lock);
    good = dup3(fd, f->fd, O_CLOEXEC) >= 0;
    if (good)
        f->torn = false; /* the part is in the old file */
    pthread_mutex_unlock(&f->lock);
    system = errno;
    close(fd);
    errno = system;
    return good;
}
