/*
 * delta.c - fuzz what applies deltas.
 *
 * The first byte chooses a filter that the delta is for. If its highest bit
 * is set, the rest is a delta as it is. Otherwise it is parameters and
 * changes alone: the delta around them is right, with all of its checksums,
 * so that the changes are all there is to go by.
 *
 * Whatever it says, the old file stays as it was and nothing is left behind;
 * if a file is made, it is the one whose SHA-256 was promised.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/share.h>

#include "lib/share/delta.h"
#include "lib/disk/disk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { KINDS = 4, KEYS = 30, ROOM = 1 << 16, PARAMETERS = 14 };

static const char *const kinds[KINDS] = { "bloom", "blocked", "counting:16",
                                          "routed:4/counting:4" };
static char old[KINDS][64], delta[64], made[64];
static unsigned char front[KINDS][ROOM]; /* of a good delta */
static size_t front_len[KINDS];

/* The disk is not what is tested here, and it is slow. */
static int no_flush(int fd)
{
    (void)fd;
    return 0;
}

static void put_file(const char *name, const void *bytes, size_t len)
{
    FILE *to = fopen(name, "wb");

    if (!to || fwrite(bytes, 1, len, to) != len || fclose(to))
        abort();
}

static void prepare(int i, const struct seen_key *key)
{
    struct seen_plan plan = { .capacity = 500, .rate = 0.01, .seed = 7 };
    struct seen_filter *f;
    struct store_head h;
    FILE *from;

    snprintf(old[i], sizeof old[i], "/tmp/fuzz-delta-%ld-%d.seen",
             (long)getpid(), i);
    strcpy(plan.kind, kinds[i]);
    if (seen_filter_new(&f, &plan, NULL) != SEEN_OK ||
        seen_filter_add(f, key, KEYS / 2, NULL, NULL) != SEEN_OK ||
        seen_store_save(f, old[i], NULL) != SEEN_OK ||
        seen_filter_add(f, key, KEYS, NULL, NULL) != SEEN_OK ||
        seen_store_save(f, made, NULL) != SEEN_OK ||
        seen_delta_make(old[i], made, delta, NULL, NULL) != SEEN_OK)
        abort();
    seen_filter_free(f);
    unlink(made);
    from = fopen(delta, "rb");
    if (!from || fread(front[i], 1, ROOM, from) < DELTA_HEAD + HEAD)
        abort();
    fclose(from);
    store_head_take(&h, front[i] + DELTA_HEAD);
    front_len[i] = (size_t)(DELTA_HEAD + HEAD + h.text_len + 8 * h.leaves);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char text[KEYS][32];
    struct seen_key key[KEYS];

    (void)argc, (void)argv;
    disk_fdatasync = disk_fsync = no_flush;
    for (int i = 0; i < KEYS; i++) {
        int len = snprintf(text[i], sizeof text[i], "http://h%d/%d", i % 3, i);

        seen_key_hash(&key[i], text[i], (size_t)len);
    }
    snprintf(delta, sizeof delta, "/tmp/fuzz-delta-%ld", (long)getpid());
    snprintf(made, sizeof made, "/tmp/fuzz-delta-%ld-made", (long)getpid());
    for (int i = 0; i < KINDS; i++)
        prepare(i, key);
    return 0;
}

/* A delta around parameters and changes; 0 if the input is too short. */
static size_t compose(unsigned char *bytes, int kind, const uint8_t *data,
                      size_t size)
{
    size_t len = front_len[kind];
    uint64_t bits, sum, length;

    if (size < PARAMETERS)
        return 0;
    memcpy(bytes, front[kind], len);
    memcpy(bytes + len, data + PARAMETERS, size - PARAMETERS);
    bytes[12] = (unsigned char)(1 + data[0] % 3); /* coding */
    memset(bytes + 96, 0, 8);                     /* count */
    memcpy(bytes + 96, data + 1, data[0] & 4 ? 8 : 2);
    bytes[104] = (unsigned char)(data[0] & 8 ? data[9] : 1 << data[9] % 6);
    memcpy(bytes + 108, data + 10, 4); /* Rice's */
    bits = 8 * (uint64_t)(size - PARAMETERS);
    if (bits)
        bits -= data[0] >> 4 & 7;
    memcpy(bytes + 120, &bits, 8);
    len += size - PARAMETERS;
    length = len + DELTA_SUM;
    memcpy(bytes + 112, &length, 8);
    sum = store_checksum_seeded(bytes, len, 0);
    memcpy(bytes + len, &sum, 8);
    return (size_t)length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[2 * ROOM];
    unsigned char digest[2][SEEN_DIGEST];
    size_t len;
    int kind;

    if (!size || size > ROOM / 2)
        return 0;
    kind = data[0] % KINDS;
    len = size - 1;
    if (data[0] & 0x80)
        memcpy(bytes, data + 1, len);
    else
        len = compose(bytes, kind, data + 1, len);
    put_file(delta, bytes, len);
    if (seen_digest_file(old[kind], digest[0], NULL, NULL) != SEEN_OK)
        abort();
    if (seen_delta_apply(old[kind], delta, made, NULL) == SEEN_OK) {
        if (seen_digest_file(made, digest[1], NULL, NULL) != SEEN_OK ||
            memcmp(digest[1], bytes + 64, SEEN_DIGEST))
            abort();
        unlink(made);
    }
    if (!access(made, F_OK) ||
        seen_digest_file(old[kind], digest[1], NULL, NULL) != SEEN_OK ||
        memcmp(digest[0], digest[1], SEEN_DIGEST))
        abort();
    return 0;
}
