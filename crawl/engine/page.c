/*
 * page.c - pages are made from rows, and freed; and their buffers are used
 * again.
 *
 * The texts of a row are copied into one piece of memory, since there are
 * thousands of pages at hand and an allocation per text would cost more than
 * the text.
 */
#include "page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/text/span.h"
#include "../page/scope.h"
#include "reader.h"

const char *const crawl_outcome_names[CRAWL_OUTCOMES] = {
    [CRAWL_STORED] = "stored",     [CRAWL_UNCHANGED] = "unchanged",
    [CRAWL_REDIRECT] = "redirect", [CRAWL_ERROR] = "error",
    [CRAWL_FAILED] = "failed",     [CRAWL_ROBOTS] = "robots",
    [CRAWL_SKIPPED] = "skipped",   [CRAWL_LOOP] = "loop",
    [CRAWL_CLOSED] = "closed",     [CRAWL_ASIDE] = "aside",
    [CRAWL_AGAIN] = "again",
};

static char *place(char **at, struct seen_span text)
{
    char *to = *at;

    memcpy(to, text.text, text.len);
    to[text.len] = '\0';
    *at += text.len + 1;
    return to;
}

char *crawl_link_keys(struct seen_key *key,
                      const struct crawl_page *const *page,
                      const struct crawl_link *const *link, size_t n)
{
    size_t room = 1;
    char *texts, *next;

    for (size_t i = 0; i < n; i++)
        room += link[i]->url_len;
    texts = next = malloc(room);
    for (size_t i = 0; texts && i < n; next += link[i++]->url_len)
        crawl_key(&key[i], next,
                  (struct seen_span){ page[i]->texts.bytes + link[i]->url,
                                      link[i]->url_len });
    return texts;
}

char *crawl_page_keys(struct seen_key *key, const struct crawl_page *page,
                      size_t at, size_t n)
{
    const struct crawl_page *pages[CRAWL_KEYS];
    const struct crawl_link *links[CRAWL_KEYS];

    for (size_t i = 0; i < n; i++) {
        pages[i] = page;
        links[i] = &page->link[at + i];
    }
    return crawl_link_keys(key, pages, links, n);
}

bool crawl_page_is_suspect(const struct crawl_page *page)
{
    return page->flags & FRONTIER_SUSPECT;
}

bool crawl_page_is_aside(const struct crawl_page *page)
{
    return (page->flags & FRONTIER_DEATHS) == FRONTIER_DEATHS;
}

/* The note goes to logs, terminals and databases, and names of fields and
   patterns may have any bytes. */
void crawl_page_note_cost(struct crawl_page *page, const char *format, ...)
{
    va_list args;

    if (*page->costly)
        return;
    va_start(args, format);
    vsnprintf(page->costly, sizeof page->costly, format, args);
    va_end(args);
    for (char *at = page->costly; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
}

struct crawl_page *crawl_page_new(const struct frontier_page *row)
{
    size_t room = row->url.len + row->path.len + row->type.len + 3;
    struct crawl_page *page = calloc(1, sizeof *page);
    char *at = malloc(room), *text = malloc(row->url.len + 1);

    if (!page || !at || !text) {
        free(page);
        free(at);
        free(text);
        return NULL;
    }
    page->id = row->id;
    page->priority = row->priority;
    page->via = row->via;
    page->depth = row->depth;
    page->attempts = row->attempts;
    page->flags = row->flags;
    page->url = place(&at, row->url);
    page->path = place(&at, row->path);
    page->type = place(&at, row->type);
    page->key_text = text;
    crawl_key(&page->key, text, span_of(page->url));
    return page;
}

void crawl_page_free(struct crawl_page *page)
{
    if (!page)
        return;
    crawl_page_free(page->onward);
    if (page->shared && page->shared->pages)
        atomic_fetch_sub(page->shared->pages, 1);
    free(page->url);
    free(page->key_text);
    free(page->via_url);
    crawl_known_clear(&page->known);
    buffer_clear(&page->sent);
    buffer_clear(&page->head);
    buffer_clear(&page->raw);
    if (page->filed)
        close(page->file);
    warc_packed_clear(&page->packed);
    free(page->link);
    buffer_clear(&page->texts);
    buffer_clear(&page->record);
    buffer_clear(&page->body);
    buffer_clear(&page->traps);
    free(page->left);
    free(page);
}

void crawl_pages_free(struct crawl_page *page)
{
    for (struct crawl_page *next; page; page = next) {
        next = page->next;
        crawl_page_free(page);
    }
}

void crawl_page_share(struct crawl_page *page,
                      const struct crawl_shared *shared)
{
    page->shared = shared;
    if (shared->pages)
        atomic_fetch_add(shared->pages, 1);
}

void crawl_spare_take(struct crawl_spares *s, struct buffer *b)
{
    if (s->n && !b->bytes)
        *b = s->buffer[--s->n];
}

void crawl_spare_give(struct crawl_spares *s, struct buffer *b)
{
    if (s->n == CRAWL_SPARES || !b->bytes || b->failed ||
        b->room > CRAWL_SPARE_MOST) {
        buffer_clear(b);
        return;
    }
    b->len = 0;
    s->buffer[s->n++] = *b;
    *b = (struct buffer){ .bytes = NULL };
}

void crawl_spares_clear(struct crawl_spares *s)
{
    while (s->n)
        buffer_clear(&s->buffer[--s->n]);
}

bool crawl_page_copy(struct buffer *to, const struct buffer *from)
{
    buffer_clear(to);
    if (from->failed)
        return false;
    if (!from->len)
        return true;
    to->bytes = malloc(from->len);
    if (!to->bytes)
        return false;
    memcpy(to->bytes, from->bytes, from->len);
    to->len = to->room = from->len;
    return true;
}
