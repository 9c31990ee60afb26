/*
 * xml.c - a template in XML, as JSON.
 *
 *     <template name="news">                       {"name": "news",
 *       <start>http://a.example/</start>            "start": ["http://..."],
 *       <pages>                                     "pages": {
 *         <page name="story">                         "story": {
 *           <fields>                                    "fields": {
 *             <field name="Title">h1::text</field>        "Title": "h1::text",
 *             <field name="Views" type="number">          "Views": {"type":
 *               .views::text</field>                        "number", "css":
 *           </fields>                                       ".views::text"}}}}}
 *         </page>
 *       </pages>
 *     </template>
 *
 * The words are those of JSON. An attribute or a child is a member. Members
 * that are lists in JSON are lists here, of as many elements as there are of
 * that name. Texts lose the white space around them. Whether the words and
 * values are right is for the reader of JSON to say.
 *
 * libxml2 parses it as UTF-8, without entities of its own, without DTD and
 * without network.
 */
#include "template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>

#include "../../lib/text/span.h"
#include "inside.h"

struct xml_reader {
    struct seen_error *why;
    enum seen_code code;
};

static bool among(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(*list, name))
            return true;
    return false;
}

static bool is_list(const char *name)
{
    static const char *const list[] = { "start", "domains", "follow", "allow",
                                        "deny",  "from",    "url",    "ignore",
                                        "strip", NULL };

    return among(name, list);
}

/* Objects whose members have names of their own, and what they are called. */
static const char *named_children(const char *name)
{
    return !strcmp(name, "pages")    ? "page"
           : !strcmp(name, "fields") ? "field"
                                     : NULL;
}

static bool is_object(const char *name)
{
    static const char *const list[] = { "pages",  "page",     "fields",
                                        "clean",  "limits",   "politeness",
                                        "follow", "template", NULL };

    return among(name, list);
}

static void fail(struct xml_reader *r, const xmlNode *node, const char *text)
{
    if (r->code == SEEN_OK)
        r->code = seen_fail(r->why, SEEN_CORRUPT, (uint64_t)xmlGetLineNo(node),
                            "<%s>: %s", (const char *)node->name, text);
}

static void no_memory(struct xml_reader *r)
{
    if (r->code == SEEN_OK)
        r->code = seen_fail(r->why, SEEN_NOMEM, 0, "out of memory");
}

/* Put a value under its name. *value is given away. */
static void put(struct xml_reader *r, const xmlNode *node, json_t *to,
                const char *name, json_t *value)
{
    json_t *list = json_object_get(to, name);

    if (r->code != SEEN_OK || !value) {
        json_decref(value);
        if (r->code == SEEN_OK)
            no_memory(r);
        return;
    }
    if (is_list(name)) {
        if (!list) {
            list = json_array();
            if (json_object_set_new(to, name, list))
                list = NULL;
        }
        if (!list || json_array_append_new(list, value))
            no_memory(r);
    } else if (list) {
        json_decref(value);
        fail(r, node, "there is one already");
    } else if (json_object_set_new(to, name, value)) {
        no_memory(r);
    }
}

/* A text as JSON: numbers and booleans where the name asks for them. */
static json_t *value_of(const char *name, const char *text, size_t len)
{
    static const char *const counts[] = { "pages",    "bytes",
                                          "depth",    "host_pages",
                                          "per_host", "per_address",
                                          "priority", NULL };
    static const char *const flags[] = { "many", "required", NULL };
    struct seen_span s = { text, len };
    size_t digits = 0;
    char number[20];

    while (s.len && memchr(" \t\r\n", s.text[0], 4))
        s.text++, s.len--;
    while (s.len && memchr(" \t\r\n", s.text[s.len - 1], 4))
        s.len--;
    if (among(name, flags) && (span_is(s, "true") || span_is(s, "false")))
        return json_boolean(s.text[0] == 't');
    if (among(name, counts) && s.len && s.len < sizeof number - 1) {
        memcpy(number, s.text, s.len);
        number[s.len] = 0;
        digits = *number == '-';
        digits += strspn(number + digits, "0123456789");
        if (digits == s.len && number[s.len - 1] != '-')
            return json_integer(strtoll(number, NULL, 10));
    }
    return json_stringn(s.text, s.len);
}

static const char *attribute_value(const xmlAttr *a)
{
    return a->children && a->children->content
               ? (const char *)a->children->content
               : "";
}

static json_t *read_element(struct xml_reader *r, const xmlNode *node);

/* The text that stands directly in an element; NULL if there is none but
   white space. It is for xmlFree(). */
static xmlChar *own_text(struct xml_reader *r, const xmlNode *node)
{
    xmlChar *all = NULL;

    for (const xmlNode *c = node->children; c; c = c->next) {
        if (c->type == XML_ENTITY_REF_NODE)
            fail(r, node, "a template has no entities of its own");
        if ((c->type == XML_TEXT_NODE || c->type == XML_CDATA_SECTION_NODE) &&
            c->content)
            all = xmlStrcat(all, c->content);
    }
    if (all && all[strspn((const char *)all, " \t\r\n")])
        return all;
    xmlFree(all);
    return NULL;
}

static void read_children(struct xml_reader *r, const xmlNode *node,
                          json_t *to)
{
    const char *wanted = named_children((const char *)node->name);

    for (const xmlNode *c = node->children; c; c = c->next) {
        const char *name = (const char *)c->name;

        if (c->type != XML_ELEMENT_NODE)
            continue;
        if (wanted) {
            xmlAttr *a = xmlHasProp(c, (const xmlChar *)"name");

            if (strcmp(name, wanted) != 0 || !a)
                fail(r, c,
                     "expected <page name=\"...\"> in <pages>, and "
                     "<field name=\"...\"> in <fields>");
            else
                put(r, c, to, attribute_value(a), read_element(r, c));
        } else {
            put(r, c, to, name, read_element(r, c));
        }
    }
}

