/*
 * charset.h - which characters the bytes of a document are.
 *
 * The names are the labels of the WHATWG Encoding standard, so that
 * "iso-8859-1" is windows-1252 here, as it is in browsers. A document's charset
 * comes from its byte order mark, else from the Content-Type header, else from
 * a <meta> or an XML declaration in its first 1024 bytes.
 *
 *     struct web_encoding found;
 *     struct buffer text = { .bytes = NULL };
 *
 *     web_charset_of(&found, bytes, len, "iso-8859-2");
 *     if (found.charset)
 *         web_charset_decode(&text, found.charset, bytes + found.skip,
 *                            len - found.skip);
 *
 * The tables of characters are those of iconv. Where the standard differs in
 * single bytes or in queries, the standard wins.
 *
 * Threads: no state; charsets are constants.
 */
#ifndef SEEN_WEB_CHARSET_H
#define SEEN_WEB_CHARSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../lib/text/buffer.h"

struct web_charset;

/* The charset of a label, in any case and with white space around it; NULL if
   the standard does not have it. */
const struct web_charset *web_charset_find(const char *label, size_t len);

/* UTF-8. */
const struct web_charset *web_charset_utf8(void);

/* The standard's name: "utf-8", "windows-1252". */
const char *web_charset_name(const struct web_charset *c);

/* May bytes below 0x80 be anything but ASCII? True for UTF-16, ISO-2022-JP
   and charsets that are not to be decoded. */
bool web_charset_wide(const struct web_charset *c);

/* Does it have all of Unicode? Then URLs are written in UTF-8. */
bool web_charset_unicode(const struct web_charset *c);

struct web_encoding {
    const struct web_charset *charset; /* NULL: the document does not say */
    size_t skip;                       /* the length of the byte order mark */
    bool certain;                      /* from a mark or the header */
};

/* What a document says. `header` is the charset of its Content-Type, or
   NULL; one that is unknown is ignored. */
void web_charset_of(struct web_encoding *found, const char *bytes, size_t len,
                    const char *header);

/* The charset that the `content` of a <meta http-equiv=content-type> names:
   "text/html; charset=x"; NULL if there is none. */
const struct web_charset *web_charset_meta(const char *content, size_t len);

/* What a <meta> may change the charset to: UTF-16 there means UTF-8, since the
   <meta> could be read. */
const struct web_charset *web_charset_late(const struct web_charset *c);

/* For a document that does not say: UTF-8 if all of it is that, else
   windows-1252. */
const struct web_charset *web_charset_guess(const char *bytes, size_t len);

/* Append the bytes as UTF-8. What is not a character becomes U+FFFD. */
void web_charset_decode(struct buffer *to, const struct web_charset *c,
                        const char *bytes, size_t len);

/*
 * Writes the queries of URLs as browsers do in a page of a charset: each
 * character that is not ASCII as the percent-encoded bytes of the charset, or as
 * %26%23NNN%3B, which is &#NNN;, if the charset does not have it. Zeroed but for
 * the charset, it is ready; clear it at the end. ASCII is appended as it is.
 * `text` is UTF-8, and all of a query, because ISO-2022-JP has escape sequences.
 */
enum web_charset_shift {
    WEB_CHARSET_ASCII,
    WEB_CHARSET_ROMAN, /* with a yen sign and an overline */
    WEB_CHARSET_ROWS   /* of JIS X 0208 */
};
struct web_charset_writer {
    const struct web_charset *charset;
    bool ready, table;
    enum web_charset_shift shift; /* of ISO-2022-JP, within a query */
    uint32_t code[128]; /* of the bytes from 128 on, if `table` */
    void *iconv;        /* else; NULL if iconv does not have it */
};

void web_charset_query(struct web_charset_writer *w, struct buffer *to,
                       const char *text, size_t len);
void web_charset_writer_clear(struct web_charset_writer *w);

#endif
