/*
 * idn2.c - libidn2's functions, by the host's class URL.
 *
 * The class implements the standard that the profile `whatwg` follows, also
 * for symbols, hyphens and long labels, which libidn2 refuses; so
 * lib/url/idna.c never has to take a label apart. Two things are different:
 *
 *   - Archives follow IDNA 2003, in which a label has at most 63 bytes. Four
 *     characters are something else in it: ß is ss, ς is σ, and the two
 *     joiners vanish. The host is given these.
 *   - What the host refuses, libidn2 may allow, and the other way round, if
 *     their tables are of different versions of Unicode. Under `surt` a name
 *     that is refused keeps its bytes, and has a key nevertheless. So a name
 *     that is refused here has no key: js_name_unsure says so.
 */
#include <idn2.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "idn.h"

enum { ROOM = 8192, LABEL_MOST = 63 };

bool js_name_unsure;

/* Can the label be in a URL as it is, for the class to read? Of signs beside
   letters libidn2 may think otherwise: that is known under `whatwg` only. */
static bool usable(const char *label, bool transitional)
{
    static const char signs[] = "%#/:<>?@[\\]^|",
                      more[] = "!\"$&'()*+,;=_`{}~";

    for (; *label; label++)
        if ((unsigned char)*label <= 0x20 || *label == 0x7f ||
            strchr(signs, *label) || (transitional && strchr(more, *label)))
            return false;
    return true;
}

int idn2_lookup_u8(const uint8_t *label, uint8_t **name, int flags)
{
    const bool transitional = flags & IDN2_TRANSITIONAL;
    char *to = malloc(ROOM);
    int len;

    *name = NULL;
    if (!to)
        return IDN2_MALLOC;
    len = usable((const char *)label, transitional)
              ? js_host_idna(label, (int)strlen((const char *)label),
                             transitional, to, ROOM - 1)
              : -1;
    if (len < 0 || (transitional && len > LABEL_MOST)) {
        js_name_unsure = js_name_unsure || len < 0;
        free(to);
        return IDN2_ENCODING_ERROR;
    }
    to[len] = '\0';
    *name = (uint8_t *)to;
    return IDN2_OK;
}

/* For labels that are taken apart: none is. */
int idn2_to_unicode_8z4z(const char *name, uint32_t **text, int flags)
{
    (void)name, (void)flags;
    *text = NULL;
    return IDN2_ENCODING_ERROR;
}

void idn2_free(void *name)
{
    free(name);
}
