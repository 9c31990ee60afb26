/*
 * template.c - seen template: selectors and spider templates, tried offline.
 *
 *     $ seen template select page.html 'h1::text'
 *     TimeZone abbreviation not working after updating to java 8
 *     $ seen template check questions.json
 *     seen: questions.json: line 7: follow[0].css: byte 3: expected a class
 */
#include "template.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/disk/disk.h"
#include "../lib/text/space.h"
#include "../lib/text/span.h"
#include "../lib/text/utf8.h"
#include "../web/select.h"
#include "input.h"
#include "json.h"
#include "output.h"

static const struct option options[] = {
    { "base", 0, TEXT, "URL", offsetof(struct cmd_template, base),
      "the address of the page: select prints links as whole URLs, try needs "
      "it for the page's type and links (default: the first start URL)" },
    { "charset", 0, TEXT, "C", offsetof(struct cmd_template, charset),
      "the character encoding that the server would have said" },
    { "xpath", 0, FLAG, NULL, offsetof(struct cmd_template, xpath),
      "select: the selector is XPath, however it begins" },
    { "type", 0, TEXT, "T", offsetof(struct cmd_template, type),
      "try: the page type, as if a follow rule had given it" },
    { "output", 'o', PATH, "OUT", offsetof(struct cmd_template, output),
      "convert: write to this file, which is replaced; - is standard output" },
    JSON_OPTION(struct cmd_template, json,
                "select: print one object per result; try: one object"),
    { "allow-private", 0, FLAG, NULL,
      offsetof(struct cmd_template, allow_private),
      "try: also connect to private, loopback and link-local addresses" },
    { "allow", 0, TEXT, "ADDRESS:PORT,...",
      offsetof(struct cmd_template, allow),
      "try: also connect to these addresses" },
    { "ca", 0, PATH, "FILE", offsetof(struct cmd_template, ca),
      "try: certificates to trust, in PEM (default: the system's)" },
    { "timeout", 0, DURATION, "TIME", offsetof(struct cmd_template, timeout),
      "try: give up a page that takes longer (default 30s)" },
    { .name = NULL }
};

/* --- files --- */

bool cmd_template_file(const char *path, size_t most, char **bytes,
                       size_t *len)
{
    struct seen_error why;
    struct input in;
    bool good;

    if (!input_open(&in, path))
        return false;
    good = disk_load(bytes, len, in.path, most, &why) == SEEN_OK;
    if (!good)
        trouble_with(in.name, &why);
    input_close(&in);
    return good;
}

static void report_mistake(void *owner, uint64_t line, const char *text)
{
    const char *path = *(const char **)owner;

    if (line)
        trouble("%s: line %llu: %s", path, (unsigned long long)line, text);
    else
        trouble("%s: %s", path, text);
}

struct crawl_template *cmd_template_load(const char *path)
{
    struct crawl_template *t = NULL;
    struct seen_error why;
    enum seen_code code;
    char *text;
    size_t len;

    if (!cmd_template_file(path, CRAWL_TEMPLATE, &text, &len))
        return NULL;
    code = crawl_template_new(&t, text, len, report_mistake, &path, &why);
    if (code != SEEN_OK && code != SEEN_CORRUPT)
        trouble_with(path, &why);
    free(text);
    return t;
}

/* --- select --- */

struct template_selecting {
    const struct cmd_template *o;
    char base[SEEN_KEY_TEXT];
    size_t base_len, found;
    struct buffer text;
};

void cmd_template_print(const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t n = at;
        bool broken = false;

        while (n < len && space_html(text[n]))
            broken |= strchr("\r\n\f", text[n++]) != NULL;
        if (n > at && broken)
            output_text(" ");
        else
            output_bytes(text + at, n - at);
        at = n;
        while (n < len && ((unsigned char)text[n] > ' ') && text[n] != 0x7f)
            n++;
        output_bytes(text + at, n - at);
        at = n;
        if (n < len && !space_html(text[n])) {
            output_text(UTF8_UNKNOWN);
            at++;
        }
    }
}

