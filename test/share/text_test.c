/* text_test.c - the text form: nothing is lost, and nothing is believed. */
#include "test/filter/cases.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/share.h>

#include "lib/store/cells.h"

enum { CAPACITY = 400 };

static char folder[64], first[96], text[96], second[96];

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/seen-text-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(first, sizeof first, "%s/first.seen", folder);
    snprintf(text, sizeof text, "%s/text.csv", folder);
    snprintf(second, sizeof second, "%s/second.seen", folder);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    unlink(first);
    unlink(text);
    unlink(second);
    return rmdir(folder); /* fails if a lock or half a file is left */
}

static char *slurp(const char *name, size_t *len)
{
    FILE *from = fopen(name, "rb");
    struct stat it;
    char *bytes;

    assert_non_null(from);
    assert_int_equal(fstat(fileno(from), &it), 0);
    *len = (size_t)it.st_size;
    bytes = malloc(*len + 1);
    assert_int_equal(fread(bytes, 1, *len, from), *len);
    bytes[*len] = '\0';
    fclose(from);
    return bytes;
}

static void spill(const char *name, const void *bytes, size_t len)
{
    FILE *to = fopen(name, "wb");

    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, len, to), len);
    assert_int_equal(fclose(to), 0);
}

static void assert_same_files(const char *a, const char *b)
{
    size_t n, m;
    char *x = slurp(a, &n), *y = slurp(b, &m);

    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

/* A filter of any kind, stored at `first`. */
static void store(const struct seen_plan *plan, size_t keys)
{
    struct seen_key *key = urls_new(keys ? keys : 1);
    struct seen_filter *f;
    struct seen_build *b;
    struct seen_error why = { .code = SEEN_OK };

    if (seen_filter_new_keyed(&f, plan, secret_of(plan), &why) ==
        SEEN_UNABLE) {
        assert_int_equal(seen_build_new(&b, plan, 1, NULL), SEEN_OK);
        assert_int_equal(seen_build_add(b, 0, key, keys, NULL), SEEN_OK);
        assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    } else {
        if (!f)
            fail_msg("%s: %s", plan->kind, why.text);
        add_all(f, key, keys);
    }
    assert_int_equal(
        seen_meta_set(f, "title", "Z\u00fcrich, \"a, b\" = x", NULL), SEEN_OK);
    assert_int_equal(seen_meta_set(f, "checksum", "\"", NULL), SEEN_OK);
    assert_int_equal(seen_meta_set(f, "cells", "", NULL), SEEN_OK);
    assert_int_equal(seen_store_save(f, first, NULL), SEEN_OK);
    seen_filter_free(f);
    free(key);
}

/* What is at `first`, as text and back, at `second`. */
static void there_and_back(void)
{
    struct seen_error why = { .code = SEEN_OK };
    struct seen_filter *f;

    assert_int_equal(seen_store_load(&f, first, NULL, NULL), SEEN_OK);
    if (seen_csv_save(f, text, &why) != SEEN_OK)
        fail_msg("%s: %s", seen_filter_plan(f)->kind, why.text);
    seen_filter_free(f);
    if (seen_csv_load(&f, text, NULL, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    assert_int_equal(seen_store_save(f, second, NULL), SEEN_OK);
    seen_filter_free(f);
}

static void round_trip(const char *kind, size_t keys, bool keyed)
{
    struct seen_plan plan = plan_of(kind, CAPACITY, 0.01);

    plan.keyed = keyed;
    store(&plan, keys);
    there_and_back();
    assert_same_files(first, second);
}

TEST(every_kind_makes_the_same_file_again)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        bool grows = contains(every_kind[i], "growing");

        round_trip(every_kind[i], grows ? 5 * CAPACITY : CAPACITY, false);
        round_trip(every_kind[i], 0, false);
        round_trip(every_kind[i], 1, false);
    }
    for (size_t i = 0; i < LENGTH(built_kind); i++) {
        round_trip(built_kind[i], CAPACITY, false);
        round_trip(built_kind[i], 0, false);
    }
}

TEST(keyed_filters_travel_without_their_key)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++)
        if (keyable(every_kind[i]))
            round_trip(every_kind[i], CAPACITY, true);
}

