/*
 * build_report.c - the report at the end of seen build.
 *
 *     seen: crawl.seen: 1,000,000 lines, about 998,120 distinct URLs, in ...
 *     seen: crawl.seen: blocked, 1.3 MB, 10.2 bits per URL, rate 0.98 %
 *
 * Between the two are how keys were made from an index, the numbers of keys
 * that were repaired or derived and of URLs that were excluded: they explain
 * unexpected answers of the filter.
 */
#include "build.h"

#include <string.h>
#include <sys/resource.h>

#include <seen/kind.h>
#include <seen/store.h>

#include "../lib/disk/clock.h"
#include "../lib/text/number.h"
#include "json.h"
#include "progress.h"

static void report_json(const struct build *b, const struct seen_filter *f,
                        double took)
{
    const struct seen_plan *p = seen_filter_plan(f);
    const struct seen_tally *n = &b->in.tally;

    cmd_json_open(NULL, '{');
    cmd_json_word("filter", b->output);
    cmd_json_word("kind", p->kind);
    cmd_json_count("lines", n->lines);
    cmd_json_count("captures", n->captures);
    cmd_json_count("urls", n->urls);
    cmd_json_count("repaired", n->repaired);
    cmd_json_count("derived", n->derived);
    cmd_json_count("left_out", b->in.rejects.count);
    cmd_json_count("lost", cmd_ingest_lost(&b->in));
    cmd_json_count("excluded", b->excluded);
    if (p->keys)
        cmd_json_word("keys",
                      p->keys == SEEN_KEYS_TRUSTED ? "trusted" : "derived");
    else
        cmd_json_null("keys");
    cmd_json_count("checked", b->in.agreement.checked);
    cmd_json_count("differ", b->in.agreement.differ);
    cmd_json_number("distinct", seen_filter_entries(f));
    cmd_json_count("capacity", p->capacity);
    cmd_json_count("bytes", seen_filter_bytes(f));
    cmd_json_number("rate", seen_filter_rate(f));
    cmd_json_number("seconds", took);
    cmd_json_shut('}');
}

/* "keys: as in the index; all 1,000 checked lines agree". */
static void report_keys(const struct build *b, enum seen_index_keys keys)
{
    const struct seen_agreement *a = &b->in.agreement;

    if (!a->checked)
        return;
    if (keys == SEEN_KEYS_TRUSTED)
        warning("%s: keys: as in the index; %s of %s %s", b->output,
                show_count(a->checked - a->differ),
                show_counted(a->checked, "checked line"),
                a->checked == 1 ? "agrees" : "agree");
    else if (!a->differ)
        warning("%s: keys: as in the index; all %s agree", b->output,
                show_counted(a->checked, "checked line"));
    else
        warning("%s: keys: derived from the URL for %s of %s, whose own keys "
                "differ",
                b->output, show_count(a->differ),
                show_counted(a->checked, "checked line"));
    if (a->differ)
        warning(
            "%s: %s line %llu has the key %s, but its URL has %s%s", b->output,
            a->input, (unsigned long long)a->line, a->key, a->ours,
            keys == SEEN_KEYS_TRUSTED ? ", and will be reported as new" : "");
}

static void report_words(const struct build *b, const struct seen_filter *f,
                         double took)
{
    const struct seen_plan *p = seen_filter_plan(f);
    const struct seen_tally *n = &b->in.tally;
    double distinct = seen_filter_entries(f), rate = seen_filter_rate(f);
    double bits = 8 * (double)seen_filter_bytes(f);
    struct rusage used;

    /* An estimate may exceed what there was. */
    distinct = distinct < (double)n->urls ? distinct : (double)n->urls;
    if (n->captures != n->lines)
        warning("%s: %s, %s, about %s, in %s", b->output,
                show_counted(n->lines, "line"),
                show_counted(n->captures, "capture"),
                show_estimated(distinct, "distinct URL"), show_time(took));
    else
        warning("%s: %s, about %s, in %s", b->output,
                show_counted(n->lines, "line"),
                show_estimated(distinct, "distinct URL"), show_time(took));
    report_keys(b, p->keys);
    if (n->repaired)
        warning("%s: %s repaired: a comma ended the host, or a slash the path",
                b->output, show_counted(n->repaired, "key"));
    if (n->derived)
        warning("%s: %s derived from the URL, because the index has no SURT",
                b->output, show_counted(n->derived, "key"));
    if (b->excluded)
        warning("%s: %s excluded", b->output,
                show_counted(b->excluded, "URL"));
    getrusage(RUSAGE_SELF, &used);
    if (seen_kind_can(p->kind, SEEN_BUILT_ONCE) && used.ru_maxrss > 256 * 1024)
        warning("%s: used %s of memory: %s keeps the hashes of all URLs "
                "until it is built",
                b->output, show_bytes((uint64_t)used.ru_maxrss * 1024),
                p->kind);
    if (distinct >= 1 && distinct < 0.01 * (double)p->capacity)
        warning("%s: %s, %s, almost empty, rate %s", b->output, p->kind,
                show_bytes(seen_filter_bytes(f)), show_rate(rate));
    else if (distinct >= 1)
        warning("%s: %s, %s, %.1f bits per URL, rate %s", b->output, p->kind,
                show_bytes(seen_filter_bytes(f)), bits / distinct,
                show_rate(rate));
    else
        warning("%s: %s, %s, empty", b->output, p->kind,
                show_bytes(seen_filter_bytes(f)));
}

void build_report(const struct build *b, const struct seen_filter *f)
{
    double took = clock_seconds() - b->begun;
    uint64_t lost = cmd_ingest_lost(&b->in);

    if (lost) /* even if it is to be quiet */
        warning("%s: PARTIAL: %s of the input could not be read; %s URLs will "
                "be reported as new",
                b->output, show_counted(lost, "part"),
                lost == 1 ? "its" : "their");

    if (b->json)
        report_json(b, f, took);
    else if (!b->quiet)
        report_words(b, f, took);
    if (b->in.agreement.differ && (b->json || b->quiet) &&
        seen_filter_plan(f)->keys == SEEN_KEYS_TRUSTED) /* nevertheless */
        report_keys(b, SEEN_KEYS_TRUSTED);
}
