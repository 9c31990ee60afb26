/*
 * text_write.c - a filter as text/csv.
 *
 * The checksum is in the second line and covers all other lines. In a file it
 * is filled in at the end; for a pipe, all lines are made twice, once for the
 * sum and once for the pipe.
 */
#include <seen/share.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../filter/cells.h"
#include "../filter/storage.h"
#include "../disk/disk.h"
#include "../store/cells.h"
#include "../store/reader.h"
#include "../store/save.h"
#include "../store/text.h"
#include "../text/hex.h"
#include "base64.h"
#include "out.h"
#include "text_form.h"

enum { PIECE = 512 * ROW };

struct share_form {
    struct store_layout layout;
    char *text; /* plan, counts and metadata */
    size_t len;
    uint64_t applied;
    char sum[2 * SEEN_DIGEST + 1]; /* zeros while it is not known */
    unsigned char *piece;
};

#define BEFORE_SUM "seen,1\nchecksum," TEXT_SUM

/*
 * A reader counts the cells again. A file with wrong counts, or a filter that
 * other threads add to meanwhile, would make a text that readers refuse.
 */
static enum seen_code check_counts(const struct store_layout *l,
                                   struct seen_error *why)
{
    for (size_t i = 0; i < l->leaves; i++) {
        const struct seen_filter *leaf = l->leaf[i].f;
        uint64_t said = set_cells(leaf), found;

        if (leaf->size && !leaf->cells)
            return seen_fail(why, SEEN_UNABLE, i,
                             "%s does not have its cells in memory",
                             leaf->plan.kind);
        found = leaf->kind->recount ? leaf->kind->recount(leaf)
                                    : cells_count(leaf->cells, leaf->size);
        if (said != found)
            return seen_fail(why, SEEN_CORRUPT, 0,
                             "says that %llu cells are set, but %llu are",
                             (unsigned long long)said,
                             (unsigned long long)found);
    }
    return SEEN_OK;
}

/* RFC 4180: a value with commas or quotes is quoted, its quotes doubled. */
static void put_value(struct share_out *to, const char *value, size_t len)
{
    const char *end = value + len;

    if (!memchr(value, ',', len) && !memchr(value, '"', len)) {
        buffer_bytes(&to->text, value, len);
        return;
    }
    buffer_byte(&to->text, '"');
    while (value < end) {
        const char *quote = memchr(value, '"', (size_t)(end - value));
        const char *stop = quote ? quote + 1 : end;

        buffer_bytes(&to->text, value, (size_t)(stop - value));
        if (quote)
            buffer_byte(&to->text, '"');
        value = stop;
    }
    buffer_byte(&to->text, '"');
}

/* Write name=value lines as name,value rows. */
static void put_text(struct share_out *to, const char *text)
{
    while (*text) {
        size_t name = strcspn(text, "=");
        const char *value = text + name + 1;
        size_t len = strcspn(value, "\n");

        buffer_bytes(&to->text, text, name);
        buffer_byte(&to->text, ',');
        put_value(to, value, len);
        buffer_byte(&to->text, '\n');
        text = value + len + 1;
    }
}

static void put_number(struct share_out *to, const char *name, uint64_t number)
{
    buffer_text(&to->text, name);
    buffer_byte(&to->text, ',');
    buffer_number(&to->text, number);
    buffer_byte(&to->text, '\n');
}

static bool all_zero(const unsigned char *bytes, size_t len)
{
    return !len || (!*bytes && !memcmp(bytes, bytes + 1, len - 1));
}

static void put_row(struct share_out *to, uint64_t at,
                    const unsigned char *bytes, size_t len)
{
    char *letters;

    if (all_zero(bytes, len))
        return;
    buffer_number(&to->text, at);
    buffer_byte(&to->text, ',');
    letters = buffer_room(&to->text, base64_length(len) + 1);
    if (!letters)
        return;
    base64_encode(letters, bytes, len);
    letters[base64_length(len)] = '\n';
    to->text.len += base64_length(len) + 1;
    share_out_more(to);
}

