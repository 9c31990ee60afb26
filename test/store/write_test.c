/* write_test.c - open for writing: what was acknowledged is there. */
#include "stored.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "lib/store/journal.h"

static const struct seen_access lazy = { .sync = SEEN_SYNC_NO };

static struct seen_key strange[KEYS]; /* none of `key` */

static struct seen_filter *open_it(void)
{
    struct seen_filter *f;
    struct seen_error why;

    if (seen_store_open(&f, path, &lazy, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return f;
}

/* Let a child open the file, act and die: nothing is sealed. */
static void die_after(void (*act)(struct seen_filter *f))
{
    pid_t child = fork();
    int status;

    if (!child) {
        struct seen_filter *f;

        if (seen_store_open(&f, path, &lazy, NULL) != SEEN_OK)
            _exit(1);
        act(f);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void add_to_500(struct seen_filter *f)
{
    for (size_t i = 100; i < 500; i += 10)
        if (seen_filter_add(f, key + i, 10, NULL, NULL) != SEEN_OK)
            _exit(2);
}

/* The filter of the first n keys, added in the same order. */
static void assert_is(const struct seen_filter *f, const char *kind, size_t n)
{
    struct seen_plan plan = plan_of(kind, 1000);
    struct seen_filter *right = holding(&plan, n);

    assert_equal_text(f, right);
    assert_equal_answers(f, right);
    seen_filter_free(right);
}

static void assert_file_is(const char *kind, size_t n)
{
    struct seen_filter *f;
    struct seen_error why;

    if (seen_store_map(&f, path, NULL, &why) != SEEN_OK)
        fail_msg("%s: %s", kind, why.text);
    assert_is(f, kind, n);
    seen_filter_free(f);
    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_is(f, kind, n);
    seen_filter_free(f);
}

TEST(what_is_added_is_in_the_file_once_it_is_closed)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        struct seen_filter *f;

        store(kinds_to_write[i], 1000, 100);
        f = open_it();
        add_to_500(f);
        assert_file_is(kinds_to_write[i], 500); /* not yet closed */
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(files(), 1);
        assert_file_is(kinds_to_write[i], 500);
    }
}

TEST(a_file_closed_unchanged_keeps_its_bytes)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        unsigned char *once, *twice;
        size_t len, again;

        store(kinds_to_write[i], 1000, 100);
        once = slurp(path, &len);
        assert_int_equal(seen_store_close(open_it(), NULL), SEEN_OK);
        twice = slurp(path, &again);
        assert_int_equal(len, again);
        assert_memory_equal(once, twice, len);
        free(once);
        free(twice);
    }
}

TEST(there_is_one_writer_at_a_time)
{
    struct seen_plan plan = plan_of("bloom", 1000);
    struct seen_filter *f, *g, *other = holding(&plan, 10);

    store("bloom", 1000, 100);
    f = open_it();
    assert_int_equal(seen_store_open(&g, path, NULL, NULL), SEEN_BUSY);
    assert_null(g);
    assert_int_equal(seen_store_save(other, path, NULL), SEEN_BUSY);
    seen_filter_free(f); /* closes, silently */
    assert_int_equal(files(), 1);
    assert_int_equal(seen_store_save(other, path, NULL), SEEN_OK);
    seen_filter_free(other);
}

TEST(what_a_killed_writer_added_is_there_for_readers_and_the_next)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        struct seen_filter *f;

        store(kinds_to_write[i], 1000, 100);
        die_after(add_to_500);
        assert_file_is(kinds_to_write[i], 500);
        f = open_it();
        assert_is(f, kinds_to_write[i], 500);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(files(), 1);
        assert_file_is(kinds_to_write[i], 500);
    }
}

static void checkpoint_at_500(struct seen_filter *f)
{
    add_to_500(f);
    if (seen_store_checkpoint(f, NULL) != SEEN_OK)
        _exit(3);
}

static void add_700_to_900(struct seen_filter *f)
{
    checkpoint_at_500(f);
    for (size_t i = 500; i < 900; i++)
        if (seen_filter_add(f, key + i, 1, NULL, NULL) != SEEN_OK)
            _exit(2);
}

/* Counters would show a record that is applied twice, or not at all. */
/*
 * After a power failure each sector of cells and table is the old one or a
 * new one. The head said `changing` before any of them, and the records were
 * flushed, so the journal makes up for whatever is missing.
 */
