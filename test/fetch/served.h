/*
 * served.h - the hostile server for tests, and what came of asking it.
 *
 *     serve_begin(&here);                      test/fetch/hostile.py
 *     struct got g = get(&here, NULL, &(struct fetch_request){
 *         .url = "/plain", .most = 5 });       a path is on the server
 *     serve_end(&here);
 */
#ifndef TEST_FETCH_SERVED_H
#define TEST_FETCH_SERVED_H

#include "test/test.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fetch/fetch.h"

struct served {
    pid_t pid;
    int tell; /* closed to stop it */
    unsigned port, tls_port;
    char authority[200];
    char place[40]; /* 127.0.0.1:port */
};

static inline void serve_begin(struct served *s)
{
    int in[2], out[2];
    char line[300];
    FILE *said;

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    s->pid = fork();
    if (!s->pid) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl("/usr/bin/python3", "/usr/bin/python3", "test/fetch/hostile.py",
              NULL);
        _exit(127);
    }
    assert_true(s->pid > 0);
    close(in[0]);
    close(out[1]);
    s->tell = in[1];
    said = fdopen(out[0], "r");
    assert_non_null(said);
    assert_non_null(fgets(line, sizeof line, said));
    assert_int_equal(
        sscanf(line, "%u %u %199s", &s->port, &s->tls_port, s->authority), 3);
    fclose(said);
    snprintf(s->place, sizeof s->place, "127.0.0.1:%u", s->port);
}

static inline void serve_end(struct served *s)
{
    close(s->tell);
    waitpid(s->pid, NULL, 0);
}

/* What came of a request. */
struct got {
    enum seen_code code;
    int status, begun, ended;
    enum fetch_outcome outcome;
    char url[400], etag[64], modified[64], type[64], why[160];
    uint64_t length, from, total, n, refused, bytes;
    char body[4096]; /* its beginning, with a 0 */
};

static inline enum seen_code got_begin(void *owner,
                                       const struct fetch_response *head,
                                       struct seen_error *why)
{
    struct got *g = owner;

    (void)why;
    g->begun++;
    assert_true(head->status == 200 || head->status == 206);
    assert_int_equal(g->ended, 0);
    return SEEN_OK;
}

static inline enum seen_code got_body(void *owner, const void *bytes, size_t n,
                                      struct seen_error *why)
{
    struct got *g = owner;
    size_t room = g->n < sizeof g->body - 1 ? sizeof g->body - 1 - g->n : 0;

    (void)why;
    assert_int_equal(g->begun, 1);
    assert_int_equal(g->ended, 0);
    memcpy(g->body + (room ? g->n : 0), bytes, n < room ? n : room);
    g->n += n;
    return SEEN_OK;
}

static inline void got_end(void *owner, enum seen_code code,
                           const struct fetch_response *head,
                           const struct seen_error *why)
{
    struct got *g = owner;

    g->ended++;
    g->code = code;
    g->status = head->status;
    g->outcome = head->outcome;
    g->length = head->length;
    g->from = head->from;
    g->total = head->total;
    snprintf(g->url, sizeof g->url, "%s", head->url);
    snprintf(g->etag, sizeof g->etag, "%s", head->etag);
    snprintf(g->modified, sizeof g->modified, "%s", head->modified);
    snprintf(g->type, sizeof g->type, "%s", head->type);
    snprintf(g->why, sizeof g->why, "%s", code ? why->text : "");
}

static const struct fetch_handler got_handler = { got_begin, got_body,
                                                  got_end };

static inline void finish_all(struct fetch *web)
{
    while (fetch_poll(web, 1000))
        ;
}

/* The whole URL of a path. */
static inline const char *at(const struct served *s, const char *path,
                             char url[2000])
{
    snprintf(url, 2000, *path == '/' ? "http://%s%s" : "%.0s%s", s->place,
             path);
    return url;
}

/* One request, with a client of its own. Unless there are rules, private
   addresses are allowed. A code of fetch_start() counts as an end. */
static inline struct got get(const struct served *s,
                             const struct fetch_options *rules,
                             const struct fetch_request *request)
{
    const struct fetch_options open = { .allow_private = true, .stall = 5 };
    struct fetch_request r = *request;
    struct got g = { 0 };
    struct seen_error why;
    struct fetch *web;
    char url[2000];

    r.url = at(s, request->url, url);
    r.owner = &g;
    r.handler = &got_handler;
    assert_int_equal(fetch_new(&web, rules ? rules : &open, &why), SEEN_OK);
    g.code = fetch_start(web, &r, &why);
    if (g.code == SEEN_OK) {
        finish_all(web);
        assert_int_equal(g.ended, 1);
    } else {
        snprintf(g.why, sizeof g.why, "%s", why.text);
    }
    g.refused = fetch_refused(web);
    g.bytes = fetch_bytes(web);
    fetch_free(web);
    assert_true(g.ended <= 1);
    return g;
}

/* The server of a test program, for cmocka_run_group_tests(). */
static struct served here;

static inline int served_begin(void **state)
{
    (void)state;
    serve_begin(&here);
    return 0;
}

static inline int served_end(void **state)
{
    (void)state;
    serve_end(&here);
    return 0;
}

#endif