static void print_line(const char *text, size_t len)
{
    cmd_template_print(text, len);
    output_text("\n");
}

static bool is_link(const char *name)
{
    static const char *const names[] = {
        "href", "src",    "action",   "formaction", "cite",
        "data", "poster", "longdesc", "background"
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static const char *const kinds[] = { [WEB_MATCH_ELEMENT] = "element",
                                     [WEB_MATCH_TEXT] = "text",
                                     [WEB_MATCH_ATTRIBUTE] = "attribute",
                                     [WEB_MATCH_VALUE] = "value" };

static bool print_match(void *owner, const struct web_match *m)
{
    struct template_selecting *s = owner;
    char room[SEEN_KEY_TEXT];
    const char *url;
    size_t len;

    s->found++;
    s->text.len = 0;
    if (m->kind == WEB_MATCH_ELEMENT)
        web_match_html(&s->text, m);
    else if (m->kind == WEB_MATCH_ATTRIBUTE && s->base_len &&
             is_link(m->name) &&
             seen_url_whatwg(&url, &len, room, m->value.text, m->value.len,
                             s->base, s->base_len, NULL) == SEEN_OK)
        buffer_bytes(&s->text, url, len);
    else
        web_match_text(&s->text, m);
    if (s->text.failed) {
        output_no_memory();
        return false;
    }
    if (s->o->json) {
        cmd_json_open(NULL, '{');
        cmd_json_word("kind", kinds[m->kind]);
        if (*m->name)
            cmd_json_word("name", m->name);
        cmd_json_text("value", s->text.len ? s->text.bytes : "", s->text.len);
        cmd_json_shut('}');
    } else {
        print_line(s->text.len ? s->text.bytes : "", s->text.len);
    }
    return !output_dead();
}

static enum outcome select_from(const struct cmd_template *o, char **operand,
                                const struct web_selector *selector)
{
    struct template_selecting s = { .o = o };
    struct web_tree *tree = NULL;
    enum outcome out = YES;
    struct seen_error why;
    char *bytes;
    size_t len;

    if (!cmd_template_file(operand[0], WEB_TREE_BYTES, &bytes, &len))
        return TROUBLE;
    if (web_tree_new(&tree, bytes, len, o->charset, &why) != SEEN_OK)
        out = trouble_with(operand[0], &why);
    free(bytes);
    if (out == YES && web_tree_cut(tree))
        warning("%s: only its beginning was parsed: too deep or too large",
                operand[0]);
    if (out == YES && o->base &&
        web_tree_base(tree, s.base, &s.base_len, o->base, strlen(o->base),
                      &why) != SEEN_OK)
        out = trouble("--base %s: %s", o->base, why.text);
    if (out == YES &&
        web_select(selector, tree, print_match, &s, &why) != SEEN_OK)
        out = trouble_with(operand[1], &why);
    web_tree_free(tree);
    buffer_clear(&s.text);
    return out == YES && !s.found ? NO : out;
}

static enum outcome template_select(void *settings, char **operand)
{
    const struct cmd_template *o = settings;
    struct web_selector *selector;
    struct seen_error why;
    enum outcome out;

    if (web_selector_new(&selector, operand[1], strlen(operand[1]), o->xpath,
                         &why) != SEEN_OK)
        return trouble_with(operand[1], &why);
    out = select_from(o, operand, selector);
    web_selector_free(selector);
    return out;
}

/* --- check --- */

static enum outcome template_check(void *settings, char **operand)
{
    struct crawl_template *t = cmd_template_load(operand[0]);

    (void)settings;
    if (!t)
        return TROUBLE;
    output_format("%s: %llu start URL%s, template %s\n", operand[0],
                  (unsigned long long)crawl_template_starts(t),
                  crawl_template_starts(t) == 1 ? "" : "s",
                  crawl_template_hash(t));
    crawl_template_free(t);
    return YES;
}

/* --- convert --- */

static enum outcome template_convert(void *settings, char **operand)
{
    const struct cmd_template *o = settings;
    struct buffer json = { .bytes = NULL };
    struct crawl_template *t = NULL;
    struct seen_error why;
    enum outcome out = YES;
    enum seen_code code;
    char *xml;
    size_t len;

    if (!o->output)
        return trouble("-o OUT is missing; usage: seen template convert "
                       "IN.xml -o OUT.json");
    if (!cmd_template_file(operand[0], CRAWL_TEMPLATE, &xml, &len))
        return TROUBLE;
    code = crawl_template_convert(&json, xml, len, &why);
    free(xml);
    if (code == SEEN_CORRUPT) {
        report_mistake(&operand[0], why.at, why.text);
        out = TROUBLE;
    } else if (code != SEEN_OK) {
        out = trouble_with(operand[0], &why);
    } else if (crawl_template_new(&t, json.bytes, json.len, NULL, NULL,
                                  &why) != SEEN_OK) {
        /* Lines of a JSON text that nobody has seen would not help. */
        out = trouble_with(operand[0], &why);
    } else if (!strcmp(o->output, "-")) {
        output_bytes(json.bytes, json.len);
    } else if (disk_replace(o->output, json.bytes, json.len, &why) !=
               SEEN_OK) {
        out = trouble_with(o->output, &why);
    }
    crawl_template_free(t);
    buffer_clear(&json);
    return out;
}

/* --- the command --- */

static const struct command_part parts[] = {
    { "select", "FILE SELECTOR", 2, 2, " base charset xpath json ",
      template_select },
    { "check", "TEMPLATE", 1, 1, " ", template_check },
    { "try", "TEMPLATE FILE|URL", 2, 2,
      " base charset type json allow-private allow ca timeout ",
      cmd_template_try },
    { "convert", "IN.xml -o OUT.json", 1, 1, " output ", template_convert },
    { .name = NULL }
};

const struct command cmd_template = {
    .name = "template",
    .summary = "try selectors and spider templates on pages",
    .synopsis = "select|check|try|convert FILE [SELECTOR|PAGE]",
    .operands = 1,
    .most = 3,
    .settings = sizeof(struct cmd_template),
    .options = options,
    .about =
        "seen template select FILE SELECTOR prints what a selector finds in a "
        "page, one result per line: elements as HTML, texts and attributes as "
        "they are, each in one line. White space with a line end in it is "
        "printed as one space; --json prints values unchanged. SELECTOR is "
        "CSS level 3, with :contains(\"text\"), ::text and ::attr(name) at the "
        "end, or XPath 1.0 if it begins with /, ./ or (. A selector that is "
        "not valid is refused with the byte of the mistake. FILE may be -.\n"
        "\n"
        "seen template check TEMPLATE reads a spider template, which is JSON "
        "or XML, and names the line and the mistake of everything that is "
        "wrong in it.\n"
        "\n"
        "seen template try TEMPLATE FILE|URL prints what a crawl with this "
        "template would make of a page: its type, the fields, and for each "
        "link whether it would be followed, and by which rule. A URL is "
        "fetched, from public addresses only unless --allow or "
        "--allow-private is given.\n"
        "\n"
        "seen template convert IN.xml -o OUT.json writes a template that is "
        "XML as JSON.\n"
        "\n"
        "doc/web.md describes selectors and templates.\n",
    .exits = "select: 0 something was found, 1 nothing was found. try: 0 if "
             "every required field was found, else 1. check and convert: 0 if "
             "the template is right. 2 trouble, as a mistake in a selector or "
             "template.",
    .examples = "$ seen template select page.html 'h2 a::attr(href)' --base "
                "http://a.example/\n"
                "$ seen template check questions.json\n"
                "$ seen template try questions.json page.html\n"
                "$ seen template convert questions.xml -o questions.json\n",
    .parts = parts,
};