/* Each time another number of changes, in place and by a new file. */
TEST(files_that_were_added_to_come_back_too)
{
    static const char *const kinds[] = { "blocked", "counting:8",
                                         "growing/bloom" };
    struct seen_key *key = urls_new(100);

    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct seen_plan plan = plan_of(kinds[i], CAPACITY, 0.01);
        struct seen_filter *f;
        char *lines;
        size_t len;

        store(&plan, 10);
        assert_int_equal(seen_store_open(&f, first, NULL, NULL), SEEN_OK);
        add_all(f, key + 10, 7 + i);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        there_and_back();
        assert_same_files(first, second);
        lines = slurp(text, &len);
        assert_non_null(strstr(lines, i == 0   ? "\napplied,7\n"
                                      : i == 1 ? "\napplied,8\n"
                                               : "\napplied,9\n"));
        free(lines);
    }
    free(key);
}

/* As text, an open filter is what its file will be when it is closed. */
TEST(a_journal_is_read_along)
{
    struct seen_plan plan = plan_of("bloom", CAPACITY, 0.01);
    struct seen_key *key = urls_new(100);
    struct seen_filter *f;

    store(&plan, 10);
    assert_int_equal(seen_store_open(&f, first, NULL, NULL), SEEN_OK);
    add_all(f, key + 10, 20);
    there_and_back();
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_same_files(first, second);
    free(key);
}

TEST(a_copy_that_was_changed_is_another_filter)
{
    struct seen_plan plan = plan_of("bloom", CAPACITY, 0.01);
    struct seen_key *key = urls_new(100);
    struct seen_filter *f;
    char *lines;
    size_t len;

    store(&plan, 10);
    assert_int_equal(seen_store_open(&f, first, NULL, NULL), SEEN_OK);
    add_all(f, key + 10, 20);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_load(&f, first, NULL, NULL), SEEN_OK);
    add_all(f, key + 30, 20);
    assert_int_equal(seen_csv_save(f, text, NULL), SEEN_OK);
    seen_filter_free(f);
    lines = slurp(text, &len);
    assert_null(strstr(lines, "\napplied,"));
    free(lines);
    free(key);
}

/* --- what is refused --------------------------------------------------- */

/* Put the right sum into the second line, whatever the others are. */
static void sum_again(char *lines, size_t len)
{
    unsigned char digest[32];
    char *at = strstr(lines, "sha-256:"), *next, hex[3];
    EVP_MD_CTX *sum = EVP_MD_CTX_new();

    assert_non_null(at);
    next = strchr(at, '\n') + 1;
    EVP_DigestInit_ex(sum, EVP_sha256(), NULL);
    EVP_DigestUpdate(sum, lines, (size_t)(strchr(lines, '\n') + 1 - lines));
    EVP_DigestUpdate(sum, next, len - (size_t)(next - lines));
    EVP_DigestFinal_ex(sum, digest, NULL);
    EVP_MD_CTX_free(sum);
    for (int i = 0; i < 32; i++) {
        snprintf(hex, sizeof hex, "%02x", digest[i]);
        memcpy(at + 8 + 2 * i, hex, 2);
    }
}

/* The text with the first `from` replaced by `to`, its sum made right. */
static char *edited(const char *lines, const char *from, const char *to,
                    size_t *len)
{
    const char *at = strstr(lines, from);
    char *now = malloc(strlen(lines) + strlen(to) + 1);

    if (!at)
        fail_msg("%s is not there", from);
    *len = (size_t)sprintf(now, "%.*s%s%s", (int)(at - lines), lines, to,
                           at + strlen(from));
    if (strstr(now, "sha-256:"))
        sum_again(now, *len);
    return now;
}

static enum seen_code reads(const char *lines, size_t len,
                            struct seen_error *why)
{
    struct seen_filter *f = (struct seen_filter *)why;
    enum seen_code code;

    memset(why, 0, sizeof *why);
    spill(text, lines, len);
    code = seen_csv_load(&f, text, NULL, why);
    if (code != SEEN_OK)
        assert_null(f);
    seen_filter_free(f);
    return code;
}

/* A text of one bit set in row 0 and row 2 of 640 bytes. */
static char *sample(size_t *len)
{
    struct seen_plan plan = {
        .kind = "bloom", .bits = 5120, .capacity = 400, .seed = 7, .probes = 1
    };
    struct seen_filter *f;
    char *lines;

    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    f->cells[1] = 2;
    f->cells[400] = 1;
    f->cells[639] = 0x80;
    f->set = 3;
    assert_int_equal(seen_meta_set(f, "title", "Example", NULL), SEEN_OK);
    assert_int_equal(seen_csv_save(f, text, NULL), SEEN_OK);
    seen_filter_free(f);
    lines = slurp(text, len);
    return lines;
}

