/*
 * proof.c - what few keys have that are proved to be those of their URLs.
 *
 * Most keys have nothing that must be looked at byte by byte; see
 * proof_look(). This is apart from their way so that it needs no room for it.
 */
#include "proof.h"

/* Of other bytes none has 0 where it looks. */
const char proof_rare[16] = { ' ', 0,   '"', '#', 0, '%', 0,
                              0,   '(', 0,   0,   0, '\\' };
const char proof_snf[16] = {
    1, 0, 0, 's', 0, 0, 'f', 0, 0, 0, 0, 0, 0, 0, 'n'
};

/*
 * Is the parameter at b, of which and of what follows it there are `left`
 * bytes, seen to come after the one at a by their first eight bytes? Where
 * they begin to differ, b has a byte above "=", so that neither it nor its name
 * ends there. Then it does not matter what ends in a. If both end before that,
 * they are equal, which is in order, too.
 */
static bool follows(const char *a, const char *b, size_t left)
{
    uint64_t x = little_64(a), y = little_64(b);
    unsigned at = x == y ? 0 : (unsigned)__builtin_ctzll(x ^ y) & ~7u;
    unsigned char c = (unsigned char)(x >> at), d = (unsigned char)(y >> at);

    return d > c && d > '=' && at / 8 < left;
}

/* An "&" ends a parameter. */
static void next_parameter(struct proof_state *s, size_t at)
{
    size_t before = s->parameter ? s->parameter : s->query + 1;

    s->unsorted |= !follows(s->key + before, s->key + at + 1, s->len - at - 1);
    s->parameter = at + 1;
}

bool proof_look(struct proof_state *s, size_t at, uint64_t bits)
{
    for (; bits; bits &= bits - 1) {
        size_t i = at + (size_t)__builtin_ctzll(bits);
        char c = s->key[i];
        char next = i + 1 < s->len ? s->key[i + 1] : 0;

        if (ascii_lower(s->url[i]) != c)
            return false;
        if (c == '&') {
            if (i > s->query)
                next_parameter(s, i);
        } else if (c == 'd') {
            s->named |= i > s->query + 2;
        } else if (c == '/'
                       ? i < s->query && (next == '/' || next == '.')
                       : c != '%' || !proof_escape(s->key + i, s->len - i)) {
            return false;
        }
    }
    return true;
}

bool proof_looked(const struct proof_state *s)
{
    const char *query = s->key + s->query + 1;
    size_t len = s->len - s->query - 1;

    return !(s->named && proof_session(query, len)) &&
           !(s->unsorted && !surt_query_sorted(query, len));
}

__attribute__((noinline)) bool proof_session(const char *query, size_t len)
{
    char text[SEEN_KEY_TEXT];

    memcpy(text, query, len);
    return surt_strip_query(text, len) != len;
}

size_t proof_prefix_any(const char *url, const char *end)
{
    char room[32] = { 0 };
    size_t n = (size_t)(end - url), prefix;

    if (n >= 16)
        return proof_prefix(url, end);
    memcpy(room, url, n);
    prefix = proof_prefix(room, room + n);
    return prefix < n ? prefix : 0;
}
