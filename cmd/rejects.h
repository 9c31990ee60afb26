/*
 * rejects.h - the lines that a command could not use.
 *
 * One bad line in ten million costs one line, not the run. What was left out
 * is counted by cause, and told at the end:
 *
 *     seen: 3 lines left out: longer than 8192 bytes (line 17, 20, 41)
 */
#ifndef SEEN_REJECTS_H
#define SEEN_REJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CAUSES = 8, FIRST = 5 };

/* All zeroes at first. */
struct rejects {
    uint64_t count;
    struct cause {
        uint64_t count;
        struct {
            const char *input;
            uint64_t line;
        } at[FIRST];                    /* the first of them */
        char text[160];
    } cause[CAUSES];                    /* the last: all other causes */

    char *kept;                         /* the lines themselves, if wanted */
    size_t kept_len, kept_room;
};

/* Line `line` of `input` cannot be used. Both texts are as of a message. */
void rejects_add(struct rejects *r, const char *input, uint64_t line,
                 const char *text);

/*
 * Keep the line itself as well. What is longer than SEEN_LINE_TEXT is cut
 * there and ends with " [cut]", which makes it too long for whoever reads it
 * again. Drops it if memory ends.
 */
void rejects_keep(struct rejects *r, const char *text, size_t len);

/*
 * Take over what `from` has, whose lines are counted from `before`, and
 * leave it empty. Lines that it kept are written to `file`, if there is one.
 */
void rejects_fold(struct rejects *r, struct rejects *from, uint64_t before,
                  FILE *file);

/*
 * Say it on stderr; with more than one input, lines bear its name. If one is
 * enough to stop, it alone is told: "seen: line 17: a control byte".
 */
void rejects_report(const struct rejects *r, bool strict);

void rejects_clear(struct rejects *r);

#endif
