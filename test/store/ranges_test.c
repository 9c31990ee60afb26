/*
 * ranges_test.c - filters that are asked where they lie.
 *
 * The file is in memory, and a function reads it, which counts and can lie. The
 * main question is whether a lie ever becomes an answer.
 */
#include "stored.h"

#include <seen/ranges.h>

#include "lib/disk/disk.h"
#include "lib/store/decoys.h"
#include "lib/store/format.h"

enum { ASKED = 400, CAPACITY = 300000 };

/* Ways to lie, about all but the first `honest` calls. */
enum lie {
    HONEST,
    NOISE,     /* random bytes */
    FLIPPED,   /* one bit of each range */
    MOVED,     /* the bytes of another place */
    SWAPPED,   /* the ranges of a call exchanged */
    ZEROS,
    SHORT,     /* the file ends earlier */
    LONG,      /* more bytes than were asked for are said to have come */
    LENGTH_OF, /* another length of the whole file */
    OTHER,     /* another version of the filter */
    HALF,      /* the first half of each range of another version */
    LIES
};

struct source {
    unsigned char *bytes, *other;
    size_t len, other_len;
    enum lie lie;
    unsigned honest, calls, ranges;
    uint64_t sent;
    bool all, refuse, silent; /* of weigh(); and no length is told */
    unsigned weighed, closed;
    struct seen_ranges_need need;
};

static void copy(void *to, const unsigned char *from, size_t all, uint64_t at,
                 size_t len)
{
    memset(to, 0, len);
    if (at < all)
        memcpy(to, from + at, len < all - at ? len : all - (size_t)at);
}

static void lie_about(struct source *s, struct seen_range *r, size_t n,
                      size_t i)
{
    unsigned char *to = r[i].to;
    size_t len = r[i].len;

    switch (s->lie) {
    case NOISE:
        for (size_t j = 0; j < len; j++)
            to[j] = (unsigned char)((j * 2654435761u) >> 13);
        break;
    case FLIPPED: to[len / 2] ^= 0x10; break;
    case MOVED: copy(to, s->bytes, s->len, r[i].from + 64, len); break;
    case SWAPPED: copy(to, s->bytes, s->len, r[n - 1 - i].from, len); break;
    case ZEROS: memset(to, 0, len); break;
    case SHORT: r[i].len = len / 2; break;
    case LONG: r[i].len = len + 1; break;
    case OTHER: copy(to, s->other, s->other_len, r[i].from, len); break;
    case HALF: copy(to, s->other, s->other_len, r[i].from, len / 2); break;
    default: break;
    }
}

static enum seen_code read_ranges(void *of, struct seen_range *range, size_t n,
                                  uint64_t *length, struct seen_error *why)
{
    struct source *s = of;
    const bool lies = s->lie != HONEST && s->calls >= s->honest;

    (void)why;
    assert_true(n > 0 && n <= SEEN_RANGES_MOST);
    s->calls++;
    s->ranges += (unsigned)n;
    for (size_t i = 0; i < n; i++) {
        assert_true(!i || range[i].from > range[i - 1].from);
        assert_true(range[i].from < s->len);
        if (range[i].from + range[i].len > s->len)
            range[i].len = s->len - (size_t)range[i].from;
        s->sent += range[i].len;
        copy(range[i].to, s->bytes, s->len, range[i].from, range[i].len);
    }
    if (!s->silent)
        *length = s->len;
    for (size_t i = 0; lies && i < n; i++)
        lie_about(s, range, n, i);
    if (lies && s->lie == LENGTH_OF)
        *length = s->len + 4096;
    return SEEN_OK;
}

static enum seen_code weigh(void *of, const struct seen_ranges_need *need,
                            bool *all, struct seen_error *why)
{
    struct source *s = of;

    s->weighed++;
    s->need = *need;
    *all = s->all;
    return s->refuse ? seen_fail(why, SEEN_RANGE, 0, "too much") : SEEN_OK;
}

/* A file of several blocks with the first half of the keys, and another version
   that has the second half. */
static void make(struct source *s, const char *kind)
{
    struct seen_plan plan = plan_of(kind, CAPACITY);
    struct seen_filter *f = holding(&plan, ASKED / 2);

    memset(s, 0, sizeof *s);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    s->bytes = slurp(path, &s->len);
    f = holding(&plan, ASKED);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    s->other = slurp(path, &s->other_len);
}

