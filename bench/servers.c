/* servers.c - start PostgreSQL and RabbitMQ, and stop them. */
#include "servers.h"

#include <errno.h>
#include <glob.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { START_MS = 60000, NAP_MS = 20, ARGUMENTS = 48 };

/* --- PostgreSQL --- */

/* It refuses root, who becomes this user. */
#define POSTGRES_USER "postgres"

/* The folder of the newest version. */
static bool find_programs(char path[PATH_ROOM])
{
    glob_t found = { .gl_pathc = 0 };
    long newest = 0;

    glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *at = found.gl_pathv[i] + strlen("/usr/lib/postgresql/");
        long version = strtol(at, NULL, 10);

        if (version > newest) {
            newest = version;
            snprintf(path, PATH_ROOM, "/usr/lib/postgresql/%ld/bin", version);
        }
    }
    globfree(&found);
    if (!newest)
        fprintf(stderr, "seen: bench: PostgreSQL was not found; it is in "
                        "Debian's postgresql\n");
    return newest;
}

static bool make_folder(char path[PATH_ROOM], const char *name)
{
    const struct passwd *user;

    process_path(path, name);
    if (mkdir(path, 0700) && errno != EEXIST) {
        fprintf(stderr, "seen: bench: %s: %s\n", path, strerror(errno));
        return false;
    }
    if (geteuid())
        return true;
    user = getpwnam(POSTGRES_USER);
    if (user && !chown(path, user->pw_uid, user->pw_gid) &&
        !chmod(process_folder(), 0711)) /* the way to it is open */
        return true;
    fprintf(stderr, "seen: bench: there is no user " POSTGRES_USER "\n");
    return false;
}

/* The words that make root that user; how many. */
static size_t put_user(const char **argv)
{
    static const char *const words[] = { "setpriv",
                                         "--reuid=" POSTGRES_USER,
                                         "--regid=" POSTGRES_USER,
                                         "--init-groups",
                                         "--pdeathsig",
                                         "TERM",
                                         "--" };

    if (geteuid())
        return 0;
    memcpy(argv, words, sizeof words);
    return sizeof words / sizeof *words;
}

static bool make_cluster(const struct bench_postgres *p, const char *data)
{
    const char *argv[ARGUMENTS];
    char program[PATH_ROOM + 16];
    size_t n = put_user(argv);
    double seconds;
    const char *const more[] = {
        program,   "-A",          "trust", "--no-sync", "--no-instructions",
        "-U",      POSTGRES_USER, "-E",    "UTF8",      "--locale",
        "C.UTF-8", "-D",          data,    NULL
    };

    snprintf(program, sizeof program, "%s/initdb", p->programs);
    memcpy(argv + n, more, sizeof more);
    if (process_run(argv, "initdb.out", "initdb.err", &seconds))
        return true;
    fprintf(stderr, "seen: bench: initdb failed\n");
    process_show("initdb.err");
    return false;
}

bool bench_postgres_start(struct bench_postgres *p)
{
    char folder[PATH_ROOM], data[PATH_ROOM + 8], program[PATH_ROOM + 16];
    const char *argv[ARGUMENTS];
    char port[16];
    size_t n = put_user(argv);
    const char *const more[] = { program, "-D", data,
                                 "-p",    port, "-k",
                                 "",      "-c", "listen_addresses=127.0.0.1",
                                 NULL };

    if (!find_programs(p->programs) || !make_folder(folder, "postgres"))
        return false;
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(program, sizeof program, "%s/postgres", p->programs);
    p->server.port = peer_free_port();
    snprintf(port, sizeof port, "%d", p->server.port);
    memcpy(argv + n, more, sizeof more);
    return make_cluster(p, data) && peer_start(&p->server, "postgres", argv);
}

bool bench_postgres_new(const struct bench_postgres *p, const char *name,
                        char url[PATH_ROOM])
{
    char program[PATH_ROOM + 16], port[16];
    const char *argv[] = { program, "-h",          "127.0.0.1", "-p", port,
                           "-U",    POSTGRES_USER, name,        NULL };
    double seconds;

    snprintf(program, sizeof program, "%s/createdb", p->programs);
    snprintf(port, sizeof port, "%d", p->server.port);
    snprintf(url, PATH_ROOM, "postgresql://" POSTGRES_USER "@127.0.0.1:%d/%s",
             p->server.port, name);
    /* It listens a moment before it answers. */
    for (int waited = 0; waited < START_MS; waited += NAP_MS) {
        if (process_run(argv, NULL, "createdb.err", &seconds))
            return true;
        process_sleep(NAP_MS);
    }
    fprintf(stderr, "seen: bench: createdb failed\n");
    process_show("createdb.err");
    return false;
}

void bench_postgres_stop(struct bench_postgres *p)
{
    if (p->server.pid)
        kill(p->server.pid, SIGINT); /* do not wait for clients */
    process_stop(&p->server.pid);
}

