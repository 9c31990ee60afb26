/*
 * made.c - made-up URLs, each a function of its number, and back.
 *
 * The lowest 48 bits of the number are stirred by a bijection that depends on
 * the seed, so that neighbours have nothing in common. What comes out is
 * spent, lowest bits first:
 *
 *     3 bits          how large the host is, which gives b
 *     b bits          which host of that size
 *     3 bits          how the path is laid out
 *     radix by radix  words, years, months, days of the path
 *     the rest        a number or a slug, last in the path
 *
 * so the text holds all of the number, and no two are alike. Each of the
 * eight sizes has the same number of pages, spread over 16 to 4 million
 * hosts: of a million URLs a few hosts have thousands of pages each, and a
 * hundred thousand have one, as on the web. Numbers from 2^48 on have their
 * upper bits behind a semicolon. What looks like chance but is not needed to
 * read the number back (https, www) is derived from the host, and so is
 * where words and numbers of a host start to count: hosts differ in more
 * than their names. Texts also differ where http and https, www and none
 * are the same (profile surt).
 *
 * It takes about 45 ns, since texts are kept in one fixed width and copied as
 * such. Words are 256, and none begins another: two that follow each other
 * without a hyphen can be told apart.
 */
#include "made.h"

#include <stdio.h>
#include <string.h>

#include <seen/key.h>

enum {
    NUMBER_BITS = 48,
    HOST_BITS = 23,
    YEARS = 24,
    LONGEST = 8, /* of the words */
    COUNT_FROM = 1024
};
static const uint64_t NUMBER_MASK = (UINT64_C(1) << NUMBER_BITS) - 1;
static const uint64_t HOST_MASK = (UINT64_C(1) << HOST_BITS) - 1;

static const char word[256][LONGEST + 1] = {
    "air",      "alpine",   "angel",    "apple",    "arena",    "atlas",
    "august",   "avenue",   "baker",    "balance",  "ballet",   "banana",
    "bank",     "basket",   "beach",    "bear",     "bell",     "bicycle",
    "birch",    "blue",     "board",    "boat",     "book",     "border",
    "brave",    "bread",    "bridge",   "bright",   "bronze",   "brook",
    "brown",    "bud",      "bulb",     "butter",   "cabin",    "cable",
    "cactus",   "camera",   "candle",   "captain",  "carbon",   "castle",
    "cedar",    "chalk",    "chapel",   "cherry",   "choir",    "cider",
    "cinema",   "city",     "clay",     "cliff",    "clock",    "cloud",
    "coast",    "cobalt",   "comet",    "copper",   "coral",    "corner",
    "cotton",   "culture",  "cycle",    "dawn",     "delta",    "desert",
    "diary",    "dragon",   "eagle",    "earth",    "east",     "echo",
    "eclipse",  "ember",    "engine",   "event",    "fabric",   "family",
    "farm",     "fern",     "festival", "field",    "finch",    "fire",
    "fjord",    "flame",    "flora",    "forest",   "fountain", "fox",
    "frost",    "fruit",    "galaxy",   "gallery",  "gentle",   "ginger",
    "globe",    "gold",     "grain",    "green",    "guide",    "guitar",
    "harbor",   "harvest",  "hazel",    "health",   "hill",     "history",
    "holiday",  "honey",    "horse",    "hotel",    "iceberg",  "indigo",
    "iron",     "ivory",    "jade",     "journal",  "journey",  "jungle",
    "juniper",  "kayak",    "kettle",   "kingdom",  "knight",   "ladder",
    "lagoon",   "language", "lantern",  "laurel",   "leaf",     "legend",
    "lemon",    "letter",   "light",    "lion",     "local",    "lunar",
    "magic",    "maple",    "market",   "melody",   "mercury",  "metro",
    "mint",     "mirror",   "mobile",   "modern",   "moon",     "morning",
    "mountain", "music",    "nature",   "needle",   "network",  "north",
    "notes",    "novel",    "oak",      "ocean",    "olive",    "opera",
    "orange",   "orchard",  "orchid",   "otter",    "paper",    "pearl",
    "pebble",   "pepper",   "photo",    "piano",    "picture",  "pilot",
    "pine",     "planet",   "polar",    "press",    "prism",    "project",
    "purple",   "quartz",   "quest",    "quiet",    "rabbit",   "radio",
    "rain",     "raven",    "record",   "red",      "reef",     "report",
    "review",   "ribbon",   "river",    "robin",    "rocket",   "rose",
    "ruby",     "saddle",   "saffron",  "sailor",   "salmon",   "sand",
    "saturn",   "season",   "shadow",   "shore",    "simple",   "snow",
    "solar",    "song",     "south",    "spring",   "square",   "stone",
    "story",    "studio",   "sun",      "swan",     "table",    "tea",
    "temple",   "theater",  "thunder",  "tiger",    "timber",   "trail",
    "travel",   "tree",     "tulip",    "umbrella", "union",    "unique",
    "valley",   "vanilla",  "velvet",   "video",    "violet",   "violin",
    "volcano",  "voyage",   "water",    "wave",     "weather",  "west",
    "wheat",    "whisper",  "willow",   "wind",     "winter",   "wonder",
    "world",    "yellow",   "zebra",    "zenith",
};
static const char section[SECTIONS][LONGEST + 1] = {
    "news",   "articles", "archive", "blog",   "people", "projects",
    "events", "products", "forum",   "topics", "media",  "research",
    "sport",  "docs",     "shop",    "wiki",
};
static const char *const top[8] = { "com", "org", "net", "hr",
                                    "de",  "fr",  "at",  "info" };