static void drop(struct source *s)
{
    free(s->bytes);
    free(s->other);
}

static struct seen_ranges ranges_of(struct source *s)
{
    return (struct seen_ranges){ .read = read_ranges, .of = s };
}

static struct seen_filter *open_at(struct source *s)
{
    struct seen_ranges r = ranges_of(s);
    struct seen_filter *f;
    struct seen_error why;

    if (seen_ranges_open(&f, &r, NULL, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return f;
}

/* What a file says when it is loaded as a whole. */
static void answers_of(const unsigned char *bytes, size_t len, bool *right)
{
    struct seen_filter *f;
    FILE *to = fopen(path, "wb");

    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, len, to), len);
    fclose(to);
    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_has(f, key, ASKED, right, NULL), SEEN_OK);
    seen_filter_free(f);
}

static void right_answers(const struct source *s, bool *right)
{
    answers_of(s->bytes, s->len, right);
}

/* --- honest ----------------------------------------------------------------- */

TEST(every_kind_answers_as_when_it_is_loaded)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct source s;
        struct seen_filter *f;
        bool right[ASKED], seen[ASKED];

        make(&s, every_kind[i]);
        right_answers(&s, right);
        f = open_at(&s);
        for (size_t j = 0; j < ASKED; j += 40)
            assert_int_equal(seen_filter_has(f, key + j, 1, seen + j, NULL),
                             SEEN_OK);
        assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
        assert_memory_equal(seen, right, sizeof seen);
        seen_filter_free(f);
        drop(&s);
    }
}

TEST(a_question_to_blocked_reads_the_beginning_once_and_one_block)
{
    struct seen_plan plan = plan_of("blocked", 3000000);
    struct source s = { .silent = true };
    struct seen_filter *f = holding(&plan, ASKED / 2);
    bool seen[2];

    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    s.bytes = slurp(path, &s.len);
    f = open_at(&s);
    assert_int_equal(seen_filter_has(f, key, 1, seen, NULL), SEEN_OK);
    assert_true(s.calls <= 2);
    assert_true(s.sent <= 200000);
    s = (struct source){ .bytes = s.bytes, .len = s.len };
    assert_int_equal(seen_filter_has(f, key, 1, seen, NULL), SEEN_OK);
    assert_int_equal(s.calls, 0);
    assert_int_equal(seen_filter_has(f, key + 1, 1, seen, NULL), SEEN_OK);
    assert_int_equal(s.calls, 1);
    assert_true(s.sent <= BLOCK);
    seen_filter_free(f);
    drop(&s);
}

/* So a first question to any filter of that size is two requests. */
TEST(the_first_range_has_the_beginning_of_1_gb)
{
    struct store_head h = { .format = FORMAT_VERSION,
                            .block = BLOCK,
                            .text_len = 4096,
                            .leaves = 1,
                            .cells_len = 1000000000 };

    store_head_arrange(&h);
    assert_true(h.cells_at <= SEEN_RANGES_FIRST);
    assert_true(SEEN_RANGES_FIRST + BLOCK < 200000);
}

TEST(a_longer_beginning_takes_a_second_range)
{
    /* Parts make a text long. */
    struct seen_plan plan = plan_of("routed:4096/blocked", 600000);
    struct source s = { .len = 0 };
    struct seen_filter *f = holding(&plan, 100);

    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    s.bytes = slurp(path, &s.len);
    f = open_at(&s);
    assert_int_equal(s.calls, 2);
    assert_holds(f, 100);
    seen_filter_free(f);
    drop(&s);
}