TEST(any_mixture_of_old_and_new_sectors_is_made_whole)
{
    static const char *const kinds[] = { "bloom", "blocked", "spatial:2/bloom",
                                         "layered:3" };
    uint64_t random = 1;

    for (size_t i = 0; i < LENGTH(kinds); i++) {
        unsigned char *old, *new;
        size_t len, same;

        store(kinds[i], 1000, 100);
        old = slurp(path, &len);
        die_after(add_to_500);
        new = slurp(path, &same);
        assert_int_equal(len, same);
        memcpy(old, new, 512);
        for (int round = 0; round < 20; round++) {
            unsigned char *mixed = malloc(len);
            struct seen_filter *f;

            for (size_t at = 0; at < len; at += 512) {
                random = random * 6364136223846793005u + 1;
                memcpy(mixed + at, (random >> 60 & 1 ? old : new) + at,
                       len - at < 512 ? len - at : 512);
            }
            spill(path, mixed, len);
            assert_int_equal(seen_store_map(&f, path, NULL, NULL), SEEN_OK);
            assert_is(f, kinds[i], 500);
            seen_filter_free(f);
            assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
            assert_is(f, kinds[i], 500);
            seen_filter_free(f);
            free(mixed);
        }
        assert_int_equal(seen_store_close(open_it(), NULL), SEEN_OK);
        assert_file_is(kinds[i], 500);
        free(old);
        free(new);
    }
}

TEST(a_record_is_applied_once_whatever_was_checkpointed)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        struct seen_filter *f;
        struct stat it;
        char journal[128];

        store(kinds_to_write[i], 1000, 100);
        die_after(checkpoint_at_500);
        beside(journal, ".journal");
        if (strchr("cg", kinds_to_write[i][0])) {
            assert_int_equal(access(journal, F_OK), -1); /* sealed meanwhile */
        } else {
            assert_int_equal(stat(journal, &it), 0);
            assert_true(it.st_size < 100);
        }
        assert_file_is(kinds_to_write[i], 500);
        f = open_it();
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);

        store(kinds_to_write[i], 1000, 100);
        die_after(add_700_to_900);
        for (int again = 0; again < 3; again++)
            assert_file_is(kinds_to_write[i], 900);
        f = open_it();
        assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
        assert_is(f, kinds_to_write[i], 900);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_file_is(kinds_to_write[i], 900);
    }
}

TEST(counts_survive_a_killed_writer)
{
    struct seen_filter *f;
    uint64_t count[2];

    store("counting:8", 1000, 0);
    f = open_it();
    for (int i = 0; i < 3; i++)
        assert_int_equal(seen_filter_add(f, key, 2, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_remove(f, key, 1, NULL), SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    for (int i = 0; i < 3; i++) {
        die_after(add_to_500);
        f = open_it();
        assert_int_equal(seen_filter_count(f, key, 2, count, NULL), SEEN_OK);
        assert_int_equal(count[0], 2);
        assert_int_equal(count[1], 3);
        assert_int_equal(seen_filter_count(f, key + 100, 1, count, NULL),
                         SEEN_OK);
        assert_int_equal(count[0], i + 1);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    }
}

static void fill_up(struct seen_filter *f)
{
    struct seen_error why;

    if (seen_filter_add(f, key, KEYS, NULL, &why) != SEEN_FULL ||
        seen_filter_add(f, key + KEYS - 50, 50, NULL, &why) != SEEN_FULL)
        _exit(3);
}

TEST(keys_that_were_refused_do_not_come_back)
{
    static const char *const kinds[] = { "bloom", "blocked", "counting:8",
                                         "dynamic:4/counting:8",
                                         "routed:4/counting:8" };

    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct seen_plan plan = plan_of(kinds[i], 1000);
        struct seen_filter *f, *g = holding(&plan, 0);

        fill_up(g);
        store(kinds[i], 1000, 0);
        die_after(fill_up);
        f = open_it();
        assert_equal_text(f, g);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        assert_equal_text(f, g);
        seen_filter_free(f);
        seen_filter_free(g);
    }
}

TEST(a_torn_record_at_the_end_costs_that_record)
{
    const size_t record = 48 + 10 * 16;

    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        char journal[128];
        unsigned char *file, *bytes;
        size_t len, file_len;
        struct seen_error why;

        if (strstr(kinds_to_write[i], "layered"))
            continue; /* its records hold texts: other lengths */
        store(kinds_to_write[i], 1000, 100);
        die_after(add_to_500);
        beside(journal, ".journal");
        bytes = slurp(journal, &len);
        file = slurp(path, &file_len);
        for (size_t cut = 0; cut < record; cut += cut < 50 ? 1 : 13) {
            struct seen_filter *f;

            spill(journal, bytes, len - cut);
            spill(path, file, file_len);
            assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
            assert_int_equal(seen_store_warning(f, &why), cut != 0);
            assert_true(!cut || strstr(why.text, "not a complete record"));
            assert_holds(f, cut ? 490 : 500);
            if (strchr("cg", kinds_to_write[i][0]))
                assert_int_equal(seen_filter_offered(f), cut ? 490 : 500);
            seen_filter_free(f);
            f = open_it(); /* goes on where the last whole one ends */
            assert_int_equal(seen_store_warning(f, NULL), cut != 0);
            assert_int_equal(seen_filter_add(f, key + 490, 10, NULL, NULL),
                             SEEN_OK);
            assert_holds(f, 500);
            assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
            assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
            assert_false(seen_store_warning(f, NULL));
            seen_filter_free(f);
        }
        free(bytes);
        free(file);
    }
}

