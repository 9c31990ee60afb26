/* whatwg.c - the WHATWG URL parser. */
#include <seen/url.h>

enum seen_code seen_url_whatwg(const char **out, size_t *out_len, char *text,
                               const char *url, size_t len, const char *base,
                               size_t base_len, struct seen_error *why)
{
    (void)out, (void)out_len, (void)text, (void)url, (void)len, (void)base;
    (void)base_len;
    return seen_fail(why, SEEN_UNABLE, 0, "whatwg is not there yet");
}
