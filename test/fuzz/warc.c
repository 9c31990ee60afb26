/*
 * warc.c - any bytes as a WARC file, and, behind a line "@@", as its index.
 * The check must end, and keep its promises about what it reports.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "warc/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static uint64_t faults, notes;

static void clean(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            abort();
}

static void report(void *owner, const struct warc_fault *f)
{
    (void)owner;
    if (!*f->text || !f->file)
        abort();
    clean(f->text);
    clean(f->url);
    clean(f->type);
    if (f->note)
        notes++;
    else
        faults++;
}

/* A file in memory with these bytes, at /proc/self/fd/`as`. The number is
   always the same, so that an index can name the file. */
static void open_as(int as, const void *bytes, size_t len)
{
    int fd = memfd_create("warc", MFD_CLOEXEC);

    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || dup2(fd, as) < 0)
        abort();
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const uint8_t *cut = len ? memmem(bytes, len, "\n@@\n", 4) : NULL;
    size_t first = cut ? (size_t)(cut - bytes) : len;
    struct warc_counts counts, sum = { .faults = 0 };
    struct warc_lines lines = { .lines = 0 };
    struct warc_check *c;

    open_as(100, bytes, first);
    faults = notes = 0;
    if (warc_check_new(&c, report, NULL, NULL) != SEEN_OK)
        abort();
    if (warc_check_file(c, "/proc/self/fd/100", &counts, NULL) == SEEN_OK) {
        if (counts.torn && counts.whole >= first)
            abort();
        if (counts.skipped > counts.bytes)
            abort();
        if (warc_check_end(c, &sum, NULL) != SEEN_OK)
            abort();
        if (cut) {
            open_as(101, cut + 4, len - first - 4);
            if (warc_check_index(c, "/proc/self/fd/101", &lines, NULL) !=
                SEEN_OK)
                abort();
            close(101);
        }
        if (faults != counts.faults + sum.faults + lines.faults ||
            notes != counts.notes + sum.notes + lines.notes)
            abort();
    }
    warc_check_free(c);
    close(100);
    return 0;
}
