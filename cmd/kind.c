/* kind.c - take the text of a kind apart. */
#include "kind.h"

#include <string.h>

bool kind_has(const char *kind, const char *name)
{
    for (; kind; kind = strchr(kind, '/'), kind = kind ? kind + 1 : NULL) {
        size_t len = strcspn(kind, ":/");

        if (len == strlen(name) && !memcmp(kind, name, len))
            return true;
    }
    return false;
}

bool kind_grows(const char *kind)
{
    return kind_has(kind, "growing");
}

const char *kind_leaf(const char *kind)
{
    const char *slash = strrchr(kind, '/');

    return slash ? slash + 1 : kind;
}
