/*
 * work_paper.c - Experiment 1 of the paper on content aggregation, beside ours.
 *
 * The paper aggregates pages of sites of the Internet, chosen at random, by
 * spiders in Python on machines with 2 CPUs and 2 GB. It names neither delay
 * nor network. Here the same numbers of pages and sites are on the machine of
 * the workers, and there is no delay: another network and another machine. The
 * figures show what our part of the time is, no more. A polite crawl takes what
 * politeness takes, pages per site times the delay between them, whatever the
 * program; so that time is shown as well, for our default of 3 s, beside the
 * time per page and site that follows from the paper's table.
 */
#include "work.h"

static const struct {
    unsigned pages, sites, minutes;
} published[] = {
    { 1000, 2, 15 },   { 5000, 10, 30 },   { 10000, 13, 45 },
    { 20000, 17, 75 }, { 50000, 30, 180 },
};
enum { ROWS = sizeof published / sizeof *published, WORKERS = 2 };

#define DELAY 3.0 /* s: the least of `seen work`, without --delay */

static void show(const struct work_options *s, const char *place, size_t row,
                 const struct work_figures *f)
{
    double pages = published[row].pages, sites = published[row].sites;
    double minutes = published[row].minutes;

    if (s->json) {
        printf("{\"bench\": \"work\", \"part\": \"paper\", \"place\": "
               "\"%s\", \"pages\": %.0f, \"sites\": %.0f, "
               "\"published_minutes\": %.0f, ",
               place, pages, sites, minutes);
        bench_json("seconds", f->seconds, ", ");
        bench_json("pages_per_second", pages / f->seconds, ", ");
        bench_json("polite_minutes", pages / sites * DELAY / 60, "}\n");
        fflush(stdout);
        return;
    }
    printf("%-11s %6.0f %6.0f %10.0f %10.1f %12.1f %10.1f %10.0f %12.0f\n",
           place, pages, sites, minutes, pages / minutes / 60,
           minutes * 60 * sites / pages, f->seconds, pages / f->seconds,
           pages / sites * DELAY / 60);
    fflush(stdout);
}

bool work_paper(const struct work_options *s, struct work_servers *servers,
                const char *name)
{
    if (!s->json)
        printf("\npaper: Experiment 1, time to aggregate; ours with %d "
               "workers, no delay, on one machine\n"
               "%-11s %6s %6s %10s %10s %12s %10s %10s %12s\n",
               WORKERS, "", "pages", "sites", "paper, min", "pages/s",
               "s/page/site", "ours, s", "pages/s", "at 3 s, min");
    for (size_t i = 0; i < ROWS; i++) {
        struct bench_site site = { .pages = published[i].pages,
                                   .size = s->size,
                                   .links = s->links,
                                   .hosts = published[i].sites,
                                   .log = true };
        struct work_run run = {
            .delay = "0", .threads = 1, .step = { { 0, WORKERS } }, .steps = 1
        };
        struct work_figures f;
        struct work_place place;

        if (!process_room(site.pages * site.size * 4) ||
            !bench_site_make(&site) ||
            !work_place_make(s, servers, &place, name))
            return false;
        run.place = &place;
        if (!work_run(s, &site, servers, &run, &f))
            return false;
        if (f.distinct < (double)site.pages) {
            fprintf(stderr, "seen: bench: of %.0f pages %.0f were fetched\n",
                    (double)site.pages, f.distinct);
            return false;
        }
        show(s, name, i, &f);
    }
    return true;
}