TEST(every_altered_byte_is_refused)
{
    struct seen_error why;
    size_t len;
    char *lines = sample(&len);

    assert_int_equal(reads(lines, len, &why), SEEN_OK);
    for (size_t i = 0; i < len; i++)
        for (int bit = 0; bit < 8; bit++) {
            lines[i] = (char)(lines[i] ^ 1 << bit);
            assert_int_not_equal(reads(lines, len, &why), SEEN_OK);
            lines[i] = (char)(lines[i] ^ 1 << bit);
        }
    free(lines);
}

TEST(every_shorter_text_is_refused)
{
    struct seen_error why;
    size_t len;
    char *lines = sample(&len);

    for (size_t i = 0; i < len; i++)
        assert_int_equal(reads(lines, i, &why), SEEN_CORRUPT);
    free(lines);
}

TEST(line_ends_may_change_on_the_way)
{
    struct seen_error why;
    size_t len, n = 0;
    char *lines = sample(&len), *crlf = malloc(2 * len);

    for (size_t i = 0; i < len; i++) {
        if (lines[i] == '\n')
            crlf[n++] = '\r';
        crlf[n++] = lines[i];
    }
    assert_int_equal(reads(crlf, n, &why), SEEN_OK);
    crlf[n - 2] = '\n'; /* an empty line at the end is one too many */
    assert_int_equal(reads(crlf, n, &why), SEEN_CORRUPT);
    free(crlf);
    free(lines);
}

/* All with a checksum that is right: what is said is what is wrong. */
TEST(what_does_not_hold_is_refused_with_its_line)
{
    static const struct {
        const char *from, *to;
        enum seen_code code;
        uint64_t line;
        const char *says;
    } cases[] = {
        { "seen,1", "seen,2", SEEN_MISMATCH, 1, "version 2" },
        { "seen,1", "sen,1", SEEN_CORRUPT, 1, "not the text form" },
        { "seen,1", "seen,01", SEEN_CORRUPT, 1, "not the text form" },
        { "seen,1", "seen,\"1\"", SEEN_OK, 0, "" },
        { "checksum,", "Checksum,", SEEN_CORRUPT, 2, "checksum is missing" },
        { "sha-256:", "sha-512:", SEEN_CORRUPT, 2, "64 digits" },
        { "hashing,1", "hashing,2", SEEN_MISMATCH, 3, "hash version 2" },
        { "hashing,1\n", "", SEEN_CORRUPT, 3, "hashing is missing" },
        { "hashing,1\n", "hashing,1\napplied,5\n", SEEN_OK, 0, "" },
        { "hashing,1\n", "hashing,1\napplied,0\n", SEEN_CORRUPT, 4,
          "never 0" },
        { "hashing,1\n", "hashing,1\napplied,18446744073709551616\n",
          SEEN_CORRUPT, 4, "whole number" },
        { "cells,640", "cells,+640", SEEN_CORRUPT, 4, "whole number" },
        { "cells,640", "cells,641", SEEN_CORRUPT, 4, "plan needs 640" },
        { "cells,640", "cells,576", SEEN_CORRUPT, 4, "plan needs 640" },
        { "cells,640\n", "", SEEN_CORRUPT, 4, "cells is missing" },
        { "cells,640", "cells,640,1", SEEN_CORRUPT, 4, "name,value" },
        { "cells,640", "cells,\"640\"1", SEEN_CORRUPT, 4, "name,value" },
        { "cells,640", "cells,\"640", SEEN_CORRUPT, 4, "name,value" },
        { "cells,640", "cells,\"", SEEN_CORRUPT, 4, "name,value" },
        { "cells,640", "cells", SEEN_CORRUPT, 4, "name,value" },
        { "cells,640", "", SEEN_CORRUPT, 4, "name,value" },
        { "kind,bloom", "kind,blom", SEEN_MISMATCH, 0, "blom" },
        { "kind,bloom\n", "", SEEN_MISMATCH, 0, "" },
        { "capacity,400", "capacity,0400", SEEN_CORRUPT, 5, "canonical" },
        { "profile,raw\n", "profile,raw\nprofile,raw\n", SEEN_CORRUPT, 5,
          "canonical" },
        { "title,Example", "ti=tle,Example", SEEN_CORRUPT, 16, "name,value" },
        { "title,Example", "title,Exam\tple", SEEN_CORRUPT, 16, "name,value" },
        { "title,Example", "title,\"Exam\"\"ple\"", SEEN_OK, 0, "" },
        { "title,Example", "title,\"Exam\"ple\"", SEEN_CORRUPT, 16,
          "name,value" },
        { "title,Example", "!title,Example", SEEN_MISMATCH, 0, "!title" },
        { "set,3", "set,2", SEEN_CORRUPT, 5, "2 cells are set, but 3 are" },
        { "at,base64\n", "", SEEN_CORRUPT, 19, "cut short" },
        { "\n0,", "\n1,", SEEN_CORRUPT, 18, "multiple of 192" },
        { "\n0,", "\n00,", SEEN_CORRUPT, 18, "offset,base64" },
        { "\n0,", "\n,", SEEN_CORRUPT, 18, "offset,base64" },
        { "\n0,", "\n", SEEN_CORRUPT, 18, "offset,base64" },
        { "\n0,", "\n768,", SEEN_CORRUPT, 18, "past the last" },
        { "\n0,", "\n384,", SEEN_CORRUPT, 19, "not above" },
        { "\n0,", "\n18446744073709551552,", SEEN_CORRUPT, 18, "past" },
        { "\n0,AAIA", "\n0,AAI=", SEEN_CORRUPT, 18, "invalid" },
        { "\n0,AAIA", "\n0,AA-A", SEEN_CORRUPT, 18, "invalid" },
        { "\n0,AAIA", "\n0,AAIAAAAA", SEEN_CORRUPT, 18, "192 bytes" },
        { "\n0,AAIA", "\n0,", SEEN_CORRUPT, 18, "192 bytes" },
        { "\n0,AAIA", "\n0,AAAA", SEEN_CORRUPT, 18, "only zeros" },
        { "\n0,AAIA", "\n0,AAMA", SEEN_CORRUPT, 5, "cells are set" },
        { "gA==\n", "gB==\n", SEEN_CORRUPT, 20, "invalid" },
        { "gA==\n", "gAA=\n", SEEN_CORRUPT, 20, "invalid" },
        { "gA==\n", "gAAA\n", SEEN_CORRUPT, 20, "invalid" },
        { "gA==\n", "gA==\n\n", SEEN_CORRUPT, 21, "offset,base64" },
        { "gA==\n", "gA==", SEEN_CORRUPT, 20, "cut short" },
        { "gA==\n", "gA==\n768,AAAA\n", SEEN_CORRUPT, 21, "past" },
    };
    size_t len;
    char *lines = sample(&len);

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct seen_error why;
        size_t n;
        char *now = edited(lines, cases[i].from, cases[i].to, &n);
        enum seen_code code = reads(now, n, &why);

        if (code != cases[i].code || why.at != cases[i].line ||
            !strstr(why.text, cases[i].says))
            fail_msg("%s -> %s: %d at %d: %s", cases[i].from, cases[i].to,
                     (int)code, (int)why.at, why.text);
        free(now);
    }
    free(lines);
}

