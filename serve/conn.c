/* conn.c - bytes from and to one client. */
#include "conn.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    HEAD_MS = 10000,  /* for a head, from its first byte */
    STILL_MS = 30000, /* without a byte of a body, or taken */
    IDLE_MS = 75000   /* between requests, unless it may be idle */
};

/* --- its memory --- */

bool conn_measure(struct conn *c)
{
    struct server *s = c->loop->server;
    size_t holds = c->in.room + c->unsent.room + c->later.room;

    if (c->protocol && c->protocol->memory)
        holds += c->protocol->memory(c);
    if (holds != c->held)
        __atomic_add_fetch(&s->memory, (uint64_t)holds - c->held,
                           __ATOMIC_RELAXED);
    c->held = holds;
    return holds <= CONN_SMALL || !s->options.memory ||
           __atomic_load_n(&s->memory, __ATOMIC_RELAXED) <= s->options.memory;
}

/* Refuse what it sends if there is no memory for it; false if it was. */
static bool afford(struct conn *c)
{
    if (c->state >= CONN_CLOSING || conn_measure(c))
        return true;
    COUNT(c->loop, overloads, 1);
    if (c->state == CONN_OPEN && c->protocol && c->protocol->overload) {
        c->protocol->overload(c);
        buffer_clear(&c->in);
        conn_send(c, &c->loop->out);
        conn_measure(c);
    } else if (!c->jobs) {
        conn_drop(c);
    }
    return false;
}

/* Log a client that is refused without a request. */
static void log_refusal(struct conn *c, int status)
{
    struct sockaddr_storage client = { .ss_family = AF_UNSPEC };
    const struct seen_span none = { "-", 1 };
    int len = sizeof client;

    if (!c->loop->log.file)
        return;
    uv_tcp_getpeername(&c->tcp, (struct sockaddr *)&client, &len);
    log_write(
        &c->loop->log, &client,
        &(struct log_entry){
            .request = none, .status = status, .from = none, .with = none });
}

/* --- its end --- */

static void free_conn(struct conn *c)
{
    if (c->protocol)
        c->protocol->forget(c);
    buffer_clear(&c->in);
    buffer_clear(&c->unsent);
    buffer_clear(&c->later);
    __atomic_sub_fetch(&c->loop->server->memory, c->held, __ATOMIC_RELAXED);
    free(c);
}

static void on_close(uv_handle_t *handle)
{
    struct conn *c = handle->data;

    c->state = CONN_CLOSED;
    if (!c->jobs)
        free_conn(c);
}

void conn_drop(struct conn *c)
{
    struct loop *l = c->loop;

    if (c->state >= CONN_CLOSING)
        return;
    c->state = CONN_CLOSING;
    *c->prev = c->next;
    if (c->next)
        c->next->prev = c->prev;
    COUNT(l, open, -1);
    __atomic_sub_fetch(&l->server->open, 1, __ATOMIC_RELAXED);
    uv_close((uv_handle_t *)&c->tcp, on_close);
}

/*
 * Closing with bytes of the client unread makes the kernel send a reset,
 * which can overtake the last answer. So only our side is shut, and what the
 * client sends is read and dropped until it closes too.
 */
static void on_shut(uv_shutdown_t *req, int status)
{
    struct conn *c = req->data;

    (void)status;
    free(req);
    if (c->input == INPUT_ENDED)
        conn_drop(c);
}

static void shut(struct conn *c)
{
    uv_shutdown_t *req = calloc(1, sizeof *req);

    c->state = CONN_SHUT;
    c->head_since = 0;
    if (req)
        req->data = c;
    if (!req || uv_shutdown(req, (uv_stream_t *)&c->tcp, on_shut)) {
        free(req);
        conn_drop(c);
    }
}

void conn_finish(struct conn *c)
{
    if (c->state < CONN_LAST)
        c->state = CONN_LAST;
}

/* --- writing --- */

static void work(struct conn *c, char *text, size_t len);
static void set_input(struct conn *c);

bool conn_full(const struct conn *c)
{
    return c->loop->out.len + c->unsent.len + c->later.len > CONN_OUTPUT;
}

static void on_written(uv_write_t *req, int status);

/* Write what waits, when nothing is being written. */
static void write_later(struct conn *c)
{
    uv_buf_t buf;

    c->unsent = c->later;
    memset(&c->later, 0, sizeof c->later);
    buf = uv_buf_init(c->unsent.bytes, (unsigned)c->unsent.len);
    c->write.data = c;
    if (uv_write(&c->write, (uv_stream_t *)&c->tcp, &buf, 1, on_written)) {
        buffer_clear(&c->unsent);
        conn_drop(c);
    }
}

