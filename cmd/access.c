/* access.c - open filters, or say why not. */
#include "access.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "../distant/distant.h"
#include "secret.h"

enum seen_sync access_sync(const char *word)
{
    if (word && !strcmp(word, "everysec"))
        return SEEN_SYNC_EVERYSEC;
    if (word && !strcmp(word, "no"))
        return SEEN_SYNC_NO;
    return SEEN_SYNC_ALWAYS;
}

static bool prepare(struct seen_access *a, const struct access_options *how,
                    unsigned char *secret)
{
    struct seen_error why;

    a->profile = how->profile;
    if (how->profile &&
        seen_profile_find(NULL, how->profile, &why) != SEEN_OK) {
        trouble_with("--profile", &why);
        return false;
    }
    if (how->keyed && !secret_read(how->keyed, secret))
        return false;
    a->secret = how->keyed ? secret : NULL;
    return true;
}

void access_warn(struct seen_filter *f, const char *path)
{
    const struct timespec moment = { .tv_nsec = 20000000 };
    struct seen_error what;

    if (!seen_store_warning(f, NULL))
        return;
    nanosleep(&moment, NULL); /* a writer may be in the middle of a record */
    seen_store_refresh(f, NULL, NULL);
    if (seen_store_warning(f, &what))
        warning("%s: %s", path, what.text);
}

/* A keyed filter without its key can only be looked at, and vice versa. */
static struct seen_filter *checked(struct seen_filter *f, const char *path,
                                   const struct access_options *how)
{
    bool keyed = seen_filter_plan(f)->keyed;

    access_warn(f, path);
    if (keyed && !how->keyed)
        trouble("%s: the filter is keyed; give its key with --keyed KEYFILE",
                path);
    else if (!keyed && how->keyed)
        trouble("%s: the filter is not keyed; leave --keyed out", path);
    else
        return f;
    seen_filter_free(f);
    return NULL;
}

bool access_is_remote(const char *path)
{
    return access_remote && remote_is_address(path);
}

bool access_is_distant(const char *path)
{
    return distant_is_url(path);
}

uint64_t access_losses(const struct seen_filter *f)
{
    return access_remote ? access_remote->losses(f) : 0;
}

static void warn_remote(void *whose, const char *text)
{
    warning("%s: %s", (const char *)whose, text);
}

/* The path is named in warnings; it lives as long as the command. */
static struct remote_options remote_how(const struct seen_access *a,
                                        const char *path)
{
    union {
        const char *path;
        void *whose;
    } name = { .path = path };

    return (struct remote_options){ .profile = a ? a->profile : NULL,
                                    .secret = a ? a->secret : NULL,
                                    .over = a && a->over,
                                    .warn = warn_remote,
                                    .whose = name.whose };
}

/* Without the functions this is a command that does not ask web servers. */
static enum seen_code open_distant(struct seen_filter **out, const char *url,
                                   const struct seen_access *a,
                                   const struct access_web *web,
                                   struct seen_error *why)
{
    *out = NULL;
    if (!access_distant || !web)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "is on a web server; seen check and seen info ask "
                         "it there, seen harvest fetches it");
    return access_distant->open(out, url, web, a, why);
}

enum seen_code access_load(struct seen_filter **out, const char *path,
                           struct seen_error *why)
{
    struct remote_options options = remote_how(NULL, path);

    if (access_is_distant(path))
        return open_distant(out, path, NULL, NULL, why);
    return access_is_remote(path)
               ? access_remote->load(out, path, &options, why)
               : seen_store_load(out, path, NULL, why);
}

enum seen_code access_save(const struct seen_filter *f, const char *path,
                           struct seen_error *why)
{
    struct remote_options options = remote_how(NULL, path);

    return access_is_remote(path) ? access_remote->save(f, path, &options, why)
                                  : seen_store_save(f, path, why);
}

enum seen_code access_create(const char *address, struct seen_plan *plan,
                             struct seen_error *why)
{
    struct remote_options options = remote_how(NULL, address);

    return access_remote->create(address, plan, &options, why);
}

enum outcome access_rehearse(const char *address, const struct seen_plan *plan)
{
    struct remote_options options = remote_how(NULL, address);
    struct seen_plan open = *plan;
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum seen_code code;

