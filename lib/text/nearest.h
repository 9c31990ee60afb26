/* nearest.h - what was meant by a word that is not known? */
#ifndef SEEN_TEXT_NEAREST_H
#define SEEN_TEXT_NEAREST_H

/* The word of `word` (ending with NULL) most like `typed`, or NULL. */
const char *nearest(const char *typed, const char *const *word);

#endif
