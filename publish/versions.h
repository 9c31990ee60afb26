/*
 * versions.h - the last version of each filter, and deltas from one to the
 * next.
 *
 *     DIR/.publish/versions/haw.seen/0123456789abcdef     what is announced
 *     DIR/deltas/haw.seen/0123456789abcdef-fedcba9876543210.delta
 *
 * Names have the first 8 bytes of SHA-256s. A version gets its name when it is
 * complete; what a killed run left is used or removed by the next run. A
 * version is a copy, not a hard link: filters are changed in place.
 *
 * Threads: one publisher per folder.
 */
#ifndef SEEN_PUBLISH_VERSIONS_H
#define SEEN_PUBLISH_VERSIONS_H

#include "state.h"

/* Is that version kept? */
bool publish_version_kept(const char *folder, const char *path,
                          const unsigned char *digest);

/*
 * Keep the file `from` as that version of folder/path: a copy, or, if it is
 * `ours`, the file itself, which is moved. It must have that digest; for a
 * file that is not ours this is checked, SEEN_BUSY if it has changed. SEEN_IO
 * if there is no room.
 */
enum seen_code publish_version_keep(const char *folder, const char *path,
                                    const unsigned char *digest,
                                    const char *from, bool ours,
                                    struct seen_error *why);

/* Make the delta from one kept version to another. */
enum seen_code publish_version_delta(const char *folder, const char *path,
                                     const unsigned char *from,
                                     const unsigned char *to,
                                     struct publish_patch *patch,
                                     struct seen_error *why);

/* The path of a delta in the folder; for the caller to free(). */
char *publish_delta_path(const char *path, const unsigned char *from,
                         const unsigned char *to);

/* Remove all versions and deltas that the state does not name. */
enum seen_code publish_versions_sweep(const char *folder,
                                      const struct publish_state *s,
                                      struct seen_error *why);

#endif
