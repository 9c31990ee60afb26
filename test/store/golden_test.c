/*
 * golden_test.c - files that must be read for good, and files that must not.
 *
 * test/data/v2/NAME.seen were written once, with the first hundred keys of
 * stored.h. Reading them as they were, and making them anew byte for byte,
 * proves that neither format nor hashing has changed: who breaks this needs
 * a new version, not a new file. A new kind gets its file by running this
 * with SEEN_WRITE_GOLDEN=1.
 *
 * test/data/NAME.seen are of format version 1, which is read for good, and
 * changed in place as version 1.
 *
 * test/data/broken/ has what was cut, altered, or comes from the future.
 */
#include "stored.h"

#include <sys/wait.h>

enum { HELD = 100 };

static const struct {
    const char *name, *kind;
    bool keyed;
} golden[] = {
    { "bloom", "bloom", false },
    { "bloom-keyed", "bloom", true },
    { "bloom-published", "bloom:jenkins+murmur+murmur3+md5+sha1", false },
    { "bloom-orestes", "bloom:orestes", false },
    { "blocked", "blocked", false },
    { "counting", "counting:8", false },
    { "counting-minimal", "counting:4,minimal", false },
    { "layered", "layered:3,published", false },
    { "layered-mixed", "layered:4,mixed", false },
    { "fuse", "fuse", false },
    { "fuse-16-4", "fuse:16,4", false },
    { "ribbon", "ribbon", false },
    { "ribbon-16", "ribbon:16", false },
    { "shards", "shards", false },
    { "spatial", "spatial:2/bloom", false },
    { "growing", "growing/blocked", false },
    { "dynamic", "dynamic:2/bloom", false },
    { "routed", "routed:4/blocked", false },
    { "routed-md5", "routed:16,md5/bloom:murmur", false },
};

static const struct {
    const char *name;
    enum seen_code code;
    const char *says;
} broken[] = {
    { "empty", SEEN_CORRUPT, "too short" },
    { "text-mode", SEEN_CORRUPT, "is not a seen filter" },
    { "cut", SEEN_CORRUPT, "cut short" },
    { "trailing", SEEN_CORRUPT, "added to" },
    { "head", SEEN_CORRUPT, "in the head" },
    { "text", SEEN_CORRUPT, "in the text" },
    { "table", SEEN_CORRUPT, "in the table" },
    { "gap", SEEN_CORRUPT, "bytes in a gap" },
    { "cells", SEEN_CORRUPT, "in block 0" },
    { "later-format", SEEN_MISMATCH, "format version 3" },
    { "later-hash", SEEN_MISMATCH, "hash version 2" },
    { "later-name", SEEN_MISMATCH, "!folded" },
    { "later-kind", SEEN_MISMATCH, "blossom" },
    { "unsealed", SEEN_CORRUPT, "its journal is missing" },
};

static void name_it(char *name, const char *folder_of, const char *file)
{
    const char *root = getenv("SEEN_SOURCE");

    snprintf(name, 400, "%s/test/data/%s%s.seen", root ? root : ".", folder_of,
             file);
}

/* Is there no file of version 1, because the kind is later? */
static bool is_later(size_t i)
{
    return !strncmp(golden[i].kind, "ribbon", 6) ||
           !strcmp(golden[i].kind, "shards");
}

static struct seen_filter *make(size_t i)
{
    struct seen_plan plan = plan_of(golden[i].kind, HELD);
    struct seen_filter *f;

    if (!strncmp(golden[i].kind, "growing", 7))
        plan.capacity = HELD / 4;
    plan.keyed = golden[i].keyed;
    f = holding(&plan, HELD);
    if (!strcmp(golden[i].name, "layered")) /* written before the choice */
        strcpy(f->plan.kind, "layered:3");
    assert_int_equal(seen_meta_set(f, "title", golden[i].name, NULL), SEEN_OK);
    return f;
}

static void read_golden(const char *folder_of)
{
    for (size_t i = 0; i < LENGTH(golden); i++) {
        struct seen_access how = { .secret = golden[i].keyed ? secret : NULL };
        struct seen_filter *f, *g;
        char name[400];

        if (!*folder_of && is_later(i))
            continue;
        f = make(i);
        name_it(name, folder_of, golden[i].name);
        if (seen_store_load(&g, name, &how, NULL) != SEEN_OK)
            fail_msg("%s", name);
        assert_equal_text(f, g);
        assert_equal_answers(f, g);
        assert_holds(g, HELD);
        seen_filter_free(f);
        seen_filter_free(g);
    }
}

TEST(golden_files_are_read_as_they_were_written)
{
    read_golden("v2/");
}

TEST(files_of_version_1_are_read_as_they_were_written)
{
    read_golden("");
}

static uint32_t version_of(const char *name)
{
    size_t len;
    unsigned char *bytes = slurp(name, &len);
    uint32_t version;

    memcpy(&version, bytes + 8, sizeof version);
    free(bytes);
    return version;
}

