/* excerpt.h - seen_excerpt(), for sqlite.c: what it does is in sql.h. */
#ifndef SEEN_SQL_EXCERPT_H
#define SEEN_SQL_EXCERPT_H

#include <sqlite3.h>

#include "sql.h"

/* Let statements of this database use it. *budget pays for it; it may be NULL
   and may change. Returns a code of SQLite. */
int sql_excerpt_add(sqlite3 *db, struct budget **budget);

#endif
