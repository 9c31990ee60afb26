/*
 * kinds.c - the list of kinds, and what the text of a kind means.
 *
 * The list starts with the library's own kinds; others register. The table of
 * a kind has its traits. The traits of nested kinds follow from the tables,
 * which is computed here and nowhere else:
 *
 *     routed:4/fuse      can add         if routed and fuse can      no
 *                        can route       if routed can               yes
 *                        is built once   if either is                yes
 */
#include "kinds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blocked.h"

extern const struct seen_kind filter_blocked;
extern const struct seen_kind filter_fuse;
extern const struct seen_kind filter_bloom;
extern const struct seen_kind filter_counting;
extern const struct seen_kind filter_dynamic;
extern const struct seen_kind filter_growing;
extern const struct seen_kind filter_layered;
extern const struct seen_kind filter_ribbon;
extern const struct seen_kind filter_routed;
extern const struct seen_kind filter_shards;
extern const struct seen_kind filter_spatial;

/* In the order of help and completion. */
static const struct seen_kind *kinds[SEEN_KINDS] = {
    &filter_blocked, &filter_bloom,   &filter_counting, &filter_fuse,
    &filter_ribbon,  &filter_shards,  &filter_layered,  &filter_growing,
    &filter_dynamic, &filter_spatial, &filter_routed,
};

enum {
    DEPTH = 4, /* of nested kinds: more is never useful */

    /* Traits of a combinator only if its parts have them, and traits that it
       gets from its parts. All others are its own. */
    ALL_LEVELS = SEEN_CAN_ADD | SEEN_CAN_REMOVE | SEEN_CAN_COUNT |
                 SEEN_CAN_PREFIX | SEEN_CAN_MERGE,
    ANY_LEVEL = SEEN_CAN_GROW | SEEN_ADDS_PARTS | SEEN_READS_TEXT |
                SEEN_NEEDS_ORDER | SEEN_BUILT_ONCE | SEEN_HAS_LAYERS |
                SEEN_IGNORES_ORDER
};

const struct seen_kind *seen_kind_find(const char *text)
{
    size_t len = strcspn(text, ":/");

    for (int i = 0; i < SEEN_KINDS && kinds[i]; i++)
        if (!strncmp(kinds[i]->name, text, len) && !kinds[i]->name[len])
            return kinds[i];
    return NULL;
}

/* Does every trait have its function? */
static bool complete(const struct seen_kind *kind)
{
    unsigned traits = kind->traits_of ? 0 : kind->traits;

    return kind->state >= sizeof(struct seen_filter) && kind->make &&
           kind->has && kind->rate &&
           (!(traits & SEEN_CAN_ADD) || kind->add) &&
           (!(traits & SEEN_CAN_REMOVE) || kind->remove) &&
           (!(traits & SEEN_CAN_COUNT) || kind->count) &&
           (!(traits & SEEN_CAN_PREFIX) || kind->under) &&
           (!(traits & SEEN_CAN_ROUTE) || kind->route) &&
           (!kind->combines || kind->part);
}

enum seen_code seen_kind_register(const struct seen_kind *kind,
                                  struct seen_error *why)
{
    int i = 0;

    if (seen_kind_find(kind->name))
        return seen_fail(why, SEEN_EXISTS, 0,
                         "a kind named %s is known already", kind->name);
    if (!complete(kind))
        return seen_fail(why, SEEN_RANGE, 0,
                         "%s lacks a function for one of its traits",
                         kind->name);
    while (i < SEEN_KINDS && kinds[i])
        i++;
    if (i == SEEN_KINDS)
        return seen_fail(why, SEEN_FULL, 0, "there are %d kinds already", i);
    kinds[i] = kind;
    return SEEN_OK;
}

bool seen_kind_list(unsigned i, struct seen_kind_entry *entry)
{
    if (i >= SEEN_KINDS || !kinds[i])
        return false;
    entry->name = kinds[i]->name;
    entry->synopsis = kinds[i]->synopsis ? kinds[i]->synopsis : entry->name;
    entry->summary = kinds[i]->summary ? kinds[i]->summary : "";
    return true;
}

bool seen_kind_arg(const char *text, unsigned i, char *arg, size_t room)
{
    size_t end = strcspn(text, "/"), at = strcspn(text, ":/");
    size_t len;

    if (at == end)
        return false;
    for (at++; i; i--) {
        at += strcspn(text + at, ",/");
        if (text[at] != ',')
            return false;
        at++;
    }
    len = strcspn(text + at, ",/");
    snprintf(arg, room, "%.*s", (int)len, text + at);
    return true;
}

const char *kind_inner(const char *text)
{
    const char *slash = strchr(text, '/');

    return slash ? slash + 1 : NULL;
}

/* The number of arguments of the outermost kind. */
static unsigned arguments(const char *text)
{
    char arg[4];
    unsigned n = 0;

    while (seen_kind_arg(text, n, arg, sizeof arg))
        n++;
    return n;
}

enum seen_code kind_complete(char text[SEEN_KIND_TEXT], bool request,
                             struct seen_error *why)
{
    for (const char *at = text; at; at = kind_inner(at)) {
        const struct seen_kind *kind = seen_kind_find(at);
        size_t end = (size_t)(at - text) + strcspn(at, "/");
        char more[SEEN_KIND_TEXT];
        int len;

        if (!kind || !kind->implied || arguments(at) != kind->implied_at)
            continue;
        len = snprintf(more, sizeof more, "%.*s%c%s%s", (int)end, text,
                       kind->implied_at ? ',' : ':',
                       request ? kind->implied : kind->implied_before,
                       text + end);
        if (len < 0 || (size_t)len >= sizeof more)
            return seen_fail(why, SEEN_RANGE, 0, "kind is too long");
        memcpy(text, more, sizeof more);
    }
    return SEEN_OK;
}

