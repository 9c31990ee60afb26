/*
 * matrix_test.c - every kind, with every operation.
 *
 * The kinds are those that the library lists. Their synopses say how they are
 * written, so that a new kind is tested as soon as it is there:
 *
 *     counting:W[,minimal]     counting:8, counting:8,minimal
 *     routed:N[,md5]/KIND      routed:4/..., routed:4,md5/... of every leaf
 *
 * Every cell of the matrix works, or is refused with a code and a message. A
 * refusal changes nothing; what was added is always found; what a kind says it
 * can do (seen_filter_can()) is what it does. test/serve/matrix_test.py does
 * the same with the commands and the protocols.
 */
#include "cases.h"

#include <unistd.h>

#include <seen/build.h>
#include <seen/share.h>

#include "test/folder.h"

enum { KEYS = 100, KINDS = 2000, ROOM = 300 };

static char kinds[KINDS][SEEN_KIND_TEXT];
static unsigned count, flat; /* all; those of at most two levels */
static struct seen_key *url;

/* --- the kinds --- */

/* What to write for a word in capitals of a synopsis. */
static const char *value_of(const char *word, size_t len, unsigned choice)
{
    static const char *const value[][8] = {
        { "N", "4" },
        { "F", "3" },
        { "L", "3" },
        { "W", "8" },
        { "BITS", "16" },
        { "ARITY", "4" },
        { "HASH", "jenkins", "murmur", "murmur3", "md5", "sha1", "orestes",
          "md5+sha1" },
    };

    for (size_t i = 0; i < LENGTH(value); i++)
        if (strlen(value[i][0]) == len && !memcmp(value[i][0], word, len))
            return choice < 7 ? value[i][1 + choice] : NULL;
    fail_msg("the matrix needs a value for %.*s", (int)len, word);
    return NULL;
}

static void list(const char *made)
{
    for (unsigned i = 0; i < count; i++)
        if (!strcmp(kinds[i], made))
            return;
    assert_true(count < KINDS && strlen(made) < SEEN_KIND_TEXT);
    strcpy(kinds[count++], made);
}

