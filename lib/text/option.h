/*
 * option.h - options of a command line, described by a table.
 *
 *     struct settings { bool json; uint64_t keys; };
 *
 *     static const struct option options[] = {
 *         { "json", 0, FLAG, NULL, offsetof(struct settings, json),
 *           "print JSON" },
 *         { "keys", 'k', COUNT, "N", offsetof(struct settings, keys),
 *           "how many keys" },
 *         { .name = NULL },
 *     };
 *
 *     if (!option_read_all(options, "seen bench", &set, argv + 1, wrong))
 *         fprintf(stderr, "%s\n", wrong);
 *
 * Options are written --name VALUE, --name=VALUE, -n VALUE, -nVALUE and
 * --flag. Names are never abbreviated: a script that says --cap must not
 * change its meaning when a second option begins that way.
 *
 * A WORD_OR_NONE is written --name, --name WORD or --name=WORD. The next
 * argument is its word only if it is one of the choices, so that --name OPERAND
 * means what it says. An operand that is spelled like a choice comes before the
 * option or after "--".
 */
#ifndef SEEN_TEXT_OPTION_H
#define SEEN_TEXT_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What an option takes, and so what lies at its place in the struct. */
enum option_takes {
    FLAG,             /* nothing: a bool */
    TEXT,             /* const char *; "new|seen" as `arg` is a choice */
    PATH,             /* const char *, the name of a file */
    TEXTS,            /* struct texts: may be given many times */
    PATHS,            /* the same */
    COUNT,            /* uint64_t of at least 1: 250000, 250k, 2M, 1G, 1T */
    SEED,             /* uint64_t, any: 0, 12345, 0xc0ffee */
    RATE,             /* double between 0 and 1: 0.01, 1%, 1e-3 */
    FACTOR,           /* double above 0: 1.44 */
    DURATION,         /* uint64_t, seconds: 45s, 30m, 6h, 1d */
    COUNT_OR_NONE,    /* as COUNT, but 0 is a number, too: the uint64_t is one
                         more than what was given; 0: it was not */
    DURATION_OR_NONE, /* the same: 0s, 0 */
    SECONDS_OR_NONE,  /* as DURATION_OR_NONE, and a bare number is of seconds */
    WORD_OR_NONE,     /* const char *, a choice; "" if there was no word */
};

enum { TEXTS_MOST = 256 };
struct texts {
    size_t n;
    const char *text[TEXTS_MOST];
};

struct option {
    const char *name; /* "count", typed as --count; NULL ends a table */
    char letter;      /* 'i', typed as -i; or 0 */
    enum option_takes takes;
    const char *arg;  /* "N"; "new|seen"; NULL for a flag */
    size_t at;        /* offset in the struct */
    const char *help; /* no full stop; NULL: it works, and nothing lists it */
};

enum { OPTION_WRONG = 512 };

/*
 * Read the option at *argv, and its value, which may be the next argument,
 * into the struct at `into`. Returns the last argument that it used, or NULL
 * with what is wrong: "--cap: no such option of seen build; did you mean
 * --capacity?", where "seen build" is `program`.
 */
char **option_read(const struct option *options, const char *program,
                   void *into, char **argv, char wrong[OPTION_WRONG]);

/* Put the value of an option where it belongs in the struct at `into`. False
   with what is wrong. */
bool option_store(const struct option *o, void *into, const char *value,
                  char wrong[OPTION_WRONG]);

/* Was it given? A number that is 0 by default may also have been given as 0. */
bool option_given(const struct option *o, const void *from);

/* All of argv; operands, and all that follows "--", are moved to its front
   and ended by NULL. False with what is wrong. */
bool option_read_all(const struct option *options, const char *program,
                     void *into, char **argv, char wrong[OPTION_WRONG]);

/* A line per option: "  --keys N         how many keys". */
void option_print(FILE *to, const struct option *options);

#endif
