/*
 * lazy_test.c - files that are checked block by block, as keys need them.
 *
 * The main question is whether a key is ever answered from a block that was
 * not checked. So a block is inverted, bit by bit: whatever depends on it is
 * wrong. Then every key must get the right answer or none.
 */
#include "stored.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <seen/share.h>

#include "lib/disk/disk.h"
#include "lib/store/format.h"

enum { ASKED = 400, CAPACITY = 300000 };

static const struct seen_access lazy = { .lazy = true };

/* A file of several blocks with the first half of the keys. */
static void save_kind(const char *kind, bool keyed)
{
    struct seen_plan plan = plan_of(kind, CAPACITY);
    struct seen_filter *f;

    plan.keyed = keyed;
    f = holding(&plan, ASKED / 2);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
}

static struct store_head head_of(const unsigned char *bytes)
{
    struct store_head h;

    store_head_take(&h, bytes);
    return h;
}

/* Invert a block of the file at `path`, or put it right again. */
static void invert(uint64_t block)
{
    size_t len;
    unsigned char *bytes = slurp(path, &len);
    struct store_head h = head_of(bytes);
    uint64_t at = h.cells_at + block * BLOCK, end = h.cells_at + h.cells_len;
    int fd = open(path, O_RDWR);

    assert_true(at < end);
    end = end < at + BLOCK ? end : at + BLOCK;
    for (uint64_t i = at; i < end; i++)
        bytes[i] = (unsigned char)~bytes[i];
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes + at, (size_t)(end - at), (off_t)at),
                     (ssize_t)(end - at));
    close(fd);
    free(bytes);
}

static uint64_t blocks(void)
{
    size_t len;
    unsigned char *bytes = slurp(path, &len);
    uint64_t n = head_of(bytes).blocks;

    free(bytes);
    return n;
}

static void assert_names(const struct seen_error *why, uint64_t block)
{
    char text[64];

    snprintf(text, sizeof text, "checksum differs in block %llu; ",
             (unsigned long long)block);
    if (strncmp(why->text, text, strlen(text)))
        fail_msg("'%s' is not about block %llu", why->text,
                 (unsigned long long)block);
}

/* --- readers ---------------------------------------------------------------- */

/* Ask for all keys one by one: the right answer, or the number of the block.
   Returns how many were refused. */
static size_t ask(const struct seen_filter *f, uint64_t block,
                  const bool *right)
{
    size_t refused = 0;

    for (size_t i = 0; i < ASKED; i++) {
        struct seen_error why;
        bool seen;
        enum seen_code code = seen_filter_has(f, &key[i], 1, &seen, &why);

        if (code == SEEN_OK) {
            assert_int_equal(seen, right[i]);
            continue;
        }
        assert_int_equal(code, SEEN_CORRUPT);
        assert_names(&why, block);
        refused++;
    }
    return refused;
}

static void damage_each(const char *kind, bool keyed)
{
    struct seen_access how = { .lazy = true, .secret = keyed ? secret : NULL };
    struct seen_filter *f;
    bool right[ASKED];
    size_t refused = 0;
    uint64_t n;

    save_kind(kind, keyed);
    n = blocks();
    assert_int_equal(seen_store_load(&f, path, &how, NULL), SEEN_OK);
    assert_int_equal(seen_filter_has(f, key, ASKED, right, NULL), SEEN_OK);
    seen_filter_free(f);
    for (uint64_t i = 0; i < n; i += n / 3 + 1) {
        invert(i);
        assert_int_equal(seen_store_map(&f, path, &how, NULL), SEEN_OK);
        refused += ask(f, i, right);
        assert_int_equal(seen_store_verify(f, NULL), SEEN_CORRUPT);
        seen_filter_free(f);
        invert(i);
    }
    if (n > 1 && !refused)
        fail_msg("no key of %s needs a cell", kind);
}

TEST(a_key_in_a_damaged_block_gets_no_answer_and_others_the_right_one)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++)
        damage_each(every_kind[i], false);
    damage_each("blocked", true);
    damage_each("layered:3", true);
    damage_each("fuse:16,4", false);
    damage_each("bloom:orestes", false);
}

