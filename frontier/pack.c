/*
 * pack.c - pages to bytes and back.
 *
 * Writer and reader keep the same `struct frontier_pack_last`: what the page
 * before was. A field is written only if it differs from there, so both must
 * change it in the same order. A page that is taken out of a pack changes what
 * the next one is compared with; so a pack is only appended to, or read and
 * written anew.
 *
 * What is read comes from a file that may be damaged. Each number and length is
 * checked against the bytes that are left, and a pack that does not fit is
 * damaged, not shorter.
 */
#include "pack.h"

#include "../lib/text/span.h"

enum { HEAD = 2 }; /* bytes before the first page */

/* The bits of `says`. */
enum {
    INDEX = 1,
    VIA = 2,
    DEPTH = 4,
    FLAGS = 8,
    PATH = 16,
    TYPE = 32,
    ALL = 63
};

/* --- numbers and texts --- */

void frontier_pack_put_number(struct buffer *to, uint64_t x)
{
    unsigned char bytes[10];
    size_t n = 0;

    for (; x > 127; x >>= 7)
        bytes[n++] = (unsigned char)(x | 128);
    bytes[n++] = (unsigned char)x;
    buffer_bytes(to, bytes, n);
}

bool frontier_pack_number(const unsigned char **at, const unsigned char *end,
                          uint64_t *x)
{
    const unsigned char *p = *at;

    *x = 0;
    for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
        *x |= (uint64_t)(*p & 127) << shift;
        if (!(*p++ & 128)) {
            *at = p;
            return true;
        }
    }
    return false;
}

static uint64_t fold(int64_t x)
{
    return (uint64_t)x << 1 ^ (uint64_t)(x >> 63);
}

static int64_t unfold(uint64_t x)
{
    return (int64_t)(x >> 1 ^ -(x & 1));
}

static size_t same_bytes(const struct buffer *last, struct seen_span text)
{
    size_t most = last->len < text.len ? last->len : text.len, n = 0;

    while (n < most && last->bytes[n] == text.text[n])
        n++;
    return n;
}

void frontier_pack_put_text(struct buffer *to, struct buffer *last,
                            struct seen_span text)
{
    size_t same = same_bytes(last, text);

    frontier_pack_put_number(to, same);
    frontier_pack_put_number(to, text.len - same);
    buffer_bytes(to, text.text + same, text.len - same);
    last->len = same;
    buffer_bytes(last, text.text + same, text.len - same);
}

bool frontier_pack_text(const unsigned char **at, const unsigned char *end,
                        struct buffer *last)
{
    uint64_t same, rest;

    if (!frontier_pack_number(at, end, &same) ||
        !frontier_pack_number(at, end, &rest) || same > last->len ||
        rest > (uint64_t)(end - *at))
        return false;
    last->len = same;
    buffer_bytes(last, *at, rest);
    *at += rest;
    return !last->failed;
}

static struct seen_span span_in(const struct buffer *b)
{
    return (struct seen_span){ b->len ? b->bytes : "", b->len };
}

/* A short text as a whole, if it is not the one before. */
static bool is_new(struct buffer *last, struct seen_span text)
{
    if (last->len == text.len &&
        (!text.len || !memcmp(last->bytes, text.text, text.len)))
        return false;
    last->len = 0;
    buffer_span(last, text);
    return true;
}

static void put_short(struct buffer *to, struct seen_span text)
{
    frontier_pack_put_number(to, text.len);
    buffer_span(to, text);
}

static bool read_short(const unsigned char **at, const unsigned char *end,
                       struct buffer *last)
{
    uint64_t n;

    if (!frontier_pack_number(at, end, &n) || n > (uint64_t)(end - *at))
        return false;
    last->len = 0;
    buffer_bytes(last, *at, n);
    *at += n;
    return !last->failed;
}

/* --- what the next page is compared with --- */

/* `index` wraps: the first page has 0 after UINT_MAX. */
static void begin_last(struct frontier_pack_last *last, bool https,
                       struct seen_span host)
{
    last->via = 0;
    last->depth = last->flags = 0;
    last->index = UINT32_MAX;
    last->url.len = last->path.len = last->type.len = 0;
    buffer_text(&last->url, https ? "https://" : "http://");
    buffer_span(&last->url, host);
}

static void clear_last(struct frontier_pack_last *last)
{
    buffer_clear(&last->url);
    buffer_clear(&last->path);
    buffer_clear(&last->type);
}

/* --- packs --- */

bool frontier_pack_begin(struct frontier_pack *pack, struct seen_span host,
                         unsigned next)
{
    const char head[HEAD] = { 0, (char)next };

    pack->bytes.len = 0;
    pack->n = pack->flags = 0;
    buffer_bytes(&pack->bytes, head, sizeof head);
    begin_last(&pack->last, false, host);
    return !pack->bytes.failed && !pack->last.url.failed;
}

/* The first page decides which scheme comes before it. */
static void choose_scheme(struct frontier_pack *pack, struct seen_span url)
{
    struct buffer *before = &pack->last.url;

    if (pack->n || !span_begins(url, "https://"))
        return;
    buffer_byte(before, 0); /* room for one byte more */
    if (before->failed)
        return;
    memmove(before->bytes + 5, before->bytes + 4, before->len - 5);
    before->bytes[4] = 's';
    *pack->bytes.bytes = 1;
}