static void add_safely(struct seen_filter *f)
{
    struct seen_access safe = { .sync = SEEN_SYNC_ALWAYS };

    seen_store_close(f, NULL);
    if (seen_store_open(&f, path, &safe, NULL) != SEEN_OK)
        _exit(1);
    add_to_500(f);
}

/* All records were flushed: each but the last says so of the ones before,
   and the head of all. Without the head's word, the last one is torn. */
TEST(a_changed_byte_of_a_journal_is_not_a_torn_end)
{
    const size_t record = 48 + 10 * 16;
    char journal[128];
    struct seen_filter *f;
    unsigned char *bytes;
    size_t len;

    store("counting:8", 1000, 100);
    die_after(add_safely);
    beside(journal, ".journal");
    bytes = slurp(journal, &len);
    for (size_t i = 0; i < len; i += i < 500 ? 1 : 29) {
        struct seen_error why;
        enum seen_code code;

        bytes[i] ^= 4;
        spill(journal, bytes, len);
        code = loads(&why);
        if (code != SEEN_CORRUPT && code != SEEN_MISMATCH &&
            (i < 40 || i >= 56))
            fail_msg("byte %zu", i);
        if (i >= 40 && i < 56)
            assert_int_equal(code, SEEN_OK);
        if (code == SEEN_CORRUPT) {
            assert_int_equal(seen_store_open(&f, path, NULL, NULL),
                             SEEN_CORRUPT);
        }
        bytes[i] ^= 4;
    }
    for (size_t cut = 1; cut < 3 * record; cut += 7) {
        struct seen_error why;

        spill(journal, bytes, len - cut);
        assert_int_equal(loads(&why), SEEN_CORRUPT);
        assert_non_null(strstr(why.text, "cut short"));
    }
    for (size_t left = 40; left < 56; left++) { /* not even the head's word */
        struct seen_error why;

        spill(journal, bytes, left);
        assert_int_equal(loads(&why), SEEN_CORRUPT);
        assert_non_null(strstr(why.text, "cut short"));
    }
    memset(bytes + 40, 0, 16); /* the head does not say */
    for (size_t i = len - record; i < len; i += 9) {
        bytes[i] ^= 4;
        spill(journal, bytes, len);
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        assert_true(seen_store_warning(f, NULL)); /* not silent */
        seen_filter_free(f);
        bytes[i] ^= 4;
    }
    free(bytes);
}

TEST(a_journal_is_never_applied_to_another_file)
{
    char journal[128], aside[128];
    struct seen_filter *f;

    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        store(kinds_to_write[i], 1000, 100);
        die_after(add_to_500);
        beside(journal, ".journal");
        beside(aside, ".aside");
        assert_int_equal(rename(journal, aside), 0);
        store(kinds_to_write[i], 1000, 99); /* would remove it */
        assert_int_equal(rename(aside, journal), 0);
        assert_file_is(kinds_to_write[i], 99);
        f = open_it();
        assert_is(f, kinds_to_write[i], 99);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(files(), 1);
    }
}

TEST(saving_over_a_killed_writers_file_drops_its_journal)
{
    store("bloom", 1000, 100);
    die_after(add_to_500);
    store("bloom", 1000, 99);
    assert_int_equal(files(), 1);
    assert_file_is("bloom", 99);
}

/* A journal as no writer makes it, beside a file that cannot be changed like
   this: it is refused, and said to be the journal's fault. */
