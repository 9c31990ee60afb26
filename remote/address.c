/*
 * address.c - read the address of a filter on a server.
 *
 * Passwords in command lines are hidden as soon as the program starts. The
 * text that is left is the key under which the password is remembered:
 *
 *     redis://me:secret@db.example/haw  ->  redis://me:***@db.example/haw
 */
#include "address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/disk/disk.h"
#include "../lib/text/array.h"
#include "../lib/text/number.h"
#include "../lib/text/percent.h"
#include "../lib/text/span.h"

enum { PORT = 6379 };

static const struct remote_prefix {
    const char *text;
    enum remote_scheme scheme;
    bool tls;
} prefixes[] = {
    { "redis://", REMOTE_REDIS, false },
    { "rediss://", REMOTE_REDIS, true },
    { "redis+cluster://", REMOTE_CLUSTER, false },
    { "rediss+cluster://", REMOTE_CLUSTER, true },
    { "bf://", REMOTE_BF, false },
    { "bfs://", REMOTE_BF, true },
};
enum { PREFIXES = sizeof prefixes / sizeof prefixes[0] };

static const struct remote_prefix *prefix_of(const char *text)
{
    for (int i = 0; i < PREFIXES; i++)
        if (!strncmp(text, prefixes[i].text, strlen(prefixes[i].text)))
            return &prefixes[i];
    return NULL;
}

static const char spatial[] = "spatial:";

bool remote_is_spatial(const char *text)
{
    return !strncmp(text, spatial, sizeof spatial - 1) &&
           prefix_of(text + sizeof spatial - 1);
}

bool remote_is_address(const char *text)
{
    return prefix_of(text) != NULL || remote_is_spatial(text);
}

/* A part ends where a comma and another address follow: hosts of a cluster
   have commas, too. */
bool remote_spatial_next(const char **rest, char **part)
{
    const char *at = *rest + (remote_is_spatial(*rest) ? sizeof spatial - 1
                                                       : **rest == ',');
    const char *end = at;

    if (!prefix_of(at))
        return false;
    while (*end && !(*end == ',' && prefix_of(end + 1)))
        end++;
    *part = strndup(at, (size_t)(end - at));
    *rest = end;
    return true;
}

unsigned remote_address_parts(const char *text)
{
    const char *rest = text;
    unsigned n = 0;
    char *one;

    if (!remote_is_spatial(text))
        return 1;
    for (; remote_spatial_next(&rest, &one); n++)
        free(one);
    return n;
}

/* --- hidden passwords --- */

/* Filled before threads start, and kept as long as the process. */
static struct remote_hidden {
    char *user;     /* "me:***@db.example": what is left in the text */
    char *password; /* as it was written, with its %XX */
} * hidden;
static size_t hiddens, hidden_room;

/* Where the part with user and hosts of an address ends. */
static size_t authority_length(const char *text)
{
    return strcspn(text, "/?");
}

static const char *last_at(const char *text, size_t len)
{
    while (len && text[len - 1] != '@')
        len--;
    return len ? text + len - 1 : NULL;
}

/*
 * A '/' or '?' in a password should be %2F or %3F. If it is not, what is before
 * it looks like a host with a port that is no number: then the user ends at the
 * last @ of this address. Without a memory of what was written no message could
 * leave it out.
 */
static size_t user_length(const char *text)
{
    size_t len = authority_length(text), end = len;
    const char *colon = memchr(text, ':', len), *port;

    if (last_at(text, len) || !colon || *text == '[')
        return len;
    port = colon + 1 + strspn(colon + 1, "0123456789");
    if (port == text + len || *port == ',')
        return len;
    while (text[end] && !(text[end] == ',' && prefix_of(text + end + 1)))
        end++;
    return last_at(text, end) ? end : len;
}

/* Hide the password of the address whose user begins at `text`. */
static void hide_one(char *text)
{
    const char *at = last_at(text, user_length(text));
    char *colon = at ? memchr(text, ':', (size_t)(at - text)) : NULL;
    struct remote_hidden *h, *more;
    size_t len, stars;

    if (!colon || at == colon + 1)
        return;
    more = array_grow(hidden, &hidden_room, hiddens + 1, sizeof *more);
    if (!more)
        return;
    hidden = more;
    h = &hidden[hiddens];
    h->password = strndup(colon + 1, (size_t)(at - colon) - 1);
    stars = strlen(h->password ? h->password : "");
    stars = stars < 3 ? stars : 3;
    memset(colon + 1, '*', stars);
    len = strlen(at);
    memmove(colon + 1 + stars, at, len + 1);
    explicit_bzero(colon + 1 + stars + len, (size_t)(at - colon) - 1 - stars);
    h->user = strndup(text, authority_length(text));
    if (h->user && h->password)
        hiddens++;
}

