/*
 * harvest.c - seen harvest: mirror published filters into a folder.
 *
 *     $ seen harvest https://haw.nsk.hr/filters/ --into filters
 *     haw.seen: new, 246 kB
 *     $ seen harvest https://haw.nsk.hr/filters/ --into filters
 *     haw.seen: updated, 1.2 kB by 1 patch instead of 246 kB
 */
#include "command.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../fetch/credentials.h"
#include "../harvest/harvest.h"
#include "../harvest/name.h"
#include "../harvest/url.h"
#include "../lib/disk/clock.h"
#include "../lib/text/number.h"
#include "../lib/text/span.h"
#include "cost.h"
#include "json.h"
#include "output.h"
#include "progress.h"

enum { STACK = 256 << 10 }; /* bytes */

struct harvesting {
    const char *into, *names, *ca, *allow, *credentials;
    uint64_t every, parallel, max_size, cost, timeout;
    bool dry_run, remove_withdrawn, allow_private, json, quiet;
    uint64_t round;
};

static const struct option options[] = {
    { "into", 'o', PATH, "DIR", offsetof(struct harvesting, into),
      "the folder for the filters; it is made if it is missing" },
    { "every", 0, DURATION, "TIME", offsetof(struct harvesting, every),
      "run as a daemon, with a round every TIME (45s, 30m, 6h, 1d)" },
    { "dry-run", 'n', FLAG, NULL, offsetof(struct harvesting, dry_run),
      "read the lists and print what would be done; write nothing" },
    { "names", 0, TEXT, "file|host|path|url",
      offsetof(struct harvesting, names),
      "name files as their publishers do (default); or HOST.NAME.seen, if "
      "several publish the same name; or FOLDER.NAME.seen, if one does in "
      "several folders; or with both" },
    { "remove-withdrawn", 0, FLAG, NULL,
      offsetof(struct harvesting, remove_withdrawn),
      "remove harvested files that are no longer announced; without it they "
      "are only reported" },
    { "parallel", 0, COUNT, "N", offsetof(struct harvesting, parallel),
      "requests at a time (default 4)" },
    { "max-size", 0, COUNT, "BYTES", offsetof(struct harvesting, max_size),
      "refuse larger filters (default 16 GiB)" },
    { "cost", 0, COUNT, "N", offsetof(struct harvesting, cost),
      "refuse filters whose questions cost more, as seen serve does (default "
      "1M, about 10 ms per URL)" },
    { "timeout", 0, DURATION, "TIME", offsetof(struct harvesting, timeout),
      "give up a server that sends nothing for this long, or less than 1 kB/s "
      "for twice as long (default 30s); all other times are proportional" },
    { "allow-private", 0, FLAG, NULL,
      offsetof(struct harvesting, allow_private),
      "also connect to private, loopback and link-local addresses" },
    { "allow", 0, TEXT, "ADDRESS:PORT,...", offsetof(struct harvesting, allow),
      "also connect to these addresses: a mirror in your own network" },
    { "ca", 0, PATH, "FILE", offsetof(struct harvesting, ca),
      "certificates to trust, in PEM (default: the system's)" },
    { "credentials", 0, PATH, "FILE", offsetof(struct harvesting, credentials),
      "tokens, passwords and client certificates for trusted hosts, a line "
      "each; see above" },
    JSON_OPTION(struct harvesting, json, "print one JSON object per round"),
    QUIET_OPTION(struct harvesting, quiet),
    { .name = NULL }
};

/* --- reports --- */

static const char *const what[HARVEST_RESULTS] = {
    [HARVEST_NEW] = "new",
    [HARVEST_UPDATED] = "updated",
    [HARVEST_UNCHANGED] = "unchanged",
    [HARVEST_REFUSED] = "refused",
    [HARVEST_WITHDRAWN] = "withdrawn",
    [HARVEST_REMOVED] = "removed",
    [HARVEST_IGNORED] = "ignored",
    [HARVEST_UNREAD] = "unread",
};

