/*
 * fold.c - fold white space, in one pass.
 *
 * The text of a page is mostly words with single spaces, which folding leaves
 * as they are. So runs that need nothing are copied as runs: eight bytes are
 * looked at together (plain()), and only where one of them is white space in a
 * row, a control or not ASCII is it looked at alone.
 */
#include "fold.h"

#include "../lib/text/eight.h"
#include "../lib/text/little.h"
#include "../lib/text/utf8.h"

/* A run without white space at its ends. */
static void put(struct web_fold *f, const char *text, size_t len)
{
    size_t before = f->space && f->to->len;

    if (f->full || f->to->len + before + len > f->most) {
        f->full = true;
        return;
    }
    if (before)
        buffer_byte(f->to, ' ');
    f->space = false;
    buffer_bytes(f->to, text, len);
}

/* As much of a run as there is room for. */
static void put_part(struct web_fold *f, const char *text, size_t len)
{
    size_t used = f->to->len + (f->space && f->to->len);
    size_t room = used < f->most ? f->most - used : 0;

    if (len > room) {
        len = utf8_cut(text, len, room);
        while (len && text[len - 1] == ' ')
            len--;
        if (len)
            put(f, text, len);
        f->full = true;
    } else {
        put(f, text, len);
    }
}

/*
 * How many of the next eight bytes a run goes on over: all if they are
 * letters with single spaces between, 7 if the last is a space, because what
 * follows it decides, 0 if one of them needs a closer look.
 */
static size_t plain(const char *text)
{
    uint64_t x = little_64(text), spaces;

    if (eight_high(x) | eight_below(x, ' ') | eight_equal(x, 0x7f))
        return 0;
    spaces = eight_equal(x, ' ');
    if (spaces & (spaces << 8 | 0x80)) /* two in a row, or the first byte */
        return 0;
    return spaces >> 63 ? 7 : 8;
}

void web_fold_add(struct web_fold *f, const char *text, size_t len)
{
    size_t at = 0;

    while (at < len && web_fold_takes(f)) {
        size_t from = at, part = 1;

        for (; at < len; at += part) {
            unsigned char c = (unsigned char)text[at];

            if (len - at >= 8 && (part = plain(text + at)))
                continue;
            part = 1;
            if (c == ' ' && at > from && at + 1 < len && text[at + 1] > ' ' &&
                text[at + 1] != 0x7f)
                continue; /* one space between words stays */
            if (c <= ' ' || c == 0x7f)
                break;
            if (c < 0x80)
                continue;
            if (c == 0xc2 && at + 1 < len && text[at + 1] == '\xa0')
                break; /* a space that does not break lines */
            part = utf8_read(text + at, len - at, NULL, NULL);
            if (!part)
                break;
        }
        if (at > from)
            put_part(f, text + from, at - from);
        if (at == len)
            return;
        if (!part) {
            utf8_read(text + at, len - at, NULL, &part);
            put(f, UTF8_UNKNOWN, 3);
            at += part;
        } else if (text[at] == '\0') {
            at++; /* is dropped by HTML */
        } else {
            f->space = true;
            at += text[at] == '\xc2' ? 2 : 1;
        }
    }
}
