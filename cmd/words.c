/*
 * words.c - copy the words of the command line, and mask their passwords.
 *
 * What is masked here is read by people only, so in doubt it is masked. What
 * commands read as the address of a filter is masked apart from this, by
 * remote/address.h, which remembers the password.
 */
#include "words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Addresses that are ours end with the word, or where the next one begins. */
static const char *const schemes[] = {
    "postgresql", "postgres", "amqp", "amqps",         "redis",
    "rediss",     "bf",       "bfs",  "redis+cluster", "rediss+cluster",
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* Do the bytes before "://" end with a scheme of ours? */
static bool is_ours(const char *word, const char *slashes)
{
    size_t before = (size_t)(slashes - word), len;

    for (int i = 0; i < SCHEMES; i++) {
        len = strlen(schemes[i]);
        if (len <= before && !strncasecmp(slashes - len, schemes[i], len))
            return true;
    }
    return false;
}

static char *last_of(char *from, const char *end, char c)
{
    char *last = NULL;

    for (char *at = from; at < end; at++)
        if (*at == c)
            last = at;
    return last;
}

/* Put *** in place of the bytes from `from` to `end`. Returns what follows. */
static char *replace(char *from, char *end)
{
    size_t len = (size_t)(end - from), stars = len < 3 ? len : 3;
    size_t rest = strlen(end);

    memset(from, '*', stars);
    memmove(from + stars, end, rest + 1);
    explicit_bzero(from + stars + rest, len - stars);
    return from + stars;
}

/*
 * Where the user and the password end, and the host begins: at the last @ of
 * the authority. A '/' or '?' in a password of ours should be %2F or %3F. If
 * it is not, what is before it looks like a host with a port that is no
 * number, and the last @ of the address counts.
 */
static char *end_of_user(char *from, char *end, bool ours)
{
    char *host_end = from + strcspn(from, "/?#");
    char *at = last_of(from, host_end < end ? host_end : end, '@');
    char *colon = memchr(from, ':', (size_t)(end - from)), *port;

    if (at || !ours || !colon || *from == '[' || colon > host_end)
        return at;
    port = colon + 1 + strspn(colon + 1, "0123456789");
    if (port == host_end || *port == ',')
        return at;
    return last_of(from, end, '@');
}

/* password= and sslpassword= of libpq, which decodes %XX in names, too. */
static bool is_secret(const char *name, size_t len)
{
    return memchr(name, '%', len) ||
           (len >= 8 && !memcmp(name + len - 8, "password", 8));
}

static void mask_settings(char *from, const char *until)
{
    char *at = from;

    while (*at && at < until) {
        char *equals = at + strcspn(at, "=&");

        if (*equals == '=' && is_secret(at, (size_t)(equals - at)))
            at = replace(equals + 1, equals + 1 + strcspn(equals + 1, "&"));
        else
            at = equals;
        at += strcspn(at, "&");
        at += *at == '&';
    }
}

/* password=VALUE or password='VALUE' of libpq, which has no use here and may be
   given nevertheless. */
static void mask_conninfo(char *word)
{
    static const char name[] = "password";

    for (char *at = word; (at = strstr(at, name));) {
        at += strlen(name);
        at += strspn(at, " ");
        if (*at != '=')
            continue;
        at += 1 + strspn(at + 1, " ");
        if (*at == '\'') {
            char *end = at + 1 + strcspn(at + 1, "'");

            at = replace(at, end + (*end == '\''));
        } else {
            at = replace(at, at + strcspn(at, " "));
        }
    }
}

void words_mask(char *word)
{
    char *slashes = word;

    while ((slashes = strstr(slashes, "://"))) {
        char *from = slashes + 3, *next = strstr(from, "://");
        char *end = next ? next : from + strlen(from);
        bool ours = is_ours(word, slashes);
        char *at = end_of_user(from, end, ours);
        char *colon = at ? memchr(from, ':', (size_t)(at - from)) : NULL;

        if (colon)
            from = replace(colon + 1, at);
        from += strcspn(from, "?");
        if (ours && *from == '?')
            mask_settings(from + 1, from + strlen(from));
        slashes += 3;
    }
    if (!strstr(word, "://"))
        mask_conninfo(word);
}

/* Words only become shorter. */
void words_mask_text(char *text)
{
    char *to = text;

    for (char *at = text; *at;) {
        size_t len = strcspn(at, " ");
        char end = at[len];

        at[len] = '\0';
        words_mask(at);
        memmove(to, at, strlen(at));
        to += strlen(at);
        at += len;
        if (end)
            *to++ = *at++ = end;
    }
    *to = '\0';
}

/* One piece of memory that stays: commands move and drop the words. */
char **words_take(int argc, char **argv)
{
    size_t room = ((size_t)argc + 1) * sizeof(char *), len;
    static char **copy;
    char *to;

    for (int i = 0; i < argc; i++)
        room += strlen(argv[i]) + 1;
    free(copy);
    copy = calloc(1, room);
    to = copy ? (char *)(copy + argc + 1) : NULL;
    for (int i = 0; copy && i < argc; i++, to += len) {
        len = strlen(argv[i]) + 1;
        copy[i] = memcpy(to, argv[i], len);
        words_mask(argv[i]);
    }
    return copy;
}
