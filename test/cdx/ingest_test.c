/* ingest_test.c - batches, bad lines, and what is read line by line. */
#include "test/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/filter.h>
#include <seen/ingest.h>

#include "lib/cdx/rejects.h"
#include "lib/cdx/source.h"
#include "lib/text/buffer.h"

static void put(const char *name, const void *bytes, size_t len,
                const char *mode)
{
    FILE *file = fopen(name, mode);

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* --- the example of the header, as it stands there --- */

static enum seen_code add(void *to, unsigned thread, struct seen_batch *batch,
                          struct seen_error *why)
{
    (void)thread;
    return seen_filter_add(to, batch->key, batch->n, NULL, why);
}

static enum seen_code add_files(struct seen_filter *filter, size_t files,
                                const char *const *file,
                                struct seen_error *why)
{
    struct seen_ingest in = {
        .keying.profile = "surt", .threads = 1, .keys = add, .to = filter
    };
    enum seen_code code;

    code = seen_source_open(&in.source, file, files, NULL, why);
    if (code == SEEN_OK)
        code = seen_ingest_run(&in, why);
    seen_source_close(in.source);
    return code;
}

TEST(the_example_adds_what_files_have)
{
    struct seen_plan plan = {
        .kind = "blocked", .profile = "surt", .capacity = 100, .rate = 0.0001
    };
    const char *files[] = { "list", "index" };
    struct seen_filter *f;
    struct seen_error why;
    struct seen_key key;
    char text[SEEN_KEY_TEXT];
    bool seen;

    put("list", "http://a.example/\n", 18, "wb");
    put("index", "example,b)/ 20200101000000 {\"url\": \"x\"}\n", 40, "wb");
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    assert_int_equal(add_files(f, 2, files, &why), SEEN_OK);
    seen_key_make(&key, text, "http://b.example/", 17, "surt", NULL);
    assert_int_equal(seen_filter_has(f, &key, 1, &seen, NULL), SEEN_OK);
    assert_true(seen);
    seen_filter_free(f);
}

/* --- batches --- */

TEST(a_batch_takes_what_fits)
{
    static struct seen_batch b;
    static char url[SEEN_KEY_TEXT];
    struct seen_profile raw, whatwg;
    struct seen_error why;
    int n = 0;

    seen_profile_find(&raw, "raw", NULL);
    seen_profile_find(&whatwg, "whatwg", NULL);
    for (; seen_batch_room(&b); n++)
        assert_int_equal(seen_batch_add(&b, "x", 1, &raw, NULL), SEEN_OK);
    assert_int_equal(n, SEEN_BATCH);
    b.n = b.used = 0;
    memset(url, 'x', sizeof url);
    memcpy(url, "HTTP://a/", 9); /* becomes another text */
    for (n = 0; seen_batch_room(&b); n++)
        assert_int_equal(
            seen_batch_add(&b, url, sizeof url - 100, &whatwg, NULL), SEEN_OK);
    assert_true(n > 20 && n < 40);
    assert_true(b.used <= SEEN_BATCH_TEXT);
    assert_int_equal(seen_batch_add(&b, "\t", 1, &raw, &why), SEEN_RANGE);
    assert_string_equal(why.text, "a control byte");
}

/* --- runs --- */

/* All URLs of a run, joined by '|'; a bad line is in `bad`. */
struct list {
    char text[1 << 16], bad[1 << 10];
    size_t len, bad_len;
    struct seen_ingest *in;
    uint64_t stop_after;
};
static struct list list;

static enum seen_code note(void *to, unsigned thread, struct seen_batch *b,
                           struct seen_error *why)
{
    struct list *l = to;

    (void)thread, (void)why;
    for (size_t i = 0; i < b->n; i++) {
        assert_true(l->len + b->line[i].len + 1 < sizeof l->text);
        memcpy(l->text + l->len, b->line[i].text, b->line[i].len);
        l->len += b->line[i].len;
        l->text[l->len++] = '|';
    }
    l->in->stop = l->stop_after && l->len >= l->stop_after;
    return SEEN_OK;
}

static void note_bad(void *to, const char *lines, size_t len)
{
    struct list *l = to;

    assert_true(l->bad_len + len < sizeof l->bad);
    memcpy(l->bad + l->bad_len, lines, len);
    l->bad_len += len;
}

static struct list *ingest(struct seen_ingest *in, const char *const *file,
                           size_t files,
                           const struct seen_source_options *options)
{
    memset(&list, 0, sizeof list);
    list.in = in;
    in->keying.profile = "raw";
    in->keys = note;
    in->to = &list;
    assert_int_equal(seen_source_open(&in->source, file, files, options, NULL),
                     SEEN_OK);
    return &list;
}

TEST(lines_end_with_a_feed_or_a_return_and_a_feed_or_not_at_all)
{
    static const struct {
        const char *text, *lines;
        uint64_t count, bad;
    } cases[] = {
        { "", "", 0, 0 },
        { "\n", "", 1, 0 },
        { "\r\n", "", 1, 0 },
        { "\n\n\n", "", 3, 0 },
        { "a", "a|", 1, 0 },
        { "a\n", "a|", 1, 0 },
        { "a\r\n", "a|", 1, 0 },
        { "a\r", "a|", 1, 0 },
        { "a\n\nb", "a|b|", 3, 0 },
        { "a\rb\n", "", 1, 1 },
        { "\na\n", "a|", 2, 0 },
        { "\xef\xbb\xbf"
          "a\nb\n",
          "a|b|", 2, 0 },
        { "\xef\xbb\xbf", "", 0, 0 },
        { "a\na\na\n", "a|", 3, 0 },
    };
    const char *file = "lines";

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seen_ingest in = { .threads = 2 };
        struct list *l;

        put(file, cases[i].text, strlen(cases[i].text), "wb");
        l = ingest(&in, &file, 1, NULL);
        assert_int_equal(seen_ingest_run(&in, NULL), SEEN_OK);
        assert_string_equal(l->text, cases[i].lines);
        assert_int_equal(in.tally.lines, cases[i].count);
        assert_int_equal(in.rejects.count, cases[i].bad);
        seen_source_close(in.source);
    }
}

