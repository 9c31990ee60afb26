/* args.c - the arguments of a kind. */
#include "args.h"

#include <stdlib.h>
#include <string.h>

static int name_length(const char *text)
{
    return (int)strcspn(text, ":/");
}

enum seen_code arg_number(const char *text, unsigned i, unsigned low,
                          unsigned high, unsigned otherwise, unsigned *number,
                          struct seen_error *why)
{
    char arg[16];
    size_t digits;

    *number = otherwise;
    if (!seen_kind_arg(text, i, arg, sizeof arg) && otherwise)
        return SEEN_OK;
    if (!seen_kind_arg(text, i, arg, sizeof arg))
        return seen_fail(why, SEEN_RANGE, 0, "%.*s takes a number: %.*s:%u",
                         name_length(text), text, name_length(text), text,
                         low);
    digits = strspn(arg, "0123456789");
    if (digits && digits < 10 && !arg[digits])
        *number = (unsigned)strtoul(arg, NULL, 10);
    if (!digits || digits >= 10 || arg[digits] || *number < low ||
        *number > high)
        return seen_fail(why, SEEN_RANGE, 0,
                         "%.*s takes a number from %u to %u, not '%s'",
                         name_length(text), text, low, high, arg);
    return SEEN_OK;
}

enum seen_code arg_last(const char *text, unsigned i, const char *word,
                        bool *given, struct seen_error *why)
{
    char arg[SEEN_KIND_TEXT];

    if (given)
        *given = false;
    if (!seen_kind_arg(text, i, arg, sizeof arg))
        return SEEN_OK;
    if (!word || strcmp(arg, word))
        return seen_fail(why, SEEN_RANGE, 0, "%.*s has no argument '%s'",
                         name_length(text), text, arg);
    *given = true;
    return arg_last(text, i + 1, NULL, NULL, why);
}