/* Of shards, the table says in which block a key is. */
TEST(what_says_where_keys_are_is_read_before_them)
{
    enum { MANY = 300000 };
    struct seen_plan plan = plan_of("shards", MANY);
    struct source s = { .len = 0 };
    struct seen_build *b;
    struct seen_filter *f;
    struct seen_key *all = calloc(MANY, sizeof *all);
    bool seen[KEYS];
    double rate;

    for (size_t i = 0; i < MANY; i++) {
        all[i] = key[i % KEYS];
        all[i].lo += (i / KEYS) * 0x9e3779b97f4a7c15u;
    }
    assert_int_equal(seen_build_new(&b, &plan, 1, NULL), SEEN_OK);
    assert_int_equal(seen_build_add(b, 0, all, MANY, NULL), SEEN_OK);
    assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    rate = seen_filter_rate(f);
    seen_filter_free(f);
    free(all);
    s.bytes = slurp(path, &s.len);
    assert_true(s.len > SEEN_RANGES_FIRST + 2 * BLOCK);
    f = open_at(&s);
    /* Without the table the rate is that of the plan, not a lower one. */
    assert_true(seen_filter_rate(f) >= rate);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(seen_filter_has(f, key + i, 1, seen, NULL), SEEN_OK);
    assert_true(seen_filter_rate(f) == rate);
    /* The table, and each block once. */
    assert_true(s.calls <= 2 + s.len / BLOCK);
    assert_holds(f, KEYS);
    seen_filter_free(f);
    f = open_at(&s);
    s.calls = 0;
    assert_holds(f, KEYS);
    assert_int_equal(s.calls, 2);
    seen_filter_free(f);
    for (s.honest = 0; s.honest < 3; s.honest++) {
        struct seen_ranges r = ranges_of(&s);

        s.lie = ZEROS;
        s.calls = 0;
        if (seen_ranges_open(&f, &r, NULL, NULL) != SEEN_OK)
            continue;
        assert_int_equal(seen_filter_has(f, key, KEYS, seen, NULL),
                         SEEN_CORRUPT);
        seen_filter_free(f);
    }
    drop(&s);
}

TEST(many_keys_are_asked_in_one_call_with_neighbours_as_one_range)
{
    struct source s;
    struct seen_filter *f;
    struct seen_ranges_need need;
    bool seen[ASKED];
    uint64_t bytes;

    make(&s, "blocked");
    f = open_at(&s);
    assert_int_equal(seen_ranges_needed(f, key, ASKED, &need, NULL), SEEN_OK);
    s.calls = s.ranges = 0;
    s.sent = 0;
    assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
    /* 400 keys reach all of the five blocks that the first range had not. */
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.ranges, 1);
    assert_int_equal(need.ranges, 1);
    bytes = need.bytes;
    assert_int_equal(s.sent, bytes);
    assert_int_equal(seen_ranges_needed(f, key, ASKED, &need, NULL), SEEN_OK);
    assert_int_equal(need.ranges + need.bytes, 0);
    seen_filter_free(f);
    drop(&s);
}

TEST(what_was_kept_is_not_read_again)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct source s;
        struct seen_ranges r;
        struct seen_filter *f;
        bool right[ASKED], seen[ASKED];
        int kept;

        make(&s, every_kind[i]);
        right_answers(&s, right);
        kept = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        r = ranges_of(&s);
        r.kept = &kept;
        for (int again = 0; again < 2; again++) {
            s.calls = 0;
            assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
            assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL),
                             SEEN_OK);
            assert_memory_equal(seen, right, sizeof seen);
            assert_true(again ? !s.calls : s.calls);
            seen_filter_free(f);
        }
        close(kept);
        drop(&s);
    }
}

/* Whatever a kept file has become, what is wrong is read again. */
TEST(a_kept_file_is_not_trusted)
{
    for (int way = 0; way < 4; way++) {
        struct source s;
        struct seen_ranges r;
        struct seen_filter *f;
        bool right[ASKED], seen[ASKED];
        int kept;

        make(&s, "blocked");
        right_answers(&s, right);
        kept = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        r = ranges_of(&s);
        r.kept = &kept;
        assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
        seen_filter_free(f);
        if (way == 0)
            assert_int_equal(ftruncate(kept, (off_t)s.len / 2), 0);
        for (size_t at = way == 1 ? 0 : 130; way && at < s.len; at += 5000)
            assert_int_equal(pwrite(kept, way == 3 ? "" : "damage",
                                    way == 3 ? 1 : 6, (off_t)at),
                             way == 3 ? 1 : 6);
        assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
        memset(seen, 0, sizeof seen);
        assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
        assert_memory_equal(seen, right, sizeof seen);
        seen_filter_free(f);
        close(kept);
        drop(&s);
    }
}

/* What another one does who opens the same kept file, while the beginning is on
   its way. */
struct other {
    struct source *s;
    struct seen_ranges r;
    struct seen_filter *f;
    bool seen[ASKED];
};

