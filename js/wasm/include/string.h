/* string.h - with GNU's strerror_r(), as glibc has it. */
#ifndef JS_STRING_H
#define JS_STRING_H

#include_next <string.h>

#define strerror_r js_strerror_r
char *js_strerror_r(int number, char *to, size_t room);

#endif
