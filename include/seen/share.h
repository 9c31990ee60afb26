/*
 * share.h - forms in which archives exchange filters.
 *
 * Besides the file itself there are three:
 *
 *     text       text/csv that a person can open and a script can read
 *     Orestes    the JSON of the library that the archives report used
 *     delta      what changed from one version of a file to the next
 *
 *     if (seen_csv_load(&f, "haw.csv", NULL, &why) == SEEN_OK)
 *         code = seen_store_save(f, "haw.seen", &why);
 *
 * doc/format.md specifies the bytes of all of them. Input may come from
 * anyone: it is used only after its checksums agree, and no more memory is
 * allocated than the file itself can fill.
 *
 * Threads: calls on different files are independent.
 */
#ifndef SEEN_SHARE_H
#define SEEN_SHARE_H

#include <seen/store.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * The text form, text/csv: rows of name,value, then rows of offset,cells in
 * base64. It is lossless: the filter that is read back makes the same file.
 * _save() replaces `path` as seen_store_save() does. _write() takes an open
 * file, which may be a pipe. No thread may add to f meanwhile. SEEN_CORRUPT
 * from _load() has the line number in why->at. SEEN_NOMEM: the filter needs
 * more memory than there is; none was allocated.
 */
enum seen_code seen_csv_save(const struct seen_filter *f, const char *path,
                             struct seen_error *why);
enum seen_code seen_csv_write(const struct seen_filter *f, int fd,
                              struct seen_error *why);
enum seen_code seen_csv_load(struct seen_filter **out, const char *path,
                             const struct seen_access *options,
                             struct seen_error *why);

/*
 * The JSON of Orestes, {"m": bits, "h": probes, "b": "base64"}, read as a
 * `bloom:orestes` of profile raw. It does not record a capacity: the capacity
 * becomes the one for which its bits and probes are optimal, m ln 2 / h, or
 * the number of keys that it holds if that is more. SEEN_UNABLE from _save()
 * and _write() for any other kind or profile. SEEN_CORRUPT from _load() has
 * the byte in why->at. SEEN_RANGE for more than 2^32 bits, which its 32-bit
 * hash cannot reach, or more than 64 probes.
 */
enum seen_code seen_orestes_save(const struct seen_filter *f, const char *path,
                                 struct seen_error *why);
enum seen_code seen_orestes_write(const struct seen_filter *f, int fd,
                                  struct seen_error *why);
enum seen_code seen_orestes_load(struct seen_filter **out, const char *path,
                                 struct seen_error *why);

/*
 * Make a filter of another kind that gives the same answers as f, if that is
 * possible: counters become bits (counting:4 -> bloom), also inside other
 * kinds (routed:16/counting -> routed:16/bloom), and a growing, dynamic or
 * spatial filter with one part becomes that part. A filter that is full
 * becomes the first part of one that gets more (bloom -> growing/bloom,
 * routed:16/bloom -> routed:16/growing/bloom): its cells stay, and the planned
 * rate becomes twice that of f. SEEN_UNABLE in all other cases, with what is
 * possible: a filter does not know its keys.
 */
enum seen_code seen_filter_recast(struct seen_filter **out,
                                  const struct seen_filter *f,
                                  const char *kind, struct seen_error *why);

/*
 * Write the difference between two files to `path`, which is replaced: the
 * positions of changed cells, or changed lines of 64 bytes, whichever is
 * smaller. SEEN_UNABLE if the files have different plans, cannot be changed
 * cell by cell (a fuse, a ribbon), are not sealed, or differ so much that the delta
 * would not be smaller than the file; then the file itself must be sent.
 * *bytes is set to the size of the delta, unless it is NULL.
 */
enum seen_code seen_delta_make(const char *from, const char *to,
                               const char *path, uint64_t *bytes,
                               struct seen_error *why);

/*
 * Apply a delta to `from` and write the result to `path`, which must not
 * exist, and flush it. SEEN_MISMATCH: the delta is for another version.
 * SEEN_CORRUPT: it is damaged, or the result has another SHA-256 than the file
 * that it was made from. On failure there is no file at `path`.
 */
enum seen_code seen_delta_apply(const char *from, const char *delta,
                                const char *path, struct seen_error *why);

enum { SEEN_DIGEST = 32 };

/* The SHA-256 of a whole file, and its length. `length` may be NULL. */
enum seen_code seen_digest_file(const char *path,
                                unsigned char digest[SEEN_DIGEST],
                                uint64_t *length, struct seen_error *why);

/*
 * Why a file of this name should not be exchanged: "the name ...", or NULL if
 * it may. Publishers warn and harvesters refuse: a name must end in .seen and
 * must not lead out of a folder, hide in it, or mislead people who read a
 * list. Bad names are not repaired: two of them could become one.
 */
enum { SEEN_SHARE_NAME_MOST = 200 };
const char *seen_share_name_fault(const char *name, size_t len);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
