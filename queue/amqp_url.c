/*
 * amqp_url.c - read the address of a RabbitMQ server.
 *
 * The address is cut from the outside in, at bytes that cannot be part of what
 * is left: "?" ends the place, "/" the host with its user, the last "@" the
 * user (a password may have one), ":" the host or, after "]", an IPv6 address.
 * Only then are parts unescaped, so that %2F in a password is not a slash.
 *
 * Unknown settings are refused: "verfy=none" must not mean verify=full, nor
 * the reverse. The name that messages show is made of host, port and vhost
 * only; passwords are overwritten before they are freed.
 */
#include "amqp_url.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/disk/disk.h"
#include "../lib/text/buffer.h"
#include "../lib/text/number.h"
#include "../lib/text/percent.h"
#include "../lib/text/span.h"

enum { PORT = 5672, TLS_PORT = 5671 };

/* [USER[:PASSWORD]@] */
static enum seen_code parse_user(struct queue_amqp_address *to,
                                 struct seen_span *rest,
                                 struct seen_error *why)
{
    const char *at = NULL;
    struct seen_span user, password;
    enum seen_code code;

    for (size_t i = 0; i < rest->len; i++) /* a password may have an "@" */
        if (rest->text[i] == '@')
            at = rest->text + i;
    if (!at)
        return SEEN_OK;
    password = (struct seen_span){ rest->text, (size_t)(at - rest->text) };
    rest->len -= password.len + 1;
    rest->text = at + 1;
    if (!span_cut(&password, ':', &user))
        return SEEN_OK;
    code = percent_part(&to->user, user, "user", why);
    if (code == SEEN_OK && user.text + user.len < at)
        code = percent_part(&to->password, password, "password", why);
    return code;
}

/* HOST[:PORT] */
static enum seen_code parse_host(struct queue_amqp_address *to,
                                 struct seen_span s, struct seen_error *why)
{
    struct seen_span host = s, port = { "", 0 };
    const char *colon;
    char digits[8];
    uint64_t number;

    if (span_begins(s, "[")) {
        const char *end = memchr(s.text, ']', s.len);

        if (!end)
            return seen_fail(why, SEEN_RANGE, 0,
                             "an amqp address has a [ without a ]");
        host = (struct seen_span){ s.text + 1, (size_t)(end - s.text) - 1 };
        port = (struct seen_span){ end + 1, s.len - host.len - 2 };
        if (port.len && *port.text != ':')
            return seen_fail(why, SEEN_RANGE, 0,
                             "a port follows the ] of an amqp address");
    } else if ((colon = memchr(s.text, ':', s.len))) {
        host.len = (size_t)(colon - s.text);
        port = (struct seen_span){ colon, s.len - host.len };
    }
    if (!host.len)
        return seen_fail(why, SEEN_RANGE, 0, "an amqp address needs a host");
    if (port.len > 1) {
        if (port.len > sizeof digits)
            port.len = sizeof digits; /* too long for a port anyway */
        memcpy(digits, port.text + 1, port.len - 1);
        digits[port.len - 1] = '\0';
        if (number_count(digits, &number) || !number || number > 65535)
            return seen_fail(why, SEEN_RANGE, 0,
                             "the port of an amqp address is 1 to 65535");
        to->port = (unsigned)number;
    }
    return percent_part(&to->host, host, "host", why);
}

static enum seen_code parse_verify(struct queue_amqp_address *to,
                                   struct seen_span value,
                                   struct seen_error *why)
{
    if (span_is(value, "full"))
        to->verify = QUEUE_VERIFY_FULL;
    else if (span_is(value, "peer"))
        to->verify = QUEUE_VERIFY_PEER;
    else if (span_is(value, "none"))
        to->verify = QUEUE_VERIFY_NONE;
    else
        return seen_fail(why, SEEN_RANGE, 0,
                         "verify= of an amqp address is full, peer or none");
    return SEEN_OK;
}

