/*
 * queue_kill_test.c - producers and consumers that are killed lose nothing,
 * and what was done does not come back.
 *
 * On SQLite the program is killed before each call that changes the disk, one
 * after the other: this program runs itself below test/fault/inject.c. On a
 * server it is killed after random times.
 *
 * A child writes what it did to a log, a line per fact: "p ID" after the
 * publish of ID returned, "t ID" when it was taken, "d ID" after its done
 * returned. Then:
 *
 *   - every ID with a p has a t in the end: nothing is lost
 *   - no t ID follows a d ID: what is done does not come back
 *   - the place counts as many done as published, and nothing else is left
 */
#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include "lib/disk/clock.h"
#include "lib/text/span.h"

enum {
    EACH = 4,
    ROUNDS = 3,
    RANDOM_KILLS = 25,
    CALLS_MOST = 500,
    FACTS = 20000
};

static char self[256], shim[300];
static const char *name;

/* --- the child --- */

static int log_fd;

static void log_fact(char what, struct seen_span id)
{
    char line[64];
    int len = snprintf(line, sizeof line, "%c %.*s\n", what, (int)id.len,
                       id.text);

    if (write(log_fd, line, (size_t)len) != len)
        _exit(3);
}

static int produce(struct queue *q, const char *queue, const char *turn)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct queue_message m[EACH];
        char id[EACH][48];

        for (int i = 0; i < EACH; i++) {
            snprintf(id[i], sizeof id[i], "%s-%d", turn, round * EACH + i);
            m[i] = place_message(id[i], "body");
        }
        if (queue_publish(q, queue, m, EACH, NULL) != SEEN_OK)
            return 4;
        for (int i = 0; i < EACH; i++)
            log_fact('p', m[i].id);
    }
    return 0;
}

static int consume(struct queue *q, const char *queue)
{
    struct queue_batch b = { .message = NULL };

    for (int round = 0; round < ROUNDS; round++) {
        if (queue_take(q, queue, EACH, 0, &b, NULL) != SEEN_OK)
            return 4;
        for (size_t i = 0; i < b.n; i++)
            log_fact('t', b.message[i].id);
        if (queue_done(q, b.message, b.n, NULL) == SEEN_OK)
            for (size_t i = 0; i < b.n; i++)
                log_fact('d', b.message[i].id);
    }
    queue_batch_clear(&b);
    return 0;
}

/* ADDRESS QUEUE LOG TURN produce|consume */
static int child(char **argv)
{
    const struct queue_settings settings = { .lease = LEASE };
    struct seen_error why;
    struct queue *q;
    int status;

    log_fd = open(argv[2], O_WRONLY | O_APPEND | O_CLOEXEC);
    if (log_fd < 0 || queue_open(&q, argv[0], &settings, &why) != SEEN_OK)
        return 5;
    status = !strcmp(argv[4], "produce") ? produce(q, argv[1], argv[3])
                                         : consume(q, argv[1]);
    queue_close(q);
    return status;
}

/* --- the parent --- */

static char log_path[64];

