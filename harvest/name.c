/* name.c - from the address of a filter to the name of a file. */
#include "name.h"

#include <string.h>

#include "../lib/text/percent.h"
#include "address.h"

/* A port follows a dash; what colons and brackets IPv6 has become "_". */
static size_t host_before(char *to, const char *url)
{
    const char *host = address_host(url), *end = address_path(url);
    const char *bracket = memchr(host, ']', (size_t)(end - host));
    size_t n = 0;

    for (; host < end; host++)
        if (*host == ':')
            to[n++] = !bracket || host > bracket ? '-' : '_';
        else if (*host != '[' && *host != ']')
            to[n++] = *host;
    to[n++] = '.';
    return n;
}

static enum seen_code bad_escape(struct seen_error *why)
{
    return seen_fail(why, SEEN_RANGE, 0,
                     "the name has a %% that escapes nothing");
}

/* The folders of the path, a dot behind each. They are still escaped, so that
   an escaped slash is none that separates them. */
static size_t folders_before(char *to, const char *path, size_t len)
{
    for (size_t i = 1; i < len; i++)
        to[i - 1] = path[i];
    for (size_t i = 0; len && i < len - 1; i++)
        if (to[i] == '/')
            to[i] = '.';
    return len ? len - 1 : 0;
}

enum seen_code name_of(char out[NAME_MOST + 1], const char *url, unsigned with,
                       struct seen_error *why)
{
    char name[2 * ADDRESS_MOST + 2], folders[ADDRESS_MOST + 1];
    size_t at = with & NAME_HOST ? host_before(name, url) : 0, n = 0;
    const char *path = address_path(url), *fault;
    size_t len = address_path_len(url), from = len;

    while (from && path[from - 1] != '/')
        from--;
    if (with & NAME_PATH) {
        size_t before = folders_before(folders, path, from);

        if (!percent_decode(name + at, &n, folders, before))
            return bad_escape(why);
        at += n;
    }
    if (!percent_decode(name + at, &n, path + from, len - from))
        return bad_escape(why);
    /* Its own name must be a good one, too: what comes before it hides no
       dot. */
    fault = seen_share_name_fault(name + at, n);
    if (!fault)
        fault = seen_share_name_fault(name, at + n);
    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    memcpy(out, name, at + n);
    out[at + n] = '\0';
    return SEEN_OK;
}
