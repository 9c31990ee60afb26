/*
 * sitemap.c - lists of the files that are offered, as ResourceSync has them.
 *
 *     GET /sitemap.xml                 all files
 *     GET /.well-known/resourcesync    where that list is
 */
#define _GNU_SOURCE
#include "request.h"

#include <time.h>

#include "../../lib/text/percent.h"
#include "../../lib/text/xml.h"

#define XML "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define SPACES \
    " xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"" \
    " xmlns:rs=\"http://www.openarchives.org/rs/terms/\"" \
    " xmlns:dc=\"http://purl.org/dc/elements/1.1/\""

static void put_element(struct buffer *o, const char *name, const char *value)
{
    if (!value)
        return;
    buffer_format(o, "    <dc:%s>", name);
    buffer_xml(o, value, strlen(value));
    buffer_format(o, "</dc:%s>\n", name);
}

static void put_resource(struct buffer *o, const struct archive *a,
                         const struct buffer *origin)
{
    struct stat it;
    struct tm tm;
    char when[32];

    if (!a->filter || stat(a->path, &it))
        return;
    gmtime_r(&it.st_mtime, &tm);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
    buffer_text(o, "  <url>\n    <loc>");
    buffer_xml(o, origin->bytes, origin->len);
    buffer_text(o, "/files/");
    percent_encode(o, a->name, strlen(a->name), PERCENT_NAME);
    buffer_format(o,
                  ".seen</loc>\n    <lastmod>%s</lastmod>\n"
                  "    <rs:md length=\"%lld\" "
                  "type=\"application/octet-stream\"/>\n",
                  when, (long long)it.st_size);
    put_element(o, "title", archive_meta(a, "title"));
    put_element(o, "publisher", archive_meta(a, "holder"));
    put_element(o, "date", a->as_of);
    buffer_text(o, "  </url>\n");
}

static void put_up(struct buffer *o, const struct buffer *origin,
                   const char *path)
{
    buffer_text(o, "  <rs:ln rel=\"up\" href=\"");
    buffer_xml(o, origin->bytes, origin->len);
    buffer_format(o, "%s\"/>\n", path);
}

void http_sitemap(struct conn *c, const struct http_request *r,
                  const struct http_path *p)
{
    struct buffer body = { .bytes = NULL }, origin = { .bytes = NULL };
    struct archive *a;

    (void)p;
    http_origin(c, r, &origin);
    buffer_text(&body, XML "<urlset" SPACES ">\n");
    put_up(&body, &origin, "/.well-known/capabilitylist.xml");
    buffer_text(&body, "  <rs:md capability=\"resourcelist\"/>\n");
    for (size_t i = 0; c->loop->server->options.files &&
                       (a = archive_view_at(c->loop->view, i));
         i++)
        put_resource(&body, a, &origin);
    buffer_text(&body, "</urlset>\n");
    reply_body(c, r, 200, NULL, "application/xml", &body);
    buffer_clear(&origin);
}

/* A list of one: where the next list is. */
static void put_list(struct conn *c, const struct http_request *r,
                     const char *capability, const char *up, const char *path,
                     const char *of)
{
    struct buffer body = { .bytes = NULL }, origin = { .bytes = NULL };

    http_origin(c, r, &origin);
    buffer_text(&body, XML "<urlset" SPACES ">\n");
    if (up)
        put_up(&body, &origin, up);
    buffer_format(&body, "  <rs:md capability=\"%s\"/>\n  <url>\n    <loc>",
                  capability);
    buffer_xml(&body, origin.bytes, origin.len);
    buffer_format(&body,
                  "%s</loc>\n    <rs:md capability=\"%s\"/>\n  </url>\n"
                  "</urlset>\n",
                  path, of);
    reply_body(c, r, 200, NULL, "application/xml", &body);
    buffer_clear(&origin);
}

void http_resourcesync(struct conn *c, const struct http_request *r,
                       const struct http_path *p)
{
    if (span_is(p->rest, "resourcesync"))
        put_list(c, r, "description", NULL, "/.well-known/capabilitylist.xml",
                 "capabilitylist");
    else if (span_is(p->rest, "capabilitylist.xml"))
        put_list(c, r, "capabilitylist", "/.well-known/resourcesync",
                 "/sitemap.xml", "resourcelist");
    else
        reply_error(c, r, 404, NULL, "there is nothing here");
}
