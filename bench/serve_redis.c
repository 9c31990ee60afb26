/*
 * serve_redis.c - rows of the Redis protocol.
 *
 * Without us a client of Redis would keep a Bloom filter in a string and read
 * several of its bits per URL. So one BF.EXISTS is
 * compared with a single GETBIT, of a string as large as our filter or as
 * large as Redis has them, 512 MiB. It is one and the same bit, which Redis
 * has in its cache, while our URLs are random ones: redis-benchmark writes
 * random numbers with leading zeros, which GETBIT does not take. The other
 * way is a set; that is shown for information, with the memory it takes.
 */
#include "serve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    DEEP = 64,
    SET_RANGE = 4000000, /* URLs that are added to sets */
    MANY = 100           /* keys to a command */
};
static const uint64_t MOST_BITS = UINT64_C(1) << 32; /* of a string */
static const char token[] = "loopback-only";

#define ANY_URL "http://example.org/__rand_int__"
static const char *const exists[] = { "BF.EXISTS", "bench", ANY_URL, NULL };

static bool by_redis(const struct load_options *s, struct peer *p, void *with,
                     struct serve_load *out)
{
    return load_redis(s, p, with, out);
}

static bool expect(const struct peer *p, const char *command,
                   const char *reply)
{
    char found[256];

    if (peer_talk(p, command, "\r\n", found, sizeof found) &&
        !strcmp(found, reply))
        return true;
    fprintf(stderr, "seen: bench: %s answers to %.*s: %s\n", p->name,
            (int)strcspn(command, "\r"), command, found);
    return false;
}

/* --- questions --- */

static bool start_ours(const struct load_options *s, struct peer *p)
{
    const char *more[] = { served_made(s, "bench", 2), NULL };

    return more[0] && peer_seen(p, s, more) &&
           expect(p, "BF.EXISTS bench http://example.org/000000000000\r\n",
                  ":1\r\n");
}

/* A string of as many bits as the filter has, where that can be. */
static uint64_t bits_of_filter(const struct load_options *s)
{
    const char *made = served_made(s, "bench", 2);
    struct stat about;
    uint64_t bits;

    if (!made || stat(strchr(made, '=') + 1, &about))
        return 0;
    bits = (uint64_t)about.st_size * 8;
    return bits < MOST_BITS ? bits : MOST_BITS;
}

static bool against_bits(const struct load_options *s, struct serve_row *r,
                         unsigned depth)
{
    static const char *const getbit[] = { "GETBIT", "bits", "1234567", NULL };
    struct peer seen = { .pid = 0 }, redis = { .pid = 0 };
    uint64_t bits = bits_of_filter(s);
    struct redis_load us = { .command = exists,
                             .depth = depth,
                             .range = served_range(s) };
    struct redis_load them = { .command = getbit, .depth = depth };
    const struct serve_turn ours = { by_redis, &seen, &us };
    const struct serve_turn theirs = { by_redis, &redis, &them };
    char last[64];
    bool good;

    snprintf(last, sizeof last, "SETBIT bits %llu 1\r\n",
             (unsigned long long)bits - 1);
    good = bits && start_ours(s, &seen) && peer_redis(&redis, NULL) &&
           expect(&redis, last, ":0\r\n") && row_turns(s, r, &ours, &theirs);
    process_stop(&seen.pid);
    process_stop(&redis.pid);
    return good;
}

bool row_exists(const struct load_options *s)
{
    struct serve_row r = { .name = "exists-64",
                           .peer = "redis GETBIT",
                           .asked = 1.5 };

    return against_bits(s, &r, DEEP);
}

bool row_exists_one(const struct load_options *s)
{
    struct serve_row r = { .name = "exists-1",
                           .peer = "redis GETBIT",
                           .asked = 1 };

    return against_bits(s, &r, 1);
}

bool row_mexists(const struct load_options *s)
{
    const char *command[MANY + 3] = { "BF.MEXISTS", "bench" };
    struct serve_row r = { .name = "mexists",
                           .unit = "keys/s",
                           .asked = 5e6,
                           .alone = true,
                           .clock = true,
                           .factor = MANY };
    struct redis_load us = { .command = command,
                             .depth = 4,
                             .range = served_range(s) };
    struct peer seen = { .pid = 0 };
    const struct serve_turn ours = { by_redis, &seen, &us };
    bool good;

    for (int i = 0; i < MANY; i++)
        command[i + 2] = ANY_URL;
    good = start_ours(s, &seen) && row_turns(s, &r, &ours, NULL);
    process_stop(&seen.pid);
    return good;
}

/* --- sets --- */

/* The number that follows `before` in what INFO or SCARD say. */
static double number_of(const struct peer *p, const char *command,
                        const char *before)
{
    char text[8192];
    const char *at;

    if (!peer_talk(p, command, "\r\n", text, sizeof text) ||
        !(at = strstr(text, before)))
        return NAN;
    return strtod(at + strlen(before), NULL);
}

static bool token_write(char path[PATH_ROOM])
{
    FILE *file;

    process_path(path, "token");
    file = fopen(path, "we");
    return file && fprintf(file, "%s\n", token) > 0 && !fclose(file);
}

