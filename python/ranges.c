/*
 * ranges.c - read a filter through a Python object, for seen.open("https://...").
 *
 * libseen asks for ranges, and an object of python/seen/web.py reads them:
 *
 *     seen_filter_has()                    without the GIL
 *       read_ranges()                      takes it
 *         reader.read([(from, len), ...])  (list of bytes, length of the file)
 *
 * An exception of the reader stays pending while libseen returns a failure, and
 * python_raise() lets it through as it is.
 */
#include "binding.h"

#include <string.h>

static enum seen_code failed(struct seen_error *why)
{
    return seen_fail(why, SEEN_IO, 0, "could not be read");
}

/* [(from, len), ...] */
static PyObject *list_of(const struct seen_range *range, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);

    for (size_t i = 0; list && i < n; i++) {
        PyObject *one = Py_BuildValue("(KK)",
                                      (unsigned long long)range[i].from,
                                      (unsigned long long)range[i].len);

        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one))
            Py_CLEAR(list);
    }
    return list;
}

/* Bytes to where they belong. The reader may be anybody's, so it is not trusted
   to have made as many as it was asked for. */
static bool take(PyObject *parts, struct seen_range *range, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PyObject *one = PySequence_GetItem(parts, (Py_ssize_t)i);
        char *bytes;
        Py_ssize_t len;

        if (!one)
            return false;
        if (PyBytes_AsStringAndSize(one, &bytes, &len) < 0 ||
            (size_t)len > range[i].len) {
            Py_DECREF(one);
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError,
                                "more bytes than were asked for");
            return false;
        }
        memcpy(range[i].to, bytes, (size_t)len);
        range[i].len = (size_t)len;
        Py_DECREF(one);
    }
    return true;
}

static bool is_tuple(PyObject *got)
{
    if (PyTuple_Check(got))
        return true;
    PyErr_SetString(PyExc_TypeError, "a reader returns parts and a length");
    return false;
}

static enum seen_code read_ranges(void *of, struct seen_range *range, size_t n,
                                  uint64_t *length, struct seen_error *why)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *list = list_of(range, n), *parts = NULL;
    PyObject *got = list ? PyObject_CallMethod(of, "read", "O", list) : NULL;
    unsigned long long all = 0;
    bool good = got && is_tuple(got) &&
                PyArg_ParseTuple(got, "OK", &parts, &all) &&
                take(parts, range, n);

    Py_XDECREF(list);
    Py_XDECREF(got);
    PyGILState_Release(state);
    if (all)
        *length = all;
    return good ? SEEN_OK : failed(why);
}

/* reader.weigh(ranges, bytes, rest): is it better to read all? */
static enum seen_code weigh(void *of, const struct seen_ranges_need *need,
                            bool *all, struct seen_error *why)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *said = PyObject_CallMethod(
        of, "weigh", "KKK", (unsigned long long)need->ranges,
        (unsigned long long)need->bytes, (unsigned long long)need->rest);
    int yes = said ? PyObject_IsTrue(said) : -1;

    Py_XDECREF(said);
    PyGILState_Release(state);
    *all = *all || yes == 1;
    return yes < 0 ? failed(why) : SEEN_OK;
}

/* An exception may be pending, of the call that failed. */
static void drop(void *of)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    Py_DECREF((PyObject *)of);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
}

struct seen_ranges python_ranges(PyObject *reader)
{
    return (struct seen_ranges){ .read = read_ranges,
                                 .weigh = weigh,
                                 .close = drop,
                                 .of = Py_NewRef(reader) };
}
