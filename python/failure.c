/*
 * failure.c - codes of libseen as exceptions.
 *
 * The classes are in python/seen/errors.py. Failures are rare, so the module
 * is looked up when one happens, and nothing needs to be kept.
 */
#include "binding.h"

#define ERRORS "seen.errors"

/* Raise what errors.NAME(...) returned. Takes over `made`. */
static void raise(PyObject *made)
{
    if (!made)
        return; /* the exception says why there is none */
    PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_DECREF(made);
}

PyObject *python_raise(const struct seen_error *why, const char *path)
{
    PyObject *errors, *file;

    if (PyErr_Occurred())
        return NULL;
    errors = PyImport_ImportModule(ERRORS);
    if (!errors)
        return NULL;
    file = path ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
    if (file)
        raise(PyObject_CallMethod(errors, "failure", "isiKO", (int)why->code,
                                  why->text, why->system,
                                  (unsigned long long)why->at, file));
    Py_XDECREF(file);
    Py_DECREF(errors);
    return NULL;
}

PyObject *python_raise_named(const char *name, const char *text)
{
    PyObject *errors = PyImport_ImportModule(ERRORS);

    if (!errors)
        return NULL;
    raise(PyObject_CallMethod(errors, name, "s", text));
    Py_DECREF(errors);
    return NULL;
}
