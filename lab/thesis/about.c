/* about.c - names and dates, one after the other. */
#include "about.h"

#include <stdio.h>
#include <string.h>

const char *const about_name[ABOUTS] = { "URLs", "names", "dates" };

/*
 * Number i as a name. A family name is a number of base 16 with a syllable
 * for each digit, all of three letters, so that it can be read back: two
 * names are never the same.
 */
static size_t name_of(const void *of, uint64_t i, char *to)
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

    (void)of;
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
static size_t date_of(const void *of, uint64_t i, char *to)
{
    static const unsigned char days[] = { 31, 28, 31, 30, 31, 30,
                                          31, 31, 30, 31, 30, 31 };
    enum { ERA = 146097 }; /* days of 400 years */
    unsigned left = (unsigned)(i % ERA), month = 0;
    unsigned year = 1583 + 400 * (unsigned)(i / ERA);

    (void)of;
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

void about_texts(struct corpus *t, enum topic about, const struct lab *lab,
                 uint64_t from, size_t n)
{
    if (about == DATES && from + n > DAYS)
        lab_fail("there are %d days to take dates from, not %llu", DAYS,
                 (unsigned long long)(from + n));
    if (about == URLS)
        corpus_init(t, lab->urls, from, n);
    else
        corpus_write(t, about == NAMES ? name_of : date_of, NULL, from, n);
}