static bool set_rows(const struct load_options *s, struct peer *seen,
                     struct peer *redis, double bytes)
{
    static const char *const add[] = { "BF.ADD", "sets", ANY_URL, NULL };
    static const char *const has[] = { "BF.EXISTS", "sets", ANY_URL, NULL };
    static const char *const sadd[] = { "SADD", "set", ANY_URL, NULL };
    static const char *const sis[] = { "SISMEMBER", "set", ANY_URL, NULL };
    struct redis_load load[] = {
        { .command = add, .depth = DEEP, .range = SET_RANGE, .token = token },
        { .command = sadd, .depth = DEEP, .range = SET_RANGE },
        { .command = has, .depth = DEEP, .range = SET_RANGE, .token = token },
        { .command = sis, .depth = DEEP, .range = SET_RANGE },
    };
    const struct serve_turn turn[] = {
        { by_redis, seen, &load[0] },
        { by_redis, redis, &load[1] },
        { by_redis, seen, &load[2] },
        { by_redis, redis, &load[3] },
    };
    struct serve_row adds = { .name = "sets-add",
                              .peer = "redis SADD",
                              .asked = NAN };
    struct serve_row asks = { .name = "sets-ask",
                              .peer = "redis SISMEMBER",
                              .asked = NAN };
    struct serve_row memory = { .name = "sets-memory",
                                .unit = "bytes/URL",
                                .peer = "redis set",
                                .asked = NAN,
                                .ours = bytes / SET_RANGE,
                                .ours_rate = NAN,
                                .theirs_rate = NAN };
    double empty = number_of(redis, "INFO memory\r\n", "used_memory:");

    if (!row_turns(s, &adds, &turn[0], &turn[1]) ||
        !row_turns(s, &asks, &turn[2], &turn[3]))
        return false;
    memory.theirs = (number_of(redis, "INFO memory\r\n", "used_memory:") -
                     empty) /
                    number_of(redis, "SCARD set\r\n", ":");
    row_show(s, &memory);
    return true;
}

/* --- one at a time --- */

static bool promise_rows(const struct load_options *s, struct peer *seen,
                         struct peer *redis, const char *sync)
{
    static const char *const add[] = { "BF.ADD", "sets", ANY_URL, NULL };
    static const char *const has[] = { "BF.EXISTS", "sets", ANY_URL, NULL };
    static const char *const set[] = { "SET", ANY_URL, "1", NULL };
    static const char *const get[] = { "GET", ANY_URL, NULL };
    struct redis_load load[] = {
        { .command = add, .depth = 1, .range = SET_RANGE, .token = token },
        { .command = set, .depth = 1, .range = SET_RANGE },
        { .command = has, .depth = 1, .range = SET_RANGE, .token = token },
        { .command = get, .depth = 1, .range = SET_RANGE },
    };
    const struct serve_turn turn[] = {
        { by_redis, seen, &load[0] },
        { by_redis, redis, &load[1] },
        { by_redis, seen, &load[2] },
        { by_redis, redis, &load[3] },
    };
    char names[2][32];
    struct serve_row adds = { .name = names[0],
                              .peer = "redis SET",
                              .asked = 1 };
    struct serve_row asks = { .name = names[1],
                              .peer = "redis GET",
                              .asked = 1.3 };

    snprintf(names[0], sizeof names[0], "add-%s", sync);
    snprintf(names[1], sizeof names[1], "ask-%s", sync);
    return row_turns(s, &adds, &turn[0], &turn[1]) &&
           row_turns(s, &asks, &turn[2], &turn[3]);
}

static bool promise(const struct load_options *s, const char *made,
                    const char *sync, const char *fsync)
{
    struct peer seen = { .pid = 0 }, redis = { .pid = 0 };
    char path[PATH_ROOM];
    const char *more[] = { "--writable", "--sync", sync, "--token",
                           path,         made,     NULL };
    const bool good = token_write(path) && peer_seen(&seen, s, more) &&
                      peer_redis(&redis, fsync) &&
                      promise_rows(s, &seen, &redis, sync);

    process_stop(&seen.pid);
    process_stop(&redis.pid);
    return good;
}

/* Adds are as expensive as what a server promises of them: each is compared
   with a SET for which Redis promises the same, or for the last one, nothing. */
bool row_promises(const struct load_options *s)
{
    struct load_options small = *s;
    const char *made;

    small.capacity = SET_RANGE;
    made = served_made(&small, "sets", SET_RANGE);
    return made && promise(s, made, "always", "always") &&
           promise(s, made, "everysec", "everysec") &&
           promise(s, made, "no", NULL);
}

bool row_sets(const struct load_options *s)
{
    struct load_options small = *s;
    struct peer seen = { .pid = 0 }, redis = { .pid = 0 };
    char path[PATH_ROOM];
    const char *made, *more[] = { "--writable", "--sync", "no", "--token",
                                  path,         NULL,     NULL };
    struct stat about;
    bool good;

    small.capacity = SET_RANGE;
    made = served_made(&small, "sets", SET_RANGE);
    more[5] = made;
    good = made && !stat(strchr(made, '=') + 1, &about) && token_write(path) &&
           peer_seen(&seen, s, more) && peer_redis(&redis, NULL) &&
           set_rows(s, &seen, &redis, (double)about.st_size);
    process_stop(&seen.pid);
    process_stop(&redis.pid);
    return good;
}
