/*
 * scan.c - lines and keys, looked at once.
 *
 * Lines are found 64 bytes at a time, many of them in one loop:
 *
 *     text     ...,example)/ 2020... -\ncom,example)/b 2021...
 *     ends     00000000000000000000000010000000000000000000000
 *     marks    00000000000001000000001000000000000000100000000
 *
 * On a Zen 3 this takes 9 ns per line of CDX of 217 bytes. A loop of its own
 * for each line took 16. Without a branch for "a line ends here", where the
 * place is written in any case, it took 13. Loads are aligned, from the second
 * one on: of loads that are not, every second one crosses a cache line.
 *
 * Then the lines are taken, many in one loop: a line with the key of the line
 * before only counts, and of the others the key is noted. One call per line
 * took 10 ns more per line, where three lines have one key.
 *
 * What is a SURT of our form, as surtkey.c of lib/url has it? A host of
 * letters, digits, "-", "." and "," that does not end with a comma, then
 * ")/", and no slash at the end of a path that has more than that one:
 *
 *     com,example)/a/b?c=d/         yes
 *     com,example,)/a/b             no: a comma
 *     com,example)/a/b/?c=d         no: a slash
 *     com,example:8080)/            not told here: a port is rare
 *
 * "No" only means that the long way must be gone.
 */
#include "proof.h"

#if defined(__x86_64__) && !defined(SEEN_PORTABLE)
#include <immintrin.h>
#define X86 1
#else
#define X86 0
#endif

/* A stretch was looked at, up to `at`, and lines were written up to `out`.
   What follows the last newline of the text is a line, too. */
static inline void end_stretch(struct cdx_lines *l, struct cdx_line_end *out,
                               size_t at, uint32_t cuts, const char *text,
                               size_t end)
{
    if (at == end && l->at < end && text[end - 1] != '\n')
        *out++ = (struct cdx_line_end){ (uint32_t)end, cuts };
    l->at = at;
    l->cuts = cuts;
    l->next = 0;
    l->n = (unsigned)(out - l->end);
}

static void lines_portable(struct cdx_lines *l, const char *text, size_t end,
                           char delimiter)
{
    struct cdx_line_end *out = l->end;
    uint32_t cuts = l->cuts;
    size_t at = l->at;

    for (; at < end && out < l->end + CDX_LINES; at++) {
        if (text[at] == '\n')
            *out++ = (struct cdx_line_end){ (uint32_t)at, cuts };
        else
            cuts += text[at] == delimiter;
    }
    end_stretch(l, out, at, cuts, text, end);
}

/* What is left to do once ")" and "?" are found, and the host is plain. */
static inline bool in_form(const char *text, size_t len, size_t close,
                           size_t query)
{
    size_t end = query < len ? query : len;

    return close && close + 1 < len && text[close + 1] == '/' &&
           text[close - 1] != ',' &&
           (end == close + 2 || text[end - 1] != '/');
}

static bool plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           (c >= ',' && c <= '.');
}

static void key_portable(struct cdx_key_scan *s, const char *text, size_t most,
                         char delimiter)
{
    size_t close = most, query = most, i;
    bool odd = false;

    s->controls = false;
    for (i = 0; i < most && text[i] != delimiter; i++) {
        s->controls |= (unsigned char)text[i] < 0x20 || text[i] == 0x7f;
        if (close == most && text[i] == ')')
            close = i;
        else if (close == most)
            odd |= !plain(text[i]);
        if (query == most && text[i] == '?')
            query = i;
    }
    s->len = i;
    s->close = close;
    s->query = query;
    s->surt = !odd && close < i && in_form(text, i, close, query);
}

typedef void key_scan(struct cdx_key_scan *s, const char *text, size_t most,
                      char delimiter);
typedef bool same_text(const char *a, const char *b, size_t len);

/* Does a line begin with the key of the line before? */
static inline __attribute__((always_inline)) bool repeats(
    const struct cdx_picks *p, const char *line, size_t len, same_text *same)
{
    size_t key = p->before_len;

    return key && key < len && line[key] == p->delimiter &&
           same(line, p->before, key);
}

/* The URL of the line before, from its host on, with what it ends with. */
struct proved {
    const char *url;
    size_t len; /* 0: none */
};