/* A child adds and dies; then the next writer adds and closes the file. */
static void change_it(const struct seen_access *how)
{
    struct seen_filter *f;
    int status;
    pid_t child = fork();

    if (!child)
        _exit(seen_store_open(&f, path, how, NULL) != SEEN_OK ||
              seen_filter_add(f, key + HELD, 5, NULL, NULL) != SEEN_OK);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(seen_store_load(&f, path, how, NULL), SEEN_OK);
    assert_holds(f, HELD + 5);
    seen_filter_free(f);
    assert_int_equal(seen_store_open(&f, path, how, NULL), SEEN_OK);
    assert_holds(f, HELD + 5);
    assert_int_equal(seen_filter_add(f, key + HELD + 5, 5, NULL, NULL),
                     SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
}

/* Those that are changed in place stay version 1, with a journal of version
   1; others are rewritten. Both end as a file that never was version 1. */
TEST(files_of_version_1_can_be_changed)
{
    for (size_t i = 0; i < LENGTH(golden); i++) {
        struct seen_access how = { .secret = golden[i].keyed ? secret : NULL,
                                   .over = true };
        bool rewritten = strstr(golden[i].kind, "counting") ||
                         strstr(golden[i].kind, "growing");
        struct seen_filter *f, *g;
        char name[400];
        size_t len;
        unsigned char *bytes;

        if (strstr(golden[i].kind, "fuse") || is_later(i))
            continue;
        for (int version = 1; version <= 2; version++) {
            name_it(name, version == 1 ? "" : "v2/", golden[i].name);
            bytes = slurp(name, &len);
            spill(path, bytes, len);
            free(bytes);
            change_it(&how);
            assert_int_equal(files(), version);
            assert_int_equal(version_of(path),
                             version == 1 && !rewritten ? 1 : 2);
            beside(name, ".aside");
            if (version == 1)
                assert_int_equal(rename(path, name), 0);
        }
        assert_int_equal(seen_store_load(&f, path, &how, NULL), SEEN_OK);
        assert_int_equal(seen_store_load(&g, name, &how, NULL), SEEN_OK);
        assert_equal_text(f, g);
        assert_equal_answers(f, g);
        assert_holds(f, HELD + 10);
        assert_int_equal(seen_store_save(g, name, NULL), SEEN_OK);
        assert_int_equal(version_of(name), 2);
        seen_filter_free(f);
        seen_filter_free(g);
        assert_int_equal(unlink(name), 0);
    }
}

TEST(golden_files_are_written_again_byte_for_byte)
{
    for (size_t i = 0; i < LENGTH(golden); i++) {
        struct seen_filter *f = make(i);
        unsigned char *then, *now;
        size_t len, same;
        char name[400];

        assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
        name_it(name, "v2/", golden[i].name);
        then = slurp(name, &len);
        now = slurp(path, &same);
        if (len != same || memcmp(then, now, len))
            fail_msg("%s", name);
        free(then);
        free(now);
        seen_filter_free(f);
    }
}

TEST(broken_files_are_refused_and_say_why)
{
    for (size_t i = 0; i < LENGTH(broken); i++) {
        struct seen_filter *f;
        struct seen_error why;
        unsigned char *bytes;
        char name[400];
        size_t len;

        name_it(name, "broken/", broken[i].name);
        assert_int_equal(seen_store_load(&f, name, NULL, &why),
                         broken[i].code);
        assert_null(f);
        if (!strstr(why.text, broken[i].says))
            fail_msg("%s: %s", name, why.text);
        assert_int_equal(seen_store_map(&f, name, NULL, &why), broken[i].code);
        bytes = slurp(name, &len);
        spill(path, bytes, len);
        free(bytes);
        assert_int_equal(seen_store_open(&f, path, NULL, &why),
                         broken[i].code);
        assert_null(f);
        assert_int_equal(files(), 1);
    }
}

/* For whoever adds a kind; existing files are left alone. */
static void write_golden(void)
{
    char name[400];

    for (size_t i = 0; i < LENGTH(golden); i++) {
        struct seen_filter *f = make(i);

        name_it(name, "v2/", golden[i].name);
        if (access(name, F_OK))
            assert_int_equal(seen_store_save(f, name, NULL), SEEN_OK);
        seen_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(golden_files_are_read_as_they_were_written),
        FRESH(files_of_version_1_are_read_as_they_were_written),
        FRESH(files_of_version_1_can_be_changed),
        FRESH(golden_files_are_written_again_byte_for_byte),
        FRESH(broken_files_are_refused_and_say_why),
    };
    void *state = NULL;

    if (getenv("SEEN_WRITE_GOLDEN") && !enter(&state)) {
        write_golden();
        leave(&state);
    }
    return cmocka_run_group_tests(tests, enter, leave);
}
