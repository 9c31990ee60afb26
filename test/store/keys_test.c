/* keys_test.c - a filter that keeps its keys is never full. */
#include "stored.h"

#include <math.h>

#include "lib/disk/disk.h"
#include "lib/store/keys.h"

static struct seen_filter *open_it(void)
{
    struct seen_filter *f;
    struct seen_error why;

    if (seen_store_open(&f, path, NULL, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return f;
}

static void add(struct seen_filter *f, size_t from, size_t to)
{
    struct seen_error why;

    if (seen_filter_add(f, key + from, to - from, NULL, &why) != SEEN_OK)
        fail_msg("%zu to %zu: %s", from, to, why.text);
}

static struct seen_plan growing_plan(const char *kind, uint64_t capacity)
{
    struct seen_plan plan = plan_of(kind, capacity);

    plan.tight = true;
    return plan;
}

/* An empty file that keeps its keys. */
static void create(const struct seen_plan *plan)
{
    struct seen_filter *f = holding(plan, 0);

    assert_int_equal(seen_store_keep_keys(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_create(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
}

/* The same, with n keys in it, and closed. */
static void create_with(const char *kind, uint64_t capacity, size_t n)
{
    const struct seen_plan plan = growing_plan(kind, capacity);
    struct seen_filter *f;

    create(&plan);
    f = open_it();
    add(f, 0, n);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
}

static void assert_grows(const struct seen_filter *f)
{
    struct seen_error why;

    if (!seen_store_grows(f, &why))
        fail_msg("%s", why.text);
}

static void assert_cannot_grow(const struct seen_filter *f,
                               const char *because)
{
    struct seen_error why;

    assert_false(seen_store_grows(f, &why));
    if (!strstr(why.text, because))
        fail_msg("\"%s\" is not about \"%s\"", why.text, because);
}

TEST(what_keeps_its_keys_takes_at_most_twice_what_they_need)
{
    static const struct {
        const char *kind;
        double rate;
    } subjects[] = { { "blocked", 0.01 },
                     { "bloom", 0.001 },
                     { "spatial:3/blocked", 1e-6 } };

    for (size_t i = 0; i < LENGTH(subjects); i++) {
        struct seen_plan plan = growing_plan(subjects[i].kind, 100);
        struct seen_filter *f, *right;

        plan.rate = subjects[i].rate;
        create(&plan);
        f = open_it();
        for (size_t n = 0; n < KEYS; n += 8) {
            add(f, n, n + 8);
            assert_holds(f, n + 8);
            assert_true(seen_filter_rate(f) <= 1.1 * plan.rate);
            if (n < 200 || n % 500)
                continue;
            plan.capacity = n + 8;
            right = holding(&plan, 0);
            assert_true((double)seen_filter_bytes(f) <=
                        2.1 * (double)seen_filter_bytes(right) + 256);
            seen_filter_free(right);
        }
        assert_grows(f);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        f = open_it();
        assert_holds(f, KEYS);
        assert_int_equal(seen_filter_offered(f), KEYS);
        seen_filter_free(f);
        sweep(NULL);
    }
}

TEST(one_batch_may_be_larger_than_any_growth)
{
    const struct seen_plan plan = growing_plan("blocked", 20);
    struct seen_filter *f;

    create(&plan);
    f = open_it();
    add(f, 0, KEYS);
    assert_holds(f, KEYS);
    assert_in_range(seen_filter_plan(f)->capacity, KEYS, 3 * KEYS);
    seen_filter_free(f);
}

TEST(a_key_that_is_added_again_takes_no_room_in_the_filter)
{
    const struct seen_plan plan = growing_plan("blocked", 20);
    struct seen_filter *f;

    create(&plan);
    f = open_it();
    for (int i = 0; i < 100; i++)
        add(f, 0, 100);
    assert_in_range(seen_filter_plan(f)->capacity, 100, 300);
    seen_filter_free(f);
}

TEST(a_log_that_is_full_of_repetitions_is_written_anew)
{
    const struct seen_plan plan = growing_plan("blocked", 5000);
    struct seen_key nothing = { .lo = 0 };
    struct seen_filter *f;
    struct stat it;
    char name[128];

    create(&plan);
    f = open_it();
    assert_int_equal(seen_filter_add(f, &nothing, 1, NULL, NULL), SEEN_OK);
    for (int i = 0; i < 20; i++)
        add(f, 0, KEYS);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    beside(name, ".keys");
    assert_int_equal(stat(name, &it), 0);
    assert_in_range(it.st_size, KEYS_HEAD + (KEYS + 1) * KEY_BYTES,
                    KEYS_HEAD + 6 * KEYS * KEY_BYTES);
    assert_int_equal(it.st_mode & 07777, 0600);
    assert_int_equal(files(), 2);
    f = open_it();
    assert_grows(f);
    for (uint64_t i = 0; i < 5000; i++) {
        struct seen_key number;

        seen_key_number(&number, i);
        assert_int_equal(seen_filter_add(f, &number, 1, NULL, NULL), SEEN_OK);
    }
    assert_true(seen_filter_plan(f)->capacity > 9000);
    assert_holds(f, KEYS);
    seen_filter_free(f);
}

static unsigned refusals; /* of a new log */

static ssize_t no_new_log(int fd, const void *from, size_t len, off_t at)
{
    char link[64], name[256];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, name, sizeof name);
    if (n < 5 || memcmp(name + n - 5, ".grow", 5) != 0 || at < KEYS_HEAD)
        return pwrite(fd, from, len, at);
    refusals++;
    errno = ENOSPC;
    return -1;
}

/* Each try reads the whole log, and holds the writer. */
TEST(repetitions_that_cannot_be_removed_are_tried_again_at_twice_the_length)
{
    enum { ROUNDS = 64 };
    const struct seen_plan plan = growing_plan("blocked", 20000);
    struct seen_filter *f;

    create(&plan);
    f = open_it();
    refusals = 0;
    for (int i = 0; i < ROUNDS; i++) {
        disk_pwrite = no_new_log;
        add(f, 0, KEYS);
        assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
        disk_pwrite = pwrite;
    }
    assert_in_range(refusals, 2, 3);
    assert_grows(f);
    assert_holds(f, KEYS);
    seen_filter_free(f);
}

TEST(a_keyed_filter_grows_too)
{
    const struct seen_access access = { .secret = secret };
    struct seen_plan plan = growing_plan("blocked", 50);
    struct seen_filter *f;
    char text[64];
    bool seen;

    plan.keyed = true;
    create(&plan);
    assert_int_equal(seen_store_open(&f, path, &access, NULL), SEEN_OK);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 400; i++) {
            snprintf(text, sizeof text, "http://%d.example/%d", round, i);
            assert_int_equal(seen_filter_add_url(f, text, NULL, NULL),
                             SEEN_OK);
        }
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_open(&f, path, &access, NULL), SEEN_OK);
        assert_grows(f);
    }
    assert_true(seen_filter_plan(f)->capacity >= 800);
    for (int i = 0; i < 400; i++) {
        snprintf(text, sizeof text, "http://%d.example/%d", i % 2, i);
        assert_int_equal(seen_filter_has_url(f, text, &seen, NULL), SEEN_OK);
        assert_true(seen);
    }
    seen_filter_free(f);
    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    seen_filter_free(f); /* without its secret it is left alone */
}

/* `seen publish` opens what a killed writer left, and knows no secrets. */
TEST(a_keyed_filter_grows_only_with_its_secret)
{
    const struct seen_access access = { .secret = secret };
    struct seen_plan plan = growing_plan("blocked", 50);
    struct seen_filter *f;
    char text[64];
    bool seen;

    plan.keyed = true;
    create(&plan);
    assert_int_equal(seen_store_open(&f, path, &access, NULL), SEEN_OK);
    assert_int_equal(seen_filter_allow_threads(f, NULL), SEEN_OK);
    for (int i = 0; i < 400; i++) {
        snprintf(text, sizeof text, "http://a.example/%d", i);
        assert_int_equal(seen_filter_add_url(f, text, NULL, NULL), SEEN_OK);
    }
    seen_store_abandon(f); /* full, and with a journal */
    f = open_it();
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_open(&f, path, &access, NULL), SEEN_OK);
    assert_int_equal(seen_filter_plan(f)->capacity, 50);
    assert_grows(f);
    assert_int_equal(seen_filter_add_url(f, "http://b.example/", NULL, NULL),
                     SEEN_OK);
    assert_true(seen_filter_plan(f)->capacity >= 400);
    for (int i = 0; i < 400; i++) {
        snprintf(text, sizeof text, "http://a.example/%d", i);
        assert_int_equal(seen_filter_has_url(f, text, &seen, NULL), SEEN_OK);
        assert_true(seen);
    }
    seen_filter_free(f);
}

