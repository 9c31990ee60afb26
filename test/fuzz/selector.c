/*
 * selector.c - fuzz selectors on pages: the first line is the selector, the
 * rest is the page.
 *
 * Results are valid, come in document order and each once. A selector that is
 * refused has its place within the text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/buffer.h"
#include "web/select.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct found {
    struct buffer text;
    size_t n;
};

static bool take(void *owner, const struct web_match *m)
{
    struct found *f = owner;
    struct buffer b = { .bytes = NULL };

    web_match_text(&b, m);
    web_match_html(&b, m);
    if (b.failed || (m->kind == WEB_MATCH_ELEMENT && !*m->name))
        abort();
    if (m->kind == WEB_MATCH_ELEMENT && !web_match_within(m, m))
        abort();
    buffer_clear(&b);
    return ++f->n < 1000;
}

static void try_selector(const char *text, size_t len, bool xpath,
                         struct web_tree *tree)
{
    struct web_selector *s = NULL;
    struct seen_error why = { .code = SEEN_OK };
    struct found f = { .n = 0 };
    enum seen_code code = web_selector_new(&s, text, len, xpath, &why);

    if (code == SEEN_RANGE && why.at > len)
        abort();
    if (code != SEEN_OK)
        return;
    web_select(s, tree, take, &f, NULL);
    web_selector_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t len = end ? (size_t)(end - data) : size;
    char *selector = malloc(len + 1), *page = malloc(size - len + 1);
    struct web_tree *tree;
    uint64_t hash;

    if (!selector || !page)
        abort();
    if (len)
        memcpy(selector, data, len);
    if (size > len)
        memcpy(page, data + len, size - len);
    if (web_tree_new(&tree, page, size - len, NULL, NULL) != SEEN_OK ||
        web_tree_skeleton(tree, &hash, NULL) != SEEN_OK)
        abort();
    try_selector(selector, len, false, tree);
    if (len < 200) /* XPath may be slow */
        try_selector(selector, len, true, tree);
    web_tree_free(tree);
    free(page);
    free(selector);
    return 0;
}
