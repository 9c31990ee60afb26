/*
 * kill_test.c - writers are killed at random moments, again and again.
 *
 * A child adds keys one by one and acknowledges each through a pipe once
 * seen_filter_add() has returned; the parent reads along, asks a mapped
 * reader for what was acknowledged, and kills the child some milliseconds
 * in. Then the file must be readable and hold every acknowledged key, each
 * once, and one more at most: the one whose acknowledgment died with the
 * child. The next child goes on from there. SEEN_KILLS says how often.
 *
 * The last test leaves nothing to chance: a writer dies before each of its
 * writes and flushes in turn, and in the middle of each write.
 */
#include "stored.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "lib/disk/disk.h"
#include "lib/store/format.h"

enum { CAPACITY = 3000 };

static uint64_t random_state = 88172645463325252u;

static unsigned random_below(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % n;
}

static int kills(void)
{
    const char *text = getenv("SEEN_KILLS");

    return text && atoi(text) > 0 ? atoi(text) : 200;
}

struct child {
    pid_t pid;
    int acks;
    size_t acked;       /* one more than the last that was acknowledged */
};

/* The child writes what it has done as 64-bit numbers. */
static struct child start(void (*work)(int acks, unsigned luck))
{
    struct child c = { 0 };
    unsigned luck = random_below(1000000);
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    c.pid = fork();
    if (!c.pid) {
        close(ends[0]);
        work(ends[1], luck);
        _exit(0);
    }
    close(ends[1]);
    c.acks = ends[0];
    return c;
}

static void acknowledge(int acks, size_t n)
{
    if (write(acks, &n, sizeof n) != sizeof n)
        _exit(9);
}

/* Read what was acknowledged so far, or all of it when the child is dead. */
static void hear(struct child *c, bool all)
{
    struct pollfd fd = { .fd = c->acks, .events = POLLIN };
    size_t n;

    while (all || poll(&fd, 1, 0) == 1) {
        if (read(c->acks, &n, sizeof n) != sizeof n)
            break;
        c->acked = n;
    }
}

/* Kill it, or find that it came to its end: then that was a good one. */
static void finish(struct child *c)
{
    int status;

    kill(c->pid, SIGKILL);
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    if (WIFEXITED(status) && WEXITSTATUS(status))
        fail_msg("a child failed with %d", WEXITSTATUS(status));
    hear(c, true);
    close(c->acks);
}

static void add_on(int acks, unsigned luck)
{
    static const enum seen_sync syncs[] = { SEEN_SYNC_ALWAYS, SEEN_SYNC_ALWAYS,
                                            SEEN_SYNC_EVERYSEC, SEEN_SYNC_NO };
    struct seen_access how = { .sync = syncs[luck % 4], .lazy = luck / 4 % 2 };
    struct seen_filter *f;
    size_t from;

    if (seen_store_open(&f, path, &how, NULL) != SEEN_OK)
        _exit(1);
    from = (size_t)seen_filter_offered(f);
    for (size_t i = from; i < CAPACITY; i++) {
        if (seen_filter_add(f, key + i, 1, NULL, NULL) != SEEN_OK)
            _exit(2);
        acknowledge(acks, i + 1);
        if ((i + luck) % 61 == 0 && seen_store_checkpoint(f, NULL) != SEEN_OK)
            _exit(3);
        if ((i + luck) % 149 == 0) {
            char text[32];

            snprintf(text, sizeof text, "%zu", i);
            if (seen_meta_set(f, "title", text, NULL) != SEEN_OK ||
                seen_store_checkpoint(f, NULL) != SEEN_OK)
                _exit(4);
        }
        if ((i + luck) % 211 == 0) {
            if (seen_store_close(f, NULL) != SEEN_OK ||
                seen_store_open(&f, path, &how, NULL) != SEEN_OK)
                _exit(5);
        }
    }
    if (seen_store_close(f, NULL) != SEEN_OK)
        _exit(6);
}

/* Each key counted once, as far as the file says that it was offered any. */
static void assert_counted_once(const struct seen_filter *f)
{
    uint64_t count[CAPACITY];
    size_t n = (size_t)seen_filter_offered(f);

    if (seen_filter_count(f, key, CAPACITY, count, NULL) == SEEN_UNABLE)
        return;
    for (size_t i = 0; i < CAPACITY; i++)
        assert_int_equal(count[i], i < n);
}