TEST(changes_that_a_filter_cannot_make_are_refused)
{
    static const struct {
        const char *kind;
        bool remove;
    } cases[] = {
        { "fuse", false },          { "ribbon", false },
        { "routed:4/fuse", false }, { "spatial:2/routed:2/fuse", false },
        { "bloom", true },          { "routed:4/blocked", true },
        { "growing/bloom", true },  { "counting:4,minimal", true },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct journal j = { .fd = -1 };
        struct store_paths paths;
        struct store_head h;
        struct seen_filter *f;
        struct seen_error why = { .text = "" };
        unsigned char *bytes;
        size_t len;

        store(cases[i].kind, 1000, 100);
        bytes = slurp(path, &len);
        store_head_take(&h, bytes);
        free(bytes);
        assert_int_equal(store_paths_init(&paths, path, NULL), SEEN_OK);
        assert_int_equal(
            journal_begin(&j, &paths, 2, h.identity, h.applied, NULL),
            SEEN_OK);
        assert_int_equal(
            journal_append(&j, cases[i].remove, false, key, 10, NULL),
            SEEN_OK);
        journal_close(&j);
        assert_int_equal(loads(&why), SEEN_CORRUPT);
        assert_non_null(strstr(why.text, "its journal has changes that"));
        assert_int_equal(seen_store_open(&f, path, NULL, &why), SEEN_CORRUPT);
        assert_non_null(strstr(why.text, "its journal has changes that"));
        assert_int_equal(unlink(paths.journal), 0);
        store_paths_clear(&paths);

        /* And no writer makes one. */
        store(cases[i].kind, 1000, 100);
        f = open_it();
        assert_int_equal(cases[i].remove
                             ? seen_filter_remove(f, key, 1, NULL)
                             : seen_filter_add(f, key, 1, NULL, NULL),
                         SEEN_UNABLE);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(files(), 1);
    }
}

static struct timespec time_of(void)
{
    struct stat it;

    assert_int_equal(stat(path, &it), 0);
    return it.st_mtim;
}

/* Servers derive the ETag of a file from its time. */
TEST(what_is_refused_leaves_the_file_its_time)
{
    static const char *const kinds[] = { "blocked",    "bloom",
                                         "counting:8", "routed:4/counting:8",
                                         "layered:3",  "dynamic:2/bloom" };

    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct seen_plan plan = plan_of(kinds[i], 1000);
        struct seen_filter *f = holding(&plan, 0);
        struct timespec then, now;
        struct seen_error why;
        char journal[128];
        size_t held;

        /* To its limit: the rest is refused, and holds no key by accident. */
        assert_int_equal(seen_filter_add(f, key, KEYS, NULL, &why), SEEN_FULL);
        held = (size_t)why.at;
        assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
        seen_filter_free(f);
        then = time_of();
        usleep(10000);
        f = open_it();
        if (!strstr(kinds[i], "routed"))
            assert_int_equal(seen_filter_add(f, key + held, 1, NULL, NULL),
                             SEEN_FULL);
        if (strstr(kinds[i], "counting"))
            assert_int_equal(seen_filter_remove(f, key + held, 1, &why),
                             SEEN_ABSENT);
        beside(journal, ".journal");
        assert_int_equal(access(journal, F_OK), -1);
        assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        now = time_of();
        assert_memory_equal(&then, &now, sizeof now);
        assert_int_equal(files(), 1);
    }
}

TEST(a_file_left_unsealed_is_refused_without_its_journal)
{
    char journal[128];
    struct seen_filter *f;
    struct seen_error why;

    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        store(kinds_to_write[i], 1000, 100);
        die_after(add_to_500);
        beside(journal, ".journal");
        assert_int_equal(unlink(journal), 0);
        assert_int_equal(loads(&why), SEEN_CORRUPT);
        assert_non_null(strstr(why.text, "journal is missing"));
        assert_non_null(strstr(why.text, "seen merge -o COPY FILE"));
        assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_CORRUPT);
    }
}

TEST(what_killed_writers_leave_never_blocks)
{
    char name[128];

    store("bloom", 1000, 100);
    beside(name, ".lock");
    spill(name, "", 0);
    beside(name, ".new");
    spill(name, "half a file", 11);
    die_after(add_to_500);
    beside(name, ".new");
    spill(name, "half a file", 11);
    assert_int_equal(seen_store_close(open_it(), NULL), SEEN_OK);
    assert_file_is("bloom", 500);
    store("counting:8", 1000, 100);
    assert_int_equal(files(), 1);
}

