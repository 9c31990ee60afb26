/*
 * credentials.h - secrets for servers that ask who we are, from one file.
 *
 *     # host                     how       what
 *     haw.nsk.hr                 bearer    TOKEN
 *     b.example:8443             basic     USER:PASSWORD
 *     c.example                  cert      c.pem c.key
 *     http://10.1.2.3:8080       basic     USER:PASSWORD
 *
 * A line is for one origin: scheme, host and port. Without a scheme it is
 * https, without a port that of the scheme. So a secret that was given for
 * https never travels by http, unless the file says so. An origin can have a
 * certificate and one of the others. Paths are relative to the folder of the
 * file; a certificate and its key may be in one file.
 *
 * A request carries credentials only as long as it is at the origin that it
 * began with: not after a redirect elsewhere, nor if one comes back.
 *
 * Secrets are wiped when they are freed, and are in no message; libcurl has
 * copies of its own while a request runs.
 *
 * Threads: read-only after _load().
 */
#ifndef SEEN_FETCH_CREDENTIALS_H
#define SEEN_FETCH_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>

enum { FETCH_CREDENTIALS = 256, FETCH_CREDENTIALS_FILE = 64 << 10 };

/* The secrets for one origin; those that it does not need are NULL. */
struct fetch_credential {
    char *host; /* "haw.nsk.hr:443" */
    bool tls;
    char *bearer; /* the whole line: "Authorization: Bearer TOKEN" */
    char *user, *password;
    char *certificate, *key; /* paths */
};

struct fetch_credentials;

/*
 * SEEN_IO if the file cannot be read, or a certificate or key that it names;
 * SEEN_RANGE for an invalid line, with its number in why->at and in the text;
 * SEEN_NOMEM.
 */
enum seen_code fetch_credentials_load(struct fetch_credentials **out,
                                      const char *path,
                                      struct seen_error *why);
void fetch_credentials_free(struct fetch_credentials *c);

/* The i-th file of secrets, the list itself and private keys, that others
   than its owner can read; NULL past the last. */
const char *fetch_credentials_exposed(const struct fetch_credentials *c,
                                      size_t i);

/* For this host ("haw.nsk.hr:443"), or NULL. `c` may be NULL. */
const struct fetch_credential *fetch_credentials_find(
    const struct fetch_credentials *c, bool tls, const char *host);

#endif
