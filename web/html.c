/*
 * html.c - the tokenizer of the HTML standard, section 13.2.5.
 *
 * Why not libxml2? Its HTML parser is that of HTML 4: it does not know the
 * script states, templates, SVG and MathML, 2,000 of the names of characters,
 * nor where HTML 5 ends a comment, and each of these adds or loses links (see
 * test/web/html_test.c). It is also slower: a page of 10 kB with 20 links takes
 * 87 us in its SAX parser with empty handlers, 9 us here, and 22 us with all
 * that links.c does (CPU time, gcc 12 -O2, one core of a shared virtual machine).
 *
 * The standard's states are one per byte; here a state that looks for a byte is
 * a memchr(). Where the input ends inside of a tag there is no tag.
 */
#include "html.h"

#include <string.h>
#include <strings.h>

#include "../lib/text/ascii.h"
#include "../lib/text/space.h"

static const char *find(const char *at, const char *end, char byte)
{
    const char *found = memchr(at, byte, (size_t)(end - at));

    return found ? found : end;
}

void web_html_init(struct web_html *h, const char *bytes, size_t len, bool xml)
{
    h->begin = h->at = h->paid = bytes;
    h->budget = NULL;
    h->end = bytes + len;
    h->xml = xml;
    h->raw = WEB_TAG_OTHER;
    h->plain = h->shut = h->form = h->frames = false;
    h->frames_ok = true;
    h->templates = h->markers = h->fewest = h->depth = 0;
    h->name_len = 0;
    memset(h->opened, 0, sizeof h->opened);
}

/* --- tags --- */

/* Put the name of a tag into h->name and return where it ends. */
static const char *read_name(struct web_html *h, const char *at)
{
    uint32_t hash = 2166136261u;
    size_t n = 0;

    for (; at < h->end && !space_html(*at) && *at != '/' && *at != '>'; at++) {
        char c = *at;

        if (c >= 'A' && c <= 'Z' && !h->xml)
            c |= 0x20;
        if (c == ':' && h->xml) { /* a prefix is not part of the name */
            n = 0;
            hash = 2166136261u;
            continue;
        }
        hash = (hash ^ (unsigned char)c) * 16777619u;
        if (n < sizeof h->name)
            h->name[n++] = c;
    }
    h->name_len = n;
    h->name_hash = hash;
    return at;
}

static const char *read_value(struct web_html *h, const char *at,
                              struct seen_span *value)
{
    const char *stop;

    while (at < h->end && space_html(*at))
        at++;
    *value = (struct seen_span){ at, 0 };
    if (at == h->end || *at == '>')
        return at;
    if (*at == '"' || *at == '\'') {
        stop = find(at + 1, h->end, *at);
        *value = (struct seen_span){ at + 1, (size_t)(stop - at - 1) };
        return stop < h->end ? stop + 1 : stop;
    }
    for (stop = at; stop < h->end && !space_html(*stop) && *stop != '>';)
        stop++;
    value->len = (size_t)(stop - at);
    return stop;
}

/* Read attributes to the end of the tag; NULL if the input ends before. */
static const char *read_attributes(struct web_html *h, const char *at,
                                   struct web_html_event *e, bool *closing)
{
    *closing = false;
    e->has = 0;
    for (;;) {
        enum web_attribute which;
        struct seen_span value;
        const char *name;
        size_t len;

        for (; at < h->end && (space_html(*at) || *at == '/'); at++)
            *closing = *at == '/';
        if (at == h->end)
            return NULL;
        if (*at == '>') {
            *closing = *closing && at[-1] == '/';
            return at + 1;
        }
        for (name = at++; at < h->end && !space_html(*at) && *at != '/' &&
                          *at != '>' && *at != '=';)
            at++;
        len = (size_t)(at - name);
        value = (struct seen_span){ at, 0 };
        while (at < h->end && space_html(*at))
            at++;
        *closing = false;
        if (at < h->end && *at == '=')
            at = read_value(h, at + 1, &value);
        which = web_html_attribute(name, len, h->xml);
        if (which != WEB_NO_ATTRIBUTE && !web_html_has(e, which)) {
            e->has |= (uint32_t)1 << which;
            e->value[which] = value;
        }
    }
}

