/*
 * idna.c - internationalised names in ASCII.
 *
 * libidn2 maps and encodes, but it also checks what the WHATWG standard says
 * not to check: lengths, hyphens, and, when it is not transitional, whether
 * symbols ("☃.example") are names. So each label is handed to it alone, those
 * of plain ASCII not at all, and three refusals are not taken for an answer:
 *
 *   - symbols: the transitional rules let them pass, and differ from the
 *     others in four characters only, which are no symbols; a label that has
 *     both is mapped character by character;
 *   - hyphens in a wrong place, and other signs of ASCII ("é+b"): the parts
 *     between them are mapped one by one, and encoded together by a Punycode
 *     encoder of our own;
 *   - labels of more than 63 bytes, which libidn2 refuses at last, after all
 *     other checks: their characters are mapped one by one, likewise.
 *
 * A label that is encoded already, in a name that is not all ASCII, must be
 * what is made of the text that it stands for.
 *
 * A. Costello: Punycode. RFC 3492. M. Davis, M. Suignard: Unicode IDNA
 * Compatibility Processing. UTS 46.
 */
#include "host.h"

#include <errno.h>
#include <idn2.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include <seen/url.h>

enum {
    LABEL = 1024,  /* bytes of UTF-8; names have 63 of ASCII */
    POINTS = LABEL, /* of a label that libidn2 does not encode */
    ARCHIVED = 64   /* of those, under the rules of archives */
};

/* --- Punycode, RFC 3492 section 6.3 --- */

enum { BASE = 36, TMIN = 1, TMAX = 26, SKEW = 38, DAMP = 700 };

static uint32_t adapt(uint32_t delta, uint32_t points, bool first)
{
    uint32_t k = 0;

    delta = first ? delta / DAMP : delta / 2;
    delta += delta / points;
    for (; delta > (BASE - TMIN) * TMAX / 2; k += BASE)
        delta /= BASE - TMIN;
    return k + (BASE - TMIN + 1) * delta / (delta + SKEW);
}

static void put_delta(struct sink *to, uint32_t q, uint32_t bias)
{
    static const char digit[] = "abcdefghijklmnopqrstuvwxyz0123456789";

    for (uint32_t k = BASE;; k += BASE) {
        uint32_t t = k <= bias ? TMIN : k >= bias + TMAX ? TMAX : k - bias;

        if (q < t)
            break;
        sink_byte(to, digit[t + (q - t) % (BASE - t)]);
        q = (q - t) / (BASE - t);
    }
    sink_byte(to, digit[q]);
}

