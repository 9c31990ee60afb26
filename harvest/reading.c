/*
 * reading.c - read one list: find out what it is, and follow what it names.
 *
 * The first bytes tell: "<" begins XML, the mark of a filter a filter, and
 * anything else is a list of lines, unless the server says that it is a page
 * for people. None of it is held; it goes through a parser as it comes.
 */
#include <stdlib.h>
#include <string.h>

#include "lead.h"
#include "registry.h"

enum form { UNKNOWN, XML, LINES, FILTER };
enum { FIRST = 8 }; /* bytes that are enough to tell */

struct reading {
    struct reading *next, **before;
    struct discover *d;
    struct lead *lead;
    struct source *source;
    enum form form;
    struct sitemap *map;
    struct registry *lines;
    bool typed_page, enough;
    bool ours;        /* the fault is not the net's */
    const char *late; /* why it was given up, or NULL */
    uint64_t length, entries;
    double began;
    struct pace pace;
    char list[ADDRESS_MOST + 1]; /* where it is, after redirects */
    size_t n;
    unsigned char first[64 + FIRST];
};

/* --- what lists name --- */

/* Something is wrong with one entry: the list goes on. */
static void entry_fault(struct reading *r, const struct seen_error *why)
{
    if (r->lead->kind == LEAD_CHANGES)
        return;
    r->lead->source->faults++;
    work_unread(r->d->work, r->lead->url, why);
}

static bool is_filter(const struct sitemap_entry *e)
{
    return !strcmp(e->type, "application/vnd.seen") ||
           address_ends(e->url, ".seen");
}

static enum seen_code take_filter(struct reading *r,
                                  const struct sitemap_entry *e,
                                  struct seen_error *why)
{
    struct lead *l = r->lead;

    if (!is_filter(e) || !strcmp(e->change, "deleted"))
        return SEEN_OK;
    if (l->site)
        l->site->found++;
    return items_add(&r->d->work->items, l->source, r->list, e->url,
                     e->lastmod, &e->hash, e->length, why);
}

/* A list that another list names. */
static enum seen_code follow(struct reading *r, const char *url, bool index,
                             struct seen_error *why)
{
    struct lead how = *r->lead;

    how.kind = how.kind == LEAD_CHANGES ? LEAD_CHANGES : LEAD_SITEMAP;
    how.depth++;
    how.from_index = index;
    how.probe = false;
    how.tries = 0;
    return lead_follow(r->d, &how, url, why);
}

static enum seen_code take_entry(void *owner, const struct sitemap_entry *e,
                                 struct seen_error *why)
{
    struct reading *r = owner;
    bool changes = r->lead->kind == LEAD_CHANGES;

    r->entries++;
    if (e->fault) {
        /* Of the thousand pages of a sitemap, one may have a bad address;
           but nobody can tell whether it was to be a filter. */
        entry_fault(r, e->fault);
        return SEEN_OK;
    }
    if (e->index) {
        if (r->lead->from_index)
            return seen_fail(why, SEEN_RANGE, 0,
                             "is a sitemap index inside an index");
        if (e->document == CAPABILITY_CHANGES && !changes) {
            lead_put_off(r->d, r->lead, e->url);
            return SEEN_OK;
        }
        return e->document == CAPABILITY_OTHER ? SEEN_OK
                                               : follow(r, e->url, true, why);
    }
    switch (e->document) {
    case CAPABILITY_DESCRIPTION:
        return e->of == CAPABILITY_LIST ? follow(r, e->url, false, why)
                                        : SEEN_OK;
    case CAPABILITY_LIST:
        if (e->of == CAPABILITY_CHANGES && !changes) {
            lead_put_off(r->d, r->lead, e->url);
            return SEEN_OK;
        }
        return e->of == (changes ? CAPABILITY_CHANGES : CAPABILITY_RESOURCES)
                   ? follow(r, e->url, false, why)
                   : SEEN_OK;
    case CAPABILITY_CHANGES:
        return changes ? items_change(&r->d->work->items, e, why) : SEEN_OK;
    case CAPABILITY_NONE:
    case CAPABILITY_RESOURCES:
        return changes ? SEEN_OK : take_filter(r, e, why);
    case CAPABILITY_OTHER: break;
    }
    return SEEN_OK;
}