/* An address within a URL belongs to the URL, which is not ours to change. */
void remote_address_hide(char *text)
{
    const char *slashes = strstr(text, "://");
    char *first = text;

    while (*first && !prefix_of(first))
        first++;
    if (!*first || first + strlen(prefix_of(first)->text) != slashes + 3)
        return;
    for (char *at = first; *at; at++)
        if (prefix_of(at))
            hide_one(at + strlen(prefix_of(at)->text));
}

/* The password that was hidden behind these stars, or NULL. */
static const char *hidden_password(const char *text, size_t len)
{
    for (size_t i = hiddens; i-- > 0;)
        if (strlen(hidden[i].user) == len &&
            !memcmp(hidden[i].user, text, len))
            return hidden[i].password;
    return NULL;
}

/* --- parts --- */

static enum seen_code bad(struct seen_error *why, const char *what)
{
    return seen_fail(why, SEEN_RANGE, 0, "%s", what);
}

/* What is left of a password that was hidden, as in the folder of a crawl. */
static bool is_stars(struct seen_span s)
{
    return span_is(s, "*") || span_is(s, "**") || span_is(s, "***");
}

/* [USER[:PASSWORD]@] */
static enum seen_code parse_user(struct remote_address *a,
                                 struct seen_span *authority,
                                 struct seen_error *why)
{
    const char *at = last_at(authority->text, authority->len);
    const char *known = hidden_password(authority->text, authority->len);
    struct seen_span user, password;
    enum seen_code code = SEEN_OK;

    if (!at)
        return SEEN_OK;
    password = (struct seen_span){ authority->text,
                                   (size_t)(at - authority->text) };
    authority->len -= password.len + 1;
    authority->text = at + 1;
    if (!span_cut(&password, ':', &user))
        return SEEN_OK;
    if (user.len)
        code = percent_part(&a->user, user, "user", why);
    if (known)
        password = (struct seen_span){ known, strlen(known) };
    else if (is_stars(password))
        password.len = 0;
    if (code == SEEN_OK && password.len)
        code = percent_part(&a->password, password, "password", why);
    return code;
}

/* HOST[:PORT] */
static enum seen_code parse_host(struct remote_address *a, struct seen_span s,
                                 struct seen_error *why)
{
    struct seen_span host = s, port = { "", 0 };
    struct remote_host *to = &a->host[a->hosts];
    const char *end;
    char digits[8] = "";
    uint64_t number = PORT;

    if (a->hosts == REMOTE_HOSTS)
        return bad(why, "an address has at most 16 hosts");
    if (span_begins(s, "[") && (end = memchr(s.text, ']', s.len))) {
        host = (struct seen_span){ s.text + 1, (size_t)(end - s.text) - 1 };
        port = (struct seen_span){ end + 1, s.len - host.len - 2 };
    } else if ((end = memchr(s.text, ':', s.len))) {
        host.len = (size_t)(end - s.text);
        port = (struct seen_span){ end, s.len - host.len };
    }
    if (!host.len || host.len >= sizeof to->name ||
        memchr(host.text, '[', host.len))
        return bad(why, "an address needs a host: redis://HOST:PORT/NAME");
    if (port.len) {
        if (*port.text == ':' && port.len <= 6)
            memcpy(digits, port.text + 1, port.len - 1);
        if (number_count(digits, &number) || !number || number > 65535)
            return bad(why, "the port of an address is 1 to 65535");
    }
    memcpy(to->name, host.text, host.len);
    to->name[host.len] = '\0';
    to->port = (unsigned)number;
    a->hosts++;
    return SEEN_OK;
}

/* /[DB/]NAME; a {tag} in a name is Redis Cluster's, see layout.h. Messages
   have the name, so it has no control bytes. */
static enum seen_code parse_path(struct remote_address *a, struct seen_span s,
                                 struct seen_error *why)
{
    struct seen_span rest = s, db;
    enum seen_code code;
    uint64_t number;
    char digits[8] = "";

    if (a->scheme != REMOTE_CLUSTER && memchr(s.text, '/', s.len) &&
        span_cut(&rest, '/', &db) && db.len && db.len < sizeof digits) {
        memcpy(digits, db.text, db.len);
        if (strspn(digits, "0123456789") == db.len &&
            !number_count(digits, &number)) {
            a->db = (unsigned)number;
            s = rest;
        }
    }
    code = percent_part(&a->name, s, "name", why);
    if (code != SEEN_OK)
        return code;
    if (!a->name[0] || strlen(a->name) > REMOTE_NAME_MOST)
        return bad(why, "an address ends with the name of the filter, of at "
                        "most 200 bytes: redis://HOST:PORT/NAME");
    for (const char *c = a->name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return bad(why, "the name of a filter on a server has no control "
                            "bytes");
    return SEEN_OK;
}

static enum seen_code parse_setting(struct remote_address *a,
                                    struct seen_span key,
                                    struct seen_span value,
                                    struct seen_error *why)
{
    char *text = NULL;
    uint64_t number = 0;
    double seconds = 0;
    enum seen_code code = percent_part(&text, value, "setting", why);
    char **into = span_is(key, "cacert")    ? &a->cacert
                  : span_is(key, "cert")    ? &a->cert
                  : span_is(key, "key")     ? &a->key
                  : span_is(key, "profile") ? &a->profile
                                            : NULL;