bool frontier_pack_add(struct frontier_pack *pack, unsigned index,
                       const struct frontier_page *page)
{
    struct frontier_pack_last *last = &pack->last;
    struct buffer *to = &pack->bytes;
    unsigned says = 0;
    size_t at;

    choose_scheme(pack, page->url);
    at = to->len;
    buffer_byte(to, 0);
    if (index != last->index + 1) {
        says |= INDEX;
        frontier_pack_put_number(to, index);
    }
    if (page->via != last->via) {
        says |= VIA;
        frontier_pack_put_number(
            to, fold((int64_t)((uint64_t)page->via - (uint64_t)last->via)));
    }
    if (page->depth != last->depth) {
        says |= DEPTH;
        frontier_pack_put_number(to, page->depth);
    }
    if (page->flags != last->flags) {
        says |= FLAGS;
        frontier_pack_put_number(to, page->flags);
    }
    if (is_new(&last->path, page->path)) {
        says |= PATH;
        put_short(to, page->path);
    }
    if (is_new(&last->type, page->type)) {
        says |= TYPE;
        put_short(to, page->type);
    }
    frontier_pack_put_text(to, &last->url, page->url);
    if (to->failed || last->url.failed || last->path.failed ||
        last->type.failed)
        return false;
    to->bytes[at] = (char)says;
    if (index >= frontier_pack_next_index(pack))
        to->bytes[1] = (char)(index + 1);
    last->index = index;
    last->via = page->via;
    last->depth = page->depth;
    last->flags = page->flags;
    pack->flags |= page->flags;
    pack->n++;
    return true;
}

unsigned frontier_pack_next_index(const struct frontier_pack *pack)
{
    return (unsigned char)pack->bytes.bytes[1];
}

bool frontier_pack_has_room(const struct frontier_pack *pack,
                            const struct frontier_page *page)
{
    enum { NUMBERS = 24 }; /* mostly enough for those of a page */
    size_t rest = page->url.len - same_bytes(&pack->last.url, page->url);

    return frontier_pack_next_index(pack) < FRONTIER_PACK_PAGES &&
           (!pack->n ||
            pack->bytes.len + rest + NUMBERS <= FRONTIER_PACK_BYTES);
}

void frontier_pack_clear(struct frontier_pack *pack)
{
    buffer_clear(&pack->bytes);
    clear_last(&pack->last);
    pack->n = pack->flags = 0;
}

/* --- readers --- */

void frontier_pack_read(struct frontier_pack_reader *r, struct seen_span bytes,
                        struct seen_span host)
{
    r->at = (const unsigned char *)bytes.text;
    r->end = r->at + bytes.len;
    r->no_memory = false;
    r->n = 0;
    r->damaged = bytes.len < HEAD || r->at[0] > 1 ||
                 r->at[1] > FRONTIER_PACK_PAGES;
    if (r->damaged)
        return;
    begin_last(&r->last, r->at[0], host);
    r->next = r->at[1];
    r->at += HEAD;
}

/* The numbers and short texts that are not as expected. */
static bool read_fields(struct frontier_pack_reader *r, unsigned says)
{
    struct frontier_pack_last *last = &r->last;
    uint64_t x;

    last->index++;
    if (says & INDEX) {
        /* It wraps to 0 before the first page. */
        if (!frontier_pack_number(&r->at, r->end, &x) || x < last->index ||
            x >= FRONTIER_PACK_PAGES)
            return false;
        last->index = (unsigned)x;
    }
    if (says & VIA) {
        if (!frontier_pack_number(&r->at, r->end, &x))
            return false;
        last->via = (int64_t)((uint64_t)last->via + (uint64_t)unfold(x));
    }
    if (says & DEPTH) {
        if (!frontier_pack_number(&r->at, r->end, &x))
            return false;
        last->depth = (unsigned)x;
    }
    if (says & FLAGS) {
        if (!frontier_pack_number(&r->at, r->end, &x))
            return false;
        last->flags = (unsigned)x;
    }
    return (!(says & PATH) || read_short(&r->at, r->end, &last->path)) &&
           (!(says & TYPE) || read_short(&r->at, r->end, &last->type));
}

bool frontier_pack_next(struct frontier_pack_reader *r)
{
    struct frontier_pack_last *last = &r->last;
    unsigned says;

    if (r->damaged || r->no_memory || r->at == r->end)
        return false;
    says = *r->at++;
    if (says > ALL || !read_fields(r, says) ||
        last->index >= r->next || /* no page has an index that is still free */
        !frontier_pack_text(&r->at, r->end, &last->url)) {
        r->no_memory = last->url.failed || last->path.failed ||
                       last->type.failed;
        r->damaged = !r->no_memory;
        return false;
    }
    r->n++;
    r->index = last->index;
    r->page = (struct frontier_page){
        .via = last->via,
        .depth = last->depth,
        .flags = last->flags,
        .url = span_in(&last->url),
        .path = span_in(&last->path),
        .type = span_in(&last->type),
    };
    return true;
}

void frontier_pack_reader_clear(struct frontier_pack_reader *r)
{
    clear_last(&r->last);
}
