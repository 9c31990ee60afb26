/* conn.c - bytes from and to one client. */
#define _GNU_SOURCE
#include "conn.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "redis/redis.h"
#include "http/request.h"

/* --- the end of it --- */

static void free_conn(struct conn *c)
{
    web_forget(c);
    redis_forget(c);
    free(c->in);
    out_clear(&c->unsent);
    out_clear(&c->later);
    free(c);
}

static void on_close(uv_handle_t *handle)
{
    struct conn *c = handle->data;

    c->closed = true;
    if (!c->jobs)
        free_conn(c);
}

void conn_drop(struct conn *c)
{
    struct loop *l = c->loop;

    if (c->closing)
        return;
    c->closing = true;
    *c->prev = c->next;
    if (c->next)
        c->next->prev = c->prev;
    COUNT(l, open, -1);
    __atomic_sub_fetch(&l->server->open, 1, __ATOMIC_RELAXED);
    uv_close((uv_handle_t *)&c->tcp, on_close);
}

/*
 * The last answer is on its way. Closing with bytes of the client unread
 * makes the kernel send a reset, which can overtake the answer: so only our
 * side is shut, and the client's is read, and dropped, until it has gone
 * (conn_check() waits no longer than for anything else).
 */
static void on_shut(uv_shutdown_t *req, int status)
{
    struct conn *c = req->data;

    (void)status;
    free(req);
    if (c->ended)
        conn_drop(c);
}

static void shut(struct conn *c)
{
    uv_shutdown_t *req = c->closing ? NULL : calloc(1, sizeof *req);

    if (c->closing || c->begun == UINT64_MAX) {
        free(req);
        return;
    }
    c->begun = UINT64_MAX; /* once */
    if (req)
        req->data = c;
    if (!req || uv_shutdown(req, (uv_stream_t *)&c->tcp, on_shut)) {
        free(req);
        conn_drop(c);
    }
}

/* --- writing --- */

static void work(struct conn *c, char *text, size_t len);
static void set_reading(struct conn *c);

bool conn_full(const struct conn *c)
{
    return c->loop->out.len + c->unsent.len + c->later.len > CONN_OUTPUT;
}

static void on_written(uv_write_t *req, int status);

/* Write what waits, which is nothing of it yet. */
static void write_later(struct conn *c)
{
    uv_buf_t buf;

    c->unsent = c->later;
    memset(&c->later, 0, sizeof c->later);
    buf = uv_buf_init(c->unsent.bytes, (unsigned)c->unsent.len);
    c->write.data = c;
    c->writing = !uv_write(&c->write, (uv_stream_t *)&c->tcp, &buf, 1,
                           on_written);
    if (!c->writing)
        conn_drop(c);
}

static void on_written(uv_write_t *req, int status)
{
    struct conn *c = req->data;

    c->writing = false;
    c->moved = c->loop->now;
    out_clear(&c->unsent);
    if (c->closing)
        return;
    if (status < 0)
        conn_drop(c);
    else if (c->later.len)
        write_later(c);
    else if (c->last && !c->waiting)
        shut(c);
    else if (!c->waiting)
        work(c, NULL, 0);
}

/* Give the client what it takes; keep the rest. */
void conn_send(struct conn *c, struct out *o)
{
    uv_buf_t buf = uv_buf_init(o->bytes, (unsigned)o->len);
    size_t at = 0;

    if (c->closing) {
        o->len = 0;
        return;
    }
    if (o->failed) {
        o->failed = false;
        o->len = 0;
        conn_drop(c);
        return;
    }
    if (o->len && !c->writing) {
        int n = uv_try_write((uv_stream_t *)&c->tcp, &buf, 1);

        if (n < 0 && n != UV_EAGAIN) {
            o->len = 0;
            conn_drop(c);
            return;
        }
        at = n > 0 ? (size_t)n : 0;
        COUNT(c->loop, bytes_out, at);
    }
    if (at < o->len) {
        out_bytes(&c->later, o->bytes + at, o->len - at);
        COUNT(c->loop, bytes_out, o->len - at);
    }
    o->len = 0;
    if (o->room > 4 * CONN_OUTPUT)
        out_clear(o);
    if (c->later.failed)
        conn_drop(c);
    else if (c->later.len && !c->writing)
        write_later(c);
    if (c->closing)
        return;
    if (c->last && !c->writing && !c->waiting)
        shut(c);
    if (c != c->loop->at_work && !c->closing)
        set_reading(c);
}

/* --- reading --- */

