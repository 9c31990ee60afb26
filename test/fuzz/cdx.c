/*
 * cdx.c - any bytes as an index: read as a file, packed or not, and line by
 * line as every format, each line ending where its memory does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <seen/cdx.h>

#include "lib/cdx/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const char *const first[] = {
    "http://a/",
    " CDX N b a m s k r M S V g",
    "a)/ 2020 {}",
    " CDX a b",
};

static void read_line(const char *text, size_t len)
{
    static const struct seen_keying how[] = {
        { "surt", SEEN_KEYS_TRUSTED },
        { "surt", SEEN_KEYS_DERIVED },
        { "raw", SEEN_KEYS_AUTO },
    };
    char *line = malloc(len + 1), *room = malloc(len + 1);
    struct seen_layout l;
    struct seen_capture c;
    struct seen_span value;
    size_t used;

    if (!line || !room)
        abort();
    memcpy(line, text, len);
    line = realloc(line, len ? len : 1);
    for (int i = 0; i < 4; i++)
        for (int detail = 0; detail <= SEEN_DETAIL_ALL; detail++) {
            char key_text[SEEN_KEY_TEXT], small[64];
            enum seen_made made;
            struct seen_key key;

            cdx_layout_guess(&l, first[i], strlen(first[i]));
            if (!cdx_line_read(&c, &l, (enum seen_detail)detail, line, len,
                               room, &used))
                continue;
            if (used > len)
                abort();
            seen_capture_field(&c, "digest", small, sizeof small, &value);
            for (int j = 0; j < 3 && !c.fault; j++)
                seen_capture_key(&key, key_text, &c, &how[j], &made, NULL);
        }
    free(line);
    free(room);
}

/* Two ways to read a file must find as many lines. */
static uint64_t read_file(const char *path, enum seen_detail detail)
{
    struct seen_source *s;
    struct seen_reader *r;
    struct seen_capture c;
    uint64_t lines = 0, sum = 0;
    bool more;

    if (seen_source_open(&s, &path, 1, NULL, NULL) != SEEN_OK)
        return 0;
    if (seen_reader_new(&r, s, detail, NULL) != SEEN_OK)
        abort();
    while (seen_source_next(s, r, &more, NULL) == SEEN_OK && more) {
        while (seen_reader_fill(r))
            while (seen_reader_next(r, &c))
                sum += c.line.len ? (unsigned char)c.line.text[0] : 0;
        if (seen_source_fold(s, r))
            lines += seen_reader_piece(r)->lines;
    }
    seen_reader_free(r);
    seen_source_close(s);
    return lines + (sum & 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const char *text = (const char *)bytes;
    char path[64];
    int fd = memfd_create("cdx", 0);

    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (read_file(path, SEEN_DETAIL_KEY) != read_file(path, SEEN_DETAIL_ALL))
        abort();
    close(fd);
    while (len) {
        const char *end = memchr(text, '\n', len);
        size_t n = end ? (size_t)(end - text) : len;

        read_line(text, n);
        n += end != NULL;
        text += n;
        len -= n;
    }
    return 0;
}
