/*
 * servers.h - the servers that tests share, for tests in C; and a proxy that
 * cuts connections. test/servers/run starts the servers.
 *
 *     const char *url = shared_postgres("queue");    a new, empty database
 *     struct proxy proxy = proxy_start(shared_postgres_port());
 *
 *     proxy_order(&proxy, "before COMMIT");
 */
#ifndef TEST_SERVERS_H
#define TEST_SERVERS_H

#include "test/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sql/sql.h"

/* A text or a number of the file that describes a server. */
static inline const char *shared_value(const char *variable, const char *name)
{
    static char found[512];
    char text[4096], quoted[64];
    const char *path = getenv(variable), *at;
    FILE *f = path ? fopen(path, "r") : NULL;
    size_t len;

    if (!f) {
        print_error("%s: not there; ctest starts the server\n",
                    path ? path : variable);
        abort();
    }
    len = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[len] = 0;
    snprintf(quoted, sizeof quoted, "\"%s\": ", name);
    at = strstr(text, quoted);
    if (!at)
        abort();
    at += strlen(quoted);
    at += *at == '"';
    len = strcspn(at, "\",}");
    snprintf(found, sizeof found, "%.*s", (int)len, at);
    return found;
}

static inline int shared_postgres_port(void)
{
    return atoi(shared_value("SEEN_POSTGRES", "port"));
}

/* The URL of the server with another port and database, and with `query`,
   which begins with & or is "". */
static inline const char *shared_postgres_url(int port, const char *database,
                                              const char *query)
{
    static char url[512];

    snprintf(url, sizeof url,
             "postgresql://postgres@127.0.0.1:%d/%s?sslmode=disable%s", port,
             database, query);
    return url;
}

/* The URL of a new database, until the next call. Its name ends with the
   number of the process, since the tests of several builds run at once. */
static inline const char *shared_postgres(const char *name)
{
    char text[256], database[64];
    struct sql *db;
    struct seen_error why;

    snprintf(database, sizeof database, "%s_%d", name, getpid());
    if (sql_connect(&db, shared_value("SEEN_POSTGRES", "url"), SQL_WRITE,
                    &why) != SEEN_OK)
        fail_msg("%s", why.text);
    snprintf(text, sizeof text, "DROP DATABASE IF EXISTS %s WITH (FORCE)",
             database);
    if (sql_run(db, text, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    snprintf(text, sizeof text, "CREATE DATABASE %s TEMPLATE template0",
             database);
    if (sql_run(db, text, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    sql_close(db);
    return shared_postgres_url(shared_postgres_port(), database, "");
}

static inline const char *shared_rabbitmq(void)
{
    return shared_value("SEEN_RABBITMQ", "url");
}

/* --- test/servers/proxy.py --- */

struct proxy {
    pid_t pid;
    FILE *to, *from;
    int port;
};

/* A proxy before a port of 127.0.0.1. */
static inline struct proxy proxy_start(int port)
{
    struct proxy p = { .port = 0 };
    int to[2], from[2];
    char text[16], line[64];

    snprintf(text, sizeof text, "%d", port);
    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    p.pid = fork();
    if (p.pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        execl("/usr/bin/python3", "/usr/bin/python3", "test/servers/proxy.py",
              text, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    p.to = fdopen(to[1], "w");
    p.from = fdopen(from[0], "r");
    assert_non_null(fgets(line, sizeof line, p.from));
    p.port = atoi(line);
    return p;
}

/* "cut", "before COMMIT", "after COMMIT", "silent yes", "refuse no": see
   proxy.py. Returns when the proxy has heard it. */
static inline void proxy_order(struct proxy *p, const char *words)
{
    char line[64];

    fprintf(p->to, "%s\n", words);
    fflush(p->to);
    do
        assert_non_null(fgets(line, sizeof line, p->from));
    while (strcmp(line, "ok\n") != 0);
}

/* Wait until the cut that was ordered has happened. */
static inline void proxy_wait(struct proxy *p)
{
    char line[64];

    assert_non_null(fgets(line, sizeof line, p->from));
    assert_string_equal(line, "cut\n");
}

static inline void proxy_stop(struct proxy *p)
{
    fclose(p->to);
    fclose(p->from);
    kill(p->pid, SIGTERM);
    waitpid(p->pid, NULL, 0);
}

#endif