/* Of n keys that were never added, np are wrong on average, with variance
   np(1 - p); five standard deviations above are passed once in three million
   times. */
TEST(the_planned_rate_holds_at_every_size)
{
    enum { ASKED = 20000 };
    const struct seen_plan plan = growing_plan("blocked", 64);
    struct seen_filter *f;

    create(&plan);
    f = open_it();
    for (size_t n = 0; n < KEYS; n += 100) {
        double wrong = 0, most = ASKED * 0.01;

        add(f, n, n + 100);
        for (uint64_t i = 0; i < ASKED; i++) {
            struct seen_key strange;
            bool seen;

            seen_key_number(&strange, i);
            assert_int_equal(seen_filter_has(f, &strange, 1, &seen, NULL),
                             SEEN_OK);
            wrong += seen;
        }
        assert_true(wrong <= most + 5 * sqrt(most));
    }
    seen_filter_free(f);
}

TEST(the_log_has_16_bytes_per_key_and_nobody_else_may_read_it)
{
    struct stat it;
    char name[128];

    umask(0);
    create_with("blocked", 1000, 500);
    umask(022);
    beside(name, ".keys");
    assert_int_equal(stat(name, &it), 0);
    assert_int_equal(it.st_mode & 07777, 0600);
    assert_int_equal(it.st_size, KEYS_HEAD + 500 * KEY_BYTES);
    assert_int_equal(files(), 2);
}

