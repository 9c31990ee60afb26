/*
 * store.c - fuzz the reader of files.
 *
 * Checksums would stop every mutation at the door, so there are two kinds of
 * input. One that begins with 'R' is a file as it is. One that begins with
 * 'T' is a text, a zero, the number of leaves, their counts and the cells,
 * and becomes a file whose checksums are right: what the plan says is then
 * all that the reader has to go by.
 *
 * What can be loaded must answer, print itself, be opened and added to. By ranges
 * it must give the same answers or none, and what cannot be loaded may be asked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/ranges.h>
#include <seen/share.h>

#include "lib/disk/disk.h"
#include "lib/store/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char path[64];
static unsigned char *file;
enum { ROOM = 1 << 20, KEYS = 20 };

/* The disk is not what is tested here, and it is slow. */
static int no_flush(int fd)
{
    (void)fd;
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    disk_fdatasync = disk_fsync = no_flush;
    snprintf(path, sizeof path, "/tmp/fuzz-store-%ld.seen", (long)getpid());
    file = malloc(ROOM);
    return file ? 0 : 1;
}

/* A file of which all but the plan is right; 0 if the input is too short. */
static size_t compose(const uint8_t *data, size_t size)
{
    const uint8_t *zero = memchr(data, 0, size), *end = data + size;
    struct store_head h = { .format = size % 2 ? 1 : FORMAT_VERSION,
                            .hashing = HASH_VERSION,
                            .state = SEALED,
                            .block = BLOCK };
    const uint8_t *sets, *cells;
    uint64_t *table;

    if (!zero || end - zero < 2)
        return 0;
    h.leaves = zero[1];
    sets = zero + 2;
    if ((size_t)(end - sets) < 8 * h.leaves)
        return 0;
    cells = sets + 8 * h.leaves;
    h.text_len = (uint64_t)(zero - data);
    h.text_sum = store_checksum(data, (size_t)(zero - data));
    h.cells_len = (uint64_t)(end - cells);
    store_head_arrange(&h);
    if (h.length > ROOM)
        return 0;
    memset(file, 0, (size_t)h.length);
    memcpy(file + HEAD, data, (size_t)h.text_len);
    memcpy(file + h.table_at, sets, 8 * (size_t)h.leaves);
    memcpy(file + h.cells_at, cells, (size_t)h.cells_len);
    table = (uint64_t *)(void *)(file + h.table_at) + h.leaves;
    for (uint64_t i = 0; i < h.blocks; i++) {
        uint64_t left = h.cells_len - i * BLOCK;

        table[i] = store_checksum(file + h.cells_at + i * BLOCK,
                                  (size_t)(left < BLOCK ? left : BLOCK));
    }
    h.table_sum = store_checksum(file + h.table_at,
                                 8 * (size_t)(h.leaves + h.blocks));
    h.identity = store_head_identity(&h);
    store_head_put(file, &h);
    if (store_head_second(&h))
        memcpy(file + store_head_second(&h), file, HEAD);
    if (size % 4 == 0)
        file[100] ^= 1; /* then the second head is read */
    return (size_t)h.length;
}

static void make_keys(struct seen_key key[KEYS])
{
    static char text[KEYS][32];

    for (int i = 0; i < KEYS; i++) {
        int len = snprintf(text[i], sizeof text[i], "http://h%d.example/d/%d?",
                           i % 3, i);

        seen_key_hash(&key[i], text[i], (size_t)len);
    }
}

/* --- by ranges --- */

static size_t length; /* of the file */

static enum seen_code read_ranges(void *of, struct seen_range *range, size_t n,
                                  uint64_t *all, struct seen_error *why)
{
    (void)of, (void)why;
    *all = length;
    for (size_t i = 0; i < n; i++) {
        uint64_t left = range[i].from < length ? length - range[i].from : 0;

        if (range[i].len > left)
            range[i].len = (size_t)left;
        memcpy(range[i].to, file + (left ? range[i].from : 0), range[i].len);
    }
    return SEEN_OK;
}

