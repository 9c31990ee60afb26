/* unistd.h - with what WASI lacks, which only writers use. */
#ifndef JS_UNISTD_H
#define JS_UNISTD_H

#include_next <unistd.h>

enum { SEEK_DATA = 3, SEEK_HOLE = 4 };

#endif