/* Records of 64 KB; a journal of 1 MiB is the least that is cut. */
TEST(a_journal_is_cut_before_it_grows_without_bound)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        struct seen_access over = { .sync = SEEN_SYNC_NO, .over = true };
        struct seen_filter *f;
        struct stat it;
        char journal[128];
        off_t most = 0;

        store(kinds_to_write[i], 1000, 100);
        beside(journal, ".journal");
        assert_int_equal(seen_store_open(&f, path, &over, NULL), SEEN_OK);
        for (int j = 0; j < 50; j++) {
            assert_int_equal(seen_filter_add(f, key, KEYS, NULL, NULL),
                             SEEN_OK);
            if (!stat(journal, &it)) /* there is none after a rewrite */
                most = it.st_size > most ? it.st_size : most;
        }
        assert_in_range(most, 500000, 1500000);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(loads(NULL), SEEN_OK);
    }
}

TEST(past_capacity_goes_on_only_when_asked)
{
    static const char *const kinds[] = { "bloom", "blocked", "counting",
                                         "dynamic:2/bloom", "routed:2/bloom" };

    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct seen_access over = { .sync = SEEN_SYNC_NO, .over = true };
        struct seen_filter *f;

        store(kinds[i], 100, 100);
        f = open_it();
        assert_int_equal(seen_filter_add(f, key, KEYS, NULL, NULL), SEEN_FULL);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_open(&f, path, &over, NULL), SEEN_OK);
        assert_int_equal(seen_filter_add(f, key, KEYS, NULL, NULL), SEEN_OK);
        assert_holds(f, KEYS);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        assert_holds(f, KEYS);
        seen_filter_free(f);
    }
}

/* It was written into the plan of what grows, and stayed for good. */
TEST(leave_to_go_past_capacity_ends_with_the_writer)
{
    static const char *const kinds[] = { "dynamic:4/bloom",
                                         "dynamic:2/routed:2/blocked",
                                         "routed:2/dynamic:2/bloom" };

    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (size_t n = 1; n <= 400; n += 399) {
            struct seen_access over = { .sync = SEEN_SYNC_NO, .over = true };
            struct seen_filter *f;
            char *text;

            store(kinds[i], 200, 0);
            assert_int_equal(seen_store_open(&f, path, &over, NULL), SEEN_OK);
            assert_int_equal(seen_filter_add(f, key, n, NULL, NULL), SEEN_OK);
            assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
            f = open_it();
            assert_int_equal(seen_store_describe(f, &text, NULL), SEEN_OK);
            assert_null(strstr(text, "over="));
            free(text);
            for (int j = 0; j < KEYS; j++)
                seen_key_number(&strange[j], (uint64_t)j);
            assert_int_equal(seen_filter_add(f, strange, KEYS, NULL, NULL),
                             SEEN_FULL);
            assert_holds(f, n);
            assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        }
}

TEST(metadata_set_while_open_is_stored)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        bool once = seen_kind_can(every_kind[i], SEEN_BUILT_ONCE);
        struct seen_filter *f, *g;

        store(every_kind[i], 1000, 100);
        f = open_it();
        assert_int_equal(seen_meta_set(f, "title", "One", NULL), SEEN_OK);
        assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_load(&g, path, NULL, NULL), SEEN_OK);
        assert_string_equal(seen_meta_get(g, "title"), "One");
        seen_filter_free(g);
        if (!once)
            add_to_500(f);
        assert_int_equal(seen_meta_set(f, "title", "Two", NULL), SEEN_OK);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_load(&g, path, NULL, NULL), SEEN_OK);
        assert_string_equal(seen_meta_get(g, "title"), "Two");
        assert_holds(g, once ? 100 : 500);
        seen_filter_free(g);
        assert_int_equal(files(), 1);
    }
}

TEST(readers_keep_up_with_a_writer)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        struct seen_filter *map, *copy, *f;
        bool changed;

        store(kinds_to_write[i], 1000, 100);
        assert_int_equal(seen_store_map(&map, path, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_store_load(&copy, path, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_store_refresh(map, &changed, NULL), SEEN_OK);
        assert_false(changed);
        f = open_it();
        for (size_t n = 100; n < 900; n += 50) {
            assert_int_equal(seen_filter_add(f, key + n, 50, NULL, NULL),
                             SEEN_OK);
            if (n % 200 == 150)
                assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
            assert_int_equal(seen_store_refresh(map, &changed, NULL), SEEN_OK);
            assert_true(changed);
            assert_int_equal(seen_store_refresh(map, &changed, NULL), SEEN_OK);
            assert_false(changed);
            assert_int_equal(seen_store_refresh(copy, NULL, NULL), SEEN_OK);
            assert_is(map, kinds_to_write[i], n + 50);
            assert_is(copy, kinds_to_write[i], n + 50);
        }
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_refresh(map, NULL, NULL), SEEN_OK);
        assert_is(map, kinds_to_write[i], 900);
        store("bloom", 2000, 10);
        assert_int_equal(seen_store_refresh(map, NULL, NULL), SEEN_MISMATCH);
        assert_holds(map, 900);
        seen_filter_free(map);
        seen_filter_free(copy);
    }
}