static pid_t start(const char *address, const char *turn, const char *what,
                   const char *fault)
{
    pid_t pid = fork();

    if (pid == 0) {
        if (fault) {
            setenv("LD_PRELOAD", shim, 1);
            setenv("SEEN_FAULT", fault, 1);
        }
        execl(self, self, address, name, log_path, turn, what, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static bool take_counts(void *owner, const struct queue_stats *s)
{
    struct queue_stats *to = owner;

    if (span_is(s->name, name))
        *to = *s;
    return true;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What the log says about one id after the other: lines sorted by id keep
   their order by the number in front. */
static void check_log(void)
{
    static char *fact[FACTS];
    char line[64], text[96];
    FILE *file = fopen(log_path, "re");
    size_t n = 0;
    bool done = false, published = false, taken = true;

    while (n < FACTS && fgets(line, sizeof line, file)) {
        snprintf(text, sizeof text, "%.*s %06zu %c",
                 (int)strcspn(line + 2, "\n"), line + 2, n, line[0]);
        fact[n++] = strdup(text);
    }
    fclose(file);
    assert_in_range(n, 100, FACTS - 1);
    qsort(fact, n, sizeof *fact, compare);
    for (size_t i = 0; i < n; i++) {
        size_t id = strcspn(fact[i], " ");
        char what = fact[i][id + 8];

        if (i == 0 || strncmp(fact[i], fact[i - 1], id + 1) != 0) {
            assert_true(taken || !published);
            done = published = taken = false;
        }
        published |= what == 'p';
        taken |= what == 't';
        assert_false(what == 't' && done);
        done |= what == 'd';
    }
    assert_true(taken || !published);
    for (size_t i = 0; i < n; i++)
        free(fact[i]);
}

/* Take what is left, when the leases of the dead have ended. */
static void drain(const struct place_kind *kind)
{
    struct queue *q = place_open(kind);
    struct queue_batch b = { .message = NULL };
    struct queue_stats s = { .ready = -2 };
    uint64_t revived;

    log_fd = open(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    do {
        while (place_take(q, name, 10, 2 * LEASE, &b)) {
            for (size_t i = 0; i < b.n; i++)
                log_fact('t', b.message[i].id);
            OK(queue_done(q, b.message, b.n, why));
            for (size_t i = 0; i < b.n; i++)
                log_fact('d', b.message[i].id);
        }
        OK(queue_revive(q, name, NULL, &revived, why));
    } while (revived); /* five consumers of a message were killed */
    close(log_fd);
    OK(queue_stats(q, take_counts, &s, why));
    assert_int_equal(s.ready + s.waiting, 0);
    assert_int_equal(s.taken, kind->rows ? 0 : -1);
    assert_int_equal(s.published, s.done);
    queue_close(q);
    queue_batch_clear(&b);
    check_log();
}

static void begin_log(void)
{
    name = place_queue();
    snprintf(log_path, sizeof log_path, "%s/log-%s", folder, name);
    close(open(log_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* Returns how many calls there are: the child then ended by itself. */
static int sweep(const char *address, const char *what)
{
    char fault[64], turn[32];
    int status, calls = 1;

    for (; calls < CALLS_MOST; calls++) {
        snprintf(fault, sizeof fault, "change:%d:%d:kill", calls, calls);
        snprintf(turn, sizeof turn, "%s%d", what, calls);
        waitpid(start(address, turn, what, fault), &status, 0);
        if (WIFEXITED(status)) {
            assert_int_equal(WEXITSTATUS(status), 0);
            return calls - 1;
        }
        assert_int_equal(WTERMSIG(status), SIGKILL);
        if (!strcmp(what, "consume") && calls % 8 == 0) {
            snprintf(turn, sizeof turn, "more%d", calls);
            waitpid(start(address, turn, "produce", NULL), &status, 0);
            assert_int_equal(status, 0);
        }
    }
    return -1;
}

TEST(kills_before_every_change_of_the_disk_lose_nothing)
{
    const char *address = place_address(&place_kinds[0]);
    int status;

    if (access(shim, R_OK) != 0)
        skip();
    begin_log();
    assert_in_range(sweep(address, "produce"), 10, CALLS_MOST);
    waitpid(start(address, "x", "produce", NULL), &status, 0);
    assert_in_range(sweep(address, "consume"), 10, CALLS_MOST);
    drain(&place_kinds[0]);
}

static void kills_at_any_time_lose_nothing(void **state)
{
    const struct place_kind *kind = *state;
    const char *address = place_address(kind);
    uint64_t seed = 1;
    char turn[32];
    int status;

    if (!address)
        skip();
    begin_log();
    for (int i = 0; i < RANDOM_KILLS; i++) {
        pid_t pid[2];

        snprintf(turn, sizeof turn, "r%d", i);
        pid[0] = start(address, turn, "produce", NULL);
        pid[1] = start(address, turn, "consume", NULL);
        for (int k = 0; k < 2; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            poll(NULL, 0, (int)(seed >> 33) % 60);
            kill(pid[k], SIGKILL);
            waitpid(pid[k], &status, 0);
            assert_true(WIFSIGNALED(status) || status == 0);
        }
    }
    for (int i = 0; i < 4; i++) { /* some whole ones, too */
        snprintf(turn, sizeof turn, "whole%d", i);
        waitpid(start(address, turn, "produce", NULL), &status, 0);
        assert_int_equal(status, 0);
        waitpid(start(address, turn, "consume", NULL), &status, 0);
        assert_int_equal(status, 0);
    }
    drain(kind);
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[1 + PLACES];
    size_t n = 0;
    ssize_t len;

    if (argc > 5)
        return child(argv + 1);
    len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len < 0)
        return 1;
    snprintf(shim, sizeof shim, "%.*s/libinject.so",
             (int)(strrchr(self, '/') - self), self);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(
        kills_before_every_change_of_the_disk_lose_nothing);
    for (size_t i = 0; i < PLACES; i++)
        tests[n++] = (struct CMUnitTest){ place_kinds[i].name,
                                          kills_at_any_time_lose_nothing, NULL,
                                          NULL,
                                          (void *)(uintptr_t)&place_kinds[i] };
    return _cmocka_run_group_tests("kills", tests, n, folder_make,
                                   folder_remove);
}
