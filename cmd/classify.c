/*
 * classify.c - seen classify: what is new on these pages, what changed, and
 * where.
 *
 *     $ seen classify --state news -i pages.jsonl --json
 *     {"_id": "5a...", "_url": "http://a.example/", "class": "new", ...}
 *
 * change/state.h has the rules and the order in which answers become safe;
 * this file takes records from a source to a sink.
 */
#include "classify.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../change/near.h"
#include "../change/notified.h"
#include "../change/published.h"
#include "../change/report.h"
#include "../lib/disk/disk.h"
#include "../lib/text/json.h"
#include "../lib/text/number.h"
#include "../lib/text/span.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "template.h"

enum { BATCH = 2000 }; /* records per transaction */

#define AT(member) offsetof(struct classify_settings, member)

static const struct option options[] = {
    { "state", 's', PATH, "DIR", AT(state),
      "what was seen so far; made if it is missing" },
    { "input", 'i', PATHS, "FILE", AT(inputs),
      "page records, one per line; - is standard input (the default)" },
    { "queue", 0, TEXT, "WHERE", AT(place.queue),
      "page records from a queue: sqlite:FILE, postgresql://HOST/DATABASE or "
      "amqp://HOST" },
    { "password-file", 0, PATH, "FILE", AT(place.password_file),
      "the password of that server, in the first line of a file" },
    { "pages", 0, TEXT, "NAME", AT(pages),
      "the queues of page records: NAME.0, NAME.1, ... (default pages)" },
    { "shard", 0, SEED, "N", AT(shard),
      "which of these queues, and whose state this is (default 0)" },
    { "shards", 0, COUNT, "N", AT(shards),
      "how many there are, as of seen enqueue (default 1)" },
    { "drain", 0, FLAG, NULL, AT(drain),
      "end when the queue is empty, and nobody has messages of it" },
    { "output", 'o', PATH, "FILE", AT(output),
      "append results as JSON lines, each exactly once" },
    { "again", 0, FLAG, NULL, AT(again),
      "begin the file of --output with all answers that are remembered, if "
      "it was lost or cut short" },
    { "results", 0, TEXT, "NAME", AT(results),
      "publish results on this queue of --queue" },
    JSON_OPTION(struct classify_settings, json, "print results as JSON lines"),
    { "report", 0, PATH, "DIR", AT(report),
      "write what changed for people: index.html and mail.txt" },
    { "notify", 0, TEXT, "PROGRAM", AT(notify.program),
      "run a program for each change, with the answer and the record on its "
      "standard input" },
    { "notify-classes", 0, TEXT, "CLASS,...", AT(notify.classes),
      "for these (default new,updated,reverted,removed,duplicate,broken)" },
    { "notify-rate", 0, FACTOR, "N", AT(notify.rate),
      "programs that start per second, at most (default 10)" },
    { "notify-parallel", 0, COUNT, "N", AT(notify.parallel),
      "programs at a time, at most 64 (default 4)" },
    { "notify-timeout", 0, DURATION, "TIME", AT(notify.timeout),
      "a program that takes longer is killed (default 30s)" },
    { "near", 0, PATH, "FILE", AT(near),
      "append pages whose text is almost that of a page of another site, as "
      "JSON lines" },
    { "near-distance", 0, COUNT, "BITS", AT(near_distance),
      "how far apart, in bits of a SimHash of 64: 1 to 3 (default 3)" },
    { "exact", 0, FLAG, NULL, AT(change.exact),
      "remember the last version of each URL: reverted, removed, late; which "
      "page is copied; how much was removed" },
    { "confirm", 0, FLAG, NULL, AT(change.confirm),
      "a change counts when it is seen twice; before, it is flapping" },
    { "no-words", 0, FLAG, NULL, AT(change.no_words),
      "do not remember words: classes only, in at most 32 bytes per URL" },
    { "template", 't', PATHS, "FILE", AT(templates),
      "templates of the records, for what their fields ignore" },
    { "ignore", 0, TEXTS, "[FIELD=]PATTERN", AT(ignore),
      "text that is not compared, in all fields or in one" },
    { "capacity", 0, COUNT, "N", AT(change.capacity),
      "URLs expected, when the state is made (it grows anyway)" },
    { "remember", 0, DURATION, "TIME", AT(remember),
      "how long answers are kept for repeated records (default 30d)" },
    /* Records per transaction (2,000). */
    { "batch", 0, COUNT, "N", AT(batch), NULL },
    { "rule", 0, TEXT, "ours|published", AT(rule),
      "published: the algorithm of the aggregation paper, with its two files" },
    QUIET_OPTION(struct classify_settings, quiet),
    { .name = NULL }
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

/* --- what is ignored --- */

static bool add_template(struct change_rules *rules, const char *path)
{
    struct crawl_template *t = cmd_template_load(path);
    struct crawl_field_use use;
    const char *type;
    struct seen_error why;
    bool good = t;

    for (size_t i = 0; good && (type = crawl_template_types(t, i)); i++)
        for (size_t k = 0; good && crawl_template_field(t, type, k, &use); k++)
            good = change_rules_add(rules, crawl_template_hash(t), type,
                                    use.name, use.compared, use.ignore,
                                    &why) == SEEN_OK;
    if (t && !good)
        trouble_with(path, &why);
    crawl_template_free(t);
    return good;
}

/* FIELD=PATTERN or PATTERN. Several for one field are one rule. */
static bool add_ignored(struct change_rules *rules, const struct texts *all)
{
    char field[CHANGE_NAME_MOST + 1] = "";

    for (size_t i = 0; i < all->n; i++) {
        const char *pattern[TEXTS_MOST + 1];
        const char *equal = strchr(all->text[i], '=');
        size_t len = equal ? (size_t)(equal - all->text[i]) : 0, n = 0;
        struct seen_error why;

        if (len >= sizeof field) {
            trouble("--ignore %s: a name of more than 255 bytes",
                    all->text[i]);
            return false;
        }
        memcpy(field, all->text[i], len);
        field[len] = '\0';
        for (size_t k = 0; k < all->n; k++) {
            const char *other = strchr(all->text[k], '=');
            size_t other_len = other ? (size_t)(other - all->text[k]) : 0;

            if (other_len == len && !memcmp(all->text[k], field, len))
                pattern[n++] = other ? other + 1 : all->text[k];
            else if (!other)
                pattern[n++] = all->text[k]; /* of all fields */
        }
        pattern[n] = NULL;
        if (change_rules_add(rules, "", "", field, true, pattern, &why) !=
            SEEN_OK) {
            trouble("--ignore: %s", why.text);
            return false;
        }
    }
    return true;
}

static struct change_rules *make_rules(const struct classify_settings *s)
{
    struct change_rules *rules = change_rules_new();
    bool good = rules;

    if (!rules)
        trouble("no memory for rules");
    for (size_t i = 0; good && i < s->templates.n; i++)
        good = add_template(rules, s->templates.text[i]);
    if (good && add_ignored(rules, &s->ignore))
        return rules;
    change_rules_free(rules);
    return NULL;
}

/* --- the end --- */

enum { COSTLY_NAMED = 10 };

struct classify_totals {
    uint64_t records, again, count[CHANGE_CLASSES], costly;
};

/* A name of a field and a pattern, for a terminal. */
static void warn_of_costly(const struct change_answer *a)
{
    char text[200];
    size_t n = a->costly.len < sizeof text ? a->costly.len : sizeof text - 1;

    for (size_t i = 0; i < n; i++) {
        char c = a->costly.text[i];

        text[i] = c >= ' ' && c <= '~' ? c : '?';
    }
    text[n] = '\0';
    warning("%.*s: nothing is ignored, the pattern costs too much here: %s",
            (int)(a->url.len < 300 ? a->url.len : 300), a->url.text, text);
}

static void add_totals(struct classify_totals *t,
                       const struct change_answers *answers)
{
    for (size_t i = 0; i < answers->n; i++) {
        const struct change_answer *a = &answers->answer[i];

        t->records += a->class != CHANGE_END;
        t->again += a->again && a->class != CHANGE_END;
        t->count[a->class]++;
        if (a->costly.len && !a->again && t->costly++ < COSTLY_NAMED)
            warn_of_costly(a);
    }
}

static void show_totals(const struct classify_totals *t)
{
    output_format("records       %s", show_count(t->records));
    if (t->again)
        output_format(", of which %s came again", show_count(t->again));
    output_text("\n");
    for (int i = CHANGE_NEW; i < CHANGE_CLASSES; i++)
        if (i != CHANGE_END && (t->count[i] || i <= CHANGE_UNCHANGED))
            output_format("%-13s %s\n",
                          change_class_name((enum change_class)i),
                          show_count(t->count[i]));
    if (t->count[CHANGE_ERROR])
        output_format("set aside     %s\n",
                      show_count(t->count[CHANGE_ERROR]));
}

static void show_state(struct change_state *s)
{
    struct change_facts f;

    change_state_facts(s, &f);
    output_format("state         %s, %s of filters; %s kept\n",
                  show_estimated(f.urls, "URL"), show_bytes(f.bytes),
                  show_counted(f.answers, "answer"));
    output_format("wrong at most %s of updated, %s of unchanged, %s of "
                  "duplicate\n",
                  f.exact ? "none" : show_rate(f.url_rate),
                  f.exact ? "none" : show_rate(f.version_rate),
                  f.exact ? "none" : show_rate(f.text_rate));
}

static enum outcome end(const struct classify_totals *t)
{
    if (t->costly > COSTLY_NAMED)
        warning("%s compared without ignoring what costs too much; the "
                "results name them",
                show_counted(t->costly, "record"));
    if (t->count[CHANGE_ERROR])
        warning("%s %s set aside; the results have the reasons",
                show_counted(t->count[CHANGE_ERROR], "record"),
                t->count[CHANGE_ERROR] == 1 ? "was" : "were");
    return t->count[CHANGE_ERROR] ? NO : YES;
}

/* --- reports and programs --- */

/* Where answers go besides the sink: each may be NULL. */
struct followers {
    struct change_near *near;
    FILE *pairs; /* that `near` found */
    uint64_t paired;
    struct change_report *report;
    struct classify_notify *notify;
};

/* An answer that a process which was killed may not have notified of. */
static enum seen_code notify_again(void *owner, struct seen_span json,
                                   struct seen_error *why)
{
    struct classify_notify *notify = owner;
    struct change_answers answers = { .answer = NULL };
    enum seen_code code = change_answer_read(&answers, json, why);
    struct seen_span none = { "", 0 };

    if (code == SEEN_OK) {
        answers.answer[0].json = json;
        classify_notify_one(notify, &answers.answer[0], none);
    }
    change_answers_clear(&answers);
    return code;
}

static void write_pair(void *owner, const struct change_record *r,
                       struct seen_span url, unsigned distance)
{
    struct buffer line = { .bytes = NULL };
    struct followers *f = owner;

    buffer_text(&line, "{\"_id\": ");
    buffer_json(&line, r->id.text, r->id.len);
    buffer_text(&line, ", \"_url\": ");
    buffer_json(&line, r->url.text, r->url.len);
    buffer_text(&line, ", \"near\": ");
    buffer_json(&line, url.text, url.len);
    buffer_format(&line, ", \"distance\": %u}\n", distance);
    if (line.failed)
        output_no_memory();
    fwrite(line.bytes, 1, line.len, f->pairs);
    f->paired++;
    buffer_clear(&line);
}

static bool is_file(FILE *file)
{
    struct stat found;

    return fstat(fileno(file), &found) == 0 && S_ISREG(found.st_mode);
}

/* Pairs are written before the pages are remembered: after a kill a pair may
   be there twice, and none is missing. */
static bool follow_near(struct followers *f, const struct classify_settings *s,
                        const struct change_answers *answers,
                        const struct change_record *record, size_t n)
{
    enum seen_code code;
    struct seen_error why;

    code = change_near_begin(f->near, &why);
    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        if (answers->answer[i].class != CHANGE_ERROR)
            code = change_near_see(
                f->near, &record[i], s->change.rules, answers->answer[i].again,
                (unsigned)s->near_distance, write_pair, f, &why);
    if (code == SEEN_OK && (fflush(f->pairs) || ferror(f->pairs)))
        code = seen_fail(&why, SEEN_IO, 0, "%.100s", s->near);
    if (code == SEEN_OK && is_file(f->pairs))
        code = disk_flush(fileno(f->pairs), &why);
    if (code == SEEN_OK)
        code = change_near_commit(f->near, &why);
    if (code != SEEN_OK)
        trouble_with(s->state, &why);
    return code == SEEN_OK;
}

static bool follow_begin(struct followers *f, struct classify_settings *s,
                         struct change_state *state)
{
    struct seen_error why;

    s->notify.stopped = &stopped;
    if (!s->near_distance)
        s->near_distance = CHANGE_NEAR_MOST;
    if (s->report && !(f->report = change_report_new(NULL))) {
        trouble("no memory for a report");
        return false;
    }
    if (s->near && !(f->pairs = fopen(s->near, "ae"))) {
        seen_fail(&why, SEEN_IO, 0, "it cannot be written");
        trouble_with(s->near, &why);
        return false;
    }
    if (s->near && is_file(f->pairs) &&
        disk_flush_name(s->near, &why) != SEEN_OK) {
        trouble_with(s->near, &why);
        return false;
    }
    if (s->near && change_near_open(&f->near, state, &why) != SEEN_OK) {
        trouble_with(s->state, &why);
        return false;
    }
    if (!s->notify.program)
        return true;
    f->notify = classify_notify_open(&s->notify);
    if (!f->notify)
        return false;
    if (change_notified_resume(state, notify_again, f->notify, &why) ==
        SEEN_OK)
        return true;
    trouble_with(s->state, &why);
    return false;
}

/* The answers are safe: pass them on. */
static bool follow(struct followers *f, const struct classify_settings *s,
                   struct change_state *state,
                   const struct change_answers *answers,
                   const struct change_record *record, size_t n)
{
    struct seen_error why;

    for (size_t i = 0; f->report && i < answers->n; i++)
        change_report_add(f->report, answers, &answers->answer[i],
                          i < n ? &record[i] : NULL, s->change.rules);
    if (f->near && !follow_near(f, s, answers, record, n))
        return false;
    if (!f->notify)
        return true;
    if (!classify_notify_put(f->notify, answers, record, n))
        return true; /* stopped: the next run goes on there */
    classify_notify_wait(f->notify);
    if (change_notified(state, &why) == SEEN_OK)
        return true;
    trouble_with(s->state, &why);
    return false;
}

static void show_near(const struct followers *f)
{
    uint64_t cut = change_near_cost(f->near).cut;

    output_format("near          %s", show_counted(f->paired, "page"));
    if (cut)
        output_format("; %s met more candidates than are compared",
                      show_count(cut));
    output_text("\n");
}

static bool follow_end(struct followers *f, const struct classify_settings *s)
{
    struct seen_error why;
    bool good = true;

    if (f->report &&
        change_report_save(f->report, s->report, &why) != SEEN_OK) {
        trouble_with(s->report, &why);
        good = false;
    }
    if (f->near && !s->json && !s->quiet)
        show_near(f);
    if (f->notify && !s->json && !s->quiet) {
        classify_notify_wait(f->notify);
        classify_notify_report(f->notify);
    }
    return good;
}

static void follow_clear(struct followers *f)
{
    change_near_close(f->near);
    if (f->pairs)
        fclose(f->pairs);
    change_report_free(f->report);
    classify_notify_close(f->notify);
}

/* --- a run --- */

static bool work(struct classify_settings *s, struct change_state *state,
                 struct classify_source *source, struct classify_sink *sink,
                 struct followers *followers, struct classify_totals *totals)
{
    struct change_answers answers = { .answer = NULL };
    struct change_record *record;
    bool ended = false, empty = false, good = true;
    struct seen_error why;
    size_t n;

    while (good && !ended && !stopped) {
        good = classify_source_next(source, &record, &n, &ended);
        if (!good || (!n && !s->place.queue))
            continue;
        if (!n && s->drain) {
            good = classify_source_is_empty(source, &empty);
            if (!good || empty)
                break;
        }
        if (change_classify(state, record, n, &answers, &why) != SEEN_OK) {
            trouble_with(s->state, &why);
            good = false;
            break;
        }
        good = classify_sink_put(sink, &answers) &&
               follow(followers, s, state, &answers, record, n) &&
               classify_source_done(source, &answers);
        add_totals(totals, &answers);
    }
    change_answers_clear(&answers);
    return good;
}

static bool run_state(struct classify_settings *s, struct queue *q,
                      struct change_state *state,
                      struct classify_totals *totals)
{
    struct classify_source *source = classify_source_open(s, q);
    struct classify_sink *sink = source ? classify_sink_open(s, state, q)
                                        : NULL;
    struct followers followers = { .report = NULL };
    bool good = sink && follow_begin(&followers, s, state) &&
                work(s, state, source, sink, &followers, totals) &&
                follow_end(&followers, s);

    follow_clear(&followers);
    classify_sink_close(sink);
    classify_source_close(source);
    return good;
}

static enum outcome classify(struct classify_settings *s, struct queue *q)
{
    struct classify_totals totals = { .records = 0 };
    struct change_rules *rules = make_rules(s);
    struct change_state *state;
    struct seen_error why;
    bool good;

    if (!rules)
        return TROUBLE;
    s->change.rules = rules;
    if (change_state_open(&state, s->state, &s->change, &why) != SEEN_OK) {
        change_rules_free(rules);
        return trouble_with(s->state, &why);
    }
    good = run_state(s, q, state, &totals);
    if (good && !s->json && !s->quiet) {
        show_totals(&totals);
        show_state(state);
    }
    if (change_state_close(state, &why) != SEEN_OK) {
        good = false;
        trouble_with(s->state, &why);
    }
    change_rules_free(rules);
    if (!good && !output_dead())
        return TROUBLE;
    return end(&totals);
}

/* --- the paper's rule --- */

static bool publish_batch(struct change_published *p,
                          const struct change_record *record, size_t n,
                          struct change_answers *answers, struct buffer *line)
{
    struct seen_error why;
    double rate[2];

    change_answers_empty(answers);
    for (size_t i = 0; i < n; i++) {
        const struct change_record *r = &record[i];
        struct change_answer *a = change_answers_add(answers);

        if (!a) {
            trouble("no memory for an answer");
            return false;
        }
        a->id = r->id;
        a->url = r->url;
        a->class = r->end ? CHANGE_END : CHANGE_ERROR;
        a->why = span_of(r->fault);
        if (!r->end && !*r->fault &&
            change_published_classify(p, r, &a->class, &why) != SEEN_OK) {
            trouble("%s", why.text);
            return false;
        }
        change_published_rates(p, &rate[0], &rate[1]);
        if (a->class == CHANGE_UPDATED)
            a->wrong = rate[0];
        if (a->class == CHANGE_UNCHANGED)
            a->wrong = rate[1];
        line->len = 0;
        if (!r->end)
            change_answer_write(line, answers, a);
        a->json = change_answers_keep(
            answers, (struct seen_span){ line->bytes, line->len });
        if (!a->json.text || line->failed) {
            trouble("no memory for an answer");
            return false;
        }
    }
    return true;
}

static enum outcome classify_published(struct classify_settings *s)
{
    struct classify_source *source = classify_source_open(s, NULL);
    struct classify_sink *sink = classify_sink_open(s, NULL, NULL);
    struct classify_totals totals = { .records = 0 };
    struct change_answers answers = { .answer = NULL };
    struct buffer line = { .bytes = NULL };
    bool ended = false, good = source && sink;
    struct change_published *p = NULL;
    struct change_record *record;
    struct seen_error why;
    size_t n;

    if (good && change_published_open(&p, s->state, s->change.capacity,
                                      &why) != SEEN_OK) {
        trouble_with(s->state, &why);
        good = false;
    }
    while (good && !ended && !stopped) {
        good = classify_source_next(source, &record, &n, &ended) &&
               publish_batch(p, record, n, &answers, &line) &&
               classify_sink_put(sink, &answers);
        add_totals(&totals, &answers);
    }
    if (change_published_close(p, &why) != SEEN_OK) {
        trouble_with(s->state, &why);
        good = false;
    }
    if (good && !s->json && !s->quiet)
        show_totals(&totals);
    change_answers_clear(&answers);
    buffer_clear(&line);
    classify_sink_close(sink);
    classify_source_close(source);
    return good || output_dead() ? end(&totals) : TROUBLE;
}

/* --- options --- */

static const char *wrong_options(const struct classify_settings *s)
{
    bool published = s->rule && !strcmp(s->rule, "published");

    if (!s->state)
        return "--state DIR is missing";
    if (s->inputs.n && s->place.queue)
        return "--input and --queue are two sources; give one";
    if (s->results && !s->place.queue)
        return "--results is a queue of --queue, which is missing";
    if (s->again && !s->output)
        return "--again begins the file of --output, which is missing";
    if (s->drain && !s->place.queue)
        return "--drain is for --queue";
    if (s->shard && s->shard >= s->shards)
        return "--shard: shards are numbered from 0 to --shards - 1";
    if (s->batch > 100000)
        return "--batch: at most 100,000";
    if (!s->notify.program && (s->notify.classes || s->notify.rate > 0 ||
                               s->notify.parallel || s->notify.timeout))
        return "--notify-classes, -rate, -parallel and -timeout are for "
               "--notify";
    if (s->near_distance && !s->near)
        return "--near-distance is for --near";
    if (s->near_distance > CHANGE_NEAR_MOST)
        return "--near-distance: 1 to 3";
    if (published && (s->report || s->near || s->notify.program))
        return "--report, --near and --notify are not for --rule published";
    if (published && (s->change.exact || s->change.confirm || s->templates.n ||
                      s->ignore.n || s->output || s->place.queue || s->shards))
        return "--rule published knows only --state, --input, --capacity and "
               "--json";
    return NULL;
}

static enum outcome run(void *settings, char **operand)
{
    const struct sigaction stop = { .sa_handler = on_signal,
                                    .sa_flags = (int)SA_RESETHAND };
    struct classify_settings *s = settings;
    const char *wrong = wrong_options(s);
    enum outcome out = TROUBLE;
    struct queue *q = NULL;

    (void)operand;
    if (wrong)
        return trouble("%s", wrong);
    if (!s->batch)
        s->batch = BATCH;
    s->change.remember = s->remember;
    s->change.shard = s->shard;
    s->change.shards = s->shards;
    /* The first signal ends it after the batch, the second at once. */
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    if (s->place.queue)
        q = cmd_place_open(&s->place, 0);
    if (s->rule && !strcmp(s->rule, "published"))
        out = classify_published(s);
    else if (q || !s->place.queue)
        out = classify(s, q);
    queue_close(q);
    return out;
}

const struct command cmd_classify = {
    .name = "classify",
    .summary = "tell new, changed and removed pages, and which words changed",
    .synopsis = "--state DIR [OPTION...]",
    .settings = sizeof(struct classify_settings),
    .options = options,
    .about =
        "Reads page records (pages.jsonl of seen crawl, or the queue of seen "
        "work) and tells for each what happened since the page was last "
        "seen: new, duplicate, updated, unchanged, reverted, removed, absent, "
        "broken, flapping or late. For an updated page it tells which words "
        "of which field are new, and about how much was removed.\n"
        "\n"
        "The state is a folder with filters: texts are not stored, and a URL "
        "takes about 20 bytes, and two more for each word. A filter can be "
        "wrong; every answer has the chance of that (\"wrong\"). With --exact "
        "the state also has the last version of each page, as hashes of its "
        "words: answers are certain then, and more classes are known. These "
        "options are chosen when a state is made.\n"
        "\n"
        "White space and the case of letters make no difference. What a "
        "template ignores is given by --template, since a record only names "
        "its template; --ignore adds patterns (POSIX extended regular "
        "expressions, without back references). Ignored text is not in the "
        "results either. A pattern that costs too much in a text ignores "
        "nothing there; the answer names it (\"costly\").\n"
        "\n"
        "Answers are stored by the records' ids before they are written, so "
        "that a record that comes again gets the same answer. With -o the "
        "file has each answer exactly once, even if the program is killed at "
        "any moment and started again with the same records. If the file is "
        "shorter than it was, it is refused: --again begins another one with "
        "all answers that are remembered. Standard output "
        "and --results may repeat an answer then: the same bytes.\n"
        "\n"
        "Records that cannot be read are set aside: their line in the results "
        "has an \"error\", those from a queue become dead letters (seen queue "
        "dead), and the rest goes on.\n"
        "\n"
        "Several classifiers share the work by shards: one process and one "
        "state for each --shard. doc/result.schema.json describes the "
        "results.\n",
    .exits = "0 all records were classified; 1 some were set aside; 2 "
             "trouble.",
    .examples =
        "$ seen classify --state news -i site/pages.jsonl --json\n"
        "$ seen classify --state news --exact --queue sqlite:seen-work.db "
        "--drain -o results.jsonl\n"
        "$ seen classify --state s1 --queue amqp://mq.example/ --shard 1 "
        "--shards 4 --results changes\n",
    .run = run,
};
