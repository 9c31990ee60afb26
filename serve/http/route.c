/*
 * route.c - which function answers a request: one row per path and methods.
 *
 * The first parts of these paths are the names that no archive can have.
 */
#include "http.h"
#include "request.h"

enum {
    GET = 1 << HTTP_GET | 1 << HTTP_HEAD_ONLY,
    POST = 1 << HTTP_POST,
    PUT = 1 << HTTP_PUT,
    DELETE = 1 << HTTP_DELETE
};

enum {
    TOKEN = 1,   /* the request must bear the token */
    BODY = 2,    /* the handler reads the body; others refuse one */
    ARCHIVE = 4, /* what follows is the name of an archive */
    URL = 8      /* what follows is a URL */
};

struct http_route {
    const char *path; /* without a slash at its beginning; one at its end
                         means that something follows; "*": an archive */
    unsigned methods;
    http_handler *handler;
    unsigned flags;
};

static const struct http_route routes[] = {
    { "", GET, http_page, 0 },
    { "page.css", GET, http_page, 0 },
    { "page.js", GET, http_page, 0 },
    { "agg/", GET, http_agg, 0 },
    { "agg", POST, http_bulk_all, BODY },
    { "timemap/", GET, http_timemap, 0 },
    { "timegate/", GET, http_timegate, 0 },
    { "memento/", GET, http_memento, 0 },
    { "api/", GET, http_memento, 0 },
    { "prefix/", GET, http_prefix, 0 },
    { "archives", GET, http_archives, 0 },
    { "info/", GET, http_info, ARCHIVE },
    { "add/", POST, http_add_list, TOKEN | BODY | ARCHIVE },
    { "files/", GET, http_file, 0 },
    { "sitemap.xml", GET, http_sitemap, 0 },
    { ".well-known/", GET, http_resourcesync, 0 },
    { "robots.txt", GET, http_robots, 0 },
    { "crawls", GET, http_crawls, 0 },
    { "crawls.json", GET, http_crawls, 0 },
    { "crawls/", GET, http_crawl, 0 },
    { "crawls.css", GET, http_page, 0 },
    { "crawls.js", GET, http_page, 0 },
    { "search", GET, http_search, 0 },
    { "search.json", GET, http_search, 0 },
    { "search.css", GET, http_page, 0 },
    { "metrics", GET, http_metrics, 0 },
    { "healthz", GET, http_health, 0 },
    { "*/", GET, http_lookup_alone, URL },
    { "*/", PUT | DELETE, http_change, TOKEN | BODY | URL },
    { "*", POST, http_bulk, BODY },
};

enum { ROUTES = sizeof routes / sizeof routes[0] };

/* Is it the path of the route: `name`, or an archive if that is NULL, with a
   slash behind it or not? */
static bool fits(const struct http_route *route, const struct seen_span *name,
                 bool slash)
{
    const size_t len = strlen(route->path);
    const bool deeper = len && route->path[len - 1] == '/';
    const struct seen_span path = { route->path, len - deeper };

    if (deeper != slash || (path.len == 1 && *path.text == '*') != !name)
        return false;
    return !name || span_equal(path, *name);
}

bool http_reserves(struct seen_span name)
{
    for (size_t i = 0; i < ROUTES; i++)
        if (fits(&routes[i], &name, false) || fits(&routes[i], &name, true))
            return true;
    return false;
}

/* Does the request bear the token? If not, that is answered. */
static bool allowed(struct conn *c, const struct http_request *r)
{
    struct server *s = c->loop->server;
    struct seen_span given = { "", 0 };

    if (!s->options.token || !archive_set_writable(s->archives)) {
        http_refuse_body(c, r);
        reply_error(c, r, 403, NULL,
                    s->options.open && archive_set_writable(s->archives)
                        ? "HTTP cannot write to this server, which has no "
                          "token; the Redis protocol can"
                        : "this server is read-only");
        return false;
    }
    if (http_find(r, "Authorization", &given) && given.len > 7 &&
        !strncasecmp(given.text, "Bearer ", 7)) {
        given.text += 7;
        given.len -= 7;
        if (server_knows(s, given))
            return true;
    }
    http_refuse_body(c, r);
    reply_error(c, r, 401, NULL, "a bearer token is needed");
    return false;
}

static void follow(struct conn *c, const struct http_request *r,
                   const struct http_route *route, struct http_path *p)
{
    char room[HTTP_TARGET];

    if ((route->flags & TOKEN) && !allowed(c, r))
        return;
    if ((route->flags & ARCHIVE) &&
        !(p->archive = http_archive(c, r, p->rest)))
        return;
    if (!(route->flags & BODY))
        http_refuse_body(c, r);
    if ((route->flags & URL) && !http_url(p->rest, room, &p->url)) {
        http_refuse_body(c, r);
        reply_error(c, r, 400, "bad-url", "the URL is badly encoded");
        return;
    }
    route->handler(c, r, p);
}

/* Answer by a row that fits; false if there is none. */
static bool dispatch(struct conn *c, const struct http_request *r,
                     const struct seen_span *name, bool slash,
                     struct http_path *p)
{
    unsigned methods = 0;

    for (size_t i = 0; i < ROUTES; i++) {
        if (!fits(&routes[i], name, slash))
            continue;
        if (routes[i].methods & 1u << r->method) {
            follow(c, r, &routes[i], p);
            return true;
        }
        methods |= routes[i].methods;
    }
    if (methods)
        reply_not_allowed(c, r, methods | 1 << HTTP_OPTIONS);
    return methods;
}

void http_route(struct conn *c, const struct http_request *r,
                struct seen_span target)
{
    struct http_path p = { .rest = { "", 0 } };
    struct seen_span name = { target.text, 0 };
    bool slash;

    if (r->method == HTTP_OPTIONS) {
        reply_options(c, r);
        return;
    }
    while (name.len < target.len && target.text[name.len] != '/' &&
           target.text[name.len] != '?')
        name.len++;
    slash = name.len < target.len && target.text[name.len] == '/';
    if (slash)
        p.rest = (struct seen_span){ target.text + name.len + 1,
                                     target.len - name.len - 1 };
    p.name = name;
    if (dispatch(c, r, &name, slash, &p))
        return;
    p.archive = http_archive(c, r, name);
    if (p.archive)
        dispatch(c, r, NULL, slash, &p);
}
