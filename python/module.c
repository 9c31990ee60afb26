/* module.c - the module seen._seen; python/seen/ makes the package of it. */
#include "binding.h"

#include <seen/version.h>

extern PyMODINIT_FUNC PyInit__seen(void);

/* key(url, profile): the canonical text as bytes, and the hash as two
   numbers. */
static PyObject *key(PyObject *module, PyObject *args)
{
    char text[SEEN_KEY_TEXT];
    const char *profile;
    struct seen_span url;
    struct seen_error why;
    struct seen_key made;
    PyObject *item;

    (void)module;
    if (!PyArg_ParseTuple(args, "Os", &item, &profile) ||
        !python_text(item, &url))
        return NULL;
    if (seen_key_make(&made, text, url.text, url.len, profile, &why) !=
        SEEN_OK)
        return python_raise(&why, NULL);
    return Py_BuildValue("(y#KK)", made.text, (Py_ssize_t)made.len,
                         (unsigned long long)made.hi,
                         (unsigned long long)made.lo);
}

static PyObject *code_name(PyObject *module, PyObject *code)
{
    long number = PyLong_AsLong(code);

    (void)module;
    if (number == -1 && PyErr_Occurred())
        return NULL;
    return PyUnicode_FromString(seen_code_name((enum seen_code)number));
}

static PyMethodDef functions[] = {
    { "key", key, METH_VARARGS, NULL },
    { "code_name", code_name, METH_O, NULL },
    { "build_urls", python_build_urls, METH_VARARGS, NULL },
    { "build_files", python_build_files, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static int fill(PyObject *module)
{
    if (PyModule_AddStringConstant(module, "version", seen_version()) < 0)
        return -1;
    return python_filter_add_type(module);
}

static PyModuleDef_Slot slots[2]; /* the second one ends the list */

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "seen._seen",
    .m_doc = "The part of the package seen that is written in C.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__seen(void)
{
    union {
        int (*function)(PyObject *);
        void *pointer;
    } run = { .function = fill };

    slots[0] = (PyModuleDef_Slot){ Py_mod_exec, run.pointer };
    return PyModuleDef_Init(&definition);
}