/* Filters that are as large as their keys need: many keys make many blocks. */
static void damage_each_of_many(const char *kind, double rate)
{
    enum { MANY = 200000 };
    struct seen_plan plan = plan_of(kind, 0);
    struct seen_key *many = calloc(MANY, sizeof *many);
    bool *right = calloc(MANY, sizeof *right);
    struct seen_filter *f;
    struct seen_build *b;
    size_t refused = 0;
    uint64_t n;

    plan.rate = rate;
    assert_true(many && right);
    for (size_t i = 0; i < MANY; i++)
        many[i] = (struct seen_key){ .lo = seen_mix(i), .hi = seen_mix(~i) };
    assert_int_equal(seen_build_new(&b, &plan, 1, NULL), SEEN_OK);
    assert_int_equal(seen_build_add(b, 0, many, MANY / 2, NULL), SEEN_OK);
    assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    assert_int_equal(seen_filter_has(f, many, MANY, right, NULL), SEEN_OK);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    n = blocks();
    assert_true(n > 1);
    for (uint64_t i = 0; i < n; i++) {
        size_t before = refused;

        invert(i);
        assert_int_equal(seen_store_map(&f, path, &lazy, NULL), SEEN_OK);
        for (size_t j = 0; j < MANY; j += MANY / ASKED) {
            bool seen;

            if (seen_filter_has(f, &many[j], 1, &seen, NULL) != SEEN_OK)
                refused++;
            else if (seen != right[j])
                fail_msg("%s: wrong, but block %d is damaged", kind, (int)i);
        }
        assert_true(refused > before);
        seen_filter_free(f);
        invert(i);
    }
    assert_true(refused < ASKED * n);
    free(many);
    free(right);
}

TEST(large_filters_that_are_built_once_check_what_they_read)
{
    damage_each_of_many("fuse", 0);
    damage_each_of_many("fuse:16,4", 0);
    damage_each_of_many("ribbon", 0);
    damage_each_of_many("ribbon", 0.003);
    damage_each_of_many("ribbon:32", 0);
    damage_each_of_many("spatial:2/ribbon", 0);
    damage_each_of_many("shards", 0);
    damage_each_of_many("spatial:2/shards", 0);
}

TEST(counts_and_prefixes_need_sound_blocks_too)
{
    struct seen_filter *f, *g;
    struct seen_error why;
    size_t refused[2] = { 0 };

    save_kind("routed:4/counting:8", false);
    invert(3);
    assert_int_equal(seen_store_map(&f, path, &lazy, NULL), SEEN_OK);
    for (size_t i = 0; i < ASKED; i++) {
        uint64_t count;
        enum seen_code code = seen_filter_count(f, &key[i], 1, &count, &why);

        if (code == SEEN_OK)
            assert_int_equal(count, i < ASKED / 2);
        else
            assert_names(&why, 3);
        refused[0] += code != SEEN_OK;
    }
    seen_filter_free(f);
    save_kind("routed:2/layered:3", false);
    assert_int_equal(seen_store_load(&g, path, NULL, NULL), SEEN_OK);
    invert(1);
    assert_int_equal(seen_store_map(&f, path, &lazy, NULL), SEEN_OK);
    for (size_t i = 0; i < ASKED; i++) {
        bool seen, right;
        enum seen_code code = seen_filter_has_prefix(f, &key[i], &seen, &why);

        assert_int_equal(seen_filter_has_prefix(g, &key[i], &right, NULL),
                         SEEN_OK);
        if (code == SEEN_OK)
            assert_int_equal(seen, right);
        else
            assert_names(&why, 1);
        refused[1] += code != SEEN_OK;
    }
    seen_filter_free(f);
    seen_filter_free(g);
    assert_true(refused[0] && refused[0] < ASKED);
    assert_true(refused[1]);
}

TEST(a_lazy_filter_answers_as_a_loaded_one)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_filter *f, *g;

        save_kind(every_kind[i], false);
        assert_int_equal(seen_store_map(&f, path, &lazy, NULL), SEEN_OK);
        assert_int_equal(seen_store_load(&g, path, NULL, NULL), SEEN_OK);
        assert_equal_answers(f, g);
        assert_equal_text(f, g);
        assert_int_equal(seen_store_verify(f, NULL), SEEN_OK);
        assert_equal_answers(f, g);
        seen_filter_free(f);
        seen_filter_free(g);
    }
}

/* Otherwise the copy would have a fresh checksum for damaged cells. */
TEST(what_needs_all_cells_refuses_a_damaged_one)
{
    struct seen_plan plan = plan_of("blocked", CAPACITY);
    struct seen_filter *f, *g = holding(&plan, 0), *out;
    struct seen_error why;
    char name[128];

    save_kind("blocked", false);
    invert(2);
    beside(name, ".copy");
    assert_int_equal(seen_store_map(&f, path, &lazy, NULL), SEEN_OK);
    assert_int_equal(seen_store_save(f, name, &why), SEEN_CORRUPT);
    assert_names(&why, 2);
    assert_int_equal(seen_filter_merge(g, f, &why), SEEN_CORRUPT);
    assert_int_equal(seen_csv_save(f, name, &why), SEEN_CORRUPT);
    assert_int_equal(seen_filter_recast(&out, f, "growing/blocked", &why),
                     SEEN_CORRUPT);
    assert_int_equal(files(), 1);
    seen_filter_free(f);
    seen_filter_free(g);
}

