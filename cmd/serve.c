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
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <seen/version.h>

#include "../lib/text/buffer.h"
#include "../lib/text/random.h"
#include "../serve/server.h"
#include "cost.h"
#include "access.h"
#include "secret.h"

enum { TOKEN_TEXT = 512, MEMENTOS = 100000000, MESSAGES = 100, MINUTE = 60 };

struct serve {
    struct texts listen, redis, proxy, host, token;
    struct texts crawls, queue, search;
    const char *socket_mode, *base, *url, *log, *log_format, *sync, *keyed;
    const char *archives, *contact, *ca, *allow;
    uint64_t threads, connections, body, memory, cost;
    uint64_t timeout, cache, keep, mementos;
    uint64_t seed, any; /* the one to use; it stands for a random one each */
    bool writable, sets, no_files, aggregate, allow_private;
};

static const struct option options[] = {
    { "listen", 'l', TEXTS, "ADDRESS:PORT", offsetof(struct serve, listen),
      "where to listen (default 127.0.0.1:8080): PORT alone is one of "
      "127.0.0.1, :PORT of all addresses, port 0 any free one, and unix:PATH "
      "is a Unix socket; may be given several times" },
    { "redis", 0, TEXTS, "ADDRESS:PORT", offsetof(struct serve, redis),
      "also listen here for the Redis protocol; the other port accepts it, "
      "too" },
    { "socket-mode", 0, TEXT, "MODE", offsetof(struct serve, socket_mode),
      "permissions of Unix sockets, in octal (default 660)" },
    { "proxy", 0, TEXTS, "ADDRESS[/BITS]|unix", offsetof(struct serve, proxy),
      "believe the header X-Forwarded-For of this web server in front, for "
      "the access log; unix: of all clients of Unix sockets; may be given "
      "several times" },
    { "host", 0, TEXTS, "NAME", offsetof(struct serve, host),
      "on a loopback address, answer to this name, too: the one that a web server "
      "in front passes on as Host; * is any name; may be given several times "
      "(default: numeric addresses, localhost and the host of --url)" },
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
    { "token", 0, PATHS, "FILE|none", offsetof(struct serve, token),
      "the first line is the token: Authorization: Bearer TOKEN, or AUTH; "
      "none: clients of the Redis protocol need none, for servers that only "
      "this machine can reach" },
    { "sync", 0, TEXT, "always|everysec|no", offsetof(struct serve, sync),
      "when an add is safe from a power failure: before it is acknowledged "
      "(default), about a second later, or when the system writes it" },
    { "seed", 0, SEED, "N", offsetof(struct serve, seed),
      "of all filters that clients make (default: a random one each, so that "
      "two filters of the same URLs err on different ones)" },
    { "sets", 0, FLAG, NULL, offsetof(struct serve, sets),
      "let SADD, SISMEMBER and similar commands work on filters" },
    { "crawls", 0, TEXTS, "[NAME=]DIR|FILE|postgresql://...",
      offsetof(struct serve, crawls),
      "show crawls at /crawls, /crawls.json and /metrics, read-only: a crawl "
      "folder, a folder of them, a SQLite file of workers, or their PostgreSQL "
      "server; may be given several times" },
    { "queue", 0, TEXTS, "[NAME=]amqp://...", offsetof(struct serve, queue),
      "show the lengths of these queues there, too; those in the databases of "
      "--crawls are shown without it" },
    { "search", 0, TEXTS, "[NAME=]DIR", offsetof(struct serve, search),
      "a page at /search, and /search.json, that finds pages of this crawl by "
      "their words; the crawl keeps its index by --index and may be running; "
      "may be given several times" },
    { "aggregate", 0, FLAG, NULL, offsetof(struct serve, aggregate),
      "be a Memento aggregator: fetch TimeMaps from the archives whose filters "
      "say yes or cannot answer, and merge them" },
    { "archives", 0, PATH, "FILE", offsetof(struct serve, archives),
      "MemGator's list of archives; those without a filter here are always "
      "asked" },
    { "timeout", 0, DURATION, "TIME", offsetof(struct serve, timeout),
      "how long to wait for an archive (default 10s)" },
    { "mementos", 0, COUNT, "N", offsetof(struct serve, mementos),
      "most mementos of the TimeMap of one archive; more are cut off, and that is "
      "said (default: any number, as far as --memory goes)" },
    { "cache", 0, COUNT, "BYTES", offsetof(struct serve, cache),
      "most memory for TimeMaps that were fetched (default 64M)" },
    { "cache-time", 0, DURATION, "TIME", offsetof(struct serve, keep),
      "how long they are used (default 10m)" },
    { "contact", 0, TEXT, "URL", offsetof(struct serve, contact),
      "who you are, for the User-Agent that archives see" },
    { "allow-private", 0, FLAG, NULL, offsetof(struct serve, allow_private),
      "also fetch TimeMaps from private, loopback and link-local addresses" },
    { "allow", 0, TEXT, "ADDRESS:PORT,...", offsetof(struct serve, allow),
      "also fetch them from these addresses: an archive in your own network" },
    { "ca", 0, PATH, "FILE", offsetof(struct serve, ca),
      "certificates of archives to trust, in PEM (default: the system's)" },
    { "no-files", 0, FLAG, NULL, offsetof(struct serve, no_files),
      "do not offer the filters themselves at /files/" },
    { "keyed", 0, PATH, "KEYFILE", offsetof(struct serve, keyed),
      "the key of keyed filters" },
    { "log", 0, PATH, "FILE", offsetof(struct serve, log),
      "keep an access log; - is standard output" },
    { "log-format", 0, TEXT, "combined|json",
      offsetof(struct serve, log_format),
      "of the access log: that of Apache and nginx (default), or a line of "
      "JSON per request" },
    { "connections", 0, COUNT, "N", offsetof(struct serve, connections),
      "most clients at a time (default: as many as the system allows)" },
    { "body", 0, COUNT, "BYTES", offsetof(struct serve, body),
      "largest list that a client may send (default 1G)" },
    { "memory", 0, COUNT, "BYTES", offsetof(struct serve, memory),
      "most memory for requests and answers of all clients together (default "
      "256M)" },
    { "cost", 0, COUNT, "N", offsetof(struct serve, cost),
      "most work that a lookup in a filter may take, in fetches from memory of "
      "about 10 ns (default 1M: 10 ms); filters beyond are not served" },
    { .name = NULL }
};

