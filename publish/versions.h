/*
 * versions.h - the last version of each filter, and deltas from one to the
 * next.
 *
 *     DIR/.publish/versions/haw.seen/0123456789abcdef     what is announced
 *     DIR/deltas/haw.seen/0123456789abcdef-fedcba9876543210.delta
 *
 * Names have the first 8 bytes of SHA-256s. So a version is there whole or
 * not at all, and one that a killed run left is found by the next, or swept.
 * A copy and not a second name of the same file: filters are changed in
 * place.
 *
 * Threads: one publisher a folder.
 */
#ifndef SEEN_PUBLISH_VERSIONS_H
#define SEEN_PUBLISH_VERSIONS_H

#include "state.h"

/* Is a copy of that version kept? */
bool publish_version_kept(const char *folder, const char *path,
                          const unsigned char *digest);

/*
 * Keep the file `from` as that version of folder/path: a copy of it, or, if it
 * is `ours`, the file itself, which is moved. It must have that digest: of a
 * file that is not ours, SEEN_BUSY if it no longer has. SEEN_IO if there is no
 * room.
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

/* The path of a delta in the folder, to be freed. */
char *publish_delta_path(const char *path, const unsigned char *from,
                         const unsigned char *to);

/* Remove all versions and deltas that the state does not name. */
enum seen_code publish_versions_sweep(const char *folder,
                                      const struct publish_state *s,
                                      struct seen_error *why);

#endif
