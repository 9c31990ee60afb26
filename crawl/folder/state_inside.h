/*
 * state_inside.h - what the files of a state share: its statements.
 *
 *     state_tables.c    the tables, and the statements as texts
 *     state.c           open, close, values, the clock, visits, counters
 *     state_pages.c     pages that were fetched, and when they are due
 *     state_links.c     traps, start URLs, robots.txt
 *
 * Threads: as state.h.
 */
#ifndef SEEN_CRAWL_STATE_INSIDE_H
#define SEEN_CRAWL_STATE_INSIDE_H

#include "state.h"

/* Statements, as indexes of crawl_state.st. */
enum crawl_state_statement {
    STATE_GET,
    STATE_SET,
    STATE_VISIT_ADD,
    STATE_VISIT_LAST,
    STATE_VISIT_END,
    STATE_EXPECTED,
    STATE_WRITE,
    STATE_FIND,
    STATE_KEEP,
    STATE_URL,
    STATE_START_ADD,
    STATE_START_READ,
    STATE_START_FIND,
    STATE_ROBOTS_FIND,
    STATE_ROBOTS_KEEP,
    STATE_COUNT_ADD,
    STATE_COUNT_READ,
    STATE_DUE_READ,
    STATE_DUE_CLEAR,
    STATE_DUE_NEXT,
    STATE_TRAP_ADD,
    STATE_TRAP_FIND,
    STATE_RECOVERED,
    STATE_KNOWN_READ,
    STATE_UNFETCHED_ADD,
    STATE_UNFETCHED_FIND,
    STATE_UNFETCHED_READ,
    STATE_KNOWS,
    STATE_QUERIES_READ,
    STATE_COPIES_READ,
    STATE_STATEMENTS
};

extern const char *const crawl_state_texts[STATE_STATEMENTS];

/* Make the tables of a new state. */
enum seen_code crawl_state_create(struct sql *db, struct seen_error *why);

/* Make a state of version 2 of one of version 1. */
enum seen_code crawl_state_upgrade(struct sql *db, struct seen_error *why);

/* A copy of the text in the first column of the row, for the caller to free();
   NULL without memory. */
char *crawl_state_copy(struct sql_statement *st);

#endif
