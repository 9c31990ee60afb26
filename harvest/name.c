/*
 * name.c - from the URL of a filter to the name of a file.
 *
 * The name is decoded once, and then checked as bytes: an escaped slash, dot or
 * zero is refused as if it had been written plainly. Folders keep their escapes
 * until slashes have become dots, since "%2F" in a folder's name separates
 * nothing.
 */
#include "name.h"

#include <string.h>

#include "../lib/text/percent.h"
#include "../lib/text/span.h"
#include "url.h"

/* A port follows a dash. Of IPv6 the colons become "_", and the brackets
   go. */
static size_t host_before(char *to, const char *url)
{
    const char *host = harvest_url_host(url), *end = harvest_url_path(url);
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
                     "the name has a %% without two hex digits");
}

/* The folders of the path, a dot after each, still escaped. */
static size_t folders_before(char *to, const char *path, size_t len)
{
    for (size_t i = 1; i < len; i++)
        to[i - 1] = path[i];
    for (size_t i = 0; len && i < len - 1; i++)
        if (to[i] == '/')
            to[i] = '.';
    return len ? len - 1 : 0;
}

/* Replace the ending of a text, if there is one, by that of a file. An empty
   name stays empty. */
static size_t change_ending(char *name, size_t n)
{
    static const char ending[] = ".seen", *const texts[] = { ".csv", ".json",
                                                             ".txt" };
    struct seen_span it = { name, n };

    if (!n)
        return 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (span_ends(it, texts[i])) {
            n -= strlen(texts[i]);
            break;
        }
    memcpy(name + n, ending, sizeof ending - 1);
    return n + sizeof ending - 1;
}

enum seen_code harvest_name_of(char out[HARVEST_NAME + 1], const char *url,
                               bool text, unsigned with,
                               struct seen_error *why)
{
    char name[2 * HARVEST_URL + 8], folders[HARVEST_URL + 1];
    size_t at = with & HARVEST_NAME_HOST ? host_before(name, url) : 0, n = 0;
    const char *path = harvest_url_path(url), *fault;
    size_t len = harvest_url_path_len(url), from = len;

    while (from && path[from - 1] != '/')
        from--;
    if (with & HARVEST_NAME_PATH) {
        size_t before = folders_before(folders, path, from);

        if (!percent_decode(name + at, &n, folders, before))
            return bad_escape(why);
        at += n;
    }
    if (!percent_decode(name + at, &n, path + from, len - from))
        return bad_escape(why);
    if (text)
        n = change_ending(name + at, n);
    /* Its own name must be good, too: a dot at its beginning would be hidden
       by what comes before it. */
    fault = seen_share_name_fault(name + at, n);
    if (!fault)
        fault = seen_share_name_fault(name, at + n);
    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    memcpy(out, name, at + n);
    out[at + n] = '\0';
    return SEEN_OK;
}
