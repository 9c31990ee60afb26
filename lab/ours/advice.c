/*
 * advice.c - which structure to choose.
 *
 * Every sentence is a rule applied to what was measured: the least of a
 * column among those that can do something, how many times more than the
 * least of all, which are beaten in everything. On another machine, or with
 * another version of a structure, other names may come out.
 *
 *     beaten   another does all that it can, takes no more bits, errs no
 *              more often, and asks and adds in nine tenths of the time
 *     default  of those within a tenth of the smallest that can be added
 *              to, the fastest to answer; of those that are shown to answer
 *              as fast, to within a tenth, the smallest
 *
 * A structure is called faster only if the difference exceeds the noise of
 * the rounds, and as fast only if the rounds show that (noise.h). If they show
 * neither, nothing is chosen: all that may be the fastest are named, with the
 * interval of their times. A secret is a special need, so what is keyed is no
 * default.
 */
#include "ours.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct rule {
    const struct choice *choice;
    unsigned count;
    double rate;
};

/* --- lists of names --- */

struct name_list {
    char text[2048];
    unsigned count;
};

static void put(struct name_list *w, const char *between, const char *format,
                ...) __attribute__((format(printf, 3, 4)));

static void put(struct name_list *w, const char *between, const char *format,
                ...)
{
    size_t len;
    va_list args;

    if (!w->count++)
        w->text[0] = '\0';
    else
        strncat(w->text, between, sizeof w->text - strlen(w->text) - 1);
    len = strlen(w->text);
    va_start(args, format);
    vsnprintf(w->text + len, sizeof w->text - len, format, args);
    va_end(args);
}

/* --- the least of something --- */

typedef double column(const struct choice *c);

static double bits(const struct choice *c)
{
    return c->large.bits;
}

/* For each halving of the rate, so that other rates can be compared. */
static double halving(const struct choice *c)
{
    return c->large.bits / -log2(c->large.planned);
}

/* Does it keep the rate that all were planned for? */
static bool keeps(const struct rule *r, const struct choice *c)
{
    return c->large.planned <= r->rate * (1 + 1e-9);
}

static bool is_able(const struct choice *c, enum able what)
{
    /* To be keyed has its price only where it is done. */
    return what == ABLE || (what == KEYED ? c->subject->keyed : c->able[what]);
}

/* The least of a column among those that can `what` (ABLE: any) and keep the
   rate; NULL if no one does. */
static const struct choice *least(const struct rule *r, column *of,
                                  enum able what)
{
    const struct choice *best = NULL;

    for (unsigned i = 0; i < r->count; i++) {
        const struct choice *c = &r->choice[i];

        if (keeps(r, c) && is_able(c, what) && (!best || of(c) < of(best)))
            best = c;
    }
    return best;
}

/* The fastest of those that can `what` and keep the rate, or NULL; the names
   of all that noise cannot tell from it go to `near`. */
static const struct choice *fastest(const struct rule *r, enum timing which,
                                    enum able what, struct name_list *near)
{
    const struct choice *best = NULL;

    for (unsigned i = 0; i < r->count; i++) {
        const struct choice *c = &r->choice[i];

        if (keeps(r, c) && is_able(c, what) &&
            !(which == TO_ADD && c->large.built) &&
            (!best || c->time[which].value < best->time[which].value))
            best = c;
    }
    near->count = 0;
    for (unsigned i = 0; best && i < r->count; i++) {
        const struct choice *c = &r->choice[i];

        if (c == best || (keeps(r, c) && is_able(c, what) &&
                          !(which == TO_ADD && c->large.built) &&
                          !noise_compare(&best->time[which], &c->time[which])))
            put(near, ", ", "%s", c->subject->name);
    }
    return best;
}

/* "blocked, with 12.3 ns"; or those that may be, and that noise decides. */
static void put_fastest(struct name_list *to, const struct rule *r,
                        enum timing which, enum able what)
{
    struct name_list near;
    const struct choice *best = fastest(r, which, what, &near);

    to->count = 0;
    if (!best)
        put(to, "", "none");
    else if (near.count == 1)
        put(to, "", "%s with %.1f ns", near.text, best->time[which].value);
    else
        put(to, "",
            "one of %s, which these runs do not tell apart (%.1f ns with %s)",
            near.text, best->time[which].value, best->subject->name);
}

/* --- paragraphs --- */