/* Has a line, whose key is that of the line before, its URL, too? It may have
   the other scheme, and "www." or not: neither is in the key. */
static inline __attribute__((always_inline)) bool repeats_url(
    const struct proved *before, const struct cdx_picks *p, const char *line,
    size_t len, same_text *same)
{
    const char *end = line + len;
    const char *url = cdx_url_here(p->columns, line, p->before_len, end,
                                   p->delimiter);
    size_t host;

    if (!url || end - url < 16 || !before->len)
        return false;
    host = proof_prefix(url, end);
    return host && same(url + host, before->url, before->len);
}

/* Is the key of a line, as it was found, proved to be that of its URL? */
typedef bool prover(struct proved *before, const struct cdx_picks *p,
                    const char *line, const char *end,
                    const struct cdx_key_scan *k);

static __attribute__((noinline)) bool proves_portable(
    struct proved *before, const struct cdx_picks *p, const char *line,
    const char *end, const struct cdx_key_scan *k)
{
    const char *url = cdx_url_at(p->columns, line, k->len, end, p->delimiter);
    size_t host = url ? proof_prefix_any(url, end) : 0;
    struct proof proof;

    before->len = 0;
    return host && proof_begin(&proof, line, k, url + host) &&
           proof_end(&proof, end, cdx_url_stop(p->columns, p->delimiter)) &&
           proof_same(&proof, proof_host_portable, proof_text_portable);
}

/*
 * The same of most lines at once. What is not that ordinary is left to the
 * portable one, and a text with more to look at to a function of its own. Both
 * are called at the end or not at all, so that no registers must be saved.
 */
static inline __attribute__((always_inline)) bool prove_line(
    struct proved *before, const struct cdx_picks *p, const char *line,
    const char *end, const struct cdx_key_scan *k, proof_host *host,
    proof_text *text)
{
    const char *url = cdx_url_here(p->columns, line, k->len, end,
                                   p->delimiter);
    const char *to, stop = cdx_url_stop(p->columns, p->delimiter);
    struct proof proof;
    size_t prefix;

    if (!url || end - url < 16 || k->close > 63)
        return proves_portable(before, p, line, end, k);
    prefix = proof_prefix(url, end);
    if (!prefix || !proof_begin(&proof, line, k, url + prefix))
        return false;
    to = proof_stop(&proof, end, stop);
    if (!to)
        return proves_portable(before, p, line, end, k);
    before->url = proof.url;
    before->len = (size_t)(to + 1 - proof.url);
    return proof_same(&proof, host, text);
}

static inline __attribute__((always_inline)) void pick_lines(
    struct cdx_lines *l, struct cdx_picks *to, key_scan *scan,
    same_text *same_key, prover *proves)
{
    struct cdx_picks p = *to;
    struct proved before = { .len = 0 };
    /* Declared here, not in the loop or in what it calls: in functions that
       ASan leaves out, gcc marks the places of what is declared there and has
       an address as out of use, for ever. */
    struct cdx_key_scan k = { .len = 0 };
    size_t len;
    unsigned next = l->next;

    for (; next < l->n && p.most && p.at <= p.last; next++, p.most--) {
        const struct cdx_line_end *end = &l->end[next];
        const char *line = p.text + p.at;
        bool same = repeats(&p, line, end->at - p.at, same_key), again = same;

        len = end->at - p.at;
        k.len = p.before_len;
        if (same && p.proves)
            again = repeats_url(&before, &p, line, len, same_key);
        if (!again) {
            if (!same && p.n == p.room)
                break;
            scan(&k, line, len, p.delimiter);
            if (!k.surt || k.controls)
                break;
        }
        if (!cdx_good(p.columns, line, &len, k.len, end->cuts - p.cuts))
            break;
        if (p.proves && !again && !proves(&before, to, line, line + len, &k))
            break;
        if (!same) {
            p.before = line;
            p.before_len = k.len;
            p.pick[p.n++] = (struct cdx_pick){ (uint32_t)p.at, (uint32_t)k.len,
                                               (uint32_t)len };
        }
        p.cuts = end->cuts;
        p.at = (size_t)end->at + 1;
    }
    l->next = next;
    *to = p;
}