static const char *const suffix[8] = {
    "", "24", "-online", "-info", "-press", "lab", "hub", "-archive"
};

/*
 * S a section, W a word, Y M D a date, N the rest as a number, B the rest in
 * base 36; all else stands for itself. N or B is last.
 */
static const char *const layout[8] = {
    "/S/W-W-N.html",      "/Y/M/D/W-W-N",           "/S/W/W/N",
    "/article?of=W&id=N", "/S/Y/W-W-W-N.html",      "/W/search?q=W+W&page=N",
    "/~W/W/W_N.html",     "/S/W/Y/M/report-B.html",
};

/* Bits of the number of a host, by its size. */
static const unsigned size_bits[8] = { 4, 7, 10, 12, 14, 17, 20, 22 };

/* --- bijections --- */

static const uint64_t odd[3] = { UINT64_C(0x9e3779b97f4b),
                                 UINT64_C(0xbf58476d1ce5),
                                 UINT64_C(0x94d049bb1333) };

static uint64_t stir(const struct made *m, uint64_t x)
{
    for (int i = 0; i < 3; i++) {
        x = (x + m->key[i]) * odd[i] & NUMBER_MASK;
        x ^= x >> (NUMBER_BITS / 2);
    }
    return x;
}

/* The inverse of an odd number modulo 2^64, by Newton. */
static uint64_t inverse(uint64_t x)
{
    uint64_t y = x;

    for (int i = 0; i < 6; i++)
        y *= 2 - x * y;
    return y;
}

static uint64_t unstir(const struct made *m, uint64_t x)
{
    for (int i = 2; i >= 0; i--) {
        x ^= x >> (NUMBER_BITS / 2);
        x = x * inverse(odd[i]) - m->key[i];
        x &= NUMBER_MASK;
    }
    return x;
}

/* The same for hosts, so that those of one size share no words. */
static uint64_t stir_host(uint64_t h)
{
    h = h * 0x2c1b3c6d & HOST_MASK;
    h ^= h >> 12;
    return h * 0x297a2d39 & HOST_MASK;
}

static uint64_t unstir_host(uint64_t h)
{
    h = h * inverse(0x297a2d39) & HOST_MASK;
    h ^= h >> 12;
    return h * inverse(0x2c1b3c6d) & HOST_MASK;
}

/* --- texts of one fixed width, that are copied as such --- */

static struct made_piece piece(const char *text, size_t len)
{
    struct made_piece p = { .len = (unsigned char)len };

    memcpy(p.text, text, len);
    return p;
}

/* A layout as steps: literal text, then what is taken from the number. */
static void cut(struct made_step *step, const char *form)
{
    for (bool last = false; !last; step++) {
        size_t n = strcspn(form, "SWYMDNB");

        step->text = piece(form, n);
        step->what = form[n];
        last = !step->what;
        form += n + 1;
    }
}

