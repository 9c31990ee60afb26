/*
 * key_log.h - keys that are kept until their number is known.
 *
 * A filter of the right size needs the number of its distinct keys, which is
 * known when all keys have come. A log keeps 16 bytes per key, in memory up to
 * a limit and then in a temporary file, and counts distinct keys as they come.
 * Then a filter is made of it in bulk: the input is read once.
 *
 *     struct seen_key_log_place place = { "/tmp", 64 << 20 };
 *     struct seen_plan plan = { .kind = "blocked", .rate = 0.01 };
 *     struct seen_key_log *log;
 *
 *     if (seen_key_log_new(&log, &plan, NULL, 2, &place, &why) == SEEN_OK) {
 *         code = seen_key_log_add(log, 0, key, n, &why);
 *         seen_key_log_size(log, &plan);
 *         code = seen_key_log_build(log, &plan, &f, &why);
 *     }
 *     seen_key_log_free(log);
 *
 * The log stays as it is when a filter was made. So a filter can also grow: if
 * it is full, a larger one is made of all keys so far.
 *
 * Kinds that read the text of keys, such as bloom:md5, take the length of the
 * text and 4 bytes per key.
 *
 * Threads: each lane belongs to one thread at a time; all other functions need
 * the whole log for themselves.
 */
#ifndef SEEN_KEY_LOG_H
#define SEEN_KEY_LOG_H

#include <seen/filter.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct seen_key_log;

/*
 * Where keys are kept: `memory` bytes in memory, and a buffer of 256 KiB per
 * lane; all others in a file in `folder`, which has no name, or loses it at
 * once. NULL: there is no file, and SEEN_FULL is returned instead.
 */
struct seen_key_log_place {
    const char *folder;
    uint64_t memory;
};

/*
 * Begin a log of keys for filters of this kind and secret, which is NULL if
 * they are not keyed. Of the plan only the kind is read. SEEN_RANGE as in
 * seen_build_new().
 */
enum seen_code seen_key_log_new(struct seen_key_log **out,
                                const struct seen_plan *plan,
                                const unsigned char *secret, unsigned lanes,
                                const struct seen_key_log_place *place,
                                struct seen_error *why);

/*
 * Keep n keys, in the order of the lane. SEEN_IO with errno if the temporary
 * file cannot be made or written, for example on a full disk.
 */
enum seen_code seen_key_log_add(struct seen_key_log *log, unsigned lane,
                                const struct seen_key *key, size_t n,
                                struct seen_error *why);

/* The number of keys that were added, and an estimate of the distinct ones. */
uint64_t seen_key_log_count(const struct seen_key_log *log);
double seen_key_log_distinct(const struct seen_key_log *log);

/*
 * Set the capacity of a plan, and its segments if the kind has layers, to the
 * estimate and five standard errors, 2 %. It depends on the set of keys alone.
 */
void seen_key_log_size(const struct seen_key_log *log, struct seen_plan *plan);

/*
 * Make a filter of all keys, in as many threads as there are lanes. `plan` has
 * the kind that the log was made for. Errors as in seen_build_new() and
 * seen_build_finish(), and SEEN_IO. *out is NULL then.
 */
enum seen_code seen_key_log_build(struct seen_key_log *log,
                                  const struct seen_plan *plan,
                                  struct seen_filter **out,
                                  struct seen_error *why);

/* How far a log was saved. */
struct seen_key_log_mark {
    uint64_t bytes, offered;
};

/*
 * Put all keys into the file `path`, which is made anew the first time and
 * extended from then on, and flush it. The file is the caller's to remove; the
 * log reads it.
 */
enum seen_code seen_key_log_save(struct seen_key_log *log, const char *path,
                                 struct seen_key_log_mark *mark,
                                 struct seen_error *why);

/*
 * Read an empty log back from such a file, up to a mark; what follows is cut
 * off. SEEN_CORRUPT if the file is shorter or was damaged.
 */
enum seen_code seen_key_log_restore(struct seen_key_log *log, const char *path,
                                    const struct seen_key_log_mark *mark,
                                    struct seen_error *why);

/* Release it and its temporary file. NULL is welcome. */
void seen_key_log_free(struct seen_key_log *log);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
