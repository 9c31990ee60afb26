/* site.c - write pages, and let nginx serve them. */
#include "site.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/key.h>

#include "../lib/text/buffer.h"

/*
 * Text as compressors and parsers find it in pages. Words of a few dozen that
 * repeat at random have a third of the bytes of text that people wrote, once
 * they are compressed, and take four fifths of the time. So words are drawn
 * from a vocabulary by Zipf's law: the word of rank r comes with a probability
 * of about 1/r. The first ones are those of English, the others made of
 * syllables. Sentences, headings, links and code stand in the markup that
 * documentation has. With level 1 of libdeflate, pages of 10 kB become 35 of
 * 100 bytes, as the pages of this size of Debian's documentation packages do.
 */
static const char *const common[] = {
    "the",  "of",    "to",   "and",  "a",     "is",   "in",    "for",  "that",
    "be",   "with",  "this", "as",   "are",   "on",   "by",    "it",   "an",
    "not",  "from",  "or",   "if",   "can",   "will", "which", "when", "has",
    "used", "value", "all",  "at",   "one",   "but",  "may",   "have", "no",
    "only", "other", "set",  "then", "there", "use",  "must",  "file", "name",
    "more", "any",   "each", "such", "also",  "see",  "first", "new",  "list",
};
enum { COMMON = sizeof common / sizeof *common, WORDS = 3000 };

static const char *const onset[] = { "b", "c",  "d",  "f",  "g",  "h",
                                     "l", "m",  "n",  "p",  "r",  "s",
                                     "t", "v",  "w",  "st", "tr", "pr",
                                     "",  "ch", "qu", "pl", "gr", "sh" };
static const char *const nucleus[] = {
    "a", "e", "i", "o", "u", "ea", "io", "e"
};
static const char *const coda[] = { "",  "",  "n",  "r",  "s",  "t",
                                    "l", "d", "nd", "ng", "ct", "m" };

/* SplitMix64: the same pages on every machine. */
static uint64_t next_random(uint64_t *state)
{
    return seen_mix(*state += 0x9e3779b97f4a7c15);
}

#define ONE_OF(list, n) (list)[(n) % (sizeof(list) / sizeof *(list))]

/* Words are longer the rarer they are. */
static void put_word(struct buffer *to, uint64_t rank)
{
    uint64_t bits = seen_mix(rank);

    if (rank < COMMON) {
        buffer_text(to, common[rank]);
        return;
    }
    for (uint64_t i = 0; i < (rank > 400 ? 2u : 1u); i++) {
        bits = seen_mix(bits);
        buffer_text(to, ONE_OF(onset, bits));
        buffer_text(to, ONE_OF(nucleus, bits >> 16));
        buffer_text(to, ONE_OF(coda, bits >> 32));
    }
}

/* Its logarithm is uniform, so that its own probability is 1/rank. */
static uint64_t next_rank(uint64_t *state)
{
    double share = (double)(next_random(state) >> 11) * 0x1p-53;

    return (uint64_t)exp(share * log(WORDS)) - 1;
}

static void put_text(struct buffer *to, uint64_t *state, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (i)
            buffer_byte(to, ' ');
        put_word(to, next_rank(state));
    }
}

/* A sentence may have code in it, or a reference. */
static void put_sentence(struct buffer *to, uint64_t *state)
{
    uint64_t bits = next_random(state);
    size_t at = to->len;

    put_text(to, state, 4 + (unsigned)(bits % 9));
    if (bits >> 8 & 1) {
        buffer_text(to, ", ");
        put_text(to, state, 2 + (unsigned)(bits >> 16 & 7));
    }
    if (!(bits >> 24 & 3)) {
        buffer_text(to, " <code class=\"literal\"><span class=\"pre\">");
        put_text(to, state, 1);
        buffer_format(to, "_%u()</span></code>",
                      (unsigned)(bits >> 32 & 1023));
    }
    buffer_text(to, ". ");
    if (!to->failed && to->bytes[at] >= 'a' && to->bytes[at] <= 'z')
        to->bytes[at] = (char)(to->bytes[at] - 'a' + 'A');
}