static enum seen_code take_line(void *owner, const char *url, uint64_t line,
                                const struct seen_error *fault,
                                struct seen_error *why)
{
    struct reading *r = owner;
    struct seen_error told;

    if (!url) {
        seen_fail(&told, SEEN_CORRUPT, line, "line %llu: %s",
                  (unsigned long long)line, fault->text);
        entry_fault(r, &told);
        return SEEN_OK;
    }
    if (r->lines->robots)
        return follow(r, url, false, why);
    r->lead->source->registry = true;
    return lead_any(r->d, url, r->lead->source->root, r->lead, why);
}

/* --- what is it? --- */

static size_t skip(const unsigned char *at, size_t n)
{
    size_t i = n >= 3 && !memcmp(at, "\xef\xbb\xbf", 3) ? 3 : 0;

    while (i < n && memchr(" \t\r\n", at[i], 4))
        i++;
    return i;
}

static enum seen_code not_a_list(struct reading *r, struct seen_error *why)
{
    return seen_fail(why, SEEN_UNABLE, 0,
                     r->lead->kind == LEAD_ANY
                         ? "is neither a sitemap nor a filter nor a list"
                         : "is no sitemap");
}

/* Called with the first bytes, once there are enough or no more. */
static enum seen_code find_form(struct reading *r, struct seen_error *why)
{
    size_t at = skip(r->first, r->n);
    enum lead_kind kind = r->lead->kind;

    if (at < r->n && r->first[at] == '<' && kind != LEAD_ROBOTS) {
        r->form = XML;
        return sitemap_new(&r->map, take_entry, r, why);
    }
    if (kind == LEAD_ANY && r->n >= FIRST &&
        !memcmp(r->first, "\x89seen\r\n\x1a", FIRST)) {
        r->form = FILTER;
        return seen_fail(why, SEEN_UNABLE, 0, "is a filter");
    }
    if (r->typed_page || kind == LEAD_SITEMAP || kind == LEAD_CHANGES)
        return not_a_list(r, why);
    r->form = LINES;
    r->lines = calloc(1, sizeof *r->lines);
    if (!r->lines)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    r->lines->robots = kind == LEAD_ROBOTS ||
                       address_ends(r->lead->url, "/robots.txt");
    r->lines->take = take_line;
    r->lines->owner = r;
    return SEEN_OK;
}

static enum seen_code parse(struct reading *r, const void *bytes, size_t n,
                            struct seen_error *why)
{
    enum seen_code code;

    if (r->form == XML)
        return sitemap_push(r->map, bytes, n, why);
    code = registry_push(r->lines, bytes, n, &r->enough, why);
    if (code == SEEN_OK && r->enough)
        return seen_fail(why, SEEN_UNABLE, 0, "is longer than it should be");
    return code;
}

static enum seen_code find_and_parse(struct reading *r, struct seen_error *why)
{
    enum seen_code code = find_form(r, why);

    return code == SEEN_OK ? parse(r, r->first, r->n, why) : code;
}

/* --- from the client --- */

static enum seen_code begin(void *owner, const struct fetch_response *head,
                            struct seen_error *why)
{
    struct reading *r = owner;

    (void)why;
    r->typed_page = strstr(head->type, "html") != NULL;
    r->length = head->length;
    r->pace.since = work_clock();
    if (address_read(r->list, head->url, strlen(head->url), NULL) != SEEN_OK)
        strcpy(r->list, r->lead->url);
    return SEEN_OK;
}

/* Bytes of this list, of its party's, and of all. */
static enum seen_code count(struct reading *r, size_t n,
                            struct seen_error *why)
{
    r->pace.bytes += n;
    r->d->bytes += n;
    r->source->party->bytes += n;
    if (r->d->bytes > DISCOVER_ALL)
        return seen_fail(why, SEEN_RANGE, 0,
                         "all lists together have more than %d MB",
                         DISCOVER_ALL >> 20);
    if (r->source->party->bytes > DISCOVER_MUCH)
        return seen_fail(why, SEEN_RANGE, 0,
                         "the lists of this source have more than %d MB",
                         DISCOVER_MUCH >> 20);
    return SEEN_OK;
}

