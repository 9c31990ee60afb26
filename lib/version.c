/* version.c - the version, as the library that runs knows it. */
#include <seen/version.h>

const char *seen_version(void)
{
    return SEEN_VERSION;
}
