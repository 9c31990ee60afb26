/*
 * template.c - fuzz templates: JSON and XML.
 *
 * A template that is accepted can be asked everything; what XML is converted
 * to is JSON; the content of a template gives the same template again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crawl/template/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char page[] =
    "<h1>A 12</h1><table><tr><td>1 Feb 2016</table><a href='b;c?d&e=1'>x</a>";
static const char url[] = "http://a.example/b";

static void mistake(void *owner, uint64_t line, const char *text)
{
    if (!*text || line > (uint64_t)-1 / 2)
        abort();
    ++*(unsigned *)owner;
}

static void use(const struct crawl_template *t)
{
    struct buffer fields = { .bytes = NULL };
    struct crawl_extracted result;
    struct crawl_areas *areas;
    struct crawl_verdict v;
    struct web_tree *tree;
    char room[SEEN_KEY_TEXT];
    const char *type;
    size_t len;

    if (!crawl_template_starts(t) ||
        crawl_template_starts(t) > CRAWL_TEMPLATE_STARTS)
        abort();
    crawl_template_start(t, crawl_template_starts(t) - 1, room, &len, NULL);
    if (web_tree_new(&tree, page, sizeof page - 1, NULL, NULL) != SEEN_OK ||
        crawl_areas_new(&areas, t, tree, url, sizeof url - 1, NULL) != SEEN_OK)
        abort();
    for (size_t i = 0; (type = crawl_template_types(t, i)) && i < 20; i++) {
        crawl_template_extract(t, type, tree, url, sizeof url - 1, &fields,
                               &result, NULL);
        crawl_template_follow(t, areas, type, url, sizeof url - 1, NULL, &v);
    }
    buffer_clear(&fields);
    crawl_areas_free(areas);
    web_tree_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct crawl_template *t, *again;
    unsigned mistakes = 0;
    enum seen_code code;
    char *text = malloc(size + 1);
    struct seen_span content;

    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    code = crawl_template_new(&t, text, size, mistake, &mistakes, NULL);
    if ((code == SEEN_CORRUPT) != (mistakes > 0))
        abort();
    if (code == SEEN_OK) {
        use(t);
        content = crawl_template_content(t);
        if (crawl_template_new(&again, content.text, content.len, NULL, NULL,
                               NULL) != SEEN_OK ||
            strcmp(crawl_template_hash(t), crawl_template_hash(again)) != 0)
            abort();
        crawl_template_free(again);
        crawl_template_free(t);
    }
    free(text);
    return 0;
}
