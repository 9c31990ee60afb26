/* crawl_run.c - run a crawl with progress, warnings and signals. */
#include "crawl_run.h"

#include <signal.h>

#include "command.h"
#include "progress.h"

static struct crawl *volatile running;

static void on_signal(int number)
{
    (void)number;
    if (running)
        crawl_stop(running);
}

static void warn(void *owner, const char *message)
{
    (void)owner;
    warning("%s", message);
}

static void progress(void *owner, const struct crawl_progress *p)
{
    (void)owner;
    cmd_progress_pages(p->pages, p->waiting, p->active, p->bytes);
}

const struct crawl_hooks cmd_crawl_hooks = { .progress = progress,
                                             .warn = warn };

enum seen_code cmd_crawl_run(struct crawl *c, const char *name,
                             enum seen_code (*run)(struct crawl *c,
                                                   struct seen_error *why),
                             struct seen_error *why)
{
    const struct sigaction end = { .sa_handler = on_signal,
                                   .sa_flags = (int)SA_RESETHAND };
    enum seen_code code;

    running = c;
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    cmd_progress_begin(name, 0);
    code = run(c, why);
    cmd_progress_clear();
    running = NULL;
    return code;
}