/*
 * An element is an object if it has members, or if it is one by its name; else
 * its text. The text beside members, in a <field>, is its css.
 */
static json_t *read_element(struct xml_reader *r, const xmlNode *node)
{
    const char *name = (const char *)node->name;
    bool named = !strcmp(name, "field") || !strcmp(name, "page");
    xmlChar *text = own_text(r, node);
    json_t *to = json_object();

    for (const xmlAttr *a = node->properties; to && a; a = a->next) {
        const char *value = attribute_value(a);

        if (!named || strcmp((const char *)a->name, "name") != 0)
            put(r, node, to, (const char *)a->name,
                value_of((const char *)a->name, value, strlen(value)));
    }
    if (to)
        read_children(r, node, to);
    if (to && !json_object_size(to) &&
        (!is_object(name) ||
         (node->parent->name &&
          !strcmp((const char *)node->parent->name, "limits")))) {
        json_decref(to);
        to = value_of(name, text ? (const char *)text : "",
                      text ? strlen((const char *)text) : 0);
    } else if (to && text && !strcmp(name, "field")) {
        put(r, node, to, "css",
            value_of("css", (const char *)text, strlen((const char *)text)));
    } else if (text) {
        fail(r, node, "text between elements");
    }
    xmlFree(text);
    return to;
}

static enum seen_code write_json(struct buffer *json, json_t *root,
                                 struct seen_error *why)
{
    char *text = json_tree_text(root, JSON_INDENT(2));

    if (text) {
        buffer_text(json, text);
        buffer_byte(json, '\n');
    }
    free(text);
    return text && !json->failed
               ? SEEN_OK
               : seen_fail(why, SEEN_NOMEM, 0, "out of memory");
}

static enum seen_code syntax(const xmlError *e, struct seen_error *why)
{
    char text[100] = "not XML";

    if (e && e->message) {
        snprintf(text, sizeof text, "%s", e->message);
        text[strcspn(text, "\n")] = 0;
    }
    return seen_fail(why, SEEN_CORRUPT,
                     e && e->line > 0 ? (uint64_t)e->line : 0, "%s", text);
}

static xmlDoc *parse(xmlParserCtxtPtr parser, const char *xml, size_t len)
{
    return xmlCtxtReadMemory(parser, xml, (int)len, NULL, "UTF-8",
                             XML_PARSE_NONET | XML_PARSE_NOERROR |
                                 XML_PARSE_NOWARNING | XML_PARSE_BIG_LINES);
}

enum seen_code crawl_template_convert(struct buffer *json, const char *xml,
                                      size_t len, struct seen_error *why)
{
    struct xml_reader r = { .why = why };
    xmlParserCtxtPtr parser;
    xmlNode *top = NULL;
    json_t *root;
    xmlDoc *doc;

    if (len > CRAWL_TEMPLATE)
        return seen_fail(why, SEEN_RANGE, 0, "a template has at most %d bytes",
                         CRAWL_TEMPLATE);
    if (memmem(xml, len, "<!DOCTYPE", 9) || memmem(xml, len, "<!ENTITY", 8))
        return seen_fail(why, SEEN_CORRUPT, 1, "a template has no DTD");
    parser = xmlNewParserCtxt();
    if (!parser)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    doc = parse(parser, xml, len);
    if (!doc || doc->intSubset || !(top = xmlDocGetRootElement(doc)))
        r.code = syntax(&parser->lastError, why);
    else if (strcmp((const char *)top->name, "template") != 0)
        fail(&r, top, "expected <template>");
    if (r.code == SEEN_OK) {
        root = read_element(&r, top);
        if (!root)
            no_memory(&r);
        if (r.code == SEEN_OK)
            r.code = write_json(json, root, why);
        json_decref(root);
    }
    xmlFreeDoc(doc);
    xmlFreeParserCtxt(parser);
    return r.code;
}

/* --- where a mistake stands --- */

/* The element of a member, number `n` if it is a list; `of` itself if the
   member is an attribute or is not there. */
static xmlNode *find_member(xmlNode *of, const char *name, size_t n)
{
    const xmlChar *key = (const xmlChar *)"name";
    bool named = named_children((const char *)of->name);

    if (!named && xmlHasProp(of, (const xmlChar *)name) && !n--)
        return of;
    for (xmlNode *c = of->children; c; c = c->next) {
        const char *own = (const char *)c->name;
        const xmlAttr *a;

        if (c->type != XML_ELEMENT_NODE)
            continue;
        if (named)
            own = (a = xmlHasProp(c, key)) ? attribute_value(a) : "";
        if (!strcmp(own, name) && !n--)
            return c;
    }
    return of;
}

static xmlNode *find_place(const struct crawl_place *at, xmlNode *top)
{
    const struct crawl_place *list = at->up;

    if (!list)
        return top;
    if (at->name)
        return find_member(find_place(list, top), at->name, 0);
    return list->up
               ? find_member(find_place(list->up, top), list->name, at->index)
               : top;
}

uint64_t crawl_place_xml_line(const struct crawl_place *at, const char *xml,
                              size_t len)
{
    xmlParserCtxtPtr parser = xmlNewParserCtxt();
    xmlDoc *doc = parser ? parse(parser, xml, len) : NULL;
    xmlNode *top = doc ? xmlDocGetRootElement(doc) : NULL;
    long line = top ? xmlGetLineNo(find_place(at, top)) : 0;

    xmlFreeDoc(doc);
    xmlFreeParserCtxt(parser);
    return line > 0 ? (uint64_t)line : 0;
}
