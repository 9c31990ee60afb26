/*
 * batch.c - from an iterable of URLs to keys, 1024 at a time.
 *
 *     GIL held       take up to 1024 URLs from the iterable; look at signals
 *     GIL released   make keys of them, and use these: look up, add, build
 *     GIL held       append the answers
 *
 * The str and bytes objects of a batch are kept alive, so that their bytes can
 * be read without the GIL: both types are immutable. Canonical texts go to a
 * pool of the batch. When the pool is full, the keys so far are used first.
 *
 * If the iterable fails, or gives something that is not a URL, the URLs before
 * it are used all the same, and then the exception is raised: so "URLs before
 * `position` were added" always holds.
 */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1024, POOL = 1 << 18 };

struct python_batch {
    size_t n;
    PyObject *item[MOST];
    struct seen_span url[MOST]; /* text is NULL: bad */
    bool answer[MOST];

    /* Keys that were made but not used yet, and whose they are. */
    size_t keys;
    struct seen_key key[MOST];
    size_t of[MOST];
    bool found[MOST];
    size_t used;
    char pool[POOL];
};

bool python_text(PyObject *item, struct seen_span *url)
{
    Py_ssize_t len;
    char *bytes;

    if (PyUnicode_Check(item)) {
        url->text = PyUnicode_AsUTF8AndSize(item, &len);
        if (!url->text) {
            if (!PyErr_ExceptionMatches(PyExc_UnicodeError))
                return false;
            PyErr_Clear();
            python_raise_named("not_unicode", "the str has surrogates that "
                                              "are not Unicode text");
            return false;
        }
    } else if (PyBytes_Check(item)) {
        if (PyBytes_AsStringAndSize(item, &bytes, &len) < 0)
            return false;
        url->text = bytes;
    } else {
        PyObject *name = PyType_GetName(Py_TYPE(item));

        if (name)
            PyErr_Format(PyExc_TypeError, "a URL is a str or bytes, not %U",
                         name);
        Py_XDECREF(name);
        return false;
    }
    url->len = (size_t)len;
    return true;
}

/* --- with the GIL --- */

/* Set the attribute `position` of the exception that is being raised. */
static void set_position(uint64_t position)
{
    PyObject *type, *value, *trace, *number;

    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    number = PyLong_FromUnsignedLongLong(position);
    if (!number || !value ||
        PyObject_SetAttrString(value, "position", number) < 0)
        PyErr_Clear();
    Py_XDECREF(number);
    PyErr_Restore(type, value, trace);
}