/* The first line of the file; false after a message. */
static bool token_read(const char *path, char *token)
{
    FILE *file = fopen(path, "r");
    struct stat it = { .st_mode = 0 };
    size_t len;

    if (!file) {
        trouble("--token: %s: %s", path, strerror(errno));
        return false;
    }
    if (!fgets(token, TOKEN_TEXT, file))
        token[0] = '\0';
    if (!fstat(fileno(file), &it) && S_ISREG(it.st_mode) &&
        (it.st_mode & (S_IRWXG | S_IRWXO)))
        warning("%s: others can read this token; chmod 600 %s", path, path);
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

/* --- messages --- */

/*
 * Messages of a running server go to the journal. A disk that is gone can be
 * the trouble of ten thousand archives: at most MESSAGES are printed per
 * minute, then one that says so, and the next minute how many were left out.
 */
static bool may_say(uint64_t *dropped)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    static struct timespec since;
    static uint64_t said, left_out;
    struct timespec now;
    bool may;

    clock_gettime(CLOCK_MONOTONIC, &now);
    *dropped = 0;
    pthread_mutex_lock(&turn);
    if (!said || now.tv_sec - since.tv_sec >= MINUTE) {
        since = now;
        said = 0;
        *dropped = left_out;
        left_out = 0;
    }
    may = said++ < MESSAGES;
    left_out += !may;
    if (said == MESSAGES + 1)
        warning("more than %d messages; others are left out for a minute, and "
                "/healthz has what does not answer",
                MESSAGES);
    pthread_mutex_unlock(&turn);
    return may;
}

static void say(const char *text)
{
    uint64_t dropped;
    bool may = may_say(&dropped);

    if (dropped)
        warning("%" PRIu64 " messages were left out", dropped);
    if (may)
        warning("%s", text);
}

