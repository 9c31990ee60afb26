/*
 * report.h - the findings as a page: DIR/index.html.
 *
 *     struct report *r = report_open("DIR", lab, 1);
 *
 *     report_add(r, section);     after each experiment: the page is whole
 *     report_close(r);
 *
 * gnuplot draws figures to DIR/NAME.svg; tables and the points of figures are
 * beside the page as DIR/NAME.tsv. What cannot be written or drawn is
 * reported on standard error, and the rest is written.
 *
 * Threads: the main one.
 */
#ifndef SEEN_LAB_REPORT_H
#define SEEN_LAB_REPORT_H

#include <stdbool.h>

#include "content.h"

struct report;

/* Make the folder, unless it exists, for a report on `count` experiments;
   NULL, after a message, if it cannot be made. */
struct report *report_open(const char *folder, const struct lab *lab,
                           unsigned count);

/* Add a section, which then belongs to the report, and write the page with
   all sections; false, after a message, if something could not be written. */
bool report_add(struct report *r, struct section *s);

/* False if anything could not be written. */
bool report_close(struct report *r);

#endif