static enum seen_code some(void *owner, const void *bytes, size_t n,
                           struct seen_error *why)
{
    struct reading *r = owner;
    const unsigned char *at = bytes;
    enum seen_code code = count(r, n, why);

    /* White space before the first byte that tells may be long. */
    while (n && r->form == UNKNOWN && code == SEEN_OK) {
        r->first[r->n++] = *at++;
        n--;
        if (r->n == sizeof r->first || r->n >= skip(r->first, r->n) + FIRST)
            code = find_and_parse(r, why);
    }
    if (code == SEEN_OK && n)
        code = parse(r, at, n, why);
    r->ours = code != SEEN_OK;
    return code;
}

/* A folder that was named without its last slash: the server has nothing of
   that name, though it may have what is in it. */
static bool without_slash(const struct reading *r, int status,
                          char url[ADDRESS_MOST + 1])
{
    size_t n = strlen(url);

    if ((status != 403 && status != 404) || strchr(url, '?') ||
        strchr(strrchr(address_path(url), '/'), '.') || n == ADDRESS_MOST)
        return false;
    if (r->lead->kind != LEAD_ANY || url[n - 1] == '/')
        return false;
    strcpy(url + n, "/");
    return true;
}

/* A page where a list was asked for: it may be the site of one. */
static bool becomes_site(struct reading *r, const struct fetch_response *head)
{
    char url[ADDRESS_MOST + 1];
    const char *at = *head->url ? head->url : r->lead->url;
    struct lead *l = r->lead;
    struct site *s;

    if (l->kind != LEAD_ANY || r->form == LINES || r->form == FILTER ||
        address_read(url, at, strlen(at), NULL) != SEEN_OK)
        return false;
    if (!without_slash(r, head->status, url) && !r->typed_page &&
        !(r->map && sitemap_is_page(r->map)))
        return false;
    s = site_new(r->d, l, url);
    if (!s)
        return false;
    lead_done(r->d, l);
    site_advance(r->d, s);
    return true;
}

static enum seen_code conclude(struct reading *r, enum seen_code code,
                               const struct fetch_response *head,
                               struct seen_error *why)
{
    static const struct hash none;
    struct lead *l = r->lead;

    if (code == SEEN_OK && head->status != 200)
        return work_status(head->status, why);
    if (code == SEEN_OK && r->form == UNKNOWN && head->status == 200)
        code = r->n ? find_and_parse(r, why) : not_a_list(r, why);
    if (r->form == FILTER)
        return items_add(
            &r->d->work->items, l->source, l->url, l->url, "", &none,
            r->length == FETCH_UNKNOWN ? UINT64_MAX : r->length, why);
    if (r->enough)
        code = SEEN_OK; /* of a long robots.txt, the beginning counts */
    if (code == SEEN_OK && r->form == XML)
        code = sitemap_end(r->map, why);
    else if (code == SEEN_OK && r->form == LINES)
        code = registry_end(r->lines, why);
    return code;
}

static void reading_free(struct reading *r)
{
    *r->before = r->next;
    if (r->next)
        r->next->before = r->before;
    r->d->active--;
    r->source->party->active--;
    sitemap_free(r->map);
    free(r->lines);
    free(r);
}

/* May it be better in a while? Then also if it was cut. */
static bool passing(const struct reading *r, enum seen_code code)
{
    return !r->late && !r->ours && (code == SEEN_IO || code == SEEN_CORRUPT);
}

