/*
 * report.c - what the report says about each answer.
 *
 * Each answer is written at once, to the HTML and to the text of its class;
 * only these two buffers per class are kept. A changed field is shown as the
 * new words and CONTEXT words on either side:
 *
 *     ... open from [+Tuesday+] to Sunday ... [words removed] free of charge
 */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "../lib/disk/disk.h"
#include "../lib/text/span.h"
#include "../lib/text/utf8.h"
#include "../lib/text/xml.h"
#include "report_style.h"
#include "text.h"

enum {
    CONTEXT = 8,      /* words on either side of a change */
    OPENING = 30,     /* words of a field of a new page */
    WORDS_MOST = 400, /* words shown per field */
    FIELDS_MOST = 20, /* fields shown per page */
    WORD_MOST = 200,  /* bytes of a word */
    URL_MOST = 2000,  /* bytes of a URL */
    COLUMNS = 76
};

struct report_class {
    struct buffer html, text;
    uint64_t n, shown;
};

struct change_report {
    char *title;
    struct report_class class[CHANGE_CLASSES];
    uint64_t answers, first, last; /* when the pages were fetched, in ms */
    bool failed;
    unsigned column;           /* of the text, from 0 */
    struct change_words words; /* of the value at hand */
};

struct change_report *change_report_new(const char *title)
{
    struct change_report *r = calloc(1, sizeof *r);

    if (r)
        r->title = strdup(title ? title : "What changed");
    if (r && !r->title) {
        free(r);
        return NULL;
    }
    return r;
}

void change_report_free(struct change_report *r)
{
    if (!r)
        return;
    for (int i = 0; i < CHANGE_CLASSES; i++) {
        buffer_clear(&r->class[i].html);
        buffer_clear(&r->class[i].text);
    }
    change_words_clear(&r->words);
    free(r->title);
    free(r);
}

/* --- pieces --- */

/* At most `most` bytes, without a part of a character at the end. */
static struct seen_span shorten(struct seen_span s, size_t most)
{
    return (struct seen_span){ s.text, utf8_cut(s.text, s.len, most) };
}

/* U+202A to U+202E and U+2066 to U+2069 turn the direction of what follows,
   beyond their own word: a page must not rearrange our text. */
