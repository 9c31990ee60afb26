/* glob.c - patterns of KEYS and SCAN. */
#include "glob.h"

/* Is `c` in the set behind a bracket? *at moves behind the set, which ends
   with the pattern if it is not closed. */
static bool in_set(const char **at, const char *end, unsigned char c)
{
    const char *p = *at;
    const bool except = p < end && *p == '^';
    bool found = false;

    for (p += except; p < end && *p != ']'; p++) {
        unsigned char from, to;

        if (*p == '\\' && p + 1 < end)
            p++;
        from = to = (unsigned char)*p;
        if (end - p > 2 && p[1] == '-') {
            p += 2;
            to = (unsigned char)*p;
        }
        found |= from <= to ? c >= from && c <= to : c >= to && c <= from;
    }
    *at = p < end ? p + 1 : end;
    return found != except;
}

/* Does one step of the pattern, which is not a star, match the byte? */
static bool step(const char **at, const char *end, char c)
{
    const char *p = (*at)++;

    if (*p == '?')
        return true;
    if (*p == '[')
        return in_set(at, end, (unsigned char)c);
    if (*p == '\\' && p + 1 < end)
        p = (*at)++;
    return *p == c;
}

/* After a mismatch only the last star needs to try more bytes: what the ones
   before it matched was good enough to come so far. */
bool redis_glob(struct seen_span pattern, struct seen_span text)
{
    const char *p = pattern.text, *p_end = p + pattern.len;
    const char *t = text.text, *t_end = t + text.len;
    const char *star = NULL, *tried = NULL; /* behind it; where it ends */

    while (t < t_end) {
        if (p < p_end && *p == '*') {
            star = ++p;
            tried = t;
        } else if (p < p_end && step(&p, p_end, *t)) {
            t++;
        } else if (star) {
            p = star;
            t = ++tried;
        } else {
            return false;
        }
    }
    while (p < p_end && *p == '*')
        p++;
    return p == p_end;
}