/* What the end says about the host, and how long it took. */
static void note(struct reading *r, enum seen_code code,
                 const struct fetch_response *head, bool again)
{
    struct work *w = r->d->work;
    struct site *s = r->lead->site;
    double took = work_clock() - r->began;
    bool here = address_same_host(*head->url ? head->url : r->lead->url,
                                  r->lead->url);

    r->source->party->reading += took;
    if (code == SEEN_OK)
        work_worked(w, r->source, r->lead->url);
    else if (r->late || (passing(r, code) && !again))
        work_failed(w, r->source, r->lead->url, took,
                    here && !head->status && code == SEEN_IO);
    /* Its host cannot be reached at all: why ask it for something else? */
    if (s && r->lead->probe && code != SEEN_OK && !again && here &&
        !head->status)
        s->step = SITE_STEPS;
}

/* Read to its end. */
static void done(struct reading *r)
{
    struct discover *d = r->d;
    struct lead *l = r->lead;
    bool changes = l->kind == LEAD_CHANGES;

    d->work->sum->lists++;
    if (r->map && !changes &&
        sitemap_capability(r->map) == CAPABILITY_RESOURCES) {
        if (sitemap_up(r->map)[0])
            lead_put_off(d, l, sitemap_up(r->map));
        if (l->site)
            l->site->answered = true;
    }
    if (l->site && r->map && !r->entries && !sitemap_is_index(r->map) &&
        sitemap_capability(r->map) == CAPABILITY_NONE)
        l->site->answered = true;
    lead_done(d, l);
}

static void end(void *owner, enum seen_code code,
                const struct fetch_response *head,
                const struct seen_error *told)
{
    struct reading *r = owner;
    struct discover *d = r->d;
    struct seen_error why = { .code = SEEN_OK };
    double wake = 0;
    bool again;

    if (code != SEEN_OK)
        why = *told;
    if (r->late)
        code = seen_fail(&why, SEEN_CORRUPT, 0, "%s", r->late);
    if (work_stopped(d->work)) {
        free(r->lead); /* neither read nor at fault */
        reading_free(r);
        return;
    }
    if (code == SEEN_OK) {
        code = conclude(r, code, head, &why);
        r->ours = code == SEEN_CORRUPT;
    } else if (r->form == FILTER || r->enough) {
        code = conclude(r, code, head, &why);
    }
    if (passing(r, code) && r->lead->tries + 1 < LEAD_TRIES &&
        work_clock() < d->until)
        wake = work_again(d->work, r->lead->tries + 1, head->after);
    again = wake > 0;
    note(r, code, head, again);
    if (again)
        lead_again(d, r->lead, wake);
    else if (code == SEEN_OK)
        done(r);
    else if (!becomes_site(r, head))
        lead_failed(d, r->lead, &why);
    reading_free(r);
}

enum seen_code reading_start(struct discover *d, struct lead *l,
                             struct seen_error *why)
{
    static const struct fetch_handler taker = { begin, some, end };
    struct reading *r = calloc(1, sizeof *r);
    struct fetch_request request = { .url = l->url,
                                     .most = DISCOVER_LIST,
                                     .unpack = true,
                                     .handler = &taker,
                                     .owner = r };
    enum seen_code code;

    if (!r)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    r->d = d;
    r->lead = l;
    r->next = d->reading;
    r->before = &d->reading;
    if (r->next)
        r->next->before = &r->next;
    d->reading = r;
    d->active++;
    r->source = l->source;
    r->source->party->active++;
    r->began = work_clock();
    code = fetch_start(d->work->web, &request, why);
    if (code != SEEN_OK)
        reading_free(r);
    return code;
}

/* Why a list is given up, or NULL. */
static const char *too_late(struct reading *r)
{
    const struct discover *d = r->d;
    double now = work_clock();

    if (now > d->until)
        return "is left for the next time: all lists together took too long";
    if (now > r->began + (double)LIST_TIME * d->work->how->patience)
        return "takes too long for a list";
    return pace_slow(&r->pace, d->work) ? "comes too slowly" : NULL;
}

void reading_hurry(struct discover *d)
{
    for (struct reading *r = d->reading, *next; r; r = next) {
        next = r->next;
        r->late = too_late(r);
        if (!r->late)
            continue;
        fetch_cancel(d->work->web, r); /* ends it */
        next = d->reading;             /* which may have changed all */
    }
}