    if (code != SEEN_OK)
        return code;
    if (into) {
        free(*into);
        *into = text;
        return SEEN_OK;
    }
    if (span_is(key, "password-file")) {
        free(a->password);
        code = disk_password(&a->password, text, why);
    } else if (span_is(key, "verify") && !strcmp(text, "full"))
        a->verify = REMOTE_VERIFY_FULL;
    else if (span_is(key, "verify") && !strcmp(text, "peer"))
        a->verify = REMOTE_VERIFY_PEER;
    else if (span_is(key, "verify") && !strcmp(text, "none"))
        a->verify = REMOTE_VERIFY_NONE;
    else if (span_is(key, "verify"))
        code = bad(why, "verify= of an address is full, peer or none");
    else if (span_is(key, "timeout") && !number_factor(text, &seconds) &&
             seconds >= 0.01 && seconds <= 3600)
        a->timeout_ms = (unsigned)(1000 * seconds);
    else if (span_is(key, "timeout"))
        code = bad(why, "timeout= of an address is 0.01 to 3600 seconds");
    else if (span_is(key, "replicas") && a->scheme == REMOTE_BF)
        code = bad(why, "replicas= is not for bf://");
    else if (span_is(key, "replicas") && !number_count(text, &number) &&
             number <= 16)
        a->replicas = (unsigned)number;
    else if (span_is(key, "replicas"))
        code = bad(why, "replicas= of an address is 0 to 16");
    else
        code = seen_fail(why, SEEN_RANGE, 0,
                         "an address has no setting '%.*s'", (int)key.len,
                         key.text);
    free(text);
    return code;
}

static enum seen_code parse_settings(struct remote_address *a,
                                     struct seen_span rest,
                                     struct seen_error *why)
{
    struct seen_span one, key;
    enum seen_code code = SEEN_OK;

    while (code == SEEN_OK && rest.len && span_cut(&rest, '&', &one)) {
        if (!memchr(one.text, '=', one.len))
            code = bad(why, "settings of an address are NAME=VALUE");
        else if (span_cut(&one, '=', &key))
            code = parse_setting(a, key, one, why);
    }
    return code;
}

static enum seen_code parse(struct remote_address *a, const char *text,
                            struct seen_error *why)
{
    const struct remote_prefix *p = prefix_of(text);
    struct seen_span authority, path, one;
    size_t len;
    enum seen_code code;
    const char *given;

    if (!p)
        return bad(why, "is not the address of a filter on a server");
    a->scheme = p->scheme;
    a->tls = p->tls;
    text += strlen(p->text);
    len = authority_length(text);
    authority = (struct seen_span){ text, len };
    text += len;
    len = strcspn(text, "?");
    path = (struct seen_span){ text + (*text == '/'), len - (*text == '/') };
    text += len;
    code = parse_user(a, &authority, why);
    if (code == SEEN_OK && !authority.len)
        code = bad(why, "an address needs a host: redis://HOST:PORT/NAME");
    while (code == SEEN_OK && authority.len && span_cut(&authority, ',', &one))
        code = parse_host(a, one, why);
    if (code == SEEN_OK && a->hosts > 1 && a->scheme != REMOTE_CLUSTER)
        code = bad(why, "only redis+cluster:// takes several hosts");
    if (code == SEEN_OK)
        code = parse_path(a, path, why);
    if (code == SEEN_OK && *text == '?')
        code = parse_settings(
            a, (struct seen_span){ text + 1, strlen(text + 1) }, why);
    given = getenv("SEEN_REDIS_PASSWORD");
    if (code == SEEN_OK && !a->password && given && *given) {
        a->password = strdup(given);
        if (!a->password)
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for an address");
    }
    return code;
}

enum seen_code remote_address_parse(struct remote_address *a, const char *text,
                                    struct seen_error *why)
{
    enum seen_code code;

    *a = (struct remote_address){ .timeout_ms = REMOTE_TIMEOUT_MS };
    code = parse(a, text, why);
    if (code != SEEN_OK)
        remote_address_forget(a);
    return code;
}

void remote_address_forget(struct remote_address *a)
{
    if (a->password)
        explicit_bzero(a->password, strlen(a->password));
    free(a->user);
    free(a->password);
    free(a->name);
    free(a->cacert);
    free(a->cert);
    free(a->key);
    free(a->profile);
    memset(a, 0, sizeof *a);
}
