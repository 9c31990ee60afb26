/*
 * draw.h - draw a plot with gnuplot.
 *
 * Threads: the main one.
 */
#ifndef SEEN_LAB_DRAW_H
#define SEEN_LAB_DRAW_H

#include <stddef.h>

#include "content.h"

/*
 * The plot as SVG, which belongs to the caller; or NULL, and *why, which
 * does as well, says what is wrong: "gnuplot: not found". It may take a
 * minute, or the seconds that SEEN_LAB_PATIENCE in the environment says.
 */
char *draw_plot(const struct plot *p, size_t *len, char **why);

#endif
