/*
 * open.c - what crawls in a folder and workers of a team begin and end with:
 * the HTTP client and its name, the lock, the lists.
 */
#include "aside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>

#include <seen/version.h>

static enum seen_code name_agent(struct crawl *c, struct seen_error *why)
{
    const struct crawl_settings *s = c->settings;
    struct buffer b = { .bytes = NULL };
    size_t n;

    if (s->agent)
        buffer_text(&b, s->agent);
    else
        buffer_text(&b, "seen/" SEEN_VERSION);
    if (!s->agent && s->contact)
        buffer_format(&b, " (+%s)", s->contact);
    c->agent = buffer_take(&b);
    if (!c->agent)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the agent");
    n = strcspn(c->agent, "/ (");
    snprintf(c->product, sizeof c->product, "%.*s", (int)(n < 63 ? n : 63),
             c->agent);
    return SEEN_OK;
}

static enum seen_code open_web(struct crawl *c, struct seen_error *why)
{
    const struct crawl_settings *s = c->settings;
    const struct fetch_options options = {
        .agent = c->agent,
        .authorities = s->ca,
        .allow_private = s->allow_private,
        .allow = s->allow,
        .parallel = (unsigned)s->parallel,
        .timeout = (unsigned)s->timeout,
        .stall = (unsigned)(s->timeout < 30 ? s->timeout : 30),
        .connect = (unsigned)(s->timeout < 15 ? s->timeout : 15),
    };
    enum seen_code code = fetch_new(&c->web, &options, why);

    if (code == SEEN_OK && s->skip.n)
        code = crawl_skip_open(&c->skip, &s->skip, &options, why);
    return code;
}

enum seen_code crawl_engine_open(struct crawl *c, struct seen_error *why)
{
    enum seen_code code = name_agent(c, why);

    xmlInitParser(); /* which two readers must not do at once */
    if (code == SEEN_OK)
        code = open_web(c, why);
    crawl_hosts_limit(&c->hosts, (unsigned)c->settings->per_address,
                      (unsigned)c->settings->parallel);
    crawl_bodies_init(&c->bodies, NULL, c->settings->parallel);
    return code;
}

enum seen_code crawl_engine_open_files(struct crawl *c, const char *folder,
                                       const char *part,
                                       const struct crawl_position *at,
                                       struct seen_error *why)
{
    const struct warc_facts facts = { .software = "seen/" SEEN_VERSION,
                                      .operator= c->settings->contact,
                                      .agent = c->agent,
                                      .robots = "obey",
                                      .part = part };

    return crawl_output_open(&c->output, folder, at, c->settings, &facts, why);
}

void crawl_engine_init(struct crawl *c)
{
    pthread_condattr_t steady;

    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->to_work, NULL);
    pthread_cond_init(&c->to_look, NULL);
    pthread_cond_init(&c->to_commit, &steady);
    pthread_condattr_destroy(&steady);
    for (int i = 0; i < CRAWL_FILES; i++)
        c->output.fd[i] = -1;
    c->lease_end = INT64_MAX;
}

static void free_pages(struct crawl_list *l)
{
    struct crawl_page *page;

    while ((page = crawl_list_take(l)))
        crawl_page_free(page);
}

void crawl_engine_clear(struct crawl *c)
{
    fetch_free(c->web);
    free_pages(&c->answers);
    free_pages(&c->filed);
    free_pages(&c->costly);
    free_pages(&c->suspects);
    free_pages(&c->names[false]);
    free_pages(&c->names[true]);
    free_pages(&c->done);
    free_pages(&c->moved);
    crawl_hosts_clear(&c->hosts);
    crawl_aside_forget(c);
    crawl_skip_close(c->skip);
    crawl_spares_clear(&c->spares);
    crawl_output_close(&c->output);
    crawl_reading_close(c->reading);
    free(c->agent);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->to_work);
    pthread_cond_destroy(&c->to_look);
    pthread_cond_destroy(&c->to_commit);
}
