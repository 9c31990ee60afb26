/*
 * template.h - what the files of seen template share.
 */
#ifndef SEEN_CMD_TEMPLATE_H
#define SEEN_CMD_TEMPLATE_H

#include "../crawl/template/template.h"
#include "command.h"

struct cmd_template {
    const char *base, *charset, *type, *output, *allow, *ca;
    uint64_t timeout;
    bool json, xpath, allow_private;
};

/* All bytes of a file, at most `most`; - is standard input. The caller frees
   them. False after a message. */
bool cmd_template_file(const char *path, size_t most, char **bytes,
                       size_t *len);

/* Read a template; NULL after messages, which name line and mistake. */
struct crawl_template *cmd_template_load(const char *path);

/* Print a text in one line: white space with a line end in it becomes one
   space. Other control characters, which a terminal might obey, become
   U+FFFD. */
void cmd_template_print(const char *text, size_t len);

/* A page from the web, by its URL, which becomes that after redirects. */
bool cmd_template_fetch(const struct cmd_template *o, const char *url,
                        struct buffer *page, struct buffer *final);

/* seen template try */
enum outcome cmd_template_try(void *settings, char **operand);

#endif
