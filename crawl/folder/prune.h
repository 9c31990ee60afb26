/*
 * prune.h - drop the pages of a crawl that are gone.
 *
 * A classifier's answers say which pages were removed (404, 410, or missing on
 * a completed visit). Pruning drops their records from pages.jsonl and their
 * lines from index.cdxj, and forgets what a revisit would compare them with.
 * WARC files only grow, so the responses stay there, without a line in the
 * index; crawl.log stays as it is.
 *
 *     struct crawl_pruned done;
 *
 *     code = crawl_prune("site", "results.jsonl", false, &done, &why);
 *     printf("%llu records dropped", (unsigned long long)done.records);
 *
 * Two files and the state change together. Each file is written anew beside
 * the old one and flushed; then one transaction records the new lengths and
 * that a swap is due; then both are renamed. What a killed process leaves is
 * completed, or thrown away, by the next one that opens the folder:
 *
 *     write *.new, flush ──> commit lengths, "swap is due" ──> rename ──> done
 *       killed here: the        killed here: the next opening
 *       old files stay          renames what is left
 *
 * Threads: one at a time; the folder's lock keeps other processes out.
 */
#ifndef SEEN_CRAWL_PRUNE_H
#define SEEN_CRAWL_PRUNE_H

#include "state.h"

struct crawl_pruned {
    uint64_t answers;  /* lines of the results, */
    uint64_t bad;      /* of which these are not answers */
    uint64_t removed;  /* pages whose last answer is "removed" */
    uint64_t returned; /* of these: fetched since, and therefore kept */
    uint64_t pages;    /* of these: found in the crawl, and dropped */
    uint64_t records;  /* lines of pages.jsonl that were dropped */
    uint64_t captures; /* lines of index.cdxj that were dropped */
};

/*
 * Drop what the results ("-": standard input) call removed; with `dry` only
 * report what would be dropped. A second call with the same results finds
 * nothing to drop. SEEN_BUSY: a crawl runs in the folder. SEEN_MISMATCH: it is
 * not the folder of a crawl. After any failure the folder is as before, or as
 * after the call.
 */
enum seen_code crawl_prune(const char *folder, const char *results, bool dry,
                           struct crawl_pruned *done, struct seen_error *why);

/* Complete a swap that was due when a process died, or remove what one left
   that died before: whenever a state is opened. */
enum seen_code crawl_prune_resume(struct crawl_state *s,
                                  struct seen_error *why);

#endif
