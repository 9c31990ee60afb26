/*
 * fill_in.c - settings of a crawl that its template has and its options do not.
 *
 * An option that was given counts, whatever the template says. So an operator
 * can lower a budget, or raise a delay, without changing the template.
 */
#include "template.h"

#include <string.h>

#include "../page/settings.h"

static void fill_in(uint64_t *setting, uint64_t of_template)
{
    if (!*setting && of_template != CRAWL_UNSET)
        *setting = of_template;
}

/* A crawl that resumes has the domains of its template already. */
static bool has_text(const struct texts *list, const char *text)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->text[i], text))
            return true;
    return false;
}

enum seen_code crawl_template_fill_in(const struct crawl_template *t,
                                      struct crawl_settings *s,
                                      struct seen_error *why)
{
    const struct crawl_template_limits *limits = crawl_template_limits(t);
    const char *domain;

    fill_in(&s->pages, limits->pages);
    fill_in(&s->bytes, limits->bytes);
    if (limits->depth != CRAWL_UNSET)
        fill_in(&s->depth_given, limits->depth + 1);
    fill_in(&s->host_pages, limits->host_pages);
    fill_in(&s->per_address, limits->per_address);
    if (limits->time != CRAWL_UNSET)
        fill_in(&s->time, limits->time / 1000);
    if (limits->interval != CRAWL_UNSET)
        fill_in(&s->revisit_every, limits->interval / 1000);
    if (!s->delay_text && limits->delay != CRAWL_UNSET)
        s->template_delay = (int64_t)limits->delay + 1;
    for (size_t i = 0; (domain = crawl_template_domain(t, i)); i++) {
        if (has_text(&s->domains, domain))
            continue;
        if (s->domains.n == TEXTS_MOST)
            return seen_fail(why, SEEN_RANGE, 0,
                             "the template has too many domains: at most %d",
                             TEXTS_MOST);
        s->domains.text[s->domains.n++] = domain;
    }
    return SEEN_OK;
}
