/* errno.h - WASI's numbers, and one errno: there is one thread. */
#ifndef JS_ERRNO_H
#define JS_ERRNO_H

#include <__errno_values.h>

extern int js_errno;
#define errno js_errno

#endif