static void on_written(uv_write_t *req, int status)
{
    struct conn *c = req->data;

    c->moved = c->loop->now;
    buffer_clear(&c->unsent);
    if (c->state >= CONN_CLOSING)
        return;
    if (status < 0)
        conn_drop(c);
    else if (c->later.len)
        write_later(c);
    else if (c->state == CONN_LAST)
        shut(c);
    else if (c->state == CONN_OPEN)
        work(c, NULL, 0);
}

/* Write as much as the client takes now; -1 if it has gone. */
static ssize_t try_write(struct conn *c, const struct buffer *b)
{
    uv_buf_t buf = uv_buf_init(b->bytes, (unsigned)b->len);
    int n;

    if (!b->len || conn_writing(c))
        return 0;
    n = uv_try_write((uv_stream_t *)&c->tcp, &buf, 1);
    if (n == UV_EAGAIN)
        return 0;
    return n < 0 ? -1 : n;
}

void conn_send(struct conn *c, struct buffer *b)
{
    ssize_t sent = -1;

    if (c->state < CONN_CLOSING && !b->failed)
        sent = try_write(c, b);
    if (sent < 0) {
        b->failed = false;
        b->len = 0;
        conn_drop(c);
        return;
    }
    COUNT(c->loop, bytes_out, b->len);
    buffer_bytes(&c->later, b->bytes + sent, b->len - (size_t)sent);
    b->len = 0;
    if (b->room > 4 * CONN_OUTPUT)
        buffer_clear(b);
    if (c->later.failed)
        conn_drop(c);
    else if (c->later.len && !conn_writing(c))
        write_later(c);
    if (c->state == CONN_LAST && !conn_writing(c))
        shut(c);
    if (c != c->loop->active && c->state < CONN_CLOSING)
        set_input(c);
}

/* --- reading --- */

/* Keep what is left over of the input, which may be in c->in already. */
static void keep(struct conn *c, const char *text, size_t len)
{
    struct buffer *in = &c->in;

    if (!len) {
        buffer_clear(in);
    } else if (in->len) {
        buffer_drop(in, in->len - len);
    } else {
        buffer_bytes(in, text, len);
        if (in->failed)
            conn_drop(c);
    }
}

/* Which protocol is it? False if more bytes must come before that is known.
   The last one takes what no other claims, and refuses it in its words. */
static bool recognise(struct conn *c, const char *text, size_t len)
{
    const struct protocol *const *p = c->loop->server->protocol;

    for (int i = 0; i < PROTOCOLS; i++) {
        enum protocol_guess guess = p[i]->guess(text, len);

        if (guess == GUESS_MORE)
            return false;
        if (guess == GUESS_YES || i + 1 == PROTOCOLS) {
            c->protocol = p[i];
            break;
        }
    }
    return true;
}

static bool busy(const struct conn *c)
{
    return c->protocol && c->protocol->busy && c->protocol->busy(c);
}

/* Since when is a head incomplete? Time in which we do not look at it, since
   the client does not take its answers, does not count; for `another` head it
   begins anew. */
static void time_head(struct conn *c, bool some, bool another)
{
    if (!some || busy(c) || c->state != CONN_OPEN || conn_writing(c))
        c->head_since = 0;
    else if (!c->head_since || another)
        c->head_since = c->loop->now;
}

/* The client sends no more: it gets all answers that it is owed, and what it
   did not complete is dropped. */
static void end_input(struct conn *c)
{
    loop_turn(c->loop);
    if (c->state == CONN_OPEN && !conn_writing(c))
        shut(c);
}

static bool can_read(const struct conn *c)
{
    return c->state == CONN_OPEN && !conn_writing(c);
}

/* Go on with what is kept and what came, and send the answers. */
static void work(struct conn *c, char *text, size_t len)
{
    bool another = false;
    size_t used;

    loop_refresh(c->loop);
    if (c->in.len) {
        buffer_bytes(&c->in, text, len);
        if (c->in.failed) {
            conn_drop(c);
            return;
        }
        text = c->in.bytes;
        len = c->in.len;
    }
    c->loop->active = c;
    if (conn_full(c)) /* of a job: no request would be read, and if the client
                         takes all of it at once nothing would call again */
        conn_send(c, &c->loop->out);
    do {
        used = 0;
        if (len && can_read(c) && (c->protocol || recognise(c, text, len)))
            used = c->protocol->read(c, text, len);
        another |= used > 0;
        text += used;
        len -= used;
        conn_send(c, &c->loop->out);
    } while (used && len && can_read(c));
    c->loop->active = NULL;
    if (c->state >= CONN_CLOSING)
        return;
    keep(c, text, c->state >= CONN_LAST ? 0 : len);
    if (c->input == INPUT_ENDED)
        end_input(c);
    if (c->state >= CONN_CLOSING)
        return;
    afford(c);
    if (c->state >= CONN_CLOSING)
        return;
    time_head(c, c->in.len, another);
    set_input(c);
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

    if (n == 0 || c->state >= CONN_CLOSING)
        return;
    if (c->state != CONN_SHUT) /* closing clients get no more time */
        c->moved = c->loop->now;
    if (n < 0) {
        c->input = INPUT_ENDED;
        if (n == UV_EOF && c->state != CONN_SHUT)
            end_input(c);
        else
            conn_drop(c);
        if (c->state < CONN_CLOSING)
            uv_read_stop(stream);
        return;
    }
    COUNT(c->loop, bytes_in, n);
    if (c->state < CONN_LAST)
        work(c, buf->base, (size_t)n);
}

