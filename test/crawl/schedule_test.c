/* A folder of templates, and the slots in which they are due. */
#include "crawl/job/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crawl/job/job.h"
#include "test/folder.h"

enum { HOUR = 3600, DAY = 86400 };
#define NOON (UINT64_C(1769860800)) /* 2026-01-31T12:00:00Z */

static char said[4096];

static void warn(void *owner, const char *message)
{
    (void)owner;
    assert_true(strlen(said) + strlen(message) + 2 < sizeof said);
    strcat(strcat(said, message + strlen(folder) + 1), "\n");
}

static void write_file(const char *name, const char *text)
{
    char *path = walk_path(folder, name);
    FILE *f;

    assert_non_null(path);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    free(path);
}

static void remove_file(const char *name)
{
    char *path = walk_path(folder, name);

    assert_non_null(path);
    assert_int_equal(unlink(path), 0);
    free(path);
}

static int begin(void **state)
{
    *said = '\0';
    return folder_make(state);
}

static struct crawl_schedule *new_schedule(bool eager)
{
    const struct crawl_schedule_plan plan = {
        .folder = folder, .every = DAY, .eager = eager, .warn = warn
    };
    struct crawl_schedule *s;

    assert_int_equal(crawl_schedule_new(&s, &plan, NULL), SEEN_OK);
    return s;
}

/* The ids that are published in a round, each with a space behind it. */
static const char *round_at(struct crawl_schedule *s, uint64_t now)
{
    static char text[4096];
    struct crawl_schedule_job job;
    struct crawl_job *read;
    enum seen_code code;
    size_t n = 0;

    *text = '\0';
    assert_int_equal(crawl_schedule_look(s, NULL), SEEN_OK);
    while ((code = crawl_schedule_due(s, now, &job, NULL)) == SEEN_OK) {
        strcat(strcat(text, job.visit), " ");
        assert_int_equal(crawl_job_read(&read, job.message, NULL, NULL),
                         SEEN_OK);
        assert_string_equal(read->visit, job.visit);
        assert_string_equal(read->name, job.name);
        assert_int_equal(read->due, job.due);
        crawl_job_free(read);
        assert_int_equal(crawl_schedule_done(s, NULL), SEEN_OK);
        assert_true(++n < 100);
    }
    assert_int_equal(code, SEEN_ABSENT);
    return text;
}

#define TEMPLATE(name, interval) \
    "{\"name\": \"" name "\", \"start\": \"http://a.example/\", " \
    "\"interval\": \"" interval "\"}"

TEST(a_slot_is_a_multiple_of_the_interval_and_comes_once)
{
    struct crawl_schedule *s = new_schedule(true);

    write_file("a.json", TEMPLATE("a", "6h"));
    write_file("b.json", "{\"start\": \"http://b.example/\"}");
    write_file("c.xml", "<template name=\"xml\"><start>http://c.example/"
                        "</start></template>");
    write_file("notes.txt", "not a template");
    write_file(".d.json", "{");
    assert_string_equal(round_at(s, NOON + 5),
                        "a@1769860800 b@1769817600 xml@1769817600 ");
    assert_string_equal(round_at(s, NOON + 5), "");
    assert_string_equal(round_at(s, NOON + 6 * HOUR - 1), "");
    assert_true(crawl_schedule_next(s, NOON) == NOON + 6 * HOUR);
    assert_string_equal(round_at(s, NOON + 6 * HOUR), "a@1769882400 ");
    assert_string_equal(round_at(s, NOON + 12 * HOUR),
                        "a@1769904000 b@1769904000 xml@1769904000 ");
    assert_string_equal(said, "");
    crawl_schedule_free(s);
}

/* Nothing is kept: what a second scheduler publishes has the same ids and the
   same bytes. */
TEST(two_schedulers_and_a_restart_make_the_same_messages)
{
    struct crawl_schedule *s[2] = { new_schedule(true), new_schedule(true) };
    struct crawl_schedule_job job[2];

    write_file("a.json", TEMPLATE("a", "6h"));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(crawl_schedule_look(s[i], NULL), SEEN_OK);
        assert_int_equal(
            crawl_schedule_due(s[i], NOON + (unsigned)i * HOUR, &job[i], NULL),
            SEEN_OK);
    }
    assert_string_equal(job[0].visit, job[1].visit);
    assert_int_equal(job[0].message.len, job[1].message.len);
    assert_memory_equal(job[0].message.text, job[1].message.text,
                        job[0].message.len);
    crawl_schedule_free(s[0]);
    crawl_schedule_free(s[1]);
}

