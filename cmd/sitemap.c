/*
 * sitemap.c - seen sitemap: the URLs that a sitemap or feed lists.
 *
 *     $ seen sitemap sitemap.xml.gz --base http://a.example/sitemap.xml.gz
 *     http://a.example/
 *     http://a.example/news
 *
 * The bytes go through gzip and the parser as they are read, and URLs are
 * printed as they are found: what precedes a mistake is not lost.
 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../fetch/unpack.h"
#include "../web/sitemap.h"
#include "json.h"
#include "output.h"

struct sitemap {
    const char *base;
    bool json;
    const char *name;
    struct web_sitemap *reader;
    uint64_t good, bad, bytes;
};

static const struct option options[] = {
    { "base", 0, TEXT, "URL", offsetof(struct sitemap, base),
      "the URL of the list itself, which relative URLs are relative to; "
      "without it they are refused" },
    JSON_OPTION(struct sitemap, json,
                "print one JSON object per line: {\"url\": ..., \"kind\": "
                "\"page\"|\"sitemap\", \"lastmod\": ...}"),
    { .name = NULL }
};

/* Bytes after gzip: what 500,000 entries of some length need. */
static const uint64_t most = UINT64_C(1) << 30;

static enum seen_code on_entry(void *owner, const struct web_sitemap_entry *e,
                               struct seen_error *why)
{
    struct sitemap *m = owner;

    (void)why;
    if (e->fault) {
        m->bad++;
        warning("%s: line %llu: %s", m->name, (unsigned long long)e->line,
                e->fault->text);
        return SEEN_OK;
    }
    m->good++;
    if (!m->json) {
        output_bytes(e->url.text, e->url.len);
        output_text("\n");
        return SEEN_OK;
    }
    cmd_json_open(NULL, '{');
    cmd_json_text("url", e->url.text, e->url.len);
    cmd_json_word("kind", e->index ? "sitemap" : "page");
    if (e->lastmod.len)
        cmd_json_text("lastmod", e->lastmod.text, e->lastmod.len);
    else
        cmd_json_null("lastmod");
    cmd_json_shut('}');
    return SEEN_OK;
}

static enum seen_code on_bytes(void *owner, const void *bytes, size_t n,
                               struct seen_error *why)
{
    struct sitemap *m = owner;

    m->bytes += n;
    if (m->bytes > most)
        return seen_fail(why, SEEN_RANGE, 0, "has more than 1 GiB");
    return web_sitemap_push(m->reader, bytes, n, why);
}

static enum seen_code read_all(struct sitemap *m, int fd,
                               struct seen_error *why)
{
    static char packed[1 << 16], room[1 << 16];
    struct fetch_unpack u;
    enum seen_code code = SEEN_OK;
    ssize_t n = 1;

    fetch_unpack_init(&u, FETCH_GUESS);
    while (code == SEEN_OK && n && !output_dead()) {
        n = read(fd, packed, sizeof packed);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            code = seen_fail(why, SEEN_IO, 0, "cannot be read");
        else if (n > 0)
            code = fetch_unpack_feed(&u, packed, (size_t)n, room, sizeof room,
                                     on_bytes, m, why);
    }
    if (code == SEEN_OK && !n)
        code = fetch_unpack_end(&u, on_bytes, m, why);
    if (code == SEEN_OK && !n)
        code = web_sitemap_end(m->reader, why);
    fetch_unpack_clear(&u);
    return code;
}

static enum outcome run(void *settings, char **operand)
{
    struct sitemap *m = settings;
    bool standard = !strcmp(*operand, "-");
    enum outcome out = YES;
    struct seen_error why;
    int fd;

    m->name = standard ? "standard input" : *operand;
    if (web_sitemap_new(&m->reader, m->base ? m->base : "about:blank",
                        on_entry, m, &why) != SEEN_OK)
        return trouble_with("--base", &why);
    fd = standard ? STDIN_FILENO : open(*operand, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        out = trouble("%s: cannot be opened: %s", m->name, strerror(errno));
    else if (read_all(m, fd, &why) != SEEN_OK)
        out = trouble_with(m->name, &why);
    else if (m->bad || !m->good)
        out = NO;
    if (fd >= 0 && !standard)
        close(fd);
    web_sitemap_free(m->reader);
    return out;
}

const struct command cmd_sitemap = {
    .name = "sitemap",
    .summary = "print the URLs that a sitemap or feed lists",
    .synopsis = "FILE",
    .operands = 1,
    .most = 1,
    .settings = sizeof(struct sitemap),
    .options = options,
    .about =
        "Prints the URLs of a sitemap, a sitemap index, an RSS or Atom feed, or "
        "a text with one URL per line; FILE is - for standard input, and may be "
        "gzip. URLs are printed as a crawler would fetch them: absolute, and "
        "canonical by the WHATWG URL standard.\n"
        "\n"
        "An entry that has no valid http or https URL is reported on standard "
        "error, and the others are printed. If FILE is not such a list, or is "
        "broken from some place on, what was read before is printed, and then "
        "the reason on standard error.\n",
    .exits = "0 if all entries were printed, 1 if some have no valid URL or "
             "there are none, 2 if the list is broken or something else went "
             "wrong.",
    .examples =
        "$ seen sitemap sitemap.xml --base https://a.example/sitemap.xml\n"
        "https://a.example/\n"
        "https://a.example/news\n"
        "$ seen sitemap --json feed.xml --base https://a.example/feed\n"
        "{\"url\": \"https://a.example/1\", \"kind\": \"page\", \"lastmod\": "
        "null}\n",
    .run = run,
};