static void report_json(const struct harvest_event *n)
{
    cmd_json_open(NULL, '{');
    cmd_json_word("result", what[n->result]);
    if (*n->name)
        cmd_json_word("file", n->name);
    cmd_json_word("url", n->url);
    if (*n->reason)
        cmd_json_word("reason", n->reason);
    if (n->size != UINT64_MAX)
        cmd_json_count("size", n->size);
    if (n->received)
        cmd_json_count("travelled", n->received);
    if (n->patches)
        cmd_json_count("patches", n->patches);
    if (n->resumed)
        cmd_json_flag("resumed", true);
    if (n->would)
        cmd_json_flag("dry_run", true);
    cmd_json_shut('}');
}

static void report_done(const struct harvest_event *n)
{
    output_format("%s: %s%s", n->result == HARVEST_IGNORED ? n->url : n->name,
                  n->would ? "would be " : "", what[n->result]);
    if (n->result == HARVEST_NEW || n->result == HARVEST_UPDATED) {
        if (n->patches)
            output_format(", %s by %s instead of %s", show_bytes(n->received),
                          show_counted(n->patches, "patch"),
                          show_bytes(n->size));
        else if (n->size != UINT64_MAX)
            output_format(", %s", show_bytes(n->size));
        if (n->resumed)
            output_format(", of which %s came now", show_bytes(n->received));
    }
    if (*n->reason)
        output_format("; %s", n->reason);
    output_text("\n");
}

static void report(void *owner, const struct harvest_event *n)
{
    const struct harvesting *h = owner;

    if (h->json)
        report_json(n);
    if (n->result == HARVEST_REFUSED)
        warning("%s: refused: %s", n->url, n->reason);
    else if (n->result == HARVEST_UNREAD)
        warning("%s: %s", n->url, n->reason);
    else if (!h->json && !h->quiet &&
             !(h->every && (n->result == HARVEST_UNCHANGED ||
                            n->result == HARVEST_IGNORED))) {
        cmd_progress_clear();
        report_done(n);
        if (h->every)
            output_flush();
    }
}

static void progress(void *owner, uint64_t done, uint64_t all, uint64_t bytes)
{
    (void)owner;
    cmd_progress_files(done, all, bytes);
}

static void report_sum(const struct harvesting *h,
                       const struct harvest_summary *s)
{
    static const enum harvest_result order[] = {
        HARVEST_NEW,       HARVEST_UPDATED, HARVEST_UNCHANGED, HARVEST_REFUSED,
        HARVEST_WITHDRAWN, HARVEST_REMOVED, HARVEST_IGNORED,   HARVEST_UNREAD
    };
    enum { N = sizeof order / sizeof order[0] };
    char text[256];
    int len = 0;

    if (h->json) {
        cmd_json_shut(']');
        for (int i = 0; i < N; i++)
            cmd_json_count(what[order[i]], s->count[order[i]]);
        cmd_json_count("lists", s->lists);
        cmd_json_count("bytes", s->received);
        cmd_json_flag("stopped", s->stopped);
        cmd_json_shut('}');
        return;
    }
    for (int i = 0; i < N; i++) {
        uint64_t n = s->count[order[i]];
        const char *word = order[i] != HARVEST_UNREAD ? what[order[i]]
                           : n == 1                   ? "list unread"
                                                      : "lists unread";

        if (n)
            len += snprintf(text + len, sizeof text - (size_t)len, "%s%s %s",
                            len ? ", " : "", show_count(n), word);
    }
    if (s->forbidden && !h->quiet)
        warning("connections to addresses that are not public need --allow or "
                "--allow-private");
    if (!h->quiet)
        warning("%s%s; %s", len ? text : "no filters",
                s->stopped ? "; stopped before the end" : "",
                show_bytes(s->received));
}

/* --- rounds --- */

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

