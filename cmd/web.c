/* web.c - open filters on web servers as the user's settings say. */
#include "web.h"

#include <stdio.h>
#include <stdlib.h>

#include "../distant/distant.h"
#include "cost.h"
#include "input.h"

enum { HOUR = 3600 };

/* The user's folder of a kind, or NULL: nothing says where it is. */
static char *folder_of(const char *variable, const char *below_home)
{
    const char *named = getenv(variable), *home = getenv("HOME");
    char *path = NULL;

    if (named && *named == '/')
        return asprintf(&path, "%s/seen", named) < 0 ? NULL : path;
    if (home && *home == '/')
        return asprintf(&path, "%s/%s/seen", home, below_home) < 0 ? NULL
                                                                   : path;
    return NULL;
}

static void say(void *whose, const char *text)
{
    (void)whose;
    warning("%s", text);
}

/* The folders live as long as the command. */
static struct distant_options options_of(const struct access_web *how)
{
    static char *cache, *secrets;

    if (!cache)
        cache = folder_of("XDG_CACHE_HOME", ".cache");
    if (!secrets)
        secrets = folder_of("XDG_DATA_HOME", ".local/share");
    return (struct distant_options){
        .cache = how->no_cache ? NULL : cache,
        .secrets = secrets,
        .tmp = cmd_temporary_folder(),
        .cost = COST_DEFAULT,
        .sure = how->sure,
        .stall = (unsigned)(how->timeout < HOUR ? how->timeout : HOUR),
        .decoys = (unsigned)how->decoys,
        .allow_private = how->allow_private,
        .allow = how->allow,
        .authorities = how->ca,
        .say = say,
    };
}

static enum seen_code open_web(struct seen_filter **out, const char *url,
                               const struct access_web *how,
                               const struct seen_access *a,
                               struct seen_error *why)
{
    struct distant_options options = options_of(how);

    if (how->decoys > DISTANT_DECOYS)
        return seen_fail(why, SEEN_RANGE, 0, "--decoys: at most %d",
                         DISTANT_DECOYS);
    return distant_open(out, url, &options, a, why);
}

static bool moved(const char *url, const struct access_web *how,
                  enum seen_code code)
{
    struct distant_options options = options_of(how);

    return distant_moved(url, &options, code);
}

const struct access_distant cmd_web = { open_web, moved };
