/*
 * text.c - cut a text into words, and fold them.
 *
 * One pass over the bytes: ASCII directly, other characters through a table
 * of ranges. Words are spans into one buffer. It gets its whole room before
 * the first word, four bytes per byte and some, since a span would dangle if
 * the buffer moved; so memory is checked once and not per character.
 *
 * Invalid UTF-8 can come from a pattern that cut a character in two. Each such
 * byte becomes U+FFFD: a word that differs, not an error.
 */
#include "text.h"

#include <stdlib.h>

#include "../lib/text/array.h"
#include "../lib/text/utf8.h"

/* --- characters --- */

/*
 * Upper-case letters and what is added to each; 0: every second one, beginning
 * with the first, and its small letter is the next. Letters in the range of a
 * row that are already small, or are not letters, do not occur. Composed and
 * decomposed accents (NFC, NFD) stay different: a site writes one of them.
 */
static const struct fold {
    uint32_t first, last;
    int32_t add;
} folds[] = {
    { 0x00c0, 0x00d6, 32 },    { 0x00d8, 0x00de, 32 },
    { 0x0100, 0x012f, 0 },     { 0x0132, 0x0137, 0 },
    { 0x0139, 0x0148, 0 },     { 0x014a, 0x0177, 0 },
    { 0x0178, 0x0178, -121 },  { 0x0179, 0x017e, 0 },
    { 0x01cd, 0x01dc, 0 },     { 0x01de, 0x01ef, 0 },
    { 0x01f8, 0x021f, 0 },     { 0x0222, 0x0233, 0 },
    { 0x0386, 0x0386, 38 },    { 0x0388, 0x038a, 37 },
    { 0x038c, 0x038c, 64 },    { 0x038e, 0x038f, 63 },
    { 0x0391, 0x03a1, 32 },    { 0x03a3, 0x03ab, 32 },
    { 0x03c2, 0x03c2, 1 },     { 0x03d8, 0x03ef, 0 },
    { 0x0400, 0x040f, 80 },    { 0x0410, 0x042f, 32 },
    { 0x0460, 0x0481, 0 },     { 0x048a, 0x04bf, 0 },
    { 0x04c1, 0x04ce, 0 },     { 0x04d0, 0x052f, 0 },
    { 0x0531, 0x0556, 48 },    { 0x1e00, 0x1e95, 0 },
    { 0x1e9e, 0x1e9e, -7615 }, { 0x1ea0, 0x1eff, 0 },
    { 0x1f08, 0x1f0f, -8 },    { 0x1f18, 0x1f1d, -8 },
    { 0x1f28, 0x1f2f, -8 },    { 0x1f38, 0x1f3f, -8 },
    { 0x1f48, 0x1f4d, -8 },    { 0x1f68, 0x1f6f, -8 },
    { 0x2160, 0x216f, 16 },    { 0x24b6, 0x24cf, 26 },
    { 0xff21, 0xff3a, 32 },
};

static uint32_t fold(uint32_t c)
{
    size_t low = 0, high = sizeof folds / sizeof *folds;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (c > folds[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sizeof folds / sizeof *folds || c < folds[low].first)
        return c;
    if (folds[low].add)
        return (uint32_t)((int32_t)c + folds[low].add);
    return c + !((c - folds[low].first) & 1);
}

/* White_Space of Unicode. */
static bool is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
           c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Scripts without spaces between words: each character is a word. */
static bool is_word(uint32_t c)
{
    return (c >= 0x3041 && c <= 0x30ff) || (c >= 0x3400 && c <= 0x4dbf) ||
           (c >= 0x4e00 && c <= 0x9fff) || (c >= 0xf900 && c <= 0xfaff) ||
           (c >= 0x20000 && c <= 0x3ffff) || (c >= 0x0e01 && c <= 0x0eff);
}

/* --- words --- */

struct cutter {
    struct change_words *w;
    const char *begin; /* of the word that is being read, or NULL */
    size_t folded;     /* where it begins in w->folded */
};

static void end_word(struct cutter *c, const char *at)
{
    struct change_words *w = c->w;
    size_t room = w->room;
    struct seen_span *more;

    if (!c->begin || w->failed)
        return;
    if (w->n == room) {
        more = array_grow(w->word, &room, w->n + 1, sizeof *more);
        if (more)
            w->word = more;
        more = more ? realloc(w->shown, room * sizeof *more) : NULL;
        if (!more) {
            w->failed = true;
            return;
        }
        w->shown = more;
        w->room = room;
    }
    w->shown[w->n] = (struct seen_span){ c->begin, (size_t)(at - c->begin) };
    w->word[w->n++] = (struct seen_span){ w->folded.bytes + c->folded,
                                          w->folded.len - c->folded };
    w->folded.bytes[w->folded.len++] = ' ';
    c->begin = NULL;
}

static void begin_word(struct cutter *c, const char *at)
{
    if (c->begin)
        return;
    c->begin = at;
    c->folded = c->w->folded.len;
}

static void cut(struct change_words *w, struct seen_span text)
{
    struct cutter c = { .w = w };
    const char *at = text.text, *end;

    if (!text.len) /* its text may be NULL */
        return;
    end = at + text.len;
    while (at < end) {
        unsigned char byte = (unsigned char)*at;
        uint32_t code = byte;
        size_t n = 1;

        if (byte < 0x80) {
            if (byte == ' ' || (byte >= 9 && byte <= 13)) {
                end_word(&c, at++);
                continue;
            }
            begin_word(&c, at++);
            w->folded.bytes[w->folded.len++] =
                (char)(byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte);
            continue;
        }
        n = utf8_read(at, (size_t)(end - at), &code, NULL);
        if (!n) { /* patterns of bytes can cut a character in two */
            n = 1;
            code = 0xfffd;
        }
        if (is_space(code)) {
            end_word(&c, at);
        } else {
            if (is_word(code))
                end_word(&c, at);
            begin_word(&c, at);
            w->folded.len += utf8_write(w->folded.bytes + w->folded.len,
                                        fold(code));
            if (is_word(code))
                end_word(&c, at + n);
        }
        at += n;
    }
    end_word(&c, end);
}

void change_words_read(struct change_words *w, struct seen_span value,
                       const struct change_rule *rule, uint64_t share)
{
    w->n = 0;
    w->failed = false;
    w->costly = NULL;
    w->folded.len = w->stripped.len = 0;
    w->folded.failed = w->stripped.failed = false;
    if (change_rule_ignores(rule)) {
        change_rule_strip(rule, value, share, &w->stripped, &w->costly);
        value = (struct seen_span){ w->stripped.bytes, w->stripped.len };
    }
    /* An invalid byte becomes the three bytes of U+FFFD, and a word of one
       byte is followed by a space. */
    if (w->stripped.failed || !buffer_room(&w->folded, 4 * value.len + 8))
        w->failed = true;
    else
        cut(w, value);
    if (w->failed)
        w->n = 0;
}

void change_words_clear(struct change_words *w)
{
    free(w->word);
    free(w->shown);
    buffer_clear(&w->stripped);
    buffer_clear(&w->folded);
    *w = (struct change_words){ .word = NULL };
}
