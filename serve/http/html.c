/* html.c - beginnings and ends of pages. */
#include "html.h"

#include <time.h>

#include <seen/version.h>

#include "../../lib/text/xml.h"
#include "reply.h"
#include "webpage.h"

void html_put(struct buffer *o, const char *text)
{
    buffer_xml(o, text, strlen(text));
}

void html_date(struct buffer *o, int64_t ms)
{
    const time_t at = (time_t)(ms / 1000);
    char exact[32], plain[32];
    struct tm tm;

    if (ms <= 0 || !gmtime_r(&at, &tm) ||
        !strftime(exact, sizeof exact, "%Y-%m-%dT%H:%M:%SZ", &tm) ||
        !strftime(plain, sizeof plain, "%Y-%m-%d %H:%M:%S", &tm)) {
        buffer_text(o, "–");
        return;
    }
    buffer_format(o, "<time datetime=\"%s\">%s UTC</time>", exact, plain);
}

static void put_links(struct buffer *o, const struct html_page *page)
{
    const char *up = page->up;

    buffer_format(o,
                  "<header class=\"masthead\"><div class=\"measure\">\n"
                  "<p class=\"name\"><a href=\"%s\">seen</a></p>\n"
                  "<nav aria-label=\"Site\"><ul><li><a href=\"%s\">Archives"
                  "</a></li>",
                  *up ? up : "./", *up ? up : "./");
    if (page->search)
        buffer_format(o, "<li><a href=\"%ssearch\">Search</a></li>", up);
    if (page->crawls)
        buffer_format(o, "<li><a href=\"%scrawls\">Crawls</a></li>", up);
    buffer_text(o, "</ul></nav>\n</div></header>\n");
}

void html_begin(struct buffer *o, const struct html_page *page)
{
    buffer_text(o, "<!doctype html>\n<html lang=\"en\">\n<head>\n"
                   "<meta charset=\"utf-8\">\n<title>");
    html_put(o, page->title);
    buffer_format(
        o,
        " - seen</title>\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta name=\"robots\" content=\"noindex\">\n"
        "<link rel=\"icon\" href=\"data:image/svg+xml,%%3Csvg "
        "xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%%3E%%3Crect "
        "width='16' height='16' rx='2' fill='%%23173f5f'/%%3E%%3Cpath d='M3.5 "
        "8.5l3 3 6-7' fill='none' stroke='%%23fff' "
        "stroke-width='2'/%%3E%%3C/svg%%3E\">\n"
        "<link rel=\"stylesheet\" href=\"%spage.css\">\n"
        "<link rel=\"stylesheet\" href=\"%s%s\">\n",
        page->up, page->up, page->style);
    if (page->script)
        buffer_format(o, "<script src=\"%s%s\" defer></script>\n", page->up,
                      page->script);
    buffer_text(o, "</head>\n<body>\n"
                   "<a class=\"skip\" href=\"#main\">Skip to the content</a>"
                   "\n");
    put_links(o, page);
    buffer_text(o, "<main id=\"main\" tabindex=\"-1\">\n");
}

void html_end(struct buffer *o, const char *json, const char *more)
{
    buffer_text(o, "</main>\n<footer><p class=\"measure\">seen " SEEN_VERSION
                   ". For programs: <a href=\"");
    html_put(o, json);
    buffer_format(o,
                  "\">the same as JSON</a>%s.</p></footer>\n</body>\n"
                  "</html>\n",
                  more);
}

void html_reply(struct conn *c, const struct http_request *r, int status,
                struct buffer *body)
{
    reply_private(c, r, status,
                  "Vary: Accept\r\nCache-Control: no-store\r\n"
                  "Content-Security-Policy: " WEBPAGE_POLICY "\r\n"
                  "X-Content-Type-Options: nosniff\r\n"
                  "Referrer-Policy: no-referrer\r\n",
                  "text/html; charset=utf-8", body);
}
