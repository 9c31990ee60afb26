/*
 * libc.c - what the reader needs of the C library, as short as it can be.
 *
 * The headers are those of wasi-libc. Its functions are not linked: printf,
 * strtod, log and pow alone would be a quarter of the module, and JavaScript
 * has all of them.
 */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "host.h"

int js_errno;

/* --- memory ------------------------------------------------------------------
 *
 * Small blocks are powers of two, cut from pages, and wait in a list per size
 * when they are free. Large ones are whole pages; one that is free is taken
 * again for anything that fills at least half of it. Each has 16 bytes before
 * what the caller gets.
 */
enum { PAGE = 65536, SMALLEST = 5, LARGE = 15, ALIGN = 64 };

struct js_block {
    uint32_t size; /* log2 of a small block; pages of a large one */
    struct js_block *base, *next;
    uint32_t large;
};

_Static_assert(sizeof(struct js_block) == 16, "heads are 16 bytes");

static struct js_block *freed[LARGE + 1], *freed_large;
static unsigned char *rest;
static size_t left;

static unsigned char *grow(size_t pages)
{
    size_t first = __builtin_wasm_memory_grow(0, pages);

    return first == SIZE_MAX ? NULL : (unsigned char *)(first * PAGE);
}

static struct js_block *small_block(size_t size)
{
    uint32_t bits = SMALLEST;
    struct js_block *h;

    while ((size_t)1 << bits < size)
        bits++;
    h = freed[bits];
    if (h) {
        freed[bits] = h->next;
        return h;
    }
    size = (size_t)1 << bits;
    if (left < size) {
        rest = grow(1);
        left = rest ? PAGE : 0;
        if (!rest)
            return NULL;
    }
    h = (struct js_block *)(void *)rest;
    rest += size;
    left -= size;
    h->size = bits;
    h->large = 0;
    return h;
}

static struct js_block *large_block(size_t size)
{
    size_t pages = size / PAGE + 1;
    struct js_block *h;

    for (struct js_block **at = &freed_large; *at; at = &(*at)->next)
        if ((*at)->size >= pages && (*at)->size / 2 <= pages) {
            h = *at;
            *at = h->next;
            return h;
        }
    h = (struct js_block *)(void *)grow(pages);
    if (h) {
        h->size = (uint32_t)pages;
        h->large = 1;
    }
    return h;
}

/* The block that p is in. */
static struct js_block *block_of(void *p)
{
    return ((struct js_block *)p - 1)->base;
}

void *aligned_alloc(size_t align, size_t size)
{
    struct js_block *h, *own;
    uintptr_t at;

    if (size > SIZE_MAX / 2) {
        errno = ENOMEM;
        return NULL;
    }
    size += sizeof *h + (align > sizeof *h ? align : 0);
    h = size > (size_t)1 << LARGE ? large_block(size) : small_block(size);
    if (!h) {
        errno = ENOMEM;
        return NULL;
    }
    at = (uintptr_t)(h + 1);
    if (align > sizeof *h)
        at = (at + align - 1) / align * align;
    own = (struct js_block *)at - 1;
    own->base = h;
    return (void *)at;
}

void *malloc(size_t size)
{
    return aligned_alloc(sizeof(struct js_block), size);
}

void *calloc(size_t n, size_t each)
{
    size_t size;
    void *p = __builtin_mul_overflow(n, each, &size) ? NULL : malloc(size);

    return p ? memset(p, 0, size) : NULL;
}

void free(void *p)
{
    struct js_block *h, **list;

    if (!p)
        return;
    h = block_of(p);
    list = h->large ? &freed_large : &freed[h->size];
    h->next = *list;
    *list = h;
}

void *realloc(void *p, size_t size)
{
    void *to = malloc(size);
    struct js_block *h;
    size_t room;

    if (!p || !to)
        return to;
    h = block_of(p);
    room = h->large ? (size_t)h->size * PAGE : (size_t)1 << h->size;
    room -= (size_t)((char *)p - (char *)h);
    memcpy(to, p, room < size ? room : size);
    free(p);
    return to;
}

/* --- bytes and strings --- */

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    return __builtin_memcpy(to, from, n); /* an instruction */
}

void *memmove(void *to, const void *from, size_t n)
{
    return __builtin_memmove(to, from, n);
}

void *memset(void *to, int byte, size_t n)
{
    return __builtin_memset(to, byte, n);
}

void explicit_bzero(void *to, size_t n)
{
    memset(to, 0, n);
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;

    for (; n && *x == *y; n--)
        x++, y++;
    return n ? *x - *y : 0;
}

void *memchr(const void *in, int byte, size_t n)
{
    const unsigned char *p = in;

    for (; n; n--, p++)
        if (*p == (unsigned char)byte)
            return (void *)p;
    return NULL;
}

