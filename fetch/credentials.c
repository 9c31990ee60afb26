/*
 * credentials.c - read the file of credentials, and find those of a host.
 *
 * A line names an origin as people write it: "haw.nsk.hr", "HTTPS://Haw.hr".
 * It is read by the functions that read URLs to fetch, so that both have one
 * spelling and a secret is found by comparing two strings, in a scan of at most
 * FETCH_CREDENTIALS origins.
 *
 * A secret can leak through a message, a file that others can read, or memory
 * that is used again. So no message quotes a line (bad_line()), files that
 * others can read are remembered for the caller to complain about, and every
 * copy is overwritten before it is freed, the text of the file included.
 */
#include "credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/url.h>

#include "../lib/disk/disk.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "head.h"
#include "target.h"

struct fetch_credentials {
    size_t n, exposed;
    struct fetch_credential of[FETCH_CREDENTIALS];
    char *exposed_path[FETCH_CREDENTIALS + 1];
};

/* --- small things --- */

/* `what` must not quote the line: it has a secret. */
static enum seen_code bad_line(size_t line, const char *what,
                               struct seen_error *why)
{
    return seen_fail(why, SEEN_RANGE, line, "line %zu: %s", line, what);
}

static void wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

static char *copy_of(struct seen_span s)
{
    return strndup(s.text, s.len);
}

/* Take the first word from the front of `rest`. */
static struct seen_span take_word(struct seen_span *rest)
{
    struct seen_span word;

    *rest = span_trim(*rest);
    word = (struct seen_span){ rest->text, 0 };
    while (word.len < rest->len && word.text[word.len] != ' ' &&
           word.text[word.len] != '\t')
        word.len++;
    rest->text += word.len;
    rest->len -= word.len;
    *rest = span_trim(*rest);
    return word;
}

/* --- files --- */

/* Remember a file of secrets that others can read. */
static enum seen_code look_at(struct fetch_credentials *c, const char *path,
                              struct seen_error *why)
{
    struct stat it;

    if (stat(path, &it) || !S_ISREG(it.st_mode) ||
        !(it.st_mode & (S_IRWXG | S_IRWXO)))
        return SEEN_OK;
    c->exposed_path[c->exposed] = strdup(path);
    return c->exposed_path[c->exposed++] ? SEEN_OK
                                         : no_memory_for(why, "credentials");
}

/* A path beside the file of credentials. */
static enum seen_code take_path(char **out, struct seen_span name,
                                const char *file, size_t line,
                                struct seen_error *why)
{
    const char *slash = strrchr(file, '/');
    size_t folder = slash && name.text[0] != '/' ? (size_t)(slash - file) + 1
                                                 : 0;

    *out = malloc(folder + name.len + 1);
    if (!*out)
        return no_memory_for(why, "credentials");
    memcpy(*out, file, folder);
    memcpy(*out + folder, name.text, name.len);
    (*out)[folder + name.len] = '\0';
    return access(*out, R_OK)
               ? seen_fail(why, SEEN_IO, line,
                           "line %zu: %.200s cannot be read", line, *out)
               : SEEN_OK;
}

/* --- lines --- */

/* The origin in the spelling that URLs have here. Without a scheme it is
   https. */
static enum seen_code read_origin(struct seen_span word, bool *tls,
                                  char **host, size_t line,
                                  struct seen_error *why)
{
    char text[FETCH_HEAD_URL], room[SEEN_KEY_TEXT];
    bool has = memmem(word.text, word.len, "://", 3) != NULL;
    int n = snprintf(text, sizeof text, "%s%.*s/", has ? "" : "https://",
                     (int)word.len, word.text);
    struct fetch_target target;
    struct seen_span url;

    *host = NULL;
    if (n < 0 || (size_t)n >= sizeof text ||
        strcspn(strstr(text, "://") + 3, "/?#@") + 1 !=
            strlen(strstr(text, "://") + 3))
        return bad_line(line, "a host is needed, without path and user", why);
    if (seen_url_whatwg(&url.text, &url.len, room, text, (size_t)n, NULL, 0,
                        NULL) != SEEN_OK ||
        url.len >= sizeof text)
        return bad_line(line, "is not a host", why);
    memcpy(text, url.text, url.len);
    text[url.len] = '\0';
    if (fetch_target_init(&target, NULL, text, NULL) != SEEN_OK)
        return bad_line(line, "is not a host that can be fetched from", why);
    *tls = fetch_target_tls(&target);
    *host = strdup(target.host);
    fetch_target_clear(&target);
    return *host ? SEEN_OK : no_memory_for(why, "credentials");
}

/* The credentials of an origin; new ones if it has none yet. */
static enum seen_code find_or_add(struct fetch_credentials *c,
                                  struct fetch_credential **out,
                                  struct seen_span origin, size_t line,
                                  struct seen_error *why)
{
    char *host;
    bool tls;
    enum seen_code code = read_origin(origin, &tls, &host, line, why);

    if (code != SEEN_OK)
        return code;
    for (size_t i = 0; i < c->n; i++)
        if (c->of[i].tls == tls && !strcmp(c->of[i].host, host)) {
            free(host);
            *out = &c->of[i];
            return SEEN_OK;
        }
    if (c->n == FETCH_CREDENTIALS) {
        free(host);
        return bad_line(line, "there are too many hosts", why);
    }
    *out = &c->of[c->n++];
    (*out)->host = host;
    (*out)->tls = tls;
    return SEEN_OK;
}

