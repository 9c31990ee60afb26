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
 * Validation errors that the standard goes on after are not told.
 */
#include <seen/url.h>

#include <string.h>

#include "fast.h"
#include "host.h"

enum scheme { OTHER, HTTP, HTTPS, FTP, WS, WSS, FILES };

static const struct {
    const char *name;
    unsigned port;
} special[] = {
    [OTHER] = { "", 0 },        [HTTP] = { "http", 80 },
    [HTTPS] = { "https", 443 }, [FTP] = { "ftp", 21 },
    [WS] = { "ws", 80 },        [WSS] = { "wss", 443 },
    [FILES] = { "file", 0 },
};

struct url {
    struct sink to; /* the text so far */
    enum scheme scheme;
    bool authority;     /* "//" follows the scheme: the host is not null */
    bool opaque;        /* the path is no list of segments */
    size_t scheme_end;  /* past the colon */
    size_t path, query; /* where these begin; query 0: there is none */
    const struct url *base;

    const char *end;   /* of the input */
    const char *fault; /* NULL, or what is wrong, ... */
    const char *at;    /* ... and where */
};

static void fail(struct url *u, const char *at, const char *fault)
{
    u->at = at;
    u->fault = fault;
}

/* Is there a slash at p? In special URLs a backslash is one. */
static bool slash(const struct url *u, const char *p)
{
    return p < u->end && (*p == '/' || (*p == '\\' && u->scheme != OTHER));
}

static bool ends(const struct url *u, const char *p)
{
    return p == u->end || *p == '?' || *p == '#';
}

/* --- paths and queries --- */

/* "C:", or "C|" as some write it. */
static bool drive_letter(const char *p, size_t len)
{
    return len == 2 && is_letter(p[0]) && (p[1] == ':' || p[1] == '|');
}

static bool begins_with_drive(const struct url *u, const char *p)
{
    return u->end - p >= 2 && drive_letter(p, 2) &&
           (u->end - p == 2 || p[2] == '/' || p[2] == '\\' || ends(u, p + 2));
}

/* How many dots a segment is that means "here" or "up"; 0 if it is a name.
   A dot may be escaped. */
static int dots(const char *p, size_t len)
{
    int n = 0;

    while (len) {
        size_t dot = *p == '.'                            ? 1
                     : len >= 3 && same_word(p, 3, "%2e") ? 3
                                                          : 0;

        if (!dot || ++n > 2)
            return 0;
        p += dot;
        len -= dot;
    }
    return n;
}

static void shorten(struct url *u)
{
    const char *path = u->to.text + u->path;
    size_t len = u->to.len - u->path;

    if (u->scheme == FILES && len == 3 && drive_letter(path + 1, 2))
        return;
    while (len && path[--len] != '/')
        ;
    u->to.len = u->path + len;
}

static void read_query(struct url *u, const char *p)
{
    const char *hash = memchr(p, '#', (size_t)(u->end - p));

    u->query = u->to.len;
    sink_byte(&u->to, '?');
    sink_encode(&u->to, p, (size_t)((hash ? hash : u->end) - p),
                u->scheme == OTHER ? ENCODE_QUERY : ENCODE_SPECIAL_QUERY);
}

/*
 * The path is whole. Without a host, one that begins with two slashes would
 * be read as a host: "/." keeps them apart, and is not part of the path.
 */
static void end_path(struct url *u, const char *p)
{
    if (!u->authority && !u->opaque && u->to.len - u->path >= 2 &&
        !memcmp(u->to.text + u->path, "//", 2)) {
        sink_insert(&u->to, u->path, "/.", 2);
        u->path += 2;
    }
    if (p < u->end && *p == '?')
        read_query(u, p + 1);
}

/* Append the segments at p, after the slash, to the path. */
static void read_path(struct url *u, const char *p)
{
    for (;; p++) {
        const char *start = p;
        size_t from = u->to.len;
        int up;

        while (!ends(u, p) && !slash(u, p))
            p++;
        up = dots(start, (size_t)(p - start));
        if (up == 2)
            shorten(u);
        if (!up || !slash(u, p))
            sink_byte(&u->to, '/');
        if (!up) {
            sink_encode(&u->to, start, (size_t)(p - start), ENCODE_PATH);
            if (u->scheme == FILES && from == u->path &&
                drive_letter(start, (size_t)(p - start)) && !u->to.full)
                u->to.text[from + 2] = ':';
        }
        if (!slash(u, p))
            break;
    }
    end_path(u, p);
}

/* The path that follows an authority, with its first slash, if there is. */
static void start_path(struct url *u, const char *p)
{
    u->path = u->to.len;
    if (slash(u, p))
        read_path(u, p + 1);
    else if (u->scheme != OTHER)
        read_path(u, p);
    else
        end_path(u, p);
}