static enum seen_code read_after_another(void *of, struct seen_range *range,
                                         size_t n, uint64_t *length,
                                         struct seen_error *why)
{
    struct other *o = of;

    if (!o->f) {
        assert_int_equal(seen_ranges_open(&o->f, &o->r, NULL, why), SEEN_OK);
        assert_int_equal(seen_filter_has(o->f, key, ASKED, o->seen, why),
                         SEEN_OK);
    }
    return read_ranges(o->s, range, n, length, why);
}

TEST(two_begin_a_kept_file_at_once_and_neither_loses_what_it_has)
{
    struct source s;
    bool right[ASKED], seen[ASKED];
    int kept;
    struct other o = { .s = &s };
    struct seen_ranges r = { .read = read_after_another,
                             .of = &o,
                             .kept = &kept };
    struct seen_filter *f;

    make(&s, "blocked");
    right_answers(&s, right);
    kept = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    o.r = ranges_of(&s);
    o.r.kept = &kept;
    assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
    assert_memory_equal(o.seen, right, sizeof right);
    assert_int_equal(seen_filter_has(o.f, key, ASKED, seen, NULL), SEEN_OK);
    assert_memory_equal(seen, right, sizeof right);
    assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
    assert_memory_equal(seen, right, sizeof right);
    seen_filter_free(f);
    seen_filter_free(o.f);
    close(kept);
    drop(&s);
}

TEST(all_of_it_is_read_when_that_is_weighed_to_be_better)
{
    struct source s;
    struct seen_ranges r;
    struct seen_filter *f;
    bool seen[ASKED];
    unsigned calls;

    make(&s, "blocked");
    r = ranges_of(&s);
    r.weigh = weigh;
    assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
    assert_int_equal(s.weighed, 0);
    for (size_t i = 0; !s.need.ranges; i++)
        assert_int_equal(seen_filter_has(f, key + i, 1, seen, NULL), SEEN_OK);
    assert_int_equal(s.need.ranges, 1);
    assert_int_equal(s.need.bytes, BLOCK);
    assert_true(s.need.rest > 2 * BLOCK);
    s.all = true;
    s.need.ranges = 0;
    for (size_t i = 0; !s.need.ranges; i++)
        assert_int_equal(seen_filter_has(f, key + i, 1, seen, NULL), SEEN_OK);
    calls = s.calls;
    assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
    assert_int_equal(s.calls, calls);
    seen_filter_free(f);
    drop(&s);
}

static void count_close(void *of)
{
    ((struct source *)of)->closed++;
}

TEST(the_source_is_closed_with_the_filter_and_when_it_cannot_be_opened)
{
    struct source s;
    struct seen_ranges r;
    struct seen_filter *f;

    make(&s, "blocked");
    r = ranges_of(&s);
    r.close = count_close;
    assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
    assert_int_equal(s.closed, 0);
    seen_filter_free(f);
    assert_int_equal(s.closed, 1);
    s.lie = ZEROS;
    assert_int_not_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
    assert_int_equal(s.closed, 2);
    drop(&s);
}

TEST(answers_from_kept_parts_alone_are_weighed_once)
{
    struct source s;
    struct seen_ranges r;
    struct seen_filter *f;
    bool seen[ASKED];
    int kept;

    make(&s, "blocked");
    kept = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    r = ranges_of(&s);
    r.kept = &kept;
    r.weigh = weigh;
    for (int again = 0; again < 2; again++) {
        s.weighed = 0;
        assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
        assert_int_equal(s.weighed, 1);
        assert_int_equal(s.need.ranges > 0, !again);
        assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
        assert_int_equal(s.weighed, 1);
        seen_filter_free(f);
    }
    s.refuse = true;
    assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_RANGE);
    seen_filter_free(f);
    close(kept);
    drop(&s);
}

TEST(a_question_that_is_refused_reads_nothing)
{
    struct source s;
    struct seen_ranges r;
    struct seen_filter *f;
    struct seen_error why;
    bool seen[ASKED];

    make(&s, "blocked");
    r = ranges_of(&s);
    r.weigh = weigh;
    s.refuse = true;
    assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
    s.calls = 0;
    assert_int_equal(seen_filter_has(f, key, ASKED, seen, &why), SEEN_RANGE);
    assert_string_equal(why.text, "too much");
    assert_int_equal(s.calls, 0);
    s.refuse = false;
    assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
    seen_filter_free(f);
    drop(&s);
}

