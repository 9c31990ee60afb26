/*
 * fast_loops.h - the fast path, 64 bytes at a time, for one width of SIMD.
 *
 * A loop over bytes ends where a segment or the host ends, which branch
 * predictors cannot foresee. So bytes are read without a branch per finding:
 * every bit of a mask stands for one byte.
 *
 *     p  / a / . . / b ? c = d
 *        1 0 1 0 0 1 0 0 0 0 0    slashes
 *        0 1 0 1 0 0 1 0 0 0 0    slashes, one on: here begins a segment
 *        0 0 0 1 1 0 0 0 0 0 0    dots: together with those, not ordinary
 *
 * fast_x86.c includes this once per width. It defines
 *
 *     WIDTH(name)      a name of this width's own
 *     TARGET           the attribute that allows its instructions
 *     VEC, LOAD, STORE a register of bytes, from and to memory
 *     ALL(c), SAME, ABOVE, PLUS, AND, OR   what one does with them; ABOVE
 *                      takes bytes as signed
 *     MASK(x)          the top bits of all bytes
 *     SURT_ODD(x)      is a byte one of DEL % # (
 *     WHATWG_ODD(x)    is a byte one of " # < > \ ^ { } DEL ' and `
 *
 * Loads are never past the end of a URL: a URL of less than SHORT bytes is
 * copied, and what is left of a longer one is read with bytes before it, whose
 * bits are shifted out.
 */
#define INLINE \
    TARGET \
    static inline __attribute__((always_inline))

/* Bytes from `first` to `last`, as bytes whose top bit is set. */
INLINE VEC WIDTH(within)(VEC x, char first, char last)
{
    return ABOVE(PLUS(x, ALL(127 - last)), ALL(126 - (last - first)));
}

/* Bytes of 64 that no name of a host has, and its dots and dashes. */
INLINE struct host_bits WIDTH(host_bits)(const char *p)
{
    struct host_bits h = { 0, 0, 0 };

    for (unsigned i = 0; i < 64; i += sizeof(VEC)) {
        VEC x = LOAD(p + i);
        VEC dot = SAME(x, ALL('.')), dash = SAME(x, ALL('-'));
        VEC name = OR(WIDTH(within)(x, 'a', 'z'), WIDTH(within)(x, '0', '9'));

        name = OR(OR(name, SAME(x, ALL('_'))), OR(dot, dash));
        h.name |= (uint64_t)MASK(name) << i;
        h.dot |= (uint64_t)MASK(dot) << i;
        h.dash |= (uint64_t)MASK(dash) << i;
    }
    return h;
}

/* Copy 64 bytes in lower case. */
INLINE struct surt_bits WIDTH(surt_bits)(char *to, const char *p)
{
    struct surt_bits b = { 0, 0, 0, 0 };

    for (unsigned i = 0; i < 64; i += sizeof(VEC)) {
        VEC x = LOAD(p + i);
        VEC upper = AND(WIDTH(within)(x, 'A', 'Z'), ALL(32));
        VEC odd = OR(SURT_ODD(x), ABOVE(ALL(0x21), x));

        STORE(to + i, OR(x, upper));
        b.odd |= (uint64_t)MASK(odd) << i;
        b.slash |= (uint64_t)MASK(SAME(x, ALL('/'))) << i;
        b.dots |= (uint64_t)MASK(SAME(OR(x, ALL(1)), ALL('/'))) << i;
        b.mark |= (uint64_t)MASK(SAME(x, ALL('?'))) << i;
    }
    return b;
}

INLINE struct whatwg_bits WIDTH(whatwg_bits)(const char *p)
{
    struct whatwg_bits b = { 0, 0, 0 };

    for (unsigned i = 0; i < 64; i += sizeof(VEC)) {
        VEC x = LOAD(p + i);
        VEC dots = OR(SAME(x, ALL('.')), SAME(x, ALL('%')));
        VEC odd = OR(WHATWG_ODD(x), ABOVE(ALL(0x21), x));

        b.odd |= (uint64_t)MASK(odd) << i;
        b.slash |= (uint64_t)MASK(SAME(x, ALL('/'))) << i;
        b.dots |= (uint64_t)MASK(dots) << i;
    }
    return b;
}

TARGET
static void WIDTH(marks)(struct surt_marks *m, const char *query, size_t len)
{
    size_t at = 0;

    for (unsigned w = 0; w < SURT_QUERY / 64; w++)
        m->amp[w] = m->equal[w] = 0;
    for (; at < len; at += 64) {
        uint64_t amp = 0, equal = 0;

        for (unsigned i = 0; i < 64; i += sizeof(VEC)) {
            VEC x = LOAD(query + at + i);

            amp |= (uint64_t)MASK(SAME(x, ALL('&'))) << i;
            equal |= (uint64_t)MASK(SAME(x, ALL('='))) << i;
        }
        m->amp[at / 64] = amp;
        m->equal[at / 64] = equal;
    }
    if (len % 64) {
        m->amp[len / 64] &= lowest(len % 64);
        m->equal[len / 64] &= lowest(len % 64);
    }
}

