/*
 * build.c - filters of URLs that are known at once: seen.build().
 *
 * URLs come from an iterable (batch.c) or from files: lists, CDX, WARC and
 * what else <seen/cdx.h> reads. Files are read by threads of their own, while
 * the thread of Python waits and looks at signals ten times per second. After
 * KeyboardInterrupt the threads stop at their next batch, and no file is
 * written.
 *
 * Without a capacity keys are kept until their number is known, in memory and
 * then in a temporary file beside the filter, as `seen build` does
 * (<seen/key_log.h>): everything is read once, and the same URLs give the same
 * bytes, whether they come from a file, a list or a generator.
 */
#include "binding.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/ingest.h>
#include <seen/key_log.h>
#include <seen/kind.h>
#include <seen/store.h>

enum {
    THREADS = 8,            /* more are rarely faster */
    KEPT = 64000000,        /* bytes of keys in memory, as `seen build` */
    GROWING_FROM = 20000, /* URLs of an empty filter, likewise */
    TRIAL = 1000            /* URLs, to refuse a wrong plan at once */
};

/* What is filled: a log if the number of keys is not known, else a builder, or
   a filter if the order of keys matters. */
struct fill {
    struct seen_plan plan;
    const unsigned char *secret;
    struct seen_key_log *log;
    struct seen_build *builder;
    struct seen_filter *filter;
};

/* Is the capacity to be counted? Bits and a rate give it, and some kinds need
   none. */
static bool counted(const struct seen_plan *p)
{
    bool derived = p->bits && p->rate > 0 &&
                   !seen_kind_can(p->kind, SEEN_HAS_LAYERS);

    return !p->capacity && !derived &&
           !seen_kind_can(p->kind, SEEN_SIZES_ITSELF);
}

/* Would a filter of this plan be made, if there were a few URLs? */
static enum seen_code try_plan(const struct fill *to, struct seen_error *why)
{
    struct seen_plan plan = to->plan;
    struct seen_build *trial;
    enum seen_code code;

    plan.capacity = TRIAL;
    code = seen_build_new_keyed(&trial, &plan, to->secret, 1, why);
    seen_build_free(trial);
    return code;
}

/* A log whose temporary file, if it needs one, is in the folder of `path`. */
static enum seen_code begin_log(struct fill *to, const char *path,
                                unsigned lanes, struct seen_error *why)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1)
                         : strdup(".");
    struct seen_key_log_place place = { folder, KEPT };
    enum seen_code code;

    if (!folder)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    code = try_plan(to, why);
    if (code == SEEN_OK)
        code = seen_key_log_new(&to->log, &to->plan, to->secret, lanes, &place,
                                why);
    free(folder);
    return code;
}

/* Begin to fill what will be the file `path`. */
static enum seen_code fill_init(struct fill *to, const char *path,
                                unsigned lanes, struct seen_error *why)
{
    if (counted(&to->plan))
        return begin_log(to, path, lanes, why);
    if (seen_kind_can(to->plan.kind, SEEN_NEEDS_ORDER))
        return seen_filter_new_keyed(&to->filter, &to->plan, to->secret, why);
    return seen_build_new_keyed(&to->builder, &to->plan, to->secret, lanes,
                                why);
}

static void fill_clear(struct fill *to)
{
    seen_key_log_free(to->log);
    seen_build_free(to->builder);
    seen_filter_free(to->filter);
    to->log = NULL;
    to->builder = NULL;
    to->filter = NULL;
}

static enum seen_code fill_add(struct fill *to, unsigned lane,
                               const struct seen_key *key, size_t n,
                               struct seen_error *why)
{
    if (to->log)
        return seen_key_log_add(to->log, lane, key, n, why);
    if (to->filter)
        return seen_filter_add(to->filter, key, n, NULL, why);
    return seen_build_add(to->builder, lane, key, n, why);
}

/* Make the filter of a log. Without any URL there is no capacity: then it
   grows, if the kind can be part of one that does. */
static enum seen_code finish_log(struct fill *to, struct seen_error *why)
{
    struct seen_plan plan = to->plan;
    const char *growing = seen_kind_can(plan.kind, SEEN_ADDS_PARTS)
                              ? ""
                              : "growing/";

    if (!seen_key_log_count(to->log) && !plan.bits && !plan.probes &&
        snprintf(plan.kind, sizeof plan.kind, "%s%s", growing, to->plan.kind) <
            (int)sizeof plan.kind) {
        plan.capacity = GROWING_FROM;
        return seen_filter_new_keyed(&to->filter, &plan, to->secret, why);
    }
    plan = to->plan;
    seen_key_log_size(to->log, &plan);
    return seen_key_log_build(to->log, &plan, &to->filter, why);
}

/* Make the filter of what was filled. */
static enum seen_code fill_finish(struct fill *to, struct seen_error *why)
{
    struct seen_build *b = to->builder;

