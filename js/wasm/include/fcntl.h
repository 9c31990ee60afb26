/* fcntl.h - with what WASI lacks, which only writers use. */
#ifndef JS_FCNTL_H
#define JS_FCNTL_H

#include_next <fcntl.h>

enum { O_DIRECT = 0, O_TMPFILE = 0, SYNC_FILE_RANGE_WRITE = 0 };

#endif
