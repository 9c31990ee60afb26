/* xml.c - characters, escapes, elements. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "xml.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/text/xml.h"

static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD */

bool xml_clean(const char *text)
{
    for (size_t left = strlen(text), n; left; text += n, left -= n) {
        n = xml_char(text, left);
        if (!n)
            return false;
    }
    return true;
}

char *xml_cleaned(const char *text)
{
    size_t left = strlen(text), len = 0;
    char *clean = malloc(left * (sizeof unknown - 1) + 1);

    if (!clean)
        return NULL;
    while (left) {
        size_t n = xml_char(text, left);

        memcpy(clean + len, n ? text : unknown, n ? n : sizeof unknown - 1);
        len += n ? n : sizeof unknown - 1;
        text += n ? n : 1;
        left -= n ? n : 1;
    }
    clean[len] = '\0';
    return clean;
}

void xml_text(FILE *to, const char *text)
{
    for (size_t left = strlen(text), n; left; text += n, left -= n) {
        n = xml_char(text, left);
        switch (n ? *text : 0) {
        case 0: fputs(unknown, to); break;
        case '&': fputs("&amp;", to); break;
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '"': fputs("&quot;", to); break;
        default: fwrite(text, 1, n, to);
        }
        n = n ? n : 1;
    }
}

void xml_element(FILE *to, const char *indent, const char *name,
                 const char *text)
{
    if (!text)
        return;
    fprintf(to, "%s<%s>", indent, name);
    xml_text(to, text);
    fprintf(to, "</%s>\n", name);
}

void xml_time(char text[XML_TIME], int64_t seconds)
{
    time_t then = (time_t)seconds;
    struct tm when;

    if (!gmtime_r(&then, &when) ||
        !strftime(text, XML_TIME, "%Y-%m-%dT%H:%M:%SZ", &when))
        strcpy(text, "1970-01-01T00:00:00Z");
}