static inline __attribute__((always_inline)) bool prove(struct seen_span key,
                                                        struct seen_span url,
                                                        key_scan *scan,
                                                        proof_host *host,
                                                        proof_text *text)
{
    const char *end = url.text + url.len;
    size_t prefix = proof_prefix_any(url.text, end);
    struct cdx_key_scan k;
    struct proof proof;

    scan(&k, key.text, key.len, '\n');
    return prefix && k.len == key.len && k.surt && !k.controls &&
           proof_begin(&proof, key.text, &k, url.text + prefix) &&
           proof_end(&proof, end, '\n') == end &&
           proof_same(&proof, host, text);
}

static void picks_portable(struct cdx_lines *l, struct cdx_picks *p)
{
    pick_lines(l, p, key_portable, cdx_same, proves_portable);
}

static bool proof_portable(struct seen_span key, struct seen_span url)
{
    return prove(key, url, key_portable, proof_host_portable,
                 proof_text_portable);
}

const struct cdx_scanner cdx_scanner_portable = { lines_portable, key_portable,
                                                  picks_portable,
                                                  proof_portable };

#if X86

#define AVX2 \
    __attribute__((target("avx2,bmi,bmi2,popcnt"), no_sanitize("address")))
#define AVX512 \
    __attribute__((target("avx512f,avx512bw,bmi,bmi2,popcnt"), \
                   no_sanitize("address")))

/* Note the lines that end in the 64 bytes at `at`, of which there is at least
   one, given as bits. ends ^ (ends - 1) has the bits up to the first of them.
   Returns past the last. */
static inline __attribute__((always_inline)) struct cdx_line_end *put_ends(
    struct cdx_line_end *out, size_t at, uint32_t cuts, uint64_t ends,
    uint64_t marks)
{
    do {
        out->at = (uint32_t)at + (uint32_t)__builtin_ctzll(ends);
        out->cuts = cuts + (uint32_t)__builtin_popcountll(marks &
                                                          (ends ^ (ends - 1)));
        out++;
        ends &= ends - 1;
    } while (ends);
    return out;
}

/* The bits of the 64 bytes at `at` that are before `end`. */
static inline __attribute__((always_inline)) uint64_t part(size_t at,
                                                           size_t end)
{
    return end - at < 64 ? (UINT64_C(1) << (end - at)) - 1 : UINT64_MAX;
}

/* --- AVX2 --- */