    open.keyed = false; /* its secret does not matter here */
    code = seen_filter_new(&f, &open, &why);
    if (code == SEEN_OK)
        code = access_remote->able_at(f, address, &why);
    seen_filter_free(f);
    if (code != SEEN_OK)
        return trouble_with(address, &why);
    code = access_remote->open(&f, address, &options, &why);
    seen_filter_free(f);
    if (code == SEEN_IO || code == SEEN_UNABLE || code == SEEN_RANGE)
        return trouble_with(address, &why);
    return YES;
}

enum seen_code access_map(struct seen_filter **out, const char *path,
                          const struct seen_access *a,
                          const struct access_web *web, struct seen_error *why)
{
    struct remote_options options = remote_how(a, path);

    if (access_is_distant(path))
        return open_distant(out, path, a, web, why);
    return access_is_remote(path)
               ? access_remote->open(out, path, &options, why)
               : seen_store_map(out, path, a, why);
}

struct seen_filter *access_read(const char *path,
                                const struct access_options *how, bool few)
{
    struct seen_access a = { .lazy = few && !how->verify };
    unsigned char secret[SEEN_SECRET];
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum seen_code code;

    if (!prepare(&a, how, secret))
        return NULL;
    code = few || access_is_remote(path) || access_is_distant(path)
               ? access_map(&f, path, &a, &how->web, &why)
               : seen_store_load(&f, path, &a, &why);
    explicit_bzero(secret, sizeof secret);
    if (code == SEEN_OK && how->verify && access_is_distant(path))
        code = seen_store_verify(f, &why);
    if (code != SEEN_OK) {
        trouble_with(path, &why);
        seen_filter_free(f);
        return NULL;
    }
    return checked(f, path, how);
}

/* Are keys made and hashed for one of them right for the other? */
static bool same_keys(const struct seen_filter *f, const struct seen_filter *g)
{
    const struct seen_plan *a = seen_filter_plan(f), *b = seen_filter_plan(g);

    return !strcmp(a->profile, b->profile) && a->keys == b->keys &&
           a->keyed == b->keyed;
}

/* The disk of the cache has no room: what cannot be kept can be asked. */
static bool is_full(enum seen_code code, const struct seen_error *why)
{
    return code == SEEN_IO && (why->system == ENOSPC || why->system == EDQUOT);
}

enum seen_code access_again(struct seen_filter **f, const char *path,
                            const struct access_options *how,
                            enum seen_code code, struct seen_error *why)
{
    struct access_web web = how->web;
    struct seen_access a = { .lazy = true };
    unsigned char secret[SEEN_SECRET];
    struct seen_filter *again;

    if (!access_distant || !access_is_distant(path))
        return code;
    if (is_full(code, why))
        web.no_cache = true;
    else if (!access_distant->moved(path, &web, code))
        return code;
    if (!prepare(&a, how, secret))
        return code;
    a.secret = seen_filter_plan(*f)->keyed ? a.secret : NULL;
    code = access_map(&again, path, &a, &web, why);
    explicit_bzero(secret, sizeof secret);
    if (code == SEEN_OK && !same_keys(*f, again))
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "was replaced by a filter with other keys; ask "
                         "again");
    if (code != SEEN_OK) {
        seen_filter_free(again);
        return code;
    }
    seen_filter_free(*f);
    *f = again;
    return SEEN_OK;
}

struct seen_filter *access_write(const char *path,
                                 const struct access_options *how, bool few,
                                 enum seen_sync sync, bool over,
                                 struct wait wait)
{
    struct seen_access a = { .sync = sync,
                             .over = over,
                             .lazy = few && !how->verify };
    unsigned char secret[SEEN_SECRET];
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum seen_code code;

    if (!prepare(&a, how, secret))
        return NULL;
    do
        code = access_is_remote(path) || access_is_distant(path)
                   ? access_map(&f, path, &a, NULL, &why)
                   : seen_store_open(&f, path, &a, &why);
    while (wait_again(&wait, code));
    explicit_bzero(secret, sizeof secret);
    if (code != SEEN_OK) {
        trouble_with(path, &why);
        return NULL;
    }
    return checked(f, path, how);
}

struct seen_keying access_keying(const struct seen_filter *f)
{
    const struct seen_plan *plan = seen_filter_plan(f);

    return (struct seen_keying){ plan->profile, plan->keys };
}