/* Keep what is left over of the input, which may be in c->in already. */
static void keep(struct conn *c, const char *text, size_t len)
{
    if (!len) {
        free(c->in);
        c->in = NULL;
        c->in_len = c->in_room = 0;
        return;
    }
    if (c->in && text >= c->in && text < c->in + c->in_room) {
        memmove(c->in, text, len);
        c->in_len = len;
        return;
    }
    c->in = malloc(len);
    if (!c->in) {
        conn_drop(c);
        return;
    }
    memcpy(c->in, text, len);
    c->in_len = c->in_room = len;
}

/* Put what came behind what is kept; false without memory. */
static bool append(struct conn *c, const char *text, size_t len)
{
    size_t room = c->in_room ? c->in_room : 1024;

    while (room - c->in_len < len)
        room *= 2;
    if (room > c->in_room) {
        char *more = realloc(c->in, room);

        if (!more)
            return false;
        c->in = more;
        c->in_room = room;
    }
    memcpy(c->in + c->in_len, text, len);
    c->in_len += len;
    return true;
}

/*
 * Who is it? "*" begins a command of Redis; else the first line decides: a
 * request ends with its version, a command begins with a word that we know.
 */
static bool tell(struct conn *c, const char *text, size_t len)
{
    const char *end;

    if (text[0] == '*' &&
        (len == 1 || (text[1] >= '0' && text[1] <= '9') || text[1] == '-')) {
        c->speaks = SPEAKS_RESP;
        return true;
    }
    end = memchr(text, '\n', len);
    if (!end && len < HTTP_TARGET)
        return text[0] < 'A'; /* no word of either: HTTP will refuse it */
    if (end && !memmem(text, (size_t)(end - text), " HTTP/", 6) &&
        redis_inline(text, (size_t)(end - text)))
        c->speaks = SPEAKS_RESP;
    else
        c->speaks = SPEAKS_HTTP;
    return true;
}

static size_t drive(struct conn *c, char *text, size_t len)
{
    if (c->speaks == SPEAKS_UNKNOWN && !tell(c, text, len))
        return 0;
    if (c->speaks == SPEAKS_RESP)
        return redis_drive(c, text, len);
    c->speaks = SPEAKS_HTTP;
    return web_drive(c, text, len);
}

/* How long is a head in coming? Not counted is what we do not look at yet,
   because the client does not take its answers; `another` head is. */
static void time_head(struct conn *c, bool some, bool another)
{
    if (c->begun == UINT64_MAX)
        return;
    if (!some || c->web || c->waiting || c->writing)
        c->begun = 0;
    else if (!c->begun || another)
        c->begun = c->loop->now;
}

/* Go on with what is kept and what came, and send the answers. */
static void work(struct conn *c, char *text, size_t len)
{
    bool another = false;
    size_t used;

    loop_look(c->loop);
    if (c->closing)
        return; /* answers that waited could not be sent */
    if (c->in_len && len && !append(c, text, len)) {
        conn_drop(c);
        return;
    }
    c->loop->at_work = c;
    if (c->in_len) {
        text = c->in;
        len = c->in_len;
    }
    do {
        used = 0;
        if (len && !c->waiting && !c->last && !c->writing)
            used = drive(c, text, len);
        another |= used > 0;
        text += used;
        len -= used;
        conn_send(c, &c->loop->out);
    } while (!c->closing && used && len && !c->writing && !c->waiting &&
             !c->last);
    c->loop->at_work = NULL;
    if (c->closing)
        return;
    if (c->last)
        len = 0;
    keep(c, text, len);
    if (c->closing)
        return;
    if (c->ended)
        web_flush(c->loop); /* it is to hear all answers */
    if (c->ended && !c->waiting && !c->writing)
        conn_end(c); /* whatever it was, it will not become whole */
    time_head(c, len > 0, another);
    set_reading(c);
}

static void on_alloc(uv_handle_t *handle, size_t wish, uv_buf_t *buf)
{
    struct conn *c = handle->data;

    (void)wish;
    *buf = uv_buf_init(c->loop->in, LOOP_INPUT);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct conn *c = stream->data;

    if (n == 0 || c->closing)
        return;
    if (c->begun != UINT64_MAX) /* who was told to go shall not stay long */
        c->moved = c->loop->now;
    if (n < 0) {
        web_flush(c->loop); /* it may yet listen */
        if (c->closing)
            return;
        c->ended = true;
        if (n != UV_EOF || c->begun == UINT64_MAX ||
            (!c->waiting && !c->writing))
            conn_drop(c);
        else
            set_reading(c);
        return;
    }
    COUNT(c->loop, bytes_in, n);
    if (!c->last)
        work(c, buf->base, (size_t)n);
}

