/* surt.c - from a URL to its SURT. */
#include <seen/url.h>

enum seen_code seen_url_surt(const char **out, size_t *out_len, char *text,
                             const char *url, size_t len,
                             struct seen_error *why)
{
    if (seen_url_surt_key(out, out_len, text, url, len, why) == SEEN_OK)
        return SEEN_OK;
    return seen_fail(why, SEEN_UNABLE, 0, "surt is not there yet");
}
