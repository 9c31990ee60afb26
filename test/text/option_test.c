/* option_test.c - a command line becomes a struct, or a message. */
#include "test/test.h"

#include <string.h>

#include "lib/text/option.h"

struct given {
    bool secret;
    bool json;
    uint64_t keys, attempts, pause, wait;
    double rate;
    const char *order, *path, *again;
    struct texts meta;
};

static const struct option options[] = {
    { "json", 'j', FLAG, NULL, offsetof(struct given, json), "print JSON" },
    { "keys", 'k', COUNT, "N", offsetof(struct given, keys), "how many" },
    { "attempts", 0, COUNT_OR_NONE, "N", offsetof(struct given, attempts),
      "how many" },
    { "pause", 0, DURATION_OR_NONE, "TIME", offsetof(struct given, pause),
      "how long" },
    { "wait", 0, SECONDS_OR_NONE, "TIME", offsetof(struct given, wait),
      "how long" },
    { "rate", 0, RATE, "P", offsetof(struct given, rate), "of errors" },
    { "order", 0, TEXT, "up|down", offsetof(struct given, order), "which" },
    { "again", 0, WORD_OR_NONE, "due|all", offsetof(struct given, again),
      "once more" },
    { "out", 'o', PATH, "FILE", offsetof(struct given, path), "where" },
    { "meta", 0, TEXTS, "NAME=VALUE", offsetof(struct given, meta), "more" },
    { "secret", 0, FLAG, NULL, offsetof(struct given, secret), NULL },
    { .name = NULL },
};

static char wrong[OPTION_WRONG];

static bool read_line(struct given *g, const char *line, char **argv)
{
    static char text[256];
    size_t n = 0;

    strcpy(text, line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[n++] = word;
    argv[n] = NULL;
    *g = (struct given){ .json = false };
    return option_read_all(options, "seen test", g, argv, wrong);
}

TEST(options_may_be_written_in_all_these_ways)
{
    static const char *const line[] = {
        "--json --keys 5k --rate 1% --order down -o x a --meta p=1 b --meta q",
        "a -j -k5000 --rate=0.01 --order=down --out=x --meta=p=1 --meta q b",
    };
    char *argv[32];
    struct given g;

    for (size_t i = 0; i < LENGTH(line); i++) {
        assert_true(read_line(&g, line[i], argv));
        assert_true(g.json);
        assert_int_equal(g.keys, 5000);
        assert_true(g.rate > 0.0099 && g.rate < 0.0101);
        assert_string_equal(g.order, "down");
        assert_string_equal(g.path, "x");
        assert_int_equal(g.meta.n, 2);
        assert_string_equal(g.meta.text[0], "p=1");
        assert_string_equal(argv[0], "a");
        assert_string_equal(argv[1], "b");
        assert_null(argv[2]);
    }
    assert_true(read_line(&g, "- -- --json -k", argv));
    assert_false(g.json);
    assert_string_equal(argv[0], "-");
    assert_string_equal(argv[2], "-k");
}

TEST(none_of_something_differs_from_what_was_not_given)
{
    static const struct {
        const char *line;
        uint64_t attempts, pause;
    } cases[] = {
        { "a", 0, 0 },
        { "--attempts 0", 1, 0 },
        { "--attempts 2k", 2001, 0 },
        { "--pause 0s", 0, 1 },
        { "--pause 0", 0, 1 },
        { "--pause=0d", 0, 1 },
        { "--pause 2m --attempts=1", 2, 121 },
        { "--attempts 18446744073709551615", UINT64_MAX, 0 },
    };
    static const char *const refused[] = {
        "--attempts -1", "--attempts 0s", "--attempts=", "--attempts 0k0",
        "--pause 5",     "--pause 0x",    "--pause 0ss", "--pause -0s",
    };
    char *argv[32];
    struct given g;

    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_true(read_line(&g, cases[i].line, argv));
        assert_true(g.attempts == cases[i].attempts);
        assert_true(g.pause == cases[i].pause);
    }
    for (size_t i = 0; i < LENGTH(refused); i++)
        assert_false(read_line(&g, refused[i], argv));
}