static void say_as(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static void say_as(const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say(text);
}

static void report(const char *path, const char *why)
{
    say_as("%s: %s; it is not served", path, why);
}

static void tell(const char *name, const char *path, enum archive_news news,
                 const char *why)
{
    if (news == ARCHIVE_IS_GONE)
        say_as("%s: %s; the archive %s is not served any more", path, why,
               name);
    else if (news == ARCHIVE_FAILS)
        say_as("%s: %s; the archive %s does not answer", path, why, name);
    else
        say_as("%s: the archive %s answers again", path, name);
}

static void warn_remote(const char *address, const char *text)
{
    say_as("%s: %s", address, text);
}

static void mistaken(const char *folder, const char *why)
{
    say_as("%s: %s; what it said before is still used", folder, why);
}

/* Say where; scripts wait for this line. */
static void ready(const struct serve_options *how,
                  const struct listen_address *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (at[i].redis && at[i].is_unix)
            fprintf(stderr, "seen: the Redis protocol also at %s\n",
                    at[i].text);
        else if (at[i].redis)
            fprintf(stderr, "seen: the Redis protocol also at port %s\n",
                    strrchr(at[i].text, ':') + 1);
        else if (at[i].is_unix)
            fprintf(stderr, "seen: serving at %s\n", at[i].text);
        else
            fprintf(stderr, "seen: serving at http://%s%s/\n", at[i].text,
                    how->base);
    fflush(stderr);
}

/* --- options --- */

/* "660", at most 777. */
static bool mode_read(const char *text, mode_t *mode)
{
    char *end;
    const unsigned long n = strtoul(text, &end, 8);

    *mode = (mode_t)n;
    return *text >= '0' && *text <= '7' && !*end && n <= 0777;
}

/* The tokens: a file, `none`, or both; false after a message. */
static bool tokens_read(const struct serve *s, char *token, bool *open)
{
    bool file = false;

    for (size_t i = 0; i < s->token.n; i++) {
        if (!strcmp(s->token.text[i], "none")) {
            *open = true;
        } else if (file) {
            trouble("--token: there is one token; two files were given");
            return false;
        } else {
            file = true;
            if (!token_read(s->token.text[i], token))
                return false;
        }
    }
    return true;
}

static bool proxies_read(const struct serve *s, struct proxies *to)
{
    for (size_t i = 0; i < s->proxy.n; i++)
        if (!proxies_add(to, s->proxy.text[i])) {
            trouble("--proxy: %s is not an address such as 127.0.0.1, "
                    "10.0.0.0/8 or ::1, nor unix",
                    s->proxy.text[i]);
            return false;
        }
    return true;
}

static bool hosts_check(const struct serve *s)
{
    for (size_t i = 0; i < s->host.n; i++)
        if (!hosts_good(s->host.text[i])) {
            trouble("--host: %s is not a name such as archive.example, "
                    "without scheme and port, nor *",
                    s->host.text[i]);
            return false;
        }
    return true;
}

/* The options of an aggregator; false after a message. */
static bool aggregate_options(const struct serve *s, struct buffer *agent,
                              struct memento_options *to)
{
    struct memento_list list;
    struct fetch *web;
    struct seen_error why;

    buffer_text(agent, "seen/" SEEN_VERSION);
    if (s->contact)
        buffer_format(agent, " (+%s)", s->contact);
    buffer_byte(agent, '\0');
    *to = (struct memento_options){
        .archives = s->archives,
        .fetch = { .agent = agent->bytes,
                   .authorities = s->ca,
                   .allow_private = s->allow_private,
                   .allow = s->allow },
        .patience = (unsigned)(s->timeout < 3600 ? s->timeout : 3600),
        .cache = s->cache,
        .keep = s->keep,
        .memory = s->memory,
        .most = s->mementos < MEMENTOS ? s->mementos : MEMENTOS,
    };
    if (agent->failed)
        return trouble("no memory"), false;
    if (s->archives) {
        if (memento_list_load(&list, s->archives, &why) != SEEN_OK)
            return trouble_with(s->archives, &why), false;
        memento_list_clear(&list);
    }
    if (fetch_new(&web, &to->fetch, &why) == SEEN_OK) {
        fetch_free(web);
        return true;
    }
    if (why.code == SEEN_IO)
        return trouble("--ca %s: %s", s->ca, why.text), false;
    return trouble("--allow or --contact: %s", why.text), false;
}

static enum outcome serve(struct serve *s, char **operand)
{
    static const char *usual = "127.0.0.1:8080";
    char token[TOKEN_TEXT] = "";
    unsigned char secret[SEEN_SECRET];
    struct buffer agent = { .bytes = NULL };
    struct memento_options memento;
    struct seen_error why;
    struct serve_options how = {
        .listen = s->listen.n ? s->listen.text : &usual,
        .listens = s->listen.n ? s->listen.n : 1,
        .redis = s->redis.text,
        .redises = s->redis.n,
        .socket_mode = 0660,
        .threads = (unsigned)(s->threads < 256 ? s->threads : 256),
        .base = s->base ? s->base : "",
        .url = s->url,
        .hosts = { .name = s->host.text, .names = s->host.n, .url = s->url },
        .log = s->log,
        .log_json = s->log_format && !strcmp(s->log_format, "json"),
        .say = say,
        .sets = s->sets,
        .files = !s->no_files,
        .connections = s->connections,
        .seed = s->seed,
        .seeded = s->seed != s->any,
        .body = s->body ? s->body : UINT64_C(1) << 30,
        .memory = s->memory ? s->memory : UINT64_C(1) << 28,
        .watch = { .place = s->crawls.text,
                   .places = s->crawls.n,
                   .queue = s->queue.text,
                   .queues = s->queue.n },
        .search = { .place = s->search.text, .places = s->search.n },
        .archives = { .operand = (const char *const *)operand,
                      .writable = s->writable,
                      .report = report,
                      .tell = tell,
                      .warn = warn_remote,
                      .mistaken = mistaken,
                      .cost = s->cost ? s->cost : COST_DEFAULT,
                      .sync = access_sync(s->sync) },
    };
    enum seen_code code;
    size_t n = 0;

    while (operand[n])
        n++;
    how.archives.operands = n;
    if (!s->aggregate &&
        (s->archives || s->contact || s->timeout || s->cache || s->mementos ||
         s->keep || s->allow_private || s->allow || s->ca))
        return trouble(
            "--archives, --timeout, --mementos, --cache, --cache-time, "
            "--contact, --allow-private, --allow and --ca are for "
            "--aggregate");
    if (!n && !s->crawls.n && !s->queue.n && !s->search.n && !s->archives)
        return trouble("usage: seen serve NAME=FILTER|FILTER|DIR... "
                       "[--crawls DIR] [--search DIR]");
    if (how.listens + how.redises > SERVE_LISTENS)
        return trouble("--listen, --redis: at most %d addresses",
                       SERVE_LISTENS);
    if (s->socket_mode && !mode_read(s->socket_mode, &how.socket_mode))
        return trouble("--socket-mode: %s is not a mode such as 660",
                       s->socket_mode);
    if (!proxies_read(s, &how.proxies) || !hosts_check(s))
        return TROUBLE;
    if (!strcmp(how.base, "/"))
        how.base = "";
    if (!base_good(how.base))
        return trouble("--base: %s is not a path such as /bloom", how.base);
    if (s->writable && !s->token.n)
        return trouble("--writable needs a token: --token FILE, or --token "
                       "none for the Redis protocol on this machine");
    if (!tokens_read(s, token, &how.open))
        return TROUBLE;
    how.token = *token ? token : NULL;
    if (s->keyed && !secret_read(s->keyed, secret))
        return TROUBLE;
    how.archives.secret = s->keyed ? secret : NULL;
    if (s->aggregate) {
        if (!aggregate_options(s, &agent, &memento)) {
            buffer_clear(&agent);
            return TROUBLE;
        }
        how.memento = &memento;
    }
    code = serve_run(&how, ready, &why);
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(token, sizeof token);
    buffer_clear(&agent);
    if (code == SEEN_OK)
        return YES;
    return trouble_with(why.at < n ? operand[why.at] : "serve", &why);
}

static void set_seed(void *settings)
{
    struct serve *s = settings;

    s->seed = s->any = random_seed();
}

static enum outcome run(void *settings, char **operand)
{
    return serve(settings, operand);
}

const struct command cmd_serve = {
    .name = "serve",
    .summary = "answer over HTTP and the Redis protocol",
    .synopsis = "NAME=FILTER|FILTER|DIR...",
    .operands = 0,
    .most = -1,
    .filters = -1,
    .settings = sizeof(struct serve),
    .options = options,
    .about =
        "Serves filters: NAME=FILTER is an archive of that name, FILTER one "
        "that is named after its file (haw.seen is the archive haw), DIR all "
        "filters of a folder, including new and replaced ones. Filters are mapped, not copied, and other processes "
        "can add to them meanwhile. NAME=redis://HOST:PORT/NAME serves a filter "
        "in Redis: see doc/remote.md.\n\n"
        "GET /NAME/<URL> is 200 if NAME may hold the URL and 404 if it does "
        "not; GET /agg/<URL> checks all archives; POST /NAME and POST /agg "
        "accept lists. With --aggregate, GET /timemap/link|json|cdxj/<URL>, "
        "/timegate/<URL> and /memento/<DATE>/<URL> answer as MemGator does, "
        "with mementos of other archives, of which only those are asked "
        "whose filters do not say no. A web page is at /, and with --search one at "
        "/search that finds pages of crawls by their words. The rest, and the commands of the "
        "Redis protocol, are in doc/protocol.md.\n\n"
        "The server prints on standard error where it listens, and which "
        "archives stop answering. On SIGTERM or SIGINT it finishes open "
        "requests and ends; on SIGHUP it opens the access log again and reads "
        "the folders again. Sockets that systemd passes take the place of "
        "--listen. doc/operations.md has units, logs and what to watch.",
    .examples = "$ seen serve haw=haw.seen ia=ia.seen\n"
                "$ seen serve haw=redis://db.example:6379/haw\n"
                "$ seen serve --listen 0.0.0.0:80 --base /bloom filters/\n"
                "$ seen serve -w --token token.txt --sync everysec filters/\n"
                "$ seen serve -w --token none --listen unix:/run/seen.sock "
                "filters/\n"
                "$ seen serve --aggregate --archives archives.json filters/\n"
                "$ seen serve --search site\n",
    .begin = set_seed,
    .run = run,
};
