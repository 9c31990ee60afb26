/*
 * html_names.c - numbers for the names of elements and attributes.
 *
 * The names are sorted; an index by the first letter leaves at most 15 to
 * compare, sixteen bytes at a time, since most elements of a page are one of
 * a, span, div, code, li and p.
 */
#include "html.h"

#include <string.h>
#include <strings.h>

#include "../lib/text/little.h"

static const char tags[WEB_TAGS - 1][16] = {
    "a",
    "address",
    "annotation-xml",
    "applet",
    "area",
    "article",
    "aside",
    "audio",
    "b",
    "base",
    "basefont",
    "bgsound",
    "big",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "center",
    "code",
    "col",
    "colgroup",
    "dd",
    "desc",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "font",
    "footer",
    "foreignobject",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "i",
    "iframe",
    "image",
    "img",
    "input",
    "keygen",
    "li",
    "link",
    "listing",
    "main",
    "malignmark",
    "marquee",
    "math",
    "menu",
    "meta",
    "mglyph",
    "mi",
    "mn",
    "mo",
    "ms",
    "mtext",
    "nav",
    "nobr",
    "noembed",
    "noframes",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "picture",
    "plaintext",
    "pre",
    "rb",
    "rp",
    "rt",
    "rtc",
    "ruby",
    "s",
    "script",
    "search",
    "section",
    "select",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "tt",
    "u",
    "ul",
    "use",
    "var",
    "video",
    "wbr",
    "xmp",
};

/* The first tag with a letter; [26] is the end. */
static const unsigned char first[27] = { 0,   8,   17,  22,  30,  32,  41,
                                         41,  52,  57,  57,  58,  61,  73,
                                         78,  82,  87,  87,  92,  107, 119,
                                         122, 124, 125, 126, 126, 126 };

enum web_tag web_html_tag(const char *name, size_t len)
{
    unsigned letter = len ? (unsigned)(name[0] - 'a') : 26;
    uint64_t half[2] = { 0, 0 }; /* with zeros at the end, as in the table */

    if (letter >= 26 || len > 14)
        return WEB_TAG_OTHER;
    for (size_t i = 0; i < len; i++)
        half[i / 8] |= (uint64_t)(unsigned char)name[i] << 8 * (i % 8);
    for (unsigned i = first[letter]; i < first[letter + 1]; i++)
        if (little_64(tags[i]) == half[0] && little_64(tags[i] + 8) == half[1])
            return (enum web_tag)(i + 1);
    return WEB_TAG_OTHER;
}

/* By length; most attributes of a page are class and id. */
static const struct {
    unsigned char len, which;
    char name[12];
} attributes[WEB_ATTRIBUTES] = {
    { 2, WEB_AS, "as" },
    { 3, WEB_ALT, "alt" },
    { 3, WEB_REL, "rel" },
    { 3, WEB_SRC, "src" },
    { 4, WEB_DATA, "data" },
    { 4, WEB_FACE, "face" },
    { 4, WEB_FORM, "form" },
    { 4, WEB_HREF, "href" },
    { 4, WEB_NAME, "name" },
    { 4, WEB_SIZE, "size" },
    { 4, WEB_TYPE, "type" },
    { 5, WEB_COLOR, "color" },
    { 5, WEB_STYLE, "style" },
    { 6, WEB_ACTION, "action" },
    { 6, WEB_METHOD, "method" },
    { 6, WEB_POSTER, "poster" },
    { 6, WEB_SRCSET, "srcset" },
    { 7, WEB_CHARSET, "charset" },
    { 7, WEB_CONTENT, "content" },
    { 8, WEB_ENCODING, "encoding" },
    { 10, WEB_BACKGROUND, "background" },
    { 10, WEB_FORMACTION, "formaction" },
    { 10, WEB_FORMMETHOD, "formmethod" },
    { 10, WEB_HTTP_EQUIV, "http-equiv" },
    { 10, WEB_XLINK_HREF, "xlink:href" },
    { 11, WEB_IMAGESRCSET, "imagesrcset" },
};

enum web_attribute web_html_attribute(const char *name, size_t len, bool xml)
{
    /* The first of a length; [12] is the end. */
    static const unsigned char by_length[13] = { 0,  0,  0,  1,  4,  11, 13,
                                                 17, 19, 20, 20, 25, 26 };

    if (len > 11)
        return WEB_NO_ATTRIBUTE;
    for (unsigned i = by_length[len]; i < by_length[len + 1]; i++)
        if ((name[0] | 0x20) == attributes[i].name[0] &&
            !(xml ? memcmp(name, attributes[i].name, len)
                  : strncasecmp(name, attributes[i].name, len)))
            return (enum web_attribute)attributes[i].which;
    return WEB_NO_ATTRIBUTE;
}
