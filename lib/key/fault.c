/* fault.c - why a line of input is not a URL under any profile. */
#include <seen/key.h>

#include <stdbool.h>
#include <string.h>

/* Sixteen bytes at once, in the registers that the CPU has. */
typedef unsigned char bytes16 __attribute__((vector_size(16)));

/*
 * Is there a byte below 0x20, or 0x7f? This reads every byte of every input,
 * so its speed matters: with 16 bytes at a time it takes 5 ns per URL of 66
 * bytes, with 8 it took 10.
 */
static bool has_controls(const char *text, size_t len)
{
    bytes16 x, found = { 0 };
    uint64_t half[2];

    if (len < sizeof x) {
        for (size_t i = 0; i < len; i++)
            if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
                return true;
        return false;
    }
    for (size_t i = 0; i + sizeof x <= len; i += sizeof x) {
        memcpy(&x, text + i, sizeof x);
        found |= (bytes16)(x < 0x20) | (bytes16)(x == 0x7f);
    }
    memcpy(&x, text + len - sizeof x, sizeof x); /* the rest */
    found |= (bytes16)(x < 0x20) | (bytes16)(x == 0x7f);
    memcpy(half, &found, sizeof half);
    return half[0] | half[1];
}

const char *seen_key_fault(const char *line, size_t len)
{
    if (len > SEEN_KEY_TEXT)
        return "longer than 8192 bytes";
    return has_controls(line, len) ? "a control byte" : NULL;
}

_Static_assert(SEEN_KEY_TEXT == 8192, "the message says so");