static void put_cells(struct share_out *to, const struct share_form *form)
{
    const struct store_layout *l = &form->layout;

    for (uint64_t at = 0; at < l->length && !to->failed; at += PIECE) {
        uint64_t left = l->length - at;
        size_t some = (size_t)(left < PIECE ? left : PIECE);

        store_layout_get(l, at, form->piece, some);
        for (size_t i = 0; i < some; i += ROW)
            put_row(to, at + i, form->piece + i,
                    some - i < ROW ? some - i : ROW);
    }
}

/* The line that is not in the sum. */
static void put_sum(struct share_out *to, const struct share_form *form)
{
    struct sha256 *sum = to->sum;

    share_out_flush(to);
    to->sum = NULL;
    buffer_text(&to->text, "checksum," TEXT_SUM);
    buffer_text(&to->text, form->sum);
    buffer_byte(&to->text, '\n');
    share_out_flush(to);
    to->sum = sum;
}

static enum seen_code put_form(const struct share_form *form, int fd,
                               struct sha256 *sum, struct seen_error *why)
{
    struct share_out to;

    share_out_open(&to, fd, sum);
    put_number(&to, "seen", TEXT_FORM);
    put_sum(&to, form);
    put_number(&to, "hashing", HASH_VERSION);
    if (form->applied)
        put_number(&to, "applied", form->applied);
    put_number(&to, "cells", form->layout.length);
    put_text(&to, form->text);
    buffer_text(&to.text, "at,base64\n");
    put_cells(&to, form);
    return share_out_close(&to, why);
}

/* The same, and compute the sum. */
static enum seen_code sum_form(struct share_form *form, int fd,
                               struct seen_error *why)
{
    unsigned char digest[SEEN_DIGEST];
    struct sha256 sum;
    bool good = sha256_init(&sum);
    enum seen_code code = put_form(form, fd, &sum, why);

    good = good && sha256_end(&sum, digest);
    sha256_clear(&sum);
    if (code == SEEN_OK && !good)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a checksum");
    if (code == SEEN_OK)
        hex_write(form->sum, digest, SEEN_DIGEST);
    return code;
}

/* The position in a file; -1 if it cannot be written again later. */
static off_t start_of(int fd)
{
    struct stat it;
    int flags = fcntl(fd, F_GETFL);

    if (fstat(fd, &it) || !S_ISREG(it.st_mode) || flags < 0 ||
        flags & O_APPEND)
        return -1;
    return lseek(fd, 0, SEEK_CUR);
}

static enum seen_code put_all(struct share_form *form, int fd,
                              struct seen_error *why)
{
    off_t start = start_of(fd);
    enum seen_code code = sum_form(form, start >= 0 ? fd : -1, why);
    size_t len = strlen(form->sum);

    if (code != SEEN_OK)
        return code;
    if (start < 0)
        return put_form(form, fd, NULL, why);
    return disk_write(fd, form->sum, len, (uint64_t)start + strlen(BEFORE_SUM),
                      why);
}

enum seen_code seen_csv_write(const struct seen_filter *f, int fd,
                              struct seen_error *why)
{
    struct share_form form = { .applied = store_reader_applied(f) };
    enum seen_code code = store_layout_init(&form.layout, f, why);

    if (code != SEEN_OK)
        return code;
    form.piece = malloc(PIECE);
    if (!form.piece)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    if (code == SEEN_OK)
        code = storage_check_all(f, why);
    if (code == SEEN_OK)
        code = check_counts(&form.layout, why);
    if (code == SEEN_OK)
        code = store_text_of(&form.layout.nodes, true, &form.text, &form.len,
                             why);
    memset(form.sum, '0', sizeof form.sum - 1);
    if (code == SEEN_OK)
        code = put_all(&form, fd, why);
    code = storage_kept(f, code, why);
    free(form.text);
    free(form.piece);
    store_layout_clear(&form.layout);
    return code;
}

static enum seen_code write_filter(void *f, int fd, struct seen_error *why)
{
    return seen_csv_write(*(const struct seen_filter **)f, fd, why);
}

enum seen_code seen_csv_save(const struct seen_filter *f, const char *path,
                             struct seen_error *why)
{
    return store_save_as(path, write_filter, &f, why);
}
