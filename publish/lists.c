/* lists.c - the sitemap, the change list, and the two above them. */
#define _POSIX_C_SOURCE 200809L
#include "lists.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/share/hex.h"
#include "listing.h"
#include "path.h"
#include "text.h"
#include "versions.h"
#include "xml.h"

#define FILTER_TYPE "application/vnd.seen"
#define DELTA_TYPE "application/vnd.seen-delta"
#define TEXT_TYPE "text/csv"
#define PATCH "http://www.openarchives.org/rs/terms/patch"
#define KNOWN ".well-known/resourcesync"

static const char *const ours[] = { "sitemap.xml", "capabilitylist.xml", KNOWN,
                                    "changelist.xml" };

enum seen_code lists_check(const char *folder, bool changes,
                           struct seen_error *why)
{
    for (int i = 0; i < 3 + changes; i++) {
        char *path = path_format("%s/%s", folder, ours[i]);
        enum seen_code code = path ? listing_check(path, why)
                                   : seen_fail(why, SEEN_NOMEM, 0,
                                               "no memory for a path");

        free(path);
        if (code != SEEN_OK)
            return path_blame(ours[i], code, why);
    }
    return SEEN_OK;
}

/* What the entries of a list are printed from. */
struct source {
    const char *base;
    const struct state *state;
    const struct metadata *metadata;
    const struct item **item; /* those that are announced */
    size_t items;
};

static void print_when(FILE *to, const char *before, int64_t seconds,
                       const char *after)
{
    char text[XML_TIME];

    xml_time(text, seconds);
    fprintf(to, "%s%s%s", before, text, after);
}

static void print_file(FILE *to, const unsigned char *digest, uint64_t length,
                       const char *type)
{
    char hex[DIGEST_TEXT];

    hex_print(hex, digest, SEEN_DIGEST);
    fprintf(to, "hash=\"sha-256:%s\" length=\"%" PRIu64 "\" type=\"%s\"/>\n",
            hex, length, type);
}

/* Another file that belongs to an entry; `path` is freed. */
static void print_link(FILE *to, const struct source *s, char *path,
                       const char *rel, const unsigned char *digest,
                       uint64_t length, const char *type)
{
    char *href = path ? path_url(s->base, path) : NULL;

    if (href) {
        fprintf(to, "    <rs:ln rel=\"%s\" href=\"", rel);
        xml_text(to, href);
        fputs("\" ", to);
        print_file(to, digest, length, type);
    }
    free(href);
    free(path);
}

/* --- the sitemap -------------------------------------------------------- */

static void print_item(FILE *to, const void *whose, size_t i)
{
    const struct source *s = whose;
    const struct item *item = s->item[i];
    char *loc = path_url(s->base, item->path);

    fputs("  <url>\n", to);
    xml_element(to, "    ", "loc", loc);
    print_when(to, "    <lastmod>", item->lastmod, "</lastmod>\n    <rs:md ");
    print_file(to, item->digest, item->length, FILTER_TYPE);
    if (item->text.made)
        print_link(to, s, text_path(item->path), "alternate",
                   item->text.digest, item->text.length, TEXT_TYPE);
    if (loc)
        metadata_print(s->metadata, item, loc, to);
    fputs("  </url>\n", to);
    free(loc);
}

static int64_t item_lastmod(const void *whose, size_t i)
{
    return ((const struct source *)whose)->item[i]->lastmod;
}

/* --- the change list ---------------------------------------------------- */

static void print_change(FILE *to, const void *whose, size_t i)
{
    static const char *const kind[] = { "created", "updated", "deleted" };
    const struct source *s = whose;
    const struct change *c = &s->state->change[i];
    char *loc = path_url(s->base, c->path);

    fputs("  <url>\n", to);
    xml_element(to, "    ", "loc", loc);
    if (c->kind != DELETED)
        print_when(to, "    <lastmod>", c->lastmod, "</lastmod>\n");
    fprintf(to, "    <rs:md change=\"%s\" ", kind[c->kind]);
    print_when(to, "datetime=\"", c->when,
               c->kind == DELETED ? "\"/>\n" : "\" ");
    if (c->kind != DELETED)
        print_file(to, c->digest, c->length, FILTER_TYPE);
    if (c->patched)
        print_link(to, s, delta_path(c->path, c->from, c->digest), PATCH,
                   c->patch, c->patch_length, DELTA_TYPE);
    fputs("  </url>\n", to);
    free(loc);
}