/* --- RabbitMQ --- */

#define RABBIT "/usr/lib/rabbitmq/bin/rabbitmq-server"

static bool write_text(const char *name, const char *text)
{
    char path[PATH_ROOM];
    FILE *file;

    process_path(path, name);
    file = fopen(path, "we");
    return file && fputs(text, file) >= 0 && !fclose(file);
}

/* Does it speak AMQP? It listens before it does. */
static bool speaks(const struct peer *p)
{
    int fd = peer_connect(p, 1);
    struct pollfd it = { fd, POLLIN, 0 };
    bool good = fd >= 0 && send(fd, "AMQP\0\0\x09\x01", 8, MSG_NOSIGNAL) == 8;
    char byte = 0;

    good = good && poll(&it, 1, 2000) > 0 && recv(fd, &byte, 1, 0) == 1 &&
           byte == 1;
    if (fd >= 0)
        close(fd);
    return good;
}

static pid_t read_pid(const char *name)
{
    char path[PATH_ROOM];
    long pid = 0;
    FILE *file;

    process_path(path, name);
    file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%ld", &pid) != 1)
            pid = 0;
        fclose(file);
    }
    return (pid_t)pid;
}

/* Erlang would start one that nobody ends. */
static bool start_names(struct bench_rabbit *r, const char *port)
{
    const char *program = process_find("epmd");
    const char *argv[] = { program,    "-port",     port,
                           "-address", "127.0.0.1", NULL };

    return program && peer_start(&r->names, "epmd", argv);
}

static bool start_broker(struct bench_rabbit *r, const char *names_port)
{
    static const char *const files[][2] = {
        { "HOME", "" },
        { "RABBITMQ_MNESIA_BASE", "mnesia" },
        { "RABBITMQ_LOG_BASE", "rabbit-log" },
        { "RABBITMQ_PID_FILE", "rabbit.pid" },
        { "RABBITMQ_ENABLED_PLUGINS_FILE", "rabbit-plugins" },
        { "RABBITMQ_CONFIG_FILE", "rabbitmq.conf" },
    };
    enum { FILES = sizeof files / sizeof *files };
    char path[PATH_ROOM], value[FILES][PATH_ROOM + 48];
    char node[64], port[48], dist[48], epmd[48];
    const char *argv[ARGUMENTS] = { "env" };
    size_t n = 1;

    for (size_t i = 0; i < FILES; i++) {
        process_path(path, files[i][1]);
        snprintf(value[i], sizeof value[i], "%s=%s", files[i][0], path);
        argv[n++] = value[i];
    }
    snprintf(node, sizeof node, "RABBITMQ_NODENAME=seen%d@localhost",
             r->server.port);
    snprintf(port, sizeof port, "RABBITMQ_NODE_PORT=%d", r->server.port);
    snprintf(dist, sizeof dist, "RABBITMQ_DIST_PORT=%d", peer_free_port());
    snprintf(epmd, sizeof epmd, "ERL_EPMD_PORT=%s", names_port);
    argv[n++] = node;
    argv[n++] = port;
    argv[n++] = dist;
    argv[n++] = epmd;
    argv[n++] = "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1";
    argv[n++] = "ERL_EPMD_ADDRESS=127.0.0.1";
    argv[n++] = "RABBITMQ_CONF_ENV_FILE=/dev/null";
    argv[n++] = RABBIT;
    return peer_start(&r->server, "rabbitmq-server", argv);
}

bool bench_rabbit_start(struct bench_rabbit *r)
{
    char port[16];

    if (access(RABBIT, X_OK)) {
        fprintf(stderr, "seen: bench: RabbitMQ was not found; it is in "
                        "Debian's rabbitmq-server\n");
        return false;
    }
    r->names.port = peer_free_port();
    r->server.port = peer_free_port();
    snprintf(port, sizeof port, "%d", r->names.port);
    if (!write_text("rabbit-plugins", "[].\n") ||
        !write_text("rabbitmq.conf", "loopback_users = none\n"
                                     "disk_free_limit.absolute = 50MB\n") ||
        !start_names(r, port) || !start_broker(r, port))
        return false;
    for (int waited = 0; !speaks(&r->server); waited += NAP_MS) {
        if (waited > START_MS) {
            fprintf(stderr, "seen: bench: rabbitmq-server does not answer\n");
            return false;
        }
        process_sleep(NAP_MS);
    }
    r->beam = read_pid("rabbit.pid");
    snprintf(r->url, sizeof r->url, "amqp://guest:guest@127.0.0.1:%d/%%2f",
             r->server.port);
    return true;
}

void bench_rabbit_stop(struct bench_rabbit *r)
{
    if (r->beam)
        kill(r->beam, SIGTERM);
    process_stop(&r->server.pid);
    process_stop(&r->names.pid);
    r->beam = 0;
}
