/* listing_test.c - lists within their limits, and left alone if unchanged. */
#include "test/publish/folder.h"

#include "publish/listing.h"

static void print(struct buffer *to, const void *whose, size_t i)
{
    buffer_format(to, "  <url>\n    <loc>http://a/%s%zu</loc>\n  </url>\n",
                  (const char *)whose, i);
}

static int64_t lastmod(const void *whose, size_t i)
{
    (void)whose;
    return (int64_t)i;
}

static struct publish_listing list_of(size_t n)
{
    struct publish_listing l = { .folder = folder,
                                 .name = "sitemap",
                                 .head = { .base = "http://a/b&c/",
                                           .up = "up.xml",
                                           .capability = "resourcelist" },
                                 .entries = n,
                                 .print = print,
                                 .lastmod = lastmod,
                                 .whose = "" };

    return l;
}

static size_t write_list(const struct publish_listing *l, unsigned *parts)
{
    size_t changed = 0;
    struct seen_error why = { .text = "" };

    if (publish_listing_write(l, parts, &changed, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return changed;
}

TEST(a_short_list_is_one_file)
{
    struct publish_listing l = list_of(3);
    unsigned parts = 7;
    char *text;

    assert_int_equal(write_list(&l, &parts), 1);
    assert_int_equal(parts, 0);
    text = text_of("sitemap.xml", NULL);
    assert_int_equal(times(text, "<url>"), 3);
    assert_non_null(strstr(text, "href=\"http://a/b&amp;c/up.xml\""));
    free(text);
    assert_null(text_of("sitemap.xml.new", NULL));
}

TEST(a_list_without_entries_is_a_list)
{
    struct publish_listing l = list_of(0);
    unsigned parts;
    char *text;

    write_list(&l, &parts);
    text = text_of("sitemap.xml", NULL);
    assert_int_equal(times(text, "<url>"), 0);
    assert_non_null(strstr(text, "</urlset>\n"));
    free(text);
}

TEST(what_has_not_changed_is_not_written)
{
    struct publish_listing l = list_of(25);
    unsigned parts;
    struct stat before, after;
    char path[128];

    l.most_urls = 10;
    assert_int_equal(write_list(&l, &parts), 4);
    snprintf(path, sizeof path, "%s/sitemap-2.xml", folder);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(write_list(&l, &parts), 0);
    l.entries = 26; /* the last part, and the index, which has its date */
    assert_int_equal(write_list(&l, &parts), 2);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
}

TEST(a_list_is_split_by_urls)
{
    struct publish_listing l = list_of(25);
    unsigned parts;
    char *text;

    l.most_urls = 10;
    write_list(&l, &parts);
    assert_int_equal(parts, 3);
    text = text_of("sitemap.xml", NULL);
    assert_non_null(strstr(text, "<sitemapindex"));
    assert_int_equal(times(text, "<sitemap>"), 3);
    assert_non_null(strstr(text, "<loc>http://a/b&amp;c/sitemap-3.xml</loc>"));
    free(text);
    text = text_of("sitemap-3.xml", NULL);
    assert_int_equal(times(text, "<url>"), 5);
    assert_non_null(strstr(text, "rel=\"index\""));
    free(text);
}

TEST(a_list_is_split_by_bytes)
{
    static char url[301];
    struct publish_listing l = list_of(40);
    unsigned parts;
    size_t all = 0;

    memset(url, 'x', 300);
    l.whose = url;
    l.most_bytes = 4000;
    write_list(&l, &parts);
    assert_true(parts > 3);
    for (unsigned i = 1; i <= parts; i++) {
        char name[32], *text;
        size_t len;

        snprintf(name, sizeof name, "sitemap-%u.xml", i);
        text = text_of(name, &len);
        assert_true(len <= 4000);
        all += times(text, "<url>");
        free(text);
    }
    assert_int_equal(all, 40);
}

TEST(fifty_thousand_urls_are_one_file_and_one_more_are_two)
{
    struct publish_listing l = list_of(PUBLISH_LISTING_URLS);
    unsigned parts;
    char *text;

    write_list(&l, &parts);
    assert_int_equal(parts, 0);
    l.entries++;
    write_list(&l, &parts);
    assert_int_equal(parts, 2);
    text = text_of("sitemap-1.xml", NULL);
    assert_int_equal(times(text, "<url>"), PUBLISH_LISTING_URLS);
    free(text);
    text = text_of("sitemap-2.xml", NULL);
    assert_int_equal(times(text, "<url>"), 1);
    free(text);
}

/* 49,000 entries of 1,100 bytes: the bytes are too many, not the URLs. */
TEST(fifty_megabytes_are_the_most)
{
    static char url[1070];
    struct publish_listing l = list_of(49000);
    unsigned parts;
    char *text;
    size_t len;

    memset(url, 'x', sizeof url - 1);
    l.whose = url;
    write_list(&l, &parts);
    assert_int_equal(parts, 2);
    text = text_of("sitemap-1.xml", &len);
    assert_in_range(len, PUBLISH_LISTING_BYTES - 3000, PUBLISH_LISTING_BYTES);
    free(text);
}

TEST(the_files_of_others_are_not_replaced)
{
    struct publish_listing l = list_of(3);
    char path[128], *text;
    unsigned parts;
    size_t changed = 0;
    FILE *to;

    snprintf(path, sizeof path, "%s/sitemap.xml", folder);
    to = fopen(path, "w");
    fputs("<urlset/>", to);
    fclose(to);
    assert_int_equal(publish_listing_check(path, NULL), SEEN_MISMATCH);
    assert_int_equal(publish_listing_write(&l, &parts, &changed, NULL),
                     SEEN_MISMATCH);
    text = text_of("sitemap.xml", NULL);
    assert_string_equal(text, "<urlset/>");
    free(text);
    unlink(path);
    assert_int_equal(publish_listing_check(path, NULL), SEEN_OK);
}

/* Root reads what it may not, so it becomes nobody for a while. */
TEST(what_cannot_be_read_is_not_taken_for_ours)
{
    struct publish_listing l = list_of(3);
    struct stat it;
    unsigned parts;
    size_t changed = 0;
    char path[128];

    snprintf(path, sizeof path, "%s/sitemap.xml", folder);
    unlink(path);
    write_list(&l, &parts);
    chmod(folder, 0755);
    chmod(path, 0);
    if (!getuid())
        assert_int_equal(seteuid(65534), 0);
    assert_int_equal(publish_listing_check(path, NULL), SEEN_IO);
    if (!getuid())
        assert_int_equal(seteuid(0), 0);
    unlink(path);
    assert_int_equal(symlink("sitemap.xml", path), 0); /* to itself */
    assert_int_equal(publish_listing_write(&l, &parts, &changed, NULL),
                     SEEN_IO);
    unlink(path);
    assert_int_equal(symlink("nothing", path), 0);
    assert_int_equal(publish_listing_write(&l, &parts, &changed, NULL),
                     SEEN_RANGE);
    unlink(path);
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_int_equal(publish_listing_write(&l, &parts, &changed, NULL),
                     SEEN_RANGE);
    assert_int_equal(lstat(path, &it), 0);
    assert_true(S_ISFIFO(it.st_mode));
    unlink(path);
}

/* A part says since when it tells what changed; no list is ever closed. */
TEST(parts_of_a_change_list_have_their_own_time)
{
    struct publish_listing l = list_of(25);
    unsigned parts;
    char *text;

    l.since = lastmod;
    l.from = 99;
    l.most_urls = 10;
    write_list(&l, &parts);
    text = text_of("sitemap.xml", NULL);
    assert_int_equal(times(text, "from=\"1970-01-01T00:00:00Z\""), 2);
    assert_int_equal(times(text, "from=\"1970-01-01T00:00:10Z\""), 1);
    assert_int_equal(times(text, "from=\"1970-01-01T00:00:20Z\""), 1);
    assert_int_equal(times(text, "until="), 0);
    free(text);
    text = text_of("sitemap-3.xml", NULL);
    assert_int_equal(times(text, "from=\"1970-01-01T00:00:20Z\""), 1);
    free(text);
    l.entries = 0;
    write_list(&l, &parts);
    text = text_of("sitemap.xml", NULL);
    assert_int_equal(times(text, "from=\"1970-01-01T00:01:39Z\""), 1);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_list_is_one_file),
        cmocka_unit_test(a_list_without_entries_is_a_list),
        cmocka_unit_test(what_has_not_changed_is_not_written),
        cmocka_unit_test(a_list_is_split_by_urls),
        cmocka_unit_test(a_list_is_split_by_bytes),
        cmocka_unit_test(
            fifty_thousand_urls_are_one_file_and_one_more_are_two),
        cmocka_unit_test(fifty_megabytes_are_the_most),
        cmocka_unit_test(the_files_of_others_are_not_replaced),
        cmocka_unit_test(what_cannot_be_read_is_not_taken_for_ours),
        cmocka_unit_test(parts_of_a_change_list_have_their_own_time),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