/* --- writers ---------------------------------------------------------------- */

static const char *const in_place[] = { "bloom", "blocked", "bloom:md5",
                                        "spatial:2/blocked",
                                        "routed:4/blocked" };

/* The journal of a lazy writer says so. */
static bool journal_lazy(void)
{
    size_t len;
    unsigned char *bytes;
    char name[128];
    bool is;

    beside(name, ".journal");
    bytes = slurp(name, &len);
    is = bytes[8] == 3;
    free(bytes);
    return is;
}

static void add_all(const struct seen_access *how, bool kill)
{
    pid_t child = fork();
    int status;

    if (!child) {
        struct seen_filter *f;

        if (seen_store_open(&f, path, how, NULL) != SEEN_OK)
            _exit(1);
        for (size_t i = ASKED / 2; i < ASKED; i += 50)
            if (seen_filter_add(f, key + i, 50, NULL, NULL) != SEEN_OK)
                _exit(2);
        _exit(!kill && seen_store_close(f, NULL) != SEEN_OK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(a_lazy_writer_leaves_the_same_bytes_as_any_other)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write) + LENGTH(in_place); i++) {
        const char *kind = i < LENGTH(in_place)
                               ? in_place[i]
                               : kinds_to_write[i - LENGTH(in_place)];
        unsigned char *a, *b;
        size_t m, n;

        save_kind(kind, false);
        add_all(NULL, false);
        a = slurp(path, &m);
        save_kind(kind, false);
        add_all(&lazy, false);
        b = slurp(path, &n);
        assert_int_equal(m, n);
        assert_memory_equal(a, b, m);
        free(a);
        free(b);
        save_kind(kind, false);
        add_all(&lazy, true);
        if (i < LENGTH(in_place))
            assert_true(journal_lazy());
        assert_int_equal(loads(NULL), SEEN_OK);
        add_all(i % 2 ? &lazy : NULL, false);
        assert_int_equal(loads(NULL), SEEN_OK);
    }
}

/* Add keys one by one to a file with a damaged block; how many were refused? */
static size_t add_around(struct seen_filter *f, uint64_t block)
{
    size_t refused = 0;

    for (size_t i = ASKED / 2; i < ASKED; i++) {
        struct seen_error why;
        enum seen_code code = seen_filter_add(f, &key[i], 1, NULL, &why);

        if (code == SEEN_OK)
            continue;
        assert_int_equal(code, SEEN_CORRUPT);
        assert_names(&why, block);
        refused++;
    }
    return refused;
}

static void assert_damaged(uint64_t block)
{
    struct seen_filter *f;
    struct seen_error why;

    assert_int_equal(loads(&why), SEEN_CORRUPT);
    assert_names(&why, block);
    assert_int_equal(seen_store_map(&f, path, NULL, &why), SEEN_CORRUPT);
    assert_names(&why, block);
    assert_int_equal(seen_store_open(&f, path, NULL, &why), SEEN_CORRUPT);
    assert_names(&why, block);
}

TEST(a_damaged_block_that_is_not_needed_stays_damaged)
{
    for (size_t i = 0; i < LENGTH(in_place); i++) {
        struct seen_filter *f;
        size_t refused, held = 0;
        bool seen[ASKED];

        save_kind(in_place[i], false);
        invert(1);
        assert_int_equal(seen_store_open(&f, path, &lazy, NULL), SEEN_OK);
        refused = add_around(f, 1);
        assert_true(refused && refused < ASKED / 2);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(files(), 1);
        assert_damaged(1);
        invert(1);
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
        for (size_t j = 0; j < ASKED; j++)
            held += seen[j];
        assert_in_range(held, ASKED - refused, ASKED - refused + 3);
        seen_filter_free(f);
    }
}

