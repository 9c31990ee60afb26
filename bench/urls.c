/*
 * urls.c - seen bench urls: from a URL to its key.
 *
 *     surt, 256 per call            91 ns
 *     surt, one per call            93
 *
 * Made-up URLs of several shapes, in a cache, under the profiles surt and
 * whatwg, 256 per call and one per call; beside them what a key takes at least,
 * XXH3-128 of the bytes, and what reading URLs costs other programs: curl's
 * parser. All take turns, and the figure is the smallest of TURNS, in CPU time.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>
#include <seen/key.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { URLS = 16384, ROOM = 160, BATCH = 256, TURNS = 21 };

struct urls_options {
    bool json, help;
};

struct urls_pool {
    char text[URLS][ROOM];
    struct seen_span url[URLS];
    struct seen_key key[URLS];
    enum seen_code code[URLS];
    char canonical[BATCH * SEEN_KEY_TEXT];
    struct seen_profile profile;
    uint64_t sink;
};

/* --- URLs --- */

static int write_query(char *to, uint64_t x)
{
    return sprintf(to, "?page=%u&id=%08x&lang=en&sort=%c", (unsigned)x % 90,
                   (unsigned)(x >> 20), 'a' + (int)(x >> 60));
}

static int write_path(char *to, uint64_t x)
{
    return sprintf(to,
                   "https://www.site-%05x.example/Archive/2020/%02u/"
                   "article-about-something-%010llx-and-more.html",
                   (unsigned)(x >> 44), (unsigned)(x >> 8) % 12 + 1,
                   (unsigned long long)(x & 0xffffffffff));
}

static size_t with_query(char *to, uint64_t i)
{
    uint64_t x = seen_mix(i);
    int n = write_path(to, x);

    return (size_t)(n + write_query(to + n, x));
}

static size_t without_query(char *to, uint64_t i)
{
    return (size_t)write_path(to, seen_mix(i));
}

static size_t ordinary(char *to, uint64_t i)
{
    return i % 2 ? with_query(to, i) : without_query(to, i);
}

static size_t escapes(char *to, uint64_t i)
{
    uint64_t x = seen_mix(i);

    if (i % 4)
        return with_query(to, i);
    return (size_t)sprintf(
        to, "http://Site-%05x.example:80/a%%20b/%010llx#top",
        (unsigned)(x >> 44), (unsigned long long)(x & 0xffffffffff));
}

static size_t host_only(char *to, uint64_t i)
{
    return (size_t)sprintf(to, "http://h%06x.example/",
                           (unsigned)(seen_mix(i) >> 40));
}

static const struct urls_shape {
    const char *name;
    size_t (*write)(char *to, uint64_t i);
} shapes[] = {
    { "ordinary", ordinary },     { "with a query", with_query },
    { "without", without_query }, { "escapes, fragments", escapes },
    { "a host", host_only },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* --- ways to read them --- */

static void many(struct urls_pool *p)
{
    for (size_t i = 0; i < URLS; i += BATCH)
        seen_key_make_many(p->key + i, p->code + i, p->canonical,
                           sizeof p->canonical, p->url + i, BATCH,
                           &p->profile);
}

static void one(struct urls_pool *p)
{
    for (size_t i = 0; i < URLS; i++)
        seen_key_make_as(&p->key[i], p->canonical, p->url[i].text,
                         p->url[i].len, &p->profile, NULL);
}

static void hash_only(struct urls_pool *p)
{
    for (size_t i = 0; i < URLS; i++)
        p->sink += XXH3_128bits(p->url[i].text, p->url[i].len).low64;
}

static void by_curl(struct urls_pool *p)
{
    CURLU *u = curl_url();

    for (size_t i = 0; u && i < URLS; i++)
        p->sink += curl_url_set(u, CURLUPART_URL, p->url[i].text, 0);
    curl_url_cleanup(u);
}

static const struct urls_way {
    const char *name, *profile;
    void (*run)(struct urls_pool *p);
} ways[] = {
    { "surt", "surt", many },          { "surt, one", "surt", one },
    { "whatwg", "whatwg", many },      { "whatwg, one", "whatwg", one },
    { "XXH3 only", "raw", hash_only }, { "curl's parser", "raw", by_curl },
};
enum { WAYS = sizeof ways / sizeof *ways };

/* --- measuring --- */

static double bytes_of(struct urls_pool *p, const struct urls_shape *shape)
{
    double sum = 0;

    for (size_t i = 0; i < URLS; i++) {
        p->url[i].text = p->text[i];
        p->url[i].len = shape->write(p->text[i], i);
        sum += (double)p->url[i].len;
    }
    return sum / URLS;
}

static void measure(struct urls_pool *p, double ns[WAYS])
{
    for (int i = 0; i < WAYS; i++)
        ns[i] = 1e300;
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < WAYS; i++) {
            double begun, took;

            seen_profile_find(&p->profile, ways[i].profile, NULL);
            begun = bench_cpu_ns();
            ways[i].run(p);
            took = (bench_cpu_ns() - begun) / URLS;
            ns[i] = took < ns[i] ? took : ns[i];
        }
}

static void show(const struct urls_shape *shape, double bytes,
                 const double ns[WAYS], bool json)
{
    if (!json)
        printf("%-20s %6.0f", shape->name, bytes);
    for (int i = 0; i < WAYS && !json; i++)
        printf(" %13.1f", ns[i]);
    for (int i = 0; i < WAYS && json; i++) {
        printf("{\"bench\": \"urls\", \"urls\": \"%s\", \"bytes\": %.1f, "
               "\"way\": \"%s\", ",
               shape->name, bytes, ways[i].name);
        bench_json("ns", ns[i], i + 1 < WAYS ? "}\n" : "}");
    }
    putchar('\n');
}

static const struct option options[] = {
    { "json", 0, FLAG, NULL, offsetof(struct urls_options, json),
      "print JSON instead of a table" },
    { "help", 0, FLAG, NULL, offsetof(struct urls_options, help),
      "print this" },
    { .name = NULL },
};

int bench_urls(char **argv)
{
    struct urls_options set = { .json = false };
    struct urls_pool *p;
    int status;

    if (!bench_options(options, "urls",
                       "ns of CPU time from a URL to its key, 256 URLs per "
                       "call or one, beside\nXXH3-128 of its bytes and curl's "
                       "parser.\n",
                       &set, &set.help, argv, &status))
        return status;
    p = calloc(1, sizeof *p);
    if (!p) {
        fputs("seen: bench: no memory for URLs\n", stderr);
        return 2;
    }
    if (!set.json) {
        bench_show_cpu();
        printf("%-20s %6s", "URLs", "bytes");
        for (int i = 0; i < WAYS; i++)
            printf(" %13s", ways[i].name);
        putchar('\n');
    }
    for (int i = 0; i < SHAPES; i++) {
        double ns[WAYS], bytes = bytes_of(p, &shapes[i]);

        measure(p, ns);
        show(&shapes[i], bytes, ns, set.json);
    }
    free(p);
    return 0;
}