static void describe_small(struct section *s, const struct rule *r)
{
    const struct choice *any = least(r, bits, ABLE);
    const struct choice *open = least(r, bits, ADD);
    const struct choice *dense = least(r, halving, ABLE);
    struct name_list broken = { .count = 0 };

    for (unsigned i = 0; i < r->count; i++) {
        const struct choice *c = &r->choice[i];

        if (!keeps(r, c))
            put(&broken, ", ", "%s (%.2f %%)", c->subject->name,
                100 * c->large.rate);
    }
    section_text(
        s,
        "Small. With %s URLs the smallest that keeps the planned %g %% is %s: "
        "%.2f bits per URL, at a rate of %.2g %%. Of those that can be added "
        "to it is %s: %.2f bits at %.2g %%. For each halving of the rate %s "
        "takes least: %.2f bits%s. Above the planned rate: %s.",
        lab_count((double)any->large.n), 100 * r->rate, any->subject->name,
        any->large.bits, 100 * any->large.planned, open->subject->name,
        open->large.bits, 100 * open->large.planned, dense->subject->name,
        halving(dense),
        dense->able[ADD] ? ""
                         : "; but its set must be known, and "
                           "cannot change",
        broken.count ? broken.text : "none");
}

static void describe_fast(struct section *s, const struct rule *r)
{
    static const struct {
        enum timing which;
        enum able what;
    } of[3] = { { TO_ASK, ABLE }, { TO_ASK_ONE, ABLE }, { TO_ADD, ADD } };
    double most = 0, least_of = INFINITY;
    struct name_list name[3];

    for (int i = 0; i < 3; i++)
        put_fastest(&name[i], r, of[i].which, of[i].what);
    for (unsigned i = 0; i < r->count; i++) {
        const struct choice *c = &r->choice[i];

        most = fmax(most, c->large.ask_new / c->small.ask_new);
        least_of = fmin(least_of, c->large.ask_new / c->small.ask_new);
    }
    section_text(
        s,
        "Fast. The fastest to ask in batches is %s; one by one it is %s; to "
        "add to, %s. From %s to %s URLs the time of a lookup grows %.1f to "
        "%.1f times.",
        name[0].text, name[1].text, name[2].text,
        lab_count((double)r->choice->small.n),
        lab_count((double)r->choice->large.n), least_of, most);
}

enum { WORDS = 160 };

static const char least_of_all[] = "the least of all that can be added to";

/* How many times the bits of the smallest, in words. */
static const char *times_bits(char text[WORDS], const struct choice *of,
                              const struct choice *best)
{
    if (of == best)
        return least_of_all;
    snprintf(text, WORDS, "%.2f times that of %s", bits(of) / bits(best),
             best->subject->name);
    return text;
}

/* The same of the time to ask, as an interval. */
static const char *times_asked(char text[WORDS], const struct choice *of,
                               const struct choice *best)
{
    char room[NOISE_WORDS];

    if (of == best)
        return least_of_all;
    snprintf(
        text, WORDS, "%s that of %s",
        noise_words(room, noise_ratio(&of->time[TO_ASK], &best->time[TO_ASK])),
        best->subject->name);
    return text;
}

/* What an ability costs: the smallest and the fastest of those that have it,
   beside those of all that can be added to. */
static void describe_able(struct section *s, const struct rule *r,
                          enum able what)
{
    const struct choice *small = least(r, bits, what);
    const struct choice *open = least(r, bits, ADD), *fast, *quick;
    struct name_list can = { .count = 0 }, cannot = { .count = 0 };
    struct name_list near, ask;
    char room[2][WORDS];
    bool few;

    for (unsigned i = 0; i < r->count; i++)
        put(r->choice[i].able[what] ? &can : &cannot, ", ", "%s",
            r->choice[i].subject->name);
    if (!small) {
        section_text(s, "To %s: none can and keeps the rate.",
                     able_words[what]);
        return;
    }
    fast = fastest(r, TO_ASK, what, &near);
    quick = fastest(r, TO_ASK, ADD, &near);
    few = can.count <= cannot.count;
    if (can.count == 1) {
        section_text(s,
                     "To %s: %s alone. It has %.2f bits per URL, %s, and is "
                     "asked in %.1f ns, %s.",
                     able_words[what], can.text, small->large.bits,
                     times_bits(room[0], small, open),
                     small->time[TO_ASK].value,
                     times_asked(room[1], small, quick));
        return;
    }
    put_fastest(&ask, r, TO_ASK, what);
    section_text(
        s,
        "To %s: %s%s%s. The smallest%s is %s with %.2f bits per URL, %s; "
        "the fastest to ask is %s, %s.",
        able_words[what], few ? can.text : "all",
        few || !cannot.count ? "" : " but ",
        few || !cannot.count ? "" : cannot.text,
        what == KEYED ? " that is keyed" : "", small->subject->name,
        small->large.bits, times_bits(room[0], small, open), ask.text,
        times_asked(room[1], fast, quick));
}

