/*
 * slot.c - the slot of a key in a Redis Cluster.
 *
 * CRC16-CCITT (XMODEM: polynomial 0x1021, initial value 0), modulo 16384, of
 * what is between the first { and the next }, unless that is nothing. Redis
 * Cluster specification, "Key distribution model" and "Hash tags".
 */
#include "server.h"

uint16_t remote_slot(const char *key, size_t len)
{
    const char *open = memchr(key, '{', len);
    const char *shut = open ? memchr(open, '}', len - (size_t)(open - key))
                            : NULL;
    uint16_t crc = 0;

    if (shut && shut > open + 1) {
        key = open + 1;
        len = (size_t)(shut - key);
    }
    for (size_t i = 0; i < len; i++) {
        crc ^= (uint16_t)((unsigned char)key[i] << 8);
        for (int bit = 0; bit < 8; bit++)
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    return crc % REMOTE_SLOTS;
}
