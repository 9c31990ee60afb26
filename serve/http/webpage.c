/* webpage.c - the files of the page. */
#include "webpage.h"

#include "request.h"

const struct webpage_file *webpage_find(struct seen_span path)
{
    for (size_t i = 0; i < webpage_count; i++)
        if (span_is(path, webpage_files[i].path))
            return &webpage_files[i];
    return NULL;
}

void http_page(struct conn *c, const struct http_request *r,
               const struct http_path *p)
{
    /* What we are asked for, with the slash before it. */
    const struct webpage_file *page = webpage_find(
        (struct seen_span){ p->name.text - 1, p->name.len + 1 });
    struct seen_span tag;
    bool same = http_find(r, "If-None-Match", &tag) &&
                memmem(tag.text, tag.len, page->etag, strlen(page->etag));

    reply_begin(c, r, same ? 304 : 200);
    buffer_format(conn_out(c),
                  "ETag: %s\r\nCache-Control: no-cache\r\n"
                  "Content-Security-Policy: " WEBPAGE_POLICY "\r\n"
                  "X-Content-Type-Options: nosniff\r\n"
                  "Referrer-Policy: no-referrer\r\n",
                  page->etag);
    reply_end(c, r, same ? NULL : page->type, same ? 0 : page->len);
    if (!same && r->method != HTTP_HEAD_ONLY)
        buffer_bytes(conn_out(c), page->bytes, page->len);
}
