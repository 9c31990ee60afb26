/*
 * option.c - from argv to a struct.
 *
 * A row of the table says name, letter, type and offset, and everything comes
 * from it: parsing, ranges, "did you mean", the help. Values are stored where
 * the offset says, so a caller reads plain members.
 *
 *     --name value   --name=value   -n value   -nvalue   --   (ends options)
 *
 * Operands are moved to the front of argv, in order; writing never overtakes
 * reading, since an option takes one place or more. The words of a
 * fault go to `wrong`; nothing is printed here.
 */
#include "option.h"

#include <string.h>

#include "nearest.h"
#include "number.h"

static const struct option *find_long(const struct option *options,
                                      const char *name, size_t len)
{
    for (const struct option *o = options; o->name; o++)
        if (strlen(o->name) == len && !strncmp(o->name, name, len))
            return o;
    return NULL;
}

static const struct option *find_letter(const struct option *options,
                                        char letter)
{
    for (const struct option *o = options; o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static void unknown(const struct option *options, const char *program,
                    const char *typed, size_t len, char *wrong)
{
    enum { MOST = 64 };
    const char *word[MOST + 1] = { NULL }, *like;
    char name[64];
    int n = 0;

    for (const struct option *o = options; o->name && n < MOST; o++)
        if (o->help)
            word[n++] = o->name;
    snprintf(name, sizeof name, "%.*s", (int)len, typed);
    like = nearest(name, word);
    if (like)
        snprintf(wrong, OPTION_WRONG,
                 "--%s: no such option of %s; did you mean --%s?", name,
                 program, like);
    else
        snprintf(wrong, OPTION_WRONG,
                 "--%s: no such option of %s; see %s --help", name, program,
                 program);
}

/* "new|seen" allows "new" and "seen". */
static bool among(const char *choice, const char *value)
{
    size_t len = strlen(value);

    for (const char *at = choice; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (len && !strncmp(at, value, len) && strchr("|", at[len]))
            return true;
    }
    return false;
}

static const char *store_text(const struct option *o, char *at,
                              const char *value)
{
    if ((o->takes == WORD_OR_NONE || strchr(o->arg, '|')) &&
        !among(o->arg, value))
        return "is not one of the choices";
    if (o->takes == PATH && !*value)
        return "is no name of a file";
    *(const char **)(void *)at = value;
    return NULL;
}

static const char *store_texts(char *at, const char *value)
{
    struct texts *t = (void *)at;

    if (t->n == TEXTS_MOST)
        return "is one too many";
    t->text[t->n++] = value;
    return NULL;
}

/* 0 means none, whatever its unit. */
static const char *store_or_none(char *at, const char *value,
                                 const char *units,
                                 const char *read(const char *, uint64_t *))
{
    const char *unit = value + 1;
    bool none = *value == '0' && strspn(unit, units) == strlen(unit) &&
                strlen(unit) <= 1;
    uint64_t number = 0;
    const char *what = none ? NULL : read(value, &number);

    if (!what)
        *(uint64_t *)(void *)at = number + (number < UINT64_MAX);
    return what;
}

static bool names_choices(const struct option *o)
{
    return o->takes == TEXT || o->takes == WORD_OR_NONE;
}

bool option_store(const struct option *o, void *into, const char *value,
                  char wrong[OPTION_WRONG])
{
    char *at = (char *)into + o->at;
    const char *what = NULL;

    switch (o->takes) {
    case FLAG: *(bool *)at = true; break;
    case TEXT:
    case WORD_OR_NONE:
    case PATH: what = store_text(o, at, value); break;
    case TEXTS:
    case PATHS: what = store_texts(at, value); break;
    case COUNT: what = number_count(value, (void *)at); break;
    case SEED: what = number_seed(value, (void *)at); break;
    case RATE: what = number_rate(value, (void *)at); break;
    case FACTOR: what = number_factor(value, (void *)at); break;
    case DURATION: what = number_seconds(value, (void *)at); break;
    case COUNT_OR_NONE:
        what = store_or_none(at, value, "", number_count);
        break;
    case DURATION_OR_NONE:
        what = store_or_none(at, value, "smhd", number_seconds);
        break;
    case SECONDS_OR_NONE:
        what = store_or_none(at, value, "smhd",
                             value[strspn(value, "0123456789")]
                                 ? number_seconds
                                 : number_count);
        break;
    }
    if (what)
        snprintf(wrong, OPTION_WRONG, "--%s: %s %s%s%s", o->name,
                 *value ? value : "''", what, names_choices(o) ? ": " : "",
                 names_choices(o) ? o->arg : "");
    return !what;
}

/* The option is known; `value` is NULL unless it is in the same argument.
   `typed` is how it was written. */
static char **read_value(const struct option *o, void *into, char **argv,
                         const char *value, const char *typed, char *wrong)
{
    if (o->takes == FLAG && value) {
        snprintf(wrong, OPTION_WRONG, "%s takes no value", typed);
        return NULL;
    }
    if (o->takes == WORD_OR_NONE && !value) {
        if (!argv[1] || !among(o->arg, argv[1])) {
            *(const char **)(void *)((char *)into + o->at) = "";
            return argv;
        }
        value = *++argv;
    }
    if (o->takes != FLAG && !value && !(value = *++argv)) {
        snprintf(wrong, OPTION_WRONG, "%s %s is missing", typed, o->arg);
        return NULL;
    }
    return option_store(o, into, value, wrong) ? argv : NULL;
}

static char **read_long(const struct option *options, const char *program,
                        void *into, char **argv, char *wrong)
{
    const char *name = *argv + 2, *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct option *o = find_long(options, name, len);
    char typed[80];

    if (!o) {
        unknown(options, program, name, len, wrong);
        return NULL;
    }
    snprintf(typed, sizeof typed, "--%s:", o->name);
    return read_value(o, into, argv, equals ? equals + 1 : NULL, typed, wrong);
}

static char **read_letter(const struct option *options, const char *program,
                          void *into, char **argv, char *wrong)
{
    const struct option *o = find_letter(options, argv[0][1]);
    const char *value = argv[0][2] ? *argv + 2 : NULL;
    char typed[80];

    if (!o) {
        snprintf(wrong, OPTION_WRONG,
                 "%s: no such option of %s; see %s --help", *argv, program,
                 program);
        return NULL;
    }
    if (value)
        snprintf(typed, sizeof typed, "%.64s: -%c", *argv, o->letter);
    else
        snprintf(typed, sizeof typed, "-%c:", o->letter);
    return read_value(o, into, argv, value, typed, wrong);
}

char **option_read(const struct option *options, const char *program,
                   void *into, char **argv, char wrong[OPTION_WRONG])
{
    return argv[0][1] == '-'
               ? read_long(options, program, into, argv, wrong)
               : read_letter(options, program, into, argv, wrong);
}

bool option_given(const struct option *o, const void *from)
{
    const char *at = (const char *)from + o->at;

    switch (o->takes) {
    case FLAG: return *(const bool *)at;
    case TEXT:
    case WORD_OR_NONE:
    case PATH: return *(const char *const *)(const void *)at != NULL;
    case TEXTS:
    case PATHS: return ((const struct texts *)(const void *)at)->n != 0;
    case RATE:
    case FACTOR: return *(const double *)(const void *)at > 0;
    default: return *(const uint64_t *)(const void *)at != 0;
    }
}

bool option_read_all(const struct option *options, const char *program,
                     void *into, char **argv, char wrong[OPTION_WRONG])
{
    char **to = argv;
    bool ended = false;

    for (; *argv; argv++) {
        if (ended || argv[0][0] != '-' || !argv[0][1])
            *to++ = *argv;
        else if (!strcmp(*argv, "--"))
            ended = true;
        else if (!(argv = option_read(options, program, into, argv, wrong)))
            return false;
    }
    *to = NULL;
    return true;
}

void option_print(FILE *to, const struct option *options)
{
    for (const struct option *o = options; o->name; o++) {
        char left[64];

        if (!o->help)
            continue;
        snprintf(left, sizeof left,
                 o->takes == WORD_OR_NONE ? "--%s [%s]" : "--%s %s", o->name,
                 o->arg ? o->arg : "");
        fprintf(to, "  %-16s %s\n", left, o->help);
    }
}