AVX2
static inline uint64_t bits(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

AVX2
static inline __attribute__((always_inline)) void find_lines(
    struct cdx_lines *l, const char *text, size_t end, char delimiter,
    bool counts)
{
    const __m256i newline = _mm256_set1_epi8('\n');
    const __m256i column = _mm256_set1_epi8(delimiter);
    size_t at = l->at;
    size_t stop = end - at > CDX_STRETCH ? at + CDX_STRETCH : end;
    struct cdx_line_end *out = l->end, *full = out + CDX_LINES;
    uint32_t cuts = l->cuts;

    size_t skew = (uintptr_t)(text + at) % 64;

    for (; at < stop && out < full; at += 64 - skew, skew = 0) {
        const __m256i *from = (const __m256i *)(const void *)(text + at -
                                                              skew);
        __m256i x = _mm256_load_si256(from);
        __m256i y = _mm256_load_si256(from + 1);
        __m256i x_end = _mm256_cmpeq_epi8(x, newline);
        __m256i y_end = _mm256_cmpeq_epi8(y, newline);
        uint64_t marks = counts ? bits(_mm256_cmpeq_epi8(x, column),
                                       _mm256_cmpeq_epi8(y, column))
                                : 0;

        marks >>= skew;
        if (_mm256_movemask_epi8(_mm256_or_si256(x_end, y_end)) ||
            end - at < 64) {
            uint64_t ends = (bits(x_end, y_end) >> skew) & part(at, end);

            marks &= part(at, end);
            if (ends)
                out = put_ends(out, at, cuts, ends, marks);
        }
        cuts += (uint32_t)__builtin_popcountll(marks);
    }
    end_stretch(l, out, at < end ? at : end, cuts, text, end);
}

AVX2
static void lines_avx2(struct cdx_lines *l, const char *text, size_t end,
                       char delimiter)
{
    if (delimiter == '\n')
        find_lines(l, text, end, delimiter, false);
    else
        find_lines(l, text, end, delimiter, true);
}

/* 64 bytes of a key. */
struct two {
    __m256i x, y;
};

/* A bit per byte that is from `low` to `high`, or that is c. */
AVX2
static inline uint64_t within(struct two t, char low, char high)
{
    const __m256i from = _mm256_set1_epi8(low);
    const __m256i span = _mm256_set1_epi8((char)(high - low));
    __m256i x = _mm256_sub_epi8(t.x, from), y = _mm256_sub_epi8(t.y, from);

    return bits(_mm256_cmpeq_epi8(_mm256_min_epu8(x, span), x),
                _mm256_cmpeq_epi8(_mm256_min_epu8(y, span), y));
}

AVX2
static inline uint64_t equal(struct two t, char c)
{
    const __m256i what = _mm256_set1_epi8(c);

    return bits(_mm256_cmpeq_epi8(t.x, what), _mm256_cmpeq_epi8(t.y, what));
}

AVX2
static inline bool same_avx2(const char *a, const char *b, size_t len)
{
    const __m256i *x = (const __m256i *)(const void *)a;
    const __m256i *y = (const __m256i *)(const void *)b;
    uint64_t alike;

    if (len > 64)
        return !memcmp(a, b, len);
    alike = bits(
        _mm256_cmpeq_epi8(_mm256_loadu_si256(x), _mm256_loadu_si256(y)),
        _mm256_cmpeq_epi8(_mm256_loadu_si256(x + 1),
                          _mm256_loadu_si256(y + 1)));
    return !len || !(~alike << (64 - len));
}

AVX2
static inline __attribute__((always_inline)) void scan_key(
    struct cdx_key_scan *s, const char *text, size_t most, char delimiter)
{
    size_t close = most, query = most, len = most;
    uint64_t odd = 0, controls = 0;

    for (size_t i = 0; i < len; i += 64) {
        const __m256i *from = (const __m256i *)(const void *)(text + i);
        struct two t = { _mm256_loadu_si256(from),
                         _mm256_loadu_si256(from + 1) };
        uint64_t all = part(i, most), cuts = equal(t, delimiter) & all;
        uint64_t ends, asks;

        if (cuts)
            len = i + (size_t)__builtin_ctzll(cuts);
        all &= cuts ? (cuts ^ (cuts - 1)) >> 1 : UINT64_MAX;
        ends = equal(t, ')') & all;
        asks = equal(t, '?') & all;
        controls |= (within(t, 0, 0x1f) | equal(t, 0x7f)) & all;
        if (close == most) {
            uint64_t host = within(t, 'a', 'z') | within(t, '0', '9') |
                            within(t, ',', '.');

            close = ends ? i + (size_t)__builtin_ctzll(ends) : most;
            all &= ends ? ends ^ (ends - 1) : UINT64_MAX;
            odd |= ~host & all & ~ends;
        }
        if (query == most)
            query = asks ? i + (size_t)__builtin_ctzll(asks) : most;
    }
    s->len = len;
    s->close = close;
    s->query = query;
    s->controls = controls;
    s->surt = !odd && close < len && in_form(text, len, close, query);
}

/* For proof.h. */
AVX2
static inline uint64_t equal_avx2(const char *at, char c)
{
    const __m256i *x = (const __m256i *)(const void *)at;

    return equal(
        (struct two){ _mm256_loadu_si256(x), _mm256_loadu_si256(x + 1) }, c);
}

AVX2
static inline uint64_t unlike_avx2(const char *a, const char *b)
{
    const __m256i *x = (const __m256i *)(const void *)a;
    const __m256i *y = (const __m256i *)(const void *)b;

    return ~bits(
        _mm256_cmpeq_epi8(_mm256_loadu_si256(x), _mm256_loadu_si256(y)),
        _mm256_cmpeq_epi8(_mm256_loadu_si256(x + 1),
                          _mm256_loadu_si256(y + 1)));
}

/* 32 bytes of a path and query: which must be looked at (proof_look())? Bytes
   before them are looked at, too, of which there are more than one. */
AVX2
static inline __m256i odd_32(const char *key, const char *url)
{
    const __m256i rare = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)proof_rare));
    const __m256i snf = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)proof_snf));
    const __m256i z = _mm256_set1_epi8('Z' - 'A');
    __m256i k = _mm256_loadu_si256((const __m256i *)(const void *)key);
    __m256i u = _mm256_loadu_si256((const __m256i *)(const void *)url);
    __m256i next = _mm256_loadu_si256(
        (const __m256i *)(const void *)(key + 1));
    __m256i i = _mm256_loadu_si256((const __m256i *)(const void *)(key - 1));
    __m256i s = _mm256_loadu_si256((const __m256i *)(const void *)(key - 2));
    __m256i big = _mm256_sub_epi8(u, _mm256_set1_epi8('A'));
    __m256i id = _mm256_and_si256(_mm256_cmpeq_epi8(k, _mm256_set1_epi8('d')),
                                  _mm256_cmpeq_epi8(i, _mm256_set1_epi8('i')));
    __m256i slash = _mm256_set1_epi8('/');
    __m256i found;

    big = _mm256_cmpeq_epi8(_mm256_min_epu8(big, z), big);
    u = _mm256_or_si256(u, _mm256_and_si256(big, _mm256_set1_epi8(32)));
    id = _mm256_and_si256(id,
                          _mm256_cmpeq_epi8(_mm256_shuffle_epi8(snf, s), s));
    slash = _mm256_and_si256(
        _mm256_cmpeq_epi8(k, slash),
        _mm256_or_si256(_mm256_cmpeq_epi8(next, slash),
                        _mm256_cmpeq_epi8(next, _mm256_set1_epi8('.'))));
    found = _mm256_or_si256(
        _mm256_or_si256(id, slash),
        _mm256_or_si256(k,
                        _mm256_cmpeq_epi8(_mm256_shuffle_epi8(rare, k), k)));
    /* The sign is set in bytes of 0x80 or more, and in those that were found. */
    return _mm256_or_si256(found, _mm256_xor_si256(_mm256_cmpeq_epi8(u, k),
                                                   _mm256_set1_epi8(-1)));
}

