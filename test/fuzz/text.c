/*
 * text.c - fuzz the reader of the text form.
 *
 * The checksum would stop every mutation at its last step, so an input that
 * has a second line gets the right one there: what the rows say is then all
 * that the reader has to go by. One that begins with 'R' is taken as it is,
 * without that letter.
 *
 * A byte of 1, which no row may have, stands for the one before it 50,000
 * times more, so that short inputs reach rows longer than every buffer.
 *
 * What can be read must answer, and be written as the same rows again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

#include <seen/share.h>

#include "lib/disk/disk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char path[64], again[64];
enum { ROOM = 1 << 21, KEYS = 20, CELLS = 1 << 22, MORE = 50000 };
static char lines[ROOM + 128], back[2 * ROOM];

/* The disk is not what is tested here, and it is slow. */
static int no_flush(int fd)
{
    (void)fd;
    return 0;
}

static void sweep(void)
{
    unlink(path);
    unlink(again);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    atexit(sweep);
    disk_fdatasync = disk_fsync = no_flush;
    snprintf(path, sizeof path, "/dev/shm/fuzz-text-%ld.csv", (long)getpid());
    snprintf(again, sizeof again, "%s.again", path);
    return 0;
}

static void spill(const char *text, size_t len)
{
    FILE *to = fopen(path, "wb");

    if (!to || fwrite(text, 1, len, to) != len || fclose(to))
        abort();
}

/* The input with its repetitions written out, or as far as there is room. */
static size_t stretch(uint8_t *to, const uint8_t *data, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < size && n < ROOM; i++)
        if (data[i] != 1) {
            to[n++] = data[i];
        } else if (n && ROOM - n > MORE) {
            memset(to + n, to[n - 1], MORE);
            n += MORE;
        }
    return n;
}

/* The input with the right sum in its second line; its length. */
static size_t compose(const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size;
    const uint8_t *first = memchr(data, '\n', size), *second;
    unsigned char digest[32];
    EVP_MD_CTX *sum;
    size_t n, rest;

    second = first ? memchr(first + 1, '\n', (size_t)(end - first - 1)) : NULL;
    if (!second || size > ROOM)
        return 0;
    n = (size_t)(first + 1 - data);
    rest = (size_t)(end - second - 1);
    sum = EVP_MD_CTX_new();
    EVP_DigestInit_ex(sum, EVP_sha256(), NULL);
    EVP_DigestUpdate(sum, data, n);
    EVP_DigestUpdate(sum, second + 1, rest);
    EVP_DigestFinal_ex(sum, digest, NULL);
    EVP_MD_CTX_free(sum);
    memcpy(lines, data, n);
    n += (size_t)sprintf(lines + n, "checksum,sha-256:");
    for (int i = 0; i < 32; i++)
        n += (size_t)sprintf(lines + n, "%02x", digest[i]);
    lines[n++] = '\n';
    memcpy(lines + n, second + 1, rest);
    return n + rest;
}

static void use(struct seen_filter *f)
{
    struct seen_error why;
    struct seen_key key[KEYS];
    char text[KEYS][32];
    bool seen[KEYS];
    FILE *from;
    size_t n;

    for (int i = 0; i < KEYS; i++) {
        int len = snprintf(text[i], sizeof text[i], "http://a.example/%d", i);

        seen_key_hash(&key[i], text[i], (size_t)len);
    }
    seen_filter_has(f, key, KEYS, seen, NULL);
    seen_filter_rate(f);
    seen_filter_entries(f);
    if (seen_csv_save(f, again, &why) != SEEN_OK) {
        fprintf(stderr, "cannot be written: %s\n", why.text);
        abort();
    }
    from = fopen(again, "rb");
    n = from ? fread(back, 1, sizeof back, from) : 0;
    if (!from || fclose(from) || n == sizeof back)
        abort();
    if (!memchr(lines, '\r', strlen(lines)) &&
        !memchr(lines, '"', strlen(lines)) &&
        (n != strlen(lines) || memcmp(back, lines, n)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t wide[ROOM];
    struct seen_filter *f;
    size_t len;

    memset(lines, 0, sizeof lines);
    size = stretch(wide, data, size);
    data = wide;
    if (size && *data == 'R') {
        spill((const char *)data + 1, size - 1);
        if (seen_csv_load(&f, path, NULL, NULL) == SEEN_OK)
            seen_filter_free(f);
        return 0;
    }
    len = compose(data, size);
    if (!len)
        return 0;
    spill(lines, len);
    if (seen_csv_load(&f, path, NULL, NULL) == SEEN_OK) {
        if (seen_filter_bytes(f) < CELLS)
            use(f);
        seen_filter_free(f);
    }
    return 0;
}
