/* xml.h - text of XML and HTML. */
#ifndef SEEN_TEXT_XML_H
#define SEEN_TEXT_XML_H

#include "buffer.h"

/*
 * The length of the character that the text begins with, or 0 if it is not a
 * character of XML 1.0 (section 2.2): what is not UTF-8, U+FFFE, U+FFFF and
 * control characters. Tabs and line ends, which XML allows, count as control
 * characters: what we write are names and values of one line.
 */
size_t xml_char(const char *text, size_t len);

/* Does the text have such characters only? */
bool xml_valid(const char *text, size_t len);

/*
 * Append text so that it may stand between tags and within quotes: & < > "
 * and ' are escaped, what is not a character becomes U+FFFD.
 */
void buffer_xml(struct buffer *b, const char *text, size_t len);

/* The same without escapes: what may be shown on a terminal. */
void buffer_xml_chars(struct buffer *b, const char *text, size_t len);

#endif
