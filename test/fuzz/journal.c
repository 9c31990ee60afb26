/*
 * journal.c - fuzz the reader of journals.
 *
 * The first byte chooses one of a few filters, and whether checksums and
 * numbers are made right before the journal is read; the rest are records.
 * Whatever they are, the filter is had or refused, and what was in it before
 * is still there; what a reader has, the next writer has too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/store.h>

#include "lib/disk/disk.h"
#include "lib/store/format.h"
#include "lib/store/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { KINDS = 4, KEYS = 20, ROOM = 1 << 16 };

static const char *const kinds[KINDS] = { "bloom", "counting:8", "layered:2",
                                          "growing/bloom" };
static char path[64], journal[80], text[KEYS][32];
static struct seen_key key[KEYS];
static unsigned char file[KINDS][ROOM];
static size_t file_len[KINDS];

static void write_file(const char *name, const void *bytes, size_t len)
{
    FILE *to = fopen(name, "wb");

    if (!to || fwrite(bytes, 1, len, to) != len || fclose(to))
        abort();
}

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
    snprintf(path, sizeof path, "/tmp/fuzz-journal-%ld.seen", (long)getpid());
    snprintf(journal, sizeof journal, "%s.journal", path);
    for (int i = 0; i < KEYS; i++) {
        int len = snprintf(text[i], sizeof text[i], "http://h%d/%d", i % 3, i);

        seen_key_hash(&key[i], text[i], (size_t)len);
    }
    for (int i = 0; i < KINDS; i++) {
        struct seen_plan plan = { .capacity = 100, .rate = 0.01 };
        struct seen_filter *f;
        FILE *from;

        strcpy(plan.kind, kinds[i]);
        if (seen_filter_new(&f, &plan, NULL) != SEEN_OK ||
            seen_filter_add(f, key, KEYS, NULL, NULL) != SEEN_OK ||
            seen_store_save(f, path, NULL) != SEEN_OK)
            abort();
        seen_filter_free(f);
        from = fopen(path, "rb");
        if (!from)
            abort();
        file_len[i] = fread(file[i], 1, ROOM, from);
        fclose(from);
    }
    return 0;
}

/* Give each record its mark, number and checksum, as far as lengths lead. */
static void repair(unsigned char *bytes, size_t at, size_t size,
                   uint64_t identity)
{
    uint64_t number = 1, length, count, sum;

    while (size - at >= RECORD_LEAST) {
        memcpy(&length, bytes + at + 8, 8);
        if (length < RECORD_LEAST || length > size - at || length % 8)
            break;
        memcpy(bytes + at, "rcrd", 4);
        if (bytes[at + 4] != UNDONE) {
            memcpy(bytes + at + 16, &number, 8);
            memcpy(&count, bytes + at + 24, 8);
            number += count;
        }
        sum = store_checksum_seeded(bytes + at, (size_t)length - 8, identity);
        memcpy(bytes + at + length - 8, &sum, 8);
        at += (size_t)length;
    }
}

static void assert_holds(const struct seen_filter *f)
{
    bool seen[KEYS];

    if (seen_filter_has(f, key, KEYS, seen, NULL) != SEEN_OK)
        abort();
    for (int i = 0; i < KEYS; i++)
        if (!seen[i])
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[JOURNAL_HEAD + ROOM];
    struct seen_filter *f;
    struct store_head h;
    uint64_t sum, flushed;
    enum seen_code code;
    size_t head;
    int kind;

    if (!size || size > ROOM)
        return 0;
    kind = data[0] % KINDS;
    store_head_take(&h, file[kind]);
    write_file(path, file[kind], file_len[kind]);
    memcpy(bytes, "\x89seenj\r\n\1\0\0\0\1\0\0\0", 16);
    bytes[8] = data[0] & 0x40 ? 2 : 1;
    memcpy(bytes + 16, &h.identity, 8);
    memset(bytes + 24, 0, 8);
    sum = store_checksum(bytes, 32);
    memcpy(bytes + 32, &sum, 8);
    head = data[0] & 0x40 ? JOURNAL_HEAD : JOURNAL_HEAD_1;
    memcpy(bytes + head, data + 1, size - 1);
    size += head - 1;
    if (head == JOURNAL_HEAD) { /* 0x20: it says that all of it was flushed */
        flushed = data[0] & 0x20 ? size : head;
        memcpy(bytes + 40, &flushed, 8);
        sum = store_checksum_seeded(bytes + 40, 8, h.identity);
        memcpy(bytes + 48, &sum, 8);
    }
    if (data[0] & 0x80)
        repair(bytes, head, size, h.identity);
    write_file(journal, bytes, size);

    code = seen_store_map(&f, path, NULL, NULL);
    if (code == SEEN_OK) {
        if (kind != 1)          /* a journal can take keys from counters */
            assert_holds(f);
        seen_filter_free(f);
    }
    if (seen_store_open(&f, path, NULL, NULL) != code)
        abort();
    if (code == SEEN_OK && (seen_filter_add(f, key, KEYS, NULL, NULL) ||
                            seen_store_close(f, NULL)))
        abort();
    if (code == SEEN_OK) {
        if (seen_store_load(&f, path, NULL, NULL) != SEEN_OK)
            abort();
        assert_holds(f);
        seen_filter_free(f);
    }
    unlink(path);
    unlink(journal);
    return 0;
}
