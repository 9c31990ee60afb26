/*
 * published.h - the algorithm of the aggregation paper, section 2b, step by
 * step, with its two files.
 *
 *     1. consume the content from the queue
 *     2. create the hash key of the URL
 *     3. is it in the Bloom filter file?
 *        a. yes: create the hash key of the content
 *        b. is that in the Bloom lookup?
 *           i.  yes: existing content (here: unchanged)
 *           ii. no:  updated
 *     4. no: add the URL's key to lookup file 1 (here: new)
 *     5. also create the content's key and insert it into the lookup
 *
 * Figure 6 adds the content's key of an updated page, too; without that a
 * page would be "updated" forever. The content is the text of all fields as
 * it is, under any URL.
 *
 * What it gets wrong, and why state.h differs, is what the laboratory
 * measures: a page that returns to an earlier text is "existing", so is a
 * changed page whose new text another page already has, and a record that is
 * delivered again after a crash is "existing" instead of "new".
 *
 *     DIR/file1.seen  URLs        DIR/file2.seen  contents
 *
 *     code = change_published_open(&p, "lookup", 100000, &why);
 *     code = change_published_classify(p, &record, &class, &why);
 *     code = change_published_close(p, &why);
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CHANGE_PUBLISHED_H
#define SEEN_CHANGE_PUBLISHED_H

#include "answer.h"

struct change_published;

/* The files are made for `capacity` keys (0: 100,000, the paper's lookup) if
   they are missing, and held open, with their journals. NULL as folder: in
   memory only. Errors as of seen_store_open(). */
enum seen_code change_published_open(struct change_published **out,
                                     const char *folder, uint64_t capacity,
                                     struct seen_error *why);
enum seen_code change_published_close(struct change_published *p,
                                      struct seen_error *why);

/* One of CHANGE_NEW, CHANGE_UPDATED, CHANGE_UNCHANGED. */
enum seen_code change_published_classify(struct change_published *p,
                                         const struct change_record *r,
                                         enum change_class *class,
                                         struct seen_error *why);

/* The false-positive rates of the two files now. */
void change_published_rates(const struct change_published *p, double *file1,
                            double *file2);

#endif
