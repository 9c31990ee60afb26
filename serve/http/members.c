/* members.c - members of JSON objects, and heads of metrics. */
#include "members.h"

#include <string.h>

#include "../../lib/text/json.h"

void http_member(struct buffer *o, const char *name)
{
    buffer_format(o, ", \"%s\": ", name);
}

void http_member_text(struct buffer *o, const char *name, const char *text)
{
    http_member(o, name);
    if (text)
        buffer_json(o, text, strlen(text));
    else
        buffer_text(o, "null");
}

void http_metric(struct buffer *o, const char *name, const char *type,
                 const char *help)
{
    buffer_format(o, "# HELP seen_%s %s\n# TYPE seen_%s %s\n", name, help,
                  name, type);
}