    if (to->log)
        return finish_log(to, why);
    if (!b)
        return SEEN_OK;
    to->builder = NULL;
    return seen_build_finish(b, &to->filter, why);
}

/* Save what was filled, and report. Clears `to`. */
static PyObject *save_fill(struct fill *to, PyObject *plan, const char *path,
                           uint64_t urls, uint64_t bad)
{
    struct seen_error why;
    enum seen_code code;
    PyObject *report = NULL;

    Py_BEGIN_ALLOW_THREADS code = fill_finish(to, &why);
    Py_END_ALLOW_THREADS if (code == SEEN_OK &&
                             !python_meta(plan, to->filter)) goto clear_fill;
    if (code == SEEN_OK && PyErr_CheckSignals() < 0)
        goto clear_fill;
    if (code == SEEN_OK) {
        Py_BEGIN_ALLOW_THREADS code = seen_store_save(to->filter, path, &why);
        Py_END_ALLOW_THREADS
    }
    if (code != SEEN_OK)
        python_raise(&why, path);
    else
        report = Py_BuildValue(
            "(KKddK)", (unsigned long long)urls, (unsigned long long)bad,
            seen_filter_entries(to->filter), seen_filter_rate(to->filter),
            (unsigned long long)seen_filter_bytes(to->filter));
clear_fill:
    fill_clear(to);
    return report;
}

/* --- from an iterable --- */

static enum seen_code use_build(void *to, const struct seen_key *key, size_t n,
                                bool *answer, struct seen_error *why)
{
    memset(answer, 1, n);
    return fill_add(to, 0, key, n, why);
}

PyObject *python_build_urls(PyObject *module, PyObject *args)
{
    struct python_job job = { .use = use_build };
    PyObject *path = NULL, *dict, *report = NULL;
    struct fill fill = { .log = NULL };
    struct seen_error why;
    int skip;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&O!Op", PyUnicode_FSConverter, &path,
                          &PyDict_Type, &dict, &job.urls, &skip))
        return NULL;
    if (!python_plan(dict, &fill.plan, &fill.secret))
        goto drop_path;
    job.path = PyBytes_AsString(path);
    job.to = &fill;
    job.skip = skip;
    if (seen_profile_find(&job.profile, fill.plan.profile, &why) != SEEN_OK ||
        fill_init(&fill, job.path, 1, &why) != SEEN_OK) {
        python_raise(&why, job.path);
        goto drop_path;
    }
    if (python_batches(&job))
        report = save_fill(&fill, dict, job.path, job.done - job.bad, job.bad);
    else
        fill_clear(&fill);
drop_path:
    Py_DECREF(path);
    return report;
}

/* --- from files --- */

struct python_reading {
    struct seen_ingest in;
    struct fill fill;
    const char *path; /* of the filter */
    bool interrupted; /* atomic */

    const char **input;
    size_t inputs;

    enum seen_code code;
    struct seen_error why;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool done;
};

static enum seen_code take_keys(void *to, unsigned thread,
                                struct seen_batch *batch,
                                struct seen_error *why)
{
    struct python_reading *r = to;

    if (__atomic_load_n(&r->interrupted, __ATOMIC_RELAXED))
        return seen_fail(why, SEEN_UNABLE, 0, "interrupted");
    return fill_add(&r->fill, thread, batch->key, batch->n, why);
}

static enum seen_code end_keys(void *to, unsigned thread,
                               struct seen_error *why)
{
    struct python_reading *r = to;

    if (!r->fill.builder)
        return SEEN_OK;
    return seen_build_flush(r->fill.builder, thread, why);
}

static enum seen_code read_all(struct python_reading *r)
{
    const struct seen_plan *plan = &r->fill.plan;
    bool ordered = seen_kind_can(plan->kind, SEEN_NEEDS_ORDER);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct seen_source *source = r->in.source;
    enum seen_code code;

    r->in = (struct seen_ingest){
        .source = source,
        .keying = { .profile = plan->profile },
        .threads = ordered || cpus < 1 ? 1
                   : cpus > THREADS    ? THREADS
                                       : (unsigned)cpus,
        .every = seen_kind_can(plan->kind, SEEN_CAN_COUNT),
        .to = r,
        .keys = take_keys,
        .end = end_keys,
    };
    code = fill_init(&r->fill, r->path, r->in.threads, &r->why);
    if (code == SEEN_OK)
        code = seen_ingest_run(&r->in, &r->why);
    return code;
}

/* A part of the input that cannot be read is an error, because a filter must
   not deny what was in it. */
static enum seen_code check_whole(struct python_reading *r)
{
    const struct seen_rejects *bad = &r->in.rejects;
    const struct seen_error *fault;
    const char *name;