TEST(bad_lines_are_left_out_numbered_and_kept)
{
    const char *files[] = { "some", "more" };
    struct seen_ingest in = { .threads = 1 }, strict = { .strict = true };
    struct seen_error why;
    struct list *l;

    put("some", "a\n\t\nb\n\t\nc\n", 10, "wb");
    put("more", "d\nx\x7f\n", 5, "wb");
    l = ingest(&in, files, 2, NULL);
    in.rejected = note_bad;
    assert_int_equal(seen_ingest_run(&in, NULL), SEEN_OK);
    assert_string_equal(l->text, "a|b|c|d|");
    assert_string_equal(l->bad, "\t\n\t\nx\x7f\n");
    assert_int_equal(in.rejects.count, 3);
    assert_int_equal(in.rejects.cause[0].at[1].line, 4);
    assert_string_equal(in.rejects.cause[0].at[1].input, "some");
    assert_int_equal(in.rejects.cause[0].at[2].line, 2);
    assert_string_equal(in.rejects.cause[0].at[2].input, "more");
    seen_source_close(in.source);

    l = ingest(&strict, files, 2, NULL);
    assert_int_equal(seen_ingest_run(&strict, &why), SEEN_CORRUPT);
    assert_string_equal(why.text, "some line 2: a control byte");
    assert_string_equal(l->text, "a|");
    assert_int_equal(strict.rejects.count, 1);
    seen_source_close(strict.source);
}

static enum seen_code count_keys(void *to, unsigned thread,
                                 struct seen_batch *b, struct seen_error *why)
{
    (void)thread, (void)why;
    *(size_t *)to += b->n;
    return SEEN_OK;
}

