/*
 * idna.c - internationalised names in ASCII.
 *
 * libidn2 maps and encodes, but it also checks what the WHATWG standard says
 * not to check: lengths, hyphens, and, when it is not transitional, whether
 * symbols ("☃.example") are names. So each label is handed to it alone, those
 * of plain ASCII not at all, and three refusals are not taken for an answer:
 *
 *   - symbols: the transitional rules let them pass, and differ from the
 *     others in four characters only, which are no symbols;
 *   - hyphens in a wrong place, and other signs of ASCII ("é+b"): the parts
 *     between them are mapped one by one, and encoded together by a Punycode
 *     encoder of our own;
 *   - encoded labels with such hyphens and signs: stay as they are.
 *
 * What remains refused, though browsers accept it, is a label of more than 63
 * bytes that is not ASCII: no resolver would accept it.
 *
 * A. Costello: Punycode. RFC 3492. M. Davis, M. Suignard: Unicode IDNA
 * Compatibility Processing. UTS 46.
 */
#include "host.h"

#include <stdint.h>
#include <string.h>

#include <idn2.h>

enum { LABEL = 1024 }; /* bytes of UTF-8; names have 63 of ASCII */

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

/* Deltas stay below 2^32: at most LABEL points of 21 bits each. */
static void punycode(struct sink *to, const uint32_t *point, uint32_t points)
{
    uint32_t n = 0x80, delta = 0, bias = 72, basic = 0, done;

    sink_put(to, "xn--", 4);
    for (uint32_t i = 0; i < points; i++)
        if (point[i] < 0x80) {
            sink_byte(to, lower((char)point[i]));
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

/* Let libidn2 map and encode a label, which ends with a zero. */
static int look_up(char **out, const char *label, enum idna rules)
{
    uint8_t *text = NULL;
    int code = IDN2_DISALLOWED;

    if (rules == IDNA_WHATWG)
        code = idn2_lookup_u8((const uint8_t *)label, &text,
                              IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (code == IDN2_DISALLOWED)
        code = idn2_lookup_u8((const uint8_t *)label, &text,
                              IDN2_NFC_INPUT | IDN2_TRANSITIONAL);
    *out = (char *)text;
    return code;
}

/* A sign of ASCII: what a name may have, and libidn2 does not like. */
static bool sign(char c)
{
    return (unsigned char)c < 0x80 && !is_letter(c) && !is_digit(c);
}

/* The code points of a part without signs, mapped; false if refused. */
static bool map_part(uint32_t *point, uint32_t *points, char *part,
                     enum idna rules)
{
    uint32_t *mapped = NULL;
    char *name;
    bool good;

    if (ascii(part, strlen(part))) {
        for (; *part; part++)
            point[(*points)++] = (unsigned char)lower(*part);
        return true;
    }
    if (look_up(&name, part, rules) != IDN2_OK)
        return false;
    good = idn2_to_unicode_8z4z(name, &mapped, 0) == IDN2_OK;
    for (size_t i = 0; good && mapped[i]; i++) {
        good = mapped[i] != '.'; /* of one label it would make two */
        point[(*points)++] = mapped[i];
    }
    idn2_free(name);
    idn2_free(mapped);
    return good;
}

/* A label that libidn2 does not take for the signs in it. */
static bool pieced(struct sink *to, char *label, enum idna rules)
{
    uint32_t point[2 * LABEL], points = 0;
    bool basic = true;

    for (;;) {
        char *end = label, last;

        while (*end && !sign(*end))
            end++;
        last = *end;
        *end = '\0';
        if (points > LABEL / 16 || !map_part(point, &points, label, rules))
            return false;
        if (!last)
            break;
        point[points++] = (unsigned char)last;
        label = end + 1;
    }
    for (uint32_t i = 0; i < points; i++)
        basic = basic && point[i] < 0x80;
    if (!basic)
        punycode(to, point, points);
    for (uint32_t i = 0; basic && i < points; i++)
        sink_byte(to, (char)point[i]);
    return true;
}

/* May a label that libidn2 refused with this code be right after all? */
static bool doubtful(int code, const char *label, size_t len)
{
    if (code == IDN2_2HYPHEN || code == IDN2_HYPHEN_STARTEND)
        return true;
    for (size_t i = 0; i < len; i++)
        if (sign(label[i]) && label[i] != '-')
            return code == IDN2_ALABEL_ROUNDTRIP_FAILED ||
                   code == IDN2_PUNYCODE_BAD_INPUT;
    return false;
}

static bool label_write(struct sink *to, const char *label, size_t len,
                        enum idna rules)
{
    char text[LABEL], *name;
    int code;

    if (ascii(label, len) &&
        (rules == IDNA_ARCHIVES || !encoded(label, len))) {
        for (size_t i = 0; i < len; i++)
            sink_byte(to, lower(label[i]));
        return true;
    }
    if (len >= sizeof text || memchr(label, 0, len))
        return false;
    memcpy(text, label, len);
    text[len] = '\0';
    code = look_up(&name, text, rules);
    if (code == IDN2_OK) {
        sink_put(to, name, strlen(name));
        idn2_free(name);
        return true;
    }
    if (!doubtful(code, text, len))
        return false;
    if (!encoded(text, len))
        return pieced(to, text, rules);
    if (len >= 8 && url_word_is(text + 4, 4, "xn--"))
        return false;
    for (size_t i = 0; i < len; i++)
        sink_byte(to, lower(text[i]));
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
   which is no name. */
bool idna_write(struct sink *to, const char *domain, size_t len,
                enum idna rules)
{
    char again[4 * LABEL];
    struct sink check = { again, 0, sizeof again, false };
    size_t from = to->len;

    if (!labels_write(to, domain, len, rules) || to->full)
        return to->full;
    return labels_write(&check, to->text + from, to->len - from, rules) &&
           !check.full && check.len == to->len - from &&
           !memcmp(check.text, to->text + from, check.len);
}
