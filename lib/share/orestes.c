/*
 * orestes.c - the JSON of the library that the archives report used.
 *
 *     {"m":1000,"h":7,"b":"AAEC..."}
 *
 * m bits, h probes, and the bits in base64: bit i is bit i % 8 of byte i / 8,
 * as in our cells. The library writes what java.util.BitSet.toByteArray()
 * gives, which ends with the last byte that is not zero; so do we, and bytes
 * that are missing are zero.
 *
 * The text may have hundreds of megabytes, and b may come before m. So it is
 * read twice: once over all of it, to take the numbers and the place of b;
 * then b alone, into cells that are there by then. A hand scan, since JSON
 * libraries hold a text in memory to the last byte.
 */
#include <seen/share.h>

#include <math.h>
#include <string.h>

#include <seen/kind.h>

#include "../filter/cells.h"
#include "base64.h"
#include "orestes.h"
#include "replace.h"
#include "spool.h"

/* --- out -------------------------------------------------------------- */

enum { OUT_PIECE = 3 * 16384 };

/* Is a bit set in the last byte that no probe reaches? */
static bool beyond(const struct seen_filter *f)
{
    uint64_t bits = f->plan.bits;

    return bits % 8 && f->cells[bits / 8] >> bits % 8;
}

static enum seen_code check_kind(const struct seen_filter *f,
                                 struct seen_error *why)
{
    const struct seen_plan *plan = seen_filter_plan(f);

    if (strcmp(plan->kind, "bloom:orestes"))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "is of kind %s; the JSON of Orestes holds "
                         "bloom:orestes only",
                         plan->kind);
    if (strcmp(plan->profile, "raw"))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "has profile %s; the JSON of Orestes holds URLs as "
                         "they are, profile raw",
                         plan->profile);
    if (!f->cells)
        return seen_fail(why, SEEN_UNABLE, 0, "keeps its cells elsewhere");
    if (beyond(f))
        return seen_fail(why, SEEN_CORRUPT, 0, "has bits beyond its last");
    return SEEN_OK;
}

static void put_bits(struct spool *to, const unsigned char *cells, size_t len)
{
    while (len && !cells[len - 1])
        len--;
    for (size_t at = 0; at < len; at += OUT_PIECE) {
        size_t some = len - at < OUT_PIECE ? len - at : OUT_PIECE;
        char *letters = spool_room(to, base64_length(some));

        if (!letters)
            return;
        base64_encode(letters, cells + at, some);
        to->len += base64_length(some);
    }
}

enum seen_code seen_orestes_write(const struct seen_filter *f, int fd,
                                  struct seen_error *why)
{
    enum seen_code code = check_kind(f, why);
    struct spool to;

    if (code != SEEN_OK)
        return code;
    spool_open(&to, fd, NULL);
    spool_text(&to, "{\"m\":");
    spool_number(&to, f->plan.bits);
    spool_text(&to, ",\"h\":");
    spool_number(&to, f->plan.probes);
    spool_text(&to, ",\"b\":\"");
    put_bits(&to, f->cells, (size_t)((f->plan.bits + 7) / 8));
    spool_text(&to, "\"}\n");
    return spool_close(&to, why);
}

enum seen_code seen_orestes_save(const struct seen_filter *f, const char *path,
                                 struct seen_error *why)
{
    return replace(path, seen_orestes_write, f, why);
}

/* --- in --------------------------------------------------------------- */

/*
 * m, h and what the bits are best for, n = m ln 2 / h; or for what they hold
 * already, if `entries` is more.
 */
static enum seen_code make_filter(struct seen_filter **out,
                                  const struct orestes *o, double entries,
                                  struct seen_error *why)
{
    struct seen_plan plan = { .kind = "bloom:orestes",
                              .profile = "raw",
                              .bits = o->m,
                              .probes = (unsigned)o->h };
    double best = floor((double)o->m * log(2) / (double)o->h);

    if (o->h > 64)
        return seen_fail(why, SEEN_RANGE, 0, "has %llu probes, more than 64",
                         (unsigned long long)o->h);
    if (best < 1)
        best = 1;
    if (entries > best)
        best = ceil(entries);
    plan.capacity = (uint64_t)best;
    return seen_filter_new(out, &plan, why);
}

/* Keys that it holds; a filter that is all ones tells of no number. */
static double held(const struct seen_filter *f)
{
    double m = (double)f->plan.bits, set = (double)f->set;

    return -m / f->plan.probes * log1p(-fmin(set, m - 1) / m);
}

static enum seen_code fill(struct seen_filter **out, struct orestes *o,
                           struct seen_error *why)
{
    struct seen_filter *f = *out, *larger;
    enum seen_code code = orestes_bits(o, f->cells, (size_t)((o->m + 7) / 8),
                                       why);

    if (code == SEEN_OK && beyond(f))
        code = seen_fail(why, SEEN_CORRUPT, o->b,
                         "b has bits beyond the %llu of m",
                         (unsigned long long)o->m);
    if (code != SEEN_OK)
        return code;
    f->set = cells_count(f->cells, f->size);
    if (held(f) <= (double)f->plan.capacity)
        return SEEN_OK;
    code = make_filter(&larger, o, held(f), why);
    if (code == SEEN_OK) { /* exchange the cells: they may be large */
        unsigned char *cells = larger->cells;

        larger->cells = f->cells;
        f->cells = cells;
        larger->set = f->set;
        seen_filter_free(f);
        *out = larger;
    }
    return code;
}

enum seen_code seen_orestes_load(struct seen_filter **out, const char *path,
                                 struct seen_error *why)
{
    struct orestes o;
    enum seen_code code = orestes_open(&o, path, why);

    *out = NULL;
    if (code == SEEN_OK)
        code = orestes_scan(&o, why);
    if (code == SEEN_OK)
        code = make_filter(out, &o, 0, why);
    if (code == SEEN_OK)
        code = fill(out, &o, why);
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
    }
    orestes_close(&o);
    return code;
}
