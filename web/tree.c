/*
 * tree.c - from the bytes of a page to a tree.
 *
 *     bytes ──> UTF-8 without zeros ──> looked through ──> libxml2 ──> tree
 *                 decode()                 bounds()         parse()
 *
 * libxml2 gets UTF-8 only, and is told so: its own detection stops at a zero
 * byte, and takes a page with one wrong byte as ISO-8859-1. It never loads
 * anything (XML_PARSE_NONET, and HTML has no entities of its own).
 *
 * Two loops of libxml2's HTML parser are quadratic and out of reach of its
 * callbacks. The page is therefore looked through before, by a scanner that
 * finds at least the tags that libxml2 does:
 *
 *   - attributes of a tag, compared in pairs, 12 ns per pair: PAIRS of them
 *     per page, then the page is cut;
 *   - an end tag without a start tag is looked for among all open elements,
 *     3 ns each: the depth times the number of tags is at most STEPS.
 */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include <libxml/HTMLparser.h>
#include <libxml/HTMLtree.h>
#include <libxml/parserInternals.h>
#include <libxml/SAX2.h>

#include "../lib/text/sip.h"
#include "../lib/text/space.h"
#include "charset.h"
#include "view.h"

enum {
    PAIRS = 100000000,
    STEPS = 500000000,
    LOOKS = 16, /* times that the scanner may look at a byte, on average */
    LOOKS_LEAST = 1 << 20,
    /* What is paid from a budget, of 2 ns each, measured: */
    DECODE_BYTE = 8,
    PARSE_BYTE = 5,
    PAIR = 6,
    REFERENCE = 120, /* libxml2 compares its name with 253 others */
    ELEMENT = 200,
    ATTRIBUTE = 100,
    MISTAKE = 60, /* a message is made of each */
    DEPTH_LEAST = 256 /* libxml2's own bound for XML */
};

/* --- characters --- */

static enum seen_code decode(struct buffer *text, const char *bytes,
                             size_t len, const char *charset,
                             struct budget *budget, struct seen_error *why)
{
    struct web_encoding found;
    size_t n = 0;

    if (!budget_spend(budget, DECODE_BYTE * (uint64_t)len))
        return SEEN_OK; /* a page without a tree */

    web_charset_of(&found, bytes, len, charset);
    if (!found.charset)
        found.charset = web_charset_guess(bytes, len);
    web_charset_decode(text, found.charset, bytes + found.skip,
                       len - found.skip);
    if (text->failed)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    if (text->len && memchr(text->bytes, 0, text->len)) {
        for (size_t i = 0; i < text->len; i++)
            if (text->bytes[i])
                text->bytes[n++] = text->bytes[i];
        text->len = n;
    }
    return SEEN_OK;
}

/* --- bounds --- */

static bool begins_name(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c == ':';
}

/*
 * The tag that begins at `at`: where it ends, and how many attributes it may
 * have. Quotes are followed only after "=", as libxml2 does.
 */
static size_t scan_tag(const char *text, size_t len, size_t at,
                       uint64_t *attributes)
{
    bool value = false, between = false;

    for (*attributes = 0; at < len && text[at] != '>'; at++) {
        char c = text[at];

        if (value && (c == '"' || c == '\'')) {
            const char *end = memchr(text + at + 1, c, len - at - 1);

            if (!end)
                return len;
            at = (size_t)(end - text);
            value = false;
            between = true;
            continue;
        }
        if (space_html(c) || c == '/') {
            between = true;
            continue;
        }
        if (between && c != '=' && !value)
            ++*attributes;
        between = false;
        value = c == '=';
    }
    return at;
}

/* What libxml2 needs for some bytes, without their elements. */
static uint64_t cost_of(const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    uint64_t references = 0;

    while (at < end && (at = memchr(at, '&', (size_t)(end - at)))) {
        references++;
        at++;
    }
    return PARSE_BYTE * (uint64_t)len + REFERENCE * references;
}

/*
 * How many bytes may be parsed, and how deep. A "<" in a script, in a comment
 * or in quotes may be a tag or not, depending on what is before it. Each is
 * looked at as a tag of its own, so that no page can hide one; the bytes that
 * are looked at several times are counted.
 */
