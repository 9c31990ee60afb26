/*
 * stored.h - what the tests of the store share: a folder of their own, keys,
 * kinds, and files as bytes.
 */
#ifndef TEST_STORE_STORED_H
#define TEST_STORE_STORED_H

#include "test/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/kind_writer.h>
#include <seen/store.h>

/* A test that begins in an empty folder. */
#define FRESH(sentence) cmocka_unit_test_setup(sentence, sweep)
enum { KEYS = 4000, ROOM = 64 };

static struct seen_key key[KEYS];
static char folder[64], path[96];

/* A folder, and in `path` the name of a filter in it. */
static inline int enter(void **state)
{
    static char text[KEYS][ROOM];

    for (int i = 0; i < KEYS; i++) {
        int len = snprintf(text[i], ROOM, "http://h%d.example/d%d/p%d", i % 7,
                           i % 31, i);

        seen_key_hash(&key[i], text[i], (size_t)len);
    }
    strcpy(folder, "/tmp/seen-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/crawl.seen", folder);
    *state = folder;
    return 0;
}

static inline void beside(char *name, const char *suffix)
{
    snprintf(name, 128, "%s%s", path, suffix);
}

/* Call for every file in the folder; returns how many there were. */
static inline int each_file(int (*call)(const char *name))
{
    DIR *dir = opendir(folder);
    struct dirent *it;
    char name[400];
    int n = 0;

    while (dir && (it = readdir(dir))) {
        if (it->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", folder, it->d_name);
        n++;
        if (call)
            call(name);
    }
    if (dir)
        closedir(dir);
    return n;
}

/* Where the file has its first hole, or its end. */
static inline off_t first_hole(void)
{
    int fd = open(path, O_RDONLY);
    off_t at = lseek(fd, 0, SEEK_HOLE);

    close(fd);
    return at;
}

static inline int files(void)
{
    return each_file(NULL);
}

/* Between tests: an empty folder. */
static inline int sweep(void **state)
{
    (void)state;
    each_file(unlink);
    return 0;
}

static inline int leave(void **state)
{
    sweep(state);
    return rmdir(folder);
}

/* --- filters ---------------------------------------------------------- */

static const unsigned char secret[SEEN_SECRET] = "sixteen letters";
static const unsigned char other_secret[SEEN_SECRET] = "sixteen digits!";

static const char *const every_kind[] = {
    "bloom",
    "bloom:md5",
    "blocked",
    "counting",
    "counting:16,minimal",
    "layered:3",
    "fuse",
    "ribbon",
    "shards",
    "spatial:2/bloom",
    "growing/blocked",
    "dynamic:4/bloom",
    "routed:4/blocked",
    "routed:16,md5/bloom:jenkins",
    "routed:4/counting:8",
    "spatial:2/routed:4/growing/bloom",
};

/* Kinds whose cells are changed in place, and kinds that are rewritten. */
static const char *const kinds_to_write[] = {
    "bloom", "blocked", "routed:4/layered:3", "counting:8", "growing/bloom",
};

static inline struct seen_plan plan_of(const char *kind, uint64_t capacity)
{
    struct seen_plan plan = { .capacity = capacity, .rate = 0.01, .seed = 7 };

    strcpy(plan.kind, kind);
    return plan;
}

/* A filter of the first n keys. */
static inline struct seen_filter *holding(const struct seen_plan *plan,
                                          size_t n)
{
    struct seen_filter *f;
    struct seen_build *b;

    if (seen_filter_new_keyed(&f, plan, plan->keyed ? secret : NULL, NULL) ==
        SEEN_UNABLE) {
        assert_int_equal(seen_build_new(&b, plan, 1, NULL), SEEN_OK);
        assert_int_equal(seen_build_add(b, 0, key, n, NULL), SEEN_OK);
        assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
        return f;
    }
    assert_non_null(f);
    assert_int_equal(seen_filter_add(f, key, n, NULL, NULL), SEEN_OK);
    return f;
}

/* The same in a file at `path`. */
static inline void store(const char *kind, uint64_t capacity, size_t n)
{
    struct seen_plan plan = plan_of(kind, capacity);
    struct seen_filter *f = holding(&plan, n);

    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
}

static inline void assert_equal_text(const struct seen_filter *f,
                                     const struct seen_filter *g)
{
    char *a, *b;

    assert_int_equal(seen_store_describe(f, &a, NULL), SEEN_OK);
    assert_int_equal(seen_store_describe(g, &b, NULL), SEEN_OK);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

/* The filters give equal answers for all keys, right and wrong ones. */
static inline void assert_equal_answers(const struct seen_filter *f,
                                        const struct seen_filter *g)
{
    static bool a[KEYS], b[KEYS];

    assert_int_equal(seen_filter_has(f, key, KEYS, a, NULL), SEEN_OK);
    assert_int_equal(seen_filter_has(g, key, KEYS, b, NULL), SEEN_OK);
    assert_memory_equal(a, b, sizeof a);
}

static inline void assert_holds(const struct seen_filter *f, size_t n)
{
    static bool seen[KEYS];

    assert_int_equal(seen_filter_has(f, key, n, seen, NULL), SEEN_OK);
    for (size_t i = 0; i < n; i++)
        assert_true(seen[i]);
}

/* How a fresh reader gets on with what is at `path`. */
static inline enum seen_code loads(struct seen_error *why)
{
    struct seen_filter *f;
    enum seen_code code = seen_store_load(&f, path, NULL, why);

    if (code != SEEN_OK)
        assert_null(f);
    seen_filter_free(f);
    return code;
}

/* --- bytes ------------------------------------------------------------ */

static inline unsigned char *slurp(const char *name, size_t *len)
{
    FILE *from = fopen(name, "rb");
    struct stat it;
    unsigned char *bytes;

    assert_non_null(from);
    assert_int_equal(fstat(fileno(from), &it), 0);
    *len = (size_t)it.st_size;
    bytes = malloc(*len + 1);
    assert_int_equal(fread(bytes, 1, *len, from), *len);
    fclose(from);
    return bytes;
}

static inline void spill(const char *name, const void *bytes, size_t len)
{
    FILE *to = fopen(name, "wb");

    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, len, to), len);
    assert_int_equal(fclose(to), 0);
}

#endif