size_t strlen(const char *s)
{
    size_t n = 0;

    while (s[n])
        n++;
    return n;
}

char *strchr(const char *s, int byte)
{
    return memchr(s, byte, strlen(s) + 1);
}

char *strrchr(const char *s, int byte)
{
    for (size_t n = strlen(s) + 1; n--;)
        if (s[n] == (char)byte)
            return (char *)s + n;
    return NULL;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n && *a == *b && *a; n--)
        a++, b++;
    return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : (unsigned char)c;
}

int strncasecmp(const char *a, const char *b, size_t n)
{
    for (; n && lower(*a) == lower(*b) && *a; n--)
        a++, b++;
    return n ? lower(*a) - lower(*b) : 0;
}

char *strcpy(char *restrict to, const char *restrict from)
{
    return memcpy(to, from, strlen(from) + 1);
}

static size_t span_of(const char *s, const char *set, bool in)
{
    size_t n = 0;

    while (s[n] && (strchr(set, s[n]) != NULL) == in)
        n++;
    return n;
}

size_t strspn(const char *s, const char *set)
{
    return span_of(s, set, true);
}

size_t strcspn(const char *s, const char *set)
{
    return span_of(s, set, false);
}

char *strstr(const char *s, const char *part)
{
    for (size_t n = strlen(part); *s; s++)
        if (!strncmp(s, part, n))
            return (char *)s;
    return *part ? NULL : (char *)s;
}

char *strndup(const char *s, size_t most)
{
    size_t n = strlen(s);
    char *to;

    if (n > most)
        n = most;
    to = malloc(n + 1);
    if (to) {
        memcpy(to, s, n);
        to[n] = '\0';
    }
    return to;
}

char *strdup(const char *s)
{
    return strndup(s, SIZE_MAX);
}

char *strerror_r(int number, char *to, size_t room)
{
    snprintf(to, room, number == EAGAIN ? "it is not here yet" : "error %d",
             number);
    return to;
}

/* --- sorting: a heap, which needs no memory --- */

static void swap(unsigned char *a, unsigned char *b, size_t size)
{
    for (; size; size--, a++, b++) {
        unsigned char c = *a;

        *a = *b;
        *b = c;
    }
}

static void sift(unsigned char *base, size_t at, size_t n, size_t size,
                 int (*order)(const void *, const void *))
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n &&
            order(base + child * size, base + (child + 1) * size) < 0)
            child++;
        if (order(base + at * size, base + child * size) >= 0)
            return;
        swap(base + at * size, base + child * size, size);
    }
}

void qsort(void *all, size_t n, size_t size,
           int (*order)(const void *, const void *))
{
    unsigned char *base = all;

    for (size_t i = n / 2; i--;)
        sift(base, i, n, size, order);
    while (n > 1) {
        swap(base, base + --n * size, size);
        sift(base, 0, n, size, order);
    }
}

void *bsearch(const void *key, const void *all, size_t n, size_t size,
              int (*order)(const void *, const void *))
{
    const unsigned char *base = all;

    while (n) {
        const unsigned char *middle = base + n / 2 * size;
        int it = order(key, middle);

        if (!it)
            return (void *)middle;
        if (it > 0) {
            base = middle + size;
            n -= n / 2 + 1;
        } else {
            n /= 2;
        }
    }
    return NULL;
}

/* --- numbers --- */

unsigned long long strtoull(const char *s, char **end, int base)
{
    unsigned long long n = 0;

    for (;; s++) {
        int c = lower(*s), digit = c >= 'a' ? c - 'a' + 10 : c - '0';

        if (digit < 0 || digit >= base || (c > '9' && c < 'a'))
            break;
        if (n > (ULLONG_MAX - (unsigned)digit) / (unsigned)base) {
            errno = ERANGE;
            n = ULLONG_MAX;
        } else if (n != ULLONG_MAX) {
            n = n * (unsigned)base + (unsigned)digit;
        }
    }
    if (end)
        *end = (char *)s;
    return n;
}

unsigned long strtoul(const char *s, char **end, int base)
{
    unsigned long long n = strtoull(s, end, base);

    return n > ULONG_MAX ? ULONG_MAX : (unsigned long)n;
}

int atoi(const char *s)
{
    return (int)strtoul(s, NULL, 10);
}

double strtod(const char *restrict s, char **restrict end)
{
    double x = 0;
    int len = js_host_parse(s, (int)strlen(s), &x);

    if (end)
        *end = (char *)s + len;
    return x;
}

