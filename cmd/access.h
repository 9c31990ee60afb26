/*
 * access.h - how a command has the filter that it was given.
 */
#ifndef SEEN_ACCESS_H
#define SEEN_ACCESS_H

#include <seen/cdx.h>
#include <seen/store.h>

#include "../remote/remote.h"
#include "command.h"
#include "wait.h"

/*
 * The functions of remote.h. They need libraries that take longer to load than
 * a file takes to answer: only seen-all has them, and `seen` becomes that if
 * one of its words has an address. NULL in `seen`.
 */
struct access_remote {
    enum seen_code (*open)(struct seen_filter **out, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why);
    enum seen_code (*able_at)(const struct seen_filter *f, const char *address,
                              struct seen_error *why);
    enum seen_code (*save)(const struct seen_filter *f, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why);
    enum seen_code (*load)(struct seen_filter **out, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why);
    enum seen_code (*create)(const char *address, struct seen_plan *plan,
                             const struct remote_options *options,
                             struct seen_error *why);
    void (*plan)(struct seen_plan *plan);
    uint64_t (*losses)(const struct seen_filter *f);
};
extern const struct access_remote *const access_remote;

/* How a filter on a web server is asked: of WEB_OPTIONS. */
struct access_web {
    const char *allow, *ca;
    uint64_t decoys, timeout;
    bool allow_private, no_cache;
    bool sure; /* nothing will be asked: find out whether the cache is right */
};

/* The same for filters on web servers, from distant/. */
struct access_distant {
    enum seen_code (*open)(struct seen_filter **out, const char *url,
                           const struct access_web *how,
                           const struct seen_access *a,
                           struct seen_error *why);
    bool (*moved)(const char *url, const struct access_web *how,
                  enum seen_code code);
};
extern const struct access_distant *const access_distant;

/* The options of every command that asks or changes a filter. */
struct access_options {
    const char *profile, *keyed;
    bool verify; /* of VERIFY_OPTION */
    struct access_web web;
};

/* clang-format off */
#define ACCESS_OPTIONS(type, how)                                           \
    { "profile", 0, TEXT, "P", offsetof(type, how.profile),                 \
      "refuse the filter unless its keys were made under this profile" },   \
    { "keyed", 0, PATH, "KEYFILE", offsetof(type, how.keyed),               \
      "the key of a keyed filter: a file of 16 bytes or 32 hexadecimal "    \
      "digits" }

/* Of those that ask filters on web servers. */
#define WEB_OPTIONS(type, web)                                              \
    { "no-cache", 0, FLAG, NULL, offsetof(type, web.no_cache),              \
      "of a filter on a web server: keep nothing, and use nothing that was " \
      "kept" },                                                             \
    { "allow-private", 0, FLAG, NULL, offsetof(type, web.allow_private),    \
      "also connect to private, loopback and link-local addresses" },       \
    { "allow", 0, TEXT, "ADDRESS:PORT,...", offsetof(type, web.allow),      \
      "also connect to these addresses: a server in your own network" },    \
    { "timeout", 0, DURATION, "TIME", offsetof(type, web.timeout),          \
      "give up a web server that sends nothing for this long, or less than " \
      "1 kB/s for twice as long (default 30s)" },                           \
    { "ca", 0, PATH, "FILE", offsetof(type, web.ca),                        \
      "certificates to trust, in PEM (default: the system's)" }

/* Of those that verify only what they read for URLs that are operands. */
#define VERIFY_OPTION(type, how)                                            \
    { "verify", 0, FLAG, NULL, offsetof(type, how.verify),                  \
      "verify the whole file first, also for a few URLs" }
/* clang-format on */

/*
 * Have the filter at `path` for reading: for a `few` URLs mapped, and only the
 * blocks that they need are verified; else loaded and verified as a whole.
 * NULL after a message.
 */
struct seen_filter *access_read(const char *path,
                                const struct access_options *how, bool few);

/* Have it for writing; the message names the way out if it is taken, and
   still is after that wait. */
struct seen_filter *access_write(const char *path,
                                 const struct access_options *how, bool few,
                                 enum seen_sync sync, bool over,
                                 struct wait wait);

/*
 * Copy the whole filter at a path or an address into memory, and the other
 * way. To an address only filters go that remote_able() allows.
 */
enum seen_code access_load(struct seen_filter **out, const char *path,
                           struct seen_error *why);
enum seen_code access_save(const struct seen_filter *f, const char *path,
                           struct seen_error *why);

/* Make an empty filter at an address: remote_create(). */
enum seen_code access_create(const char *address, struct seen_plan *plan,
                             struct seen_error *why);

/* Open it to be asked, without a message; a file is mapped. `web` may be NULL if
   it is not on a web server. */
enum seen_code access_map(struct seen_filter **out, const char *path,
                          const struct seen_access *a,
                          const struct access_web *web,
                          struct seen_error *why);

/*
 * A question to a filter failed with this code, before anything was answered: if
 * its file on a web server was replaced meanwhile, or the cache was wrong or has
 * no room, open it again. SEEN_OK: then ask again; otherwise `code`, with *why as it was, or
 * why it cannot be opened again.
 */
enum seen_code access_again(struct seen_filter **f, const char *path,
                            const struct access_options *how,
                            enum seen_code code, struct seen_error *why);

/*
 * Before the work of building: is the server there, and can a filter of this
 * plan live on it? TROUBLE after a message.
 */
enum outcome access_rehearse(const char *address,
                             const struct seen_plan *plan);

/* Is it the address of a filter on a server, not a path? */
bool access_is_remote(const char *path);

/* Is it the URL of a filter on a web server? */
bool access_is_distant(const char *path);

/* remote_losses(), also in `seen`. */
uint64_t access_losses(const struct seen_filter *f);

/* Say what was wrong with the file, though it could be read. */
void access_warn(struct seen_filter *f, const char *path);

/* How lines of an index become keys of this filter, as far as it says. */
struct seen_keying access_keying(const struct seen_filter *f);

/* The value of --sync, which NULL stands for `always`. */
enum seen_sync access_sync(const char *word);

#endif
