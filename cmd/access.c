/* access.c - open filters, or say why not. */
#include "access.h"

#include <string.h>

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

/* A keyed filter without its key can only be looked at, and vice versa. */
static struct seen_filter *checked(struct seen_filter *f, const char *path,
                                   const struct access_options *how)
{
    bool keyed = seen_filter_plan(f)->keyed;

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

struct seen_filter *access_read(const char *path,
                                const struct access_options *how, bool often)
{
    struct seen_access a = { .profile = NULL };
    unsigned char secret[SEEN_SECRET];
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum seen_code code;

    if (!prepare(&a, how, secret))
        return NULL;
    code = often ? seen_store_load(&f, path, &a, &why)
                 : seen_store_map(&f, path, &a, &why);
    explicit_bzero(secret, sizeof secret);
    if (code != SEEN_OK) {
        trouble_with(path, &why);
        return NULL;
    }
    return checked(f, path, how);
}

struct seen_filter *access_write(const char *path,
                                 const struct access_options *how,
                                 enum seen_sync sync, bool over,
                                 struct wait wait)
{
    struct seen_access a = { .sync = sync, .over = over };
    unsigned char secret[SEEN_SECRET];
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum seen_code code;

    if (!prepare(&a, how, secret))
        return NULL;
    do
        code = seen_store_open(&f, path, &a, &why);
    while (wait_again(&wait, code));
    explicit_bzero(secret, sizeof secret);
    if (code != SEEN_OK) {
        trouble_with(path, &why);
        return NULL;
    }
    return checked(f, path, how);
}