/* `right`: the same file, loaded; or NULL. */
static void ask_by_ranges(const struct seen_filter *right)
{
    const struct seen_ranges where = { .read = read_ranges };
    struct seen_key key[KEYS];
    bool seen[KEYS], wanted[KEYS];
    struct seen_filter *f;

    if (seen_ranges_open(&f, &where, NULL, NULL) != SEEN_OK)
        return;
    make_keys(key);
    if (seen_filter_has(f, key, 1, seen, NULL) == SEEN_OK &&
        seen_filter_has(f, key, KEYS, seen, NULL) == SEEN_OK && right &&
        (seen_filter_has(right, key, KEYS, wanted, NULL) != SEEN_OK ||
         memcmp(seen, wanted, sizeof seen) != 0))
        abort();
    seen_filter_has_prefix(f, key, seen, NULL);
    seen_filter_rate(f);
    seen_filter_cost(f);
    if (right && seen_store_verify(f, NULL) != SEEN_OK)
        abort();
    seen_filter_free(f);
}

/* A second generation, and the union of the filter with itself. */
static void extend(const struct seen_filter *f, const struct seen_key *key)
{
    char kind[SEEN_KIND_TEXT + 8];
    struct seen_filter *g;

    snprintf(kind, sizeof kind, "growing/%s", seen_filter_plan(f)->kind);
    if (seen_filter_recast(&g, f, kind, NULL) == SEEN_OK)
        seen_filter_add(g, key, KEYS, NULL, NULL);
    seen_filter_free(g);
    if (seen_filter_recast(&g, f, seen_filter_plan(f)->kind, NULL) == SEEN_OK)
        seen_filter_merge(g, f, NULL);
    seen_filter_free(g);
}

static void use(struct seen_filter *f)
{
    struct seen_key key[KEYS];
    bool seen[KEYS];
    uint64_t count[KEYS];
    char *words = NULL;

    make_keys(key);
    seen_filter_has(f, key, KEYS, seen, NULL);
    seen_filter_count(f, key, KEYS, count, NULL);
    seen_filter_has_prefix(f, key, seen, NULL);
    seen_filter_rate(f);
    seen_filter_planned(f);
    seen_filter_entries(f);
    if (!seen_filter_cost(f))
        abort();
    extend(f, key);
    if (seen_store_describe(f, &words, NULL) == SEEN_OK)
        free(words);
    if (seen_filter_add(f, key, KEYS, seen, NULL) == SEEN_OK) {
        seen_filter_has(f, key, KEYS, seen, NULL);
        for (int i = 0; i < KEYS; i++)
            if (!seen[i] && !seen_filter_plan(f)->keyed)
                abort();
        seen_filter_remove(f, key, KEYS, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen_access how = { .sync = SEEN_SYNC_NO, .over = true };
    struct seen_filter *f;
    size_t len = 0;
    FILE *to;

    if (!size || size > ROOM / 2)
        return 0;
    if (data[0] == 'R') {
        len = size - 1;
        memcpy(file, data + 1, len);
    } else if (data[0] == 'T') {
        len = compose(data + 1, size - 1);
    }
    to = fopen(path, "wb");
    if (!to || fwrite(file, 1, len, to) != len || fclose(to))
        abort();
    length = len;
    ask_by_ranges(NULL);
    if (seen_store_load(&f, path, NULL, NULL) == SEEN_OK) {
        ask_by_ranges(f);
        use(f);
        seen_filter_free(f);
        if (seen_store_map(&f, path, NULL, NULL) != SEEN_OK)
            abort();
        use(f);
        seen_filter_free(f);
        if (seen_store_open(&f, path, &how, NULL) != SEEN_OK)
            abort();
        use(f);
        if (seen_store_close(f, NULL) != SEEN_OK ||
            seen_store_load(&f, path, NULL, NULL) != SEEN_OK)
            abort();
        seen_filter_free(f);
    }
    unlink(path);
    return 0;
}
