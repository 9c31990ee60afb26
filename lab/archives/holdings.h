/*
 * holdings.h - an archive profile: prefixes of SURTs, and how many URLs each.
 *
 * What S. Alam and others publish of an archive in place of its index: a
 * sorted text, a line for each host, or host and first path segments, with
 * the number of URLs below it.
 *
 *     hr,vijesti)/arhiva 312
 *     hr,vijesti)/sport 17
 *
 * It knows prefixes exactly, so it is wrong about an absent URL only if there
 * is another one with the same prefix. (S. Alam, M. Nelson, H. Van de Sompel,
 * L. Balakireva, H. Shankar, D. Rosenthal: Web archive profiling through CDX
 * summarization. IJDL 17(3), 2016.)
 *
 * Threads: any number may ask, one may add.
 */
#ifndef SEEN_LAB_HOLDINGS_H
#define SEEN_LAB_HOLDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/key.h>

struct holding {
    uint64_t lo, hi; /* of the prefix; two of 2^64 are not alike */
    uint64_t at;     /* in text */
    uint32_t len;
    uint32_t count; /* 0: this slot is free */
};

struct holdings {
    struct holding *slot;
    size_t slots, used;
    char *text;
    uint64_t text_used, text_room;
};

/* Count one URL below a prefix; true if the prefix is new. What cannot be
   had for lack of memory ends the lab. */
bool holdings_add(struct holdings *h, const struct seen_key *prefix);
/* End the lab at once if there is no memory for the prefixes of n URLs. */
void holdings_fit(uint64_t n);
bool holdings_has(const struct holdings *h, const struct seen_key *prefix);
void holdings_clear(struct holdings *h);

/* The bytes of the profile, as text, and packed by zstd as it would travel.
   The table is no more after it. */
void holdings_write(struct holdings *h, uint64_t *bytes, uint64_t *packed);

#endif
