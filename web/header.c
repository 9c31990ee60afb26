/*
 * header.c - read Link, Refresh, X-Robots-Tag and Content-Type.
 *
 * Each has a grammar in some standard and is written otherwise on the web. So
 * none of these readers fails: they take what browsers and robots take, skip
 * to the next comma or semicolon, and go on. What they give are views into the
 * header; nothing is copied, and nothing is unescaped that cannot occur.
 *
 * All are linear in the length of the value. The one trap is a "<" whose ">"
 * is missing: to look for it again from every later "<" would be quadratic, so
 * the first one that has none ends the header.
 */
#include "header.h"

#include "../lib/text/space.h"
#include "../lib/text/span.h"

static void skip(struct seen_span *s, size_t n)
{
    s->text += n;
    s->len -= n;
}

static void skip_space(struct seen_span *s)
{
    while (s->len && space_html(s->text[0]))
        skip(s, 1);
}

bool web_header_next(struct seen_span *rest, struct seen_span *name,
                     struct seen_span *value)
{
    struct seen_span line;

    while (span_line(rest, &line)) {
        size_t n = 0;

        if (!line.len)
            return false;
        while (rest->len && (rest->text[0] == ' ' || rest->text[0] == '\t')) {
            struct seen_span more;

            span_line(rest, &more);
            line.len = (size_t)(more.text + more.len - line.text);
        }
        while (n < line.len && line.text[n] != ':' &&
               !space_html(line.text[n]))
            n++;
        if (!n || n == line.len || line.text[n] != ':')
            continue;
        *name = (struct seen_span){ line.text, n };
        *value = space_trim_html(
            (struct seen_span){ line.text + n + 1, line.len - n - 1 });
        return true;
    }
    return false;
}

/* --- Link --- */

/* The value of a parameter: a word, or a text in quotes, which are left out.
   Escapes inside stay: no name or URL has them. */
static struct seen_span read_value(struct seen_span *s)
{
    struct seen_span value = *s;
    size_t n = 0;

    if (s->len && s->text[0] == '"') {
        for (n = 1; n < s->len && s->text[n] != '"'; n++)
            if (s->text[n] == '\\' && n + 1 < s->len)
                n++;
        value = (struct seen_span){ s->text + 1, n - 1 };
        skip(s, n < s->len ? n + 1 : s->len);
        return value;
    }
    while (n < s->len && s->text[n] != ';' && s->text[n] != ',' &&
           !space_html(s->text[n]))
        n++;
    value.len = n;
    skip(s, n);
    return value;
}

static void read_parameter(struct seen_span *s, struct web_header_link *link,
                           bool *has_rel)
{
    struct seen_span name = *s, value = { "", 0 };
    size_t n = 0;

    while (n < s->len && s->text[n] != '=' && s->text[n] != ';' &&
           s->text[n] != ',' && !space_html(s->text[n]))
        n++;
    name.len = n;
    skip(s, n);
    skip_space(s);
    if (s->len && s->text[0] == '=') {
        skip(s, 1);
        skip_space(s);
        value = read_value(s);
    }
    if (span_like(name, "rel") && !*has_rel) {
        link->rel = value;
        *has_rel = true;
    } else if (span_like(name, "type")) {
        link->type = value;
    } else if (span_like(name, "datetime")) {
        link->datetime = value;
    } else if (span_like(name, "anchor")) {
        link->anchor = value;
        link->anchored = true;
    }
}

/* Up to the comma that ends this link; commas in quotes do not. */
static void skip_link(struct seen_span *s)
{
    while (s->len && s->text[0] != ',') {
        if (s->text[0] == '"')
            read_value(s);
        else
            skip(s, 1);
    }
}

bool web_header_link(struct seen_span *rest, struct web_header_link *link)
{
    while (rest->len) {
        bool has_rel = false;
        size_t n = 1;

        while (rest->len &&
               (space_html(rest->text[0]) || rest->text[0] == ','))
            skip(rest, 1);
        if (!rest->len)
            return false;
        if (rest->text[0] != '<') {
            skip_link(rest);
            continue;
        }
        while (n < rest->len && rest->text[n] != '>')
            n++;
        if (n == rest->len) {
            skip(rest, n); /* no other link has its end, either */
            return false;
        }
        *link = (struct web_header_link){
            .url = { rest->text + 1, n - 1 },
            .rel = { "", 0 },
            .type = { "", 0 },
            .anchor = { "", 0 },
            .datetime = { "", 0 },
        };
        skip(rest, n + 1);
        for (skip_space(rest); rest->len && rest->text[0] == ';';) {
            skip(rest, 1);
            skip_space(rest);
            read_parameter(rest, link, &has_rel);
            skip_space(rest);
        }
        skip_link(rest);
        return true;
    }
    return false;
}