static enum outcome one_round(struct harvesting *h, struct harvest *mirror,
                              char **url)
{
    struct harvest_summary sum;
    struct seen_error why;
    enum seen_code code;
    size_t n = 0;

    while (url[n])
        n++;
    if (h->json) {
        cmd_json_open(NULL, '{');
        cmd_json_count("round", ++h->round);
        cmd_json_open("items", '[');
    }
    cmd_progress_begin("harvest", 0);
    code = harvest_run(mirror, (const char *const *)url, n, &sum, &why);
    cmd_progress_clear();
    if (code == SEEN_OK || h->json)
        report_sum(h, &sum);
    output_flush();
    if (code != SEEN_OK)
        return trouble("%s", why.text);
    return sum.stopped || sum.count[HARVEST_REFUSED] ||
                   sum.count[HARVEST_UNREAD]
               ? TROUBLE
               : YES;
}

/* Until the next round: a twentieth sooner or later, so that a thousand
   harvesters that were started on the hour do not stay together. */
static void sleep_for(uint64_t seconds)
{
    double wait = (double)seconds * (0.95 + 0.1 * drand48());
    double until = clock_seconds() + wait;

    while (!stop && clock_seconds() < until) {
        double left = until - clock_seconds();

        poll(NULL, 0, left > 0.5 ? 500 : (int)(1000 * left) + 1);
    }
}

static enum outcome rounds(struct harvesting *h, struct harvest *mirror,
                           char **url)
{
    enum outcome out = one_round(h, mirror, url);

    while (h->every && !stop && !output_dead()) {
        sleep_for(h->every);
        if (!stop)
            one_round(h, mirror, url);
    }
    return h->every && stop ? YES : out;
}

/* --- arguments --- */

/* Can the credentials be read, and by nobody else? */
static bool check_credentials(const char *path)
{
    struct fetch_credentials *c;
    struct seen_error why;
    const char *exposed;

    if (fetch_credentials_load(&c, path, &why) != SEEN_OK) {
        trouble_with(path, &why);
        return false;
    }
    for (size_t i = 0; (exposed = fetch_credentials_exposed(c, i)); i++)
        warning("%s: others can read this file of secrets; chmod 600 %s",
                exposed, exposed);
    fetch_credentials_free(c);
    return true;
}

/* Can a round begin with these options and URLs? */
static bool check(const struct fetch_options *fetch, const char *credentials,
                  char **url)
{
    char canonical[HARVEST_URL + 1];
    struct fetch *web;
    struct seen_error why;

    for (; *url; url++)
        if (harvest_url_read(canonical, span_of(*url), &why) != SEEN_OK) {
            trouble_with(*url, &why);
            return false;
        }
    if (fetch_new(&web, fetch, &why) == SEEN_OK) {
        fetch_free(web);
        return !credentials || check_credentials(credentials);
    }
    if (why.code == SEEN_RANGE)
        trouble("--allow %s: %s", fetch->allow ? fetch->allow : "", why.text);
    else if (why.code == SEEN_IO)
        trouble("--ca %s: %s", fetch->authorities, why.text);
    else
        trouble("%s", why.text);
    return false;
}

static unsigned names_with(const char *word)
{
    bool all = word && !strcmp(word, "url");

    return (all || (word && !strcmp(word, "host")) ? HARVEST_NAME_HOST : 0) |
           (all || (word && !strcmp(word, "path")) ? HARVEST_NAME_PATH : 0);
}

/* All times are proportional to --timeout. */
static void set_times(struct harvest_options *to, uint64_t timeout)
{
    unsigned seconds = timeout < 86400 ? (unsigned)timeout : 86400;

    if (!seconds)
        return;
    to->fetch.stall = seconds;
    to->fetch.connect = seconds < 15 ? seconds : 15;
    to->patience = 2 * seconds;
    to->pause = seconds < 30 ? 1000 * seconds / 30 : 1000;
}

static bool set_options(struct harvest_options *to, const struct harvesting *h)
{
    if (!h->into) {
        trouble("--into DIR is missing; usage: seen harvest %s",
                cmd_harvest.synopsis);
        return false;
    }
    if (h->every && h->dry_run) {
        trouble("--every and --dry-run do not go together");
        return false;
    }
    to->into = h->into;
    to->credentials = h->credentials;
    to->dry_run = h->dry_run;
    to->remove_withdrawn = h->remove_withdrawn;
    to->max_size = h->max_size;
    to->cost = h->cost ? h->cost : COST_DEFAULT;
    to->fetch.authorities = h->ca;
    to->fetch.allow_private = h->allow_private;
    to->fetch.allow = h->allow;
    to->fetch.parallel = h->parallel < 64 ? (unsigned)h->parallel : 64;
    to->names = names_with(h->names);
    set_times(to, h->timeout);
    return true;
}

