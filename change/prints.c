/*
 * prints.c - tables of slots, and the groups that they lead to.
 *
 * A table has numbers in its slots and nothing else: the key of a slot is read
 * from the group or page that it leads to (key_of()), which saves eight bytes
 * per slot. Three tables lead to groups, by the halves of a print and by the
 * whole; one leads to pages, by URL.
 *
 * The file goes from tables to groups (each is in the lists of both its
 * halves), to pages (each is in the list of its group), to the question, which
 * only follows lists. A page that changes leaves its group,
 * and an empty group stays where it is: to take it out of its lists would mean
 * to search them. When half of the groups are empty, all others are listed
 * anew, which costs the same per change however many there are.
 *
 * A walk along groups ends after CHANGE_PRINTS_LIST of them, and each group and
 * slot that is looked at is counted in `cost.steps`: tests compare that number,
 * not seconds.
 */
#include "prints.h"

#include <stdlib.h>
#include <string.h>

#include <seen/key.h>

#include "../lib/text/array.h"
#include "../lib/text/memory.h"
#include "../lib/text/random.h"

enum { LOWER, UPPER, WHOLE, URL, TABLES };
enum {
    HALVES = 2,
    FIRST_BITS = 10,
    EMPTY_LEAST = 1000 /* empty groups before they are removed */
};

/* Numbers of groups and pages: 0 is none, and what is at 0 is not used. */
struct print_group {
    uint64_t print;
    uint32_t host;
    uint32_t page; /* its first page; 0: the group is empty */

    /* In the list of each half: the next group of the same host; and, in the
       first group of a host, the first group of the next host. */
    uint32_t next_group[HALVES];
    uint32_t next_host[HALVES];
    uint32_t next_equal; /* the next group with the same print */
};

struct print_page {
    uint64_t url;
    uint32_t group, before, behind; /* neighbours in the group */
};

struct print_table {
    uint32_t *slot;
    unsigned bits;
    uint64_t used;
};

struct change_prints {
    struct print_table table[TABLES];
    struct print_group *group;
    size_t groups, groups_room, empty;
    struct print_page *page;
    size_t pages, pages_room;
    uint64_t secret; /* so that nobody can choose keys whose slots collide */
    struct change_prints_cost cost;
};

/* --- tables --- */

static uint64_t key_of(const struct change_prints *p, int table, uint32_t at)
{
    switch (table) {
    case LOWER: return (uint32_t)p->group[at].print;
    case UPPER: return p->group[at].print >> 32;
    case WHOLE: return p->group[at].print;
    default: return p->page[at].url;
    }
}

/* Where the key is, or the free slot where it belongs. */
static uint32_t *find_slot(struct change_prints *p, int table, uint64_t key)
{
    const struct print_table *t = &p->table[table];
    uint64_t mask = (UINT64_C(1) << t->bits) - 1;
    uint64_t at = seen_mix(key ^ p->secret) >> (64 - t->bits);

    for (p->cost.steps++; t->slot[at] && key_of(p, table, t->slot[at]) != key;
         p->cost.steps++)
        at = (at + 1) & mask;
    return &t->slot[at];
}

static bool resize(struct change_prints *p, int table, unsigned bits)
{
    struct print_table *t = &p->table[table], old = *t;
    uint64_t slots = old.slot ? UINT64_C(1) << old.bits : 0;

    t->slot = calloc(UINT64_C(1) << bits, sizeof *t->slot);
    if (!t->slot) {
        *t = old;
        return false;
    }
    t->bits = bits;
    for (uint64_t i = 0; i < slots; i++)
        if (old.slot[i])
            *find_slot(p, table, key_of(p, table, old.slot[i])) = old.slot[i];
    free(old.slot);
    return true;
}

/* Room for one more: a quarter of the slots stays free. */
static bool make_room(struct change_prints *p, int table)
{
    const struct print_table *t = &p->table[table];

    return t->used < (UINT64_C(3) << t->bits) / 4 ||
           resize(p, table, t->bits + 1);
}

struct change_prints *change_prints_new(void)
{
    struct change_prints *p = calloc(1, sizeof *p);
    bool good = p;

    if (p)
        random_fill(&p->secret, sizeof p->secret);
    for (int i = 0; good && i < TABLES; i++)
        good = resize(p, i, FIRST_BITS);
    if (good)
        return p;
    change_prints_free(p);
    return NULL;
}

