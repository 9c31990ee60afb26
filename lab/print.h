/* print.h - a section as text for a terminal, or as JSON. */
#ifndef SEEN_LAB_PRINT_H
#define SEEN_LAB_PRINT_H

#include <stdio.h>

#include "content.h"

/* A paragraph, broken at 78 columns; all but its first line are indented. */
void print_text(FILE *to, const char *text, int indent);

void print_section(FILE *to, const struct section *s);

/* All experiments as one JSON object, which tools can choose from. */
void print_json_list(FILE *to);

/* One JSON object: what was run, with which settings, and what was found. */
void print_json_begin(FILE *to, const struct lab *lab);
void print_json_section(FILE *to, const struct section *s);
void print_json_end(FILE *to);

#endif
