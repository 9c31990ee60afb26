/*
 * host.h - the host of a URL: a name, an address, or something opaque.
 */
#ifndef SEEN_URL_HOST_H
#define SEEN_URL_HOST_H

#include "text.h"

/*
 * Write the host in its canonical form: of a special scheme a domain in
 * ASCII or an address, else an opaque host. NULL, or what is wrong with it.
 */
const char *url_write_host(struct sink *to, const char *host, size_t len,
                           bool special);

/* Which rules internationalised names follow. */
enum idna {
    IDNA_WHATWG, /* UTS 46, not transitional: "faß" stays apart from "fass" */
    IDNA_ARCHIVES /* as near to IDNA 2003 as can be: "faß" is "fass" */
};

/*
 * Write a domain of UTF-8 in ASCII and lower case. False if it is not
 * allowed, or without memory, when errno is ENOMEM and else 0; what was
 * written is then to be dropped.
 */
bool idna_write(struct sink *to, const char *domain, size_t len,
                enum idna rules);

/* The fault of a URL that is right, for all that is known. */
extern const char url_no_memory[];

#endif
