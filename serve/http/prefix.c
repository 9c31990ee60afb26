/* prefix.c - is anything under a prefix? Some filters can tell. */
#define _GNU_SOURCE
#include "request.h"

void lookup_prefix(struct conn *c, const struct http_request *r,
                   struct span rest)
{
    const char *slash = memchr(rest.text, '/', rest.len);
    char room[HTTP_TARGET], text[SEEN_KEY_TEXT];
    struct span name = rest, url;
    struct seen_error why;
    struct seen_key key;
    struct archive *a;
    enum seen_code code;
    bool seen = false;

    if (!slash) {
        reply_error(c, r, 404, NULL, "it is /prefix/NAME/<URL>");
        return;
    }
    name.len = (size_t)(slash - rest.text);
    rest = (struct span){ slash + 1, rest.len - name.len - 1 };
    a = web_archive(c, r, name);
    if (!a)
        return;
    if (!web_url(rest, room, &url)) {
        reply_error(c, r, 400, "bad-url", "the URL is badly encoded");
        return;
    }
    code = seen_key_make_as(&key, text, url.text, url.len, &a->profile, &why);
    if (code == SEEN_OK)
        code = archive_under(a, &key, &seen, &why);
    if (code == SEEN_CORRUPT)
        reply_error(c, r, 503, "withdrawn", "%s: %s", a->name, why.text);
    else if (code == SEEN_UNABLE)
        reply_error(c, r, 501, "unable", "%s", why.text);
    else if (code != SEEN_OK)
        reply_error(c, r, 400, "bad-url", "%s", why.text);
    else {
        reply_begin(c, r, seen ? 200 : 404);
        out_format(conn_out(c), "Seen-Answer: %s\r\n", seen ? "maybe" : "no");
        reply_end(c, r, NULL, 0);
    }
}
