/*
 * sitemap.c - lists of the files that are offered, as ResourceSync has them.
 *
 *     GET /sitemap.xml                 all files
 *     GET /.well-known/resourcesync    where that list is
 *
 * They are written as `seen publish` writes its own.
 */
#include "../../publish/sitemap.h"

#include <stdlib.h>

#include "request.h"

/* "https://haw.nsk.hr/bloom/", to be freed; NULL without memory. */
static char *base_of(struct conn *c, const struct http_request *r)
{
    struct buffer base = { .bytes = NULL };

    http_origin(c, r, &base);
    buffer_byte(&base, '/');
    return buffer_take(&base);
}

static void put_file(struct conn *c, struct buffer *b, const char *base,
                     const struct archive *a)
{
    unsigned char digest[SEEN_DIGEST];
    struct stat it;
    struct buffer name = { .bytes = NULL };
    struct publish_sitemap_file file = { .type = PUBLISH_FILTER_TYPE };
    struct publish_sitemap_entry entry = { .base = base, .file = &file };
    int64_t lastmod;
    char *path;

    if (!a->filter || a->remote || stat(a->path, &it))
        return;
    if (archive_digest(c->loop->server->archives, a->path, &it, digest))
        file.digest = digest;
    file.length = (uint64_t)it.st_size;
    lastmod = it.st_mtime;
    entry.lastmod = &lastmod;
    buffer_format(&name, "files/%s.seen", a->name);
    path = buffer_take(&name);
    b->failed |= !path;
    if (path) {
        entry.path = path;
        publish_sitemap_entry(b, &entry);
        publish_sitemap_element(b, "dc:title", archive_meta(a, "title"));
        publish_sitemap_element(b, "dc:publisher", archive_meta(a, "holder"));
        publish_sitemap_element(b, "dc:date", a->as_of);
        publish_sitemap_entry_end(b, &entry);
    }
    free(path);
}

void http_sitemap(struct conn *c, const struct http_request *r,
                  const struct http_path *p)
{
    struct buffer body = { .bytes = NULL };
    char *base = base_of(c, r);
    const struct publish_sitemap list = {
        .base = base,
        .up = ".well-known/capabilitylist.xml",
        .capability = "resourcelist",
    };
    struct archive *a;

    (void)p;
    if (!base) {
        reply_error(c, r, 503, NULL, "no memory");
        return;
    }
    publish_sitemap_begin(&body, &list);
    for (size_t i = 0; c->loop->server->options.files &&
                       (a = archive_view_at(c->loop->view, i));
         i++)
        put_file(c, &body, base, a);
    publish_sitemap_end(&body, &list);
    reply_body(c, r, 200, NULL, "application/xml", &body);
    free(base);
}

void http_resourcesync(struct conn *c, const struct http_request *r,
                       const struct http_path *p)
{
    static const struct {
        const char *name, *capability, *up, *path, *of;
    } lists[] = {
        { "resourcesync", "description", NULL,
          ".well-known/capabilitylist.xml", "capabilitylist" },
        { "capabilitylist.xml", "capabilitylist", ".well-known/resourcesync",
          "sitemap.xml", "resourcelist" },
    };
    struct buffer body = { .bytes = NULL };
    char *base;
    size_t i = 0;

    while (i < 2 && !span_is(p->rest, lists[i].name))
        i++;
    base = i < 2 ? base_of(c, r) : NULL;
    if (!base) {
        reply_error(c, r, i < 2 ? 503 : 404, NULL,
                    i < 2 ? "no memory" : "not found");
        return;
    }
    const struct publish_sitemap list = { .base = base,
                                          .up = lists[i].up,
                                          .capability = lists[i].capability };
    const struct publish_sitemap_entry entry = { .base = base,
                                                 .path = lists[i].path,
                                                 .capability = lists[i].of };

    publish_sitemap_begin(&body, &list);
    publish_sitemap_entry(&body, &entry);
    publish_sitemap_entry_end(&body, &entry);
    publish_sitemap_end(&body, &list);
    reply_body(c, r, 200, NULL, "application/xml", &body);
    free(base);
}
