/*
 * rules.h - which fields are compared, and what in them is noise.
 *
 * A record names its template by hash and its page type by name. What the
 * template says about the comparison of a field ("change": "off", "ignore":
 * patterns) is added here under these two names, by cmd/classify.c, which
 * knows templates. Rules for the template "" and the type "" are for all records.
 *
 *     struct change_rules *rules = change_rules_new();
 *     const char *const dates[] = { "[0-9]+ minutes ago", NULL };
 *
 *     change_rules_add(rules, "42...", "default", "Asked", true, dates, &why);
 *     rule = change_rules_find(rules, &record, field_name);
 *
 * Threads: rules do not change after the last change_rules_add() and may be
 * used by several threads.
 */
#ifndef SEEN_CHANGE_RULES_H
#define SEEN_CHANGE_RULES_H

#include "record.h"

struct change_rules;
struct change_rule;

struct change_rules *change_rules_new(void); /* NULL without memory */
void change_rules_free(struct change_rules *r);

/*
 * Texts are copied. "" as type, or as template and type, means all of them; ""
 * as field means those without a rule of their own. `ignore` are POSIX extended
 * regular expressions and end with NULL; NULL: none.
 * SEEN_RANGE with what is wrong with a pattern; SEEN_NOMEM.
 */
enum seen_code change_rules_add(struct change_rules *r, const char *template,
                                const char *type, const char *field,
                                bool compared, const char *const *ignore,
                                struct seen_error *why);

/*
 * The rule for a field of a record, or NULL: it is compared as it is. `r` may
 * be NULL. Of several, that of the record's template and type wins, then that
 * of its template, then that of all; of equal ones, the last that was added.
 */
const struct change_rule *change_rules_find(const struct change_rules *r,
                                            const struct change_record *record,
                                            struct seen_span field);

/* Is the field compared at all? NULL is welcome: it is. */
bool change_rule_compared(const struct change_rule *rule);

/* Is there something to ignore? NULL is welcome: there is not. */
bool change_rule_ignores(const struct change_rule *rule);

/*
 * What patterns may cost in a record, in steps of lib/text/budget.h, per byte
 * of its values: a share of 200,000,000 steps, some 0.4 s. Each value has its
 * part by its length, and each pattern its part of that, so that the answer
 * for a value is the same whenever it is read, and by whom, and a costly field
 * takes nothing from others. A pattern has at least 64 steps per byte, several
 * times what an ordinary one needs, however large the record is.
 */
uint64_t change_rules_share(const struct change_record *record);

/*
 * Append the text with every match of an ignored pattern replaced by one
 * space. Patterns see 16 KiB at a time, cut at white space: a match beyond that
 * would change what the versions in a state are compared with.
 *
 * A pattern that costs more than its part ignores nothing in this value; the
 * others do. *costly is the first such pattern, or NULL.
 */
void change_rule_strip(const struct change_rule *rule, struct seen_span text,
                       uint64_t share, struct buffer *to, const char **costly);

#endif
