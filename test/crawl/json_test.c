/*
 * Whoever reads or writes JSON by jansson says "no memory" without memory, and
 * nothing else: no byte is lost, and nothing that is right is called wrong.
 */
#include "lib/text/json_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crawl/job/job.h"
#include "crawl/page/settings.h"
#include "harvest/record.h"
#include "lib/text/span.h"
#include "publish/state.h"
#include "serve/memento/memento_list.h"
#include "test/folder.h"

/* Of jansson: how many there were, and which one fails. */
static size_t allocations, failing;

static void *fail_once(size_t size)
{
    return ++allocations == failing ? NULL : malloc(size);
}

/* Do something without failures and then with each of its allocations failing,
   until it does not get that far. */
static size_t with_each_failure(void (*does)(void *owner, bool fails),
                                void *owner)
{
    size_t n;

    json_tree_malloc = fail_once;
    allocations = failing = 0;
    does(owner, false);
    n = allocations;
    for (size_t i = 1; i <= n; i++) {
        allocations = 0;
        failing = i;
        does(owner, true);
    }
    json_tree_malloc = malloc;
    return n;
}

static void read_text(void *owner, bool fails)
{
    const char *text = owner;
    struct seen_error why;
    json_error_t mistake;
    json_t *root;
    size_t reading;
    char *back;
    enum seen_code code = json_tree_read(
        &root, span_of(text), JSON_REJECT_DUPLICATES, &mistake, &why);

    assert_int_equal(code, fails ? SEEN_NOMEM : SEEN_OK);
    if (fails) {
        assert_null(root);
        return;
    }
    reading = allocations;
    back = json_tree_text(root, JSON_COMPACT);
    assert_string_equal(back, text);
    free(back);
    allocations = reading; /* to write takes some, too */
    json_decref(root);
}

/* Strings of every length: jansson reads on behind its buffer if the quote that
   ends one does not fit. */
TEST(each_allocation_that_fails_ends_the_reading_of_a_text)
{
    static char every[] =
        "{\"class\":\"removed\",\"n\":12345678901234567,"
        "\"a\":[1,2.5,true,null,[],{},{\"\xc3\xa9\":\"b\"}]}";
    char text[80];

    assert_true(with_each_failure(read_text, every) > 20);
    for (int len = 0; len < 70; len++) {
        snprintf(
            text, sizeof text, "[\"%.*s\"]", len,
            "http://a.example/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaaa");
        assert_true(with_each_failure(read_text, text) >= 3);
    }
}

TEST(a_mistake_is_still_a_mistake)
{
    json_error_t mistake;
    struct seen_error why;
    json_t *root;

    assert_int_equal(
        json_tree_read(&root, span_of("{\"a\":\n x}"), 0, &mistake, &why),
        SEEN_CORRUPT);
    assert_null(root);
    assert_int_equal(mistake.line, 2);
    assert_int_equal(
        json_tree_read(&root, (struct seen_span){ NULL, 0 }, 0, NULL, NULL),
        SEEN_CORRUPT);
}

static void read_job(void *owner, bool fails)
{
    static const char text[] =
        "{\"v\":1,\"visit\":\"news@1767225600\",\"name\":\"news\",\"due\":"
        "1767225600,\"start\":[\"http://a.example/\"],\"settings\":{\"pages\":"
        "7},\"shards\":2}";
    const struct crawl_job_rules rules = { .allow_private = false };
    struct seen_error why = { .text = "" };
    struct crawl_job *job;
    enum seen_code code = crawl_job_read(&job, span_of(text), &rules, &why);

    (void)owner;
    if (!fails && code != SEEN_OK)
        fail_msg("%s", why.text);
    assert_int_equal(code, fails ? SEEN_NOMEM : SEEN_OK);
    if (!fails)
        crawl_job_free(job);
}

static void read_settings(void *owner, bool fails)
{
    struct crawl_settings s = { .into = "x" };
    void *keep;
    enum seen_code code = crawl_settings_read(
        &s, "{\"contact\":\"https://me.example/\",\"pages\":7}", &keep, NULL);

    (void)owner;
    assert_int_equal(code, fails ? SEEN_NOMEM : SEEN_OK);
    crawl_settings_forget(keep);
}

static void read_archives(void *owner, bool fails)
{
    struct memento_list list;

    assert_int_equal(memento_list_read(&list, owner, strlen(owner), NULL),
                     fails ? SEEN_NOMEM : SEEN_OK);
    memento_list_clear(&list);
}

TEST(jobs_settings_and_lists_are_not_called_wrong)
{
    static char archives[] = "[{\"id\":\"a\",\"name\":\"A\",\"timemap\":"
                             "\"http://a.example/timemap/link/\","
                             "\"timegate\":\"http://a.example/timegate/\"}]";

    assert_true(with_each_failure(read_job, NULL) > 10);
    assert_true(with_each_failure(read_settings, NULL) > 3);
    assert_true(with_each_failure(read_archives, archives) > 3);
}

/* --- files --- */

static struct publish_state published;

static void save_state(void *owner, bool fails)
{
    unlink(owner);
    assert_int_equal(publish_state_save(&published, owner, NULL),
                     fails ? SEEN_NOMEM : SEEN_OK);
    assert_int_equal(access(owner, F_OK), fails ? -1 : 0);
}

static void load_state(void *owner, bool fails)
{
    struct publish_state s;

    assert_int_equal(publish_state_load(&s, owner, NULL),
                     fails ? SEEN_NOMEM : SEEN_OK);
    publish_state_clear(&s);
}

TEST(the_state_of_publish_is_written_whole_and_not_called_another_programs)
{
    char path[64], url[] = "https://a.example/";

    snprintf(path, sizeof path, "%s/state.json", folder);
    published.url = url;
    assert_true(with_each_failure(save_state, path) > 10);
    save_state(path, false);
    assert_true(with_each_failure(load_state, path) > 10);
}

static struct harvest_folder harvested;

static void save_record(void *owner, bool fails)
{
    assert_int_equal(harvest_record_save(owner, &harvested, "a", NULL),
                     fails ? SEEN_NOMEM : SEEN_OK);
}

static void load_record(void *owner, bool fails)
{
    struct harvest_record r;

    (void)owner;
    assert_int_equal(harvest_record_load(&r, &harvested, "a", NULL),
                     fails ? SEEN_NOMEM : SEEN_OK);
    if (!fails) {
        assert_string_equal(r.file.etag, "\"x\"");
        assert_string_equal(r.file.lastmod, ""); /* it was not UTF-8 */
    }
}

TEST(the_record_of_a_harvested_file_keeps_all_its_members)
{
    struct harvest_record r = { .loc = "http://a.example/a.seen" };

    r.file.there = true;
    r.file.length = 17;
    r.file.seconds = 1;
    strcpy(r.file.etag, "\"x\"");
    strcpy(r.file.lastmod, "\xff");
    assert_int_equal(harvest_folder_open(&harvested, folder, false, NULL),
                     SEEN_OK);
    assert_true(with_each_failure(save_record, &r) > 10);
    save_record(&r, false);
    assert_true(with_each_failure(load_record, NULL) > 10);
    harvest_folder_close(&harvested);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            each_allocation_that_fails_ends_the_reading_of_a_text),
        cmocka_unit_test(a_mistake_is_still_a_mistake),
        cmocka_unit_test(jobs_settings_and_lists_are_not_called_wrong),
        cmocka_unit_test(
            the_state_of_publish_is_written_whole_and_not_called_another_programs),
        cmocka_unit_test(the_record_of_a_harvested_file_keeps_all_its_members),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