void made_init(struct made *m, uint64_t seed)
{
    uint64_t first = 0;

    for (unsigned i = 0; i < 3; i++)
        m->key[i] = seen_mix(seed + i * UINT64_C(0x9e3779b97f4a7c15));
    for (int i = 0; i < 256; i++)
        m->word[i] = piece(word[i], strlen(word[i]));
    for (int i = 0; i < SECTIONS; i++)
        m->section[i] = piece(section[i], strlen(section[i]));
    for (int i = 0; i < 8; i++) {
        char end[16];
        int n = snprintf(end, sizeof end, "%s.", suffix[i]);

        m->suffix[i] = piece(end, (size_t)n);
        m->top[i] = piece(top[i], strlen(top[i]));
        m->scheme[i] = i & 3   ? i & 4 ? piece("https://www.", 12)
                                       : piece("https://", 8)
                         : i & 4 ? piece("http://www.", 11)
                               : piece("http://", 7);
        m->first[i] = first;
        first += UINT64_C(1) << size_bits[i];
        cut(m->form[i], layout[i]);
    }
}

/* --- writing --- */

static inline char *put(char *to, const struct made_piece *p)
{
    memcpy(to, p->text, sizeof p->text);
    return to + p->len;
}

/* With a constant base it needs no division. */
static inline char *put_number(char *to, uint64_t n, unsigned base)
{
    char digit[16]; /* of 48 bits and COUNT_FROM */
    int i = sizeof digit;

    do
        digit[--i] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % base];
    while (n /= base);
    for (int j = i; j < (int)sizeof digit; j++)
        *to++ = digit[j];
    return to;
}

static char *put_two(char *to, uint64_t n)
{
    to[0] = (char)('0' + n / 10);
    to[1] = (char)('0' + n % 10);
    return to + 2;
}

/* The host; *chance is what is derived from it. */
static char *put_host(const struct made *m, char *to, uint64_t host,
                      uint64_t *chance)
{
    uint64_t h = stir_host(host);

    *chance = seen_mix(h + 1);
    to = put(to, &m->scheme[*chance & 7]);
    to = put(to, &m->word[h & 255]);
    *to = '-';
    to += h >> 16 & 1;
    to = put(to, &m->word[h >> 8 & 255]);
    to = put(to, &m->suffix[h >> 17 & 7]);
    return put(to, &m->top[h >> 20 & 7]);
}

static inline uint64_t take(uint64_t *x, uint64_t radix)
{
    uint64_t digit = *x % radix;

    *x /= radix;
    return digit;
}

static char *put_path(const struct made *m, char *to,
                      const struct made_step *s, uint64_t x, uint64_t chance)
{
    for (;; s++) {
        to = put(to, &s->text);
        switch (s->what) {
        case 'S': to = put(to, &m->section[take(&x, SECTIONS)]); break;
        case 'W':
            to = put(to, &m->word[(take(&x, 256) + chance) & 255]);
            chance >>= 8;
            break;
        case 'Y':
            memcpy(to, "20", 2);
            to = put_two(to + 2, take(&x, YEARS));
            break;
        case 'M': to = put_two(to, 1 + take(&x, 12)); break;
        case 'D': to = put_two(to, 1 + take(&x, 28)); break;
        case 'N': to = put_number(to, x + chance % COUNT_FROM, 10); break;
        case 'B': to = put_number(to, x + chance % COUNT_FROM, 36); break;
        default: return to;
        }
    }
}

size_t made_url(const struct made *m, uint64_t i, char *url)
{
    uint64_t x = stir(m, i & NUMBER_MASK), host, chance;
    unsigned size = (unsigned)take(&x, 8);
    char *to;

    host = m->first[size] + (x & ((UINT64_C(1) << size_bits[size]) - 1));
    x >>= size_bits[size];
    to = put_host(m, url, host, &chance);
    to = put_path(m, to, m->form[x & 7], x >> 3, chance);
    if (i >> NUMBER_BITS) {
        *to++ = ';';
        to = put_number(to, i >> NUMBER_BITS, 10);
    }
    return (size_t)(to - url);
}

/* --- reading back --- */

/* A text that is read from its beginning; `bad` once something is amiss. */
struct made_text {
    const char *at, *end;
    bool bad;
};

