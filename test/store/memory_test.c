/*
 * memory_test.c - memory runs out, at each allocation in turn.
 *
 * A session saves a filter, opens it, adds, checkpoints, closes and loads it,
 * and one of its allocations fails. Whichever it is, there is an answer and
 * no crash, and what was acknowledged is in the file.
 */
#include "stored.h"

#include "lib/disk/disk.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define OWN_MALLOC 1 /* sanitizers bring their own allocator */
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define OWN_MALLOC 1
#endif
#endif
#ifndef __GLIBC__
#define OWN_MALLOC 1
#endif

static int allocations, fail_at; /* 0: none fails */

#ifndef OWN_MALLOC
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static bool fails(void)
{
    if (!fail_at || ++allocations != fail_at)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
#endif

static int no_flush(int fd)
{
    (void)fd;
    return 0;
}

static void assert_sound(const char *kind, int n, enum seen_code code,
                         const struct seen_error *why)
{
    bool sound = code == SEEN_OK || code == SEEN_NOMEM ||
                 (code == SEEN_IO && why->system == ENOMEM);

    fail_at = sound ? fail_at : 0;
    if (!sound)
        fail_msg("%s, allocation %d: %s", kind, n, why->text);
}

/* Returns how many keys are sure to be in the file. */
static size_t session(const char *kind, const struct seen_filter *all, int n)
{
    struct seen_error why = { .text = "" };
    struct seen_filter *f = NULL;
    char *text = NULL;
    size_t sure = 100;

    assert_sound(kind, n, seen_store_save(all, path, &why), &why);
    assert_sound(kind, n, seen_store_describe(all, &text, &why), &why);
    free(text);
    assert_sound(kind, n, seen_store_open(&f, path, NULL, &why), &why);
    for (int step = 0; f && step < 4; step++) {
        enum seen_code code = seen_filter_add(f, key + sure, 50, NULL, &why);

        assert_sound(kind, n, code, &why);
        sure += code == SEEN_OK ? 50 : 0;
        if (step == 1)
            assert_sound(kind, n, seen_meta_set(f, "title", "x", &why), &why);
        if (step % 2)
            assert_sound(kind, n, seen_store_checkpoint(f, &why), &why);
    }
    if (f)
        assert_sound(kind, n, seen_store_close(f, &why), &why);
    assert_sound(kind, n, seen_store_load(&f, path, NULL, &why), &why);
    seen_filter_free(f);
    return sure;
}

TEST(whichever_allocation_fails_nothing_crashes_or_is_lost)
{
    static const char *const kinds[] = { "blocked", "layered:3", "counting:8",
                                         "growing/bloom",
                                         "routed:2/growing/bloom" };

#ifdef OWN_MALLOC
    skip();
#endif
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct seen_plan plan = plan_of(kinds[i], 400);
        struct seen_filter *all, *f;
        int n = 0;

        if (strstr(kinds[i], "growing"))
            plan.capacity = 120;
        all = holding(&plan, 100);
        do {
            size_t sure;

            assert_int_equal(seen_store_save(all, path, NULL), SEEN_OK);
            allocations = 0;
            fail_at = ++n;
            sure = session(kinds[i], all, n);
            fail_at = 0;
            assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
            assert_holds(f, sure);
            seen_filter_free(f);
        } while (allocations >= n);
        assert_true(n > 50);
        seen_filter_free(all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(whichever_allocation_fails_nothing_crashes_or_is_lost),
    };

    disk_fdatasync = disk_fsync = no_flush;
    return cmocka_run_group_tests(tests, enter, leave);
}