/* As past_host() of fast.c has it; 64 bytes at p can be read. 0: the host is
   not ordinary. */
INLINE size_t WIDTH(past_host)(const char *p, const char *end, uint64_t *dots)
{
    struct host_bits h = WIDTH(host_bits)(p);
    size_t len = (size_t)__builtin_ctzll(~h.name | UINT64_C(1) << FAST_HOST);
    uint64_t odd;

    if ((size_t)(end - p) < len)
        len = (size_t)(end - p);
    h.dot &= lowest(len);
    h.dash &= lowest(len);
    odd = (h.dot & (h.dot << 1 | 1)) | (h.dash & h.dash << 1);
    *dots = h.dot;
    return !len || odd || p[len - 1] == '.' ||
                   ascii_digit(p[h.dot ? highest(h.dot) + 1 : 0])
               ? 0
               : len;
}

TARGET
static size_t WIDTH(whatwg)(const char *url, size_t len)
{
    const char *p = fast_past_scheme(url, len), *end = url + len, *from = url;
    char copy[ROOM_OF_COPY];
    uint64_t dots, slash = 0;
    size_t skip, n, host;

    if (!p || len > SEEN_KEY_TEXT)
        return 0;
    skip = (size_t)(p - url);
    if (len < SHORT)
        from = copy_short(copy, url, len);
    host = WIDTH(past_host)(from + skip, from + len, &dots);
    if (!host || (skip + host < len && p[host] != '/'))
        return 0;
    if (skip + host == len)
        return len + 1;
    p += host;
    n = (size_t)(end - p);
    from += skip + host;
    for (size_t at = 0; at < n; at += 64) {
        size_t before = n - at < 64 ? 64 - (n - at) : 0;
        struct whatwg_bits b = WIDTH(whatwg_bits)(from + at - before);
        uint64_t begin, found;

        b.odd >>= before;
        b.slash >>= before;
        b.dots >>= before;
        begin = b.slash << 1 | slash;
        slash = b.slash >> 63;
        found = b.odd | (begin & b.dots);
        if (found && !whatwg_escapes(p + at, end, b.odd, begin & b.dots))
            return fast_whatwg_rest(url, p, end);
    }
    return len;
}

INLINE size_t WIDTH(put_host)(char *to, const char *p, size_t len,
                              uint64_t dots)
{
    const char *start = to;
    size_t first = without_www(p, dots), at;

    dots &= ~lowest(first);
    for (; dots; dots -= UINT64_C(1) << at) {
        at = highest(dots);
        put_label(to, p + at + 1, len - at - 1);
        to += len - at;
        to[-1] = ',';
        len = at;
    }
    put_label(to, p + first, len - first);
    to += len - first + 1;
    to[-1] = ')';
    return (size_t)(to - start);
}

TARGET
static size_t WIDTH(surt)(char *text, const char *url, size_t len)
{
    const char *p = fast_past_scheme(url, len), *end = url + len, *rest;
    char copy[ROOM_OF_COPY], *path;
    uint64_t dots, slash = 0, odd = 0, wrong = 0;
    size_t n, host, query = 0;

    if (!p || len > SEEN_KEY_TEXT)
        return 0;
    if (len < SHORT) {
        const char *same = copy_short(copy, url, len);

        p = same + (p - url);
        end = same + len;
    }
    host = WIDTH(past_host)(p, end, &dots);
    if (host < 4 || (p + host < end && p[host] != '/'))
        return 0;
    rest = p + host;
    n = (size_t)(end - rest);
    host = WIDTH(put_host)(text, p, host, dots);
    path = text + host;
    *path = '/';
    if (!n)
        return host + 1;
    if (n < 64 && len >= SHORT) {
        rest = copy_short(copy, rest, n);
        end = rest + n;
    }
    for (size_t at = 0; at < n; at += 64) {
        size_t before = n - at < 64 && n >= 64 ? 64 - (n - at) : 0;
        struct surt_bits b = WIDTH(surt_bits)(path + at - before,
                                              rest + at - before);
        uint64_t keep = n < 64 ? lowest(n) : ~UINT64_C(0), begin;

        b.odd = (b.odd & keep) >> before;
        b.slash = (b.slash & keep) >> before;
        b.dots = (b.dots & keep) >> before;
        b.mark = (b.mark & keep) >> before;
        begin = b.slash << 1 | slash;
        slash = b.slash >> 63;
        odd |= b.odd;
        if (query)
            continue;
        if (b.mark) {
            query = at + (size_t)__builtin_ctzll(b.mark) + 1;
            begin &= b.mark ^ (b.mark - 1);
        }
        wrong |= begin & b.dots;
    }
    if (odd)
        n = fast_surt_rest(path, &query, rest, end);
    else if (wrong)
        return 0;
    return n ? fast_finish(text, host, n, query, WIDTH(marks)) : 0;
}

#undef INLINE
#undef WIDTH
#undef TARGET
#undef VEC
#undef LOAD
#undef STORE
#undef ALL
#undef SAME
#undef ABOVE
#undef PLUS
#undef AND
#undef OR
#undef MASK
#undef SURT_ODD
#undef WHATWG_ODD
