/* log_test.c - the file of the access log, which several loops share. */
#include "test/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "serve/log.h"

static void put(struct log *l, const char *request)
{
    const struct sockaddr_storage client = { .ss_family = AF_UNIX };

    log_write(l, &client,
              &(struct log_entry){ .request = { request, strlen(request) },
                                   .status = 200,
                                   .from = { "-", 1 },
                                   .with = { "-", 1 } });
    log_flush(l);
}

/* Files of this process end there, as on a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit r;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
    r.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

static size_t read_file(int fd, char *text, size_t room)
{
    ssize_t n = pread(fd, text, room - 1, 0);

    assert_true(n >= 0);
    text[n] = '\0';
    return (size_t)n;
}

TEST(a_line_never_follows_the_part_of_another)
{
    static const char line[] = "unix: - - now \"two\" 200 0 \"-\" \"-\"\n";
    char path[] = "/tmp/seen-log-XXXXXX", text[512], *ended;
    struct log_file file = { .fd = mkostemp(path, O_APPEND),
                             .lock = PTHREAD_MUTEX_INITIALIZER };
    struct log one = { .file = &file, .time = "now" };
    struct log two = { .file = &file, .time = "now" };

    assert_true(file.fd >= 0);
    unlink(path);
    signal(SIGXFSZ, SIG_IGN);
    limit_files(10);
    put(&one, "one");
    assert_int_equal(file.error, EFBIG);
    assert_int_equal(file.lost, 1);
    limit_files(RLIM_INFINITY);
    put(&two, "two");
    assert_int_equal(file.error, 0);
    assert_int_equal(file.lost, 1);
    assert_int_equal(read_file(file.fd, text, sizeof text), 11 + strlen(line));
    ended = strchr(text, '\n');
    assert_ptr_equal(ended, text + 10);
    assert_string_equal(ended + 1, line);
    buffer_clear(&one.lines);
    buffer_clear(&two.lines);
    close(file.fd);
}

TEST(a_new_file_does_not_begin_with_the_end_of_a_line)
{
    char path[] = "/tmp/seen-log-XXXXXX", text[512];
    struct log_file file = { .fd = mkostemp(path, O_APPEND),
                             .lock = PTHREAD_MUTEX_INITIALIZER };
    struct log one = { .file = &file, .time = "now" };

    assert_true(file.fd >= 0);
    signal(SIGXFSZ, SIG_IGN);
    limit_files(10);
    put(&one, "one");
    limit_files(RLIM_INFINITY);
    unlink(path); /* rotated */
    assert_true(log_file_replace(
        &file, open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)));
    unlink(path);
    put(&one, "two");
    read_file(file.fd, text, sizeof text);
    assert_string_equal(text, "unix: - - now \"two\" 200 0 \"-\" \"-\"\n");
    assert_false(log_file_replace(&file, -1));
    assert_int_equal(errno, EBADF);
    buffer_clear(&one.lines);
    close(file.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_never_follows_the_part_of_another),
        cmocka_unit_test(a_new_file_does_not_begin_with_the_end_of_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