/* Who is waited for, or does not take what we say, is not listened to. */
static void set_reading(struct conn *c)
{
    bool want = !c->ended && !c->waiting && (!c->writing || c->last);

    if (want == c->reading)
        return;
    c->reading = want;
    if (want && uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read))
        conn_drop(c);
    else if (!want)
        uv_read_stop((uv_stream_t *)&c->tcp);
}

void conn_end(struct conn *c)
{
    c->last = true;
    if (!c->loop->out.len && !c->writing && !c->waiting)
        shut(c);
}

void conn_wait(struct conn *c)
{
    c->waiting = true;
}

void conn_hold(struct conn *c)
{
    c->jobs++;
}

bool conn_back(struct conn *c)
{
    c->jobs--;
    if (c->closed && !c->jobs)
        free_conn(c);
    else if (!c->closing)
        return true;
    return false;
}

void conn_go_on(struct conn *c)
{
    c->waiting = false;
    c->moved = c->loop->now;
    work(c, NULL, 0);
}

/* --- coming --- */

/* A client too many hears so, as far as one small packet goes. */
static void refuse(struct conn *c)
{
    static char text[] = "HTTP/1.1 503 Service Unavailable\r\n"
                         "Retry-After: 1\r\nContent-Length: 0\r\n"
                         "Connection: close\r\n\r\n";
    uv_buf_t buf = uv_buf_init(text, sizeof text - 1);

    uv_try_write((uv_stream_t *)&c->tcp, &buf, 1);
    COUNT(c->loop, refused, 1);
    conn_drop(c);
}

/*
 * No descriptor was left. libuv has one in reserve, but loses it when another
 * thread is quicker, and then tries to accept without an end. So there is one
 * of our own: given up, it lets the client in, who is told, and goes. If that
 * is lost, too, the client who has been silent for longest makes place.
 */
static void make_place(struct loop *l)
{
    struct conn *oldest = l->conns;

    if (l->spare >= 0) {
        close(l->spare);
        l->spare = -1;
        return;
    }
    for (struct conn *c = l->conns; c; c = c->next)
        if (c->moved < oldest->moved)
            oldest = c;
    if (oldest)
        conn_drop(oldest);
    else
        usleep(1000); /* others have them all */
}

void conn_accept(uv_stream_t *listener, int status)
{
    struct loop *l = listener->data;
    struct conn *c;

    if (status < 0) {
        make_place(l);
        return;
    }
    c = calloc(1, sizeof *c);
    if (!c || uv_tcp_init(&l->uv, &c->tcp)) {
        free(c);
        return;
    }
    c->loop = l;
    c->tcp.data = c;
    c->moved = l->now;
    c->speaks = listener == (uv_stream_t *)&l->listener[1] ? SPEAKS_RESP
                                                           : SPEAKS_UNKNOWN;
    c->prev = &l->conns;
    c->next = l->conns;
    if (c->next)
        c->next->prev = &c->next;
    l->conns = c;
    COUNT(l, open, 1);
    COUNT(l, connections, 1);
    if (uv_accept(listener, (uv_stream_t *)&c->tcp)) {
        __atomic_add_fetch(&l->server->open, 1, __ATOMIC_RELAXED);
        conn_drop(c);
        return;
    }
    if (__atomic_add_fetch(&l->server->open, 1, __ATOMIC_RELAXED) >
            l->server->most ||
        l->spare < 0) {
        refuse(c);
        if (l->spare < 0)
            l->spare = open("/", O_RDONLY | O_CLOEXEC);
        return;
    }
    uv_tcp_nodelay(&c->tcp, 1);
    set_reading(c);
}

void conn_check(struct conn *c)
{
    size_t queued = uv_stream_get_write_queue_size((uv_stream_t *)&c->tcp);
    uint64_t now = c->loop->now, still;
    bool resp = c->speaks == SPEAKS_RESP;

    if (queued != c->queued) { /* it takes something */
        c->queued = queued;
        c->moved = now;
    }
    still = now - c->moved;
    if (c->jobs && !c->writing)
        return; /* it is us who are slow */
    if (c->begun && c->begun != UINT64_MAX && !resp &&
        now - c->begun > HEAD_MS)
        conn_drop(c);
    else if ((c->writing || c->web || c->begun) && still > STILL_MS)
        conn_drop(c);
    else if (!resp && still > IDLE_MS)
        conn_drop(c);
    else if (c->loop->draining && !c->writing && !c->waiting && !c->web &&
             !c->in_len)
        conn_drop(c);
}