TEST(a_line_without_end_is_not_read_to_its_end)
{
    struct seen_error why;
    size_t len = 3 << 20;
    char *lines = malloc(len);

    memset(lines, 'x', len);
    memcpy(lines, "seen,1\n", 7);
    assert_int_equal(reads(lines, len, &why), SEEN_CORRUPT);
    assert_int_equal(why.at, 2);
    memset(lines, 0, len);
    assert_int_equal(reads(lines, len, &why), SEEN_CORRUPT);
    free(lines);
}

/* Its end is seen together with its beginning, and nothing is split. */
TEST(a_line_longer_than_any_row_is_refused)
{
    struct seen_error why;
    size_t len = 1000006;
    char *lines = malloc(len + 4);

    memset(lines, '1', len);
    memcpy(lines, "seen,", 5);
    memcpy(lines + len - 1, "\nx,1\n", 5);
    assert_int_equal(reads(lines, len + 4, &why), SEEN_CORRUPT);
    assert_int_equal(why.at, 1);
    free(lines);
}

/* 2^48 bits of zeros in a few lines are refused before any is taken. */
TEST(a_small_text_may_claim_much_and_gets_little)
{
    struct seen_error why;
    size_t len, n;
    char *lines = sample(&len), *now, *more;

    *strstr(lines, "\n0,") = '\0';
    now = edited(lines, "bits,5120", "bits,281474976710656", &n);
    more = edited(now, "size,640", "size,35184372088832", &n);
    free(now);
    now = edited(more, "cells,640", "cells,35184372088832", &n);
    free(more);
    more = edited(now, "set,3", "set,0", &n);
    n = (size_t)sprintf(strstr(more, "at,base64"), "at,base64\n") +
        (size_t)(strstr(more, "at,base64") - more);
    sum_again(more, n);
    assert_int_equal(reads(more, n, &why), SEEN_NOMEM);
    assert_non_null(strstr(why.text, "more than this machine has"));
    free(now);
    free(more);
    free(lines);
}

