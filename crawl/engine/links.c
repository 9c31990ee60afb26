/* links.c - rows of links. */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/span.h"

static void path_of(char to[CRAWL_PATH], const struct crawl_page *page,
                    char letter)
{
    size_t n = strlen(page->path);

    if (n > 50) { /* as Heritrix does: the last hops, and a number */
        snprintf(to, CRAWL_PATH, "%s%c", page->path + (n - 50), letter);
        return;
    }
    snprintf(to, CRAWL_PATH, "%s%c", page->path, letter);
}

struct frontier_page crawl_link_row(const struct crawl_page *page,
                                    const struct crawl_link *link,
                                    char path[CRAWL_PATH])
{
    path_of(path, page, link->letter);
    return (struct frontier_page){
        .priority = link->priority,
        .url = { page->texts.bytes + link->url, link->url_len },
        .type = { page->texts.bytes + link->type, link->type_len },
        .path = span_of(path),
        .depth = page->depth + (link->letter != 'R' && !link->list),
        .flags = (link->letter == 'E' ? CRAWL_FLAG_REQUISITE
                  : link->list        ? CRAWL_FLAG_SITEMAP
                                      : 0) |
                 link->minutes << CRAWL_FLAG_MINUTES,
    };
}
