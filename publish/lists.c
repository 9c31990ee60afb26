/*
 * lists.c - the sitemap, the change list, and the two above them.
 *
 * All four are made from the state alone, so a run that was killed after it
 * saved the state is finished by the next one, with the same bytes. They are
 * written from the leaves up: at no moment does a list name a file that does
 * not exist. Parts that are left over from a longer list are removed last, when
 * no list names them.
 *
 * A file of ours is recognised by its content, not by its name: a sitemap.xml
 * that somebody else wrote is refused before anything is written.
 */
#include "lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/disk/walk.h"
#include "file.h"
#include "listing.h"
#include "text.h"
#include "versions.h"

#define PATCH "http://www.openarchives.org/rs/terms/patch"
#define KNOWN ".well-known/resourcesync"

static const char *const ours[] = { "sitemap.xml", "capabilitylist.xml", KNOWN,
                                    "changelist.xml" };

enum seen_code publish_lists_check(const char *folder, bool changes,
                                   struct seen_error *why)
{
    for (int i = 0; i < 3 + changes; i++) {
        char *path = walk_path(folder, ours[i]);
        enum seen_code code = path ? publish_listing_check(path, why)
                                   : seen_fail(why, SEEN_NOMEM, 0,
                                               "no memory for a path");

        free(path);
        if (code != SEEN_OK)
            return publish_blame(ours[i], code, why);
    }
    return SEEN_OK;
}

/* What the entries of a list are made from. */
struct publish_list_source {
    const char *base;
    const struct publish_state *state;
    const struct publish_metadata *metadata;
    const struct publish_item **item; /* those that are announced */
    size_t items;
};

/* --- the sitemap -------------------------------------------------------- */

static void print_item(struct buffer *to, const void *whose, size_t i)
{
    const struct publish_list_source *s = whose;
    const struct publish_item *item = s->item[i];
    const struct publish_sitemap_file file = { item->digest, item->length,
                                               PUBLISH_FILTER_TYPE };
    const struct publish_sitemap_file text = { item->text.digest,
                                               item->text.length,
                                               PUBLISH_TEXT_TYPE };
    const struct publish_sitemap_entry e = { .base = s->base,
                                             .path = item->path,
                                             .lastmod = &item->lastmod,
                                             .file = &file };

    publish_sitemap_entry(to, &e);
    if (item->text.made) {
        char *path = publish_text_path(item->path);

        publish_sitemap_link(to, "alternate", s->base, path, &text);
        free(path);
    }
    publish_metadata_print(s->metadata, item, s->base, to);
    publish_sitemap_entry_end(to, &e);
}

static int64_t item_lastmod(const void *whose, size_t i)
{
    return ((const struct publish_list_source *)whose)->item[i]->lastmod;
}

/* --- the change list ---------------------------------------------------- */

static void print_change(struct buffer *to, const void *whose, size_t i)
{
    static const char *const kind[] = { "created", "updated", "deleted" };
    const struct publish_list_source *s = whose;
    const struct publish_change *c = &s->state->change[i];
    const bool there = c->kind != DELETED;
    const struct publish_sitemap_file file = { c->digest, c->length,
                                               PUBLISH_FILTER_TYPE };
    const struct publish_sitemap_file patch = { c->patch, c->patch_length,
                                                PUBLISH_DELTA_TYPE };
    const struct publish_sitemap_entry e = { .base = s->base,
                                             .path = c->path,
                                             .lastmod = there ? &c->lastmod
                                                              : NULL,
                                             .change = kind[c->kind],
                                             .when = &c->when,
                                             .file = there ? &file : NULL };

    publish_sitemap_entry(to, &e);
    if (c->patched) {
        char *path = publish_delta_path(c->path, c->from, c->digest);

        publish_sitemap_link(to, PATCH, s->base, path, &patch);
        free(path);
    }
    publish_sitemap_entry_end(to, &e);
}

static int64_t change_when(const void *whose, size_t i)
{
    return ((const struct publish_list_source *)whose)->state->change[i].when;
}

/* --- the lists of lists ------------------------------------------------- */

/* Entry i of these is a list itself. */
struct publish_list_links {
    const char *base, *path[2], *capability[2];
};

