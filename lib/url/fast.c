/* fast.c - most URLs are canonical already, or nearly: one look tells. */
#include "fast.h"

size_t fast_whatwg(const char *url, size_t len)
{
    (void)url, (void)len;
    return 0;
}

size_t fast_surt(char *text, const char *url, size_t len)
{
    (void)text, (void)url, (void)len;
    return 0;
}