AVX2
static inline uint64_t odd_avx2(const char *key, const char *url)
{
    return bits(odd_32(key, url), odd_32(key + 32, url + 32));
}

AVX2
static inline __attribute__((always_inline)) bool host_avx2(const char *key,
                                                            size_t len,
                                                            const char *host)
{
    return len < 64 ? proof_host_wide(key, len, host, equal_avx2, unlike_avx2)
                    : proof_host_portable(key, len, host);
}

AVX2
static __attribute__((noinline)) bool rest_avx2(const char *key, size_t len,
                                                size_t query, const char *url)
{
    return proof_text_rest(key, len, query, url, equal_avx2, odd_avx2);
}

AVX2
static inline __attribute__((always_inline)) bool text_avx2(const char *key,
                                                            size_t len,
                                                            size_t query,
                                                            const char *url)
{
    return proof_text_wide(key, len, query, url, equal_avx2, odd_avx2) ||
           rest_avx2(key, len, query, url);
}

AVX2
static bool proof_avx2(struct seen_span key, struct seen_span url)
{
    return prove(key, url, scan_key, host_avx2, text_avx2);
}

AVX2
static void key_avx2(struct cdx_key_scan *s, const char *text, size_t most,
                     char delimiter)
{
    scan_key(s, text, most, delimiter);
}

/* Not inlined: the loop of pick_lines() needs its registers itself. */
AVX2
static __attribute__((noinline)) bool proves_avx2(struct proved *before,
                                                  const struct cdx_picks *p,
                                                  const char *line,
                                                  const char *end,
                                                  const struct cdx_key_scan *k)
{
    return prove_line(before, p, line, end, k, host_avx2, text_avx2);
}

AVX2
static void picks_avx2(struct cdx_lines *l, struct cdx_picks *p)
{
    pick_lines(l, p, scan_key, same_avx2, proves_avx2);
}

/* --- AVX-512 --- */

