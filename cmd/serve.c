/*
 * serve.c - seen serve: answer over HTTP and the Redis protocol.
 *
 *     $ seen serve haw=haw.seen ia=ia.seen
 *     seen: serving 2 archives at http://127.0.0.1:8080/
 *     $ curl -I http://127.0.0.1:8080/haw/https://haw.nsk.hr/en
 *     HTTP/1.1 200 OK
 */
#include "command.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../serve/server.h"
#include "access.h"
#include "secret.h"

extern const struct command cmd_serve;

enum { TOKEN_TEXT = 512 };

struct serve {
    const char *listen, *redis, *base, *url, *token, *log, *sync, *keyed;
    uint64_t threads, connections, body;
    bool writable, sets, no_files;
};

static const struct option options[] = {
    { "listen", 'l', TEXT, "ADDRESS:PORT", offsetof(struct serve, listen),
      "where to listen (default 127.0.0.1:8080); port 0 is any free port" },
    { "redis", 0, TEXT, "ADDRESS:PORT", offsetof(struct serve, redis),
      "also listen here for the Redis protocol; the other port accepts it, "
      "too" },
    { "threads", 0, COUNT, "N", offsetof(struct serve, threads),
      "number of threads (default: one per CPU)" },
    { "base", 0, TEXT, "PATH", offsetof(struct serve, base),
      "put everything under this path: /bloom/NAME/<URL>" },
    { "url", 0, TEXT, "URL", offsetof(struct serve, url),
      "the address of the server for lists and links, without the base "
      "(default: from the Host header)" },
    { "writable", 'w', FLAG, NULL, offsetof(struct serve, writable),
      "let clients with the token add and remove URLs and, in a folder, create "
      "filters by the Redis protocol" },
    { "token", 0, PATH, "FILE", offsetof(struct serve, token),
      "the first line is the token: Authorization: Bearer TOKEN, or AUTH" },
    { "sync", 0, TEXT, "always|everysec|no", offsetof(struct serve, sync),
      "when an add is safe from a power failure: before it is acknowledged "
      "(default), about a second later, or when the system writes it" },
    { "sets", 0, FLAG, NULL, offsetof(struct serve, sets),
      "let SADD, SISMEMBER and similar commands work on filters" },
    { "no-files", 0, FLAG, NULL, offsetof(struct serve, no_files),
      "do not offer the filters themselves at /files/" },
    { "keyed", 0, PATH, "KEYFILE", offsetof(struct serve, keyed),
      "the key of keyed filters" },
    { "log", 0, PATH, "FILE", offsetof(struct serve, log),
      "keep an access log in the combined format; - is standard output" },
    { "connections", 0, COUNT, "N", offsetof(struct serve, connections),
      "most clients at a time (default: as many as the system allows)" },
    { "body", 0, COUNT, "BYTES", offsetof(struct serve, body),
      "largest list that a client may send (default 1G)" },
    { .name = NULL }
};

/* The first line of the file; false after a message. */
static bool token_read(const char *path, char *token)
{
    FILE *file = fopen(path, "r");
    size_t len;

    if (!file) {
        perror("seen: --token");
        return false;
    }
    if (!fgets(token, TOKEN_TEXT, file))
        token[0] = '\0';
    fclose(file);
    len = strcspn(token, "\r\n");
    if (len < 8 || len + 2 >= TOKEN_TEXT) {
        trouble("%s: a token is a line of 8 to %d characters", path,
                TOKEN_TEXT - 3);
        return false;
    }
    token[len] = '\0';
    for (size_t i = 0; i < len; i++)
        if (!isgraph((unsigned char)token[i])) {
            trouble("%s: a token has no spaces and no control bytes", path);
            return false;
        }
    return true;
}

static bool base_good(const char *base)
{
    size_t len = strlen(base);

    return !len || (base[0] == '/' && len > 1 && base[len - 1] != '/' &&
                    len < 256 && !strpbrk(base, "?#% \"<>\\"));
}

/* Say where; scripts wait for this line. */
static void ready(const struct serve_options *at, int port, int redis_port)
{
    const char *colon = strrchr(at->listen, ':');
    int len = (int)(colon - at->listen);

    fprintf(stderr, "seen: serving at http://%.*s:%d%s/\n", len, at->listen,
            port, at->base);
    if (at->redis)
        fprintf(stderr, "seen: the Redis protocol also at port %d\n",
                redis_port);
    fflush(stderr);
}

static enum outcome serve(struct serve *s, char **operand)
{
    char token[TOKEN_TEXT] = "";
    unsigned char secret[SEEN_SECRET];
    struct seen_error why;
    struct serve_options how = {
        .listen = s->listen ? s->listen : "127.0.0.1:8080",
        .redis = s->redis,
        .threads = (unsigned)(s->threads < 256 ? s->threads : 256),
        .base = s->base ? s->base : "",
        .url = s->url,
        .log = s->log,
        .sets = s->sets,
        .files = !s->no_files,
        .connections = s->connections,
        .body = s->body ? s->body : UINT64_C(1) << 30,
        .archives = { .operand = (const char *const *)operand,
                      .writable = s->writable,
                      .sync = access_sync(s->sync) },
    };
    enum seen_code code;
    size_t n = 0;

    while (operand[n])
        n++;
    how.archives.operands = n;
    if (!strcmp(how.base, "/"))
        how.base = "";
    if (!base_good(how.base))
        return trouble("--base: %s is not a path such as /bloom", how.base);
    if (s->writable && !s->token)
        return trouble("--writable needs a token: --token FILE");
    if (s->token && !token_read(s->token, token))
        return TROUBLE;
    how.token = s->token ? token : NULL;
    if (s->keyed && !secret_read(s->keyed, secret))
        return TROUBLE;
    how.archives.secret = s->keyed ? secret : NULL;
    code = serve_run(&how, ready, &why);
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(token, sizeof token);
    if (code == SEEN_OK)
        return YES;
    return trouble_with(why.at < n ? operand[why.at] : "serve", &why);
}

static enum outcome run(char **argv)
{
    struct serve s = { .listen = NULL };
    char **operand = options_read(&cmd_serve, &s, argv);

    return operand ? serve(&s, operand) : TROUBLE;
}

const struct command cmd_serve = {
    .name = "serve",
    .summary = "answer over HTTP and the Redis protocol",
    .synopsis = "NAME=FILTER|DIR...",
    .operands = 1,
    .most = -1,
    .options = options,
    .about =
        "Serves filters: NAME=FILTER is an archive of that name, DIR all "
        "filters of a folder (haw.seen is the archive haw), including new and "
        "replaced ones. Filters are mapped, not copied, and other processes "
        "can add to them meanwhile.\n\n"
        "GET /NAME/<URL> is 200 if NAME may hold the URL and 404 if it does "
        "not; GET /agg/<URL> checks all archives; POST /NAME and POST /agg "
        "accept lists. A web page is at /. The rest, and the commands of the "
        "Redis protocol, are in doc/protocol.md.\n\n"
        "The server prints on standard error where it listens. On SIGTERM or "
        "SIGINT it finishes open requests and ends.",
    .examples = "$ seen serve haw=haw.seen ia=ia.seen\n"
                "$ seen serve --listen 0.0.0.0:80 --base /bloom filters/\n"
                "$ seen serve -w --token token.txt --sync everysec filters/\n",
    .run = run,
};
