/*
 * profile.h - an archive profile: prefixes of SURTs, and URLs per prefix.
 *
 * What S. Alam and others publish of an archive in place of its index: a
 * sorted text, a line per host, or per host and first path segments, with
 * the number of URLs below it.
 *
 *     hr,vijesti)/arhiva 312
 *     hr,vijesti)/sport 17
 *
 * It knows prefixes exactly, so it is wrong about an absent URL only if there
 * is another one with the same prefix. (S. Alam, M. Nelson, H. Van de Sompel,
 * L. Balakireva, H. Shankar, D. Rosenthal: Web archive profiling through CDX
 * summarization. IJDL 17(3), 2016.)
 */
#ifndef SEEN_LAB_PROFILE_H
#define SEEN_LAB_PROFILE_H

#include "../exact.h"

/* The bytes of the profile of these prefixes and their counts, as text, and
   packed by zstd as it would travel. The prefixes are cleared. */
void profile_write(struct exact *prefixes, uint64_t *bytes, uint64_t *packed);

#endif
