/*
 * ours.h - every structure beside every other, measured.
 *
 *     subjects.c   the structures
 *     measure.c    bits, rate and times of one of them at one size
 *     able.c       what it can do, found by trying
 *     advice.c     which one to choose
 *     which.c      the experiment
 *     narrow.c     published hash functions in large filters
 *     deltas.c     updates of published filters
 *     unknown.c    filters for an unknown number of URLs
 *
 * Threads: one measures.
 */
#ifndef SEEN_LAB_OURS_H
#define SEEN_LAB_OURS_H

#include "../lab.h"
#include "../noise.h"

/* A structure: a kind of filter and how it is planned. */
struct subject {
    const char *name, *kind;
    unsigned first; /* planned for 1/first of the URLs; 0: all */
    bool keyed;
    bool drawn; /* as a line of the figures */
};
extern const struct subject subjects[]; /* ends with a NULL name */
unsigned subjects_count(void);

/* The plan of a subject for n URLs at a rate. */
struct seen_plan subject_plan(const struct lab *lab, const struct subject *of,
                              uint64_t n, double rate);

/* What the filter of a subject is keyed with, or NULL. */
const unsigned char *subject_secret(const struct seen_plan *plan);

/* --- what it can do --- */

enum able {
    ADD,
    DELETE,
    COUNT,
    MANY,
    GROW,
    MERGE,
    DELTA,
    SPLIT,
    PREFIX,
    ORDER,
    KEYED,
    ABLE
};
extern const char *const able_name[ABLE];
/* The same for a sentence: "To ..." */
extern const char *const able_words[ABLE];

void subject_able(const struct lab *lab, const struct subject *of,
                  bool able[ABLE]);

/* --- how it does --- */

struct measured {
    uint64_t n;
    double bits;              /* a URL */
    double planned, expected; /* rates: at capacity, and now */
    double spread;            /* of the latter, from filter to filter */
    double rate;              /* measured */
    uint64_t asked, lost;     /* URLs never added; added and denied */
    bool built;               /* at once, since it cannot be added to */
    /* ns per URL: to add; to ask, 4,096 at a time, for new ones and for those
       it has; to ask for a new one alone. */
    double add, ask_new, ask_held, ask_one;
};

/* Fill a filter for n URLs at a rate, and ask for `asked` others. */
void subject_measure(const struct lab *lab, const struct subject *of,
                     uint64_t n, double rate, uint64_t asked,
                     struct measured *m);

/* The same of an empty filter of the caller's. After each batch of adds `look`
   is called with the number of URLs so far, unless it is NULL. */
typedef void subject_look(void *of, const struct seen_filter *f, uint64_t n);
void subject_measure_made(const struct lab *lab, struct seen_filter *f,
                          uint64_t n, uint64_t asked, subject_look *look,
                          void *of, struct measured *m);

/* --- what follows --- */

/* Times of several rounds at the large size, and their noise. */
enum timing { TO_ADD, TO_ASK, TO_ASK_ONE, TIMINGS };

struct choice {
    const struct subject *subject;
    bool able[ABLE];
    struct measured small, large;
    struct noisy time[TIMINGS];
};
/* Paragraphs of advice, by rules from what was measured. */
void advise(struct section *s, const struct choice *choice, unsigned count,
            double rate);

void ours_which(struct lab *lab, struct section *s);

/* narrow.c */
void ours_narrow(struct lab *lab, struct section *s);

/* deltas.c */
void ours_deltas(struct lab *lab, struct section *s);

/* unknown.c */
void ours_unknown(struct lab *lab, struct section *s);

#endif