/* Nor does the next writer give it a checksum, or a reader an answer. */
TEST(damage_survives_a_lazy_writer_that_is_killed)
{
    bool right[ASKED] = { false };

    for (size_t i = 0; i < LENGTH(in_place); i++) {
        struct seen_filter *f;
        pid_t child;
        int status;

        save_kind(in_place[i], false);
        invert(1);
        child = fork();
        if (!child) {
            size_t refused = 0;

            if (seen_store_open(&f, path, &lazy, NULL) == SEEN_OK)
                refused = add_around(f, 1);
            _exit(!refused);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_true(journal_lazy());
        assert_damaged(1);
        assert_int_equal(seen_store_open(&f, path, &lazy, NULL), SEEN_CORRUPT);

        /* A lazy reader knows from the journal which blocks have changed. */
        assert_int_equal(seen_store_map(&f, path, &lazy, NULL), SEEN_OK);
        for (size_t j = 0; j < ASKED; j++) {
            struct seen_error why;

            if (seen_filter_has(f, &key[j], 1, &right[j], &why) != SEEN_OK)
                assert_names(&why, 1);
            else if (j < ASKED / 2)
                assert_true(right[j]);
        }
        seen_filter_free(f);
        invert(1);
        assert_int_equal(loads(NULL), SEEN_OK);
        assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
        assert_false(journal_lazy()); /* all of it was checked */
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(loads(NULL), SEEN_OK);
    }
}

TEST(a_checkpoint_and_new_metadata_need_sound_blocks)
{
    struct seen_filter *f;
    struct seen_error why;

    save_kind("blocked", false);
    invert(1);
    assert_int_equal(seen_store_open(&f, path, &lazy, NULL), SEEN_OK);
    add_around(f, 1);
    assert_int_equal(seen_store_checkpoint(f, &why), SEEN_CORRUPT);
    assert_names(&why, 1);
    assert_int_equal(seen_meta_set(f, "title", "damaged", NULL), SEEN_OK);
    assert_int_equal(seen_store_close(f, &why), SEEN_CORRUPT);
    assert_names(&why, 1);
    assert_damaged(1);
    invert(1);
    assert_int_equal(seen_store_open(&f, path, &lazy, NULL), SEEN_OK);
    assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
    assert_int_equal(seen_meta_set(f, "title", "sound", NULL), SEEN_OK);
    assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, &key[ASKED], 1, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(loads(NULL), SEEN_OK);
}

/* --- readers and writers ------------------------------------------------------ */

TEST(a_lazy_reader_takes_no_change_of_a_writer_for_damage)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write); i++)
        for (int verified = 0; verified < 2; verified++) {
            const struct seen_access *how = verified ? NULL : &lazy;
            struct seen_filter *reader[3], *w;

            save_kind(kinds_to_write[i], false);
            assert_int_equal(seen_store_map(&reader[0], path, &lazy, NULL),
                             SEEN_OK);
            assert_int_equal(seen_store_map(&reader[2], path, &lazy, NULL),
                             SEEN_OK);
            assert_int_equal(seen_store_open(&w, path, how, NULL), SEEN_OK);
            assert_int_equal(
                seen_filter_add(w, key + ASKED / 2, ASKED / 4, NULL, NULL),
                SEEN_OK);
            assert_int_equal(seen_store_map(&reader[1], path, &lazy, NULL),
                             SEEN_OK);
            assert_int_equal(
                seen_filter_add(w, key + 3 * ASKED / 4, ASKED / 4, NULL, NULL),
                SEEN_OK);
            assert_holds(reader[0], ASKED / 2);
            assert_holds(reader[1], 3 * ASKED / 4);
            assert_int_equal(seen_store_refresh(reader[1], NULL, NULL),
                             SEEN_OK);
            assert_holds(reader[1], ASKED);
            assert_int_equal(seen_store_checkpoint(w, NULL), SEEN_OK);
            assert_holds(reader[1], ASKED);
            assert_int_equal(
                seen_filter_add(w, key + ASKED, ASKED, NULL, NULL), SEEN_OK);
            assert_int_equal(seen_store_close(w, NULL), SEEN_OK);
            assert_holds(reader[2], ASKED / 2);
            for (int j = 0; j < 3; j++) {
                assert_int_equal(seen_store_refresh(reader[j], NULL, NULL),
                                 SEEN_OK);
                assert_holds(reader[j], 2 * ASKED);
                seen_filter_free(reader[j]);
            }
        }
}

static int no_flush(int fd)
{
    (void)fd;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(
            a_key_in_a_damaged_block_gets_no_answer_and_others_the_right_one),
        FRESH(large_filters_that_are_built_once_check_what_they_read),
        FRESH(counts_and_prefixes_need_sound_blocks_too),
        FRESH(a_lazy_filter_answers_as_a_loaded_one),
        FRESH(what_needs_all_cells_refuses_a_damaged_one),
        FRESH(a_lazy_writer_leaves_the_same_bytes_as_any_other),
        FRESH(a_damaged_block_that_is_not_needed_stays_damaged),
        FRESH(damage_survives_a_lazy_writer_that_is_killed),
        FRESH(a_checkpoint_and_new_metadata_need_sound_blocks),
        FRESH(a_lazy_reader_takes_no_change_of_a_writer_for_damage),
    };

    disk_fdatasync = disk_fsync = no_flush; /* they would take most of it */
    return cmocka_run_group_tests(tests, enter, leave);
}