TEST(saving_reads_all_of_it)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct source s;
        struct seen_filter *f;
        unsigned char *bytes;
        size_t len;

        make(&s, every_kind[i]);
        f = open_at(&s);
        assert_int_equal(seen_store_verify(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
        bytes = slurp(path, &len);
        assert_int_equal(len, s.len);
        assert_memory_equal(bytes, s.bytes, len);
        free(bytes);
        seen_filter_free(f);
        drop(&s);
    }
}

TEST(it_cannot_be_added_to)
{
    struct source s;
    struct seen_filter *f;

    make(&s, "blocked");
    f = open_at(&s);
    assert_int_not_equal(seen_filter_add(f, key, 1, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_refresh(f, NULL, NULL), SEEN_UNABLE);
    seen_filter_free(f);
    drop(&s);
}

TEST(a_keyed_filter_takes_its_secret)
{
    struct seen_plan plan = plan_of("blocked", CAPACITY);
    struct seen_access how = { .secret = secret };
    struct source s = { .len = 0 };
    struct seen_ranges r = ranges_of(&s);
    struct seen_filter *f;

    plan.keyed = true;
    f = holding(&plan, ASKED);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    s.bytes = slurp(path, &s.len);
    assert_int_equal(seen_ranges_open(&f, &r, &how, NULL), SEEN_OK);
    assert_holds(f, ASKED);
    seen_filter_free(f);
    how.secret = other_secret;
    assert_int_equal(seen_ranges_open(&f, &r, &how, NULL), SEEN_MISMATCH);
    drop(&s);
}

/* --- lies ------------------------------------------------------------------- */

/* Ask for all keys one by one and together: right, or refused. Returns how many
   were refused. */
static size_t ask_liar(const struct seen_filter *f, const bool *right)
{
    size_t refused = 0;
    bool seen[ASKED];

    for (size_t i = 0; i < ASKED; i++) {
        struct seen_error why;

        if (seen_filter_has(f, key + i, 1, seen, &why) == SEEN_OK)
            assert_int_equal(seen[0], right[i]);
        else
            refused++;
    }
    if (seen_filter_has(f, key, ASKED, seen, NULL) == SEEN_OK)
        assert_memory_equal(seen, right, sizeof seen);
    return refused;
}

/* `right` is what the file says, and what the other version does. */
static size_t lie_to(struct source *s, enum lie lie, unsigned honest,
                     bool right[2][ASKED])
{
    struct seen_ranges r = ranges_of(s);
    struct seen_filter *f;
    struct seen_error why;
    size_t refused;
    enum seen_code code;

    s->lie = lie;
    s->honest = honest;
    s->calls = 0;
    code = seen_ranges_open(&f, &r, NULL, &why);
    if (code != SEEN_OK) {
        assert_null(f);
        assert_true(code == SEEN_CORRUPT || code == SEEN_MISMATCH);
        return 1;
    }
    /* With the beginning of the other version, it is that one that is asked. */
    refused = ask_liar(f, right[!honest && (lie == OTHER || lie == HALF)]);
    seen_filter_free(f);
    return refused;
}

TEST(a_lie_is_refused_and_never_an_answer)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct source s;
        bool right[2][ASKED];
        size_t refused = 0;

        make(&s, every_kind[i]);
        answers_of(s.bytes, s.len, right[0]);
        answers_of(s.other, s.other_len, right[1]);
        for (enum lie lie = HONEST + 1; lie < LIES; lie++)
            for (unsigned honest = 0; honest < 3; honest++)
                refused += lie_to(&s, lie, honest, right);
        drop(&s);
        if (refused < LIES)
            fail_msg("%s refused only %zu times", every_kind[i], refused);
    }
}

/* Once the source is honest again, so are the answers. */
TEST(a_block_that_was_refused_can_be_read_again)
{
    struct source s;
    struct seen_filter *f;
    struct seen_error why;
    bool right[ASKED], seen[ASKED];

    make(&s, "blocked");
    right_answers(&s, right);
    f = open_at(&s);
    s.lie = FLIPPED;
    assert_int_equal(seen_filter_has(f, key, ASKED, seen, &why), SEEN_CORRUPT);
    s.lie = HONEST;
    assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
    assert_memory_equal(seen, right, sizeof seen);
    seen_filter_free(f);
    drop(&s);
}

