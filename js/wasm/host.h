/*
 * host.h - what the reader imports from the JavaScript around it.
 *
 * A file is a number: 0 the filter, 1 a delta, 2 what a delta makes. Places
 * are doubles, which hold whole numbers up to 2^53.
 *
 * Threads: there is one.
 */
#ifndef JS_HOST_H
#define JS_HOST_H

#include <stddef.h>

#define HOST(name) \
    __attribute__((import_module("host"), import_name(name))) extern

enum { JS_FILTER, JS_DELTA, JS_RESULT, JS_FILES };

/* The length of a file, or a negative number if there is none. */
HOST("size") double js_host_size(int file);

/* Copy up to `len` bytes from `at`; their number. Negative: they are not here
   yet, and have been noted as wanted. */
HOST("read") int js_host_read(int file, void *to, int len, double at);

/* Note a range as wanted soon. */
HOST("want") void js_host_want(int file, double at, double len);

/* Write to the result of a delta; the number of bytes. */
HOST("write")
int js_host_write(int file, const void *from, int len, double at);

/*
 * Encode a label of UTF-8 by UTS 46 into `to`; the length of the result.
 * Negative: it is not allowed, or newer than what is known of Unicode.
 */
HOST("idna")
int js_host_idna(const void *label, int len, int transitional, void *to,
                 int room);

/* Read a decimal number; how many bytes it has. */
HOST("parse") int js_host_parse(const char *text, int len, double *x);

/* Write a number as by %.*g or %.*f; the number of bytes. */
HOST("print")
int js_host_print(double x, int format, int digits, char *to, int room);

#endif
