/*
 * linked.h - the links of a page as one line of text, for tables of cases.
 *
 *     assert_string_equal(linked("<a href=x>y</a>"), "a /x 'y'\n");
 *
 * A link is: kind, URL without "http://h", "nofollow" if so, its text in
 * quotes if it has one.
 */
#ifndef TEST_WEB_LINKED_H
#define TEST_WEB_LINKED_H

#include "test/wall.h"

#include <stdio.h>

#include "lib/text/span.h"
#include "web/links.h"

static char linked_text[1 << 16];

static inline void linked_take(void *owner, const struct web_link *link)
{
    struct seen_span url = link->url;
    size_t used = strlen(linked_text);

    (void)owner;
    if (span_begins(url, "http://h/"))
        url.text += 8, url.len -= 8;
    snprintf(linked_text + used, sizeof linked_text - used,
             "%s%s %.*s%s%s%.*s%s", used ? "; " : "",
             web_link_kind_name(link->kind), (int)url.len, url.text,
             link->nofollow ? " nofollow" : "", link->text.len ? " '" : "",
             (int)link->text.len, link->text.len ? link->text.text : "",
             link->text.len ? "'" : "");
}

/* Read a document that ends at a wall, at http://h/d/p?q, unless it has a URL
   already. */
static inline const char *linked_read(struct web_document doc,
                                      struct web_page *page)
{
    struct seen_error why;

    linked_text[0] = '\0';
    doc.bytes = walled(doc.bytes, doc.len);
    if (!doc.url) {
        doc.url = "http://h/d/p?q";
        doc.url_len = strlen(doc.url);
    }
    assert_int_equal(web_links_read(&doc, page, linked_take, NULL, &why),
                     SEEN_OK);
    return linked_text;
}

static inline const char *linked(const char *html)
{
    return linked_read(
        (struct web_document){ .bytes = html, .len = strlen(html) }, NULL);
}

static inline const char *linked_all(const char *html)
{
    return linked_read((struct web_document){ .bytes = html,
                                              .len = strlen(html),
                                              .requisites = true },
                       NULL);
}

/* Cases: a document, and its links. */
struct linked_case {
    const char *html, *links;
};

static inline void linked_check(const struct linked_case *c, size_t n,
                                const char *(*read)(const char *html))
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(read(c[i].html), c[i].links) != 0)
            print_error("of: %s\n", c[i].html);
        assert_string_equal(linked_text, c[i].links);
    }
}

#endif
