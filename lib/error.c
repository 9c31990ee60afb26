/* error.c - fill a seen_error. */
#include <seen/error.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum seen_code seen_fail(struct seen_error *why, enum seen_code code,
                         uint64_t at, const char *format, ...)
{
    int system = errno;
    va_list args;

    if (!why)
        return code;
    why->code = code;
    why->system = code == SEEN_IO ? system : 0;
    why->at = at;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    if (why->system) {
        size_t len = strlen(why->text);
        char room[80];

        snprintf(why->text + len, sizeof why->text - len, ": %s",
                 strerror_r(system, room, sizeof room));
    }
    errno = system;
    return code;
}
