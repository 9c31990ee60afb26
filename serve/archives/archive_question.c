/*
 * archive_question.c - slices of questions, asked with a view of their own.
 *
 * A question remembers how far it is: `url` lookups are done, and of the next
 * ones `at` archives were asked. A slice takes as many archives from there on
 * as the cost allows; if that is all of them, it takes several lookups at once.
 * Archives are found by name in every slice, since the view follows the files
 * before each one and archives may have come and gone.
 */
#include "archive_question.h"

#include <pthread.h>
#include <stdlib.h>

#include "../../lib/disk/clock.h"

struct archive_asker {
    struct archive_set *set;
    pthread_mutex_t lock;      /* of what follows */
    struct archive_view *view; /* NULL until the first question */
    uint64_t polled;           /* when that was, in seconds */
    struct archive_keys keys;
};

struct archive_asker *archive_asker_new(struct archive_set *set)
{
    struct archive_asker *asker = calloc(1, sizeof *asker);

    if (asker) {
        asker->set = set;
        pthread_mutex_init(&asker->lock, NULL);
    }
    return asker;
}

void archive_asker_free(struct archive_asker *asker)
{
    if (!asker)
        return;
    archive_view_free(asker->view);
    pthread_mutex_destroy(&asker->lock);
    free(asker);
}

/* Names of the archives to ask; later slices find them by their names, since
   archives come and go. */
static bool begin(struct archive_question *q, const struct archive_view *v)
{
    const size_t n = q->name ? 1 : archive_view_count(v);

    q->archive = calloc(n + 1, sizeof *q->archive);
    q->answer = malloc((n + 1) * ARCHIVE_BATCH);
    if (!q->archive || !q->answer)
        return false;
    memset(q->answer, ARCHIVE_SILENT, n * ARCHIVE_BATCH);
    for (; q->archives < n; q->archives++) {
        const char *name = q->name ? q->name
                                   : archive_view_all(v)[q->archives]->name;

        if (!(q->archive[q->archives] = strdup(name)))
            return false;
    }
    return true;
}

/* How many archives, from q->at on, fit into a slice with how many lookups. */
static size_t fit(const struct archive_question *q,
                  struct archive *const *archive, size_t *lookups)
{
    uint64_t sum = 0;
    size_t n = q->at;

    for (; n < q->archives; n++) {
        uint64_t cost = archive[n] ? archive[n]->cost : 0;

        if (n > q->at && sum + cost > ARCHIVE_SLICE)
            break;
        sum += cost;
    }
    *lookups = 1;
    if (q->at == 0 && n == q->archives) {
        *lookups = ARCHIVE_SLICE / (sum + 1);
        if (*lookups < 1)
            *lookups = 1;
        if (*lookups > q->n - q->url)
            *lookups = q->n - q->url;
    }
    return n - q->at;
}

static void ask_slice(struct archive_asker *asker, struct archive_question *q,
                      struct archive **archive)
{
    size_t lookups, some;

    for (size_t i = 0; i < q->archives; i++) {
        archive[i] = archive_view_find(asker->view, span_of(q->archive[i]));
        if (archive[i] && archive[i]->remote)
            archive[i] = NULL; /* its own thread asks it */
    }
    some = fit(q, archive, &lookups);
    archive_lookup_all(archive + q->at, some, &asker->keys, q->lookup + q->url,
                       lookups, q->answer + q->at * ARCHIVE_BATCH + q->url,
                       &q->counts);
    q->at += some;
    if (q->at < q->archives)
        return;
    q->at = 0;
    q->url += lookups;
}

static void ask_prefix(struct archive_question *q, struct archive *a)
{
    char text[SEEN_KEY_TEXT];
    struct seen_key key;
    bool seen = false;

    q->code = archive_key(&key, text, q->lookup[0].url, ARCHIVE_URL,
                          &a->profile, &q->why);
    if (q->code == SEEN_OK)
        q->code = archive_has_under(a, &key, &seen, &q->why);
    if (q->code == SEEN_OK)
        q->answer[0] = seen ? ARCHIVE_YES : ARCHIVE_NO;
    q->url = q->n;
}

