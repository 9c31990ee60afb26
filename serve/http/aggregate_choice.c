/*
 * aggregate_choice.c - which archives are asked.
 *
 *     filter says no             spared
 *     filter says yes            asked
 *     filter cannot answer       asked: that is not a "no"
 *     no filter, but in --archives    asked
 *     "ignore" in --archives     never asked
 */
#include "aggregate.h"

#include <stdlib.h>

/* The buffer of the texts moves as it grows: until it is whole, sources have
   positions in it. */
struct http_choosing {
    struct http_choice *choice;
    size_t (*at)[3]; /* of the name, TimeMap and TimeGate; 0 is none */
    struct seen_span url;
};

static size_t put_text(struct buffer *b, const char *text)
{
    const size_t at = b->len;

    buffer_bytes(b, text, strlen(text) + 1);
    return at;
}

static size_t put_url(struct http_choosing *them, const char *template)
{
    const size_t at = them->choice->text.len;

    if (!template || !*template)
        return 0;
    memento_template_fill(&them->choice->text, template, them->url);
    buffer_byte(&them->choice->text, '\0');
    return at;
}

static void choose(struct http_choosing *them, const char *name,
                   const char *timemap, const char *timegate,
                   const char *fault)
{
    const size_t i = them->choice->n++;

    them->choice->source[i].fault = fault;
    them->at[i][0] = put_text(&them->choice->text, name);
    them->at[i][1] = put_url(them, timemap);
    them->at[i][2] = put_url(them, timegate);
}

/* An archive with a filter: asked unless that says no. */
static void choose_filtered(struct http_choosing *them,
                            const struct archive *a,
                            enum archive_answer answer,
                            const struct memento_archive *entry)
{
    const char *timemap = entry ? entry->timemap : archive_meta(a, "timemap");
    const char *timegate = entry ? entry->timegate
                                 : archive_meta(a, "timegate");

    if (entry && entry->ignore)
        return;
    if (answer == ARCHIVE_NO)
        them->choice->spared++;
    else
        choose(them, a->name, timemap, timegate,
               answer == ARCHIVE_YES
                   ? "it may have it, but its TimeMap is not known"
                   : "its filter cannot answer, and its TimeMap is not known");
}

static void choose_all(struct http_choosing *them, struct loop *l,
                       const unsigned char *answer, bool *listed)
{
    const struct memento_list *list = memento_archives(l->server->memento);
    struct archive *a;
    size_t entry;

    for (size_t i = 0; (a = archive_view_at(l->view, i)); i++) {
        entry = memento_list_find(list, a->name);
        if (entry < list->n)
            listed[entry] = true;
        choose_filtered(them, a, answer[i],
                        entry < list->n ? &list->archive[entry] : NULL);
    }
    for (size_t i = 0; i < list->n; i++)
        if (!listed[i] && !list->archive[i].ignore)
            choose(them, memento_archive_name(&list->archive[i]),
                   list->archive[i].timemap, list->archive[i].timegate, NULL);
}

static void place_texts(struct http_choosing *them)
{
    const char *text = them->choice->text.bytes;

    for (size_t i = 0; i < them->choice->n; i++) {
        const size_t *at = them->at[i];

        them->choice->source[i].name = text + at[0];
        them->choice->source[i].url = at[1] ? text + at[1] : NULL;
        them->choice->source[i].gate = at[2] ? text + at[2] : NULL;
    }
}

bool http_choice_make(struct http_choice *them, struct loop *l,
                      struct seen_span url, const unsigned char *answer)
{
    const size_t entries = memento_archives(l->server->memento)->n;
    const size_t most = archive_view_count(l->view) + entries + 1;
    struct http_choosing how = { .choice = them,
                                 .at = calloc(most, sizeof *how.at),
                                 .url = url };
    bool *listed = calloc(entries + 1, sizeof *listed);
    bool good;

    *them = (struct http_choice){ .source = calloc(most,
                                                   sizeof *them->source) };
    good = them->source && how.at && listed;
    if (good) {
        choose_all(&how, l, answer, listed);
        good = !them->text.failed;
    }
    if (good)
        place_texts(&how);
    else
        http_choice_clear(them);
    free(how.at);
    free(listed);
    return good;
}

void http_choice_clear(struct http_choice *them)
{
    free(them->source);
    buffer_clear(&them->text);
    *them = (struct http_choice){ .source = NULL };
}