TEST(a_reader_learns_that_the_filter_has_grown)
{
    struct seen_filter *f, *map;

    create_with("blocked", 100, 50);
    assert_int_equal(seen_store_map(&map, path, NULL, NULL), SEEN_OK);
    assert_grows(map);
    f = open_it();
    add(f, 50, 80);
    assert_grows(map); /* also while it has not heard of the writer */
    assert_int_equal(seen_store_refresh(map, NULL, NULL), SEEN_OK);
    assert_grows(map);
    assert_holds(map, 80);
    add(f, 80, 400);
    assert_holds(map, 80); /* the old file is still there for it */
    assert_int_equal(seen_store_refresh(map, NULL, NULL), SEEN_MISMATCH);
    seen_filter_free(map);
    add(f, 400, 410);
    assert_int_equal(seen_store_map(&map, path, NULL, NULL), SEEN_OK);
    assert_holds(map, 410);
    seen_filter_free(map);
    seen_filter_free(f);
}

/*
 * test/data/keys/kept.seen and its log were written once, with SEEN_WRITE_GOLDEN=1.
 * They must be read, and made in the same way, for good.
 */
static void golden_name(char *name, const char *file)
{
    const char *root = getenv("SEEN_SOURCE");

    snprintf(name, 400, "%s/test/data/keys/%s", root ? root : ".", file);
}

static void assert_golden(const char *golden, const char *made)
{
    unsigned char *a, *b;
    size_t n, m;

    b = slurp(made, &m);
    if (getenv("SEEN_WRITE_GOLDEN"))
        spill(golden, b, m);
    a = slurp(golden, &n);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
}

