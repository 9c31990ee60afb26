/* format_test.c - a file is what was saved, or it is refused. */
#include "stored.h"

#include <fcntl.h>

#include "lib/store/cells.h"

enum { HEAD_LEN = 128, CELLS_AT = 96, CELLS_LEN = 104, BLOCK_LEN = 65536 };

static uint64_t word(const unsigned char *bytes, size_t at)
{
    uint64_t x;

    memcpy(&x, bytes + at, sizeof x);
    return x;
}

TEST(every_kind_comes_back_as_it_was)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], 1000);
        struct seen_filter *f = holding(&plan, 1000), *copy, *map;

        assert_int_equal(seen_meta_set(f, "title", "Zür ich=x", NULL),
                         SEEN_OK);
        assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
        assert_int_equal(seen_store_load(&copy, path, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_store_map(&map, path, NULL, NULL), SEEN_OK);
        assert_equal_text(f, copy);
        assert_equal_text(f, map);
        assert_equal_answers(f, copy);
        assert_equal_answers(f, map);
        assert_true(seen_filter_rate(f) == seen_filter_rate(map));
        assert_true(seen_filter_entries(f) == seen_filter_entries(copy));
        assert_string_equal(seen_meta_get(map, "title"), "Zür ich=x");
        assert_int_equal(files(), 1);
        seen_filter_free(f);
        seen_filter_free(copy);
        seen_filter_free(map);
    }
}

TEST(saving_what_was_loaded_gives_the_same_bytes)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        unsigned char *once, *twice;
        struct seen_filter *f;
        size_t len, again;

        store(every_kind[i], 1000, 900);
        once = slurp(path, &len);
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
        twice = slurp(path, &again);
        assert_int_equal(len, again);
        assert_memory_equal(once, twice, len);
        free(once);
        free(twice);
        seen_filter_free(f);
    }
}

