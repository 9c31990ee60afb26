/*
 * links.c - fuzz the links of documents.
 *
 * The first byte selects the type and whether there are headers; the rest is
 * the document, or headers, a NUL and the document. Links must be canonical
 * URLs of http and https, texts must be short UTF-8 with folded white space,
 * and reading a second time must give the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <seen/url.h>

#include "lib/text/utf8.h"
#include "web/links.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
    size_t links;
    uint64_t hash;
};

static void add(struct sum *s, struct seen_span text)
{
    for (size_t i = 0; i < text.len; i++)
        s->hash = (s->hash ^ (unsigned char)text.text[i]) *
                  UINT64_C(0x100000001b3);
}

static void check_text(struct seen_span text, size_t most)
{
    if (text.len > most || !utf8_valid(text.text, text.len))
        abort();
    for (size_t i = 0; i < text.len; i++)
        if (strchr("\t\n\f\r", text.text[i]) ||
            (text.text[i] == ' ' &&
             (!i || i + 1 == text.len || text.text[i + 1] == ' ')))
            abort();
}

static void take(void *owner, const struct web_link *link)
{
    char room[SEEN_KEY_TEXT];
    struct sum *s = owner;
    const char *again;
    size_t len;

    if (seen_url_whatwg(&again, &len, room, link->url.text, link->url.len,
                        NULL, 0, NULL) != SEEN_OK ||
        len != link->url.len || memcmp(again, link->url.text, len) != 0 ||
        memcmp(again, "http", 4) != 0)
        abort();
    if (!web_link_kind_name(link->kind))
        abort();
    check_text(link->text, WEB_LINK_TEXT);
    s->links++;
    add(s, link->url);
    add(s, link->text);
    add(s, link->rel);
}

static struct sum read_once(struct web_document *doc)
{
    struct buffer title = { .bytes = NULL }, text = { .bytes = NULL };
    struct web_page page = { .title = &title,
                             .text = &text,
                             .most_text = 100 };
    struct sum s = { .links = 0 };

    if (web_links_read(doc, &page, take, &s, NULL) != SEEN_OK ||
        page.links != s.links)
        abort();
    if (title.len)
        check_text((struct seen_span){ title.bytes, title.len }, WEB_TITLE);
    if (text.len)
        check_text((struct seen_span){ text.bytes, text.len }, 100);
    add(&s, (struct seen_span){ title.bytes, title.len });
    add(&s, (struct seen_span){ text.bytes, text.len });
    buffer_clear(&title);
    buffer_clear(&text);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = { NULL, "text/html",
                                         "application/xhtml+xml", "text/css" };
    struct web_document doc = { .url = "http://a.example/b/c?d",
                                .url_len = 22,
                                .requisites = true };
    const uint8_t *zero = NULL;
    char *copy, *head = NULL;
    struct sum one, two;

    if (!size)
        return 0;
    doc.type = types[data[0] % 4];
    if (data[0] & 4)
        zero = memchr(data + 1, 0, size - 1);
    if (zero) {
        size_t n = (size_t)(zero - data) - 1;

        head = malloc(n + 1); /* so that reading past it is seen */
        memcpy(head, data + 1, n);
        doc.headers = (struct seen_span){ head, n };
        size -= n + 1;
        data = zero;
    }
    copy = malloc(size);
    memcpy(copy, data + 1, size - 1);
    doc.bytes = copy;
    doc.len = size - 1;
    one = read_once(&doc);
    two = read_once(&doc);
    if (one.links != two.links || one.hash != two.hash)
        abort();
    free(copy);
    free(head);
    return 0;
}
