/*
 * binding.h - what the files of the Python extension share.
 *
 * The package `seen` is half C and half Python. The C half, seen._seen, has
 * what must be fast or needs libseen: the type Filter, and functions that
 * build files. The Python half (python/seen/) has signatures with keywords,
 * docstrings, exceptions and everything that is short there.
 *
 *     seen.Filter.add_many(urls)            python/seen/__init__.py
 *       _seen.Filter._many(...)             filter.c
 *         python_batches()                  batch.c: URLs to keys, 1024 at a
 *           seen_filter_add()                        time, without the GIL
 *         python_raise()                    failure.c: codes to exceptions
 *
 * The extension uses the stable ABI of Python 3.11, so that one build works
 * with all later versions, and only the public headers of libseen.
 *
 * Threads: functions are called with the GIL held, unless they say otherwise.
 */
#ifndef PYTHON_BINDING_H
#define PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdbool.h>

#include <seen/filter.h>
#include <seen/ranges.h>
#include <seen/span.h>

/* --- failure.c --- */

/* Beside the codes of libseen: the filter was closed. */
#define PYTHON_CLOSED ((enum seen_code)1000)

/* Raise the exception of why->code; returns NULL. `path`, which may be NULL,
   names the file. What Python code that libseen called has raised stays. */
PyObject *python_raise(const struct seen_error *why, const char *path);

/* Raise seen.errors.NAME with this text; returns NULL. */
PyObject *python_raise_named(const char *name, const char *text);

/* --- batch.c --- */

/*
 * The bytes of a URL, which live as long as `item`. False with an exception:
 * TypeError if it is neither str nor bytes, BadURL for a str that cannot be
 * written as UTF-8.
 */
bool python_text(PyObject *item, struct seen_span *url);

/* Use n keys: look up, add, build. Called without the GIL. On failure why->at
   is the key at fault. answer[] has room for n. */
typedef enum seen_code python_use(void *to, const struct seen_key *key,
                                  size_t n, bool *answer,
                                  struct seen_error *why);

/* What to do with many URLs. */
struct python_job {
    PyObject *urls; /* an iterable of str and bytes */
    struct seen_profile profile;
    bool skip;       /* bad URLs are answered with false; else they raise */
    const char *path; /* for messages; may be NULL */
    python_use *use;
    void *to;
    /* What is wanted of the answers: at most one of these. */
    PyObject *list;
    PyObject *bytes; /* a bytearray */
    /* Results: */
    uint64_t done; /* URLs before this one were used */
    uint64_t bad;
};

/*
 * Make the keys of all URLs and use them, batch by batch, without the GIL.
 * Between batches signals are handled. False with an exception whose
 * `position` is the number of the URL; URLs before it were used.
 */
bool python_batches(struct python_job *job);

/* --- plan.c --- */

/*
 * The plan of a dict such as { "kind": "bloom", "capacity": 1000 }. Without a
 * kind it is the default of `seen build`. `secret` points into the dict if it
 * has one, else it is NULL. False with an exception.
 */
bool python_plan(PyObject *dict, struct seen_plan *plan,
                 const unsigned char **secret);

/* Set metadata from the pairs of dict["meta"], if there is such a dict. */
bool python_meta(PyObject *dict, struct seen_filter *f);

/* --- build.c --- */

/* _seen.build_urls(path, plan, urls, skip) and _seen.build_files(path, plan,
   files); see seen.build(). */
PyObject *python_build_urls(PyObject *module, PyObject *args);
PyObject *python_build_files(PyObject *module, PyObject *args);

/* --- ranges.c --- */

/* What reads a filter through an object with the functions read and weigh; it has
   a reference of its own, until the filter is freed. */
struct seen_ranges python_ranges(PyObject *reader);

/* --- fault.c --- */

/* From now on, what happens to the mapped files of filters raises IOFailure.
   For every file that is opened. */
void python_take_faults(void);

/* --- filter.c --- */

/* Make the type Filter and add it to the module. -1 with an exception. */
int python_filter_add_type(PyObject *module);

#endif
