/*
 * tracking.c - CLIENT TRACKING: clients that keep answers.
 *
 * A client with a cache of its own asks the server to say when a key that it
 * has read changes, and takes an error for a broken connection. Redis keeps a
 * table of who has read what, and may drop any part of it at any time: then it
 * says that these keys have changed. Our table is always full: after every
 * answer about an archive the client hears that all keys may have changed.
 *
 *     > BF.EXISTS a x        < :1
 *                            < >2 "invalidate" null
 *
 * So a cache is never wrong, and never of use: an archive is another one after
 * every add.
 *
 * In RESP2 a second connection, which subscribes, is told. We have neither
 * subscriptions nor other clients' connections; without one Redis says nothing.
 */
#include "command.h"

enum { OPTIN = 1, OPTOUT = 2, BCAST = 4, NOLOOP = 8 };

void redis_tell_changes(struct redis_client *r, struct buffer *out)
{
    static const char all[] = ">2\r\n$10\r\ninvalidate\r\n_\r\n";

    if (r->tracking && r->read && r->three && r->mute == MUTE_NONE)
        buffer_bytes(out, all, sizeof all - 1);
    r->read = false;
}

static const struct {
    const char *name, *flag;
    unsigned mode;
} modes[] = { { "BCAST", "bcast", BCAST },
              { "OPTIN", "optin", OPTIN },
              { "OPTOUT", "optout", OPTOUT },
              { "NOLOOP", "noloop", NOLOOP } };

enum { MODES = sizeof modes / sizeof modes[0] };

static unsigned mode_of(const struct redis_call *c, size_t i)
{
    for (size_t j = 0; j < MODES; j++)
        if (redis_word_is(c, i, modes[j].name))
            return modes[j].mode;
    return 0;
}

static const char *read_modes(const struct redis_call *c, unsigned *mode)
{
    bool prefix = false;

    *mode = 0;
    for (size_t i = 3; i < c->words; i++) {
        const bool more = i + 1 < c->words;
        int64_t id;

        if (redis_word_is(c, i, "REDIRECT") && more) {
            if (!redis_integer(c->word[++i], &id))
                return "ERR value is not an integer or out of range";
            return "ERR The client ID you want redirect to does not exist";
        }
        if (redis_word_is(c, i, "PREFIX") && more) {
            prefix = true;
            i++;
        } else if (mode_of(c, i)) {
            *mode |= mode_of(c, i);
        } else {
            return "ERR syntax error";
        }
    }
    return prefix && !(*mode & BCAST)
               ? "ERR PREFIX option requires BCAST mode to be enabled"
               : NULL;
}

static const char *check_modes(const struct redis_client *r, unsigned mode)
{
    const unsigned differ = r->tracking ? r->tracks ^ mode : 0;

    if (differ & BCAST)
        return "ERR You can't switch BCAST mode on/off before disabling "
               "tracking for this client, and then re-enabling it with a "
               "different mode.";
    if ((mode & BCAST) && (mode & (OPTIN | OPTOUT)))
        return "ERR OPTIN and OPTOUT are not compatible with BCAST";
    if ((mode & OPTIN) && (mode & OPTOUT))
        return "ERR You can't specify both OPTIN mode and OPTOUT mode";
    return differ & (OPTIN | OPTOUT)
               ? "ERR You can't switch OPTIN/OPTOUT mode before disabling "
                 "tracking for this client, and then re-enabling it with a "
                 "different mode."
               : NULL;
}

void redis_track(struct redis_call *c)
{
    struct redis_client *r = c->client;
    const bool on = redis_word_is(c, 2, "ON");
    unsigned mode;
    const char *fault = read_modes(c, &mode);

    if (!fault && !on && !redis_word_is(c, 2, "OFF"))
        fault = "ERR syntax error";
    if (!fault && on)
        fault = check_modes(r, mode);
    if (fault) {
        resp_error(c->out, "%s", fault);
        return;
    }
    r->tracking = on;
    r->tracks = on ? mode : 0;
    resp_status(c->out, "OK");
}

/* What is kept changes nothing: all of it is said to have changed. */
void redis_caching(struct redis_call *c)
{
    const struct redis_client *r = c->client;
    const bool yes = redis_word_is(c, 2, "YES");

    if (!r->tracking || !(r->tracks & (OPTIN | OPTOUT)))
        resp_error(c->out, "ERR CLIENT CACHING can be called only when the "
                           "client is in tracking mode with OPTIN or OPTOUT "
                           "mode enabled");
    else if (yes && !(r->tracks & OPTIN))
        resp_error(c->out, "ERR CLIENT CACHING YES is only valid when "
                           "tracking is enabled in OPTIN mode.");
    else if (!yes && !redis_word_is(c, 2, "NO"))
        redis_bad_syntax(c);
    else if (!yes && !(r->tracks & OPTOUT))
        resp_error(c->out, "ERR CLIENT CACHING NO is only valid when tracking "
                           "is enabled in OPTOUT mode.");
    else
        resp_status(c->out, "OK");
}

void redis_tracking_info(struct redis_call *c)
{
    const struct redis_client *r = c->client;
    size_t flags = 1;

    for (size_t i = 0; i < MODES; i++)
        flags += (r->tracks & modes[i].mode) != 0;
    resp_map(c->out, 3, c->three);
    resp_text(c->out, "flags");
    resp_set(c->out, flags, c->three);
    resp_text(c->out, r->tracking ? "on" : "off");
    for (size_t i = 0; i < MODES; i++)
        if (r->tracks & modes[i].mode)
            resp_text(c->out, modes[i].flag);
    resp_text(c->out, "redirect");
    resp_number(c->out, r->tracking ? 0 : -1);
    resp_text(c->out, "prefixes");
    resp_array(c->out, 0);
}