/* With one archive the reason matters. */
static void ask_one(struct archive_asker *asker, struct archive_question *q)
{
    struct archive *a = archive_view_find(asker->view, span_of(q->name));

    if (a && a->filter && q->prefix)
        ask_prefix(q, a);
    else if (a && a->filter)
        ask_slice(asker, q, &a);
    if (a && a->filter)
        return;
    if (a)
        q->why = a->why;
    else
        seen_fail(&q->why, SEEN_IO, 0, "the archive is gone");
    q->code = SEEN_CORRUPT;
    memset(q->answer, ARCHIVE_SILENT, ARCHIVE_BATCH);
    q->url = q->n;
}

static bool ask_all(struct archive_asker *asker, struct archive_question *q)
{
    struct archive **archive = calloc(q->archives + 1, sizeof *archive);

    if (archive)
        ask_slice(asker, q, archive);
    free(archive);
    return archive;
}

/* With asker->lock held; false if it cannot be asked. */
static bool ask(struct archive_asker *asker, struct archive_question *q)
{
    const uint64_t now = clock_ms();

    if (!asker->view &&
        archive_view_new(&asker->view, asker->set, NULL, &q->why) != SEEN_OK)
        return false;
    if (now / 1000 != asker->polled)
        archive_view_poll(asker->view);
    asker->polled = now / 1000;
    archive_view_refresh(asker->view);
    if (!q->answer && !begin(q, asker->view))
        return false;
    if (q->until && now > q->until) {
        q->code = seen_fail(&q->why, SEEN_BUSY, 0, "it was not asked in time");
        q->url = q->n;
    } else if (q->name) {
        ask_one(asker, q);
    } else if (!ask_all(asker, q)) {
        return false;
    }
    archive_view_rest(asker->view);
    return true;
}

bool archive_question_ask(struct archive_asker *asker,
                          struct archive_question *q)
{
    bool good;

    pthread_mutex_lock(&asker->lock);
    good = ask(asker, q);
    pthread_mutex_unlock(&asker->lock);
    if (!good)
        q->code = seen_fail(&q->why, SEEN_NOMEM, 0, "no memory for a lookup");
    else if (q->url < q->n && q->archives)
        return false;
    if (good)
        archive_lookup_judge(q->lookup, q->n, q->archives, q->answer);
    return true;
}

/* The column of an archive, which is appended if there is none; or NULL. */
static unsigned char *column(struct archive_question *q, const char *name)
{
    const size_t n = q->archives;
    unsigned char *answer;
    char **archive;

    for (size_t a = 0; a < n; a++)
        if (!strcmp(q->archive[a], name))
            return q->answer + a * ARCHIVE_BATCH;
    archive = realloc(q->archive, (n + 1) * sizeof *archive);
    q->archive = archive ? archive : q->archive;
    answer = realloc(q->answer, (n + 1) * ARCHIVE_BATCH);
    q->answer = answer ? answer : q->answer;
    if (!archive || !answer || !(archive[n] = strdup(name)))
        return NULL;
    q->archives++;
    return answer + n * ARCHIVE_BATCH;
}

void archive_question_put(struct archive_question *q, const char *name,
                          const unsigned char *answer)
{
    unsigned char *to = column(q, name);

    if (to)
        memcpy(to, answer, q->n);
    else if (q->name)
        q->code = seen_fail(&q->why, SEEN_NOMEM, 0, "no memory for a lookup");
    if (q->answer)
        archive_lookup_judge(q->lookup, q->n, q->archives, q->answer);
}

enum archive_answer archive_question_answer(const struct archive_question *q,
                                            const char *name, size_t i)
{
    for (size_t a = 0; a < q->archives; a++)
        if (!strcmp(q->archive[a], name))
            return q->answer[a * ARCHIVE_BATCH + i];
    return ARCHIVE_SILENT;
}

void archive_question_clear(struct archive_question *q)
{
    for (size_t i = 0; i < q->archives; i++)
        free(q->archive[i]);
    free(q->archive);
    free(q->answer);
    free(q->name);
}