/* Nothing is read from a client that waits, or that does not take what it is
   sent; after the last answer what it sends is read and dropped. */
static void set_input(struct conn *c)
{
    const bool want = c->state >= CONN_LAST || can_read(c);

    if (c->input == INPUT_ENDED || want == (c->input == INPUT_READ))
        return;
    c->input = want ? INPUT_READ : INPUT_PAUSED;
    if (want && uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read))
        conn_drop(c);
    else if (!want)
        uv_read_stop((uv_stream_t *)&c->tcp);
}

void conn_wait(struct conn *c)
{
    if (c->state <= CONN_LAST)
        c->state = CONN_WAITING;
}

void conn_hold(struct conn *c)
{
    conn_wait(c);
    c->jobs++;
}

bool conn_back(struct conn *c)
{
    c->jobs--;
    if (c->state == CONN_CLOSED && !c->jobs)
        free_conn(c);
    else if (c->state < CONN_CLOSING)
        return true;
    return false;
}

void conn_go_on(struct conn *c)
{
    if (c->state == CONN_WAITING)
        c->state = CONN_OPEN;
    c->moved = c->loop->now;
    work(c, NULL, 0);
}

/* --- coming --- */

/* One client too many is refused, as far as one small packet goes. */
static void refuse(struct conn *c)
{
    static char text[] = "HTTP/1.1 503 Service Unavailable\r\n"
                         "Retry-After: 1\r\nContent-Length: 0\r\n"
                         "Connection: close\r\n\r\n";
    uv_buf_t buf = uv_buf_init(text, sizeof text - 1);

    uv_try_write((uv_stream_t *)&c->tcp, &buf, 1);
    COUNT(c->loop, refused, 1);
    log_refusal(c, 503);
    conn_drop(c);
}

/*
 * No descriptor was left. libuv has one in reserve, but loses it when another
 * thread is quicker, and then tries to accept without an end. So we keep one
 * of our own: after closing it the client can be accepted and refused. If
 * another thread takes it, the client that was silent for longest is dropped.
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
    struct server *s = l->server;
    struct conn *c;
    uint64_t clients;

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
    if (s->at[(uv_tcp_t *)listener - l->listener].redis) {
        c->protocol = s->protocol[PROTOCOL_REDIS];
        c->own_port = c->patient = true;
    }
    c->prev = &l->conns;
    c->next = l->conns;
    if (c->next)
        c->next->prev = &c->next;
    l->conns = c;
    COUNT(l, open, 1);
    COUNT(l, connections, 1);
    clients = __atomic_add_fetch(&s->open, 1, __ATOMIC_RELAXED);
    if (uv_accept(listener, (uv_stream_t *)&c->tcp)) {
        conn_drop(c);
    } else if (clients > s->most || l->spare < 0) {
        refuse(c);
        if (l->spare < 0)
            l->spare = open("/", O_RDONLY | O_CLOEXEC);
    } else {
        uv_tcp_nodelay(&c->tcp, 1);
        set_input(c);
    }
}

void conn_check(struct conn *c)
{
    const bool patient = c->patient;
    const bool writing = conn_writing(c);
    size_t queued = uv_stream_get_write_queue_size((uv_stream_t *)&c->tcp);
    uint64_t now = c->loop->now, still;

    if (queued != c->queued) { /* it takes something */
        c->queued = queued;
        c->moved = now;
    }
    still = now - c->moved;
    if (c->jobs && !writing)
        return; /* it waits for us */
    if (c->head_since && !patient && now - c->head_since > HEAD_MS) {
        log_refusal(c, 408);
        conn_drop(c);
    } else if (c->until && now > c->until)
        conn_drop(c);
    else if ((writing || busy(c) || c->head_since || c->state == CONN_SHUT) &&
             still > STILL_MS)
        conn_drop(c);
    else if (!patient && still > IDLE_MS)
        conn_drop(c);
    else if (c->loop->draining && !writing && c->state != CONN_WAITING &&
             !busy(c) && !c->in.len)
        conn_drop(c);
}
