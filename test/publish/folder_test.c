/* folder_test.c - what a walk finds, and what it could not see. */
#include "test/publish/folder.h"

#include "publish/folder.h"
#include "lib/disk/disk.h"
#include "publish/file.h"

static char told[4096];

static void tell(void *whose, const char *name, const char *why, bool lost)
{
    size_t len = strlen(told);

    (void)whose;
    snprintf(told + len, sizeof told - len, "%s%s: %s\n", lost ? "!" : "",
             name, why);
}

/* Make an empty file, and the folders that lead to it. */
static void touch(const char *name)
{
    char *path = publish_format("%s/%s", folder, name);
    FILE *to;

    assert_int_equal(disk_make_folders(path, NULL), SEEN_OK);
    to = fopen(path, "w");
    assert_non_null(to);
    fclose(to);
    free(path);
}

static void walk(struct publish_folder *f)
{
    *told = '\0';
    assert_int_equal(publish_folder_walk(f, folder, tell, NULL, NULL),
                     SEEN_OK);
}

TEST(names_come_in_the_order_of_bytes)
{
    struct publish_folder f;

    touch("b.seen");
    touch("a/z.seen");
    touch("a.seen");
    touch("a/y/x.seen");
    touch("Z.seen");
    touch("a.csv");
    touch(".seen");
    walk(&f);
    assert_int_equal(f.files.n, 5);
    assert_string_equal(f.files.name[0], "Z.seen");
    assert_string_equal(f.files.name[1], "a.seen");
    assert_string_equal(f.files.name[2], "a/y/x.seen");
    assert_string_equal(f.files.name[3], "a/z.seen");
    assert_string_equal(f.files.name[4], "b.seen");
    assert_string_equal(told, "");
    publish_folder_clear(&f);
}

/* Root reads what it may not, so it becomes nobody for a while. */
TEST(a_folder_that_cannot_be_read_is_remembered)
{
    struct publish_folder f;
    char *path = publish_format("%s/closed", folder);

    touch("closed/a.seen");
    touch("open/b.seen");
    chmod(folder, 0755);
    chmod(path, 0);
    if (!getuid())
        assert_int_equal(seteuid(65534), 0);
    walk(&f);
    if (!getuid())
        assert_int_equal(seteuid(0), 0);
    chmod(path, 0755);
    free(path);
    assert_string_equal(told, "!closed/: Permission denied\n");
    assert_true(publish_folder_unread(&f, "closed/a.seen"));
    assert_true(publish_folder_unread(&f, "closed/deep/a.seen"));
    assert_false(publish_folder_unread(&f, "closed.seen"));
    assert_false(publish_folder_unread(&f, "open/b.seen"));
    publish_folder_clear(&f);
}

TEST(a_folder_that_is_too_deep_is_remembered)
{
    struct publish_folder f;
    char name[400] = "";

    for (int i = 0; i < 70; i++)
        strcat(name, "d/");
    strcat(name, "a.seen");
    touch(name);
    walk(&f);
    assert_non_null(strstr(told, "too deep"));
    assert_true(publish_folder_unread(&f, name));
    publish_folder_clear(&f);
}

TEST(there_is_no_folder)
{
    struct publish_folder f;
    struct walk_names n;

    assert_int_equal(
        publish_folder_walk(&f, "/nowhere/at/all", tell, NULL, NULL), SEEN_IO);
    assert_int_equal(publish_files_below(&n, "/nowhere/at/all", NULL),
                     SEEN_OK);
    assert_int_equal(n.n, 0);
}

#define FRESH(sentence) \
    cmocka_unit_test_setup_teardown(sentence, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(names_come_in_the_order_of_bytes),
        FRESH(a_folder_that_cannot_be_read_is_remembered),
        FRESH(a_folder_that_is_too_deep_is_remembered),
        FRESH(there_is_no_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
