/*
 * links.c - seen links: what a page links to.
 *
 *     $ seen links page.html --base http://a.example/b/
 *     http://a.example/
 *     http://a.example/b/c.html
 *
 * The link extraction of the crawler, offline, for one file.
 */
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include <seen/url.h>

#include "../lib/disk/disk.h"
#include "../lib/text/buffer.h"
#include "../web/links.h"
#include "json.h"
#include "output.h"

enum { MOST_FILE = 1 << 30 };

struct links {
    const char *base, *type, *charset;
    struct texts header;
    bool requisites, json;

    bool any;
};

static const struct option options[] = {
    { "base", 0, TEXT, "URL", offsetof(struct links, base),
      "the URL of the document; required" },
    { "type", 0, TEXT, "T", offsetof(struct links, type),
      "the media type: text/html, application/xhtml+xml, text/css; default by "
      "a Content-Type header, by the name of the file, else text/html" },
    { "charset", 0, TEXT, "C", offsetof(struct links, charset),
      "the charset of the header; default: the document says it" },
    { "header", 0, TEXTS, "LINE", offsetof(struct links, header),
      "a header of the answer, 'Name: value': Link, Refresh, X-Robots-Tag and "
      "Content-Type count; may be repeated" },
    { "requisites", 0, FLAG, NULL, offsetof(struct links, requisites),
      "also print what the page needs: images, scripts, styles, media, and "
      "url() and @import of CSS" },
    JSON_OPTION(
        struct links, json,
        "print one JSON object per link: {\"url\": ..., \"kind\": ..., "
        "\"nofollow\": ..., \"text\": ...}"),
    { .name = NULL }
};

static void take(void *owner, const struct web_link *link)
{
    struct links *l = owner;

    l->any = true;
    if (!l->json) {
        output_bytes(link->url.text, link->url.len);
        output_bytes("\n", 1);
        return;
    }
    cmd_json_open(NULL, '{');
    cmd_json_text("url", link->url.text, link->url.len);
    cmd_json_word("kind", web_link_kind_name(link->kind));
    cmd_json_flag("nofollow", link->nofollow);
    cmd_json_text("text", link->text.text, link->text.len);
    if (link->rel.len)
        cmd_json_text("rel", link->rel.text, link->rel.len);
    if (link->requisite)
        cmd_json_flag("requisite", true);
    cmd_json_shut('}');
}

/* The type that the name of a file stands for, or NULL. */
static const char *type_of(const char *path)
{
    static const struct {
        const char *ending, *type;
    } types[] = { { ".css", "text/css" },
                  { ".xhtml", "application/xhtml+xml" },
                  { ".xht", "application/xhtml+xml" },
                  { ".svg", "image/svg+xml" } };
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++)
        if (!strcasecmp(dot, types[i].ending))
            return types[i].type;
    return NULL;
}

static bool read_all(FILE *from, struct buffer *to)
{
    size_t n;

    do {
        char *room = buffer_room(to, 1 << 16);

        n = room ? fread(room, 1, 1 << 16, from) : 0;
        to->len += n;
    } while (n && to->len <= MOST_FILE);
    return !to->failed && !ferror(from);
}

static enum outcome load(struct buffer *to, const char *path)
{
    struct seen_error why;

    if (!strcmp(path, "-")) {
        if (!read_all(stdin, to))
            return trouble("standard input: cannot be read");
        return YES;
    }
    if (disk_load(&to->bytes, &to->len, path, MOST_FILE, &why) != SEEN_OK)
        return trouble_with(path, &why);
    return YES;
}

static enum outcome print_links(struct links *l, const char *path,
                                const struct buffer *bytes)
{
    struct web_document doc = { .bytes = bytes->bytes,
                                .len = bytes->len,
                                .url = l->base,
                                .url_len = strlen(l->base),
                                .type = l->type,
                                .charset = l->charset,
                                .requisites = l->requisites };
    struct buffer head = { .bytes = NULL };
    struct web_page page = { .noindex = false };
    bool typed = l->type != NULL;
    struct seen_error why;
    enum seen_code code;

    for (size_t i = 0; i < l->header.n; i++) {
        const char *line = l->header.text[i];

        typed |= !strncasecmp(line, "content-type:", 13);
        buffer_text(&head, line);
        buffer_text(&head, "\r\n");
    }
    if (!typed)
        doc.type = type_of(path);
    doc.headers = (struct seen_span){ head.bytes, head.len };
    code = head.failed ? seen_fail(&why, SEEN_NOMEM, 0, "no memory")
                       : web_links_read(&doc, &page, take, l, &why);
    buffer_clear(&head);
    if (code != SEEN_OK)
        return trouble_with(path, &why);
    if (page.cut)
        warning("%s: more than %d links; the rest is left out", path,
                (int)WEB_LINKS);
    return l->any ? YES : NO;
}

static enum outcome check(const struct links *l)
{
    static char text[SEEN_KEY_TEXT];
    struct seen_error why;
    const char *out;
    size_t len;

    if (!l->base)
        return trouble("--base URL is missing; usage: seen links %s",
                       cmd_links.synopsis);
    if (seen_url_whatwg(&out, &len, text, l->base, strlen(l->base), NULL, 0,
                        &why) != SEEN_OK)
        return trouble_with("--base", &why);
    for (size_t i = 0; i < l->header.n; i++)
        if (!strchr(l->header.text[i], ':'))
            return trouble("--header: '%s' is not 'Name: value'",
                           l->header.text[i]);
    return YES;
}

static enum outcome run(void *settings, char **operand)
{
    struct links *l = settings;
    struct buffer bytes = { .bytes = NULL };
    enum outcome out = TROUBLE;

    if (check(l) == YES && load(&bytes, operand[0]) == YES)
        out = print_links(l, operand[0], &bytes);
    buffer_clear(&bytes);
    return out;
}

const struct command cmd_links = {
    .name = "links",
    .summary = "print what a page links to",
    .synopsis = "FILE --base URL",
    .operands = 1,
    .most = 1,
    .settings = sizeof(struct links),
    .options = options,
    .about =
        "Prints the links of a document, one per line, as a browser with "
        "scripts switched off resolves them: relative to the first <base>, "
        "canonical, without fragments, http and https only. FILE may be - for "
        "standard input.\n"
        "\n"
        "Links are <a>, <area>, <iframe>, <frame>, <form> with method GET, "
        "<meta http-equiv=refresh>, <link> such as canonical, alternate or "
        "next, and the Link and Refresh headers. They are printed in the order "
        "of the document, those of headers first; a URL that occurs twice is "
        "printed twice.\n"
        "\n"
        "The charset comes from a byte order mark, else from --charset or a "
        "Content-Type header, else from a <meta> in the document. HTML that is "
        "broken is repaired as browsers do it.\n"
        "\n"
        "With --json, nofollow is true if the link's rel has nofollow, ugc or "
        "sponsored, or if the page asks for it by <meta name=robots>, <meta "
        "name=seen> or X-Robots-Tag. The text is that of the anchor, including "
        "the alternative texts of images, with white space folded and at most "
        "512 bytes long. rel is printed if there is one, and requisite if the "
        "page needs the link to be shown. Kinds are a, area, frame, form, "
        "refresh, link, header; and with --requisites image, script, style, "
        "icon, preload, media, object and css.\n",
    .exits = "0 if there are links, 1 if there are none, 2 if something went "
             "wrong.",
    .examples = "$ seen links page.html --base http://a.example/b/\n"
                "$ seen links page.html --base http://a.example/ --json\n"
                "$ seen links style.css --base http://a.example/s/ "
                "--requisites\n",
    .run = run,
};