void change_prints_free(struct change_prints *p)
{
    if (!p)
        return;
    for (int i = 0; i < TABLES; i++)
        free(p->table[i].slot);
    free(p->group);
    free(p->page);
    free(p);
}

/* --- groups --- */

static uint32_t find_group(struct change_prints *p, uint64_t print,
                           uint32_t host)
{
    uint32_t at = *find_slot(p, WHOLE, print);

    for (int i = 0; at && i < CHANGE_PRINTS_LIST; i++) {
        p->cost.steps++;
        if (p->group[at].host == host)
            return at;
        at = p->group[at].next_equal;
    }
    return 0;
}

/* List a group after the first one of its host. A host that comes after 128
   others is in no list: it would not be compared. */
static void list_by_host(struct change_prints *p, uint32_t at, int half)
{
    struct print_group *g = &p->group[at];
    uint32_t *to = find_slot(p, half, key_of(p, half, at));

    p->table[half].used += !*to;
    for (int i = 0; i < CHANGE_PRINTS_LIST; i++) {
        p->cost.steps++;
        if (!*to) {
            *to = at;
            return;
        }
        if (p->group[*to].host == g->host) {
            g->next_group[half] = p->group[*to].next_group[half];
            p->group[*to].next_group[half] = at;
            return;
        }
        to = &p->group[*to].next_host[half];
    }
}

/* Into all tables, which have room. */
static void list_group(struct change_prints *p, uint32_t at)
{
    uint32_t *first = find_slot(p, WHOLE, p->group[at].print);

    p->table[WHOLE].used += !*first;
    if (*first) {
        p->group[at].next_equal = p->group[*first].next_equal;
        p->group[*first].next_equal = at;
    } else {
        *first = at;
    }
    list_by_host(p, at, LOWER);
    list_by_host(p, at, UPPER);
}

/* 0 without memory. */
static uint32_t add_group(struct change_prints *p, uint64_t print,
                          uint32_t host)
{
    uint32_t at = (uint32_t)(p->groups ? p->groups : 1);
    struct print_group *more = array_grow(p->group, &p->groups_room, at + 1,
                                          sizeof *more);

    if (!more)
        return 0;
    p->group = more;
    for (int i = LOWER; i <= WHOLE; i++)
        if (!make_room(p, i))
            return 0;
    more[at] = (struct print_group){ .print = print, .host = host };
    p->groups = at + 1;
    p->empty++; /* it has no page yet */
    list_group(p, at);
    return at;
}

/* A page that changes leaves its group. When half of the groups are empty, all
   others are listed anew. */
static void remove_empty(struct change_prints *p)
{
    uint32_t to = 1;

    if (p->empty < EMPTY_LEAST || p->empty < p->groups / 2)
        return;
    for (int i = LOWER; i <= WHOLE; i++) {
        memset(p->table[i].slot, 0,
               sizeof *p->table[i].slot << p->table[i].bits);
        p->table[i].used = 0;
    }
    for (uint32_t from = 1; from < p->groups; from++) {
        const struct print_group g = p->group[from];

        if (!g.page)
            continue;
        p->group[to] = (struct print_group){ .print = g.print,
                                             .host = g.host,
                                             .page = g.page };
        for (uint32_t at = g.page; at; at = p->page[at].behind)
            p->page[at].group = to;
        list_group(p, to++);
    }
    p->groups = to;
    p->empty = 0;
}

/* --- pages --- */

uint64_t change_prints_pages(const struct change_prints *p)
{
    return p->pages ? p->pages - 1 : 0;
}

uint64_t change_prints_find(struct change_prints *p, uint64_t url)
{
    return *find_slot(p, URL, url);
}

uint64_t change_prints_get(const struct change_prints *p, uint64_t number)
{
    return p->group[p->page[number].group].print;
}

static void leave_group(struct change_prints *p, uint32_t number)
{
    struct print_page *page = &p->page[number];
    struct print_group *g = &p->group[page->group];

    if (page->behind)
        p->page[page->behind].before = page->before;
    if (page->before)
        p->page[page->before].behind = page->behind;
    else
        g->page = page->behind;
    p->empty += !g->page;
}

static void join_group(struct change_prints *p, uint32_t number, uint32_t at)
{
    struct print_page *page = &p->page[number];
    struct print_group *g = &p->group[at];

    p->empty -= !g->page;
    page->group = at;
    page->before = 0;
    page->behind = g->page;
    if (g->page)
        p->page[g->page].before = number;
    g->page = number;
}