/*
 * What `layered` knows of its last layer it has counted once, in cells that
 * change under a reader, or are exchanged, or come to the same address again.
 */
TEST(readers_know_the_rate_of_what_they_caught_up_with)
{
    struct seen_filter *map, *copy, *f, *fresh;

    store("layered:3", 4000, 10);
    assert_int_equal(seen_store_map(&map, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_load(&copy, path, NULL, NULL), SEEN_OK);
    assert_in_range(seen_filter_entries(map), 9, 11);
    assert_in_range(seen_filter_entries(copy), 9, 11);
    for (size_t n = 10, round = 0; 2 * n < KEYS; n *= 2, round++) {
        f = open_it();
        for (size_t i = n; i < 2 * n; i++)
            assert_int_equal(seen_filter_add(f, key + i, 1, NULL, NULL),
                             SEEN_OK);
        assert_int_equal(seen_store_refresh(map, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_store_refresh(copy, NULL, NULL), SEEN_OK);
        if (round % 3 == 0)
            assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_load(&fresh, path, NULL, NULL), SEEN_OK);
        if (round % 2) {
            assert_float_equal(seen_filter_rate(map), seen_filter_rate(fresh),
                               0);
            assert_float_equal(seen_filter_entries(copy),
                               seen_filter_entries(fresh), 0);
        }
        seen_filter_free(fresh);
        if (round % 3)
            assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    }
    seen_filter_free(map);
    seen_filter_free(copy);
}

TEST(a_keyed_filter_is_replayed_without_its_secret)
{
    struct seen_plan plan = plan_of("counting:8", 1000);
    struct seen_access how = { .secret = secret, .sync = SEEN_SYNC_NO };
    struct seen_filter *f;

    plan.keyed = true;
    f = holding(&plan, 100);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    if (!fork()) {
        if (seen_store_open(&f, path, &how, NULL) != SEEN_OK)
            _exit(1);
        add_to_500(f);
        _exit(0);
    }
    assert_true(wait(NULL) > 0);
    assert_int_equal(seen_store_close(open_it(), NULL), SEEN_OK);
    assert_int_equal(seen_store_load(&f, path, &how, NULL), SEEN_OK);
    assert_holds(f, 500);
    seen_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(what_is_added_is_in_the_file_once_it_is_closed),
        FRESH(a_file_closed_unchanged_keeps_its_bytes),
        FRESH(there_is_one_writer_at_a_time),
        FRESH(what_a_killed_writer_added_is_there_for_readers_and_the_next),
        FRESH(any_mixture_of_old_and_new_sectors_is_made_whole),
        FRESH(a_record_is_applied_once_whatever_was_checkpointed),
        FRESH(counts_survive_a_killed_writer),
        FRESH(keys_that_were_refused_do_not_come_back),
        FRESH(a_torn_record_at_the_end_costs_that_record),
        FRESH(a_changed_byte_of_a_journal_is_not_a_torn_end),
        FRESH(a_journal_is_never_applied_to_another_file),
        FRESH(saving_over_a_killed_writers_file_drops_its_journal),
        FRESH(changes_that_a_filter_cannot_make_are_refused),
        FRESH(what_is_refused_leaves_the_file_its_time),
        FRESH(a_file_left_unsealed_is_refused_without_its_journal),
        FRESH(what_killed_writers_leave_never_blocks),
        FRESH(a_journal_is_cut_before_it_grows_without_bound),
        FRESH(past_capacity_goes_on_only_when_asked),
        FRESH(leave_to_go_past_capacity_ends_with_the_writer),
        FRESH(metadata_set_while_open_is_stored),
        FRESH(readers_keep_up_with_a_writer),
        FRESH(readers_know_the_rate_of_what_they_caught_up_with),
        FRESH(a_keyed_filter_is_replayed_without_its_secret),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
