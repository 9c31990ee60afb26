/*
 * known.c - rows of known pages in memory.
 *
 * The seven texts of a page are in one piece of memory, since a commit has
 * hundreds of pages. `url` points to its begin.
 */
#include "known.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/text/little.h"

void crawl_known_read_history(struct crawl_known *page, struct seen_span bytes)
{
    enum { CHECKS = sizeof page->history / sizeof *page->history };

    while (page->histories < CHECKS &&
           bytes.len >= 4 * (page->histories + 1)) {
        page->history[page->histories] = little_32(bytes.text +
                                                   4 * page->histories);
        page->histories++;
    }
}

bool crawl_known_take_texts(struct crawl_known *page,
                            const struct seen_span text[CRAWL_KNOWN_TEXTS])
{
    char **const to[CRAWL_KNOWN_TEXTS] = {
        [CRAWL_KNOWN_URL] = &page->url,
        [CRAWL_KNOWN_ETAG] = &page->etag,
        [CRAWL_KNOWN_MODIFIED] = &page->modified,
        [CRAWL_KNOWN_DIGEST] = &page->digest,
        [CRAWL_KNOWN_NOTE] = &page->note,
        [CRAWL_KNOWN_PLACE] = &page->place,
        [CRAWL_KNOWN_TYPE] = &page->type,
    };
    size_t room = 0;
    char *at;

    for (int i = 0; i < CRAWL_KNOWN_TEXTS; i++)
        room += text[i].len + 1;
    at = malloc(room);
    for (int i = 0; i < CRAWL_KNOWN_TEXTS; i++) {
        *to[i] = at;
        if (!at)
            continue;
        if (text[i].len)
            memcpy(at, text[i].text, text[i].len);
        at[text[i].len] = '\0';
        at += text[i].len + 1;
    }
    return page->url;
}

void crawl_known_clear(struct crawl_known *page)
{
    free(page->url);
    page->url = NULL;
}