/* A name that is explained. */
static void put_heading(struct buffer *to, uint64_t *state)
{
    unsigned id = (unsigned)(next_random(state) & 0xfffff);

    buffer_format(to,
                  "<dt class=\"sig sig-object\" id=\"section-%x\">"
                  "<span class=\"sig-name descname\"><span class=\"pre\">",
                  id);
    put_text(to, state, 2);
    buffer_format(to,
                  "</span></span><a class=\"headerlink\" "
                  "href=\"#section-%x\" title=\"Permalink to this "
                  "definition\">#</a></dt>\n",
                  id);
}

static void put_paragraph(struct buffer *to, uint64_t *state)
{
    uint64_t bits = next_random(state);

    if (!(bits & 3))
        put_heading(to, state);
    buffer_text(to, "<p>");
    for (uint64_t i = 0; i < 2 + (bits >> 8) % 4; i++)
        put_sentence(to, state);
    buffer_text(to, "</p>\n");
}

enum { PER_NET = 250 }; /* addresses of 127.0.N.0/24 that are used */

void bench_site_address(uint64_t host, char to[16])
{
    unsigned n = (unsigned)(host % BENCH_SITE_HOSTS);

    snprintf(to, 16, "127.0.%u.%u", n / PER_NET % 256, 1 + n % PER_NET);
}

void bench_site_url(const struct bench_site *site, uint64_t page, char to[64])
{
    char address[16];

    bench_site_address(page % site->hosts, address);
    snprintf(to, 64, "http://%s:%d/p%llu.html", address, site->nginx.port,
             (unsigned long long)page);
}

static void put_url(struct buffer *to, const struct bench_site *site,
                    uint64_t page)
{
    char url[64];

    bench_site_url(site, page, url);
    buffer_text(to, url);
}

/* Of no other page, and in no order: seven letters and digits that are the
   number, mixed. */
static void put_leaf(struct buffer *to, uint64_t number)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    const uint64_t mask = (UINT64_C(1) << 35) - 1;

    number = number * UINT64_C(0x9e3779b97f4a7c15) & mask;
    number = (number ^ number >> 18) * UINT64_C(0xbf58476d1ce4e5b9) & mask;
    number ^= number >> 17;
    buffer_text(to, "<a href=\"/leaf/");
    for (int i = 0; i < 7; i++, number >>= 5)
        buffer_byte(to, digits[number & 31]);
    buffer_text(to, ".html\">x</a>\n");
}

static void put_link(struct buffer *to, const struct bench_site *site,
                     uint64_t page, uint64_t i, uint64_t *state)
{
    uint64_t half = site->links / 2 ? site->links / 2 : 1;

    if (site->leaves) {
        put_leaf(to, page * site->links + i);
        return;
    }
    buffer_text(to, "<li class=\"toctree-l1\"><a class=\"reference internal\" "
                    "href=\"");
    put_url(to, site,
            i < half ? (page * half + i + 1) % site->pages
                     : next_random(state) % site->pages);
    buffer_text(to, "\">");
    put_text(to, state, 2);
    buffer_text(to, "</a></li>\n");
}

static void put_page(struct buffer *to, const struct bench_site *site,
                     uint64_t page)
{
    uint64_t state = page;

    buffer_format(to,
                  "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">"
                  "<title>Page %llu</title></head>\n<body>\n<ul>\n",
                  (unsigned long long)page);
    for (uint64_t i = 0; i < site->links; i++)
        put_link(to, site, page, i, &state);
    buffer_text(to, "</ul>\n");
    while (to->len + 16 < site->size)
        put_paragraph(to, &state);
    buffer_text(to, "</body></html>\n");
}

