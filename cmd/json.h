/*
 * json.h - write JSON to standard output.
 *
 *     cmd_json_open(NULL, '{');
 *     cmd_json_text("url", url, len);
 *     cmd_json_count("count", 3);
 *     cmd_json_shut('}');             {"url": "http://a.example/", "count": 3}
 *
 * URLs are bytes and JSON is Unicode. A byte that is not UTF-8 becomes U+FFFD,
 * and the whole value is repeated in hexadecimal, under the same name with
 * "_hex" appended, so that nothing is lost:
 *
 *     {"url": "http://a.example/\ufffd", "url_hex": "687474...e9"}
 *
 * Threads: the main one only.
 */
#ifndef SEEN_JSON_H
#define SEEN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names are NULL inside an array, and for the outermost object. */
void cmd_json_open(const char *name, char bracket);
void cmd_json_shut(char bracket);           /* the outermost one ends the line */
void cmd_json_text(const char *name, const char *text, size_t len);
void cmd_json_word(const char *name, const char *text);
void cmd_json_count(const char *name, uint64_t count);
void cmd_json_known(const char *name, int64_t count); /* below 0: null */
void cmd_json_number(const char *name, double number);
void cmd_json_flag(const char *name, bool flag);
void cmd_json_null(const char *name);

#endif