static enum seen_code add_page(struct change_prints *p, uint64_t url,
                               uint32_t number, struct seen_error *why)
{
    struct print_page *more = array_grow(p->page, &p->pages_room,
                                         (size_t)number + 1, sizeof *more);

    if (!more)
        return no_memory_for(why, "prints of pages");
    p->page = more;
    if (!make_room(p, URL))
        return no_memory_for(why, "prints of pages");
    more[number] = (struct print_page){ .url = url };
    p->pages = (size_t)number + 1;
    p->table[URL].used++;
    *find_slot(p, URL, url) = number;
    return SEEN_OK;
}

enum seen_code change_prints_put(struct change_prints *p, uint64_t url,
                                 uint64_t number, uint32_t host,
                                 uint64_t print, struct seen_error *why)
{
    bool known = number <= change_prints_pages(p);
    uint32_t at = find_group(p, print, host);
    enum seen_code code = SEEN_OK;

    if (number >= UINT32_MAX - 1)
        return seen_fail(why, SEEN_FULL, 0, "more than 2^32 pages");
    if (known && p->page[number].group == at)
        return SEEN_OK;
    if (!at)
        at = add_group(p, print, host);
    if (!at)
        return no_memory_for(why, "prints of pages");
    if (!known)
        code = add_page(p, url, (uint32_t)number, why);
    if (code != SEEN_OK)
        return code;
    if (known)
        leave_group(p, (uint32_t)number);
    join_group(p, (uint32_t)number, at);
    remove_empty(p);
    return SEEN_OK;
}

/* --- questions --- */

struct print_question {
    struct change_prints *prints;
    uint64_t print;
    uint32_t host;
    unsigned nearest;
    uint32_t group; /* the nearest one so far */
    bool cut;
};

static void compare(struct print_question *q, uint32_t at)
{
    const struct print_group *g = &q->prints->group[at];
    unsigned bits = (unsigned)__builtin_popcountll(g->print ^ q->print);

    if (!g->page || bits >= q->nearest)
        return;
    q->nearest = bits;
    q->group = at;
}

static void ask_whole(struct print_question *q)
{
    struct change_prints *p = q->prints;
    uint32_t at = *find_slot(p, WHOLE, q->print);

    for (int i = 0; at && q->nearest && i < CHANGE_PRINTS_LIST; i++) {
        p->cost.steps++;
        if (p->group[at].host != q->host)
            compare(q, at);
        at = p->group[at].next_equal;
    }
    q->cut |= at && q->nearest;
}

static void ask_half(struct print_question *q, int half, uint64_t key)
{
    struct change_prints *p = q->prints;
    uint32_t host = *find_slot(p, half, key);
    int left = CHANGE_PRINTS_LIST;

    for (; host && left; host = p->group[host].next_host[half]) {
        int of_host = CHANGE_PRINTS_HOST;
        uint32_t at = host;

        if (p->group[host].host == q->host) {
            p->cost.steps++;
            left--;
            continue;
        }
        for (; at && left && of_host; left--, of_host--) {
            p->cost.steps++;
            compare(q, at);
            at = p->group[at].next_group[half];
        }
        q->cut |= at != 0;
    }
    q->cut |= !left; /* a longer list would not have more */
}

/* Equal halves have all that is within one bit. What is found at two bits is
   the nearest then, and no other half needs to be tried. */
unsigned change_prints_nearest(struct change_prints *p, uint64_t print,
                               uint32_t host, unsigned most, uint64_t *number)
{
    struct print_question q = {
        .prints = p, .print = print, .host = host, .nearest = most + 1
    };

    ask_whole(&q);
    for (int half = 0; half < HALVES && most && q.nearest; half++)
        ask_half(&q, half, half == LOWER ? (uint32_t)print : print >> 32);
    for (int i = 0; i < 64 && most > 1 && q.nearest > 2; i++) {
        int half = i < 32 ? LOWER : UPPER;
        uint64_t other = print ^ UINT64_C(1) << i;

        ask_half(&q, half, half == LOWER ? (uint32_t)other : other >> 32);
    }
    p->cost.cut += q.cut;
    if (q.nearest <= most)
        *number = p->group[q.group].page;
    return q.nearest;
}

struct change_prints_cost change_prints_cost(const struct change_prints *p)
{
    return p->cost;
}