static bool write_file(const char *name, const struct buffer *b)
{
    char path[PATH_ROOM];
    bool good = false;
    FILE *file;

    process_path(path, name);
    file = fopen(path, "we");
    if (file) {
        good = fwrite(b->bytes, 1, b->len, file) == b->len;
        good = !fclose(file) && good;
    }
    if (!good)
        fprintf(stderr, "seen: bench: %s: %s\n", path, strerror(errno));
    return good && !b->failed;
}

bool bench_site_make(struct bench_site *site)
{
    struct buffer page = { .bytes = NULL }, list = { .bytes = NULL };
    char name[64], path[PATH_ROOM];
    bool good;

    site->nginx.port = peer_free_port();
    process_path(path, "site");
    good = !mkdir(path, 0700) || errno == EEXIST;
    for (uint64_t i = 0; good && !site->root && i < site->pages; i++) {
        page.len = 0;
        put_page(&page, site, i);
        snprintf(name, sizeof name, "site/p%llu.html", (unsigned long long)i);
        good = write_file(name, &page);
        put_url(&list, site, i);
        buffer_byte(&list, '\n');
    }
    if (!site->root)
        good = good && write_file("urls.txt", &list);
    buffer_clear(&page);
    buffer_clear(&list);
    return good;
}

/* One server with all addresses, or one for each folder. */
static void put_servers(struct buffer *to, const struct bench_site *site)
{
    char address[16];

    buffer_text(to, "    server {\n");
    for (uint64_t i = 0; i < site->hosts; i++) {
        if (site->root && i)
            buffer_text(to, "    }\n    server {\n");
        bench_site_address(i, address);
        buffer_format(to, "        listen %s:%d;\n", address,
                      site->nginx.port);
        if (site->root || !i)
            buffer_format(to, "        root \"%s\";\n",
                          site->root ? site->root[i] : "site");
    }
    buffer_text(to, "    }\n");
}

static bool write_config(const struct bench_site *site)
{
    struct buffer b = { .bytes = NULL };
    bool good;

    /* The folder is ours alone: a worker of another user could not read
       it. */
    if (!geteuid())
        buffer_text(&b, "user root;\n");
    buffer_text(&b, "daemon off;\n"
                    "worker_processes 1;\n"
                    "pid nginx.pid;\n"
                    "error_log nginx.log crit;\n"
                    "events { worker_connections 8192; }\n"
                    "http {\n"
                    "    log_format seen '$msec $request_time $server_addr "
                    "$uri';\n");
    /* What is in the buffer is written when nginx ends. */
    buffer_text(&b, site->log ? "    access_log requests.log seen "
                                "buffer=256k;\n"
                              : "    access_log off;\n");
    /* Files in the cache are open. With more of them than the limit of open
       files allows, nginx answers 500, and a crawler waits before it asks
       again. */
    buffer_text(&b, "    keepalive_requests 1000000000;\n"
                    "    sendfile on;\n"
                    "    open_file_cache max=500;\n"
                    "    types { text/html html; text/plain txt; "
                    "text/css css; image/png png; image/gif gif; }\n"
                    "    client_body_temp_path body;\n"
                    "    proxy_temp_path proxy;\n"
                    "    fastcgi_temp_path fastcgi;\n"
                    "    uwsgi_temp_path uwsgi;\n"
                    "    scgi_temp_path scgi;\n");
    put_servers(&b, site);
    buffer_text(&b, "}\n");
    good = write_file("nginx.conf", &b);
    buffer_clear(&b);
    return good;
}

bool bench_site_serve(struct bench_site *site)
{
    const char *program = process_find("nginx");
    char config[PATH_ROOM], log[PATH_ROOM];
    const char *argv[] = { program, "-p", process_folder(), "-e",
                           log,     "-c", config,           NULL };

    process_path(config, "nginx.conf");
    process_path(log, "nginx.log");
    return program && write_config(site) &&
           peer_start(&site->nginx, "nginx", argv);
}

void bench_site_end(struct bench_site *site)
{
    process_stop(&site->nginx.pid);
}