static bool skip(struct made_text *t, const char *what)
{
    size_t n = strlen(what);

    if ((size_t)(t->end - t->at) < n || memcmp(t->at, what, n))
        return false;
    t->at += n;
    return true;
}

/* The number of the one word of a list that the text goes on with. */
static uint64_t get_word(struct made_text *t, const char (*list)[LONGEST + 1],
                         uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (skip(t, list[i]))
            return i;
    t->bad = true;
    return 0;
}

static uint64_t get_number(struct made_text *t, unsigned base)
{
    const char *begin = t->at;
    uint64_t n = 0;

    for (; t->at < t->end; t->at++) {
        char c = *t->at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
                                                : base;

        if (digit >= base || n > NUMBER_MASK)
            break;
        n = n * base + digit;
    }
    t->bad |= t->at == begin;
    return n;
}

/* Two digits, from `low` on, `count` numbers of them. */
static uint64_t get_two(struct made_text *t, uint64_t low, uint64_t count)
{
    struct made_text two = { t->at, t->end - t->at < 2 ? t->end : t->at + 2,
                             false };
    uint64_t n = get_number(&two, 10);

    t->bad |= two.bad || two.at != t->at + 2 || n < low || n >= low + count;
    t->at = two.at;
    return n - low;
}

static bool get_host(struct made_text *t, uint64_t *host, uint64_t *chance)
{
    uint64_t h, i;

    if (!skip(t, "https://") && !skip(t, "http://"))
        return false;
    skip(t, "www.");
    h = get_word(t, word, 256);
    h |= (uint64_t)skip(t, "-") << 16;
    h |= get_word(t, word, 256) << 8;
    for (i = 8; --i > 0;) /* the empty one is first, and looked at last */
        if (skip(t, suffix[i]))
            break;
    h |= i << 17;
    if (t->bad || !skip(t, "."))
        return false;
    for (i = 0; i < 8; i++)
        if (skip(t, top[i]))
            break;
    if (i == 8)
        return false;
    h |= i << 20;
    *host = unstir_host(h);
    *chance = seen_mix(h + 1);
    return true;
}

/* The reverse of put_path(). */
static bool get_path(struct made_text *t, const char *form, uint64_t chance,
                     uint64_t *x)
{
    uint64_t digit, unit = 1;

    *x = 0;
    for (; *form && !t->bad; form++) {
        uint64_t radix = 1;

        digit = 0;
        switch (*form) {
        case 'S': digit = get_word(t, section, radix = SECTIONS); break;
        case 'W':
            digit = (get_word(t, word, radix = 256) - chance) & 255;
            chance >>= 8;
            break;
        case 'Y':
            t->bad |= !skip(t, "20");
            digit = get_two(t, 0, radix = YEARS);
            break;
        case 'M': digit = get_two(t, 1, radix = 12); break;
        case 'D': digit = get_two(t, 1, radix = 28); break;
        case 'N':
        case 'B':
            digit = get_number(t, *form == 'N' ? 10 : 36);
            t->bad |= digit < chance % COUNT_FROM;
            digit -= chance % COUNT_FROM;
            break;
        default:
            t->bad |= t->at == t->end || *t->at != *form;
            t->at += t->at < t->end;
        }
        *x += digit * unit;
        unit *= radix;
    }
    return !t->bad;
}

bool made_number(const struct made *m, const char *url, size_t len,
                 uint64_t *i)
{
    struct made_text t = { url, url + len, false };
    uint64_t host, chance, x = 0, more = 0;
    unsigned size = 0, form = 0;
    char again[MADE_MOST];

    if (!get_host(&t, &host, &chance))
        return false;
    for (; form < 8; form++) {
        struct made_text path = t;

        if (!get_path(&path, layout[form], chance, &x))
            continue;
        if (skip(&path, ";"))
            more = get_number(&path, 10);
        if (!path.bad && path.at == path.end)
            break;
    }
    if (form == 8)
        return false;
    for (; size < 7 && host >= UINT64_C(1) << size_bits[size]; size++)
        host -= UINT64_C(1) << size_bits[size];
    x = ((x << 3 | form) << size_bits[size] | host) << 3 | size;
    *i = more << NUMBER_BITS | unstir(m, x & NUMBER_MASK);
    /* What only looks like one of ours is none. */
    return made_url(m, *i, again) == len && !memcmp(again, url, len);
}