static bool turns(const char *text, size_t len)
{
    const unsigned char *c = (const unsigned char *)text;

    return len >= 3 && c[0] == 0xe2 &&
           ((c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae) ||
            (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
}

/* buffer_xml() or buffer_xml_chars(), without these characters. */
static void put_safe(struct buffer *to, struct seen_span s,
                     void (*put)(struct buffer *to, const char *text,
                                 size_t len))
{
    size_t from = 0;

    for (size_t i = 0; i < s.len; i++)
        if (turns(s.text + i, s.len - i)) {
            put(to, s.text + from, i - from);
            buffer_text(to, "\xef\xbf\xbd");
            from = i + 3;
            i += 2;
        }
    put(to, s.text + from, s.len - from);
}

static void put_text(struct buffer *to, struct seen_span s, size_t most)
{
    put_safe(to, shorten(s, most), buffer_xml_chars);
}

static void put_html(struct buffer *to, struct seen_span s, size_t most)
{
    struct seen_span shown = shorten(s, most);

    put_safe(to, shown, buffer_xml);
    if (shown.len < s.len)
        buffer_text(to, "\xe2\x80\xa6");
}

/* A word of the text, on this line or the next one, with a sign before and
   after it that stays with it. */
static void put_word(struct change_report *r, struct buffer *to,
                     const char *before, struct seen_span word,
                     const char *after)
{
    struct seen_span shown = shorten(word, WORD_MOST);
    unsigned width = (unsigned)(utf8_count(shown.text, shown.len) +
                                strlen(before) + strlen(after));

    if (r->column > 8 && r->column + 1 + width > COLUMNS) {
        buffer_text(to, "\n        ");
        r->column = 8;
    } else if (r->column > 8) {
        buffer_byte(to, ' ');
        r->column++;
    }
    buffer_text(to, before);
    put_text(to, shown, WORD_MOST);
    buffer_text(to, after);
    r->column += width;
}

static void begin_line(struct change_report *r, struct buffer *to)
{
    buffer_text(to, "\n        ");
    r->column = 8;
}

/* Words that are not new, that are new, that were removed here, or that are
   left out. */
static void put_same(struct change_report *r, struct report_class *s,
                     struct seen_span word)
{
    put_html(&s->html, word, WORD_MOST);
    buffer_byte(&s->html, ' ');
    put_word(r, &s->text, "", word, "");
}

static void put_new(struct change_report *r, struct report_class *s,
                    struct seen_span word, bool first, bool last)
{
    if (first)
        buffer_text(&s->html, "<ins>");
    put_html(&s->html, word, WORD_MOST);
    buffer_text(&s->html, last ? "</ins> " : " ");
    put_word(r, &s->text, first ? "[+" : "", word, last ? "+]" : "");
}

static void put_cut(struct change_report *r, struct report_class *s)
{
    buffer_text(&s->html, "<span class=\"cut\">[words removed]</span> ");
    put_word(r, &s->text, "", span_of("[words"), "");
    put_word(r, &s->text, "", span_of("removed]"), "");
}

static void put_gap(struct change_report *r, struct report_class *s)
{
    buffer_text(&s->html, "\xe2\x80\xa6 ");
    put_word(r, &s->text, "", span_of("..."), "");
}

/* --- words of a field --- */

/* The answer has the words themselves. */
static void put_part_alone(struct change_report *r, struct report_class *s,
                           const struct change_part *part, size_t *left)
{
    struct seen_span rest = part->text;
    size_t n = 0;

    if (!part->words)
        put_cut(r, s);
    while (rest.len && *left) {
        struct seen_span word;

        if (!span_cut(&rest, ' ', &word)) {
            word = rest;
            rest.len = 0;
        }
        --*left;
        put_new(r, s, word, !n, !rest.len || !*left);
        n++;
    }
    put_gap(r, s);
}

/* The parts of one value, in the order of their places, among its words. */
static void put_value(struct change_report *r, struct report_class *s,
                      const struct change_part *part, size_t parts,
                      size_t *left)
{
    const struct change_words *w = &r->words;
    size_t at = 0; /* words before it are shown or left out */

    for (size_t i = 0; i < parts && *left; i++) {
        size_t from = part[i].at < w->n ? part[i].at : w->n;
        size_t to = part[i].words < w->n - from ? from + part[i].words : w->n;
        size_t before = from > CONTEXT ? from - CONTEXT : 0;
        size_t next = i + 1 < parts && part[i + 1].at < w->n ? part[i + 1].at
                                                             : w->n;
        size_t after = to + CONTEXT;

        if (before > at)
            put_gap(r, s);
        for (at = before > at ? before : at; at < from && *left; at++, --*left)
            put_same(r, s, w->shown[at]);
        if (!part[i].words)
            put_cut(r, s);
        for (; at < to && *left; at++, --*left)
            put_new(r, s, w->shown[at], at == from,
                    at + 1 == to || *left == 1);
        if (after > next)
            after = next;
        for (; at < after && *left; at++, --*left)
            put_same(r, s, w->shown[at]);
    }
    if (at < w->n)
        put_gap(r, s);
}

static const struct change_field *find_field(
    const struct change_record *record, struct seen_span name)
{
    for (size_t i = 0; record && i < record->fields; i++)
        if (span_equal(record->field[i].name, name))
            return &record->field[i];
    return NULL;
}

static void put_words(struct change_report *r, struct report_class *s,
                      const struct change_answers *all,
                      const struct change_in_field *f,
                      const struct change_record *record,
                      const struct change_rules *rules)
{
    const struct change_field *field = find_field(record, f->field);
    const struct change_rule *rule = field ? change_rules_find(rules, record,
                                                               f->field)
                                           : NULL;
    const struct change_part *part = all->part + f->first;
    size_t left = WORDS_MOST, n;

    buffer_text(&s->html, "<p class=\"words\">");
    begin_line(r, &s->text);
    for (size_t i = 0; i < f->parts && left; i += n) {
        size_t value = part[i].value;

        n = 1;
        while (i + n < f->parts && part[i + n].value == value)
            n++;
        if (field && value < field->n) {
            change_words_read(&r->words, record->value[field->first + value],
                              rule, change_rules_share(record));
            r->failed |= r->words.failed;
            put_value(r, s, part + i, n, &left);
        } else {
            for (size_t k = 0; k < n && left; k++)
                put_part_alone(r, s, &part[i + k], &left);
        }
    }
    if (!left)
        put_gap(r, s);
    buffer_text(&s->html, "</p>\n");
}

/* --- fields --- */

static void describe(char out[160], const struct change_in_field *f)
{
    if (f->broken)
        snprintf(out, 160, "had text, has none now");
    else
        snprintf(out, 160,
                 "%zu of %zu words new, %s%zu removed: a %s change%s",
                 f->added, f->words, f->exact ? "" : "about ", f->removed,
                 f->large ? "large" : "small",
                 f->exact ? "" : ", against all earlier versions");
}

static void put_change(struct change_report *r, struct report_class *s,
                       const struct change_answers *all,
                       const struct change_in_field *f,
                       const struct change_record *record,
                       const struct change_rules *rules)
{
    char words[160];

    describe(words, f);
    buffer_text(&s->html, "<h4>");
    put_html(&s->html, f->field, WORD_MOST);
    buffer_format(&s->html, " <span>%s</span></h4>\n", words);
    buffer_text(&s->text, "\n    ");
    put_text(&s->text, f->field, WORD_MOST);
    buffer_format(&s->text, ": %s", words);
    if (f->parts)
        put_words(r, s, all, f, record, rules);
    if (f->parts && f->wrong > 0)
        buffer_format(&s->html,
                      "<p class=\"note\">Chance that a new word was missed: "
                      "%.2g</p>\n",
                      f->wrong);
}

/* The first words of the fields of a page that is new. */
static void put_opening(struct change_report *r, struct report_class *s,
                        const struct change_record *record,
                        const struct change_rules *rules)
{
    size_t shown = 0;

    for (size_t i = 0; i < record->fields && shown < 3; i++) {
        const struct change_field *f = &record->field[i];
        const struct change_rule *rule = change_rules_find(rules, record,
                                                           f->name);

        if (!f->n || !change_rule_compared(rule))
            continue;
        change_words_read(&r->words, record->value[f->first], rule,
                          change_rules_share(record));
        r->failed |= r->words.failed;
        if (!r->words.n)
            continue;
        shown++;
        buffer_text(&s->html, "<h4>");
        put_html(&s->html, f->name, WORD_MOST);
        buffer_text(&s->html, "</h4>\n<p class=\"words\">");
        buffer_text(&s->text, "\n    ");
        put_text(&s->text, f->name, WORD_MOST);
        buffer_byte(&s->text, ':');
        begin_line(r, &s->text);
        for (size_t k = 0; k < r->words.n && k < OPENING; k++)
            put_same(r, s, r->words.shown[k]);
        if (r->words.n > OPENING)
            put_gap(r, s);
        buffer_text(&s->html, "</p>\n");
    }
}

/* --- pages --- */

static bool is_link(struct seen_span url)
{
    return span_begins(url, "http://") || span_begins(url, "https://");
}

static void put_link(struct buffer *to, struct seen_span url)
{
    bool link = is_link(url) && url.len <= URL_MOST;

    if (link) {
        buffer_text(to, "<a rel=\"noreferrer nofollow\" href=\"");
        buffer_xml(to, url.text, url.len);
        buffer_text(to, "\">");
    }
    put_html(to, url, URL_MOST);
    if (link)
        buffer_text(to, "</a>");
}

static void date_of(char out[40], uint64_t ms)
{
    time_t at = (time_t)(ms / 1000);
    struct tm t;

    if (!gmtime_r(&at, &t) || !strftime(out, 40, "%Y-%m-%d %H:%M UTC", &t))
        *out = '\0';
}

static void put_facts(struct report_class *s, const struct change_answer *a)
{
    struct buffer *html = &s->html;
    char date[40] = "";

    if (a->fetched)
        date_of(date, a->fetched);
    buffer_text(html, "<p class=\"facts\">");
    buffer_text(html, *date ? date : "at an unknown time");
    if (a->type.len) {
        buffer_text(html, "; type ");
        put_html(html, a->type, WORD_MOST);
    }
    if (a->structure == CHANGE_STRUCTURE_CHANGED)
        buffer_text(html, "; the structure of the page changed, too");
    if (a->wrong > 0)
        buffer_format(html,
                      "; this class is wrong with a chance of at most "
                      "%.2g",
                      a->wrong);
    if (a->costly.len) {
        buffer_text(html, "; compared with what is to be ignored, since the "
                          "pattern costs too much here: ");
        put_html(html, a->costly, URL_MOST);
    }
    if (a->why.len) {
        buffer_text(html, "; ");
        put_html(html, a->why, URL_MOST);
        buffer_text(&s->text, "\n    ");
        put_text(&s->text, a->why, 200);
    }
    buffer_text(html, "</p>\n");
    if (a->of.len) {
        buffer_text(html, "<p class=\"facts\">The same text as ");
        put_link(html, a->of);
        buffer_text(html, "</p>\n");
        buffer_text(&s->text, "\n    the same text as ");
        put_text(&s->text, a->of, URL_MOST);
    }
}

static bool is_shown(enum change_class class)
{
    return class != CHANGE_UNCHANGED && class != CHANGE_LATE &&
           class != CHANGE_END && class != CHANGE_ABSENT;
}

void change_report_add(struct change_report *r,
                       const struct change_answers *all,
                       const struct change_answer *a,
                       const struct change_record *record,
                       const struct change_rules *rules)
{
    struct report_class *s = &r->class[a->class];

    if (a->again || a->class == CHANGE_END)
        return;
    r->answers++;
    s->n++;
    if (a->fetched && (!r->first || a->fetched < r->first))
        r->first = a->fetched;
    if (a->fetched > r->last)
        r->last = a->fetched;
    if (!is_shown(a->class) || s->shown == CHANGE_REPORT_SHOWN)
        return;
    s->shown++;
    buffer_text(&s->html, "<article>\n<h3>");
    put_link(&s->html, a->url);
    if (!a->url.len)
        buffer_text(&s->html, "a record without a URL");
    buffer_text(&s->html, "</h3>\n");
    buffer_text(&s->text, "\n  ");
    put_text(&s->text, a->url, URL_MOST);
    if (!a->url.len)
        buffer_text(&s->text, "a record without a URL");
    put_facts(s, a);
    for (size_t i = 0; i < a->changes && i < FIELDS_MOST; i++)
        put_change(r, s, all, &all->change[a->first + i], record, rules);
    if (a->changes > FIELDS_MOST)
        buffer_format(&s->html, "<p class=\"note\">and %zu more fields</p>\n",
                      a->changes - FIELDS_MOST);
    if (a->class == CHANGE_NEW && record)
        put_opening(r, s, record, rules);
    buffer_text(&s->html, "</article>\n");
    buffer_byte(&s->text, '\n');
}

/* --- the page --- */

/* The order of the page, and what a class means. */
static const struct {
    enum change_class class;
    const char *id, *title, *means;
} order[] = {
    { CHANGE_UPDATED, "updated", "Updated",
      "the text is not one that the page had before" },
    { CHANGE_NEW, "new", "New", "the URL was not seen before" },
    { CHANGE_REVERTED, "reverted", "Reverted",
      "the text is an earlier one of the page, but not the last" },
    { CHANGE_REMOVED, "removed", "Removed", "the page is gone" },
    { CHANGE_ABSENT, "absent", "Absent", "the page was never there" },
    { CHANGE_DUPLICATE, "duplicate", "Duplicates",
      "a new URL with a text that another page has" },
    { CHANGE_BROKEN, "broken", "Broken",
      "a field that had text has none: the site may have been redesigned" },
    { CHANGE_FLAPPING, "flapping", "Not yet confirmed",
      "changed, and waits to be seen a second time" },
    { CHANGE_ERROR, "error", "Set aside", "could not be classified" },
    { CHANGE_UNCHANGED, "unchanged", "Unchanged", "as before" },
    { CHANGE_LATE, "late", "Late", "older than what is known" },
};
enum { ORDER = sizeof order / sizeof *order };

static uint64_t changed(const struct change_report *r)
{
    uint64_t n = 0;

    for (int i = 0; i < CHANGE_CLASSES; i++)
        if (is_shown((enum change_class)i) && i != CHANGE_ERROR)
            n += r->class[i].n;
    return n;
}

static bool put_policy(struct buffer *to)
{
    unsigned char sum[EVP_MAX_MD_SIZE], text[64];
    unsigned n = 0;

    if (!OSSL_LIB_CTX_get0_global_default() ||
        !EVP_Digest(report_style, sizeof report_style - 1, sum, &n,
                    EVP_sha256(), NULL))
        return false;
    EVP_EncodeBlock(text, sum, (int)n);
    buffer_format(to,
                  "<meta http-equiv=\"Content-Security-Policy\" content=\""
                  "default-src 'none'; style-src 'sha256-%s'; base-uri "
                  "'none'; form-action 'none'\">\n",
                  (const char *)text);
    return true;
}

static void put_summary(const struct change_report *r, struct buffer *to)
{
    char first[40] = "", last[40] = "";

    buffer_format(to, "<p>%llu of %llu records are changes.",
                  (unsigned long long)changed(r),
                  (unsigned long long)r->answers);
    if (r->last) {
        date_of(first, r->first);
        date_of(last, r->last);
        buffer_format(to, " The pages were fetched from %s to %s.", first,
                      last);
    }
    buffer_text(to, "</p>\n<table>\n<thead><tr><th scope=\"col\">Class</th>"
                    "<th scope=\"col\">Records</th><th scope=\"col\">Meaning"
                    "</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < ORDER; i++) {
        const struct report_class *s = &r->class[order[i].class];

        if (!s->n)
            continue;
        buffer_text(to, "<tr><th scope=\"row\">");
        if (s->shown)
            buffer_format(to, "<a href=\"#%s\">%s</a>", order[i].id,
                          order[i].title);
        else
            buffer_text(to, order[i].title);
        buffer_format(to, "</th><td class=\"n\">%llu</td><td>%s</td></tr>\n",
                      (unsigned long long)s->n, order[i].means);
    }
    buffer_text(to, "</tbody>\n</table>\n");
}

bool change_report_html(const struct change_report *r, struct buffer *to)
{
    bool good;

    buffer_text(to, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                    "<meta charset=\"utf-8\">\n");
    good = put_policy(to);
    buffer_text(to, "<meta name=\"viewport\" content=\"width=device-width, "
                    "initial-scale=1\">\n<meta name=\"referrer\" "
                    "content=\"no-referrer\">\n<title>");
    buffer_xml(to, r->title, strlen(r->title));
    buffer_text(to, "</title>\n<style>");
    buffer_text(to, report_style);
    buffer_text(to, "</style>\n</head>\n<body>\n<a class=\"skip\" "
                    "href=\"#main\">To the changes</a>\n<header><h1>");
    buffer_xml(to, r->title, strlen(r->title));
    buffer_text(to, "</h1>\n");
    put_summary(r, to);
    buffer_text(to, "</header>\n<main id=\"main\">\n");
    for (int i = 0; i < ORDER; i++) {
        const struct report_class *s = &r->class[order[i].class];

        if (!s->shown)
            continue;
        buffer_format(to,
                      "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s "
                      "(%llu)</h2>\n<p class=\"note\">%s</p>\n",
                      order[i].id, order[i].id, order[i].title,
                      (unsigned long long)s->n, order[i].means);
        buffer_append(to, &s->html);
        if (s->n > s->shown)
            buffer_format(to, "<p class=\"note\">and %llu more</p>\n",
                          (unsigned long long)(s->n - s->shown));
        buffer_text(to, "</section>\n");
        good &= !s->html.failed;
    }
    buffer_text(to, "</main>\n</body>\n</html>\n");
    return good && !to->failed && !r->failed;
}

bool change_report_text(const struct change_report *r, struct buffer *to)
{
    bool good = true;

    buffer_xml_chars(to, r->title, strlen(r->title));
    buffer_format(to, ": %llu of %llu records are changes\n",
                  (unsigned long long)changed(r),
                  (unsigned long long)r->answers);
    for (int i = 0; i < ORDER; i++) {
        const struct report_class *s = &r->class[order[i].class];

        if (!s->n)
            continue;
        buffer_format(to, "\n%s (%llu): %s\n", order[i].title,
                      (unsigned long long)s->n, order[i].means);
        buffer_append(to, &s->text);
        if (s->shown && s->n > s->shown)
            buffer_format(to, "\n  and %llu more\n",
                          (unsigned long long)(s->n - s->shown));
        good &= !s->text.failed;
    }
    return good && !to->failed && !r->failed;
}

enum seen_code change_report_save(const struct change_report *r,
                                  const char *folder, struct seen_error *why)
{
    struct buffer b = { .bytes = NULL };
    enum seen_code code = SEEN_OK;

    for (int i = 0; code == SEEN_OK && i < 2; i++) {
        bool good = i ? change_report_text(r, &b) : change_report_html(r, &b);
        char *path = NULL;

        if (!good || asprintf(&path, "%s/%s", folder,
                              i ? "mail.txt" : "index.html") < 0)
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the report");
        if (code == SEEN_OK)
            code = disk_make_folders(path, why);
        if (code == SEEN_OK)
            code = disk_replace(path, b.bytes, b.len, why);
        free(path);
        b.len = 0;
    }
    buffer_clear(&b);
    return code;
}
