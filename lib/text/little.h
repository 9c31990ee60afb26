/*
 * little.h - little-endian numbers in bytes of any alignment: how files,
 * journals and deltas write them.
 */
#ifndef SEEN_TEXT_LITTLE_H
#define SEEN_TEXT_LITTLE_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "files are little endian and are mapped as they are"
#endif

static inline uint16_t little_16(const void *at)
{
    uint16_t x;

    memcpy(&x, at, sizeof x);
    return x;
}

static inline uint32_t little_32(const void *at)
{
    uint32_t x;

    memcpy(&x, at, sizeof x);
    return x;
}

static inline uint64_t little_64(const void *at)
{
    uint64_t x;

    memcpy(&x, at, sizeof x);
    return x;
}

static inline void little_put_32(void *at, uint32_t x)
{
    memcpy(at, &x, sizeof x);
}

static inline void little_put_64(void *at, uint64_t x)
{
    memcpy(at, &x, sizeof x);
}

#endif