AVX512 static void lines_avx512(struct cdx_lines *l, const char *text,
                                size_t end, char delimiter)
{
    const __m512i newline = _mm512_set1_epi8('\n');
    const __m512i column = _mm512_set1_epi8(delimiter);
    size_t at = l->at;
    size_t stop = end - at > CDX_STRETCH ? at + CDX_STRETCH : end;
    struct cdx_line_end *out = l->end, *full = out + CDX_LINES;
    uint32_t cuts = l->cuts;

    for (; at < stop && out < full; at += 64) {
        __m512i x = _mm512_loadu_si512((const void *)(text + at));
        uint64_t ends = _mm512_cmpeq_epi8_mask(x, newline);
        uint64_t marks = delimiter == '\n' ? 0
                                           : _mm512_cmpeq_epi8_mask(x, column);

        if (end - at < 64) {
            ends &= part(at, end);
            marks &= part(at, end);
        }
        if (ends)
            out = put_ends(out, at, cuts, ends, marks);
        cuts += (uint32_t)__builtin_popcountll(marks);
    }
    end_stretch(l, out, at < end ? at : end, cuts, text, end);
}

/* A bit per byte of x in `all` that is from `low` to `high`. */
AVX512 static inline uint64_t among(uint64_t all, __m512i x, char low,
                                    char high)
{
    return _mm512_mask_cmple_epu8_mask(
        all, _mm512_sub_epi8(x, _mm512_set1_epi8(low)),
        _mm512_set1_epi8((char)(high - low)));
}

AVX512 static inline uint64_t same(uint64_t all, __m512i x, char c)
{
    return _mm512_mask_cmpeq_epi8_mask(all, x, _mm512_set1_epi8(c));
}

AVX512 static inline __attribute__((always_inline)) void scan_key_512(
    struct cdx_key_scan *s, const char *text, size_t most, char delimiter)
{
    size_t close = most, query = most, len = most;
    uint64_t odd = 0, controls = 0;

    for (size_t i = 0; i < len; i += 64) {
        uint64_t all = part(i, most);
        __m512i x = _mm512_maskz_loadu_epi8(all, text + i);
        uint64_t cuts = same(all, x, delimiter), asks;

        if (cuts) {
            len = i + (size_t)__builtin_ctzll(cuts);
            all = (cuts ^ (cuts - 1)) >> 1;
        }
        asks = same(all, x, '?');
        controls |= among(all, x, 0, 0x1f) | same(all, x, 0x7f);
        if (close == most) {
            uint64_t ends = same(all, x, ')'), host = all;

            if (ends) {
                close = i + (size_t)__builtin_ctzll(ends);
                host = (ends ^ (ends - 1)) >> 1;
            }
            odd |= host &
                   ~(among(host, x, 'a', 'z') | among(host, x, '0', '9') |
                     among(host, x, ',', '.'));
        }
        if (asks && query == most)
            query = i + (size_t)__builtin_ctzll(asks);
    }
    s->len = len;
    s->close = close;
    s->query = query;
    s->controls = controls;
    s->surt = !odd && close < len && in_form(text, len, close, query);
}

AVX512 static void key_avx512(struct cdx_key_scan *s, const char *text,
                              size_t most, char delimiter)
{
    scan_key_512(s, text, most, delimiter);
}

AVX512 static inline __attribute__((always_inline)) bool same_avx512(
    const char *a, const char *b, size_t len)
{
    uint64_t odd = 0;

    for (size_t i = 0; i < len; i += 64) {
        uint64_t all = part(i, len);

        odd |= _mm512_cmpneq_epi8_mask(_mm512_maskz_loadu_epi8(all, a + i),
                                       _mm512_maskz_loadu_epi8(all, b + i));
    }
    return !odd;
}

AVX512 static inline __m512i load(const char *at)
{
    return _mm512_loadu_si512((const void *)at);
}

AVX512 static inline uint64_t equal_avx512(const char *at, char c)
{
    return _mm512_cmpeq_epi8_mask(load(at), _mm512_set1_epi8(c));
}

AVX512 static inline uint64_t unlike_avx512(const char *a, const char *b)
{
    return _mm512_cmpneq_epi8_mask(load(a), load(b));
}