TEST(a_filter_that_was_kept_earlier_is_read_and_grows)
{
    const struct seen_plan plan = growing_plan("blocked", 100);
    struct seen_filter *f = holding(&plan, 0);
    char log[128], golden[400];

    assert_int_equal(seen_store_keep_keys(f, NULL), SEEN_OK);
    assert_int_equal(seen_meta_set(f, "title", "kept", NULL), SEEN_OK);
    assert_int_equal(seen_store_create(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    f = open_it();
    add(f, 0, 60);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    beside(log, ".keys");
    golden_name(golden, "kept.seen");
    assert_golden(golden, path);
    golden_name(golden, "kept.seen.keys");
    assert_golden(golden, log);
    f = open_it(); /* equal bytes: as well the golden one */
    add(f, 60, 1000);
    assert_holds(f, 1000);
    assert_grows(f);
    seen_filter_free(f);
}

/* --- logs that are not whole ---------------------------------------------- */

static void lose_it(const char *log)
{
    assert_int_equal(unlink(log), 0);
}

static void cut_it(const char *log)
{
    assert_int_equal(truncate(log, KEYS_HEAD + 10 * KEY_BYTES), 0);
}

static void change(const char *log, size_t at)
{
    size_t len;
    unsigned char *bytes = slurp(log, &len);

    bytes[at] ^= 1;
    spill(log, bytes, len);
    free(bytes);
}

static void damage_its_head(const char *log)
{
    change(log, 3);
}

static void damage_its_slots(const char *log)
{
    change(log, KEYS_SLOT + 8);
    change(log, 2 * KEYS_SLOT + 8);
}

static void make_it_of_the_next_version(const char *log)
{
    size_t len;
    unsigned char *bytes = slurp(log, &len);
    uint64_t sum;

    bytes[8] = KEYS_VERSION + 1;
    sum = store_checksum(bytes, 16);
    memcpy(bytes + 16, &sum, sizeof sum);
    spill(log, bytes, len);
    free(bytes);
}

static void make_it_a_folder(const char *log)
{
    lose_it(log);
    assert_int_equal(symlink("/dev/null", log), 0);
}

/* A version that knows nothing of logs adds a key. */
static void pass_it_by(const char *log)
{
    struct seen_filter *f;
    char away[140];

    snprintf(away, sizeof away, "%s.away", log);
    assert_int_equal(rename(log, away), 0);
    f = open_it();
    add(f, 60, 61);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(rename(away, log), 0);
}

/* The file comes back from a backup, and the log is newer. */
static void restore_the_file(const char *log)
{
    size_t len;
    unsigned char *bytes = slurp(path, &len);
    struct seen_filter *f = open_it();

    (void)log;
    add(f, 60, 65);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    f = open_it();
    add(f, 65, 70);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    spill(path, bytes, len);
    free(bytes);
}

TEST(a_filter_without_its_whole_log_answers_and_says_why_it_cannot_grow)
{
    static const struct {
        void (*harm)(const char *log);
        const char *because;
    } cases[] = {
        { lose_it, "is missing" },
        { cut_it, "was cut short" },
        { damage_its_head, "is damaged" },
        { damage_its_slots, "that of another file" },
        { make_it_of_the_next_version, "has a later version" },
        { make_it_a_folder, "not a regular file" },
        { pass_it_by, "that of another file" },
        { restore_the_file, "that of another file" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct seen_filter *f;
        struct seen_error why;
        enum seen_code code = SEEN_OK;
        char log[128];
        size_t n = 61;

        create_with("blocked", 100, 60);
        beside(log, ".keys");
        cases[i].harm(log);
        assert_int_equal(seen_store_map(&f, path, NULL, NULL), SEEN_OK);
        assert_cannot_grow(f, cases[i].because); /* a reader knows it, too */
        seen_filter_free(f);
        f = open_it();
        assert_holds(f, 60);
        assert_cannot_grow(f, cases[i].because);
        while (code == SEEN_OK && n < 1000)
            code = seen_filter_add(f, key + n++, 1, NULL, &why);
        assert_int_equal(code, SEEN_FULL);
        assert_non_null(strstr(why.text, cases[i].because));
        assert_holds(f, 60);
        assert_int_equal(seen_filter_plan(f)->capacity, 100);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        f = open_it();
        assert_cannot_grow(f, ""); /* for good */
        seen_filter_free(f);
        sweep(NULL);
    }
}

TEST(the_log_of_another_filter_is_not_used)
{
    char log[128], other[160];
    struct seen_filter *f;

    create_with("blocked", 100, 70);
    beside(log, ".keys");
    snprintf(other, sizeof other, "%s.other", log);
    assert_int_equal(rename(log, other), 0);
    assert_int_equal(unlink(path), 0);
    create_with("blocked", 100, 60);
    assert_int_equal(rename(other, log), 0);
    f = open_it();
    assert_cannot_grow(f, "that of another file");
    seen_filter_free(f);
}

static void assert_full(struct seen_filter *f, size_t from)
{
    enum seen_code code = SEEN_OK;
    struct seen_error why;

    while (code == SEEN_OK && from < 1000)
        code = seen_filter_add(f, key + from++, 1, NULL, &why);
    assert_int_equal(code, SEEN_FULL);
    assert_non_null(strstr(why.text, "is damaged"));
}

/* It is found when the filter is full. Then the log is as good as lost, for
   later writers, too. */
TEST(with_a_damaged_key_a_filter_is_full_as_without_a_log)
{
    for (int threads = 0; threads < 2; threads++) {
        struct seen_filter *f;
        char log[128];

        create_with("blocked", 100, 60);
        beside(log, ".keys");
        change(log, KEYS_HEAD + 100);
        f = open_it();
        assert_grows(f); /* nothing has read it yet */
        if (threads)
            assert_int_equal(seen_filter_allow_threads(f, NULL), SEEN_OK);
        add(f, 60, 110);
        assert_int_equal(seen_store_outgrown(f), threads);
        if (threads)
            assert_int_equal(seen_store_grow(f, NULL, NULL), SEEN_CORRUPT);
        assert_cannot_grow(f, "is damaged");
        assert_full(f, 110);
        for (int round = 0; round < 2; round++) {
            assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
            f = open_it();
            assert_holds(f, 110);
            assert_cannot_grow(f, "is damaged");
            assert_full(f, 110);
            assert_int_equal(seen_meta_set(f, "title", "a", NULL), SEEN_OK);
        }
        assert_int_equal(seen_filter_plan(f)->capacity, 100);
        seen_filter_free(f);
        sweep(NULL);
    }
}

TEST(a_growth_without_room_on_the_disk_is_tried_again)
{
    struct seen_filter *f;
    char next[128];

    create_with("blocked", 100, 60);
    f = open_it();
    add(f, 60, 61); /* the journal begins */
    beside(next, ".grow");
    assert_int_equal(mkdir(next, 0755), 0); /* nothing can be written there */
    add(f, 61, 400);
    assert_cannot_grow(f, "");
    assert_int_equal(seen_filter_plan(f)->capacity, 100);
    assert_holds(f, 400);
    assert_int_equal(rmdir(next), 0);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    f = open_it();
    add(f, 400, 401);
    assert_grows(f);
    assert_true(seen_filter_plan(f)->capacity > 400);
    assert_holds(f, 401);
    seen_filter_free(f);
}

TEST(a_growth_that_failed_is_tried_again_by_a_writer_that_stays)
{
    enum { SOME = 1000, MANY = 150000 };
    struct seen_key number[SOME];
    struct seen_filter *f;
    char next[128];

    create_with("blocked", 100, 60);
    f = open_it();
    add(f, 60, 61);
    beside(next, ".grow");
    assert_int_equal(mkdir(next, 0755), 0);
    add(f, 61, 400);
    assert_cannot_grow(f, "");
    assert_int_equal(rmdir(next), 0);
    for (uint64_t i = 0; i < MANY; i += SOME) { /* two checkpoints */
        for (uint64_t j = 0; j < SOME; j++)
            seen_key_number(&number[j], i + j);
        assert_int_equal(seen_filter_add(f, number, SOME, NULL, NULL),
                         SEEN_OK);
    }
    assert_grows(f);
    assert_true(seen_filter_plan(f)->capacity >= MANY);
    assert_holds(f, 400);
    seen_filter_free(f);
}

TEST(a_saved_copy_cannot_grow)
{
    struct seen_filter *f;

    create_with("blocked", 100, 60);
    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    assert_int_equal(files(), 1); /* the log of the file that was replaced */
    f = open_it();
    assert_holds(f, 60);
    assert_cannot_grow(f, "is missing");
    seen_filter_free(f);
}

/* --- what can be done with it ---------------------------------------------- */

static enum seen_code collect(void *to, const struct seen_key *keys, size_t n,
                              struct seen_error *why)
{
    return seen_filter_add(to, keys, n, NULL, why);
}

TEST(all_keys_can_be_had_again_for_another_filter)
{
    struct seen_plan plan = plan_of("bloom", KEYS);
    struct seen_filter *f, *g;

    create_with("blocked", 100, 3000);
    f = open_it();
    add(f, 3000, KEYS); /* some are in the journal only */
    plan.rate = 1e-6;
    plan.seed = 12345;
    g = holding(&plan, 0);
    assert_int_equal(seen_store_keys(f, collect, g, NULL), SEEN_OK);
    assert_holds(g, KEYS);
    assert_int_equal(seen_filter_offered(g), KEYS);
    seen_filter_free(g);
    add(f, 0, 10); /* and the writer goes on */
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
}

TEST(another_filter_of_its_keys_has_its_secret_too)
{
    const struct seen_access access = { .secret = secret };
    struct seen_plan plan = growing_plan("blocked", 50);
    struct seen_filter *f, *g;
    char text[64];
    bool seen;

    plan.keyed = true;
    create(&plan);
    assert_int_equal(seen_store_open(&f, path, &access, NULL), SEEN_OK);
    for (int i = 0; i < 400; i++) {
        snprintf(text, sizeof text, "http://a.example/%d", i);
        assert_int_equal(seen_filter_add_url(f, text, NULL, NULL), SEEN_OK);
    }
    plan = plan_of("ribbon", 0);
    strcpy(plan.profile, "surt");
    assert_int_equal(seen_store_rebuild(f, &plan, &g, NULL), SEEN_MISMATCH);
    strcpy(plan.profile, seen_filter_plan(f)->profile);
    assert_int_equal(seen_store_rebuild(f, &plan, &g, NULL), SEEN_OK);
    assert_true(seen_filter_plan(g)->keyed);
    assert_int_equal(seen_filter_offered(g), 400);
    for (int i = 0; i < 400; i++) {
        snprintf(text, sizeof text, "http://a.example/%d", i);
        assert_int_equal(seen_filter_has_url(g, text, &seen, NULL), SEEN_OK);
        assert_true(seen);
    }
    seen_filter_free(g);
    strcpy(plan.kind, "bloom:md5");
    plan.capacity = 100;
    assert_int_equal(seen_store_rebuild(f, &plan, &g, NULL), SEEN_UNABLE);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    f = open_it();
    strcpy(plan.kind, "blocked");
    assert_int_equal(seen_store_rebuild(f, &plan, &g, NULL), SEEN_MISMATCH);
    assert_null(g);
    seen_filter_free(f);
}

TEST(the_log_can_be_removed)
{
    struct seen_filter *f;

    create_with("blocked", 100, 60);
    f = open_it();
    assert_int_equal(seen_store_forget_keys(f, NULL), SEEN_OK);
    assert_cannot_grow(f, "was removed");
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(files(), 1);
    f = open_it();
    assert_holds(f, 60);
    assert_cannot_grow(f, "does not keep");
    assert_int_equal(seen_filter_add(f, key, 2000, NULL, NULL), SEEN_FULL);
    seen_filter_free(f);
}

TEST(metadata_and_checkpoints_leave_the_log_whole)
{
    struct seen_filter *f;

    create_with("blocked", 100, 0);
    f = open_it();
    assert_int_equal(seen_meta_set(f, "title", "a", NULL), SEEN_OK);
    assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
    for (size_t n = 0; n < 900; n += 30) {
        add(f, n, n + 30);
        if (n % 4 == 0)
            assert_int_equal(
                seen_meta_set(f, "title", n % 8 ? "b" : "c", NULL), SEEN_OK);
        if (n % 3 == 0)
            assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
        if (n % 7 == 0) {
            assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
            f = open_it();
        }
        assert_grows(f);
    }
    assert_holds(f, 900);
    assert_true(seen_filter_plan(f)->capacity >= 900);
    assert_string_equal(seen_meta_get(f, "title"), "c");
    seen_filter_free(f);
}

TEST(with_several_threads_it_grows_when_its_owner_says_so)
{
    const struct seen_plan plan = growing_plan("blocked", 100);
    struct seen_filter *f;
    bool grown;

    create(&plan);
    f = open_it();
    assert_int_equal(seen_filter_allow_threads(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_grow(f, &grown, NULL), SEEN_OK);
    assert_false(grown);
    add(f, 0, 300);
    assert_int_equal(seen_filter_plan(f)->capacity, 100);
    assert_int_equal(seen_store_grow(f, &grown, NULL), SEEN_OK);
    assert_true(grown);
    assert_true(seen_filter_plan(f)->capacity >= 300);
    add(f, 300, 1000);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    f = open_it();
    assert_true(seen_filter_plan(f)->capacity >= 1000);
    assert_holds(f, 1000);
    seen_filter_free(f);
}

TEST(what_cannot_be_built_from_hashes_keeps_none)
{
    static const char *const kinds[] = { "counting", "layered:3",
                                         "growing/blocked", "bloom:md5",
                                         "routed:4,md5/blocked" };
    struct seen_plan plan = plan_of("blocked", 100);
    struct seen_filter *f;

    for (size_t i = 0; i < LENGTH(kinds); i++) {
        strcpy(plan.kind, kinds[i]);
        f = holding(&plan, 0);
        assert_int_equal(seen_store_keep_keys(f, NULL), SEEN_UNABLE);
        seen_filter_free(f);
    }
    strcpy(plan.kind, "blocked");
    f = holding(&plan, 1);
    assert_int_equal(seen_store_keep_keys(f, NULL), SEEN_UNABLE);
    seen_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(what_keeps_its_keys_takes_at_most_twice_what_they_need),
        FRESH(one_batch_may_be_larger_than_any_growth),
        FRESH(a_key_that_is_added_again_takes_no_room_in_the_filter),
        FRESH(a_log_that_is_full_of_repetitions_is_written_anew),
        FRESH(
            repetitions_that_cannot_be_removed_are_tried_again_at_twice_the_length),
        FRESH(a_keyed_filter_grows_too),
        FRESH(a_keyed_filter_grows_only_with_its_secret),
        FRESH(the_planned_rate_holds_at_every_size),
        FRESH(the_log_has_16_bytes_per_key_and_nobody_else_may_read_it),
        FRESH(a_reader_learns_that_the_filter_has_grown),
        FRESH(a_filter_that_was_kept_earlier_is_read_and_grows),
        FRESH(
            a_filter_without_its_whole_log_answers_and_says_why_it_cannot_grow),
        FRESH(the_log_of_another_filter_is_not_used),
        FRESH(with_a_damaged_key_a_filter_is_full_as_without_a_log),
        FRESH(a_growth_without_room_on_the_disk_is_tried_again),
        FRESH(a_growth_that_failed_is_tried_again_by_a_writer_that_stays),
        FRESH(a_saved_copy_cannot_grow),
        FRESH(all_keys_can_be_had_again_for_another_filter),
        FRESH(another_filter_of_its_keys_has_its_secret_too),
        FRESH(the_log_can_be_removed),
        FRESH(metadata_and_checkpoints_leave_the_log_whole),
        FRESH(with_several_threads_it_grows_when_its_owner_says_so),
        FRESH(what_cannot_be_built_from_hashes_keeps_none),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
