/* site.c - write pages, and let nginx serve them. */
#include "site.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/key.h>

#include "../lib/text/buffer.h"

static const char *const words[] = {
    "archive", "bloom",  "capture", "crawl", "delta",  "entry",  "filter",
    "group",   "header", "index",   "key",   "link",   "memory", "night",
    "order",   "page",   "query",   "river", "stone",  "table",  "under",
    "value",   "window", "year",    "zero",  "answer", "bridge", "cloud",
};

/* SplitMix64: the same pages on every machine. */
static uint64_t next_random(uint64_t *state)
{
    return seen_mix(*state += 0x9e3779b97f4a7c15);
}

static void put_text(struct buffer *to, uint64_t *state, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (i)
            buffer_byte(to, ' ');
        buffer_text(
            to, words[next_random(state) % (sizeof words / sizeof *words)]);
    }
}

enum { PER_NET = 250 }; /* addresses of 127.0.N.0/24 that are used */

void bench_site_url(const struct bench_site *site, uint64_t page, char to[64])
{
    unsigned host = (unsigned)(page % site->hosts);

    snprintf(to, 64, "http://127.0.%u.%u:%d/p%llu.html", host / PER_NET,
             1 + host % PER_NET, site->nginx.port, (unsigned long long)page);
}

static void put_url(struct buffer *to, const struct bench_site *site,
                    uint64_t page)
{
    char url[64];

    bench_site_url(site, page, url);
    buffer_text(to, url);
}

static void put_link(struct buffer *to, const struct bench_site *site,
                     uint64_t page, uint64_t i, uint64_t *state)
{
    uint64_t half = site->links / 2 ? site->links / 2 : 1;

    buffer_text(to, "<li><a href=\"");
    if (site->leaves)
        buffer_format(to, "/leaf/%llu.html",
                      (unsigned long long)(page * site->links + i));
    else
        put_url(to, site,
                i < half ? (page * half + i + 1) % site->pages
                         : next_random(state) % site->pages);
    buffer_text(to, "\">");
    put_text(to, state, site->leaves ? 1 : 2);
    buffer_text(to, "</a>\n");
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
    while (to->len + 16 < site->size) {
        buffer_text(to, "<p>");
        put_text(to, &state, 40);
        buffer_text(to, "</p>\n");
    }
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
    for (uint64_t i = 0; good && i < site->pages; i++) {
        page.len = 0;
        put_page(&page, site, i);
        snprintf(name, sizeof name, "site/p%llu.html", (unsigned long long)i);
        good = write_file(name, &page);
        put_url(&list, site, i);
        buffer_byte(&list, '\n');
    }
    good = good && write_file("urls.txt", &list);
    buffer_clear(&page);
    buffer_clear(&list);
    return good;
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
                    "    types { text/html html; text/plain txt; }\n"
                    "    client_body_temp_path body;\n"
                    "    proxy_temp_path proxy;\n"
                    "    fastcgi_temp_path fastcgi;\n"
                    "    uwsgi_temp_path uwsgi;\n"
                    "    scgi_temp_path scgi;\n"
                    "    server {\n"
                    "        root site;\n");
    for (unsigned i = 0; i < site->hosts; i++)
        buffer_format(&b, "        listen 127.0.%u.%u:%d;\n", i / PER_NET,
                      1 + i % PER_NET, site->nginx.port);
    buffer_text(&b, "    }\n}\n");
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
