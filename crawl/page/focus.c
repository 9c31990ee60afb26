/*
 * focus.c - word counts and their cosine.
 *
 * A text is a vector with a count per word. Only the words that the user gave
 * add to the product of two vectors, but all words of a text add to its length:
 * so a long text that has them by chance scores less than a short one.
 */
#include "focus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/map.h"

enum { LONGEST = 64 }; /* bytes of a word; the rest is cut off */

struct word {
    double count;
    size_t len;
    char text[LONGEST];
};

struct crawl_focus {
    struct map words;
    double norm; /* length of the vector */
    double weight[3];
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* Take the next word from *rest, folded. False at the end. */
static bool next_word(struct seen_span *rest, char word[LONGEST], size_t *len)
{
    *len = 0;
    while (rest->len && !is_word(*rest->text))
        rest->text++, rest->len--;
    for (; rest->len && is_word(*rest->text); rest->text++, rest->len--)
        if (*len < LONGEST) {
            char c = *rest->text;

            word[(*len)++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
        }
    return *len > 0;
}

/* Count the words of a text into a map; false without memory. */
static bool count_words(struct map *words, struct seen_span text)
{
    char folded[LONGEST];
    size_t len;

    while (next_word(&text, folded, &len)) {
        struct word *w = map_get(words, folded, len);

        if (!w) {
            w = calloc(1, sizeof *w);
            if (!w)
                return false;
            memcpy(w->text, folded, len);
            w->len = len;
            if (!map_set(words, w->text, len, w)) {
                free(w);
                return false;
            }
        }
        w->count++;
    }
    return true;
}

static double norm_of(const struct map *words)
{
    const struct word *w;
    double sum = 0;

    for (size_t at = 0; (w = map_next(words, &at));)
        sum += w->count * w->count;
    return sqrt(sum);
}

static void clear_words(struct map *words)
{
    struct word *w;

    for (size_t at = 0; (w = map_next(words, &at));)
        free(w);
    map_clear(words);
}

enum seen_code crawl_focus_new(struct crawl_focus **out, struct seen_span text,
                               const double weight[3], struct seen_error *why)
{
    struct crawl_focus *f = calloc(1, sizeof *f);

    *out = NULL;
    if (!f || !count_words(&f->words, text)) {
        crawl_focus_free(f);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for words");
    }
    memcpy(f->weight, weight, sizeof f->weight);
    f->norm = norm_of(&f->words);
    if (f->norm == 0) {
        crawl_focus_free(f);
        return seen_fail(why, SEEN_RANGE, 0, "there are no words to look for");
    }
    *out = f;
    return SEEN_OK;
}

void crawl_focus_free(struct crawl_focus *f)
{
    if (!f)
        return;
    clear_words(&f->words);
    free(f);
}

size_t crawl_focus_words(const struct crawl_focus *f)
{
    return f->words.used;
}

double crawl_focus_text(const struct crawl_focus *f, struct seen_span text)
{
    struct map words = { .slot = NULL };
    const struct word *w;
    double dot = 0, norm;

    if (!text.len || !count_words(&words, text)) {
        clear_words(&words);
        return 0;
    }
    for (size_t at = 0; (w = map_next(&f->words, &at));) {
        const struct word *other = map_get(&words, w->text, w->len);

        if (other)
            dot += w->count * other->count;
    }
    norm = norm_of(&words);
    clear_words(&words);
    return norm > 0 ? dot / (norm * f->norm) : 0;
}

double crawl_focus_link(const struct crawl_focus *f, double page,
                        struct seen_span anchor, struct seen_span url)
{
    struct map words = { .slot = NULL };
    const struct word *w;
    double found = 0, share = 0;

    if (count_words(&words, url)) {
        for (size_t at = 0; (w = map_next(&f->words, &at));)
            found += map_get(&words, w->text, w->len) != NULL;
        share = found / (double)f->words.used;
    }
    clear_words(&words);
    return f->weight[0] * page + f->weight[1] * crawl_focus_text(f, anchor) +
           f->weight[2] * share;
}