/* Write `made`, then all that the rest of a synopsis can be. */
static void expand(const char *made, const char *rest)
{
    size_t len = strcspn(rest, "[]ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    char text[ROOM], more[ROOM];

    snprintf(text, sizeof text, "%s%.*s", made, (int)len, rest);
    rest += len;
    if (!*rest) {
        list(text);
    } else if (*rest == ']') {
        expand(text, rest + 1);
    } else if (*rest == '[') {
        int depth = 0;
        size_t end = 0;

        do
            depth += (rest[end] == '[') - (rest[end] == ']');
        while (rest[end++] && depth);
        expand(text, rest + end);
        expand(text, rest + 1);
    } else {
        const char *value;

        len = strspn(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (len == 4 && !memcmp(rest, "KIND", 4)) {
            expand(text, rest + 4);
            return;
        }
        for (unsigned i = 0; (value = value_of(rest, len, i)); i++) {
            snprintf(more, sizeof more, "%s%s", text, value);
            expand(more, rest + len);
        }
    }
}

/* Leaves, then combinators of every leaf, then of some combinators. */
static int make_kinds(void **state)
{
    struct seen_kind_entry entry;
    unsigned leaves, outer, end;
    char made[ROOM];

    for (unsigned i = 0; seen_kind_list(i, &entry); i++)
        if (!strstr(entry.synopsis, "KIND"))
            expand("", entry.synopsis);
    leaves = count;
    for (unsigned i = 0; seen_kind_list(i, &entry); i++)
        if (strstr(entry.synopsis, "KIND"))
            expand("", entry.synopsis);
    outer = count;
    for (unsigned i = leaves; i < outer; i++)
        for (unsigned j = 0; j < leaves; j++) {
            snprintf(made, sizeof made, "%.90s%.90s", kinds[i], kinds[j]);
            list(made);
        }
    flat = end = count;
    for (unsigned i = leaves; i < outer; i++)
        for (unsigned j = outer; j < end; j++)
            if (!strchr(strchr(kinds[j], '/'), ':')) {
                snprintf(made, sizeof made, "%.90s%.90s", kinds[i], kinds[j]);
                list(made);
            }
    url = urls_new(20 * KEYS);
    (void)state;
    strcpy(folder, "/dev/shm/seen-matrix-XXXXXX"); /* flushing is free there */
    if (!mkdtemp(folder))
        return folder_enter(state);
    return chdir(folder);
}

static int free_kinds(void **state)
{
    free(url);
    return folder_remove(state);
}

/* --- making them --- */

static const char *now; /* the kind that is tested */

/* A refusal has a code and says why. */
static void refused(enum seen_code found, enum seen_code code,
                    const struct seen_error *why, const char *what)
{
    if (found != code || why->code != code || !why->text[0])
        fail_msg("%s: %s: %s, not %s: %s", now, what, seen_code_name(found),
                 seen_code_name(code), why->text);
}

static void good(enum seen_code code, const struct seen_error *why,
                 const char *what)
{
    if (code != SEEN_OK)
        fail_msg("%s: %s: %s", now, what, why->text);
}

static void holds(const struct seen_filter *f, size_t from, size_t to,
                  const char *what)
{
    bool seen[20 * KEYS];
    struct seen_error why;

    good(seen_filter_has(f, url + from, to - from, seen, &why), &why, what);
    for (size_t i = 0; i < to - from; i++)
        if (!seen[i])
            fail_msg("%s: %s: key %zu is lost", now, what, from + i);
}

static struct seen_filter *built(const struct seen_plan *plan, size_t from,
                                 size_t to)
{
    struct seen_filter *f;
    struct seen_build *b;
    struct seen_error why = { .code = SEEN_OK };
    enum seen_code code = seen_build_new_keyed(&b, plan, secret_of(plan), 1,
                                               &why);

    if (code != SEEN_OK) {
        assert_true(why.text[0]);
        return NULL;
    }
    good(seen_build_add(b, 0, url + from, to - from, &why), &why, "build");
    good(seen_build_finish(b, &f, &why), &why, "build");
    return f;
}

/* A filter that holds some keys, or NULL if there is no such kind. Whether it
   is added to or built, it is the same. */
static struct seen_filter *holding(const struct seen_plan *plan, size_t from,
                                   size_t to)
{
    struct seen_filter *f, *g = built(plan, from, to);
    struct seen_error why = { .code = SEEN_OK };
    enum seen_code code = seen_filter_new_keyed(&f, plan, secret_of(plan),
                                                &why);

    if (!g) {
        assert_true(code == SEEN_RANGE || code == SEEN_UNABLE);
        assert_null(f);
        assert_true(why.text[0]);
        return NULL;
    }
    if (seen_kind_can(plan->kind, SEEN_BUILT_ONCE)) {
        refused(code, SEEN_UNABLE, &why, "new");
        return g;
    }
    good(code, &why, "new");
    good(seen_filter_add(f, url + from, to - from, NULL, &why), &why, "add");
    holds(g, from, to, "build");
    seen_filter_free(g);
    return f;
}

/* --- the operations --- */

static void try_add(struct seen_filter *f)
{
    bool fresh[KEYS];
    struct seen_error why = { .code = SEEN_OK };
    enum seen_code code = seen_filter_add(f, url, KEYS, fresh, &why);

    if (!seen_filter_can(f, SEEN_CAN_ADD)) {
        refused(code, SEEN_UNABLE, &why, "add");
        return;
    }
    good(code, &why, "add");
    for (int i = 0; i < KEYS; i++)
        if (fresh[i])
            fail_msg("%s: a key that it holds is new", now);
}

static void try_count(struct seen_filter *f)
{
    uint64_t times[KEYS];
    struct seen_error why = { .code = SEEN_OK };
    enum seen_code code = seen_filter_count(f, url, KEYS, times, &why);

    if (!seen_filter_can(f, SEEN_CAN_COUNT)) {
        refused(code, SEEN_UNABLE, &why, "count");
        return;
    }
    good(code, &why, "count");
    for (int i = 0; i < KEYS; i++)
        if (!times[i])
            fail_msg("%s: the count of a key is 0", now);
}

/* The others stay. Two were added by try_add(). */
static void try_remove(struct seen_filter *f)
{
    struct seen_error why = { .code = SEEN_OK };
    enum seen_code code = seen_filter_remove(f, url, KEYS / 2, &why);

    if (!seen_filter_can(f, SEEN_CAN_REMOVE)) {
        refused(code, SEEN_UNABLE, &why, "remove");
        return;
    }
    good(code, &why, "remove");
    holds(f, 0, KEYS, "remove");
    good(seen_filter_remove(f, url, KEYS / 2, &why), &why, "remove");
    holds(f, KEYS / 2, KEYS, "remove");
    good(seen_filter_add(f, url, KEYS / 2, NULL, &why), &why, "add");
}

static void try_prefix(struct seen_filter *f)
{
    struct seen_error why = { .code = SEEN_OK };
    bool seen = false;
    enum seen_code code = seen_filter_has_prefix(f, url, &seen, &why);

    if (!seen_filter_can(f, SEEN_CAN_PREFIX)) {
        refused(code, SEEN_UNABLE, &why, "prefix");
        assert_int_equal(seen_filter_cost_prefix(f), 0);
        return;
    }
    good(code, &why, "prefix");
    assert_true(seen);
    assert_true(seen_filter_cost_prefix(f) >= seen_filter_cost(f));
}

static void try_route(struct seen_filter *f)
{
    struct seen_error why = { .code = SEEN_OK };
    unsigned part = 0;
    enum seen_code code = seen_filter_route(f, url, &part, &why);

    if (!seen_filter_can(f, SEEN_CAN_ROUTE)) {
        refused(code, SEEN_UNABLE, &why, "route");
        return;
    }
    good(code, &why, "route");
    assert_true(part < seen_filter_parts(f));
}

static void try_merge(struct seen_filter *f)
{
    struct seen_plan plan = plan_of(now, 4 * KEYS, 0.01);
    struct seen_filter *g = holding(&plan, KEYS, 2 * KEYS);
    struct seen_error why = { .code = SEEN_OK };
    uint64_t bytes = seen_filter_bytes(f);
    enum seen_code code = seen_filter_merge(f, g, &why);

    if (!seen_filter_can(f, SEEN_CAN_MERGE)) {
        assert_true(code == SEEN_UNABLE || code == SEEN_MISMATCH);
        refused(code, code, &why, "merge");
        assert_int_equal(seen_filter_bytes(f), bytes);
    } else {
        good(code, &why, "merge");
        holds(f, 0, 2 * KEYS, "merge");
    }
    seen_filter_free(g);
}

/* Keys without text are refused by those that read it, and by no others. */
static void try_bare_key(struct seen_filter *f)
{
    struct seen_key bare = url[0];
    struct seen_error why = { .code = SEEN_OK };
    bool seen = false;
    enum seen_code code;

    bare.text = NULL;
    bare.len = 0;
    code = seen_filter_has(f, &bare, 1, &seen, &why);
    if (seen_filter_can(f, SEEN_READS_TEXT)) {
        refused(code, SEEN_RANGE, &why, "a key without text");
    } else {
        good(code, &why, "a key without text");
        assert_true(seen);
    }
}

static void try_numbers(const struct seen_filter *f)
{
    double rate = seen_filter_rate(f), entries = seen_filter_entries(f);
    double planned = seen_filter_planned(f);

    if (!(rate >= 0 && rate < 0.2) || !(planned > 0 && planned < 0.5))
        fail_msg("%s: rate %g, planned %g", now, rate, planned);
    if (!(entries > 0.7 * KEYS && entries < 1.4 * KEYS))
        fail_msg("%s: %g entries", now, entries);
    assert_true(seen_filter_cost(f) > 0 && seen_filter_cost(f) < 5000);
    assert_true(seen_filter_cells_set(f) <= seen_filter_cells(f));
    assert_non_null(seen_filter_plan(f));
}

/* A second generation: all that can be added to can grow. */
static void try_recast(const struct seen_filter *f)
{
    char kind[ROOM];
    struct seen_error why = { .code = SEEN_OK };
    struct seen_filter *g;
    enum seen_code code;

    snprintf(kind, sizeof kind, "growing/%s", seen_filter_plan(f)->kind);
    code = seen_filter_recast(&g, f, kind, &why);
    if (!seen_filter_can(f, SEEN_CAN_ADD) ||
        seen_filter_can(f, SEEN_ADDS_PARTS)) {
        assert_true(code == SEEN_UNABLE || code == SEEN_RANGE);
        refused(code, code, &why, "recast");
        assert_null(g);
        return;
    }
    good(code, &why, "recast");
    holds(g, 0, KEYS, "recast");
    good(seen_filter_add(g, url, 20 * KEYS, NULL, &why), &why, "add");
    holds(g, 0, 20 * KEYS, "recast");
    seen_filter_free(g);
}

/* Past its capacity it grows, or stops at a key and holds all before it. */
static void try_overflow(struct seen_filter *f)
{
    struct seen_error why = { .code = SEEN_OK };
    enum seen_code code = seen_filter_add(f, url, 20 * KEYS, NULL, &why);

    if (seen_filter_can(f, SEEN_CAN_GROW)) {
        good(code, &why, "past capacity");
        why.at = 20 * KEYS;
    } else if (!seen_filter_can(f, SEEN_CAN_ADD)) {
        refused(code, SEEN_UNABLE, &why, "past capacity");
        why.at = KEYS;
    } else {
        refused(code, SEEN_FULL, &why, "past capacity");
        assert_true(why.at >= KEYS && why.at < 20 * KEYS);
    }
    holds(f, 0, why.at, "past capacity");
}

TEST(every_kind_does_each_operation_or_refuses_it)
{
    unsigned made_ones = 0;

    for (unsigned i = 0; i < count; i++) {
        struct seen_plan plan = plan_of(kinds[i], 4 * KEYS, 0.01);
        struct seen_filter *f;

        now = kinds[i];
        f = holding(&plan, 0, KEYS);
        if (!f)
            continue;
        made_ones++;
        try_numbers(f);
        try_add(f);
        try_count(f);
        try_remove(f);
        try_prefix(f);
        try_route(f);
        try_bare_key(f);
        holds(f, 0, KEYS, "all of it");
        try_recast(f);
        if (i < flat)
            try_merge(f);
        try_overflow(f);
        seen_filter_free(f);
    }
    print_message("%u kinds, %u of them sensible\n", count, made_ones);
    assert_true(made_ones > 100);
}

/* Under a secret: those that hash texts as published refuse it. */
TEST(every_kind_is_keyed_or_refuses_it)
{
    for (unsigned i = 0; i < flat; i++) {
        struct seen_plan plan = plan_of(kinds[i], 4 * KEYS, 0.01);
        struct seen_filter *f, *open;

        now = kinds[i];
        open = holding(&plan, 0, KEYS);
        plan.keyed = true;
        f = holding(&plan, 0, KEYS);
        if (f) {
            assert_non_null(open);
            holds(f, 0, KEYS, "keyed");
            try_add(f);
        } else if (open) {
            assert_true(seen_filter_can(open, SEEN_READS_TEXT));
        }
        seen_filter_free(open);
        seen_filter_free(f);
    }
}

/* --- files --- */

static struct seen_filter *loaded(const char *path, const char *what)
{
    struct seen_filter *f;
    struct seen_error why = { .code = SEEN_OK };

    good(seen_store_load(&f, path, NULL, &why), &why, what);
    return f;
}

/* A writer adds, or is refused before anything is in its journal. */
static void try_writer(void)
{
    struct seen_access how = { .sync = SEEN_SYNC_NO };
    struct seen_error why = { .code = SEEN_OK };
    struct seen_filter *f, *g;
    enum seen_code code;
    size_t held = 2 * KEYS;

    good(seen_store_open(&f, "f.seen", &how, &why), &why, "open");
    code = seen_filter_add(f, url + KEYS, KEYS, NULL, &why);
    if (!seen_filter_can(f, SEEN_CAN_ADD)) {
        refused(code, SEEN_UNABLE, &why, "add to a file");
        held = KEYS;
    } else {
        good(code, &why, "add to a file");
    }
    code = seen_filter_remove(f, url + KEYS, 1, &why);
    if (!seen_filter_can(f, SEEN_CAN_REMOVE))
        refused(code, SEEN_UNABLE, &why, "remove from a file");
    else
        good(seen_filter_add(f, url + KEYS, 1, NULL, &why), &why, "add");
    good(seen_store_map(&g, "f.seen", NULL, &why), &why, "map");
    holds(g, 0, held, "beside a writer");
    code = seen_filter_add(g, url, 1, NULL, &why);
    refused(code, SEEN_UNABLE, &why, "add to a mapped file");
    seen_filter_free(g);
    seen_store_abandon(f); /* as if it was killed */
    g = loaded("f.seen", "after a kill");
    holds(g, 0, held, "after a kill");
    seen_filter_free(g);
    good(seen_store_open(&f, "f.seen", &how, &why), &why, "open again");
    holds(f, 0, held, "after a kill");
    good(seen_store_close(f, &why), &why, "close");
    g = loaded("f.seen", "after a writer");
    holds(g, 0, held, "after a writer");
    seen_filter_free(g);
}

static void try_text(void)
{
    struct seen_filter *f = loaded("f.seen", "text"), *g;
    struct seen_error why = { .code = SEEN_OK };
    char *a, *b;

    good(seen_csv_save(f, "f.csv", &why), &why, "to text");
    good(seen_csv_load(&g, "f.csv", NULL, &why), &why, "from text");
    holds(g, 0, KEYS, "from text");
    good(seen_store_describe(f, &a, &why), &why, "describe");
    good(seen_store_describe(g, &b, &why), &why, "describe");
    assert_string_equal(a, b);
    free(a);
    free(b);
    seen_filter_free(f);
    seen_filter_free(g);
}

static void try_orestes(void)
{
    struct seen_filter *f = loaded("f.seen", "orestes"), *g;
    struct seen_error why = { .code = SEEN_OK };
    enum seen_code code = seen_orestes_save(f, "f.json", &why);

    if (strcmp(now, "bloom:orestes")) {
        refused(code, SEEN_UNABLE, &why, "to Orestes");
    } else {
        good(code, &why, "to Orestes");
        good(seen_orestes_load(&g, "f.json", &why), &why, "from Orestes");
        holds(g, 0, KEYS, "from Orestes");
        seen_filter_free(g);
    }
    seen_filter_free(f);
}

static void try_delta(void)
{
    struct seen_filter *f;
    struct seen_error why = { .code = SEEN_OK };
    enum seen_code code = seen_delta_make("old.seen", "f.seen", "f.delta",
                                          NULL, &why);

    unlink("new.seen");
    if (code != SEEN_OK) {
        refused(code, SEEN_UNABLE, &why, "delta");
        return;
    }
    good(seen_delta_apply("old.seen", "f.delta", "new.seen", &why), &why,
         "apply a delta");
    f = loaded("new.seen", "apply a delta");
    holds(f, 0, KEYS, "apply a delta");
    seen_filter_free(f);
}

TEST(every_kind_is_stored_written_and_exchanged)
{
    for (unsigned i = 0; i < flat; i++) {
        struct seen_plan plan = plan_of(kinds[i], 4 * KEYS, 0.01);
        struct seen_filter *f;
        struct seen_error why = { .code = SEEN_OK };

        now = kinds[i];
        f = holding(&plan, 0, KEYS);
        if (!f)
            continue;
        good(seen_store_save(f, "f.seen", &why), &why, "save");
        good(seen_store_save(f, "old.seen", &why), &why, "save");
        seen_filter_free(f);
        try_writer();
        try_text();
        try_orestes();
        try_delta();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_does_each_operation_or_refuses_it),
        cmocka_unit_test(every_kind_is_keyed_or_refuses_it),
        cmocka_unit_test(every_kind_is_stored_written_and_exchanged),
    };

    return cmocka_run_group_tests(tests, make_kinds, free_kinds);
}