void web_html_attributes(struct web_html_event *e, const char *text,
                         size_t len)
{
    struct web_html h = { .end = text + len, .xml = true };
    bool closing;

    read_attributes(&h, text, e, &closing);
}

/* The tag at h->at. True if it makes an event. */
static bool read_tag(struct web_html *h, struct web_html_event *e)
{
    bool end = h->at[1] == '/', closing;
    const char *at = read_name(h, h->at + (end ? 2 : 1));

    at = read_attributes(h, at, e, &closing);
    if (!at) {
        h->at = h->end;
        return false;
    }
    h->at = at;
    e->kind = end ? WEB_HTML_END : WEB_HTML_START;
    e->tag = web_html_tag(h->name, h->name_len);
    e->space = WEB_SPACE_HTML;
    e->text = (struct seen_span){ at, 0 };
    e->references = false;
    if (end) {
        e->hidden = h->templates > 0;
        return web_html_end(h, e);
    }
    if (!web_html_start(h, e, closing))
        return false;
    e->hidden = h->templates > 0;
    return true;
}

/* --- comments and their like --- */

/*
 * "<!--" to "-->" or "--!>"; "<!-->" and "<!--->" are whole comments.
 */
static const char *skip_comment(const char *at, const char *end)
{
    const char *from = at, *to = at;

    while ((to = find(to, end, '>')) < end) {
        size_t n = (size_t)(to - from);

        if (n == 0 || (n == 1 && to[-1] == '-') ||
            (n >= 2 && to[-1] == '-' && to[-2] == '-') ||
            (n >= 3 && to[-1] == '!' && to[-2] == '-' && to[-3] == '-'))
            return to + 1;
        to++;
    }
    return end;
}

static bool begins(const struct web_html *h, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(h->end - h->at) >= n && !memcmp(h->at, word, n);
}

static const char *past(const char *at, const char *end, const char *word)
{
    size_t n = strlen(word);

    while ((at = find(at, end, word[0])) < end) {
        if ((size_t)(end - at) >= n && !memcmp(at, word, n))
            return at + n;
        at++;
    }
    return end;
}

static void text_event(const struct web_html *h, struct web_html_event *e,
                       const char *from, const char *to, bool references)
{
    e->kind = WEB_HTML_TEXT;
    e->tag = h->raw;
    e->space = WEB_SPACE_HTML;
    e->has = 0;
    if (h->depth && (h->xml || web_html_foreign(h))) {
        e->tag = (enum web_tag)h->open[h->depth - 1].tag;
        e->space = (enum web_space)h->open[h->depth - 1].space;
    }
    e->hidden = h->templates > 0;
    e->references = references;
    e->text = (struct seen_span){ from, (size_t)(to - from) };
}

/* What begins with "<!" or "<?". True if it makes an event. */
static bool read_markup(struct web_html *h, struct web_html_event *e)
{
    const char *from = h->at, *stop;

    if (begins(h, "<!--")) {
        h->at = h->xml ? past(h->at + 4, h->end, "-->")
                       : skip_comment(h->at + 4, h->end);
        return false;
    }
    if (begins(h, "<![CDATA[") && (h->xml || web_html_foreign(h))) {
        h->at = past(h->at + 9, h->end, "]]>");
        stop = h->at;
        if (stop - from >= 12 && !memcmp(stop - 3, "]]>", 3))
            stop -= 3;
        text_event(h, e, from + 9, stop, false);
        return stop > from + 9;
    }
    if (h->xml && from[1] == '?') {
        h->at = past(h->at + 2, h->end, "?>");
        if (h->at - from < 4)
            return false;
        text_event(h, e, from + 2, h->at - 2, false);
        e->kind = WEB_HTML_INSTRUCTION;
        return true;
    }
    h->at = find(h->at, h->end, '>');
    if (h->at < h->end)
        h->at++;
    return false;
}

/* --- text that runs to its own end tag --- */

static bool ends_raw(const struct web_html *h, const char *at,
                     const char *name, size_t len)
{
    return (size_t)(h->end - at) > len + 2 && at[0] == '<' && at[1] == '/' &&
           !strncasecmp(at + 2, name, len) &&
           (space_html(at[len + 2]) || at[len + 2] == '/' ||
            at[len + 2] == '>');
}

