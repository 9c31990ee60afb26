/* print.h - a sheet as text for a terminal, or as JSON. */
#ifndef SEEN_LAB_PRINT_H
#define SEEN_LAB_PRINT_H

#include <stdio.h>

#include "content.h"

/* A paragraph, broken at 78 columns; all but its first line are indented. */
void print_text(FILE *to, const char *text, int indent);

void print_sheet(FILE *to, const struct sheet *s);

/* One object on one line; what was run, how, and what was found. */
void json_open(FILE *to, const struct lab *lab);
void json_sheet(FILE *to, const struct sheet *s);
void json_close(FILE *to);

#endif
