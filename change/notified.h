/*
 * notified.h - which answers were passed on, so that none is forgotten.
 *
 *     code = change_notified_resume(s, run_program, owner, &why);
 *     ... a batch is classified, programs are run for it and have ended ...
 *     code = change_notified(s, &why);
 *
 * Threads: as the state.
 */
#ifndef SEEN_CHANGE_NOTIFIED_H
#define SEEN_CHANGE_NOTIFIED_H

#include "state.h"

/* All answers that the state has were passed on. Outside of a batch. */
enum seen_code change_notified(struct change_state *s, struct seen_error *why);

/* Give take() the lines of the answers that a killed process did not note as
   passed on; none for a state for which nothing was ever noted. */
enum seen_code change_notified_resume(struct change_state *s,
                                      change_take_line *take, void *owner,
                                      struct seen_error *why);

#endif