TEST(seconds_may_have_a_unit_and_what_was_given_is_known)
{
    static const struct {
        const char *line;
        uint64_t wait;
    } cases[] = {
        { "a", 0 },        { "--wait 0", 1 },  { "--wait 0s", 1 },
        { "--wait 5", 6 }, { "--wait 5s", 6 }, { "--wait 2m", 121 },
    };
    char *argv[32];
    struct given g;

    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_true(read_line(&g, cases[i].line, argv));
        assert_true(g.wait == cases[i].wait);
        for (const struct option *o = options; o->name; o++)
            assert_int_equal(option_given(o, &g),
                             !strcmp(o->name, "wait") && g.wait);
    }
    assert_false(read_line(&g, "--wait 5x", argv));
    assert_false(read_line(&g, "--wait -1", argv));
    assert_true(read_line(&g, "--json --rate 1% --again --meta x", argv));
    for (const struct option *o = options; o->name; o++)
        assert_int_equal(option_given(o, &g), strchr("jram", *o->name) &&
                                                  strcmp(o->name, "attempts"));
}

TEST(an_option_without_help_works_and_is_not_proposed)
{
    char *argv[32];
    struct given g;

    assert_true(read_line(&g, "--secret", argv));
    assert_true(g.secret);
    assert_false(read_line(&g, "--secrte", argv));
    assert_null(strstr(wrong, "secret;"));
    assert_null(strstr(wrong, "did you mean"));
}

TEST(a_word_may_be_missing)
{
    static const struct {
        const char *line, *again, *operand;
    } cases[] = {
        { "a", NULL, "a" },
        { "--again", "", NULL },
        { "--again all", "all", NULL },
        { "--again=all x", "all", "x" },
        { "--again http://all/", "", "http://all/" },
        { "--again --json", "", NULL },
        { "--again -- all", "", "all" },
        { "--again al", "", "al" },
        { "--again all --again due", "due", NULL },
    };
    char *argv[32];
    struct given g;

    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_true(read_line(&g, cases[i].line, argv));
        if (cases[i].again)
            assert_string_equal(g.again, cases[i].again);
        else
            assert_null(g.again);
        if (cases[i].operand)
            assert_string_equal(argv[0], cases[i].operand);
        else
            assert_null(argv[0]);
    }
}

TEST(what_is_wrong_is_said)
{
    static const char *const cases[][2] = {
        { "--jsn",
          "--jsn: no such option of seen test; did you mean --json?" },
        { "--zzzz",
          "--zzzz: no such option of seen test; see seen test --help" },
        { "-x", "-x: no such option of seen test; see seen test --help" },
        { "--json=1", "--json: takes no value" },
        { "-j1", "-j1: -j takes no value" },
        { "a --keys", "--keys: N is missing" },
        { "-k", "-k: N is missing" },
        { "--order left", "--order: left is not one of the choices: up|down" },
        { "--again=alle", "--again: alle is not one of the choices: due|all" },
        { "--out=", "--out: '' is no name of a file" },
    };
    char *argv[32];
    struct given g;

    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_false(read_line(&g, cases[i][0], argv));
        assert_string_equal(wrong, cases[i][1]);
    }
    assert_false(read_line(&g, "--keys x", argv));
    assert_false(read_line(&g, "--rate 2", argv));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_may_be_written_in_all_these_ways),
        cmocka_unit_test(none_of_something_differs_from_what_was_not_given),
        cmocka_unit_test(seconds_may_have_a_unit_and_what_was_given_is_known),
        cmocka_unit_test(an_option_without_help_works_and_is_not_proposed),
        cmocka_unit_test(a_word_may_be_missing),
        cmocka_unit_test(what_is_wrong_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