/*
 * libcurl looks up each name in a thread, which stays until the name server
 * answers, however long ago its request was given up. With the usual stacks
 * of 8 MB a dozen of them took more than all the rest of a harvest, and then
 * no more could be started. They need some 20 kB.
 */
static void use_small_stacks(void)
{
    pthread_attr_t a;

    if (pthread_attr_init(&a))
        return;
    if (!pthread_attr_setstacksize(&a, STACK))
        pthread_setattr_default_np(&a);
    pthread_attr_destroy(&a);
}

static enum outcome run(void *settings, char **operand)
{
    const struct sigaction end = { .sa_handler = on_signal };
    struct harvesting *h = settings;
    struct harvest_options wanted = {
        .stop = &stop, .report = report, .progress = progress, .owner = h
    };
    struct harvest *mirror;
    struct seen_error why;
    enum outcome out;

    if (!set_options(&wanted, h) ||
        !check(&wanted.fetch, h->credentials, operand))
        return TROUBLE;
    use_small_stacks();
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    srand48((long)time(NULL) ^ ((long)getpid() << 16));
    if (harvest_open(&mirror, &wanted, &why) != SEEN_OK)
        return trouble_with(h->into, &why);
    out = rounds(h, mirror, operand);
    harvest_close(mirror);
    return out;
}

const struct command cmd_harvest = {
    .name = "harvest",
    .summary = "mirror published filters into a folder",
    .synopsis = "URL... --into DIR",
    .operands = 1,
    .most = -1,
    .settings = sizeof(struct harvesting),
    .options = options,
    .about =
        "Finds the filters that are announced at a URL, fetches those that "
        "are new or have changed, verifies them, and puts each into the "
        "folder under its name. URL is a sitemap, a site (its robots.txt, "
        "sitemap.xml and .well-known/resourcesync are read), a filter, or a "
        "registry: a text that lists such URLs, one per line.\n"
        "\n"
        "Filters that are announced with the hash of our file are not "
        "fetched; otherwise lastmod, ETag and Last-Modified decide. If the "
        "publisher offers deltas, only the changes are fetched. Downloads "
        "that were cut are continued, also by the next run. A file is "
        "replaced only when the length, the SHA-256 and the checksums of the "
        "new one are right; a running seen serve then answers from it. "
        "Refused filters are reported with the reason, and do not stop the "
        "others.\n"
        "\n"
        "A filter that is published as text is converted: our text form "
        "(haw.csv), and the JSON of Orestes (haw.json), as profile raw.\n"
        "\n"
        "A file that was not harvested is never replaced, and neither is a "
        "filter that was added to here. The folder .harvest in DIR belongs "
        "to this command; one harvest at a time can run in a DIR.\n"
        "\n"
        "With --credentials FILE, requests to trusted hosts carry a secret. "
        "Each line of FILE is HOST "
        "bearer TOKEN, HOST basic USER:PASSWORD or HOST cert FILE [KEY], of a "
        "client certificate and its key in PEM. HOST is haw.nsk.hr, "
        "haw.nsk.hr:8443 or, to send a secret without encryption, "
        "http://10.1.2.3. Secrets go to that host, port and scheme only: not "
        "to where it redirects to, nor to hosts that its lists name.\n"
        "\n"
        "Only public addresses are connected to, also by redirects, unless "
        "--allow or --allow-private is given.\n",
    .exits = "0 if all is well, 2 if a filter was refused or a list could not "
             "be read. With --every, 0 after SIGTERM or SIGINT.",
    .examples = "$ seen harvest https://haw.nsk.hr/filters/ --into filters\n"
                "$ seen harvest https://r.example/list.txt --into filters "
                "--every 6h\n",
    .run = run,
};