/* A head with right checksums and a claim. */
static enum seen_code claim(struct source *s, struct store_head h,
                            struct seen_error *why)
{
    struct seen_ranges r = ranges_of(s);
    struct seen_filter *f;

    store_head_arrange(&h);
    store_head_put(s->bytes, &h);
    s->silent = true;
    s->lie = HONEST;
    s->len = 4096;
    /* What is read behind the 4,096 bytes is zeros. */
    return seen_ranges_open(&f, &r, NULL, why);
}

TEST(heads_that_claim_much_are_refused_before_there_is_memory_for_it)
{
    struct seen_error why;
    struct source s;
    struct store_head h;

    make(&s, "blocked");
    store_head_take(&h, s.bytes);
    h.cells_len = (uint64_t)1 << 50;
    assert_int_equal(claim(&s, h, &why), SEEN_RANGE);
    store_head_take(&h, s.other);
    h.cells_len = (uint64_t)1 << 62;
    assert_int_not_equal(claim(&s, h, &why), SEEN_OK);
    store_head_take(&h, s.other);
    h.leaves = TEXT_MOST;
    h.text_len = TEXT_MOST;
    assert_int_equal(claim(&s, h, &why), SEEN_RANGE);
    drop(&s);
}

TEST(a_file_that_is_being_written_is_refused)
{
    struct source s;
    struct seen_ranges r;
    struct seen_filter *f, *writer;
    struct seen_error why;

    make(&s, "blocked");
    free(s.bytes);
    assert_int_equal(seen_store_open(&writer, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(writer, key, 1, NULL, NULL), SEEN_OK);
    s.bytes = slurp(path, &s.len);
    r = ranges_of(&s);
    assert_int_equal(seen_ranges_open(&f, &r, NULL, &why), SEEN_BUSY);
    assert_int_equal(seen_store_close(writer, NULL), SEEN_OK);
    drop(&s);
}

TEST(what_is_no_filter_is_refused)
{
    static const char *const text[] = { "", "<html>", "\x89seen\r\n\x1a" };
    struct source s = { .len = 0 };

    for (size_t i = 0; i < LENGTH(text); i++) {
        struct seen_ranges r = ranges_of(&s);
        struct seen_filter *f;
        unsigned char bytes[300] = { 0 };

        memcpy(bytes, text[i], strlen(text[i]));
        s = (struct source){ .bytes = bytes, .len = i ? sizeof bytes : 1 };
        assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_CORRUPT);
    }
}

/* --- decoys ----------------------------------------------------------------- */

TEST(each_block_of_a_group_leads_to_the_same_group_and_each_is_in_one)
{
    static const uint64_t sizes[] = { 1, 2, 3, 7, 64, 100, 1000 };

    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (unsigned decoys = 0; decoys < 12; decoys += 1 + decoys / 2) {
            struct store_decoys d = { .decoys = decoys, .blocks = sizes[i] };
            unsigned char *times = calloc(1, sizes[i]);

            memcpy(d.secret, secret, sizeof d.secret);
            for (uint64_t b = 0; b < sizes[i]; b++) {
                uint64_t size, at = store_decoys_group(&d, b, &size);
                bool found = false;

                assert_true(at + size <= sizes[i]);
                assert_true(size >=
                            (sizes[i] > decoys ? decoys + 1 : sizes[i]));
                assert_true(size < 2 * ((uint64_t)decoys + 1));
                for (uint64_t j = at; j < at + size; j++) {
                    uint64_t other, one = store_decoys_at(&d, j);

                    assert_true(one < sizes[i]);
                    found |= one == b;
                    assert_int_equal(store_decoys_group(&d, one, &other), at);
                    assert_int_equal(other, size);
                }
                assert_true(found);
                times[store_decoys_at(&d, b)]++;
            }
            for (uint64_t b = 0; b < sizes[i]; b++)
                assert_int_equal(times[b], 1);
            free(times);
        }
}

TEST(groups_depend_on_the_secret)
{
    struct store_decoys a = { .decoys = 3, .blocks = 1000 }, b = a;
    unsigned same = 0;

    memcpy(a.secret, secret, sizeof a.secret);
    memcpy(b.secret, other_secret, sizeof b.secret);
    for (uint64_t i = 0; i < 1000; i++)
        same += store_decoys_at(&a, i) == store_decoys_at(&b, i);
    /* One is expected; more than ten once in 10^7. */
    assert_true(same <= 10);
}

