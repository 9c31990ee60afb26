/* error.c - fill a seen_error, and name its code. */
#include <seen/error.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *seen_code_name(enum seen_code code)
{
    static const char *const name[] = {
        [SEEN_OK] = "SEEN_OK",
        [SEEN_NOMEM] = "SEEN_NOMEM",
        [SEEN_RANGE] = "SEEN_RANGE",
        [SEEN_FULL] = "SEEN_FULL",
        [SEEN_MISMATCH] = "SEEN_MISMATCH",
        [SEEN_CORRUPT] = "SEEN_CORRUPT",
        [SEEN_IO] = "SEEN_IO",
        [SEEN_BUSY] = "SEEN_BUSY",
        [SEEN_UNABLE] = "SEEN_UNABLE",
        [SEEN_EXISTS] = "SEEN_EXISTS",
        [SEEN_ABSENT] = "SEEN_ABSENT",
        [SEEN_BAD_URL] = "SEEN_BAD_URL",
    };

    return (unsigned)code < sizeof name / sizeof name[0] ? name[code]
                                                         : "SEEN_UNKNOWN";
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t n = strlen(end);

    return len >= n && !strcmp(text + len - n, end);
}

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
        const char *words = strerror_r(system, room, sizeof room);

        /* The text may be the message of a library that says it already. */
        if (!ends_with(why->text, len, words))
            snprintf(why->text + len, sizeof why->text - len, ": %s", words);
    }
    errno = system;
    return code;
}
