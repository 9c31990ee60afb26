/*
 * remote.c - from an address to a filter.
 *
 * An address decides which of three kinds a filter is: cells that we own
 * (redis://, redis+cluster://), BF commands of a server that owns them (bf://),
 * or several of those under one name (spatial:). Each function here chooses and
 * passes on. What BF commands cannot do, to give the cells away or to take
 * them, is refused here, before anything is connected.
 */
#include "remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bf.h"
#include "layout.h"
#include "redis.h"
#include "spatial.h"
#include "transfer.h"

static const struct remote_options none = { .profile = NULL };

/* The profile that the caller and the address expect, in *profile. */
static enum seen_code expected(const struct remote_address *a,
                               const char **profile, struct seen_error *why)
{
    if (!a->profile)
        return SEEN_OK;
    if (*profile && strcmp(*profile, a->profile))
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "its address has profile %.40s; %.40s is expected",
                         a->profile, *profile);
    *profile = a->profile;
    return seen_profile_find(NULL, a->profile, why);
}

enum seen_code remote_open(struct seen_filter **out, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why)
{
    struct remote_options o = options ? *options : none;
    struct remote_address a;
    enum seen_code code;
    char *profile;

    *out = NULL;
    if (remote_is_spatial(address))
        return remote_spatial_open(out, address, &o, why);
    code = remote_address_parse(&a, address, why);
    if (code == SEEN_OK)
        code = expected(&a, &o.profile, why);
    profile = a.profile; /* lives longer than the address, which is moved */
    a.profile = NULL;
    if (code == SEEN_OK)
        code = a.scheme == REMOTE_BF ? remote_bf_open(out, &a, &o, why)
                                     : remote_redis_open(out, &a, &o, why);
    free(profile);
    remote_address_forget(&a);
    return code;
}

enum seen_code remote_able(const struct seen_filter *f, struct seen_error *why)
{
    return remote_layout_able(f, why);
}

static enum seen_code no_cells(struct seen_error *why)
{
    errno = 0;
    return seen_fail(
        why, SEEN_UNABLE, 0,
        "BF commands ask and add; they cannot copy a filter: take "
        "the file that the server has");
}

enum seen_code remote_able_at(const struct seen_filter *f, const char *address,
                              struct seen_error *why)
{
    struct remote_address a;
    enum seen_code code;

    if (remote_is_spatial(address))
        return remote_spatial_able(f, address, why);
    code = remote_address_parse(&a, address, why);
    if (code == SEEN_OK)
        code = a.scheme == REMOTE_BF ? no_cells(why) : remote_able(f, why);
    remote_address_forget(&a);
    return code;
}

static enum seen_code open_server(struct remote_server **s,
                                  const char *address,
                                  const struct remote_options *options,
                                  struct seen_error *why)
{
    struct remote_address a;
    enum seen_code code = remote_address_parse(&a, address, why);

    *s = NULL;
    if (code == SEEN_OK && a.scheme == REMOTE_BF)
        code = no_cells(why);
    if (code == SEEN_OK)
        code = remote_server_open(s, &a, options->warn, options->whose, why);
    remote_address_forget(&a);
    return code;
}

enum seen_code remote_save(const struct seen_filter *f, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why)
{
    struct remote_server *s;
    enum seen_code code;

    if (remote_is_spatial(address))
        return remote_spatial_save(f, address, options, why);
    code = open_server(&s, address, options ? options : &none, why);
    if (code == SEEN_OK)
        code = remote_transfer_in(f, s, options && options->fresh, why);
    remote_server_close(s);
    return code;
}

enum seen_code remote_load(struct seen_filter **out, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why)
{
    const struct seen_access access = {
        .profile = options ? options->profile : NULL,
        .secret = options ? options->secret : NULL
    };
    struct remote_server *s;
    enum seen_code code;

    *out = NULL;
    if (remote_is_spatial(address)) {
        errno = 0;
        return seen_fail(
            why, SEEN_UNABLE, 0,
            "its parts are filters of their own: name the address "
            "of one of them");
    }
    code = open_server(&s, address, options ? options : &none, why);
    if (code == SEEN_OK)
        code = remote_transfer_out(out, s, &access, why);
    remote_server_close(s);
    return code;
}

uint64_t remote_losses(const struct seen_filter *f)
{
    uint64_t sum = 0;

    if (f->kind == &remote_redis)
        return remote_redis_losses(f);
    if (f->kind == &remote_bf)
        return remote_bf_losses(f);
    for (unsigned i = 0; f->kind == &remote_spatial && i < f->parts; i++)
        sum += remote_losses(f->part[i]);
    return sum;
}
