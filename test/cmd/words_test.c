/* words_test.c - passwords in the words of a command line. */
#include "test/test.h"

#include "cmd/words.c"

#include <stdlib.h>
#include <string.h>

static const char *const masked[][2] = {
    { "postgresql://me:secret@db/x", "postgresql://me:***@db/x" },
    { "postgres://me:secret@db:5432,db2/x",
      "postgres://me:***@db:5432,db2/x" },
    { "--queue=amqp://me:se/cr@t@mq/", "--queue=amqp://me:***@mq/" },
    { "amqps://:pw@mq", "amqps://:**@mq" },
    { "postgresql://db/x?sslmode=require&password=secret&a=b",
      "postgresql://db/x?sslmode=require&password=***&a=b" },
    { "postgresql:///x?user=me&pass%77ord=secret",
      "postgresql:///x?user=me&pass%77ord=***" },
    { "postgresql://me:one@db/x?sslpassword=two",
      "postgresql://me:***@db/x?sslpassword=***" },
    { "spatial:redis://:p/w@a/x,redis://me:pass@b/y",
      "spatial:redis://:***@a/x,redis://me:***@b/y" },
    { "-oredis://me:secret@h/x", "-oredis://me:***@h/x" },
    { "PostgreSQL://db/x?password=secret", "PostgreSQL://db/x?password=***" },
    { "host=db password=secret user=me", "host=db password=*** user=me" },
    { "--frontier=password = 'a b' sslpassword=c",
      "--frontier=password = *** sslpassword=*" },
    { "https://me:secret@a.example/", "https://me:***@a.example/" },
};

static const char *const same[] = {
    "postgresql://db:5432/x?a=b@c",
    "redis://h:6379/n@me",
    "redis://[::1]:7/n@me",
    "redis+cluster://a:1,b:2/n@me",
    "http://a.example:80/@b",
    "http://a.example/?password=x",
    "passfile=/me:x@y",
    "://",
    "",
};

TEST(passwords_are_masked_and_nothing_else)
{
    char text[100];

    for (size_t i = 0; i < LENGTH(masked); i++) {
        strcpy(text, masked[i][0]);
        words_mask(text);
        assert_string_equal(text, masked[i][1]);
        words_mask(text);
        assert_string_equal(text, masked[i][1]);
    }
    for (size_t i = 0; i < LENGTH(same); i++) {
        strcpy(text, same[i]);
        words_mask(text);
        assert_string_equal(text, same[i]);
    }
}

TEST(the_words_of_a_message_are_masked_one_by_one)
{
    static const char *const messages[][2] = {
        { "--cache amqp://me:secret@mq:5/: not an address, as redis://H/N",
          "--cache amqp://me:***@mq:5/: not an address, as redis://H/N" },
        { "amqp://mq/?password=secret: nobody answers",
          "amqp://mq/?password=*** nobody answers" },
        { "  http://a.example/  is new ", "  http://a.example/  is new " },
        { "", "" },
    };
    char text[100];

    for (size_t i = 0; i < LENGTH(messages); i++) {
        strcpy(text, messages[i][0]);
        words_mask_text(text);
        assert_string_equal(text, messages[i][1]);
    }
}

TEST(a_command_reads_what_was_written)
{
    char url[] = "postgresql://me:secret@db/x";
    char *argv[] = { (char[]){ "seen" }, url, NULL }, **copy;

    copy = words_take(2, argv);
    assert_string_equal(copy[1], masked[0][0]);
    assert_string_equal(url, masked[0][1]);
    assert_null(copy[2]);
    for (size_t i = strlen(url); i < sizeof url; i++)
        assert_int_equal(url[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passwords_are_masked_and_nothing_else),
        cmocka_unit_test(the_words_of_a_message_are_masked_one_by_one),
        cmocka_unit_test(a_command_reads_what_was_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