/* In nine tenths of the time or less, and not by noise. */
static bool faster(const struct choice *a, const struct choice *b,
                   enum timing which)
{
    if (which == TO_ADD && (a->large.built || b->large.built))
        return b->large.built && !a->large.built;
    return a->time[which].value < 0.9 * b->time[which].value &&
           noise_compare(&a->time[which], &b->time[which]) < 0;
}

static bool beats(const struct choice *a, const struct choice *b)
{
    for (int i = 0; i < ABLE; i++)
        if (b->able[i] && !a->able[i])
            return false;
    return a->subject->keyed == b->subject->keyed &&
           a->large.bits <= 1.001 * b->large.bits &&
           a->large.planned <= b->large.planned * (1 + 1e-9) &&
           faster(a, b, TO_ASK) && faster(a, b, TO_ASK_ONE) &&
           faster(a, b, TO_ADD);
}

/* Each that is beaten, and the one that beats it: the fastest to ask. */
static void describe_beaten(struct section *s, const struct rule *r)
{
    struct name_list beaten = { .count = 0 };
    char room[NOISE_WORDS];

    for (unsigned i = 0; i < r->count; i++) {
        const struct choice *b = &r->choice[i], *by = NULL;

        for (unsigned j = 0; j < r->count; j++) {
            const struct choice *a = &r->choice[j];

            if (beats(a, b) &&
                (!by || a->time[TO_ASK].value < by->time[TO_ASK].value))
                by = a;
        }
        if (by)
            put(&beaten, ", ",
                "%s by %s (%s the time to ask, %.2f times the bits)",
                b->subject->name, by->subject->name,
                noise_words(room,
                            noise_ratio(&b->time[TO_ASK], &by->time[TO_ASK])),
                b->large.bits / by->large.bits);
    }
    section_text(
        s,
        "Beaten in everything, by one that can do the same, takes no "
        "more bits, errs no more often, and asks and adds in nine "
        "tenths of the time or less, beyond the noise: %s.%s",
        beaten.count ? beaten.text : "none",
        beaten.count
            ? " Use these only to read the filters of others, or to compare."
            : "");
}

/* --- without special needs --- */

/* Sizes and times within a tenth of each other do not matter. */
static const double margin = 0.1;

/* Within a tenth of the smallest that can be added to, without a secret. */
static bool near_smallest(const struct rule *r, const struct choice *c,
                          const struct choice *open)
{
    return keeps(r, c) && c->able[ADD] && !c->subject->keyed &&
           bits(c) <= (1 + margin) * bits(open);
}

struct pick {
    const struct choice *fastest; /* by the mean of its runs */
    const struct choice *chosen;  /* unless others may be as fast: */
    struct name_list open;        /* not shown to be slower, or as fast */
};

static enum verdict {
    FASTEST,
    AS_FAST, /* to within the margin */
    SLOWER,
    NOT_DECIDED,
} judge(const struct choice *c, const struct choice *fastest)
{
    const struct noisy *one = &c->time[TO_ASK], *best = &fastest->time[TO_ASK];

    if (c == fastest)
        return FASTEST;
    if (noise_equal(one, best, margin))
        return AS_FAST;
    return noise_compare(one, best) > 0 ? SLOWER : NOT_DECIDED;
}

static void pick_default(const struct rule *r, const struct choice *open,
                         struct pick *p)
{
    char room[NOISE_WORDS];

    *p = (struct pick){ .fastest = NULL };
    for (unsigned i = 0; i < r->count; i++) {
        const struct choice *c = &r->choice[i];

        if (near_smallest(r, c, open) &&
            (!p->fastest ||
             c->time[TO_ASK].value < p->fastest->time[TO_ASK].value))
            p->fastest = c;
    }
    p->chosen = p->fastest;
    for (unsigned i = 0; p->fastest && i < r->count; i++) {
        const struct choice *c = &r->choice[i];
        enum verdict v;

        if (!near_smallest(r, c, open))
            continue;
        v = judge(c, p->fastest);
        if (v == AS_FAST && bits(c) < bits(p->chosen))
            p->chosen = c;
        if (v == NOT_DECIDED)
            put(&p->open, ", ", "%s (%.2f bits, %s that time)",
                c->subject->name, bits(c),
                noise_words(room, noise_ratio(&c->time[TO_ASK],
                                              &p->fastest->time[TO_ASK])));
    }
}