/* The queue was away: the job is not done, and comes again. */
TEST(a_job_that_is_not_done_comes_again)
{
    struct crawl_schedule *s = new_schedule(true);
    struct crawl_schedule_job job;

    write_file("a.json", TEMPLATE("a", "1h"));
    assert_int_equal(crawl_schedule_look(s, NULL), SEEN_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(crawl_schedule_due(s, NOON, &job, NULL), SEEN_OK);
    assert_string_equal(job.visit, "a@1769860800");
    assert_string_equal(round_at(s, NOON + 5 * HOUR), "a@1769878800 ");
    crawl_schedule_free(s);
}

TEST(a_clock_that_jumps_brings_no_older_slot_and_only_the_newest)
{
    struct crawl_schedule *s = new_schedule(true);

    write_file("a.json", TEMPLATE("a", "1h"));
    assert_string_equal(round_at(s, NOON), "a@1769860800 ");
    assert_string_equal(round_at(s, NOON - 1), "");
    assert_string_equal(round_at(s, NOON - 30 * DAY), "");
    assert_string_equal(round_at(s, 0), "");
    assert_string_equal(round_at(s, NOON + HOUR - 1), "");
    assert_string_equal(round_at(s, NOON + 100 * HOUR), "a@1770220800 ");
    assert_string_equal(round_at(s, NOON + 50 * HOUR), "");
    assert_string_equal(round_at(s, NOON + 101 * HOUR), "a@1770224400 ");
    crawl_schedule_free(s);
}

TEST(changes_of_the_folder_are_picked_up)
{
    struct crawl_schedule *s = new_schedule(true);
    struct crawl_schedule_job job;
    struct crawl_job *read;

    assert_string_equal(round_at(s, NOON), "");
    write_file("b.json", TEMPLATE("b", "1h"));
    assert_string_equal(round_at(s, NOON), "b@1769860800 ");
    write_file("a.json", TEMPLATE("a", "1h"));
    assert_string_equal(round_at(s, NOON), "a@1769860800 ");
    /* A change counts from the next slot on. */
    write_file("a.json", "{\"name\": \"a\", \"interval\": \"1h\", "
                         "\"start\": \"http://changed.example/\"}");
    assert_string_equal(round_at(s, NOON), "");
    remove_file("b.json");
    assert_int_equal(crawl_schedule_look(s, NULL), SEEN_OK);
    assert_int_equal(crawl_schedule_due(s, NOON + HOUR, &job, NULL), SEEN_OK);
    assert_int_equal(crawl_job_read(&read, job.message, NULL, NULL), SEEN_OK);
    assert_string_equal(crawl_template_domain(read->template, 0),
                        "changed.example");
    crawl_job_free(read);
    assert_string_equal(round_at(s, NOON + HOUR), "a@1769864400 ");
    /* A file that comes back does not bring its old slot. */
    write_file("b.json", TEMPLATE("b", "1h"));
    assert_string_equal(round_at(s, NOON), "");
    assert_string_equal(round_at(s, NOON + HOUR), "b@1769864400 ");
    /* Slots of a longer interval may be older ones. */
    write_file("b.json", TEMPLATE("b", "1d"));
    assert_string_equal(round_at(s, NOON + HOUR), "");
    assert_string_equal(round_at(s, NOON + DAY), "a@1769947200 b@1769904000 ");
    assert_string_equal(said, "");
    crawl_schedule_free(s);
}

TEST(a_file_that_is_not_valid_costs_only_itself_and_one_report)
{
    struct crawl_schedule *s = new_schedule(true);
    size_t valid, faulty;

    write_file("a.json", TEMPLATE("a", "1h"));
    write_file("bad.json", "{\n\"start\": 5}");
    write_file("empty.json", "");
    write_file("odd name.json", "{\"start\": \"http://a.example/\"}");
    write_file("zero.json", TEMPLATE("zero", "500ms"));
    assert_string_equal(round_at(s, NOON), "a@1769860800 ");
    assert_string_equal(round_at(s, NOON), "");
    assert_string_equal(said,
                        "bad.json: line 2: start: expected a text\n"
                        "empty.json: the file is empty\n"
                        "odd name.json: name: up to 100 letters, digits, "
                        "\".\", \"_\" and \"-\", of which the first is a "
                        "letter or a digit\n"
                        "zero.json: interval: less than a second\n");
    crawl_schedule_count(s, &valid, &faulty);
    assert_int_equal(valid, 1);
    assert_int_equal(faulty, 4);
    write_file("bad.json", TEMPLATE("bad", "1h"));
    assert_string_equal(round_at(s, NOON), "bad@1769860800 ");
    /* A template that is not valid any more is not used. */
    *said = '\0';
    write_file("bad.json", "{");
    assert_string_equal(round_at(s, NOON + HOUR), "a@1769864400 ");
    assert_string_equal(round_at(s, NOON + HOUR), "");
    assert_non_null(strstr(said, "bad.json: line 1: "));
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
    crawl_schedule_free(s);
}

TEST(a_file_that_is_still_written_is_not_reported)
{
    static const char whole[] = TEMPLATE("slow", "1h");
    struct crawl_schedule *s = new_schedule(false);
    char part[sizeof whole];

    for (size_t n = 1; n < strlen(whole); n += 10) {
        memcpy(part, whole, n);
        part[n] = '\0';
        write_file("slow.json", part);
        assert_string_equal(round_at(s, NOON), "");
    }
    assert_string_equal(said, "");
    /* It does not change any more. */
    assert_string_equal(round_at(s, NOON), "");
    assert_non_null(strstr(said, "slow.json: line 1: "));
    *said = '\0';
    assert_string_equal(round_at(s, NOON), "");
    assert_string_equal(said, "");
    write_file("slow.json", whole);
    assert_string_equal(round_at(s, NOON), "slow@1769860800 ");
    assert_string_equal(said, "");
    crawl_schedule_free(s);
}

TEST(the_first_file_with_a_name_has_it)
{
    struct crawl_schedule *s = new_schedule(true);

    write_file("1.json", TEMPLATE("same", "1h"));
    write_file("2.json", TEMPLATE("same", "10m"));
    assert_string_equal(round_at(s, NOON + 600), "same@1769860800 ");
    assert_string_equal(round_at(s, NOON + 1200), "");
    assert_string_equal(said, "2.json: 1.json has the name same already\n");
    remove_file("1.json");
    assert_string_equal(round_at(s, NOON + 1200), "same@1769862000 ");
    crawl_schedule_free(s);
}

TEST(known_templates_stay_while_the_folder_cannot_be_read)
{
    struct crawl_schedule *s = new_schedule(true);
    struct crawl_schedule_job job;
    char away[64];

    write_file("a.json", TEMPLATE("a", "1h"));
    assert_string_equal(round_at(s, NOON), "a@1769860800 ");
    snprintf(away, sizeof away, "%s.away", folder);
    assert_int_equal(rename(folder, away), 0);
    assert_int_equal(crawl_schedule_look(s, NULL), SEEN_IO);
    assert_int_equal(crawl_schedule_due(s, NOON + HOUR, &job, NULL), SEEN_OK);
    assert_string_equal(job.visit, "a@1769864400");
    assert_int_equal(rename(away, folder), 0);
    crawl_schedule_free(s);
}

/* From slot to slot, as seen schedule --clock does it. */
TEST(a_month_of_quarters_of_an_hour_has_each_slot_once)
{
    struct crawl_schedule *s = new_schedule(true);
    struct crawl_schedule_job job;
    uint64_t now = NOON, slots = 0, last = 0;

    write_file("a.json", TEMPLATE("a", "15m"));
    assert_int_equal(crawl_schedule_look(s, NULL), SEEN_OK);
    for (; now < NOON + 30 * (uint64_t)DAY;
         now = crawl_schedule_next(s, now)) {
        assert_int_equal(crawl_schedule_due(s, now, &job, NULL), SEEN_OK);
        assert_true(job.due == now && job.due > last);
        last = job.due;
        slots++;
        assert_int_equal(crawl_schedule_done(s, NULL), SEEN_OK);
        assert_int_equal(crawl_schedule_due(s, now, &job, NULL), SEEN_ABSENT);
    }
    assert_int_equal(slots, 30 * 96);
    crawl_schedule_free(s);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, begin, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_slot_is_a_multiple_of_the_interval_and_comes_once),
        IN_FOLDER(two_schedulers_and_a_restart_make_the_same_messages),
        IN_FOLDER(a_job_that_is_not_done_comes_again),
        IN_FOLDER(a_clock_that_jumps_brings_no_older_slot_and_only_the_newest),
        IN_FOLDER(changes_of_the_folder_are_picked_up),
        IN_FOLDER(a_file_that_is_not_valid_costs_only_itself_and_one_report),
        IN_FOLDER(a_file_that_is_still_written_is_not_reported),
        IN_FOLDER(the_first_file_with_a_name_has_it),
        IN_FOLDER(known_templates_stay_while_the_folder_cannot_be_read),
        IN_FOLDER(a_month_of_quarters_of_an_hour_has_each_slot_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