bool web_header_has_rel(const struct web_header_link *link, const char *word)
{
    struct seen_span words = link->rel, one;

    while (span_cut(&words, ' ', &one))
        if (span_like(span_trim(one), word))
            return true;
    return false;
}

/* --- Refresh --- */

static bool take_letter(struct seen_span *s, char c)
{
    if (!s->len || (s->text[0] | 0x20) != c)
        return false;
    skip(s, 1);
    return true;
}

bool web_header_refresh(struct seen_span value, struct seen_span *url)
{
    struct seen_span s = value, whole;
    const char *end;

    skip_space(&s);
    if (!s.len || (s.text[0] != '.' && (s.text[0] < '0' || s.text[0] > '9')))
        return false;
    while (s.len &&
           (s.text[0] == '.' || (s.text[0] >= '0' && s.text[0] <= '9')))
        skip(&s, 1);
    if (s.len && s.text[0] != ';' && s.text[0] != ',' &&
        !space_html(s.text[0]))
        return false;
    skip_space(&s);
    if (s.len && (s.text[0] == ';' || s.text[0] == ','))
        skip(&s, 1);
    skip_space(&s);
    if (!s.len)
        return false;
    *url = whole = s;
    if (take_letter(&s, 'u')) {
        if (!take_letter(&s, 'r') || !take_letter(&s, 'l'))
            return true;
        skip_space(&s);
        if (!s.len || s.text[0] != '=')
            return true;
        skip(&s, 1);
        skip_space(&s);
    }
    *url = s;
    if (s.len && (s.text[0] == '\'' || s.text[0] == '"')) {
        skip(url, 1);
        end = url->len ? memchr(url->text, s.text[0], url->len) : NULL;
        if (end)
            url->len = (size_t)(end - url->text);
    }
    return true;
}

/* --- X-Robots-Tag --- */

/* Words that have a colon of their own. */
static bool has_argument(struct seen_span word)
{
    static const char *const words[] = { "unavailable_after", "max-snippet",
                                         "max-image-preview",
                                         "max-video-preview" };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (span_like(word, words[i]))
            return true;
    return false;
}

void web_header_wishes(struct web_wishes *wishes, struct seen_span value,
                       const char *agent)
{
    struct seen_span word;
    bool ours = true;

    while (span_cut(&value, ',', &word)) {
        const char *colon = word.len ? memchr(word.text, ':', word.len) : NULL;

        if (colon) {
            struct seen_span before = { word.text,
                                        (size_t)(colon - word.text) };

            before = space_trim_html(before);
            if (has_argument(before))
                continue;
            ours = span_like(before, agent) || span_is(before, "*") ||
                   span_like(before, "robots");
            word.len -= (size_t)(colon + 1 - word.text);
            word.text = colon + 1;
        }
        word = space_trim_html(word);
        if (!ours)
            continue;
        if (span_like(word, "noindex") || span_like(word, "none"))
            wishes->noindex = true;
        if (span_like(word, "nofollow") || span_like(word, "none"))
            wishes->nofollow = true;
    }
}

/* --- Content-Type --- */

void web_header_type(struct seen_span value, struct seen_span *type,
                     struct seen_span *charset)
{
    struct seen_span rest = value, name;

    *type = *charset = (struct seen_span){ "", 0 };
    if (span_cut(&rest, ';', type))
        *type = space_trim_html(*type);
    while (rest.len) {
        size_t n = 0;

        while (rest.len && (space_html(rest.text[0]) || rest.text[0] == ';'))
            skip(&rest, 1);
        while (n < rest.len && rest.text[n] != '=' && rest.text[n] != ';')
            n++;
        name = space_trim_html((struct seen_span){ rest.text, n });
        skip(&rest, n);
        if (!rest.len || rest.text[0] != '=')
            continue;
        skip(&rest, 1);
        skip_space(&rest);
        value = read_value(&rest);
        if (span_like(name, "charset") && !charset->len)
            *charset = value;
        while (rest.len && rest.text[0] != ';')
            skip(&rest, 1);
    }
}