static void show_default(struct section *s, const struct rule *r,
                         const struct choice *open,
                         const struct choice *fastest)
{
    static const char *const words[] = { "the fastest", "as fast", "slower",
                                         "not decided" };
    struct table *t = section_table(
        s, "which-default",
        "Those within a tenth of the smallest that can be added to, without a "
        "secret: the time to ask in ns, and how many times that of the "
        "fastest it is; \"as fast\" if all of that interval is within a "
        "tenth");

    table_columns(t, "structure", "bits", "ask new", "times: from", "to",
                  "verdict", NULL);
    for (unsigned i = 0; i < r->count; i++) {
        const struct choice *c = &r->choice[i];
        struct band b;

        if (!near_smallest(r, c, open))
            continue;
        b = noise_ratio(&c->time[TO_ASK], &fastest->time[TO_ASK]);
        table_text(t, "%s", c->subject->name);
        table_number(t, bits(c), 2);
        table_number(t, c->time[TO_ASK].value, 1);
        table_number(t, c == fastest ? 1 : b.low, 2);
        table_number(t, c == fastest ? 1 : isfinite(b.high) ? b.high : NAN, 2);
        table_text(t, "%s", words[judge(c, fastest)]);
    }
}

/* The choice, or those between which these runs do not decide. */
static void describe_default(struct section *s, const struct rule *r,
                             const struct choice *open, const struct pick *p,
                             const struct choice *known)
{
    const struct choice *c = p->chosen;

    if (p->open.count) {
        section_headline(
            s,
            "Without special needs these runs do not decide between %s (%.2f "
            "bits per URL at %g %%, %.0f ns to ask) and %s. For a set that is "
            "known, choose %s.",
            c->subject->name, bits(c), 100 * r->rate, c->time[TO_ASK].value,
            p->open.text, known->subject->name);
        section_text(
            s,
            "In short: without special needs these runs do not decide. Of "
            "those within a tenth of the smallest that can be added to, the "
            "least mean time to answer is that of %s: %.2f bits per URL, %.1f "
            "ns to ask and %.1f ns to add. These are not shown to be slower, "
            "nor to be as fast to within a tenth: %s. More --runs on an idle "
            "machine decide.",
            p->fastest->subject->name, bits(p->fastest),
            p->fastest->time[TO_ASK].value, p->fastest->large.add,
            p->open.text);
        return;
    }
    section_headline(s,
                     "Without special needs choose %s: %.2f bits per URL at "
                     "%g %%, %.0f ns to ask; for a set that is known, %s.",
                     c->subject->name, bits(c), 100 * r->rate,
                     c->time[TO_ASK].value, known->subject->name);
    section_text(
        s,
        "In short: without special needs choose %s, %s of "
        "those within a tenth of the smallest that can be added to: %.2f bits "
        "per URL, %.1f ns to ask and %.1f ns to add, where %s has %.2f bits, "
        "%.1f ns and %.1f ns.",
        c->subject->name,
        c == p->fastest ? "the fastest to answer"
                        : "the smallest that answers as fast as the fastest, "
                          "to within a tenth,",
        bits(c), c->time[TO_ASK].value, c->large.add, open->subject->name,
        bits(open), open->time[TO_ASK].value, open->large.add);
}

static void describe_short(struct section *s, const struct rule *r)
{
    static const enum able wish[] = { DELETE, MANY, GROW, PREFIX };
    const struct choice *open = least(r, bits, ADD);
    const struct choice *known = least(r, halving, ABLE);
    struct name_list others = { .count = 0 };
    struct pick p;

    for (size_t i = 0; i < sizeof wish / sizeof *wish; i++) {
        const struct choice *c = least(r, bits, wish[i]);

        if (c)
            put(&others, "; ", "to %s, %s", able_words[wish[i]],
                c->subject->name);
    }
    pick_default(r, open, &p);
    if (p.fastest) {
        show_default(s, r, open, p.fastest);
        describe_default(s, r, open, &p, known);
    }
    section_text(s,
                 "For a set that is known and to be published, choose %s%s%s.",
                 known->subject->name, others.count ? "; " : "",
                 others.count ? others.text : "");
}

void advise(struct section *s, const struct choice *choice, unsigned count,
            double rate)
{
    struct rule r = { choice, count, rate };

    if (!least(&r, bits, ADD)) {
        section_text(s, "None that can be added to keeps the planned rate, so "
                        "there is nothing to advise.");
        return;
    }
    describe_small(s, &r);
    describe_fast(s, &r);
    for (int i = DELETE; i < ABLE; i++)
        describe_able(s, &r, (enum able)i);
    describe_beaten(s, &r);
    describe_short(s, &r);
}
