/* field.c - named fields of WARC records and of HTTP. */
#include "field.h"

#include <string.h>

#include "../lib/text/space.h"
#include "../lib/text/span.h"

bool warc_field_next(struct seen_span *rest, struct seen_span *name,
                     struct seen_span *value)
{
    struct seen_span line, more;
    const char *colon;

    if (!span_line(rest, &line) || !line.len)
        return false;
    while (rest->len && (*rest->text == ' ' || *rest->text == '\t')) {
        span_line(rest, &more);
        line.len = (size_t)(more.text + more.len - line.text);
    }
    colon = memchr(line.text, ':', line.len);
    *name = (struct seen_span){ line.text, 0 };
    *value = line;
    if (colon) {
        name->len = (size_t)(colon - line.text);
        value->text = colon + 1;
        value->len = line.len - name->len - 1;
    }
    *value = space_trim_xml(*value);
    return true;
}

bool warc_field_find(struct seen_span fields, const char *name,
                     struct seen_span *value)
{
    struct seen_span is;

    while (warc_field_next(&fields, &is, value))
        if (span_like(is, name))
            return true;
    return false;
}

size_t warc_head_length(const char *bytes, size_t len, size_t known)
{
    /* An empty line may have begun up to three bytes before. */
    size_t at = known > 3 ? known - 3 : 0;

    while (at < len) {
        const char *line = memchr(bytes + at, '\n', len - at);

        if (!line)
            return 0;
        at = (size_t)(line - bytes) + 1;
        if (at < len && bytes[at] == '\n')
            return at + 1;
        if (at + 1 < len && bytes[at] == '\r' && bytes[at + 1] == '\n')
            return at + 2;
    }
    return 0;
}
