/*
 * share.h - filters on their way between archives.
 *
 * Three forms in which a stored filter travels, besides the file itself:
 *
 *     text       text/csv that a person can open and a script can read
 *     Orestes    the JSON of the library that the archives report used
 *     delta      what changed from one version of a file to the next
 *
 *     if (seen_csv_load(&f, "haw.csv", NULL, &why) == SEEN_OK)
 *         code = seen_store_save(f, "haw.seen", &why);
 *
 * doc/format.md specifies the bytes of all of them. Whatever is read may come
 * from anyone: it is believed only after its checksums agree, and memory is
 * never taken for more than the file itself can fill.
 *
 * Threads: each call works on files of its own.
 */
#ifndef SEEN_SHARE_H
#define SEEN_SHARE_H

#include <seen/store.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * The text form: rows of name,value, then rows of offset,cells in base64.
 * Nothing is lost: the filter that is read back makes the same file. _save()
 * replaces `path` as seen_store_save() does; _write() takes an open file,
 * which may be a pipe. Nobody may add to f meanwhile. SEEN_CORRUPT from
 * _load() has the number of the line in why->at; SEEN_NOMEM if the filter
 * takes more memory than there is, before any of it is taken.
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
 * `bloom:orestes` of profile raw. It does not say for how many URLs it was
 * planned: the capacity is what its bits and probes are best for, m ln 2 / h,
 * or what it holds already if that is more. SEEN_UNABLE from _save() and
 * _write() for any other kind or profile. SEEN_CORRUPT from _load() has the
 * byte in why->at; SEEN_RANGE for more than 2^32 bits, which the 32 bits of
 * its hash do not reach, or more than 64 probes.
 */
enum seen_code seen_orestes_save(const struct seen_filter *f, const char *path,
                                 struct seen_error *why);
enum seen_code seen_orestes_write(const struct seen_filter *f, int fd,
                                  struct seen_error *why);
enum seen_code seen_orestes_load(struct seen_filter **out, const char *path,
                                 struct seen_error *why);

/*
 * Make a filter of another kind that gives the same answers as f, where that
 * can be: counters become bits (counting:4 -> bloom), also inside others
 * (routed:16/counting -> routed:16/bloom), and a growing, dynamic or spatial
 * filter of one part becomes that part. SEEN_UNABLE for all else: a filter
 * does not know its keys.
 */
enum seen_code seen_filter_recast(struct seen_filter **out,
                                  const struct seen_filter *f,
                                  const char *kind, struct seen_error *why);

/*
 * Write to `path`, which is replaced, what makes the file `to` out of the
 * file `from`: positions of changed cells, or changed lines of 64 bytes,
 * whichever is smaller. SEEN_UNABLE if the two have different plans, cannot
 * be changed cell by cell (a fuse), are not sealed, or differ so much that
 * the delta would not be smaller than the file: then the file itself must
 * travel. *bytes, unless NULL, is the size of the delta.
 */
enum seen_code seen_delta_make(const char *from, const char *to,
                               const char *path, uint64_t *bytes,
                               struct seen_error *why);

/*
 * Write the file that the delta makes of `from` to `path`, which must not
 * exist, and flush it. SEEN_MISMATCH if the delta is for another version,
 * SEEN_CORRUPT if it is damaged or does not give the file it promises; then
 * there is no file at `path`. Bit for bit the file is the one that the delta
 * was made from, by its SHA-256.
 */
enum seen_code seen_delta_apply(const char *from, const char *delta,
                                const char *path, struct seen_error *why);

enum { SEEN_DIGEST = 32 };

/* The SHA-256 of a whole file, and its length unless that is NULL. */
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
