/*
 * whatwg.c - the URL parser of the WHATWG URL standard, section 4.4.
 *
 * The standard describes a state machine over single characters. Here each
 * state that reads more than one is a function, and the URL is written in its
 * serialised form as it is read:
 *
 *     https://user:pw@host:8080/a/b?query
 *     └─┬─┘└──────┬───────────┘└─┬┘└──┬─┘
 *     scheme   authority       path  query
 *
 * A path is a list of segments, each with a slash before it, so to shorten
 * it is to cut the text at the last slash. A base URL is parsed the same way,
 * and a relative one begins with a copy of its beginning.
 *
 * Validation errors that do not stop the standard's parser are not reported.
 */
#include <seen/url.h>

#include <string.h>

#include "fast.h"
#include "host.h"
#include "whatwg.h"

static const struct {
    const char *name;
    unsigned port;
} special[] = {
    [OTHER] = { "", 0 },        [HTTP] = { "http", 80 },
    [HTTPS] = { "https", 443 }, [FTP] = { "ftp", 21 },
    [WS] = { "ws", 80 },        [WSS] = { "wss", 443 },
    [FILES] = { "file", 0 },
};

static void fail(struct url *u, const char *at, const char *fault)
{
    u->at = at;
    u->fault = fault;
}

/* --- authorities --- */

static void read_credentials(struct url *u, const char *p, const char *at)
{
    const char *colon = memchr(p, ':', (size_t)(at - p));
    const char *name = colon ? colon : at;

    if (name == p && (!colon || colon + 1 == at))
        return;
    sink_encode(&u->to, p, (size_t)(name - p), PERCENT_USERINFO);
    if (colon && colon + 1 < at) {
        sink_byte(&u->to, ':');
        sink_encode(&u->to, colon + 1, (size_t)(at - colon - 1),
                    PERCENT_USERINFO);
    }
    sink_byte(&u->to, '@');
}

static void read_port(struct url *u, const char *p, const char *end)
{
    unsigned port = 0;
    bool none = p == end;

    for (; p < end; p++) {
        if (!ascii_digit(*p)) {
            fail(u, p, "the port is not a number");
            return;
        }
        port = port * 10 + (unsigned)(*p - '0');
        if (port > 65535) {
            fail(u, p, "the port is above 65535");
            return;
        }
    }
    if (none || (u->scheme != OTHER && port == special[u->scheme].port))
        return;
    sink_byte(&u->to, ':');
    sink_number(&u->to, port);
}

void whatwg_host(struct url *u, const char *p, const char *end)
{
    const char *fault = url_write_host(&u->to, p, (size_t)(end - p),
                                       u->scheme != OTHER);

    if (fault)
        fail(u, p, fault);
}

void whatwg_authority(struct url *u, const char *p)
{
    const char *end = p, *at = NULL, *colon = NULL;
    bool brackets = false;

    for (; !ends(u, end) && !slash(u, end); end++)
        if (*end == '@')
            at = end;
    u->authority = true;
    sink_put(&u->to, "//", 2);
    if (at) {
        read_credentials(u, p, at);
        p = at + 1;
    }
    for (const char *c = p; c < end && !colon; c++) {
        if (*c == '[')
            brackets = true;
        else if (*c == ']')
            brackets = false;
        else if (*c == ':' && !brackets)
            colon = c;
    }
    if (p == (colon ? colon : end) && (at || colon || u->scheme != OTHER)) {
        fail(u, p, "a URL needs a host");
        return;
    }
    whatwg_host(u, p, colon ? colon : end);
    if (colon && !u->fault)
        read_port(u, colon + 1, end);
    if (!u->fault)
        whatwg_start_path(u, end);
}

void whatwg_slashes(struct url *u, const char *p)
{
    while (slash(u, p))
        p++;
    whatwg_authority(u, p);
}

/* --- the whole --- */

static void begin(struct url *u, const char *scheme, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sink_byte(&u->to, ascii_lower(scheme[i]));
    sink_byte(&u->to, ':');
    u->scheme_end = u->path = u->to.len;
    u->scheme = FILES;
    while (u->scheme != OTHER &&
           !url_word_is(scheme, len, special[u->scheme].name))
        u->scheme--;
}