/* Later than those lines whose keys are all compared with their URLs. */
TEST(no_line_behind_a_bad_one_is_taken_if_that_ends_a_run)
{
    enum { LINES = 1500, BAD = 701 };
    const char *files[] = { "index" };
    struct buffer text = { .bytes = NULL };
    size_t keys = 0;
    struct seen_ingest in = { .keying.profile = "surt",
                              .threads = 1,
                              .strict = true,
                              .keys = count_keys,
                              .to = &keys };

    for (int i = 1; i <= LINES; i++)
        if (i == BAD)
            buffer_text(&text, "bad\n");
        else
            buffer_format(&text,
                          "com,a)/%d 20200101000000 http://a.com/%d text/html "
                          "200 A - - 1 2 f\n",
                          i, i);
    put("index", text.bytes, text.len, "wb");
    buffer_clear(&text);
    assert_int_equal(seen_source_open(&in.source, files, 1, NULL, NULL),
                     SEEN_OK);
    assert_int_equal(seen_ingest_run(&in, NULL), SEEN_CORRUPT);
    assert_int_equal(keys, BAD - 1);
    seen_source_close(in.source);
}

TEST(causes_beyond_the_eighth_are_counted_together)
{
    struct seen_rejects sum = { 0 }, piece = { 0 };
    char cause[24];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 12; i++) {
            snprintf(cause, sizeof cause, "cause %d", i);
            cdx_rejects_add(&piece, NULL, (uint64_t)i + 1, cause,
                            SEEN_COST_LINE);
        }
        cdx_rejects_fold(&sum, &piece, 100 * (uint64_t)round);
        assert_int_equal(piece.count, 0);
    }
    assert_int_equal(sum.count, 36);
    assert_int_equal(sum.cause[0].count, 3);
    assert_int_equal(sum.cause[0].at[2].line, 201);
    assert_int_equal(sum.cause[SEEN_CAUSES - 1].count, 15);
    assert_string_equal(sum.cause[SEEN_CAUSES - 1].text, "other causes");
}

static enum seen_code full(void *to, unsigned thread, struct seen_batch *b,
                           struct seen_error *why)
{
    (void)to, (void)thread, (void)b;
    return seen_fail(why, SEEN_FULL, 7, "no room");
}

TEST(what_a_function_fails_with_is_returned)
{
    const char *file = "one";
    struct seen_ingest in = { .threads = 4 };
    struct seen_error why;

    put(file, "a\nb\n", 4, "wb");
    ingest(&in, &file, 1, NULL);
    in.keys = full;
    assert_int_equal(seen_ingest_run(&in, &why), SEEN_FULL);
    assert_int_equal(why.at, 7);
    seen_source_close(in.source);
}

TEST(a_function_can_end_a_run)
{
    static char text[3 * 2 * SEEN_BATCH];
    const struct seen_source_options options = { .in_order = true };
    const char *file = "many";
    struct seen_ingest in = { .every = true };
    struct list *l;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? '\n' : 'x';
    put(file, text, sizeof text, "wb");
    l = ingest(&in, &file, 1, &options);
    l->stop_after = 1;
    assert_int_equal(seen_ingest_run(&in, NULL), SEEN_OK);
    assert_int_equal(in.tally.urls, SEEN_BATCH);
    seen_source_close(in.source);
}

/* --- line by line --- */

/*
 * What comes by a pipe, one write after the other; each is sent when there
 * is a wait, so a line that was sent must be answered before the next.
 */
struct sender {
    const char *const *text;
    int to;
    const char *const *answered; /* before the write of the same number */
};

static void send_next(void *to)
{
    struct sender *s = to;

    if (!s->to)
        return;
    if (!*s->text) {
        close(s->to);
        s->to = 0;
        return;
    }
    if (*s->answered)
        assert_string_equal(list.text, *s->answered++);
    assert_int_equal(write(s->to, *s->text, strlen(*s->text)),
                     strlen(*s->text));
    s->text++;
}

