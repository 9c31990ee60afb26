/*
 * whatwg.h - a URL while it is read, as the files that read it share it.
 *
 * Each function reads from p on, and writes to u->to what the URL is in its
 * serialised form. The first fault is kept in u->fault, and ends it.
 */
#ifndef SEEN_URL_WHATWG_H
#define SEEN_URL_WHATWG_H

#include "text.h"

enum scheme { OTHER, HTTP, HTTPS, FTP, WS, WSS, FILES };

struct url {
    struct sink to; /* the text so far */
    enum scheme scheme;
    bool authority;     /* "//" follows the scheme: the host is not null */
    bool opaque;        /* the path is not a list of segments */
    size_t scheme_end;  /* past the colon */
    size_t path, query; /* where these begin; query 0: there is none */
    const struct url *base;

    const char *end;   /* of the input */
    const char *fault; /* NULL, or what is wrong, ... */
    const char *at;    /* ... and where */
};

/* Is there a slash at p? In special URLs a backslash is one. */
static inline bool slash(const struct url *u, const char *p)
{
    return p < u->end && (*p == '/' || (*p == '\\' && u->scheme != OTHER));
}

static inline bool ends(const struct url *u, const char *p)
{
    return p == u->end || *p == '?' || *p == '#';
}

/* --- whatwg_path.c --- */

/* "C:", or "C|" as some write it. */
bool whatwg_drive(const char *p, size_t len);

/* Take the last segment off, but never a drive. */
void whatwg_shorten(struct url *u);

/* Append the segments at p, after the slash, to the path; then the query. */
void whatwg_path(struct url *u, const char *p);

/* The path that follows an authority, with its first slash, if there is. */
void whatwg_start_path(struct url *u, const char *p);

/* The path is whole; p is what follows it. */
void whatwg_end_path(struct url *u, const char *p);

/* A path that is not a list of segments: mailto:someone. */
void whatwg_opaque(struct url *u, const char *p);

/* --- whatwg.c --- */

/* Write a host in its canonical form. */
void whatwg_host(struct url *u, const char *p, const char *end);

/* Past the "//": user:password@host:port, and all that follows. */
void whatwg_authority(struct url *u, const char *p);

/* The same for special URLs, with any number of slashes before it. */
void whatwg_slashes(struct url *u, const char *p);

/* --- whatwg_base.c --- */

/* A URL without a scheme, or with that of its base, which is not file. */
void whatwg_relative(struct url *u, const char *p);

/* All that follows "file:", or is relative to a file. */
void whatwg_file(struct url *u, const char *p);

#endif