/* See odd_32(). */
AVX512 static inline uint64_t odd_avx512(const char *key, const char *url)
{
    const __m512i rare = _mm512_broadcast_i32x4(
        _mm_loadu_si128((const __m128i *)(const void *)proof_rare));
    const __m512i snf = _mm512_broadcast_i32x4(
        _mm_loadu_si128((const __m128i *)(const void *)proof_snf));
    __m512i k = load(key), u = load(url), s = load(key - 2);
    __m512i next = _mm512_or_si512(load(key + 1), _mm512_set1_epi8('.' ^ '/'));
    uint64_t big = _mm512_cmple_epu8_mask(
        _mm512_sub_epi8(u, _mm512_set1_epi8('A')),
        _mm512_set1_epi8('Z' - 'A'));
    uint64_t id, slash;

    u = _mm512_mask_add_epi8(u, big, u, _mm512_set1_epi8('a' - 'A'));
    id = _mm512_cmpeq_epi8_mask(k, _mm512_set1_epi8('d'));
    id = _mm512_mask_cmpeq_epi8_mask(id, load(key - 1), _mm512_set1_epi8('i'));
    id = _mm512_mask_cmpeq_epi8_mask(id, s, _mm512_shuffle_epi8(snf, s));
    slash = _mm512_cmpeq_epi8_mask(k, _mm512_set1_epi8('/'));
    slash = _mm512_mask_cmpeq_epi8_mask(slash, next, _mm512_set1_epi8('/'));
    return id | slash | _mm512_movepi8_mask(k) |
           _mm512_cmpeq_epi8_mask(k, _mm512_shuffle_epi8(rare, k)) |
           _mm512_cmpneq_epi8_mask(u, k);
}

AVX512 static inline __attribute__((always_inline)) bool host_avx512(
    const char *key, size_t len, const char *host)
{
    return len < 64
               ? proof_host_wide(key, len, host, equal_avx512, unlike_avx512)
               : proof_host_portable(key, len, host);
}

AVX512 static __attribute__((noinline)) bool rest_avx512(const char *key,
                                                         size_t len,
                                                         size_t query,
                                                         const char *url)
{
    return proof_text_rest(key, len, query, url, equal_avx512, odd_avx512);
}

AVX512 static inline __attribute__((always_inline)) bool text_avx512(
    const char *key, size_t len, size_t query, const char *url)
{
    return proof_text_wide(key, len, query, url, equal_avx512, odd_avx512) ||
           rest_avx512(key, len, query, url);
}

AVX512 static bool proof_avx512(struct seen_span key, struct seen_span url)
{
    return prove(key, url, scan_key_512, host_avx512, text_avx512);
}

/* Not inlined: the loop of pick_lines() needs its registers itself. */
AVX512 static __attribute__((noinline)) bool proves_avx512(
    struct proved *before, const struct cdx_picks *p, const char *line,
    const char *end, const struct cdx_key_scan *k)
{
    return prove_line(before, p, line, end, k, host_avx512, text_avx512);
}

AVX512 static void picks_avx512(struct cdx_lines *l, struct cdx_picks *p)
{
    pick_lines(l, p, scan_key_512, same_avx512, proves_avx512);
}

static const struct cdx_scanner avx2 = { lines_avx2, key_avx2, picks_avx2,
                                         proof_avx2 };
static const struct cdx_scanner avx512 = { lines_avx512, key_avx512,
                                           picks_avx512, proof_avx512 };

#endif

const struct cdx_scanner *const *cdx_scanner_all(void)
{
    static const struct cdx_scanner *all[4];
    const struct cdx_scanner *found[4] = { &cdx_scanner_portable };
    int n = 1;

#if X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2"))
        found[n++] = &avx2;
    if (n == 2 && __builtin_cpu_supports("avx512bw"))
        found[n++] = &avx512;
#endif
    while (n-- > 0) /* in any thread the same */
        __atomic_store_n(&all[n], found[n], __ATOMIC_RELAXED);
    return all;
}

const struct cdx_scanner *cdx_scanner_fastest(void)
{
    const struct cdx_scanner *const *all = cdx_scanner_all();

    while (all[1])
        all++;
    return *all;
}