/*
 * Where the text of a script ends. After "<!--" a "<script" begins a script
 * inside of it, whose end tag does not end the outer one; "-->" ends this:
 *
 *     <script><!-- <script> </script> --> </script>
 */
static const char *end_of_script(const struct web_html *h)
{
    enum { PLAIN, ESCAPED, DOUBLE } state = PLAIN;
    const char *at = h->at, *from = at; /* of the comment */

    for (; at < h->end; at++) {
        if (*at == '>' && state != PLAIN && at - from >= 2 && at[-1] == '-' &&
            at[-2] == '-') {
            state = PLAIN;
        } else if (*at != '<') {
            continue;
        } else if (state != DOUBLE && ends_raw(h, at, "script", 6)) {
            return at;
        } else if (state == DOUBLE && ends_raw(h, at, "script", 6)) {
            state = ESCAPED;
            at += 7;
        } else if (state == PLAIN && h->end - at >= 4 &&
                   !memcmp(at, "<!--", 4)) {
            state = ESCAPED;
            from = at + 2; /* its dashes may be those of "-->" */
            at += 3;
        } else if (state == ESCAPED && h->end - at > 7 &&
                   !strncasecmp(at, "<script", 7) &&
                   (space_html(at[7]) || at[7] == '/' || at[7] == '>')) {
            state = DOUBLE;
            at += 6;
        }
    }
    return h->end;
}

static bool read_raw(struct web_html *h, struct web_html_event *e)
{
    const char *from = h->at, *at = from;

    if (h->raw == WEB_TAG_SCRIPT)
        at = end_of_script(h);
    else
        while ((at = find(at, h->end, '<')) < h->end &&
               !ends_raw(h, at, h->name, h->name_len))
            at++;
    text_event(h, e, from, at,
               h->raw == WEB_TAG_TITLE || h->raw == WEB_TAG_TEXTAREA);
    h->at = at;
    h->raw = WEB_TAG_OTHER;
    return at > from;
}

/* --- the whole --- */

static bool read_text(struct web_html *h, struct web_html_event *e)
{
    const char *from = h->at;

    h->at = find(from, h->end, '<');
    if (h->frames_ok)
        for (const char *at = from; at < h->at && h->frames_ok; at++)
            h->frames_ok = space_html(*at) || *at == '\0';
    text_event(h, e, from, h->at, true);
    return !h->frames;
}

/* At a "<" that begins a tag, a comment, or nothing. */
static bool read_angle(struct web_html *h, struct web_html_event *e)
{
    const char *from = h->at;
    char c = from + 1 < h->end ? from[1] : ' ';

    if (ascii_letter(c) || (h->xml && (c == '_' || (unsigned char)c >= 0x80)))
        return read_tag(h, e);
    if (c == '!' || c == '?')
        return read_markup(h, e);
    if (c == '/' && from + 2 < h->end) {
        if (ascii_letter(from[2]))
            return read_tag(h, e);
        h->at = find(from + 2, h->end, '>');
        if (h->at < h->end)
            h->at++;
        return false;
    }
    h->at++;
    h->frames_ok = false;
    text_event(h, e, from, h->at, false);
    return !h->frames;
}

/* What was read since the last time, and the open elements that a tag had to
   look at. False if that is too much. */
static bool pay(struct web_html *h)
{
    enum { BYTE = 4, TAG = 8 };
    size_t n = (size_t)(h->at - h->paid);

    h->paid = h->at;
    return !h->budget ||
           budget_spend(h->budget, BYTE * n + TAG + h->depth / 2);
}

bool web_html_next(struct web_html *h, struct web_html_event *e)
{
    if (h->shut) {
        h->shut = false;
        e->kind = WEB_HTML_END;
        e->has = 0;
        e->space = WEB_SPACE_HTML;
        e->tag = h->shut_tag;
        e->hidden = h->templates > 0;
        return true;
    }
    while (h->at < h->end && pay(h)) {
        if (h->plain) {
            text_event(h, e, h->at, h->end, false);
            h->at = h->end;
            return true;
        }
        if (h->raw != WEB_TAG_OTHER) {
            if (read_raw(h, e))
                return true;
        } else if (*h->at != '<') {
            if (read_text(h, e))
                return true;
        } else if (read_angle(h, e)) {
            return true;
        }
    }
    return false;
}
