/*
 * conn.c - bytes from and to one client.
 *
 * The states of a connection are drawn in conn.h. Here are, in this order, its
 * memory, its end, what epoll is asked to report, writing, reading, waiting for
 * an answer that is made elsewhere, and accepting clients.
 *
 * Writing comes before reading: as long as a client has not taken its answers,
 * nothing is read from it, so that it cannot fill our memory by asking. work()
 * ties the two together: it gives the protocol what was read, sends what the
 * protocol has answered, and keeps the rest of both. It is called when bytes
 * came, when there is room to write again, and when an answer that was waited
 * for is there.
 */
#include "conn.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    ACCEPTS = 64,     /* clients per turn and listener */
    LOOKS = 64,       /* at clients, for one that makes place */
    GUEST_MS = 1000,  /* that a client without the token may be silent then */
    HEAD_MS = 10000,  /* for a head, from its first byte */
    STILL_MS = 30000, /* without a byte of a body, or taken */
    IDLE_MS = 75000   /* between requests, unless it may be idle */
};

/* --- its memory --- */

bool conn_measure(struct conn *c)
{
    struct server *s = c->loop->server;
    size_t holds = c->in.room + c->unsent.room;

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
    } else if (!c->pending) {
        conn_drop(c);
    }
    return false;
}

/* --- its addresses --- */

void conn_peer(const struct conn *c, struct sockaddr_storage *to)
{
    socklen_t len = sizeof *to;

    memset(to, 0, sizeof *to); /* addresses are compared as bytes */
    if (getpeername(c->socket.fd, (struct sockaddr *)to, &len))
        to->ss_family = AF_UNSPEC;
}

void conn_reached(const struct conn *c, struct sockaddr_storage *to)
{
    socklen_t len = sizeof *to;

    memset(to, 0, sizeof *to);
    if (getsockname(c->socket.fd, (struct sockaddr *)to, &len))
        to->ss_family = AF_UNSPEC;
}

/* Log a client that is refused without a request. */
static void log_refusal(struct conn *c, int status)
{
    const struct seen_span none = { "-", 1 };
    struct sockaddr_storage client;

    if (!c->loop->log.file)
        return;
    conn_peer(c, &client);
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
    __atomic_sub_fetch(&c->loop->server->memory, c->held, __ATOMIC_RELAXED);
    free(c);
}

static void on_closed(struct loop *l, struct loop_socket *s, uint32_t none)
{
    struct conn *c = (struct conn *)s;

    (void)l, (void)none;
    c->state = CONN_CLOSED;
    if (!c->pending)
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
    if (l->hand == c)
        l->hand = c->next;
    COUNT(l, open, -1);
    __atomic_sub_fetch(&l->server->open, 1, __ATOMIC_RELAXED);
    loop_unwatch(l, &c->socket, on_closed);
}

/*
 * Closing with bytes of the client unread makes the kernel send a reset,
 * which can overtake the last answer. So only our side is shut, and what the
 * client sends is read and dropped until it closes too.
 */
static void shut(struct conn *c)
{
    c->state = CONN_SHUT;
    c->head_since = 0;
    if (c->ended || shutdown(c->socket.fd, SHUT_WR))
        conn_drop(c);
}

void conn_finish(struct conn *c)
{
    if (c->state < CONN_LAST)
        c->state = CONN_LAST;
}

/* --- events --- */

/*
 * The kernel reports a change once (EPOLLET), and in every state: to pause and
 * to go on takes no system call. It reports bytes that came after the last
 * read, and room after a send that fell short. In all other cases we ask it to
 * look again. Room is watched from the first send that falls short: a Unix
 * socket reports it whenever the client reads.
 */
enum { WATCHED = EPOLLIN | EPOLLPRI | EPOLLRDHUP };

static void look_again(struct conn *c)
{
    const bool sends = conn_writing(c) || c->state == CONN_WAITING;
    const uint32_t room = sends ? EPOLLOUT : 0;

    if (!loop_watch_again(c->loop, &c->socket, WATCHED | room | EPOLLET))
        conn_drop(c);
}

void conn_send_more(struct conn *c)
{
    if (c->state < CONN_CLOSING)
        look_again(c);
}

static bool can_read(const struct conn *c)
{
    return c->state == CONN_OPEN && !conn_writing(c);
}

/* Nothing is read from a client that waits, or that does not take what it is
   sent; after the last answer what it sends is read and dropped. */
static bool wants_input(const struct conn *c)
{
    return !c->ended && (c->state >= CONN_LAST || can_read(c));
}

/* Go on with reading, if something was left. */
static void set_input(struct conn *c)
{
    if (c->unread && wants_input(c))
        look_again(c);
}

/* --- writing --- */

static void work(struct conn *c, char *text, size_t len);

static size_t waiting(const struct conn *c)
{
    return c->unsent.len - c->sent;
}

bool conn_full(const struct conn *c)
{
    return c->loop->out.len + waiting(c) > CONN_OUTPUT;
}