static enum seen_code take_bearer(struct fetch_credential *to,
                                  struct seen_span token, size_t line,
                                  struct seen_error *why)
{
    static const char before[] = "Authorization: Bearer ";
    size_t len = sizeof before - 1;

    if (memchr(token.text, ' ', token.len))
        return bad_line(line, "a token is one word", why);
    to->bearer = malloc(len + token.len + 1);
    if (!to->bearer)
        return no_memory_for(why, "credentials");
    memcpy(to->bearer, before, len);
    memcpy(to->bearer + len, token.text, token.len);
    to->bearer[len + token.len] = '\0';
    return fetch_head_value(to->bearer)
               ? SEEN_OK
               : bad_line(line, "a token has a byte that it cannot have", why);
}

static enum seen_code take_basic(struct fetch_credential *to,
                                 struct seen_span text, size_t line,
                                 struct seen_error *why)
{
    const char *colon = memchr(text.text, ':', text.len);
    size_t user = colon ? (size_t)(colon - text.text) : 0;

    if (!user)
        return bad_line(line, "basic needs USER:PASSWORD", why);
    to->user = copy_of((struct seen_span){ text.text, user });
    to->password = copy_of(
        (struct seen_span){ colon + 1, text.len - user - 1 });
    if (!to->user || !to->password)
        return no_memory_for(why, "credentials");
    return fetch_head_value(to->user) &&
                   (!*to->password || fetch_head_value(to->password))
               ? SEEN_OK
               : bad_line(line, "a password has a byte that it cannot have",
                          why);
}

static enum seen_code take_certificate(struct fetch_credentials *c,
                                       struct fetch_credential *to,
                                       struct seen_span text, const char *file,
                                       size_t line, struct seen_error *why)
{
    struct seen_span name = take_word(&text);
    enum seen_code code;

    if (!to->tls)
        return bad_line(line, "a certificate needs https", why);
    code = take_path(&to->certificate, name, file, line, why);
    if (code == SEEN_OK)
        code = take_path(&to->key, text.len ? text : name, file, line, why);
    return code == SEEN_OK ? look_at(c, to->key, why) : code;
}

static enum seen_code take_line(struct fetch_credentials *c,
                                struct seen_span text, const char *file,
                                size_t line, struct seen_error *why)
{
    struct seen_span origin = take_word(&text), how = take_word(&text);
    struct fetch_credential *to = NULL;
    enum seen_code code;
    bool cert = span_is(how, "cert");

    if (!text.len ||
        (!cert && !span_is(how, "bearer") && !span_is(how, "basic")))
        return bad_line(line,
                        "is not HOST bearer TOKEN, HOST basic USER:PASSWORD "
                        "or HOST cert FILE KEY",
                        why);
    code = find_or_add(c, &to, origin, line, why);
    if (code != SEEN_OK)
        return code;
    if (cert ? to->certificate != NULL : to->bearer || to->user)
        return bad_line(line, "this host has such a line already", why);
    return cert ? take_certificate(c, to, text, file, line, why)
           : span_is(how, "bearer") ? take_bearer(to, text, line, why)
                                    : take_basic(to, text, line, why);
}

/* --- the header's functions --- */

enum seen_code fetch_credentials_load(struct fetch_credentials **out,
                                      const char *path, struct seen_error *why)
{
    struct fetch_credentials *c = calloc(1, sizeof *c);
    struct seen_span rest = { NULL, 0 }, line;
    char *text = NULL;
    enum seen_code code = c ? disk_load(&text, &rest.len, path,
                                        FETCH_CREDENTIALS_FILE, why)
                            : no_memory_for(why, "credentials");
    size_t n = rest.len;

    *out = NULL;
    rest.text = text;
    for (size_t i = 1; code == SEEN_OK && span_line(&rest, &line); i++) {
        line = span_trim(line);
        if (line.len && line.text[0] != '#')
            code = take_line(c, line, path, i, why);
    }
    if (code == SEEN_OK)
        code = look_at(c, path, why);
    if (text)
        explicit_bzero(text, n);
    free(text);
    if (code == SEEN_OK)
        *out = c;
    else
        fetch_credentials_free(c);
    return code;
}

void fetch_credentials_free(struct fetch_credentials *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++) {
        free(c->of[i].host);
        wipe(c->of[i].bearer);
        wipe(c->of[i].user);
        wipe(c->of[i].password);
        free(c->of[i].certificate);
        free(c->of[i].key);
    }
    for (size_t i = 0; i < c->exposed; i++)
        free(c->exposed_path[i]);
    free(c);
}

const char *fetch_credentials_exposed(const struct fetch_credentials *c,
                                      size_t i)
{
    return i < c->exposed ? c->exposed_path[i] : NULL;
}

const struct fetch_credential *fetch_credentials_find(
    const struct fetch_credentials *c, bool tls, const char *host)
{
    for (size_t i = 0; c && i < c->n; i++)
        if (c->of[i].tls == tls && !strcmp(c->of[i].host, host))
            return &c->of[i];
    return NULL;
}
