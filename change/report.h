/*
 * report.h - answers for people: an HTML page, and plain text for a mail.
 *
 *     DIR/index.html  what is new and what changed, word by word
 *     DIR/mail.txt    the same in lines of at most 76 columns
 *
 *     struct change_report *r = change_report_new("Museum news");
 *
 *     for (size_t i = 0; i < answers.n; i++)
 *         change_report_add(r, &answers, &answers.answer[i], &record[i],
 *                           rules);
 *     code = change_report_save(r, "report", &why);
 *     change_report_free(r);
 *
 * The page needs no script, no other file and no server: its one style sheet
 * is inside, and a Content-Security-Policy that names the sheet's hash forbids
 * everything else. Texts come from pages of strangers; all of them are
 * escaped, and only http and https URLs become links.
 *
 * Every answer is counted. Of each class the first CHANGE_REPORT_SHOWN are
 * shown, each with a bounded number of words, so that a report of millions of
 * pages stays small. An answer that a redelivery repeats is not shown again.
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CHANGE_REPORT_H
#define SEEN_CHANGE_REPORT_H

#include "answer.h"
#include "rules.h"

enum { CHANGE_REPORT_SHOWN = 500 }; /* pages per class */

struct change_report;

/* The title is copied; NULL: "What changed". NULL without memory. */
struct change_report *change_report_new(const char *title);
void change_report_free(struct change_report *r);

/*
 * One more answer; `all` is where its changes are. With the record, changed
 * words are shown among those around them, and new pages with their first
 * words. `record` and `rules` may be NULL.
 */
void change_report_add(struct change_report *r,
                       const struct change_answers *all,
                       const struct change_answer *a,
                       const struct change_record *record,
                       const struct change_rules *rules);

/* The page, and the text. False without memory. */
bool change_report_html(const struct change_report *r, struct buffer *to);
bool change_report_text(const struct change_report *r, struct buffer *to);

/* Both, into a folder that is made if it is missing, each replaced whole.
   SEEN_NOMEM, SEEN_IO. */
enum seen_code change_report_save(const struct change_report *r,
                                  const char *folder, struct seen_error *why);

#endif
