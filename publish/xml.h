/*
 * xml.h - text of any kind, as XML that every parser takes.
 *
 * Titles come from filters that anyone may have made, and names from a disk.
 * What XML 1.0 cannot say, control bytes and what is no UTF-8, becomes
 * U+FFFD; the rest is escaped so that it means the same in an element and in
 * an attribute.
 *
 * Threads: nothing is shared.
 */
#ifndef SEEN_PUBLISH_XML_H
#define SEEN_PUBLISH_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Is all of it characters, none of them a control byte? */
bool xml_clean(const char *text);

/* A copy with U+FFFD for what is not, for the caller to free(); or NULL. */
char *xml_cleaned(const char *text);

void xml_text(FILE *to, const char *text);

/* <name>text</name> on a line of its own; nothing for NULL. */
void xml_element(FILE *to, const char *indent, const char *name,
                 const char *text);

/* Seconds of Unix as 2026-11-16T03:00:00Z. */
enum { XML_TIME = 32 };
void xml_time(char text[XML_TIME], int64_t seconds);

#endif