TEST(a_mapped_filter_is_read_only_and_a_copy_is_not)
{
    struct seen_filter *map, *copy;

    store("bloom", 1000, 10);
    assert_int_equal(seen_store_map(&map, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_load(&copy, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(map, key, 20, NULL, NULL), SEEN_UNABLE);
    assert_int_equal(seen_filter_merge(map, copy, NULL), SEEN_UNABLE);
    assert_int_equal(seen_filter_add(copy, key, 20, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_merge(copy, map, NULL), SEEN_OK);
    assert_int_equal(seen_store_refresh(copy, NULL, NULL), SEEN_UNABLE);
    assert_holds(copy, 20);
    seen_filter_free(map);
    seen_filter_free(copy);
}

/* Of a file with parts, metadata and several blocks, each byte in turn. A
   byte of the first head does not matter: there is the second. */
TEST(every_altered_byte_before_the_cells_is_refused)
{
    struct seen_plan plan = plan_of("routed:2/bloom", 200000);
    struct seen_filter *f = holding(&plan, 10);
    unsigned char *bytes;
    size_t len;

    assert_int_equal(seen_meta_set(f, "title", "Example", NULL), SEEN_OK);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    bytes = slurp(path, &len);
    for (size_t i = 0; i < word(bytes, CELLS_AT); i++) {
        int fd = open(path, O_WRONLY);
        unsigned char wrong = (unsigned char)(bytes[i] ^ (1 << i % 8));
        struct seen_error why;

        assert_int_equal(pwrite(fd, &wrong, 1, (off_t)i), 1);
        switch (loads(&why)) {
        case SEEN_CORRUPT:
        case SEEN_MISMATCH: assert_true(i >= HEAD_LEN); break;
        default:
            if (i >= HEAD_LEN)
                fail_msg("byte %zu", i);
        }
        assert_int_equal(pwrite(fd, &bytes[i], 1, (off_t)i), 1);
        close(fd);
    }
    assert_int_equal(loads(NULL), SEEN_OK);
    free(bytes);
}

/* Of the two heads one is enough, whatever became of the other, and the next
   writer makes both whole. */
TEST(one_of_two_heads_is_enough)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        size_t len, again;
        unsigned char *right, *bytes, *now;
        struct seen_filter *f, *g;
        struct seen_plan plan = plan_of(kinds_to_write[i], 1000);

        store(kinds_to_write[i], 1000, 900);
        f = holding(&plan, 900);
        right = slurp(path, &len);
        for (int which = 0; which < 2; which++)
            for (size_t cut = 0; cut < HEAD_LEN; cut += 45) {
                bytes = slurp(path, &again);
                memset(bytes + (which ? len - HEAD_LEN : 0) + cut, 0x55,
                       HEAD_LEN - cut);
                spill(path, bytes, len);
                free(bytes);
                assert_int_equal(seen_store_map(&g, path, NULL, NULL),
                                 SEEN_OK);
                assert_equal_text(f, g);
                assert_equal_answers(f, g);
                assert_true(seen_store_warning(g, NULL));
                seen_filter_free(g);
                assert_int_equal(seen_store_open(&g, path, NULL, NULL),
                                 SEEN_OK);
                assert_int_equal(seen_filter_add(g, key + 900, 1, NULL, NULL),
                                 SEEN_OK);
                assert_int_equal(seen_store_close(g, NULL), SEEN_OK);
                now = slurp(path, &again);
                assert_memory_equal(now, now + again - HEAD_LEN, HEAD_LEN);
                free(now);
                assert_int_equal(seen_store_map(&g, path, NULL, NULL),
                                 SEEN_OK);
                assert_false(seen_store_warning(g, NULL));
                seen_filter_free(g);
                spill(path, right, len);
            }
        bytes = slurp(path, &again);
        bytes[30] ^= 1;
        bytes[len - 10] ^= 1;
        spill(path, bytes, len);
        free(bytes);
        assert_int_equal(loads(NULL), SEEN_CORRUPT);
        free(right);
        seen_filter_free(f);
    }
}

/* Checksums that someone computed do not make nonsense sound: a counting
   filter has fewer cells than bits. */
TEST(more_set_cells_than_cells_are_refused)
{
    for (uint64_t wrong = 0; wrong < 2; wrong++) {
        struct seen_error why = { .text = "" };
        struct seen_filter *f;
        unsigned char *bytes;
        uint64_t set;
        struct store_head h;
        size_t len;

        store("counting:8", 1000, 10);
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        set = f->size + wrong; /* a byte each */
        seen_filter_free(f);
        bytes = slurp(path, &len);
        store_head_take(&h, bytes);
        memcpy(bytes + h.table_at, &set, sizeof set);
        h.table_sum = store_checksum(bytes + h.table_at,
                                     8 * (size_t)(h.leaves + h.blocks));
        h.identity = store_head_identity(&h);
        store_head_put(bytes, &h);
        spill(path, bytes, len);
        free(bytes);
        assert_int_equal(loads(&why), wrong ? SEEN_CORRUPT : SEEN_OK);
        if (wrong)
            assert_string_equal(why.text, "has more set cells than cells");
    }
}

TEST(every_altered_block_of_cells_is_refused_and_named)
{
    unsigned char *bytes;
    struct seen_access later = { .unverified = true };
    struct seen_error why;
    size_t len;

    store("spatial:2/bloom", 200000, 10);
    bytes = slurp(path, &len);
    for (size_t i = word(bytes, CELLS_AT); i < len; i += BLOCK_LEN - 1) {
        struct seen_filter *f;
        char text[80];

        bytes[i] ^= 0x10;
        spill(path, bytes, len);
        assert_int_equal(loads(&why), SEEN_CORRUPT);
        snprintf(text, sizeof text, "checksum differs in block %zu; ",
                 (i - word(bytes, CELLS_AT)) / BLOCK_LEN);
        assert_memory_equal(why.text, text, strlen(text));
        assert_int_equal(seen_store_map(&f, path, NULL, &why), SEEN_CORRUPT);
        assert_int_equal(seen_store_open(&f, path, NULL, &why), SEEN_CORRUPT);
        assert_int_equal(seen_store_map(&f, path, &later, NULL), SEEN_OK);
        assert_int_equal(seen_store_verify(f, NULL), SEEN_CORRUPT);
        seen_filter_free(f);
        bytes[i] ^= 0x10;
    }
    assert_int_equal(files(), 1);
    free(bytes);
}

TEST(a_file_cut_short_or_added_to_is_refused)
{
    unsigned char *bytes;
    size_t len;

    store("bloom", 1000, 1000);
    bytes = slurp(path, &len);
    for (size_t cut = 0; cut <= len + 1; cut += cut < 300 ? 1 : 97) {
        if (cut == len)
            continue;
        spill(path, bytes, cut); /* one more is slurp()'s spare byte */
        assert_int_equal(loads(NULL), SEEN_CORRUPT);
    }
    spill(path, bytes, len - 1);
    assert_int_equal(loads(NULL), SEEN_CORRUPT);
    spill(path, bytes, len + 1);
    assert_int_equal(loads(NULL), SEEN_CORRUPT);
    free(bytes);
}

TEST(another_profile_or_secret_is_refused)
{
    struct seen_plan plan = plan_of("bloom", 1000);
    const struct seen_access raw = { .profile = "raw", .secret = secret };
    const struct seen_access surt = { .profile = "surt" };
    const struct seen_access wrong = { .secret = other_secret };
    struct seen_filter *f;
    struct seen_error why;
    bool seen;

    store("bloom", 1000, 10);
    assert_int_equal(seen_store_load(&f, path, &surt, &why), SEEN_MISMATCH);
    assert_string_equal(why.text, "has profile raw, but surt was asked for");
    assert_int_equal(seen_store_map(&f, path, &raw, &why), SEEN_MISMATCH);

    plan.keyed = true;
    f = holding(&plan, 10);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    assert_int_equal(seen_store_load(&f, path, &wrong, &why), SEEN_MISMATCH);
    assert_int_equal(seen_store_load(&f, path, &raw, &why), SEEN_OK);
    assert_holds(f, 10);
    seen_filter_free(f);

    /* Without the secret there is something to look at, and no answer. */
    assert_int_equal(seen_store_load(&f, path, NULL, &why), SEEN_OK);
    assert_int_equal(seen_filter_plan(f)->capacity, 1000);
    assert_int_equal(seen_filter_has(f, key, 1, &seen, &why), SEEN_MISMATCH);
    seen_filter_free(f);
}

TEST(no_file_holds_the_secret)
{
    struct seen_plan plan = plan_of("spatial:2/bloom", 1000);
    struct seen_filter *f;
    unsigned char *bytes;
    size_t len;

    plan.keyed = true;
    f = holding(&plan, 10);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    bytes = slurp(path, &len);
    assert_null(memmem(bytes, len, secret, SEEN_SECRET / 2));
    free(bytes);
}

TEST(what_is_no_regular_file_is_refused)
{
    struct seen_plan plan = plan_of("bloom", 10);
    struct seen_filter *f = holding(&plan, 1), *g;

    assert_int_equal(seen_store_save(f, "/dev/null", NULL), SEEN_RANGE);
    assert_int_equal(seen_store_save(f, folder, NULL), SEEN_RANGE);
    assert_int_equal(seen_store_load(&g, folder, NULL, NULL), SEEN_RANGE);
    assert_int_equal(seen_store_load(&g, path, NULL, NULL), SEEN_IO);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(seen_store_open(&g, path, NULL, NULL), SEEN_IO);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(files(), 0);
    seen_filter_free(f);
}

TEST(saving_through_a_link_replaces_what_it_leads_to)
{
    char link[128];
    struct stat it;

    store("bloom", 1000, 1);
    assert_int_equal(chmod(path, 0640), 0);
    beside(link, ".link");
    assert_int_equal(symlink("crawl.seen", link), 0);
    {
        struct seen_plan plan = plan_of("bloom", 1000);
        struct seen_filter *f = holding(&plan, 1000);

        assert_int_equal(seen_store_save(f, link, NULL), SEEN_OK);
        seen_filter_free(f);
    }
    assert_int_equal(lstat(link, &it), 0);
    assert_true(S_ISLNK(it.st_mode));
    assert_int_equal(stat(path, &it), 0);
    assert_int_equal(it.st_mode & 0777, 0640);
}

/* A kind from outside with cells of 24 bits is stored as it is. */
static enum seen_code odd_make(struct seen_filter *f, struct seen_error *why)
{
    (void)why;
    f->size = 99;
    f->cell_bits = 24;
    f->limit = UINT64_MAX;
    return SEEN_OK;
}

static enum seen_code odd_has(const struct seen_filter *f,
                              const struct seen_key *k, size_t n, bool *seen,
                              struct seen_error *why)
{
    (void)why;
    for (size_t i = 0; i < n; i++)
        seen[i] = f->cells[k[i].lo % 33 * 3] == (unsigned char)k[i].hi;
    return SEEN_OK;
}

static enum seen_code odd_add(struct seen_filter *f, const struct seen_key *k,
                              size_t n, bool *fresh, struct seen_error *why)
{
    (void)why;
    for (size_t i = 0; i < n; i++) {
        f->cells[k[i].lo % 33 * 3] = (unsigned char)k[i].hi;
        if (fresh)
            fresh[i] = true;
    }
    f->set += n;
    return SEEN_OK;
}

static double odd_rate(const struct seen_filter *f)
{
    (void)f;
    return 1 / 256.0;
}

TEST(a_kind_from_outside_is_stored_like_our_own)
{
    static const struct seen_kind odd = { .name = "odd",
                                          .traits = SEEN_CAN_ADD,
                                          .state = sizeof(struct seen_filter),
                                          .make = odd_make,
                                          .has = odd_has,
                                          .add = odd_add,
                                          .rate = odd_rate };
    static const char *const kinds[] = { "odd:x", "routed:4/odd:y" };
    struct seen_filter *f;

    assert_int_equal(seen_kind_register(&odd, NULL), SEEN_OK);
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct seen_plan plan = plan_of(kinds[i], 100);
        struct seen_filter *was = holding(&plan, 10);

        assert_int_equal(seen_store_save(was, path, NULL), SEEN_OK);
        assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
        assert_equal_answers(was, f);
        assert_int_equal(seen_filter_add(f, key + 10, 1, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_filter_add(was, key + 10, 1, NULL, NULL),
                         SEEN_OK);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_map(&f, path, NULL, NULL), SEEN_OK);
        assert_equal_answers(was, f);
        assert_equal_text(was, f);
        seen_filter_free(was);
        seen_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(every_kind_comes_back_as_it_was),
        FRESH(saving_what_was_loaded_gives_the_same_bytes),
        FRESH(a_mapped_filter_is_read_only_and_a_copy_is_not),
        FRESH(every_altered_byte_before_the_cells_is_refused),
        FRESH(one_of_two_heads_is_enough),
        FRESH(more_set_cells_than_cells_are_refused),
        FRESH(every_altered_block_of_cells_is_refused_and_named),
        FRESH(a_file_cut_short_or_added_to_is_refused),
        FRESH(another_profile_or_secret_is_refused),
        FRESH(no_file_holds_the_secret),
        FRESH(what_is_no_regular_file_is_refused),
        FRESH(saving_through_a_link_replaces_what_it_leads_to),
        FRESH(a_kind_from_outside_is_stored_like_our_own),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