bool kind_same(const char *a, const char *b)
{
    char x[SEEN_KIND_TEXT], y[SEEN_KIND_TEXT];

    if (!strcmp(a, b)) /* nearly always, for each of thousands of parts */
        return true;
    snprintf(x, sizeof x, "%s", a);
    snprintf(y, sizeof y, "%s", b);
    return kind_complete(x, false, NULL) == SEEN_OK &&
           kind_complete(y, false, NULL) == SEEN_OK && !strcmp(x, y);
}

/* --- what a kind can do --- */

/* The traits of the outermost kind itself. */
static unsigned own_traits(const char *text)
{
    const struct seen_kind *kind = seen_kind_find(text);

    if (!kind)
        return 0;
    return kind->traits_of ? kind->traits_of(text) : kind->traits;
}

unsigned kind_traits(const char *text)
{
    const char *inner = kind_inner(text);
    unsigned own = own_traits(text), inside;

    for (const char *at = text; at; at = kind_inner(at))
        if (!seen_kind_find(at))
            return 0;
    if (!inner)
        return own;
    inside = kind_traits(inner);
    return (own & ~(unsigned)ALL_LEVELS) | (own & inside & ALL_LEVELS) |
           (inside & ANY_LEVEL);
}

bool kind_lacks(unsigned whole, unsigned part)
{
    return whole & ~part & ALL_LEVELS;
}

bool seen_kind_can(const char *kind, unsigned traits)
{
    return (kind_traits(kind) & traits) == traits;
}

bool seen_filter_can(const struct seen_filter *f, unsigned traits)
{
    return (f->traits & traits) == traits;
}

const char *seen_kind_which(const char *kind, enum seen_trait trait)
{
    while (kind && !(own_traits(kind) & trait))
        kind = kind_inner(kind);
    return kind;
}

/* --- which kinds can be nested --- */

/* Why a kind makes no sense inside another, at any depth; or NULL. */
static const char *senseless(const char *outer, const char *inner)
{
    static const struct {
        unsigned outer, inner;
        const char *reason;
    } rules[] = {
        { SEEN_ADDS_PARTS, SEEN_CAN_GROW, "what grows is never full" },
        { SEEN_CAN_GROW, SEEN_ADDS_PARTS, "growing alone keeps the rate" },
        { SEEN_ADDS_PARTS, SEEN_BUILT_ONCE,
          "what is built once cannot be added to" },
    };
    const struct seen_kind *kind = seen_kind_find(outer);

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (own_traits(outer) & rules[i].outer &&
            own_traits(inner) & rules[i].inner)
            return rules[i].reason;
    return kind == seen_kind_find(inner) ? "one with more parts is the same"
                                         : NULL;
}

enum seen_code kind_check(const char *text, struct seen_error *why)
{
    int depth = 0;

    for (const char *at = text; at; at = kind_inner(at)) {
        const struct seen_kind *kind = seen_kind_find(at);

        if (!kind)
            return seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                             "no kind is named %.*s", (int)strcspn(at, ":/"),
                             at);
        if (kind->combines && !kind_inner(at))
            return seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                             "%s is made of filters: say of which, as in "
                             "%s/blocked",
                             kind->name, at);
        if (!kind->combines && kind_inner(at))
            return seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                             "%s is a leaf: nothing can be inside it",
                             kind->name);
        if (++depth > DEPTH)
            return seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                             "kinds are nested more than %d deep", DEPTH);
        for (const char *in = kind_inner(at); in; in = kind_inner(in)) {
            const struct seen_kind *other = seen_kind_find(in);
            const char *reason = other ? senseless(at, in) : NULL;

            if (reason)
                return seen_fail(why, SEEN_RANGE, (uint64_t)(in - text),
                                 "%s inside %s makes no sense: %s",
                                 other->name, kind->name, reason);
        }
    }
    return SEEN_OK;
}

/* --- leaves that are replaced at low rates --- */

static const char *leaf_of(const char *text)
{
    const char *slash = strrchr(text, '/');

    return slash ? slash + 1 : text;
}

void kind_lower(char text[SEEN_KIND_TEXT], double rate)
{
    char *leaf = text + (leaf_of(text) - text);
    const struct seen_kind *kind = seen_kind_find(leaf);

    for (const char *at = text; at; at = kind_inner(at)) {
        const struct seen_kind *outer = seen_kind_find(at);

        if (outer && outer->part_rate)
            rate = outer->part_rate(at, rate);
    }
    if (kind && kind->below && rate < kind->least_rate)
        memcpy(leaf, kind->below, strlen(kind->below) + 1);
}

void seen_kind_for_rate(char kind[SEEN_KIND_TEXT], double rate)
{
    double parts = rate < BLOCKED_LEAST_RATE ? ceil(-log10(rate) / 2 - 1e-9)
                                             : 1;

    if (parts > 1 && parts <= 16)
        snprintf(kind, SEEN_KIND_TEXT, "spatial:%d/blocked", (int)parts);
    else
        strcpy(kind, parts > 1 ? "bloom" : "blocked");
}

bool kind_contains(const char *outer, const char *part)
{
    const char *inside = kind_inner(outer);
    const struct seen_kind *leaf;
    size_t shared;

    if (!inside)
        return false;
    if (kind_same(inside, part))
        return true;
    leaf = seen_kind_find(leaf_of(inside));
    shared = (size_t)(leaf_of(inside) - inside);
    return leaf && leaf->below && !strncmp(inside, part, shared) &&
           !strcmp(part + shared, leaf->below);
}
