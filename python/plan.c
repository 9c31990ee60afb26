/* plan.c - the request for a filter, from keywords of Python. */
#include "binding.h"

#include <string.h>

#include <seen/kind.h>
#include <seen/store.h>

/* dict[name], borrowed; NULL without an exception if it is missing or None. */
static PyObject *value_of(PyObject *dict, const char *name)
{
    PyObject *value = PyDict_GetItemString(dict, name);

    return value == Py_None ? NULL : value;
}

static bool read_text(PyObject *dict, const char *name, char *to, size_t room)
{
    PyObject *value = value_of(dict, name);
    const char *text;
    Py_ssize_t len;

    if (!value)
        return true;
    text = PyUnicode_AsUTF8AndSize(value, &len);
    if (!text)
        return false;
    if ((size_t)len >= room || strlen(text) != (size_t)len) {
        PyErr_Format(PyExc_ValueError, "%s: unknown: %R", name, value);
        return false;
    }
    memcpy(to, text, (size_t)len + 1);
    return true;
}

static bool read_count(PyObject *dict, const char *name, uint64_t most,
                       uint64_t *to)
{
    PyObject *value = value_of(dict, name);

    if (!value)
        return true;
    *to = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred())
        return false;
    if (*to > most) {
        PyErr_Format(PyExc_ValueError, "%s: %R is too large", name, value);
        return false;
    }
    return true;
}

static bool read_number(PyObject *dict, const char *name, double *to)
{
    PyObject *value = value_of(dict, name);

    if (!value)
        return true;
    *to = PyFloat_AsDouble(value);
    return !PyErr_Occurred();
}

static bool read_flag(PyObject *dict, const char *name, bool *to)
{
    PyObject *value = value_of(dict, name);
    int truth = value ? PyObject_IsTrue(value) : 0;

    if (truth < 0)
        return false;
    *to = truth > 0;
    return true;
}

static bool read_secret(PyObject *dict, const unsigned char **secret)
{
    PyObject *value = value_of(dict, "secret");
    Py_ssize_t len;
    char *bytes;

    *secret = NULL;
    if (!value)
        return true;
    if (PyBytes_AsStringAndSize(value, &bytes, &len) < 0)
        return false;
    if (len != SEEN_SECRET) {
        PyErr_Format(PyExc_ValueError, "a secret has %d bytes, not %zd",
                     SEEN_SECRET, len);
        return false;
    }
    *secret = (unsigned char *)bytes;
    return true;
}

/* As `seen build` chooses it. */
static void default_kind(struct seen_plan *plan)
{
    if (plan->hostile)
        strcpy(plan->kind, "bloom");
    else if (plan->rate > 0)
        seen_kind_for_rate(plan->kind, plan->rate);
    else
        strcpy(plan->kind, "blocked");
}

bool python_plan(PyObject *dict, struct seen_plan *plan,
                 const unsigned char **secret)
{
    uint64_t probes = 0;

    *plan = (struct seen_plan){ .profile = "surt" };
    if (!read_text(dict, "kind", plan->kind, sizeof plan->kind) ||
        !read_text(dict, "profile", plan->profile, sizeof plan->profile) ||
        !read_count(dict, "capacity", UINT64_MAX, &plan->capacity) ||
        !read_number(dict, "rate", &plan->rate) ||
        !read_count(dict, "bits", UINT64_MAX, &plan->bits) ||
        !read_count(dict, "probes", 1 << 16, &probes) ||
        !read_count(dict, "seed", UINT64_MAX, &plan->seed) ||
        !read_flag(dict, "over", &plan->over) ||
        !read_flag(dict, "hostile", &plan->hostile) ||
        !read_secret(dict, secret))
        return false;
    plan->probes = (unsigned)probes;
    plan->keyed = *secret != NULL;
    if (!value_of(dict, "kind"))
        default_kind(plan);
    return true;
}

/* The text of a str; NULL with an exception. What follows a zero byte would be
   lost. */
static const char *whole_text(PyObject *value)
{
    Py_ssize_t len;
    const char *text = PyUnicode_AsUTF8AndSize(value, &len);

    if (text && strlen(text) != (size_t)len) {
        PyErr_SetString(PyExc_ValueError, "meta: embedded null character");
        text = NULL;
    }
    return text;
}

bool python_meta(PyObject *dict, struct seen_filter *f)
{
    PyObject *pairs = value_of(dict, "meta"), *name, *value;
    Py_ssize_t at = 0;
    struct seen_error why;

    if (!pairs)
        return true;
    if (!PyDict_Check(pairs)) {
        PyErr_SetString(PyExc_TypeError, "meta is a dict of str");
        return false;
    }
    while (PyDict_Next(pairs, &at, &name, &value)) {
        const char *n = whole_text(name), *v = n ? whole_text(value) : NULL;

        if (!v)
            return false;
        if (seen_meta_set(f, n, v, &why) != SEEN_OK) {
            python_raise(&why, NULL);
            return false;
        }
    }
    return true;
}
