/* words.c - words in quotes, which FTS5 cannot mistake for anything else. */
#include "words.h"

#include <ctype.h>

#include "../../lib/text/span.h"
#include "../../lib/text/utf8.h"

/* One word or phrase, without its quotes. */
struct search_word {
    struct seen_span text;
    bool star;
};

struct search_words {
    struct search_word word[SEARCH_WORDS];
    size_t n, stars;
};

/* What a character is for us; *len becomes its bytes. */
enum search_sign { SIGN_SPACE, SIGN_QUOTE, SIGN_OTHER };

static enum search_sign sign_at(struct seen_span rest, size_t *len)
{
    uint32_t c = 0;

    *len = utf8_read(rest.text, rest.len, &c, NULL);
    if (c <= ' ' || c == 0x7f || c == 0xa0 || c == 0x3000 ||
        (c >= 0x2000 && c <= 0x200b))
        return SIGN_SPACE;
    /* Telephones and word processors write them by themselves. */
    return c == '"' || (c >= 0x201c && c <= 0x201e) ? SIGN_QUOTE : SIGN_OTHER;
}

static struct seen_span skip(struct seen_span rest, size_t n)
{
    return (struct seen_span){ rest.text + n, rest.len - n };
}

/* Something that the tokenizer may take for a part of a word. */
static bool has_letters(struct seen_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (isalnum((unsigned char)text.text[i]) ||
            (unsigned char)text.text[i] >= 0x80)
            return true;
    return false;
}

static bool has(const struct search_words *w, const struct search_word *one)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->word[i].star == one->star &&
            w->word[i].text.len == one->text.len &&
            !strncasecmp(w->word[i].text.text, one->text.text, one->text.len))
            return true;
    return false;
}

static enum seen_code keep(struct search_words *w, struct search_word one,
                           struct seen_error *why)
{
    if (one.text.len && one.text.text[one.text.len - 1] == '*')
        one.star = true;
    while (one.text.len && one.text.text[one.text.len - 1] == '*')
        one.text.len--;
    if (!has_letters(one.text) || has(w, &one))
        return SEEN_OK;
    if (w->n == SEARCH_WORDS)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a question may have %d different words",
                         SEARCH_WORDS);
    if (one.star && w->stars++ == SEARCH_STARS)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a question may have %d words with a *",
                         SEARCH_STARS);
    w->word[w->n++] = one;
    return SEEN_OK;
}

/* Cut off the phrase that `rest` begins with, behind its quote. */
static struct search_word cut_phrase(struct seen_span *rest)
{
    struct search_word one = { .text = { rest->text, 0 } };
    size_t len;

    while (rest->len && sign_at(*rest, &len) != SIGN_QUOTE) {
        one.text.len += len;
        *rest = skip(*rest, len);
    }
    if (rest->len) {
        sign_at(*rest, &len);
        *rest = skip(*rest, len);
    }
    one.star = rest->len && *rest->text == '*'; /* "red tul"* */
    return one;
}

static struct search_word cut_word(struct seen_span *rest)
{
    struct search_word one = { .text = { rest->text, 0 } };
    size_t len;

    while (rest->len && sign_at(*rest, &len) == SIGN_OTHER) {
        one.text.len += len;
        *rest = skip(*rest, len);
    }
    return one;
}

static enum seen_code cut(struct search_words *w, struct seen_span rest,
                          struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t len;

    while (rest.len && code == SEEN_OK) {
        switch (sign_at(rest, &len)) {
        case SIGN_SPACE: rest = skip(rest, len); break;
        case SIGN_QUOTE:
            rest = skip(rest, len);
            code = keep(w, cut_phrase(&rest), why);
            break;
        case SIGN_OTHER: code = keep(w, cut_word(&rest), why); break;
        }
    }
    return code;
}

/* Within quotes only quotes have a meaning, and there are none in a word; a
   zero would end the text. */
static void write_word(struct buffer *to, const struct search_word *one)
{
    buffer_text(to, to->len ? " \"" : "\"");
    for (size_t i = 0; i < one->text.len; i++)
        buffer_byte(to, one->text.text[i] ? one->text.text[i] : ' ');
    buffer_text(to, one->star ? "\" *" : "\"");
}

enum seen_code search_words(struct buffer *question, struct seen_span typed,
                            struct seen_error *why)
{
    struct search_words w = { .n = 0 };
    enum seen_code code;

    if (typed.len > SEARCH_BYTES)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a question may have %d bytes; this one has %zu",
                         SEARCH_BYTES, typed.len);
    if (!utf8_valid(typed.text, typed.len))
        return seen_fail(why, SEEN_RANGE, 0, "the question is not UTF-8");
    code = cut(&w, typed, why);
    if (code != SEEN_OK)
        return code;
    if (!w.n)
        return seen_fail(why, SEEN_RANGE, 0, "there is no word to look for");
    for (size_t i = 0; i < w.n; i++)
        write_word(question, &w.word[i]);
    return question->failed
               ? seen_fail(why, SEEN_NOMEM, 0, "no memory for a question")
               : SEEN_OK;
}
