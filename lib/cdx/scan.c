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

/* The URL of the line before, with what it ends with, and its host. */
struct proved {
    struct proof_origin origin;
    const char *url;
    size_t len;
    /* Of the line that is looked at; why they are here: see pick_lines(). */
    char stop;
    size_t now;
};

/* Has a line, whose key is that of the line before, its URL, too? */
static inline __attribute__((always_inline)) bool repeats_url(
    struct proved *before, const struct cdx_picks *p, const char *line,
    size_t len, same_text *same)
{
    const char *url = cdx_url_at(p->columns, line, p->before_len, line + len,
                                 p->delimiter, &before->stop);

    return url && before->len && same(url, before->url, before->len);
}

/* Is the key of a line, as it was found, proved to be that of its URL? */
static inline __attribute__((always_inline)) bool proves(
    struct proved *before, const struct cdx_picks *p, const char *line,
    size_t len, const struct cdx_key_scan *k, same_text *same, same_path *path)
{
    const char *end = line + len;
    const char *url = cdx_url_at(p->columns, line, k->len, end, p->delimiter,
                                 &before->stop);

    if (!url || !proof_line(&before->origin, line, k, url, end, before->stop,
                            &before->now, same, path))
        return false;
    before->url = url;
    url += before->now;
    before->len = url < end && *url == before->stop ? before->now + 1 : 0;
    return true;
}

static inline __attribute__((always_inline)) void pick_lines(
    struct cdx_lines *l, struct cdx_picks *to, key_scan *scan,
    same_text *same_key, same_path *path)
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
        if (p.proves && !again &&
            !proves(&before, &p, line, len, &k, same_key, path))
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
                                                        same_text *same,
                                                        same_path *path)
{
    struct proof_origin none = { .len = 0 };
    struct cdx_key_scan k;
    size_t n;

    scan(&k, key.text, key.len, '\n');
    return k.len == key.len &&
           proof_line(&none, key.text, &k, url.text, url.text + url.len, '\n',
                      &n, same, path) &&
           n == url.len;
}

static void picks_portable(struct cdx_lines *l, struct cdx_picks *p)
{
    pick_lines(l, p, key_portable, cdx_same, proof_path_portable);
}

/* It looks at nothing past the ends, so that any text may be given. */
static bool same_exactly(const char *a, const char *b, size_t len)
{
    return !memcmp(a, b, len);
}

static bool proof_portable(struct seen_span key, struct seen_span url)
{
    return prove(key, url, key_portable, same_exactly, proof_path_portable);
}

const struct cdx_scanner cdx_scanner_portable = { lines_portable, key_portable,
                                                  picks_portable,
                                                  proof_portable };

#if X86

#define AVX2 __attribute__((target("avx2,bmi,popcnt"), no_sanitize("address")))
#define AVX512 \
    __attribute__((target("avx512f,avx512bw,bmi,popcnt"), \
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

/* Which of them are from `low` to `high`; which are c? */
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

/* See proof_path_portable(). */
AVX2
static inline __attribute__((always_inline)) unsigned path_avx2(
    const char *key, size_t len, size_t query, const char *url)
{
    const __m256i big = _mm256_set1_epi8(25), bit = _mm256_set1_epi8(32);
    uint64_t odd = 0, slash = 0, escapes = 0, and = 0;

    for (size_t i = 0; i < len; i += 64) {
        const __m256i *k = (const __m256i *)(const void *)(key + i);
        const __m256i *u = (const __m256i *)(const void *)(url + i);
        struct two t = { _mm256_loadu_si256(k), _mm256_loadu_si256(k + 1) };
        struct two given = { _mm256_loadu_si256(u),
                             _mm256_loadu_si256(u + 1) };
        __m256i x = _mm256_sub_epi8(given.x, _mm256_set1_epi8('A'));
        __m256i y = _mm256_sub_epi8(given.y, _mm256_set1_epi8('A'));
        uint64_t all = part(i, len), slashes = equal(t, '/');
        uint64_t path = query <= i ? 0 : part(i, query);

        x = _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(x, big), x),
                             bit);
        y = _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(y, big), y),
                             bit);
        odd |= ~bits(_mm256_cmpeq_epi8(_mm256_or_si256(x, given.x), t.x),
                     _mm256_cmpeq_epi8(_mm256_or_si256(y, given.y), t.y)) &
               all;
        odd |= (~within(t, '!', '~') | equal(t, '#') | equal(t, '(') |
                equal(t, '\\')) &
               all;
        slash |= slashes << 1;
        odd |= slash & (slashes | equal(t, '.')) & path;
        slash = slashes >> 63;
        escapes |= equal(t, '%') & all;
        and |= equal(t, '&') & all;
    }
    return (odd ? PATH_ODD : 0) | (escapes ? PATH_ESCAPES : 0) |
           (and? PATH_AND : 0);
}

AVX2
static bool proof_avx2(struct seen_span key, struct seen_span url)
{
    return prove(key, url, scan_key, same_avx2, path_avx2);
}

AVX2
static void key_avx2(struct cdx_key_scan *s, const char *text, size_t most,
                     char delimiter)
{
    scan_key(s, text, most, delimiter);
}

AVX2
static void picks_avx2(struct cdx_lines *l, struct cdx_picks *p)
{
    pick_lines(l, p, scan_key, same_avx2, path_avx2);
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

/* Which of the bytes of x in `all` are from `low` to `high`? */
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

/* See proof_path_portable(). */
AVX512 static inline __attribute__((always_inline)) unsigned path_avx512(
    const char *key, size_t len, size_t query, const char *url)
{
    uint64_t odd = 0, slash = 0, escapes = 0, and = 0;

    for (size_t i = 0; i < len; i += 64) {
        uint64_t all = part(i, len);
        uint64_t path = query <= i ? 0 : part(i, query);
        __m512i k = _mm512_maskz_loadu_epi8(all, key + i);
        __m512i u = _mm512_maskz_loadu_epi8(all, url + i);
        uint64_t slashes = same(all, k, '/');

        u = _mm512_mask_add_epi8(u, among(all, u, 'A', 'Z'), u,
                                 _mm512_set1_epi8(32));
        odd |= _mm512_cmpneq_epi8_mask(u, k);
        odd |= (all & ~among(all, k, '!', '~')) | same(all, k, '#') |
               same(all, k, '(') | same(all, k, '\\');
        slash |= slashes << 1;
        odd |= slash & (slashes | same(all, k, '.')) & path;
        slash = slashes >> 63;
        escapes |= same(all, k, '%');
        and |= same(all, k, '&');
    }
    return (odd ? PATH_ODD : 0) | (escapes ? PATH_ESCAPES : 0) |
           (and? PATH_AND : 0);
}

AVX512 static bool proof_avx512(struct seen_span key, struct seen_span url)
{
    return prove(key, url, scan_key_512, same_avx512, path_avx512);
}

AVX512 static void picks_avx512(struct cdx_lines *l, struct cdx_picks *p)
{
    pick_lines(l, p, scan_key_512, same_avx512, path_avx512);
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
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
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