/* Deltas stay below 2^32: at most POINTS of 0x110000 each. */
static void punycode(struct sink *to, const uint32_t *point, uint32_t points)
{
    uint32_t n = 0x80, delta = 0, bias = 72, basic = 0, done;

    sink_put(to, "xn--", 4);
    for (uint32_t i = 0; i < points; i++)
        if (point[i] < 0x80) {
            sink_byte(to, ascii_lower((char)point[i]));
            basic++;
        }
    if (basic)
        sink_byte(to, '-');
    for (done = basic; done < points; delta++, n++) {
        uint32_t next = UINT32_MAX;

        for (uint32_t i = 0; i < points; i++)
            if (point[i] >= n && point[i] < next)
                next = point[i];
        delta += (next - n) * (done + 1);
        n = next;
        for (uint32_t i = 0; i < points; i++) {
            if (point[i] < n)
                delta++;
            if (point[i] != n)
                continue;
            put_delta(to, delta, bias);
            bias = adapt(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
    }
}

static uint32_t digit_of(char c)
{
    if (ascii_digit(c))
        return (uint32_t)(c - '0') + 26;
    return ascii_letter(c) ? (uint32_t)(ascii_lower(c) - 'a') : BASE;
}

/* RFC 3492 section 6.2, of what follows "xn--". False if it does not decode. */
static bool unpunycode(uint32_t *point, uint32_t *points, const char *text,
                       size_t len)
{
    uint32_t n = 0x80, bias = 72, i = 0, used = 0;
    size_t at = 0, hyphen = len;
    bool first = true;

    while (hyphen && text[hyphen - 1] != '-')
        hyphen--;
    for (; at + 1 < hyphen; at++)
        point[used++] = (unsigned char)ascii_lower(text[at]);
    for (at = hyphen; at < len; i++, used++) {
        uint64_t sum = i, w = 1;

        for (uint32_t k = BASE;; k += BASE) {
            uint32_t t = k <= bias ? TMIN : k >= bias + TMAX ? TMAX : k - bias;
            uint32_t d = at < len ? digit_of(text[at++]) : BASE;

            if (d == BASE)
                return false;
            sum += d * w;
            if (sum > UINT32_MAX)
                return false;
            if (d < t)
                break;
            w *= BASE - t;
            if (w > UINT32_MAX)
                return false;
        }
        bias = adapt((uint32_t)sum - i, used + 1, first);
        first = false;
        n += (uint32_t)sum / (used + 1);
        i = (uint32_t)sum % (used + 1);
        if (n > 0x10ffff || (n >= 0xd800 && n < 0xe000))
            return false;
        memmove(point + i + 1, point + i, (used - i) * sizeof *point);
        point[i] = n;
    }
    *points = used;
    return true;
}

/* --- labels --- */

static bool ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] > 0x7f)
            return false;
    return true;
}

static bool encoded(const char *label, size_t len)
{
    return len >= 4 && url_word_is(label, 4, "xn--");
}

/* Has it one of the four characters that the transitional rules treat in
   another way: ß, ς, and the two joiners? */
static bool deviates(const char *label)
{
    return strstr(label, "\xc3\x9f") || strstr(label, "\xcf\x82") ||
           strstr(label, "\xe2\x80\x8c") || strstr(label, "\xe2\x80\x8d");
}

/* The capital of ß is ß since Unicode 15.1; libidn2 2.3 has "ss" for it. */
static void map_capital(char *label)
{
    char *to = label;

    for (const char *p = label; *p; p++, to++) {
        bool capital = !strncmp(p, "\xe1\xba\x9e", 3);

        *to = capital ? '\xc3' : *p;
        if (capital) {
            *++to = '\x9f';
            p += 2;
        }
    }
    *to = '\0';
}

/*
 * Let libidn2 map and encode a label, which ends with a zero. A code of
 * IDN2_PUNYCODE_BIG_OUTPUT says that it has to be mapped in parts.
 */