    if (seen_source_lost(r->in.source))
        for (size_t i = 0; seen_source_fault(r->in.source, i, &name, &fault);
             i++)
            if (fault->code != SEEN_MISMATCH)
                return seen_fail(&r->why, SEEN_CORRUPT, 0, "%s: %s", name,
                                 fault->text);
    for (int i = 0; i < SEEN_CAUSES; i++)
        if (bad->cause[i].count && bad->cause[i].cost != SEEN_COST_LINE)
            return seen_fail(&r->why, SEEN_CORRUPT, 0, "%s:%llu: %s",
                             bad->cause[i].at[0].input
                                 ? bad->cause[i].at[0].input
                                 : "input",
                             (unsigned long long)bad->cause[i].at[0].line,
                             bad->cause[i].text);
    if (!r->in.tally.urls)
        return seen_fail(&r->why, SEEN_RANGE, 0, "the inputs have no URLs");
    return SEEN_OK;
}

static void *read_files(void *given)
{
    struct python_reading *r = given;

    r->code = seen_source_open(&r->in.source, r->input, r->inputs, NULL,
                               &r->why);
    if (r->code == SEEN_OK)
        r->code = read_all(r);
    if (r->code == SEEN_OK)
        r->code = check_whole(r);
    if (r->code == SEEN_OK) {
        r->code = fill_finish(&r->fill, &r->why);
        if (r->code == SEEN_OK && r->in.agreement.checked)
            seen_filter_set_keys(r->fill.filter, SEEN_KEYS_DERIVED);
    }
    pthread_mutex_lock(&r->mutex);
    r->done = true;
    pthread_cond_signal(&r->ended);
    pthread_mutex_unlock(&r->mutex);
    return NULL;
}

/* Wait a tenth of a second for the end. */
static bool wait_for(struct python_reading *r)
{
    struct timespec until;
    bool done;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&r->mutex);
    if (!r->done)
        pthread_cond_timedwait(&r->ended, &r->mutex, &until);
    done = r->done;
    pthread_mutex_unlock(&r->mutex);
    return done;
}

/* Read in another thread. False with an exception. */
static bool read_outside(struct python_reading *r)
{
    pthread_t thread;
    bool done = false, broken = false;

    pthread_mutex_init(&r->mutex, NULL);
    pthread_cond_init(&r->ended, NULL);
    if (pthread_create(&thread, NULL, read_files, r)) {
        PyErr_SetString(PyExc_RuntimeError, "no thread to read files");
        return false;
    }
    while (!done) {
        Py_BEGIN_ALLOW_THREADS done = wait_for(r);
        Py_END_ALLOW_THREADS if (!broken && PyErr_CheckSignals() < 0)
        {
            broken = true;
            __atomic_store_n(&r->interrupted, true, __ATOMIC_RELAXED);
        }
    }
    pthread_join(thread, NULL);
    pthread_cond_destroy(&r->ended);
    pthread_mutex_destroy(&r->mutex);
    if (!broken && r->code != SEEN_OK)
        python_raise(&r->why, r->why.code == SEEN_IO && r->why.at < r->inputs
                                  ? r->input[r->why.at]
                                  : NULL);
    return !broken && r->code == SEEN_OK;
}

/* The paths of a list of bytes; the caller frees the array. */
static bool list_inputs(struct python_reading *r, PyObject *files)
{
    Py_ssize_t n = PyList_Size(files);

    if (n < 1) {
        PyErr_SetString(PyExc_ValueError, "no files");
        return false;
    }
    r->input = calloc((size_t)n, sizeof *r->input);
    if (!r->input) {
        PyErr_NoMemory();
        return false;
    }
    r->inputs = (size_t)n;
    for (Py_ssize_t i = 0; i < n; i++) {
        char *text;

        if (PyBytes_AsStringAndSize(PyList_GetItem(files, i), &text, NULL) < 0)
            return false;
        r->input[i] = text;
    }
    return true;
}

static void drop_reading(struct python_reading *r)
{
    fill_clear(&r->fill);
    seen_source_close(r->in.source);
    free(r->input);
}

PyObject *python_build_files(PyObject *module, PyObject *args)
{
    PyObject *path = NULL, *dict, *files, *report = NULL;
    struct python_reading r = { .interrupted = false };

    (void)module;
    if (!PyArg_ParseTuple(args, "O&O!O!", PyUnicode_FSConverter, &path,
                          &PyDict_Type, &dict, &PyList_Type, &files))
        return NULL;
    r.path = PyBytes_AsString(path);
    if (python_plan(dict, &r.fill.plan, &r.fill.secret) &&
        list_inputs(&r, files) && read_outside(&r))
        report = save_fill(&r.fill, dict, r.path, r.in.tally.urls,
                           r.in.rejects.count);
    drop_reading(&r);
    Py_DECREF(path);
    return report;
}