static void kill_writers(const char *kind, int times)
{
    size_t sure = CAPACITY;

    for (int i = 0; i < times; i++) {
        struct seen_filter *map, *f;
        struct seen_error why;
        struct child c;

        if (sure >= CAPACITY) {
            struct seen_plan plan = plan_of(kind, CAPACITY);

            /* At 1e-9 no two of the keys are taken for one another. */
            plan.rate = strstr(kind, "blocked") ? 1e-4 : 1e-9;
            if (strstr(kind, "growing"))
                plan.capacity = CAPACITY / 20;
            f = holding(&plan, 0);
            assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
            seen_filter_free(f);
            sure = 0;
        }
        assert_int_equal(seen_store_map(&map, path, NULL, NULL), SEEN_OK);
        c = start(add_on);
        c.acked = sure;
        for (unsigned looks = random_below(4); looks; looks--) {
            usleep(random_below(8000));
            hear(&c, false);
            if (seen_store_refresh(map, NULL, &why) != SEEN_OK)
                fail_msg("%s: %s", kind, why.text);
            assert_holds(map, c.acked);
        }
        usleep(random_below(5000));
        finish(&c);
        seen_filter_free(map);

        if ((random_below(2) ? seen_store_map : seen_store_load)(
                &f, path, NULL, &why) != SEEN_OK)
            fail_msg("%s: %s", kind, why.text);
        assert_holds(f, c.acked);
        assert_in_range(seen_filter_offered(f), c.acked, c.acked + 1);
        assert_counted_once(f);
        sure = (size_t)seen_filter_offered(f);
        seen_filter_free(f);
    }
    /* What is left is taken up by the next writer, and nothing stays. */
    {
        struct seen_filter *f;

        assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
        assert_holds(f, sure);
        assert_counted_once(f);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(files(), 1);
        assert_int_equal(loads(NULL), SEEN_OK);
    }
}

TEST(a_killed_writer_of_bits_loses_nothing)
{
    kill_writers("blocked", kills() / 5);
}

TEST(a_killed_writer_of_parts_loses_nothing)
{
    kill_writers("routed:4/bloom", kills() / 5);
}

TEST(a_killed_writer_of_counters_loses_and_doubles_nothing)
{
    kill_writers("counting:8", kills() / 5);
}

TEST(a_killed_writer_of_what_grows_loses_nothing)
{
    kill_writers("growing/bloom", kills() / 5);
}

/* Version n holds n keys. */
static void save_on(int acks, unsigned luck)
{
    struct seen_plan plan = plan_of("bloom", 100000);

    (void)luck;
    for (size_t n = 1; n < KEYS; n++) {
        struct seen_filter *f = holding(&plan, n);

        if (seen_store_save(f, path, NULL) != SEEN_OK)
            _exit(1);
        seen_filter_free(f);
        acknowledge(acks, n);
    }
}

TEST(a_killed_save_leaves_the_old_file_or_the_new_one)
{
    for (int i = 0; i < kills() / 5; i++) {
        struct seen_filter *f;
        struct child c;

        store("bloom", 100000, 0);
        c = start(save_on);
        usleep(random_below(20000));
        finish(&c);
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        assert_in_range(seen_filter_offered(f), c.acked, c.acked + 1);
        assert_holds(f, (size_t)seen_filter_offered(f));
        seen_filter_free(f);
    }
    store("bloom", 1000, 10);
    assert_int_equal(files(), 1);
}

/* --- at every call --------------------------------------------------- */

static int calls, last_call; /* the last one does not return */
static bool torn;            /* and is a write that is done half */

static void count_call(void)
{
    if (++calls == last_call)
        _exit(0);
}

static int counted_flush(int fd)
{
    (void)fd; /* a killed process loses nothing that it wrote */
    count_call();
    return 0;
}

static int counted_sync(int fd, off_t at, off_t len, unsigned how)
{
    (void)at, (void)len, (void)how;
    return counted_flush(fd);
}

static ssize_t counted_pwrite(int fd, const void *from, size_t len, off_t at)
{
    if (torn && calls + 1 == last_call && pwrite(fd, from, len / 2, at) < 0)
        _exit(9);
    count_call();
    return pwrite(fd, from, len, at);
}

static void count_calls(bool yes)
{
    disk_fdatasync = yes ? counted_flush : fdatasync;
    disk_fsync = yes ? counted_flush : fsync;
    disk_sync_range = yes ? counted_sync : sync_file_range;
    disk_pwrite = yes ? counted_pwrite : pwrite;
}