static void read_url(struct url *u, const char *p)
{
    const struct url *b = u->base;
    const char *colon = url_find_scheme(p, u->end);

    if (!colon && (!b || (b->opaque && (p == u->end || *p != '#')))) {
        fail(u, p,
             b ? "a URL cannot be relative to this base"
               : "a URL needs a scheme");
        return;
    }
    if (!colon) {
        begin(u, b->to.text, b->scheme_end - 1);
        if (u->scheme == FILES)
            whatwg_file(u, p);
        else
            whatwg_relative(u, p);
        return;
    }
    begin(u, p, (size_t)(colon - p));
    p = colon + 1;
    if (u->scheme == FILES)
        whatwg_file(u, p);
    else if (u->scheme != OTHER && b && b->scheme == u->scheme &&
             !(u->end - p >= 2 && p[0] == '/' && p[1] == '/'))
        whatwg_relative(u, p);
    else if (u->scheme != OTHER)
        whatwg_slashes(u, p);
    else if (slash(u, p) && slash(u, p + 1))
        whatwg_authority(u, p + 2);
    else if (slash(u, p))
        whatwg_path(u, p + 1);
    else
        whatwg_opaque(u, p);
}

/*
 * Parse `url` into `text`. Spaces and controls around it are not part of it,
 * and tabs and line ends within are taken out, for which `clean` has room.
 */
static enum seen_code parse(struct url *u, char *text, char *clean,
                            const char *url, size_t len,
                            const struct url *base, struct seen_error *why)
{
    const char *p = url, *end = url + len;
    size_t n;

    while (p < end && (unsigned char)*p <= ' ')
        p++;
    while (p < end && (unsigned char)end[-1] <= ' ')
        end--;
    if (p == end && !base)
        return seen_fail(why, SEEN_BAD_URL, 0, "the URL is empty");
    if (end - p > SEEN_KEY_TEXT)
        return seen_fail(why, SEEN_BAD_URL, SEEN_KEY_TEXT,
                         "the URL is longer than %d bytes", SEEN_KEY_TEXT);
    n = url_drop_strays(clean, p, (size_t)(end - p));
    memset(u, 0, sizeof *u);
    u->to = (struct sink){ text, 0, SEEN_KEY_TEXT, false };
    u->base = base;
    u->end = clean + n;
    read_url(u, clean);
    if (u->fault) {
        p = url_find_kept(p, end, (size_t)(u->at - clean));
        return seen_fail(why,
                         u->fault == url_no_memory ? SEEN_NOMEM : SEEN_BAD_URL,
                         (uint64_t)(p - url), "%s", u->fault);
    }
    if (u->to.full)
        return seen_fail(why, SEEN_BAD_URL, SEEN_KEY_TEXT,
                         "the canonical URL is longer than %d bytes",
                         SEEN_KEY_TEXT);
    return SEEN_OK;
}

/* Never inlined: the fast path must not need its stack space. */
__attribute__((noinline)) static enum seen_code slowly(
    size_t *out_len, char *text, const char *url, size_t len,
    const struct url *base, struct seen_error *why)
{
    char clean[SEEN_KEY_TEXT];
    struct url u;
    enum seen_code code = parse(&u, text, clean, url, len, base, why);

    if (code == SEEN_OK)
        *out_len = u.to.len;
    return code;
}

__attribute__((noinline)) static enum seen_code relatively(
    size_t *out_len, char *text, const char *url, size_t len, const char *base,
    size_t base_len, struct seen_error *why)
{
    char clean[SEEN_KEY_TEXT], base_text[SEEN_KEY_TEXT];
    struct seen_error fault;
    struct url b;

    if (parse(&b, base_text, clean, base, base_len, NULL, &fault) != SEEN_OK)
        return seen_fail(why, fault.code, 0, "the base: %s", fault.text);
    return slowly(out_len, text, url, len, &b, why);
}

enum seen_code seen_url_whatwg(const char **out, size_t *out_len, char *text,
                               const char *url, size_t len, const char *base,
                               size_t base_len, struct seen_error *why)
{
    size_t n = fast_whatwg(url, len);
    enum seen_code code;

    if (n) {
        *out = n > len ? text : url;
        *out_len = n;
        if (n > len) {
            memcpy(text, url, len);
            text[len] = '/';
        }
        return SEEN_OK;
    }
    code = base ? relatively(&n, text, url, len, base, base_len, why)
                : slowly(&n, text, url, len, NULL, why);
    if (code != SEEN_OK)
        return code;
    *out = text;
    *out_len = n;
    return SEEN_OK;
}
