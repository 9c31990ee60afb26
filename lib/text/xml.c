/* xml.c - escapes of XML. */
#include "xml.h"

#include "utf8.h"

size_t xml_char(const char *text, size_t len)
{
    uint32_t code = 0;
    size_t n = utf8_read(text, len, &code, NULL);

    return code < 0x20 || code == 0x7f || code == 0xfffe || code == 0xffff ? 0
                                                                           : n;
}

bool xml_valid(const char *text, size_t len)
{
    for (size_t i = 0, n; i < len; i += n)
        if (!(n = xml_char(text + i, len - i)))
            return false;
    return true;
}

static const char *escape_of(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

static void put(struct buffer *b, const char *text, size_t len, bool escape)
{
    for (size_t i = 0; i < len;) {
        size_t n = xml_char(text + i, len - i);
        const char *instead = n && escape ? escape_of(text[i]) : NULL;

        if (!n)
            instead = UTF8_UNKNOWN;
        if (instead)
            buffer_text(b, instead);
        else
            buffer_bytes(b, text + i, n);
        i += n ? n : 1;
    }
}

void buffer_xml(struct buffer *b, const char *text, size_t len)
{
    put(b, text, len, true);
}

void buffer_xml_chars(struct buffer *b, const char *text, size_t len)
{
    put(b, text, len, false);
}