static struct seen_access opening; /* how writers and readers do it */
static bool keeping; /* the filter keeps its keys, and outgrows its file */
static size_t first_keys; /* that it begins with */

/* All that a writer does. *sure keys were acknowledged. */
static void work_through(size_t *sure)
{
    static const char steps[] = "oaacammcaaxoaxox"; /* open, add, checkpoint,
                                                       metadata, close */
    struct seen_filter *f = NULL;

    for (const char *step = steps; *step; step++) {
        enum seen_code code = SEEN_OK;

        if (*step == 'o')
            code = seen_store_open(&f, path, &opening, NULL);
        if (*step == 'a')
            code = seen_filter_add(f, key + *sure, 10, NULL, NULL);
        if (*step == 'c')
            code = seen_store_checkpoint(f, NULL);
        if (*step == 'm')
            code = seen_meta_set(f, "title", step, NULL);
        if (*step == 'x')
            code = seen_store_close(f, NULL);
        if (code != SEEN_OK)
            _exit(1);
        *sure += *step == 'a' ? 10 : 0;
    }
}

/* Let a writer begin with these bytes, and die. */
static void die_at(int call, const unsigned char *bytes, size_t len,
                   size_t *sure)
{
    int status;
    pid_t child;

    sweep(NULL);
    spill(path, bytes, len);
    *sure = first_keys;
    child = fork();
    if (!child) {
        calls = 0;
        last_call = call;
        count_calls(true);
        work_through(sure);
        _exit(77); /* it came to its end */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    last_call = WEXITSTATUS(status) == 77 ? 0 : last_call;
    if (WEXITSTATUS(status) && WEXITSTATUS(status) != 77)
        fail_msg("call %d: a child failed with %d", call, WEXITSTATUS(status));
}

static void assert_sure(const struct seen_filter *f, size_t sure, int call)
{
    assert_holds(f, sure);
    if (seen_filter_offered(f) != sure && seen_filter_offered(f) != sure + 10)
        fail_msg("call %d: %zu are sure, %llu are there", call, sure,
                 (unsigned long long)seen_filter_offered(f));
    assert_counted_once(f);
}

/* What version 1 was: without the second head. */
static size_t make_version_1(unsigned char *bytes)
{
    struct store_head h;

    store_head_take(&h, bytes);
    h.format = 1;
    store_head_arrange(&h);
    store_head_put(bytes, &h);
    return (size_t)h.length;
}

static void die_at_every_call(const char *kind, int version, bool lazy)
{
    struct seen_plan plan = plan_of(kind, 1000);
    size_t len, last,
        *sure = mmap(NULL, sizeof *sure, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned char *bytes, *now;
    struct seen_filter *f;
    struct seen_error why;
    int call = 0;

    opening.lazy = lazy;
    plan.rate = strstr(kind, "blocked") ? 1e-4 : 1e-9;
    plan.capacity = keeping ? 20 : 1000;
    plan.tight = keeping;
    first_keys = keeping ? 0 : 100;
    f = holding(&plan, first_keys);
    if (keeping)
        assert_int_equal(seen_store_keep_keys(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    bytes = slurp(path, &len);
    len = version == 1 ? make_version_1(bytes) : len;
    for (last_call = 1; last_call;) {
        last_call = ++call;
        die_at(call, bytes, len, sure);
        count_calls(true); /* flushes take no time */
        calls = INT_MIN;
        if (seen_store_load(&f, path, NULL, &why) != SEEN_OK)
            fail_msg("%s, call %d: %s", kind, call, why.text);
        assert_sure(f, *sure, call);
        seen_filter_free(f);
        if (seen_store_map(&f, path, &opening, &why) != SEEN_OK)
            fail_msg("%s, call %d: %s", kind, call, why.text);
        assert_holds(f, *sure);
        seen_filter_free(f);
        if (seen_store_open(&f, path, &opening, &why) != SEEN_OK)
            fail_msg("%s, call %d: %s", kind, call, why.text);
        assert_sure(f, *sure, call);
        *sure = (size_t)seen_filter_offered(f);
        if (keeping && !seen_store_grows(f, &why))
            fail_msg("%s, call %d: %s", kind, call, why.text);
        assert_int_equal(seen_filter_add(f, key + *sure, 1, NULL, NULL),
                         SEEN_OK);
        if (keeping) { /* and the log has all keys: they are all there later */
            assert_int_equal(seen_filter_add(f, key + *sure, 300, NULL, NULL),
                             SEEN_OK);
            assert_true(seen_filter_plan(f)->capacity > 300);
            *sure += 299;
        }
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        count_calls(false);
        assert_int_equal(files(), 1 + keeping);
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        assert_holds(f, *sure + 1);
        seen_filter_free(f);
        now = slurp(path, &last);
        if (now[8] == 2) /* the two heads are equal again */
            assert_memory_equal(now, now + last - HEAD, HEAD);
        free(now);
    }
    assert_true(call > 40);
    free(bytes);
    munmap(sure, sizeof *sure);
}

TEST(a_writer_that_dies_at_any_call_loses_nothing)
{
    static const char *const kinds[] = { "blocked", "growing/bloom",
                                         "counting:8" };

    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (int version = 1; version <= 2; version++)
            for (int half = 0; half < 2; half++) {
                if (half && version == 1 && i == 0)
                    continue; /* it relies on heads that are written whole */
                torn = half;
                die_at_every_call(kinds[i], version, false);
                if (i == 0 && version == 2)
                    die_at_every_call(kinds[i], version, true);
            }
}

TEST(a_filter_that_grows_when_its_writer_dies_at_any_call_loses_nothing)
{
    keeping = true;
    for (int half = 0; half < 2; half++) {
        torn = half;
        die_at_every_call(half ? "spatial:2/blocked" : "blocked", 2, half);
    }
    keeping = false;
}

/* A writer that adds one key and closes the file dies; the log, which is full
   of repetitions, is written anew. */
TEST(a_log_that_is_written_anew_when_its_writer_dies_stays_whole)
{
    enum { HELD = 3300, TIMES = 20 };
    struct seen_plan plan = plan_of("blocked", 10000);
    struct seen_filter *f = holding(&plan, 0);
    unsigned char *file, *log;
    size_t file_len, log_len, less = 0;
    char name[128];
    bool over = false;

    opening = (struct seen_access){ .sync = SEEN_SYNC_NO };
    beside(name, ".keys");
    assert_int_equal(seen_store_keep_keys(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    assert_int_equal(seen_store_open(&f, path, &opening, NULL), SEEN_OK);
    for (int i = 0; i < TIMES - 1; i++)
        assert_int_equal(seen_filter_add(f, key, HELD, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    file = slurp(path, &file_len);
    log = slurp(name, &log_len);
    for (int call = 1; !over; call++) {
        int status;
        pid_t child;
        struct stat it;

        torn = call % 2;
        sweep(NULL);
        spill(path, file, file_len);
        spill(name, log, log_len);
        child = fork();
        if (!child) {
            calls = 0;
            last_call = call;
            count_calls(true);
            if (seen_store_open(&f, path, &opening, NULL) != SEEN_OK ||
                seen_filter_add(f, key, HELD, NULL, NULL) != SEEN_OK ||
                seen_store_close(f, NULL) != SEEN_OK)
                _exit(1);
            _exit(77);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
        over = WEXITSTATUS(status) == 77;
        assert_int_equal(stat(name, &it), 0);
        less += (size_t)it.st_size < log_len;
        assert_int_equal(seen_store_open(&f, path, &opening, NULL), SEEN_OK);
        assert_true(seen_store_grows(f, NULL));
        assert_int_equal(
            seen_filter_add(f, key + HELD, KEYS - HELD, NULL, NULL), SEEN_OK);
        assert_holds(f, KEYS);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_open(&f, path, &opening, NULL), SEEN_OK);
        assert_true(seen_store_grows(f, NULL));
        seen_filter_free(f);
    }
    assert_in_range(less, 1, 5); /* it was written anew, in the end */
    torn = false;
    free(file);
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(a_killed_writer_of_bits_loses_nothing),
        FRESH(a_killed_writer_of_parts_loses_nothing),
        FRESH(a_killed_writer_of_counters_loses_and_doubles_nothing),
        FRESH(a_killed_writer_of_what_grows_loses_nothing),
        FRESH(a_killed_save_leaves_the_old_file_or_the_new_one),
        FRESH(a_writer_that_dies_at_any_call_loses_nothing),
        FRESH(a_log_that_is_written_anew_when_its_writer_dies_stays_whole),
        FRESH(
            a_filter_that_grows_when_its_writer_dies_at_any_call_loses_nothing),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, enter, leave);
}