/* An empty filter of a gigabyte is a few lines, and takes no gigabyte. */
TEST(zeros_cost_nothing)
{
    struct seen_plan plan = { .kind = "bloom",
                              .bits = UINT64_C(1) << 33,
                              .capacity = 1000,
                              .probes = 1,
                              .seed = 7 };
    struct rusage before, after;
    struct seen_filter *f, *g;
    size_t len;
    char *lines;

    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    assert_int_equal(seen_csv_save(f, text, NULL), SEEN_OK);
    lines = slurp(text, &len);
    assert_true(len < 1000);
    assert_int_equal(seen_csv_load(&g, text, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_bytes(g), UINT64_C(1) << 30);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(after.ru_maxrss - before.ru_maxrss < 256 << 10); /* KiB */
    free(lines);
    seen_filter_free(f);
    seen_filter_free(g);
}

TEST(access_is_checked_as_with_files)
{
    static const unsigned char other[SEEN_SECRET] = "sixteen digits!";
    struct seen_access how = { .profile = "surt" };
    struct seen_plan plan = plan_of("bloom", CAPACITY, 0.01);
    struct seen_key *key = urls_new(10);
    struct seen_filter *f;
    bool seen[10];

    plan.keyed = true;
    store(&plan, 10);
    there_and_back();
    assert_int_equal(seen_csv_load(&f, text, &how, NULL), SEEN_MISMATCH);
    assert_null(f);
    how = (struct seen_access){ .secret = other };
    assert_int_equal(seen_csv_load(&f, text, &how, NULL), SEEN_MISMATCH);
    how = (struct seen_access){ .profile = "raw", .secret = secret };
    assert_int_equal(seen_csv_load(&f, text, &how, NULL), SEEN_OK);
    assert_int_equal(seen_filter_has(f, key, 10, seen, NULL), SEEN_OK);
    for (int i = 0; i < 10; i++)
        assert_true(seen[i]);
    seen_filter_free(f);
    free(key);
}

TEST(wrong_counts_are_not_written_down)
{
    struct seen_plan plan = plan_of("bloom", CAPACITY, 0.01);
    struct seen_error why;
    struct seen_filter *f;

    unlink(text);
    store(&plan, 10);
    assert_int_equal(seen_store_load(&f, first, NULL, NULL), SEEN_OK);
    f->set--;
    assert_int_equal(seen_csv_save(f, text, &why), SEEN_CORRUPT);
    assert_int_equal(access(text, F_OK), -1);
    seen_filter_free(f);
}

TEST(a_pipe_takes_the_same_text_and_a_full_disk_is_told)
{
    struct seen_plan plan = plan_of("bloom", CAPACITY, 0.01);
    int fd = open("/dev/full", O_WRONLY), pipes[2];
    struct seen_error why;
    struct seen_filter *f;
    char got[4096], *lines;
    size_t len, n = 0;
    ssize_t some;

    store(&plan, 10);
    assert_int_equal(seen_store_load(&f, first, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_csv_save(f, text, NULL), SEEN_OK);
    assert_int_equal(seen_csv_write(f, fd, &why), SEEN_IO);
    assert_int_equal(why.system, ENOSPC);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(seen_csv_write(f, pipes[1], &why), SEEN_OK);
    close(pipes[1]);
    while ((some = read(pipes[0], got + n, sizeof got - n)) > 0)
        n += (size_t)some;
    lines = slurp(text, &len);
    assert_int_equal(n, len);
    assert_memory_equal(got, lines, n);
    free(lines);
    close(pipes[0]);
    close(fd);
    seen_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_makes_the_same_file_again),
        cmocka_unit_test(keyed_filters_travel_without_their_key),
        cmocka_unit_test(files_that_were_added_to_come_back_too),
        cmocka_unit_test(a_journal_is_read_along),
        cmocka_unit_test(a_copy_that_was_changed_is_another_filter),
        cmocka_unit_test(every_altered_byte_is_refused),
        cmocka_unit_test(every_shorter_text_is_refused),
        cmocka_unit_test(line_ends_may_change_on_the_way),
        cmocka_unit_test(what_does_not_hold_is_refused_with_its_line),
        cmocka_unit_test(a_line_without_end_is_not_read_to_its_end),
        cmocka_unit_test(a_line_longer_than_any_row_is_refused),
        cmocka_unit_test(a_small_text_may_claim_much_and_gets_little),
        cmocka_unit_test(zeros_cost_nothing),
        cmocka_unit_test(access_is_checked_as_with_files),
        cmocka_unit_test(wrong_counts_are_not_written_down),
        cmocka_unit_test(a_pipe_takes_the_same_text_and_a_full_disk_is_told),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
