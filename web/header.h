/*
 * header.h - headers of an answer that say something about links.
 *
 *     struct seen_span rest = head, name, value;
 *
 *     while (web_header_next(&rest, &name, &value))
 *         if (span_like(name, "link"))
 *             while (web_header_link(&value, &link))
 *                 puts("a link");
 *
 * Threads: no state.
 */
#ifndef SEEN_WEB_HEADER_H
#define SEEN_WEB_HEADER_H

#include <stdbool.h>

#include <seen/span.h>

/*
 * Take the next header from the front of a head: lines that end with LF or
 * CRLF; the status line is skipped. A value that goes on in the next line is
 * one value, line ends included. False at the end or at an empty line.
 */
bool web_header_next(struct seen_span *rest, struct seen_span *name,
                     struct seen_span *value);

/* A link of a Link header, RFC 8288. Views into the header. */
struct web_header_link {
    struct seen_span url;
    struct seen_span rel; /* of the first `rel`, without its quotes */
    struct seen_span type, anchor;
    struct seen_span datetime; /* of a memento: RFC 7089 */
    bool anchored; /* it is a link from `anchor`, and not from the document */
};

/* Take the next link from the front of a value; false at the end. What is
   not a link is skipped. */
bool web_header_link(struct seen_span *rest, struct web_header_link *link);

/* Is this one of the words of its relation, in any case? */
bool web_header_has_rel(const struct web_header_link *link, const char *word);

/*
 * The URL of a Refresh header or of <meta http-equiv=refresh>: "5; url='x'".
 * False if it has none, and so reloads the page.
 */
bool web_header_refresh(struct seen_span value, struct seen_span *url);

/* What robots are asked: of <meta name=robots> and X-Robots-Tag. */
struct web_wishes {
    bool noindex, nofollow;
};

/*
 * Add the wishes of a list: "noindex, nofollow", "none". In a header a list
 * may be for some robot only ("otherbot: noindex"); this one counts if it is
 * for `agent`.
 */
void web_header_wishes(struct web_wishes *wishes, struct seen_span value,
                       const char *agent);

/* The type and charset of a Content-Type; empty if it has none. */
void web_header_type(struct seen_span value, struct seen_span *type,
                     struct seen_span *charset);

#endif