/* Is the exception BadURL? Then forget it. */
static bool forget_bad_url(void)
{
    PyObject *type, *value, *trace, *errors, *bad;
    int same = 0;

    PyErr_Fetch(&type, &value, &trace);
    errors = PyImport_ImportModule("seen.errors");
    bad = errors ? PyObject_GetAttrString(errors, "BadURL") : NULL;
    if (bad)
        same = PyErr_GivenExceptionMatches(type, bad);
    Py_XDECREF(bad);
    Py_XDECREF(errors);
    PyErr_Clear();
    if (!same) {
        PyErr_Restore(type, value, trace);
        return false;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return true;
}

/* Take URLs. *more: the iterable may have more. False with an exception, after
   the URLs that came before it. */
static bool take(struct python_job *job, PyObject *iterator,
                 struct python_batch *b, bool *more)
{
    b->n = 0;
    *more = true;
    while (b->n < MOST) {
        PyObject *item = PyIter_Next(iterator);

        if (!item) {
            *more = false;
            return !PyErr_Occurred();
        }
        if (!python_text(item, &b->url[b->n])) {
            if (!job->skip || !forget_bad_url()) {
                Py_DECREF(item);
                set_position(job->done + b->n);
                return false;
            }
            b->url[b->n].text = NULL;
        }
        b->item[b->n++] = item;
    }
    return true;
}

static void drop(struct python_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        Py_DECREF(b->item[i]);
}

/* Append the answers of the first n URLs. */
static bool answer(struct python_job *job, const struct python_batch *b,
                   size_t n)
{
    if (job->list)
        for (size_t i = 0; i < n; i++)
            if (PyList_Append(job->list, b->answer[i] ? Py_True : Py_False) <
                0)
                return false;
    if (job->bytes && n) {
        Py_ssize_t have = PyByteArray_Size(job->bytes);

        if (PyByteArray_Resize(job->bytes, have + (Py_ssize_t)n) < 0)
            return false;
        memcpy(PyByteArray_AsString(job->bytes) + have, b->answer, n);
    }
    return true;
}

/* --- without the GIL --- */

static enum seen_code use_keys(struct python_job *job, struct python_batch *b,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t n = b->keys;

    if (n)
        code = job->use(job->to, b->key, n, b->found, why);
    if (code != SEEN_OK) {
        n = why->at < n ? (size_t)why->at : 0;
        why->at = b->of[n];
    }
    for (size_t i = 0; i < n; i++)
        b->answer[b->of[i]] = b->found[i];
    b->keys = b->used = 0;
    return code;
}

/* Use all URLs of a batch. On failure why->at is the URL. */
static enum seen_code use_batch(struct python_job *job, struct python_batch *b,
                                struct seen_error *why)
{
    struct seen_error bad;
    enum seen_code code;

    memset(b->answer, 0, b->n);
    b->keys = b->used = 0;
    for (size_t i = 0; i < b->n; i++) {
        struct seen_key *key = &b->key[b->keys];
        char *room = b->pool + b->used;

        bad.code = SEEN_BAD_URL;
        if (!b->url[i].text ||
            seen_key_make_as(key, room, b->url[i].text, b->url[i].len,
                             &job->profile, &bad) != SEEN_OK) {
            if (job->skip && bad.code == SEEN_BAD_URL) {
                job->bad++;
                continue;
            }
            code = use_keys(job, b, why); /* those before it */
            if (code == SEEN_OK) {
                *why = bad;
                why->at = i;
            }
            return why->code;
        }
        if (key->text == room)
            b->used += key->len;
        b->of[b->keys++] = i;
        if (b->used > POOL - SEEN_KEY_TEXT) {
            code = use_keys(job, b, why);
            if (code != SEEN_OK)
                return code;
        }
    }
    return use_keys(job, b, why);
}

/* --- both --- */

/* One batch. False with an exception. */
static bool turn(struct python_job *job, PyObject *iterator,
                 struct python_batch *b, bool *more)
{
    bool taken = take(job, iterator, b, more), good;
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    enum seen_code code = SEEN_OK;
    struct seen_error why;
    size_t n = b->n;

    if (!taken)
        PyErr_Fetch(&type, &value, &trace);
    if (n) {
        Py_BEGIN_ALLOW_THREADS code = use_batch(job, b, &why);
        Py_END_ALLOW_THREADS
    }
    if (code != SEEN_OK)
        n = why.at < n ? (size_t)why.at : 0;
    good = answer(job, b, n);
    job->done += n;
    if (good && code != SEEN_OK) {
        why.at = job->done;
        python_raise(&why, job->path);
    }
    drop(b);
    if (!good || code != SEEN_OK) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return false;
    }
    if (!taken) {
        PyErr_Restore(type, value, trace);
        return false;
    }
    return PyErr_CheckSignals() == 0;
}

bool python_batches(struct python_job *job)
{
    struct python_batch *b;
    PyObject *iterator;
    bool more = true, good = true;

    if (PyUnicode_Check(job->urls) || PyBytes_Check(job->urls)) {
        PyErr_SetString(PyExc_TypeError, "this takes an iterable of URLs, not "
                                         "a single one");
        return false;
    }
    iterator = PyObject_GetIter(job->urls);
    if (!iterator)
        return false;
    b = malloc(sizeof *b);
    if (!b) {
        Py_DECREF(iterator);
        PyErr_NoMemory();
        return false;
    }
    while (good && more)
        good = turn(job, iterator, b, &more);
    free(b);
    Py_DECREF(iterator);
    return good;
}