static size_t bounds(const char *text, size_t len, unsigned *depth,
                     struct budget *budget)
{
    uint64_t pairs = 0, looked = 0, tags = 0, most, n;
    size_t at = 0, end = len, from = 0, scanned;

    while (at < len) {
        const char *tag = memchr(text + at, '<', len - at);

        at = tag ? (size_t)(tag - text) + 1 : len;
        if (!budget_spend(budget, cost_of(text + from, at - from))) {
            end = from;
            break;
        }
        from = at;
        tags++;
        if (at == len || !begins_name(text[at]))
            continue;
        scanned = scan_tag(text, len, at, &n) - at;
        looked += scanned;
        pairs += n * n / 2;
        if (pairs > PAIRS || looked > LOOKS * (uint64_t)len + LOOKS_LEAST ||
            !budget_spend(budget,
                          scanned + PAIR * (n * n / 2) + ATTRIBUTE * n)) {
            end = at - 1;
            break;
        }
    }
    most = STEPS / (tags + 1);
    *depth = most > WEB_TREE_DEPTH ? WEB_TREE_DEPTH
             : most < DEPTH_LEAST  ? DEPTH_LEAST
                                   : (unsigned)most;
    return end;
}

/* --- parsing --- */

struct web_parsing {
    htmlParserCtxtPtr parser;
    unsigned depth;
    size_t elements;
    bool cut, memory; /* memory: ran out */
    struct budget *budget;
};

/* Pay for an element or a mistake, which looks at the open elements. */
static bool pay(struct web_parsing *p, uint64_t steps)
{
    unsigned open = p->parser ? (unsigned)p->parser->nodeNr : 0;

    if (budget_spend(p->budget, steps + open / 2))
        return true;
    p->cut = true;
    if (p->parser)
        xmlStopParser(p->parser);
    return false;
}

/* Without memory libxml2 goes on with what it has; so it is stopped. Other
   errors are what pages are made of. */
static void take_error(void *owner, xmlErrorPtr error)
{
    struct web_parsing *p = owner;

    pay(p, MISTAKE);
    if (error->code == XML_ERR_NO_MEMORY) {
        p->memory = true;
        if (p->parser)
            xmlStopParser(p->parser);
    }
}

static void start_element(void *context, const xmlChar *name,
                          const xmlChar **attributes)
{
    htmlParserCtxtPtr parser = context;
    struct web_parsing *p = parser->_private;

    if ((unsigned)parser->nodeNr >= p->depth ||
        p->elements >= WEB_TREE_NODES) {
        p->cut = true;
        xmlStopParser(parser);
        return;
    }
    if (!pay(p, ELEMENT))
        return;
    p->elements++;
    xmlSAX2StartElement(parser, name, attributes);
}

static enum seen_code parse(struct web_tree *tree, const char *text,
                            size_t len, struct budget *budget,
                            struct seen_error *why)
{
    struct web_parsing p = { .budget = budget };
    size_t end = bounds(text, len, &p.depth, budget);

    xmlSetStructuredErrorFunc(&p, take_error); /* of this thread */
    p.parser = htmlCreateMemoryParserCtxt(end ? text : " ",
                                          end ? (int)end : 1);
    if (p.parser) {
        htmlCtxtUseOptions(p.parser,
                           HTML_PARSE_RECOVER | HTML_PARSE_NOERROR |
                               HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                               HTML_PARSE_IGNORE_ENC | HTML_PARSE_NODEFDTD);
        p.parser->options |= XML_PARSE_HUGE; /* our bounds, not libxml2's */
        /* Its table of ids does not grow with the page: a million of them
           take 8 s, and nobody asks it. */
        p.parser->loadsubset |= XML_SKIP_IDS;
        p.parser->_private = &p;
        p.parser->sax->startElement = start_element;
        xmlSwitchEncoding(p.parser, XML_CHAR_ENCODING_UTF8);
        htmlParseDocument(p.parser);
        tree->doc = p.parser->myDoc;
        tree->cut |= p.cut || end < len;
        htmlFreeParserCtxt(p.parser);
        p.parser = NULL;
        if (!tree->doc)
            tree->doc = htmlNewDocNoDtD(NULL, NULL);
    }
    xmlSetStructuredErrorFunc(NULL, NULL);
    if (!tree->doc || p.memory)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    return SEEN_OK;
}

