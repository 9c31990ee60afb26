/* corpus.c - URLs, names and dates, one after the other. */
#include "corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thesis.h"

const char *const about_name[ABOUTS] = { "URLs", "names", "dates" };

/*
 * Number i as a name. A family name is a number of base 16 with a syllable
 * for each digit, all of three letters, so that it can be read back: two
 * names are never the same.
 */
static size_t name_of(uint64_t i, char *to)
{
    static const char *const given[] = {
        "Anna",  "Bjorn", "Clara", "David", "Emma",   "Frida", "Georg",
        "Hanna", "Ida",   "Jonas", "Karin", "Lukas",  "Maria", "Nora",
        "Oskar", "Peter", "Rosa",  "Simon", "Thomas", "Ulla",
    };
    static const char syllable[16][4] = {
        "ber", "dal", "fos", "gra", "han", "hol", "lin", "lun",
        "mar", "ner", "nes", "ras", "rud", "sen", "tor", "vik",
    };
    enum { GIVEN = sizeof given / sizeof *given };
    uint64_t family = i / GIVEN + 16; /* two syllables at least */
    int shift = 60;
    size_t len = strlen(given[i % GIVEN]), first;

    memcpy(to, given[i % GIVEN], len);
    to[len++] = ' ';
    first = len;
    while (!(family >> shift))
        shift -= 4;
    for (; shift >= 0; shift -= 4, len += 3)
        memcpy(to + len, syllable[family >> shift & 15], 3);
    to[first] = (char)(to[first] - 'a' + 'A');
    return len;
}

/* Day i of the Gregorian calendar, from 1583 on. */
static size_t date_of(uint64_t i, char *to)
{
    static const unsigned char days[] = { 31, 28, 31, 30, 31, 30,
                                          31, 31, 30, 31, 30, 31 };
    enum { ERA = 146097 }; /* days of 400 years */
    unsigned left = (unsigned)(i % ERA), month = 0;
    unsigned year = 1583 + 400 * (unsigned)(i / ERA);

    for (;; year++) {
        unsigned leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

        if (left < 365U + leap) {
            while (left >= days[month] + (month == 1 ? leap : 0)) {
                left -= days[month] + (month == 1 ? leap : 0);
                month++;
            }
            return (size_t)snprintf(to, 16, "%04u-%02u-%02u", year % 10000,
                                    month + 1, left + 1);
        }
        left -= 365U + leap;
    }
}

static size_t write_text(enum about about, const struct urls *urls, uint64_t i,
                         char to[URL_MOST])
{
    return about == URLS    ? urls_get(urls, i, to)
           : about == NAMES ? name_of(i, to)
                            : date_of(i, to);
}

void corpus_make(struct corpus *t, enum about about, const struct urls *urls,
                 uint64_t from, size_t n)
{
    char one[URL_MOST];
    size_t at = 0;

    *t = (struct corpus){ .n = n };
    if (about == DATES && from + n > DAYS)
        lab_fail("there are %d days to take dates from, not %llu", DAYS,
                 (unsigned long long)(from + n));
    for (size_t i = 0; i < n; i++)
        t->bytes += write_text(about, urls, from + i, one);
    t->key = thesis_memory(n, sizeof *t->key);
    t->text = thesis_memory(t->bytes, 1);
    for (size_t i = 0; i < n; i++) {
        size_t len = write_text(about, urls, from + i, one);

        memcpy(t->text + at, one, len);
        seen_key_hash(&t->key[i], t->text + at, len);
        at += len;
    }
}

void corpus_clear(struct corpus *t)
{
    free(t->key);
    free(t->text);
}