/* The product of 128 bits, which clang calls this. */
__extension__ typedef __int128 wide;
wide __multi3(wide a, wide b);
wide __multi3(wide a, wide b)
{
    const uint64_t low = UINT32_MAX;
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    uint64_t least = (x & low) * (y & low);
    uint64_t one = (x >> 32) * (y & low) + (least >> 32);
    uint64_t two = (x & low) * (y >> 32) + (one & low);
    uint64_t high = (x >> 32) * (y >> 32) + (one >> 32) + (two >> 32) +
                    x * (uint64_t)((unsigned __int128)b >> 64) +
                    y * (uint64_t)((unsigned __int128)a >> 64);

    return (wide)((unsigned __int128)high << 64 | two << 32 | (least & low));
}

double fmax(double a, double b)
{
    return a > b || b != b ? a : b;
}

double fmin(double a, double b)
{
    return a < b || b != b ? a : b;
}

double ldexp(double x, int by)
{
    return x * pow(2, by);
}

double round(double x)
{
    return x < 0 ? -__builtin_floor(0.5 - x) : __builtin_floor(x + 0.5);
}

double log10(double x)
{
    return log(x) / 2.302585092994046;
}

/* --- printf --- */

struct text {
    char *to;
    size_t room, len;
};

static void put(struct text *t, const char *from, size_t n)
{
    for (; n; n--, from++, t->len++)
        if (t->len + 1 < t->room)
            t->to[t->len] = *from;
}

static void put_padded(struct text *t, const char *from, size_t n,
                       size_t width, char with)
{
    for (; n < width; width--)
        put(t, &with, 1);
    put(t, from, n);
}

static size_t digits(char *end, unsigned long long n, unsigned base)
{
    size_t len = 0;

    do {
        end[-(ptrdiff_t)++len] = "0123456789abcdef"[n % base];
        n /= base;
    } while (n);
    return len;
}

/* A whole number; `size` counts the l's before it. */
static void put_whole(struct text *t, char kind, int size, size_t width,
                      char with, va_list *args)
{
    char room[32], *end = room + sizeof room;
    bool is_signed = kind == 'd' || kind == 'i', minus = false;
    unsigned long long n;
    size_t len;

    if (is_signed) {
        long long x = size > 1 ? va_arg(*args, long long) : va_arg(*args, int);

        minus = x < 0;
        n = minus ? -(unsigned long long)x : (unsigned long long)x;
    } else {
        n = size > 1 ? va_arg(*args, unsigned long long)
                     : va_arg(*args, unsigned);
    }
    len = digits(end, n, kind == 'x' ? 16 : 10);
    if (minus)
        end[-(ptrdiff_t)++len] = '-';
    put_padded(t, end - len, len, width, with);
}

int vsnprintf(char *restrict to, size_t room, const char *restrict format,
              va_list given)
{
    struct text t = { to, room, 0 };
    va_list args;

    va_copy(args, given);
    for (; *format; format++) {
        char number[512], with = ' ', *end;
        size_t width;
        int precision = -1, size = 0;
        const char *s;

        if (*format != '%' || *++format == '%') {
            put(&t, format, 1);
            continue;
        }
        if (*format == '0')
            with = '0';
        width = strtoul(format, &end, 10);
        format = end;
        if (*format == '.' && format[1] == '*') {
            precision = va_arg(args, int);
            format += 2;
        } else if (*format == '.') {
            precision = (int)strtoul(format + 1, &end, 10);
            format = end;
        }
        for (; *format == 'l' || *format == 'z' || *format == 'j'; format++)
            size += *format == 'j' ? 2 : *format == 'l';
        switch (*format) {
        case 's':
            s = va_arg(args, const char *);
            width = 0;
            while ((precision < 0 || width < (size_t)precision) && s[width])
                width++;
            put(&t, s, width);
            break;
        case 'c':
            *number = (char)va_arg(args, int);
            put(&t, number, 1);
            break;
        case 'f':
        case 'g':
            put(&t, number,
                (size_t)js_host_print(va_arg(args, double), *format,
                                      precision < 0 ? 6 : precision, number,
                                      sizeof number));
            break;
        default: put_whole(&t, *format, size, width, with, &args);
        }
    }
    va_end(args);
    if (room)
        to[t.len < room ? t.len : room - 1] = '\0';
    return (int)t.len;
}

int snprintf(char *restrict to, size_t room, const char *restrict format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(to, room, format, args);
    va_end(args);
    return len;
}

/* --- the rest --- */

locale_t newlocale(int mask, const char *name, locale_t base)
{
    (void)mask, (void)name, (void)base;
    return (locale_t)&js_errno; /* numbers are always written with a dot */
}

locale_t uselocale(locale_t to)
{
    return to;
}

void freelocale(locale_t which)
{
    (void)which;
}

long sysconf(int name)
{
    (void)name;
    return PAGE;
}

int sched_yield(void)
{
    return 0;
}