enum seen_code web_tree_new(struct web_tree **out, const char *bytes,
                            size_t len, const char *charset,
                            struct seen_error *why)
{
    return web_tree_new_within(out, bytes, len, charset, NULL, why);
}

enum seen_code web_tree_new_within(struct web_tree **out, const char *bytes,
                                   size_t len, const char *charset,
                                   struct budget *budget,
                                   struct seen_error *why)
{
    struct budget any = { .left = UINT64_MAX };
    struct buffer text = { .bytes = NULL };
    struct web_tree *tree;
    enum seen_code code;

    if (len > WEB_TREE_BYTES)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a page of more than %d MB is not parsed",
                         WEB_TREE_BYTES >> 20);
    tree = calloc(1, sizeof *tree);
    if (!tree)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    if (!budget)
        budget = &any;
    code = decode(&text, bytes, len, charset, budget, why);
    tree->cut = len && budget_empty(budget);
    if (code == SEEN_OK)
        code = parse(tree, text.bytes, text.len, budget, why);
    buffer_clear(&text);
    if (code == SEEN_OK)
        code = web_view_make(tree, false, why);
    if (code == SEEN_OK)
        *out = tree;
    else
        web_tree_free(tree);
    return code;
}

void web_tree_free(struct web_tree *tree)
{
    if (!tree)
        return;
    web_tree_link(tree, false);
    for (size_t i = 0; i < tree->bodies; i++)
        xmlFreeNode(tree->body[i].node);
    free(tree->body);
    web_view_clear(&tree->source);
    web_view_clear(&tree->browser);
    web_xpath_rows_clear(&tree->rows[0]);
    web_xpath_rows_clear(&tree->rows[1]);
    if (tree->doc)
        xmlFreeDoc(tree->doc);
    free(tree);
}

/* --- facts about a tree --- */

void web_tree_limit(struct web_tree *tree, struct budget *budget)
{
    tree->budget = budget;
}

struct budget *web_tree_budget(const struct web_tree *tree)
{
    return tree->budget;
}

bool web_tree_cut(const struct web_tree *tree)
{
    return tree->cut;
}

size_t web_tree_elements(const struct web_tree *tree)
{
    return tree->source.n;
}

/*
 * The text that is hashed: "(html(head(title))(body(p)(p". SipHash with a
 * secret of zeros: what is needed is a hash that is the same everywhere.
 */
enum seen_code web_tree_skeleton(const struct web_tree *tree, uint64_t *hash,
                                 struct seen_error *why)
{
    static const unsigned char secret[SIP_SECRET];
    const struct web_view *v = &tree->source;
    struct buffer text = { .bytes = NULL };
    uint32_t before = WEB_NONE;
    uint64_t hi;

    for (uint32_t i = 0; i < v->n; i++) {
        for (uint32_t up = before; up != v->element[i].parent;
             up = v->element[up].parent)
            buffer_byte(&text, ')');
        buffer_byte(&text, '(');
        buffer_text(&text, (const char *)v->element[i].node->name);
        before = i;
    }
    if (text.failed) {
        buffer_clear(&text);
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    }
    sip_hash(secret, text.bytes ? text.bytes : "", text.len, hash, &hi);
    buffer_clear(&text);
    return SEEN_OK;
}

enum seen_code web_tree_base(const struct web_tree *tree,
                             char base[SEEN_KEY_TEXT], size_t *base_len,
                             const char *url, size_t len,
                             struct seen_error *why)
{
    const struct web_view *v = &tree->source;
    uint32_t name = web_view_name(v, "base");
    char room[SEEN_KEY_TEXT];
    const char *page, *whole, *href = NULL;
    enum seen_code code;
    size_t page_len;

    code = seen_url_whatwg(&page, &page_len, room, url, len, NULL, 0, why);
    if (code != SEEN_OK)
        return code;
    for (size_t i = 0; i < v->n && !href && name != WEB_NONE; i++)
        if (v->element[i].name == name)
            href = web_node_value(v->element[i].node, "href");
    if (href && seen_url_whatwg(&whole, base_len, base, href, strlen(href),
                                page, page_len, NULL) == SEEN_OK) {
        memmove(base, whole, *base_len);
        return SEEN_OK;
    }
    memcpy(base, page, page_len);
    *base_len = page_len;
    return SEEN_OK;
}
