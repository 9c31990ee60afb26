/*
 * names.c - names of hosts to addresses.
 *
 * They are looked up by threads of their own: a name server that does not
 * answer takes half a minute, and readers have other things to do. Some of these
 * threads are kept for hosts that have answered before, so that names without
 * an answer do not hold up those that are known to have one.
 */
#include "store.h"

#include <netdb.h>
#include <string.h>

const char crawl_needs_contact[] = "public hosts need --contact";

static void look_up(struct crawl *c, struct crawl_page *page)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    char address[64] = "", name[256] = "";
    bool public = false, claims;
    size_t len = page->host->len;

    /* "[::1]" is an address, too. */
    if (len > 2 && len < sizeof name && *page->host->name == '[')
        memcpy(name, page->host->name + 1, len - 2);
    else if (len < sizeof name)
        memcpy(name, page->host->name, len);

    if (!getaddrinfo(name, NULL, &hints, &found) && found) {
        getnameinfo(found->ai_addr, found->ai_addrlen, address, sizeof address,
                    NULL, 0, NI_NUMERICHOST);
        public = fetch_public(found->ai_addr);
    }
    if (found)
        freeaddrinfo(found);
    pthread_mutex_lock(&c->lock);
    claims = c->store->shares_hosts && *address;
    if (claims)
        memcpy(page->host->claim, address, sizeof address);
    crawl_host_become(page->host,
                      claims ? CRAWL_HOST_CLAIMS : CRAWL_HOST_RESTS);
    if (public && !c->settings->contact && !c->settings->agent)
        page->host->stopped = crawl_needs_contact;
    /* A name without an address fails when it is fetched, and is logged. */
    if (!claims &&
        ((*address && !crawl_host_resolve(&c->hosts, page->host, address)) ||
         !crawl_host_set_due(&c->hosts, page->host, page->host->due)))
        crawl_no_memory(c);
    c->looking--;
    if (c->phase >= CRAWL_CLOSES || claims)
        pthread_cond_signal(&c->to_commit);
    pthread_mutex_unlock(&c->lock);
    crawl_page_free(page);
    fetch_wakeup(c->web);
}

void *crawl_look_thread(void *crawl)
{
    struct crawl *c = crawl;
    struct crawl_page *page;
    bool kept;

    pthread_mutex_lock(&c->lock);
    kept = c->kept_lookers < CRAWL_LOOKERS_KEPT;
    c->kept_lookers += kept;
    while (c->phase < CRAWL_QUITS) {
        page = crawl_list_take(&c->names[true]);
        if (!page && !kept)
            page = crawl_list_take(&c->names[false]);
        if (!page) {
            pthread_cond_wait(&c->to_look, &c->lock);
            continue;
        }
        pthread_mutex_unlock(&c->lock);
        look_up(c, page);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}
