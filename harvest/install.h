/*
 * install.h - verify a file that was downloaded, and put it in place.
 */
#ifndef SEEN_HARVEST_INSTALL_H
#define SEEN_HARVEST_INSTALL_H

#include "record.h"
#include "round.h"

/* Bytes of plan and metadata of a filter. A file with more is refused before
   it is read, since reading it takes memory. */
enum { HARVEST_PLAN_TEXT = 1 << 20 };

/* A file that is complete, and what was downloaded for it. */
struct harvest_arrival {
    const char *path;
    struct harvest_hash hash;
    uint64_t length;
    struct harvest_hash origin; /* of the text that it was converted from;
                                   unknown if there was none */
    uint64_t origin_length;     /* of that text */
};

/* Compare the length and SHA-256 of what was downloaded with the announced
   ones. *found is its SHA-256, also if it is refused; unknown if it cannot be
   read. */
enum seen_code harvest_verify_announced(const char *path,
                                        const struct harvest_item *i,
                                        struct harvest_hash *found,
                                        uint64_t *length,
                                        struct seen_error *why);

/* Check the own checksums of a filter, that it is sealed, and that a question
   does not cost more than the options allow. */
enum seen_code harvest_verify_filter(const struct harvest_round *r,
                                     const char *path, struct seen_error *why);

/*
 * Make the verified file the one of this name, under the claim that keeps
 * writers away, provided that the file in its place is still ours. *same: it
 * is the one that we have, and nothing is replaced. SEEN_BUSY if a writer has
 * the file open.
 */
enum seen_code harvest_install(struct harvest_round *r,
                               const struct harvest_item *i, const char *name,
                               struct harvest_record *record,
                               const struct harvest_arrival *file, bool *same,
                               struct seen_error *why);

#endif