/* SETTING=VALUE&... */
static enum seen_code parse_settings(struct queue_amqp_address *to,
                                     struct seen_span rest,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct seen_span value, key;
    char *file = NULL;

    while (code == SEEN_OK && span_cut(&rest, '&', &value)) {
        if (!span_cut(&value, '=', &key))
            continue;
        if (span_is(key, "cacert"))
            code = percent_part(&to->cacert, value, "cacert", why);
        else if (span_is(key, "cert"))
            code = percent_part(&to->cert, value, "cert", why);
        else if (span_is(key, "key"))
            code = percent_part(&to->key, value, "key", why);
        else if (span_is(key, "queues"))
            code = percent_part(&to->queues, value, "queues", why);
        else if (span_is(key, "password-file"))
            code = percent_part(&file, value, "password-file", why);
        else if (span_is(key, "verify"))
            code = parse_verify(to, value, why);
        else
            code = seen_fail(why, SEEN_RANGE, 0,
                             "an amqp address has no setting %.*s=; it has "
                             "password-file, cacert, cert, key, verify, "
                             "queues",
                             (int)(key.len < 20 ? key.len : 20), key.text);
    }
    if (code == SEEN_OK && file) {
        free(to->password);
        code = disk_password(&to->password, file, why);
    }
    free(file);
    if (code == SEEN_OK && !to->cert != !to->key)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "cert= and key= of an amqp address belong together");
    return code;
}

/* What the address leaves out, and the name. */
static enum seen_code complete(struct queue_amqp_address *to,
                               struct seen_error *why)
{
    const char *given = getenv("SEEN_AMQP_PASSWORD");
    struct buffer name = { .bytes = NULL };
    bool v6 = strchr(to->host, ':') != NULL;

    if (!to->port)
        to->port = to->tls ? TLS_PORT : PORT;
    if (!to->user)
        to->user = strdup("guest");
    if (!to->vhost || !*to->vhost) {
        free(to->vhost);
        to->vhost = strdup("/");
    }
    if (!to->password && given && *given)
        to->password = strdup(given);
    else if (!to->password && to->user && !strcmp(to->user, "guest"))
        to->password = strdup("guest");
    else if (!to->password)
        return seen_fail(why, SEEN_RANGE, 0,
                         "no password for this user: give it in a file "
                         "(?password-file=FILE) or in SEEN_AMQP_PASSWORD");
    buffer_format(&name, "RabbitMQ at %s%s%s:%u", v6 ? "[" : "", to->host,
                  v6 ? "]" : "", to->port);
    if (to->vhost && strcmp(to->vhost, "/") != 0)
        buffer_format(&name, "/%s", to->vhost);
    to->name = buffer_take(&name);
    if (!to->user || !to->vhost || !to->password || !to->name)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for an address");
    return SEEN_OK;
}

enum seen_code queue_amqp_parse(struct queue_amqp_address *to, const char *url,
                                struct seen_error *why)
{
    struct seen_span rest = span_of(url), settings, place, vhost;
    enum seen_code code = SEEN_OK;
    const char *slash;

    *to = (struct queue_amqp_address){ .tls = span_begins(rest, "amqps://") };
    if (!to->tls && !span_begins(rest, "amqp://"))
        return seen_fail(why, SEEN_RANGE, 0,
                         "not an amqp:// or amqps:// address");
    rest.text += to->tls ? 8 : 7;
    rest.len -= to->tls ? 8 : 7;

    /* A "/" or "?" of a password is written %2F or %3F. */
    settings = rest;
    place = (struct seen_span){ rest.text, 0 };
    span_cut(&settings, '?', &place);
    slash = memchr(place.text, '/', place.len);
    if (slash) {
        vhost = (struct seen_span){ slash + 1, 0 };
        vhost.len = place.len - (size_t)(vhost.text - place.text);
        place.len = (size_t)(slash - place.text);
        code = percent_part(&to->vhost, vhost, "vhost", why);
    }
    if (code == SEEN_OK)
        code = parse_user(to, &place, why);
    if (code == SEEN_OK)
        code = parse_host(to, place, why);
    if (code == SEEN_OK)
        code = parse_settings(to, settings, why);
    if (code == SEEN_OK)
        code = complete(to, why);
    if (code != SEEN_OK)
        queue_amqp_forget(to);
    return code;
}

void queue_amqp_forget(struct queue_amqp_address *to)
{
    if (to->password)
        explicit_bzero(to->password, strlen(to->password));
    free(to->host);
    free(to->user);
    free(to->password);
    free(to->vhost);
    free(to->cacert);
    free(to->cert);
    free(to->key);
    free(to->queues);
    free(to->name);
    *to = (struct queue_amqp_address){ .host = NULL };
}
