/*
 * orestes.c - fuzz the reader of Orestes' JSON.
 *
 * What can be read must answer, and be written so that it is read again as
 * the same bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/kind_writer.h>
#include <seen/share.h>

#include "lib/disk/disk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char path[64];
enum { BITS = 1 << 24 }; /* larger ones are sound, and slow */

static int no_flush(int fd)
{
    (void)fd;
    return 0;
}

static void sweep(void)
{
    unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    atexit(sweep);
    disk_fdatasync = disk_fsync = no_flush;
    snprintf(path, sizeof path, "/dev/shm/fuzz-orestes-%ld.json",
             (long)getpid());
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *to = fopen(path, "wb");
    struct seen_filter *f, *g;
    struct seen_key key;
    bool seen;

    if (!to || fwrite(data, 1, size, to) != size || fclose(to))
        abort();
    if (seen_orestes_load(&f, path, NULL) != SEEN_OK)
        return 0;
    seen_key_hash(&key, "http://a.example/", 17);
    if (seen_filter_has(f, &key, 1, &seen, NULL) != SEEN_OK)
        abort();
    if (f->plan.bits <= BITS) {
        if (seen_orestes_save(f, path, NULL) != SEEN_OK ||
            seen_orestes_load(&g, path, NULL) != SEEN_OK)
            abort();
        if (f->size != g->size || memcmp(f->cells, g->cells, f->size) ||
            f->set != g->set || f->plan.capacity != g->plan.capacity)
            abort();
        seen_filter_free(g);
    }
    seen_filter_free(f);
    return 0;
}