/* Only the last space before what follows is escaped: it would be lost. */
static void read_opaque(struct url *u, const char *p)
{
    const char *start = p;

    u->opaque = true;
    u->path = u->to.len;
    while (!ends(u, p))
        p++;
    if (p < u->end && p > start && p[-1] == ' ') {
        sink_encode(&u->to, start, (size_t)(p - 1 - start), ENCODE_CONTROL);
        sink_put(&u->to, "%20", 3);
    } else {
        sink_encode(&u->to, start, (size_t)(p - start), ENCODE_CONTROL);
    }
    end_path(u, p);
}

/* --- authorities --- */

static void read_credentials(struct url *u, const char *p, const char *at)
{
    const char *colon = memchr(p, ':', (size_t)(at - p));
    const char *name = colon ? colon : at;

    if (name == p && (!colon || colon + 1 == at))
        return;
    sink_encode(&u->to, p, (size_t)(name - p), ENCODE_USERINFO);
    if (colon && colon + 1 < at) {
        sink_byte(&u->to, ':');
        sink_encode(&u->to, colon + 1, (size_t)(at - colon - 1),
                    ENCODE_USERINFO);
    }
    sink_byte(&u->to, '@');
}

static void read_port(struct url *u, const char *p, const char *end)
{
    unsigned port = 0;
    bool none = p == end;

    for (; p < end; p++) {
        if (!is_digit(*p)) {
            fail(u, p, "the port is no number");
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

static void put_host(struct url *u, const char *p, const char *end)
{
    const char *fault = host_write(&u->to, p, (size_t)(end - p),
                                   u->scheme != OTHER);

    if (fault)
        fail(u, p, fault);
}

static void read_authority(struct url *u, const char *p)
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
    put_host(u, p, colon ? colon : end);
    if (colon && !u->fault)
        read_port(u, colon + 1, end);
    if (!u->fault)
        start_path(u, end);
}

/* Any number of slashes may stand before the authority of a special URL. */
static void skip_slashes(struct url *u, const char *p)
{
    while (slash(u, p))
        p++;
    read_authority(u, p);
}

/* --- relative URLs --- */

static void copy_authority(struct url *u)
{
    const struct url *b = u->base;
    size_t end = b->path;

    /* "/." before a path is neither the one nor the other. */
    if (!b->authority)
        end = b->scheme_end;
    sink_put(&u->to, b->to.text + b->scheme_end, end - b->scheme_end);
    u->authority = b->authority;
    u->path = u->to.len;
}

static size_t path_end(const struct url *b)
{
    return b->query ? b->query : b->to.len;
}

static void copy_path(struct url *u)
{
    const struct url *b = u->base;

    u->opaque = b->opaque;
    sink_put(&u->to, b->to.text + b->path, path_end(b) - b->path);
}

/* "", "#f", "?q": the path of the base, and its query if there is none. */
static void stay(struct url *u, const char *p)
{
    const struct url *b = u->base;

    end_path(u, p);
    if (!u->query && b->query) {
        u->query = u->to.len;
        sink_put(&u->to, b->to.text + b->query, b->to.len - b->query);
    }
}

static void read_relative(struct url *u, const char *p)
{
    if (slash(u, p) && slash(u, p + 1)) {
        if (u->scheme == OTHER)
            read_authority(u, p + 2);
        else
            skip_slashes(u, p + 2);
        return;
    }
    copy_authority(u);
    if (slash(u, p)) {
        read_path(u, p + 1);
        return;
    }
    copy_path(u);
    if (ends(u, p)) {
        stay(u, p);
    } else {
        shorten(u);
        read_path(u, p);
    }
}

/* --- files --- */

static void read_file_host(struct url *u, const char *p)
{
    const char *end = p;
    size_t from;

    while (!ends(u, end) && !slash(u, end))
        end++;
    u->authority = true;
    sink_put(&u->to, "//", 2);
    from = u->path = u->to.len;
    if (drive_letter(p, (size_t)(end - p))) {
        read_path(u, p);
        return;
    }
    if (p < end)
        put_host(u, p, end);
    if (u->fault)
        return;
    if (same_word(u->to.text + from, u->to.len - from, "localhost"))
        u->to.len = from;
    start_path(u, end);
}

static void read_file(struct url *u, const char *p)
{
    const struct url *b = u->base;

    if (slash(u, p) && slash(u, p + 1)) {
        read_file_host(u, p + 2);
        return;
    }
    if (b && b->scheme == FILES) {
        copy_authority(u);
    } else {
        b = NULL;
        u->authority = true;
        sink_put(&u->to, "//", 2);
        u->path = u->to.len;
    }
    if (slash(u, p)) {
        const char *first = b ? b->to.text + b->path : NULL;

        /* The drive of the base is kept, unless another one is named. */
        if (b && !begins_with_drive(u, p + 1) && path_end(b) - b->path >= 3 &&
            drive_letter(first + 1, 2) && first[2] == ':' &&
            (path_end(b) - b->path == 3 || first[3] == '/'))
            sink_put(&u->to, first, 3);
        read_path(u, p + 1);
        return;
    }
    if (!b) {
        read_path(u, p);
        return;
    }
    if (ends(u, p)) {
        copy_path(u);
        stay(u, p);
        return;
    }
    if (!begins_with_drive(u, p)) {
        copy_path(u);
        shorten(u);
    }
    read_path(u, p);
}

/* --- the whole --- */

/* The end of the scheme at p, which is its colon, or NULL. */
static const char *find_scheme(const char *p, const char *end)
{
    if (p == end || !is_letter(*p))
        return NULL;
    while (p < end && (is_letter(*p) || is_digit(*p) || *p == '+' ||
                       *p == '-' || *p == '.'))
        p++;
    return p < end && *p == ':' ? p : NULL;
}

static void begin(struct url *u, const char *scheme, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sink_byte(&u->to, lower(scheme[i]));
    sink_byte(&u->to, ':');
    u->scheme_end = u->path = u->to.len;
    u->scheme = FILES;
    while (u->scheme != OTHER &&
           !same_word(scheme, len, special[u->scheme].name))
        u->scheme--;
}

static void read_url(struct url *u, const char *p)
{
    const struct url *b = u->base;
    const char *colon = find_scheme(p, u->end);

    if (!colon && (!b || (b->opaque && (p == u->end || *p != '#')))) {
        fail(u, p,
             b ? "a URL cannot be relative to this base"
               : "a URL needs a scheme");
        return;
    }
    if (!colon) {
        begin(u, b->to.text, b->scheme_end - 1);
        if (u->scheme == FILES)
            read_file(u, p);
        else
            read_relative(u, p);
        return;
    }
    begin(u, p, (size_t)(colon - p));
    p = colon + 1;
    if (u->scheme == FILES)
        read_file(u, p);
    else if (u->scheme != OTHER && b && b->scheme == u->scheme &&
             !(u->end - p >= 2 && p[0] == '/' && p[1] == '/'))
        read_relative(u, p);
    else if (u->scheme != OTHER)
        skip_slashes(u, p);
    else if (slash(u, p) && slash(u, p + 1))
        read_authority(u, p + 2);
    else if (slash(u, p))
        read_path(u, p + 1);
    else
        read_opaque(u, p);
}

static bool stray(char c)
{
    return c == '\t' || c == '\n' || c == '\r';
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
    size_t n = 0;

    while (p < end && (unsigned char)*p <= ' ')
        p++;
    while (p < end && (unsigned char)end[-1] <= ' ')
        end--;
    if (p == end && !base)
        return seen_fail(why, SEEN_RANGE, 0, "the URL is empty");
    if (end - p > SEEN_KEY_TEXT)
        return seen_fail(why, SEEN_RANGE, SEEN_KEY_TEXT,
                         "the URL is longer than %d bytes", SEEN_KEY_TEXT);
    for (const char *c = p; c < end; c++)
        if (!stray(*c))
            clean[n++] = *c;
    memset(u, 0, sizeof *u);
    u->to = (struct sink){ text, 0, SEEN_KEY_TEXT, false };
    u->base = base;
    u->end = clean + n;
    read_url(u, clean);
    if (u->fault) {
        for (n = (size_t)(u->at - clean); p < end && (n || stray(*p)); p++)
            n -= !stray(*p);
        return seen_fail(why, SEEN_RANGE, (uint64_t)(p - url), "%s", u->fault);
    }
    if (u->to.full)
        return seen_fail(why, SEEN_RANGE, SEEN_KEY_TEXT,
                         "the canonical URL is longer than %d bytes",
                         SEEN_KEY_TEXT);
    return SEEN_OK;
}

/* Apart, and never inlined: the fast way needs none of their room. */
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
        return seen_fail(why, SEEN_RANGE, 0, "the base: %s", fault.text);
    return slowly(out_len, text, url, len, &b, why);
}

enum seen_code seen_url_whatwg(const char **out, size_t *out_len, char *text,
                               const char *url, size_t len, const char *base,
                               size_t base_len, struct seen_error *why)
{
    size_t n = fast_whatwg(url, len);
    enum seen_code code;

    if (n) {
        *out = url;
        *out_len = n;
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