static int look_up(char **out, const char *label, enum idna rules)
{
    uint8_t *text = NULL;
    int code = IDN2_DISALLOWED;

    *out = NULL;
    if (rules == IDNA_WHATWG)
        code = idn2_lookup_u8((const uint8_t *)label, &text,
                              IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (code == IDN2_DISALLOWED && rules == IDNA_WHATWG && deviates(label))
        return IDN2_PUNYCODE_BIG_OUTPUT; /* a symbol beside one of those */
    if (code == IDN2_DISALLOWED)
        code = idn2_lookup_u8((const uint8_t *)label, &text,
                              IDN2_NFC_INPUT | IDN2_TRANSITIONAL);
    *out = (char *)text;
    return code;
}

/* A sign of ASCII: what a name may have, and libidn2 does not like. */
static bool sign(char c)
{
    return (unsigned char)c < 0x80 && !ascii_letter(c) && !ascii_digit(c);
}

/* The code points of a label, as far as it is mapped. */
struct mapped {
    uint32_t point[POINTS];
    uint32_t points;
};

static bool add_point(struct mapped *to, uint32_t point)
{
    if (to->points == POINTS || point == '.') /* it would make two labels */
        return false;
    to->point[to->points++] = point;
    return true;
}

/* Map a part that libidn2 can encode; its code. */
static int map_short(struct mapped *to, const char *part, enum idna rules)
{
    uint32_t *mapped = NULL;
    char *name;
    bool good;
    int code = look_up(&name, part, rules);

    if (code != IDN2_OK)
        return code;
    good = idn2_to_unicode_8z4z(name, &mapped, 0) == IDN2_OK;
    for (size_t i = 0; good && mapped[i]; i++)
        good = add_point(to, mapped[i]);
    idn2_free(name);
    idn2_free(mapped);
    return good ? IDN2_OK : IDN2_DISALLOWED;
}

/* Does the character at p belong to what precedes it, as accents do? */
static bool joins(const char *p, enum idna rules)
{
    char text[5] = "", *name;
    int code;

    memcpy(text, p, utf8_read(p, strlen(p), NULL, NULL));
    code = look_up(&name, text, rules);
    idn2_free(name);
    return code == IDN2_LEADING_COMBINING || code == IDN2_CONTEXTJ;
}

/* Map character by character, each with what joins it. */
static bool map_long(struct mapped *to, const char *part, enum idna rules)
{
    char text[LABEL];
    size_t len;

    for (; *part; part += len) {
        int code = IDN2_OK;

        len = 0;
        do {
            len += utf8_read(part + len, strlen(part + len), NULL, NULL);
            if (part[len] && joins(part + len, rules))
                continue;
            memcpy(text, part, len);
            text[len] = '\0';
            if (len == 1)
                code = add_point(to, (unsigned char)ascii_lower(*text))
                           ? IDN2_OK
                           : IDN2_DISALLOWED;
            else
                code = map_short(to, text, rules);
            if (code == IDN2_OK)
                break;
        } while (part[len] &&
                 (joins(part + len, rules) || code == IDN2_CONTEXTJ));
        if (code != IDN2_OK)
            return false;
    }
    return true;
}

/* Map a part without signs; false if refused. */
static bool map_part(struct mapped *to, const char *part, enum idna rules)
{
    int code;

    if (ascii(part, strlen(part))) {
        for (; *part; part++)
            if (!add_point(to, (unsigned char)ascii_lower(*part)))
                return false;
        return true;
    }
    code = map_short(to, part, rules);
    if (code == IDN2_PUNYCODE_BIG_OUTPUT && rules == IDNA_WHATWG)
        return map_long(to, part, rules);
    return code == IDN2_OK;
}

/* A label that libidn2 does not take, for the signs in it or its length. */
static bool pieced(struct sink *to, char *label, enum idna rules)
{
    struct mapped all = { .points = 0 };
    bool basic = true;

    for (;;) {
        char *end = label, last;

        while (*end && !sign(*end))
            end++;
        last = *end;
        *end = '\0';
        if ((rules == IDNA_ARCHIVES && all.points > ARCHIVED) ||
            !map_part(&all, label, rules))
            return false;
        if (!last)
            break;
        if (!add_point(&all, (unsigned char)last))
            return false;
        label = end + 1;
    }
    for (uint32_t i = 0; i < all.points; i++)
        basic = basic && all.point[i] < 0x80;
    if (!basic)
        punycode(to, all.point, all.points);
    for (uint32_t i = 0; basic && i < all.points; i++)
        sink_byte(to, (char)all.point[i]);
    return true;
}

/* May a label that libidn2 refused with this code be right after all? */
static bool doubtful(int code, const char *label, size_t len, enum idna rules)
{
    if (code == IDN2_2HYPHEN || code == IDN2_HYPHEN_STARTEND)
        return true;
    if (code == IDN2_PUNYCODE_BIG_OUTPUT)
        return rules == IDNA_WHATWG;
    for (size_t i = 0; i < len; i++)
        if (sign(label[i]) && label[i] != '-')
            return code == IDN2_ALABEL_ROUNDTRIP_FAILED ||
                   code == IDN2_PUNYCODE_BAD_INPUT;
    return false;
}

/* A label that is not ASCII. */
static bool label_encode(struct sink *to, const char *label, size_t len,
                         enum idna rules)
{
    char text[LABEL], *name;
    int code;

    if (len >= sizeof text || memchr(label, 0, len) ||
        (rules == IDNA_WHATWG && encoded(label, len)))
        return false;
    memcpy(text, label, len);
    text[len] = '\0';
    if (rules == IDNA_WHATWG)
        map_capital(text);
    code = look_up(&name, text, rules);
    if (code == IDN2_OK) {
        sink_put(to, name, strlen(name));
        idn2_free(name);
        return true;
    }
    len = strlen(text);
    if (!doubtful(code, text, len, rules))
        return false;
    if (!encoded(text, len))
        return pieced(to, text, rules);
    if (len >= 8 && url_word_is(text + 4, 4, "xn--"))
        return false;
    for (size_t i = 0; i < len; i++) /* archives keep it as it is */
        sink_byte(to, ascii_lower(text[i]));
    return true;
}

/* Is this encoded label what is made of the text that it stands for? */
static bool label_check(const char *label, size_t len)
{
    char text[4 * POINTS], again[LABEL + 8];
    struct sink made = { again, 0, sizeof again, false };
    struct mapped all = { .points = 0 };
    size_t n = 0;

    if (len > LABEL || !unpunycode(all.point, &all.points, label + 4, len - 4))
        return false;
    for (uint32_t i = 0; i < all.points; i++)
        n += utf8_write(text + n, all.point[i]);
    return !ascii(text, n) && label_encode(&made, text, n, IDNA_WHATWG) &&
           made.len == len && !made.full &&
           !strncasecmp(made.text, label, len);
}

static bool label_write(struct sink *to, const char *label, size_t len,
                        enum idna rules)
{
    if (!ascii(label, len))
        return label_encode(to, label, len, rules);
    if (rules == IDNA_WHATWG && encoded(label, len) &&
        !label_check(label, len))
        return false;
    for (size_t i = 0; i < len; i++)
        sink_byte(to, ascii_lower(label[i]));
    return true;
}

/* The next dot at p, or one of the three others that stand for it, and how
   long it is; the end, if there is none. */
static const char *find_dot(const char *p, const char *end, size_t *len)
{
    static const char other[3][4] = { "\xe3\x80\x82", "\xef\xbc\x8e",
                                      "\xef\xbd\xa1" };

    for (; p < end; p++) {
        *len = 1;
        if (*p == '.')
            return p;
        *len = 3;
        for (int i = 0; i < 3 && end - p >= 3; i++)
            if (!memcmp(p, other[i], 3))
                return p;
    }
    *len = 0;
    return end;
}

static bool labels_write(struct sink *to, const char *domain, size_t len,
                         enum idna rules)
{
    const char *end = domain + len, *dot;

    for (;; domain = dot + len) {
        dot = find_dot(domain, end, &len);
        if (!label_write(to, domain, (size_t)(dot - domain), rules))
            return false;
        if (!len)
            return true;
        sink_byte(to, '.');
    }
}

/* What was made must be what is made of it: "ｘｎ－－ａ" maps to "xn--a",
   which does not decode. */
static bool write_checked(struct sink *to, const char *domain, size_t len,
                          enum idna rules)
{
    char again[SEEN_KEY_TEXT];
    struct sink check = { again, 0, sizeof again, false };
    size_t from = to->len;

    if (!labels_write(to, domain, len, rules) || to->full)
        return to->full;
    return labels_write(&check, to->text + from, to->len - from, rules) &&
           !check.full && check.len == to->len - from &&
           !memcmp(check.text, to->text + from, check.len);
}

/* Whichever call of libidn2 finds no memory, malloc() leaves ENOMEM. */
bool idna_write(struct sink *to, const char *domain, size_t len,
                enum idna rules)
{
    bool good;

    errno = 0;
    good = write_checked(to, domain, len, rules);
    if (errno != ENOMEM)
        errno = 0;
    return good && !errno;
}