TEST(a_block_comes_with_its_decoys_and_its_group_is_not_asked_for_again)
{
    struct seen_plan plan = plan_of("blocked", 3000000);
    struct seen_filter *f = holding(&plan, ASKED);
    struct source s = { .len = 0 };
    struct seen_ranges r = ranges_of(&s);
    struct store_decoys d = { .decoys = 4 };
    struct store_head h;
    uint64_t sent;
    bool seen[ASKED];

    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    s.bytes = slurp(path, &s.len);
    store_head_take(&h, s.bytes);
    d.blocks = h.blocks;
    memcpy(d.secret, secret, sizeof d.secret);
    memcpy(r.secret, secret, sizeof r.secret);
    r.decoys = d.decoys;
    assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
    sent = s.sent;
    for (size_t i = 0; s.sent == sent; i++)
        assert_int_equal(seen_filter_has(f, key + i, 1, seen, NULL), SEEN_OK);
    /* At most five blocks; those that the first range had are not missing. */
    assert_true(s.sent - sent > BLOCK);
    assert_true(s.sent - sent <= 9 * BLOCK);
    assert_holds(f, ASKED);
    /* Then all are here. */
    sent = s.sent;
    assert_int_equal(seen_filter_has(f, key, ASKED, seen, NULL), SEEN_OK);
    assert_int_equal(s.sent, sent);
    seen_filter_free(f);
    drop(&s);
}

/* Its table is fetched, and then no block is needed. */
TEST(a_filter_of_no_keys_is_asked_with_decoys)
{
    struct seen_plan plan = plan_of("shards", 0);
    struct source s = { .bytes = NULL };
    struct seen_ranges r = ranges_of(&s);
    struct seen_filter *f = holding(&plan, 0);
    bool seen = true;

    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    s.bytes = slurp(path, &s.len);
    r.decoys = 2;
    assert_int_equal(seen_ranges_open(&f, &r, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_has(f, key, 1, &seen, NULL), SEEN_OK);
    assert_false(seen);
    seen_filter_free(f);
    drop(&s);
}

/* Files are made in memory only: no test here is about losing power. */
static int flush_nothing(int fd)
{
    (void)fd;
    return 0;
}

static int enter_unflushed(void **state)
{
    disk_fdatasync = disk_fsync = flush_nothing;
    return enter(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(every_kind_answers_as_when_it_is_loaded),
        FRESH(a_question_to_blocked_reads_the_beginning_once_and_one_block),
        FRESH(the_first_range_has_the_beginning_of_1_gb),
        FRESH(a_longer_beginning_takes_a_second_range),
        FRESH(what_says_where_keys_are_is_read_before_them),
        FRESH(many_keys_are_asked_in_one_call_with_neighbours_as_one_range),
        FRESH(what_was_kept_is_not_read_again),
        FRESH(a_kept_file_is_not_trusted),
        FRESH(two_begin_a_kept_file_at_once_and_neither_loses_what_it_has),
        FRESH(all_of_it_is_read_when_that_is_weighed_to_be_better),
        FRESH(
            the_source_is_closed_with_the_filter_and_when_it_cannot_be_opened),
        FRESH(answers_from_kept_parts_alone_are_weighed_once),
        FRESH(a_question_that_is_refused_reads_nothing),
        FRESH(saving_reads_all_of_it),
        FRESH(it_cannot_be_added_to),
        FRESH(a_keyed_filter_takes_its_secret),
        FRESH(a_lie_is_refused_and_never_an_answer),
        FRESH(a_block_that_was_refused_can_be_read_again),
        FRESH(heads_that_claim_much_are_refused_before_there_is_memory_for_it),
        FRESH(a_file_that_is_being_written_is_refused),
        FRESH(what_is_no_filter_is_refused),
        FRESH(
            each_block_of_a_group_leads_to_the_same_group_and_each_is_in_one),
        FRESH(groups_depend_on_the_secret),
        FRESH(
            a_block_comes_with_its_decoys_and_its_group_is_not_asked_for_again),
        FRESH(a_filter_of_no_keys_is_asked_with_decoys),
    };

    return cmocka_run_group_tests(tests, enter_unflushed, leave);
}