static int64_t change_when(const void *whose, size_t i)
{
    return ((const struct source *)whose)->state->change[i].when;
}

/* --- the lists of lists ------------------------------------------------- */

/* Entry i of these is a list of its own. */
struct shelf {
    const char *base, *path[2], *capability[2];
};

static void print_list(FILE *to, const void *whose, size_t i)
{
    const struct shelf *s = whose;
    char *loc = path_url(s->base, s->path[i]);

    fputs("  <url>\n", to);
    xml_element(to, "    ", "loc", loc);
    fprintf(to, "    <rs:md capability=\"%s\"/>\n  </url>\n",
            s->capability[i]);
    free(loc);
}

/* --- all of them -------------------------------------------------------- */

static enum seen_code write_lists_of_lists(const struct publish_how *how,
                                           const char *base, bool changes,
                                           size_t *written,
                                           struct seen_error *why)
{
    const struct shelf lists = { base,
                                 { "sitemap.xml", "changelist.xml" },
                                 { "resourcelist", "changelist" } };
    const struct shelf source = { base,
                                  { "capabilitylist.xml" },
                                  { "capabilitylist" } };
    struct listing l = { .folder = how->folder,
                         .base = base,
                         .name = "capabilitylist",
                         .up = KNOWN,
                         .about = "capability=\"capabilitylist\"",
                         .entries = 1 + changes,
                         .print = print_list,
                         .whose = &lists };
    unsigned none;
    enum seen_code code = listing_write(&l, &none, written, why);

    l.name = KNOWN;
    l.bare = true;
    l.up = NULL;
    l.about = "capability=\"description\"";
    l.entries = 1;
    l.whose = &source;
    if (code == SEEN_OK)
        code = listing_write(&l, &none, written, why);
    return code;
}

static enum seen_code write_lists(const struct publish_how *how,
                                  const struct source *s, unsigned parts[2],
                                  size_t *written, struct seen_error *why)
{
    const size_t n = s->state->changes;
    struct listing l = { .folder = how->folder,
                         .base = s->base,
                         .up = "capabilitylist.xml",
                         .whose = s,
                         .most_urls = how->most_urls,
                         .most_bytes = how->most_bytes };
    char about[128], at[XML_TIME];
    enum seen_code code = SEEN_OK;

    if (s->state->deltas) {
        l.about = "capability=\"changelist\"";
        l.from = s->state->at;
        l.since = change_when; /* no `until`: it would close the list */
        l.name = "changelist";
        l.entries = n;
        l.print = print_change;
        l.lastmod = change_when;
        code = listing_write(&l, &parts[1], written, why);
    }
    if (code != SEEN_OK)
        return code;
    l.since = NULL;
    l.about = about;
    xml_time(at, s->state->at);
    snprintf(about, sizeof about, "capability=\"resourcelist\" at=\"%s\"", at);
    l.name = "sitemap";
    l.entries = s->items;
    l.print = print_item;
    l.lastmod = item_lastmod;
    code = listing_write(&l, &parts[0], written, why);
    if (code == SEEN_OK)
        code = write_lists_of_lists(how, s->base, s->state->deltas, written,
                                    why);
    return code;
}

enum seen_code lists_write(const struct publish_how *how,
                           const struct state *s, const struct metadata *m,
                           unsigned parts[2], size_t *written,
                           struct seen_error *why)
{
    struct source source = { .base = s->url, .state = s, .metadata = m };
    enum seen_code code;

    parts[0] = parts[1] = 0;
    source.item = calloc(s->items + 1, sizeof *source.item);
    if (!source.item)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    for (size_t i = 0; i < s->items; i++)
        if (!s->item[i].held)
            source.item[source.items++] = &s->item[i];
    code = write_lists(how, &source, parts, written, why);
    free(source.item);
    return code;
}

static void remove_list(const char *folder, const char *name)
{
    char *path = path_format("%s/%s", folder, name);

    if (path && listing_check(path, NULL) == SEEN_OK)
        unlink(path);
    free(path);
}

void lists_sweep(const char *folder, const struct state *s,
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
