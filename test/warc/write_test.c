/*
 * write_test.c - a small crawl as WARC files and an index.
 *
 *     test-warc-write            test that nothing is wrong with them
 *     test-warc-write FOLDER     leave them in a folder, for warc_test.py,
 *                                which reads them with a reader of its own
 */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/disk/disk.h"
#include "lib/disk/walk.h"
#include "test/folder.h"
#include "test/warc/sample.h"
#include "warc/cdxj.h"
#include "warc/check.h"
#include "warc/files.h"

enum { PAGES = 40 };

/* Page i of the crawl; texts live until the next call. */
static struct warc_exchange page(unsigned i)
{
    static char url[64], body[4096], refers[64];
    struct warc_exchange x;

    snprintf(url, sizeof url, "http://www.a.example/page/%u?b=%u&a=1", i, i);
    switch (i % 5) {
    case 0: x = sample_page(url); break;
    case 1: x = sample_chunked(url); break;
    case 2: x = sample_cut(url); break;
    case 3: x = sample_revisit(url, WARC_IDENTICAL); break;
    default: x = sample_revisit(url, WARC_NOT_MODIFIED); break;
    }
    if (i % 5 == 0 && i) { /* bytes of all values, which do not compress */
        for (unsigned k = 0; k < sizeof body; k++)
            body[k] = (char)(k * 2654435761u * (i + 1) >> 13);
        x.body = x.payload = (struct seen_span){ body, sizeof body };
        x.head = span_of("HTTP/1.0 404 Not Found\r\n"
                         "Content-Type: image/png\r\n\r\n");
        x.status = 404;
        x.type = "image/png";
    }
    if (i % 5 >= 3) { /* revisits of the first page, or of the chunked one */
        snprintf(refers, sizeof refers,
                 "http://www.a.example/page/%u?b=%u&a=1", i % 5 - 3,
                 i % 5 - 3);
        x.refers_url = refers;
    }
    return x;
}

static void write_crawl(const char *folder_name)
{
    const struct warc_facts facts = { .software = "seen/test",
                                      .robots = "obey",
                                      .agent = "seen/test (+x)" };
    struct warc_packed packed = { .digest = "" };
    struct buffer index = { .bytes = NULL };
    char *warc = walk_path(folder_name, "warc");
    char *path = walk_path(folder_name, "index.cdxj");
    struct warc_packer *packer;
    struct warc_files *f;

    assert_true(warc && path);
    assert_int_equal(warc_packer_new(&packer, 0, NULL), SEEN_OK);
    assert_int_equal(
        warc_files_open(&f, warc, "crawl", &facts, 20000, NULL, NULL),
        SEEN_OK);
    for (unsigned i = 0; i < PAGES; i++) {
        struct warc_exchange x = page(i);
        const char *name;
        uint64_t offset;

        assert_int_equal(warc_pack(packer, &packed, &x, NULL), SEEN_OK);
        assert_int_equal(warc_files_append(f, packed.bytes.bytes,
                                           packed.bytes.len, &name, &offset,
                                           NULL),
                         SEEN_OK);
        warc_cdxj(&index, &x, &packed, name, offset);
    }
    assert_int_equal(warc_files_flush(f, NULL), SEEN_OK);
    assert_true(warc_files_position(f).file > 1);
    assert_int_equal(disk_replace(path, index.bytes, index.len, NULL),
                     SEEN_OK);
    warc_files_close(f);
    warc_packer_free(packer);
    warc_packed_clear(&packed);
    buffer_clear(&index);
    free(warc);
    free(path);
}

static void refuse(void *owner, const struct warc_fault *fault)
{
    (void)owner;
    fail_msg("%s: %llu: %s", fault->file, (unsigned long long)fault->at,
             fault->text);
}

TEST(a_crawl_of_several_files_is_without_fault)
{
    struct walk_names names = { .name = NULL };
    struct warc_counts counts;
    struct warc_lines lines;
    struct warc_check *c;
    char path[128];
    uint64_t records = 0, files = 0;

    write_crawl(folder);
    snprintf(path, sizeof path, "%s/warc", folder);
    assert_int_equal(walk_folder(&names, path, true, NULL), SEEN_OK);
    assert_int_equal(warc_check_new(&c, refuse, NULL, NULL), SEEN_OK);
    for (size_t i = 0; i < names.n; i++) {
        snprintf(path, sizeof path, "%s/warc/%s", folder, names.name[i]);
        assert_int_equal(warc_check_file(c, path, &counts, NULL), SEEN_OK);
        records += counts.records;
        files++;
    }
    assert_int_equal(warc_check_end(c, &counts, NULL), SEEN_OK);
    snprintf(path, sizeof path, "%s/index.cdxj", folder);
    assert_int_equal(warc_check_index(c, path, &lines, NULL), SEEN_OK);
    assert_int_equal(lines.lines, PAGES);
    assert_int_equal(lines.unindexed, 0);
    assert_int_equal(records, files + 3 * PAGES - PAGES / 5);
    warc_check_free(c);
    walk_clear(&names);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crawl_of_several_files_is_without_fault),
    };

    if (argc > 1) {
        write_crawl(argv[1]);
        return 0;
    }
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