TEST(a_pipe_is_answered_line_by_line)
{
    static const char *const lines[] = { "\na",      "b\nc", "d\r",
                                         "\ne\nf\n", "g",    NULL };
    static const char *const answers[] = { "",    "",           "ab|",
                                           "ab|", "ab|cd|e|f|", NULL };
    struct seen_ingest in = { .every = true };
    struct sender s = { .text = lines, .answered = answers };
    const struct seen_source_options options = { .in_order = true,
                                                 .wait = send_next,
                                                 .to = &s };
    char name[32];
    const char *file = name;
    struct list *l;
    int fd[2];

    assert_int_equal(pipe(fd), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", fd[0]);
    s.to = fd[1];
    l = ingest(&in, &file, 1, &options);
    assert_int_equal(seen_ingest_run(&in, NULL), SEEN_OK);
    assert_string_equal(l->text, "ab|cd|e|f|g|");
    assert_int_equal(in.tally.lines, 6);
    seen_source_close(in.source);
    close(fd[0]);
}

/*
 * One line of every length around the sizes where something changes, with a
 * line before and one behind it, so that its ends fall on all borders; from
 * a file, and from a pipe in writes that end anywhere.
 */
TEST(a_line_of_any_length_is_one_line)
{
    static const size_t near[] = { SEEN_KEY_TEXT, SEEN_LINE_TEXT, BLOCK,
                                   PIPE_PIECE };
    static char text[2 * PIPE_PIECE];
    const char *inputs[] = { "long", "pipe" };

    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
        for (size_t len = near[i] - 9; len < near[i] + 9; len++)
            for (int piped = 0; piped < 3; piped++) {
                const struct seen_source_options options = {
                    .in_order = true
                };
                struct seen_ingest in = { .every = true };
                bool bad = len > SEEN_KEY_TEXT;
                char command[64];
                FILE *pipe = NULL;
                char name[32];
                struct list *l;

                memcpy(text, "first\n", 6);
                memset(text + 6, 'x', len);
                memcpy(text + 6 + len, "\nlast", 5);
                put("long", text, 6 + len + 5, "wb");
                if (piped) {
                    snprintf(command, sizeof command,
                             "dd bs=%d status=none "
                             "if=long",
                             piped == 1 ? 4096 : 65537);
                    pipe = popen(command, "r");
                    assert_non_null(pipe);
                    snprintf(name, sizeof name, "/dev/fd/%d", fileno(pipe));
                    inputs[1] = name;
                }
                l = ingest(&in, &inputs[piped > 0], 1, &options);
                assert_int_equal(seen_ingest_run(&in, NULL), SEEN_OK);
                assert_int_equal(in.tally.lines, 3);
                assert_int_equal(in.rejects.count, bad);
                if (bad)
                    assert_string_equal(l->text, "first|last|");
                else
                    assert_int_equal(strlen(l->text), 6 + len + 1 + 5);
                seen_source_close(in.source);
                if (pipe)
                    pclose(pipe);
            }
}

/* --- the keys of an index --- */

static enum seen_code ignore(void *to, unsigned thread, struct seen_batch *b,
                             struct seen_error *why)
{
    (void)to, (void)thread, (void)b, (void)why;
    return SEEN_OK;
}

/* An index of `lines` lines; in those from `from` on the key is another. */
static void put_index(const char *name, unsigned lines, unsigned from)
{
    FILE *file = fopen(name, "wb");

    assert_non_null(file);
    for (unsigned i = 1; i <= lines; i++)
        fprintf(
            file,
            "example,a)/%c%u 20200101000000 http://a.example/p%u text/html "
            "200 K - - 1 2 some-file-with-a-long-name.warc.gz\n",
            i < from ? 'p' : 'P', i, i);
    assert_int_equal(fclose(file), 0);
}

static struct seen_agreement agreement(const char *const *file, size_t files,
                                       enum seen_index_keys keys,
                                       unsigned threads)
{
    struct seen_ingest in = { .keying = { "surt", keys },
                              .threads = threads,
                              .keys = ignore };

    assert_int_equal(seen_source_open(&in.source, file, files, NULL, NULL),
                     SEEN_OK);
    assert_int_equal(seen_ingest_run(&in, NULL), SEEN_OK);
    for (size_t i = 0; i < files && in.agreement.input; i++)
        if (!strcmp(in.agreement.input, file[i]))
            in.agreement.input = file[i]; /* lives longer */
    seen_source_close(in.source);
    return in.agreement;
}

/*
 * Of 300,000 lines, in three pieces, 512 + 256 + 128 at the beginnings and
 * one in 1,024 of the others are compared: at least 1,180, whoever reads them.
 */
TEST(of_trusted_keys_one_in_a_thousand_is_compared_whoever_reads_it)
{
    const char *file = "large.cdx";
    struct seen_agreement a, b;

    put_index(file, 300000, 300001);
    a = agreement(&file, 1, SEEN_KEYS_TRUSTED, 1);
    assert_true(a.checked >= 1180 && a.checked < 1200);
    assert_int_equal(a.differ, 0);
    assert_int_equal(agreement(&file, 1, SEEN_KEYS_TRUSTED, 3).checked,
                     a.checked);

    put_index(file, 300000, 297000); /* the last 3,001 */
    a = agreement(&file, 1, SEEN_KEYS_TRUSTED, 1);
    b = agreement(&file, 1, SEEN_KEYS_TRUSTED, 3);
    assert_true(a.differ >= 2 && a.differ <= 3);
    assert_int_equal(a.differ, b.differ);
    assert_true(a.line >= 297000 && a.line < 298100);
    assert_int_equal(a.line, b.line);
    assert_string_equal(a.input, file);
    assert_memory_equal(a.key, "example,a)/P29", 14);
    assert_memory_equal(a.ours, "example,a)/p29", 14);
    assert_string_equal(a.ours, b.ours);
}

TEST(otherwise_every_line_is_compared_whoever_reads_it)
{
    const char *file = "large.cdx";

    put_index(file, 300000, 299990); /* the last 11 */
    for (unsigned threads = 1; threads < 4; threads++)
        for (int keys = SEEN_KEYS_AUTO; keys <= SEEN_KEYS_DERIVED; keys++) {
            struct seen_agreement a = agreement(
                &file, 1, (enum seen_index_keys)keys, threads);

            if (keys == SEEN_KEYS_TRUSTED)
                continue;
            assert_int_equal(a.checked, 300000);
            assert_int_equal(a.differ, 11);
            assert_int_equal(a.line, 299990);
            assert_string_equal(a.ours, "example,a)/p299990");
        }
}

TEST(of_a_small_index_every_line_is_compared)
{
    const char *files[] = { "one.cdx", "two.cdx", "three.cdx" };
    struct seen_agreement a;

    put_index("one.cdx", 300, 301);
    put_index("two.cdx", 200, 201);
    put_index("three.cdx", 100, 100);
    a = agreement(files, 3, SEEN_KEYS_TRUSTED, 2);
    assert_int_equal(a.checked, 600);
    assert_int_equal(a.differ, 1);
    assert_string_equal(a.input, "three.cdx");
    assert_int_equal(a.line, 100);
}

/* --- captures of one URL --- */

struct hashed {
    uint64_t keys, lines; /* hashes of them, in their order */
};

static enum seen_code hash_all(void *to, unsigned thread, struct seen_batch *b,
                               struct seen_error *why)
{
    struct hashed *h = to;
    struct seen_key line;

    (void)thread, (void)why;
    for (size_t i = 0; i < b->n; i++) {
        h->keys = seen_mix(h->keys ^ b->key[i].lo) + b->key[i].hi;
        seen_key_hash(&line, b->line[i].text,
                      strcspn(b->line[i].text, "\r\n"));
        h->lines = seen_mix(h->lines ^ line.lo);
    }
    return SEEN_OK;
}

static bool select_all(void *to, const struct seen_capture *c)
{
    (void)to, (void)c;
    return true;
}

/* Few keys, each of them again and again; now and then a line is damaged. */
static void put_repeats(const char *name, bool json, uint64_t seed)
{
    FILE *file = fopen(name, "wb");
    uint64_t x = seed;

    assert_non_null(file);
    if (!json)
        fputs(" CDX N b a m s\n", file);
    for (int i = 0; i < 20000; i++) {
        int key = i / 4 % 97, odd = (int)((x = seen_mix(x + 1)) % 100);

        fprintf(file, odd == 1 ? "%s\001,%d)/%.*s" : "%s,a%d)/%.*s",
                odd == 2 ? "" : "com", key, key % 90,
                "a/b/c/d-e-f-g-h/i-j-k-l-m-n-o-p-q/r-s-t-u-v-w-x-y-z/"
                "0123456789/a-b-c-d-e-f-g-h-i-j-k-l-m-n");
        fputs(odd == 3 ? "" : odd == 4 ? "/ " : " ", file);
        fputs(odd == 5 ? "- " : "20200101000000 ", file);
        if (json)
            fputs(odd == 6 ? "\"u\": 1}" : "{\"u\": \"http://a/\"}", file);
        else
            fputs(odd == 6 ? "http://a/ b 200 b" : "http://a/ b 200", file);
        for (int j = 0; j < 400 && odd == 7; j++) /* longer than a stretch */
            fputs("0123456789012345678901234567890123456789012345678\t", file);
        fputs(odd == 8             ? "\r\n"
              : odd == 9           ? " \n"
              : odd == 10          ? "\n\n"
              : odd == 11 && !json ? "\n CDX N b a m s\n"
                                   : "\n",
              file);
    }
    assert_int_equal(fclose(file), 0);
}

/* A run takes many lines at once, unless captures are selected: then it looks
   at each. With more detail it reads each line the long way. */
TEST(captures_of_one_url_count_as_if_each_line_were_read)
{
    for (int i = 0; i < 12; i++) {
        const char *name = "repeats";
        const char *profile = i % 4 < 3 ? "surt" : "surt:1"; /* keys are cut */
        enum seen_index_keys made = i < 8 ? SEEN_KEYS_TRUSTED : SEEN_KEYS_AUTO;
        struct hashed h[3] = { { 0, 0 } };
        struct seen_ingest in[3];

        put_repeats(name, i % 2, (uint64_t)i);
        for (int way = 0; way < 3; way++) {
            in[way] = (struct seen_ingest){ .keying = { profile, made },
                                            .keys = hash_all,
                                            .to = &h[way] };
            in[way].select = way == 1 ? select_all : NULL;
            in[way].detail = way == 2 ? SEEN_DETAIL_URL : SEEN_DETAIL_KEY;
            assert_int_equal(
                seen_source_open(&in[way].source, &name, 1, NULL, NULL),
                SEEN_OK);
            assert_int_equal(seen_ingest_run(&in[way], NULL), SEEN_OK);
            seen_source_close(in[way].source);
            assert_true(in[way].tally.captures > 15000);
            assert_true(in[way].tally.urls < 10000);
            assert_true(in[way].rejects.count > 100);
            assert_memory_equal(&in[way].tally, &in[0].tally,
                                sizeof in[0].tally);
            assert_int_equal(in[way].agreement.checked,
                             in[0].agreement.checked);
            assert_int_equal(in[way].agreement.line, in[0].agreement.line);
            assert_int_equal(in[way].rejects.count, in[0].rejects.count);
            assert_memory_equal(&h[way], &h[0], sizeof h[0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_adds_what_files_have),
        cmocka_unit_test(a_batch_takes_what_fits),
        cmocka_unit_test(
            lines_end_with_a_feed_or_a_return_and_a_feed_or_not_at_all),
        cmocka_unit_test(bad_lines_are_left_out_numbered_and_kept),
        cmocka_unit_test(no_line_behind_a_bad_one_is_taken_if_that_ends_a_run),
        cmocka_unit_test(causes_beyond_the_eighth_are_counted_together),
        cmocka_unit_test(what_a_function_fails_with_is_returned),
        cmocka_unit_test(a_function_can_end_a_run),
        cmocka_unit_test(a_pipe_is_answered_line_by_line),
        cmocka_unit_test(a_line_of_any_length_is_one_line),
        cmocka_unit_test(
            of_trusted_keys_one_in_a_thousand_is_compared_whoever_reads_it),
        cmocka_unit_test(otherwise_every_line_is_compared_whoever_reads_it),
        cmocka_unit_test(of_a_small_index_every_line_is_compared),
        cmocka_unit_test(captures_of_one_url_count_as_if_each_line_were_read),
    };

    return cmocka_run_group_tests(tests, folder_enter, folder_remove);
}
