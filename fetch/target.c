/*
 * target.c - read URLs with libcurl's parser, so that what is checked here is
 * what it connects to.
 *
 * The address is checked later, at the socket. Here are the checks that need
 * the URL alone: its scheme, that it has no password, and its port. Ports of
 * other protocols are refused as browsers do (the "bad ports" of the WHATWG's
 * Fetch standard): a request line is also a line of SMTP, and a redirect must
 * not send us to somebody's mail server.
 */
#include "target.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "head.h"

static const uint16_t other_ports[] = {
    0,    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,    22,
    23,   25,   37,   42,   43,   53,   69,   77,   79,   87,   95,    101,
    102,  103,  104,  109,  110,  111,  113,  115,  117,  119,  123,   135,
    137,  139,  143,  161,  179,  389,  427,  465,  512,  513,  514,   515,
    526,  530,  531,  532,  540,  548,  554,  556,  563,  587,  601,   636,
    989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045, 4190,  5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
};

static bool port_is_other(unsigned long port)
{
    for (size_t i = 0; i < sizeof other_ports / sizeof *other_ports; i++)
        if (port == other_ports[i])
            return true;
    return false;
}

static enum seen_code refuse(CURLUcode fault, struct seen_error *why)
{
    switch (fault) {
    case CURLUE_OUT_OF_MEMORY:
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a URL");
    case CURLUE_USER_NOT_ALLOWED:
        return seen_fail(why, SEEN_RANGE, 0,
                         "a URL with a user name or password is not fetched");
    case CURLUE_NO_HOST:
        return seen_fail(why, SEEN_RANGE, 0, "a URL needs a host");
    default:
        return seen_fail(why, SEEN_RANGE, 0, "is not a URL: %s",
                         curl_url_strerror(fault));
    }
}

enum seen_code fetch_target_copy(struct fetch_target *t, const char *url,
                                 const char *host, struct seen_error *why)
{
    size_t n = strlen(url) + 1, m = strlen(host) + 1;

    t->url = malloc(n + m);
    t->host = t->url ? t->url + n : NULL;
    if (!t->url)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a URL");
    memcpy(t->url, url, n);
    memcpy(t->host, host, m);
    return SEEN_OK;
}

/* "haw.nsk.hr:443" after the URL, which is as libcurl wrote it. */
static enum seen_code keep(struct fetch_target *t, const char *url,
                           const char *host, const char *port,
                           struct seen_error *why)
{
    size_t n = strlen(host), m = strlen(port);
    char *place = malloc(n + m + 2);
    enum seen_code code;

    if (!place)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a URL");
    memcpy(place, host, n);
    place[n] = ':';
    memcpy(place + n + 1, port, m + 1);
    for (char *p = place; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p + 32);
    code = fetch_target_copy(t, url, place, why);
    free(place);
    return code;
}

static enum seen_code check(struct fetch_target *t, CURLU *u,
                            struct seen_error *why)
{
    char *scheme = NULL, *host = NULL, *port = NULL, *url = NULL;
    enum seen_code code = SEEN_OK;
    CURLUcode fault = curl_url_get(u, CURLUPART_SCHEME, &scheme, 0);

    if (fault)
        return refuse(fault, why);
    if (strcmp(scheme, "http") && strcmp(scheme, "https")) {
        code = seen_fail(why, SEEN_RANGE, 0,
                         "%.20s: is not fetched, only http and https", scheme);
        goto free_scheme;
    }
    fault = curl_url_get(u, CURLUPART_HOST, &host, 0);
    if (!fault)
        fault = curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);
    if (!fault)
        fault = curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
    if (!fault)
        fault = curl_url_get(u, CURLUPART_URL, &url, 0);
    if (fault)
        code = refuse(fault, why);
    else if (port_is_other(strtoul(port, NULL, 10)))
        code = seen_fail(why, SEEN_RANGE, 0,
                         "port %s belongs to another protocol", port);
    else
        code = keep(t, url, host, port, why);
    curl_free(url);
    curl_free(port);
    curl_free(host);
free_scheme:
    curl_free(scheme);
    return code;
}

enum seen_code fetch_target_init(struct fetch_target *t, const char *base,
                                 const char *text, struct seen_error *why)
{
    const unsigned flags = CURLU_NON_SUPPORT_SCHEME | CURLU_DISALLOW_USER |
                           CURLU_URLENCODE | CURLU_ALLOW_SPACE;
    CURLUcode fault = CURLUE_OK;
    enum seen_code code;
    CURLU *u;

    *t = (struct fetch_target){ 0 };
    if (strlen(text) > FETCH_HEAD_URL)
        return seen_fail(why, SEEN_RANGE, FETCH_HEAD_URL,
                         "a URL has at most %d bytes", FETCH_HEAD_URL);
    u = curl_url();
    if (!u)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a URL");
    if (base)
        fault = curl_url_set(u, CURLUPART_URL, base, flags);
    if (!fault)
        fault = curl_url_set(u, CURLUPART_URL, text, flags);
    code = fault ? refuse(fault, why) : check(t, u, why);
    curl_url_cleanup(u);
    if (code != SEEN_OK)
        fetch_target_clear(t);
    return code;
}

bool fetch_target_tls(const struct fetch_target *t)
{
    return !strncasecmp(t->url, "https:", 6);
}

bool fetch_target_same(const struct fetch_target *a,
                       const struct fetch_target *b)
{
    return fetch_target_tls(a) == fetch_target_tls(b) &&
           !strcmp(a->host, b->host);
}

void fetch_target_clear(struct fetch_target *t)
{
    free(t->url);
    *t = (struct fetch_target){ 0 };
}