/* Write as much as the client takes now; -1 if it has gone. */
static ssize_t try_write(struct conn *c, const char *bytes, size_t len)
{
    ssize_t n;

    do
        n = send(c->socket.fd, bytes, len, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 && errno == EAGAIN ? 0 : n;
}

/* Keep answers that the client does not take now. What it has taken is dropped
   when that is the larger part. */
static void keep_unsent(struct conn *c, const char *bytes, size_t len)
{
    const bool first = !conn_writing(c);

    if (c->sent > waiting(c)) {
        buffer_drop(&c->unsent, c->sent);
        c->sent = 0;
    }
    buffer_bytes(&c->unsent, bytes, len);
    if (c->unsent.failed)
        conn_drop(c);
    else if (first)
        look_again(c);
}

/* The client takes more of what waits. */
static void write_unsent(struct conn *c)
{
    const ssize_t n = try_write(c, c->unsent.bytes + c->sent, waiting(c));

    if (n < 0) {
        conn_drop(c);
        return;
    }
    if (n)
        c->moved = c->loop->now;
    c->sent += (size_t)n;
    if (waiting(c))
        return;
    buffer_clear(&c->unsent);
    c->sent = 0;
    if (c->state == CONN_LAST)
        shut(c);
    else if (c->state == CONN_OPEN)
        work(c, NULL, 0);
}

void conn_send(struct conn *c, struct buffer *b)
{
    ssize_t sent = -1;

    if (c->state < CONN_CLOSING && !b->failed)
        sent = b->len && !conn_writing(c) ? try_write(c, b->bytes, b->len) : 0;
    if (sent < 0) {
        b->failed = false;
        b->len = 0;
        conn_drop(c);
        return;
    }
    COUNT(c->loop, bytes_out, b->len);
    if ((size_t)sent < b->len)
        keep_unsent(c, b->bytes + sent, b->len - (size_t)sent);
    b->len = 0;
    if (b->room > 4 * CONN_OUTPUT)
        buffer_clear(b);
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
        if (in->room)
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
    /* A job may have answered more than is allowed to wait. Then no request
       would be read, and if the client took all of the answer at once, nothing
       would call this function again. */
    if (conn_full(c))
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
    if (c->ended)
        end_input(c);
    if (c->state >= CONN_CLOSING)
        return;
    afford(c);
    if (c->state >= CONN_CLOSING)
        return;
    time_head(c, c->in.len, another);
    c->asked |= another;
    set_input(c);
}

/* The client has closed its side, or has gone. */
static void read_end(struct conn *c, bool gone)
{
    c->ended = true;
    c->unread = false;
    if (gone || c->state == CONN_SHUT)
        conn_drop(c);
    else
        end_input(c);
}

/* As recv(). On a Unix socket a message that carries descriptors cuts it short,
   though more may follow; the descriptors are not taken. */
static ssize_t receive(const struct conn *c, bool *cut)
{
    struct iovec to = { c->loop->in, LOOP_INPUT };
    struct msghdr message = { .msg_iov = &to, .msg_iovlen = 1 };
    ssize_t n;

    *cut = false;
    if (!c->is_unix) /* it is 0.2 us faster than recvmsg() */
        return recv(c->socket.fd, c->loop->in, LOOP_INPUT, 0);
    n = recvmsg(c->socket.fd, &message, 0);
    *cut = message.msg_flags & MSG_CTRUNC;
    return n;
}

/*
 * Read once. If that does not fill the memory nothing is left, unless it was
 * cut short or the events say that something else follows: the end, an error,
 * or bytes after urgent ones.
 */
static void read_input(struct conn *c, uint32_t events)
{
    bool cut;
    const ssize_t n = receive(c, &cut);

    if (n < 0 && errno == EAGAIN) {
        c->unread = false;
        return;
    }
    if (c->state != CONN_SHUT) /* closing clients get no more time */
        c->moved = c->loop->now;
    if (n <= 0 && (!n || errno != EINTR)) {
        read_end(c, n < 0);
        return;
    }
    c->unread = n < 0 || n == LOOP_INPUT || cut ||
                (events & ~(uint32_t)(EPOLLIN | EPOLLOUT));
    if (n > 0)
        COUNT(c->loop, bytes_in, n);
    if (n > 0 && c->state < CONN_LAST)
        work(c, c->loop->in, (size_t)n);
    else
        set_input(c);
}

static void on_ready(struct loop *l, struct loop_socket *s, uint32_t events)
{
    struct conn *c = (struct conn *)s;

    (void)l;
    c->unread |= events & ~(uint32_t)EPOLLOUT;
    if (c->state < CONN_CLOSING && (events & EPOLLOUT)) {
        if (conn_writing(c))
            write_unsent(c);
        if (c->state == CONN_WAITING && !conn_writing(c) && c->protocol->more)
            c->protocol->more(c);
    }
    if (c->state < CONN_CLOSING && c->unread && wants_input(c))
        read_input(c, events);
}

void conn_wait(struct conn *c)
{
    if (c->state <= CONN_LAST)
        c->state = CONN_WAITING;
}

void conn_wait_for(struct conn *c, struct pending *p)
{
    assert(!c->pending);
    conn_wait(c);
    p->conn = c;
    c->pending = p;
}

/* A connection is closed at the end of a turn only, not by done(). */
void conn_answer(struct pending *p)
{
    struct conn *c = p->conn;

    c->pending = NULL;
    p->done(p, c->state < CONN_CLOSING);
    if (c->state == CONN_CLOSED && !c->pending)
        free_conn(c);
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
    static const char text[] = "HTTP/1.1 503 Service Unavailable\r\n"
                               "Retry-After: 1\r\nContent-Length: 0\r\n"
                               "Connection: close\r\n\r\n";
    static const char redis[] = "-ERR max number of clients reached\r\n";

    if (c->own_port)
        try_write(c, redis, sizeof redis - 1);
    else
        try_write(c, text, sizeof text - 1);
    COUNT(c->loop, refused, 1);
    log_refusal(c, 503);
    conn_drop(c);
}

/*
 * Anybody can open connections and say nothing. On the port of HTTP that ends
 * soon. Clients of the Redis protocol may be idle for as long as they like on
 * a port of their own, and without the token we know nothing of them. So they
 * do not count when there are too many clients, and neither do those that have
 * not sent one whole request: the one that has been silent for longest makes
 * place. A head that comes byte by byte is silence from its beginning on.
 *
 * Only LOOKS clients are looked at, each time the next ones: a flood of
 * connections would cost a walk over all clients each otherwise.
 */
static bool is_guest(const struct conn *c, uint64_t *since)
{
    *since = c->head_since ? c->head_since : c->moved;
    return c->state == CONN_OPEN && !c->pending && !conn_writing(c) &&
           !busy(c) && !c->trusted && (c->own_port || !c->asked) &&
           c != c->loop->active && c->loop->now - *since >= GUEST_MS;
}

static bool drop_guest(struct loop *l)
{
    struct conn *longest = NULL;
    uint64_t since, first = UINT64_MAX;

    for (int i = 0; i < LOOKS; i++) {
        if (!l->hand)
            l->hand = l->conns;
        if (!l->hand)
            break;
        if (is_guest(l->hand, &since) && since < first) {
            longest = l->hand;
            first = since;
        }
        l->hand = l->hand->next;
    }
    if (longest)
        conn_drop(longest);
    return longest;
}

/*
 * No descriptor was left. We keep one in reserve: after closing it the client
 * can be accepted and refused. If another thread takes it, the client that was
 * silent for longest is dropped.
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

static void take_client(struct loop *l, const struct loop_listener *from,
                        int fd)
{
    struct server *s = l->server;
    const struct listen_address *at = &s->at[from - l->listener];
    struct conn *c = calloc(1, sizeof *c);
    const int on = 1;
    uint64_t clients;

    if (!c) {
        close(fd);
        return;
    }
    if (at->passed) /* it may have connected before the listener had it */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->socket = (struct loop_socket){ fd, on_ready, NULL };
    c->loop = l;
    c->moved = l->now;
    c->is_unix = at->is_unix;
    c->loopback = at->local && !at->is_unix;
    if (from->redis) {
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
    if ((clients > s->most && !drop_guest(l)) || l->spare < 0) {
        refuse(c);
        if (l->spare < 0)
            l->spare = open("/", O_RDONLY | O_CLOEXEC);
    } else if (!loop_watch(l, &c->socket, WATCHED | EPOLLET)) {
        conn_drop(c);
    }
}

void conn_accept(struct loop *l, struct loop_socket *listener, uint32_t events)
{
    for (int i = 0; i < ACCEPTS; i++) {
        const int fd = accept4(listener->fd, NULL, NULL,
                               SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0)
            take_client(l, (const struct loop_listener *)listener, fd);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
                 errno == ENOMEM) {
            make_place(l); /* for the next turn */
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            /* A listener that another program has shut down would be ready
               for ever. accept() says EINVAL then, or EAGAIN on Unix. */
            if (events & (EPOLLHUP | EPOLLRDHUP))
                loop_unwatch(l, listener, NULL);
            return;
        }
    }
}

void conn_check(struct conn *c)
{
    const bool writing = conn_writing(c);
    const uint64_t now = c->loop->now, still = now - c->moved;

    if (c->pending && !writing)
        return; /* it waits for us */
    if (c->head_since && !c->trusted && now - c->head_since > HEAD_MS) {
        log_refusal(c, 408);
        conn_drop(c);
    } else if (c->until && now > c->until)
        conn_drop(c);
    else if ((writing || busy(c) || c->head_since || c->state == CONN_SHUT) &&
             still > STILL_MS)
        conn_drop(c);
    else if (!c->patient && still > IDLE_MS)
        conn_drop(c);
    else if (c->loop->draining && !writing && c->state != CONN_WAITING &&
             !busy(c) && !c->in.len)
        conn_drop(c);
}
