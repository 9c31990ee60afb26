/*
 * address.h - where a filter on a server is.
 *
 *     redis[s]://[USER[:PASSWORD]@]HOST[:PORT]/[DB/]NAME[?SETTING=VALUE&...]
 *     redis[s]+cluster://[USER[:PASSWORD]@]HOST[:PORT],HOST[:PORT].../NAME[?...]
 *     bf[s]://[[USER]:PASSWORD@]HOST[:PORT]/[DB/]NAME[?...]
 *     spatial:ADDRESS,ADDRESS...
 *
 * redis: the bits of the filter are in a Redis server of version 5 or later, or
 * in one that speaks as it does. bf: the server has the filter, and is asked
 * with BF commands: `seen serve`, or Redis with RedisBloom. spatial: several
 * filters with different seeds, all of which must have a URL. The s stands for
 * TLS. All parts may hold bytes as %XX; a comma in a name of `spatial` must be
 * one. A HOST that is an IPv6 address stands in brackets.
 *
 *     password-file=FILE  its first line is the password
 *     cacert=FILE         CA certificates in PEM; otherwise those of the system
 *     cert=FILE, key=FILE the certificate of this client, in PEM
 *     verify=full|peer|none  check certificate and host name (the default),
 *                         the certificate only, or neither
 *     timeout=SECONDS     for a connection, and for a reply: 5
 *     replicas=N          adds wait until N replicas have them; not for bf
 *     profile=P           refuse a filter whose keys were made otherwise. Needed
 *                         for RedisBloom, which does not record it.
 *
 * A password that is neither in the address nor in a file is taken from the
 * environment: SEEN_REDIS_PASSWORD. No message repeats a password.
 *
 *     remote_address_hide(argv[1]);
 *     if (remote_address_parse(&a, argv[1], &why) == SEEN_OK)
 *         connect(a.host[0].name, a.host[0].port);
 *     remote_address_forget(&a);
 *
 * Threads: _hide() is called before threads start; the others are plain
 * functions of their arguments and of the environment.
 */
#ifndef SEEN_REMOTE_ADDRESS_H
#define SEEN_REMOTE_ADDRESS_H

#include <stdbool.h>

#include <seen/error.h>

enum { REMOTE_HOSTS = 16, REMOTE_NAME_MOST = 200, REMOTE_TIMEOUT_MS = 5000 };

enum remote_scheme { REMOTE_REDIS, REMOTE_CLUSTER, REMOTE_BF };

enum remote_verify {
    REMOTE_VERIFY_FULL,
    REMOTE_VERIFY_PEER,
    REMOTE_VERIFY_NONE
};

struct remote_address {
    enum remote_scheme scheme;
    bool tls;
    struct remote_host {
        char name[256]; /* without brackets */
        unsigned port;
    } host[REMOTE_HOSTS];
    unsigned hosts;
    char *user, *password; /* or NULL */
    unsigned db;
    char *name;
    char *cacert, *cert, *key; /* or NULL */
    char *profile;             /* or NULL */
    enum remote_verify verify;
    unsigned replicas, timeout_ms;
};

/* Does the text begin like an address, so that it is not a file? */
bool remote_is_address(const char *text);

/*
 * The parts of an address that begins with spatial: one after the other.
 * *rest is the whole address at first, and ends as "". *part has the next one,
 * which the caller frees; NULL without memory. False: it is not such an address,
 * or there is no further part.
 */
bool remote_is_spatial(const char *text);
bool remote_spatial_next(const char **rest, char **part);

/* How many filters an address names: 1, unless it begins with spatial: */
unsigned remote_address_parts(const char *text);

/* Read an address of one filter; the password file, too. SEEN_RANGE if it is not valid,
   SEEN_IO if the file cannot be read; *a is cleared then. */
enum seen_code remote_address_parse(struct remote_address *a, const char *text,
                                    struct seen_error *why);

/* Free what it holds and overwrite the password. */
void remote_address_forget(struct remote_address *a);

/*
 * Replace the password of an address within `text`, if there is one, by ***,
 * and remember it: _parse() of the changed text finds it. So neither messages
 * nor the list of processes show it. `text` may have something before the
 * address, such as NAME=, and more addresses, separated by commas.
 */
void remote_address_hide(char *text);

#endif