static void print_list(struct buffer *to, const void *whose, size_t i)
{
    const struct publish_list_links *s = whose;
    const struct publish_sitemap_entry e = { .base = s->base,
                                             .path = s->path[i],
                                             .capability = s->capability[i] };

    publish_sitemap_entry(to, &e);
    publish_sitemap_entry_end(to, &e);
}

/* --- all of them -------------------------------------------------------- */

static enum seen_code write_lists_of_lists(
    const struct publish_options *options, const char *base, bool changes,
    size_t *written, struct seen_error *why)
{
    const struct publish_list_links lists = {
        base,
        { "sitemap.xml", "changelist.xml" },
        { "resourcelist", "changelist" }
    };
    const struct publish_list_links source = { base,
                                               { "capabilitylist.xml" },
                                               { "capabilitylist" } };
    struct publish_listing l = {
        .folder = options->folder,
        .name = "capabilitylist",
        .head = { .base = base, .up = KNOWN, .capability = "capabilitylist" },
        .entries = 1 + changes,
        .print = print_list,
        .whose = &lists
    };
    unsigned none;
    enum seen_code code = publish_listing_write(&l, &none, written, why);

    l.name = KNOWN;
    l.bare = true;
    l.head.up = NULL;
    l.head.capability = "description";
    l.entries = 1;
    l.whose = &source;
    if (code == SEEN_OK)
        code = publish_listing_write(&l, &none, written, why);
    return code;
}

static enum seen_code write_lists(const struct publish_options *options,
                                  const struct publish_list_source *s,
                                  unsigned parts[2], size_t *written,
                                  struct seen_error *why)
{
    struct publish_listing l = { .folder = options->folder,
                                 .name = "changelist",
                                 .head = { .base = s->base,
                                           .up = "capabilitylist.xml",
                                           .capability = "changelist" },
                                 .since = change_when, /* no `until`: it would
                                                          close the list */
                                 .from = s->state->at,
                                 .entries = s->state->changes,
                                 .print = print_change,
                                 .lastmod = change_when,
                                 .whose = s,
                                 .most_urls = options->most_urls,
                                 .most_bytes = options->most_bytes };
    enum seen_code code = SEEN_OK;

    if (s->state->deltas)
        code = publish_listing_write(&l, &parts[1], written, why);
    if (code != SEEN_OK)
        return code;
    l.name = "sitemap";
    l.head.capability = "resourcelist";
    l.head.at = &s->state->at;
    l.since = NULL;
    l.entries = s->items;
    l.print = print_item;
    l.lastmod = item_lastmod;
    code = publish_listing_write(&l, &parts[0], written, why);
    if (code == SEEN_OK)
        code = write_lists_of_lists(options, s->base, s->state->deltas,
                                    written, why);
    return code;
}

enum seen_code publish_lists_write(const struct publish_options *options,
                                   const struct publish_state *s,
                                   const struct publish_metadata *m,
                                   unsigned parts[2], size_t *written,
                                   struct seen_error *why)
{
    struct publish_list_source source = { .base = s->url,
                                          .state = s,
                                          .metadata = m };
    enum seen_code code;

    parts[0] = parts[1] = 0;
    source.item = calloc(s->items + 1, sizeof *source.item);
    if (!source.item)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    for (size_t i = 0; i < s->items; i++)
        if (!s->item[i].held)
            source.item[source.items++] = &s->item[i];
    code = write_lists(options, &source, parts, written, why);
    free(source.item);
    return code;
}

static void remove_list(const char *folder, const char *name)
{
    char *path = walk_path(folder, name);

    if (path && publish_listing_check(path, NULL) == SEEN_OK)
        unlink(path);
    free(path);
}

void publish_lists_sweep(const char *folder, const struct publish_state *s,
                         const unsigned had[2], const unsigned parts[2])
{
    static const char *const name[2] = { "sitemap", "changelist" };
    char part[64];

    if (!s->deltas)
        remove_list(folder, "changelist.xml");
    for (int i = 0; i < 2; i++)
        for (unsigned n = parts[i] + 1; n <= had[i]; n++) {
            snprintf(part, sizeof part, "%s-%u.xml", name[i], n);
            remove_list(folder, part);
        }
}
