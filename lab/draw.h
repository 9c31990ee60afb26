/*
 * draw.h - draw a plot with gnuplot.
 *
 * Threads: the main one.
 */
#ifndef SEEN_LAB_DRAW_H
#define SEEN_LAB_DRAW_H

#include <stdbool.h>

#include "../lib/text/buffer.h"
#include "content.h"

/*
 * The plot as SVG into an empty buffer; or false, with *why, which belongs to
 * the caller, saying what is wrong: "gnuplot: not found". It may take a
 * minute, or as many seconds as SEEN_LAB_PATIENCE in the environment says.
 */
bool draw_plot(const struct plot *p, struct buffer *svg, char **why);

#endif
