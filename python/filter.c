/*
 * filter.c - the type _seen.Filter: a filter that is open, or in memory.
 *
 * Threads of Python use one object at once, because long work is done without
 * the GIL. libseen asks for any number of readers or one writer, so each
 * object has a read-write lock:
 *
 *     shared      look up, describe, save
 *     exclusive   add, remove, refresh, checkpoint, close
 *
 * It is held for one batch, never while Python code runs. A single lookup
 * takes about as long as releasing the GIL does, so it keeps the GIL if the
 * lock is free; but not if the filter is read by Python code, which another
 * thread may be waiting to run.
 *
 * Forks. A child has a copy of the object. If it was open for writing, the
 * journal and the lock file belong to the parent: a child that used them would
 * write records between the parent's. All uses raise ForkError there, and
 * closing only forgets the object. A reader, or a filter in memory, goes on
 * as the child's own copy, unless another thread was just changing it. The
 * lock of the copy is made anew, because its holder may not exist in the
 * child.
 */
#include "binding.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <seen/kind.h>
#include <seen/store.h>

struct python_filter {
    PyObject_HEAD struct seen_filter *it; /* NULL: closed */
    char *path;                  /* NULL: in memory */
    bool writer;                 /* its file is open for writing */
    bool waits;                  /* lookups call Python code, and may wait */
    bool changing;               /* the exclusive lock is held */
    unsigned long forks;         /* when the lock was made */
    struct seen_profile profile; /* of `it` */
    pthread_rwlock_t lock;
};

/* --- forks --- */

static unsigned long forks; /* between the first process and this one */

static void count_fork(void)
{
    forks++;
}

/* Prefers writers: otherwise threads that look up all the time keep a thread
   that adds waiting forever. */
static bool make_lock(struct python_filter *f)
{
    pthread_rwlockattr_t kind;
    bool made;

    if (pthread_rwlockattr_init(&kind))
        return false;
    pthread_rwlockattr_setkind_np(
        &kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    made = !pthread_rwlock_init(&f->lock, &kind);
    pthread_rwlockattr_destroy(&kind);
    f->forks = forks;
    f->changing = false;
    return made;
}

/* May this process use f? False with an exception. */
static bool usable(struct python_filter *f)
{
    if (!f->it) {
        python_raise_named("Closed", "the filter is closed");
        return false;
    }
    if (f->forks == forks)
        return true;
    if (f->writer) {
        python_raise_named("ForkError",
                           "the filter was opened for writing before a fork "
                           "and belongs to the parent; open it in the child");
        return false;
    }
    if (f->changing || !make_lock(f)) {
        python_raise_named("ForkError", "another thread was changing the "
                                        "filter during the fork");
        return false;
    }
    return true;
}

/* --- locks; without the GIL --- */

static void lock_shared(struct python_filter *f)
{
    pthread_rwlock_rdlock(&f->lock);
}

static void lock_exclusive(struct python_filter *f)
{
    pthread_rwlock_wrlock(&f->lock);
    f->changing = true;
}

static void unlock_shared(struct python_filter *f)
{
    pthread_rwlock_unlock(&f->lock);
}

static void unlock_exclusive(struct python_filter *f)
{
    f->changing = false;
    pthread_rwlock_unlock(&f->lock);
}

/* Closed by another thread, before we got the lock. */
static enum seen_code closed(struct seen_error *why)
{
    return seen_fail(why, PYTHON_CLOSED, 0, "the filter is closed");
}

/* --- what is done with keys; without the GIL --- */

static enum seen_code use_has(void *to, const struct seen_key *key, size_t n,
                              bool *answer, struct seen_error *why)
{
    struct python_filter *f = to;
    enum seen_code code;

    lock_shared(f);
    code = f->it ? seen_filter_has(f->it, key, n, answer, why) : closed(why);
    unlock_shared(f);
    return code;
}

static enum seen_code use_add(void *to, const struct seen_key *key, size_t n,
                              bool *answer, struct seen_error *why)
{
    struct python_filter *f = to;
    enum seen_code code;

    lock_exclusive(f);
    code = f->it ? seen_filter_add(f->it, key, n, answer, why) : closed(why);
    unlock_exclusive(f);
    return code;
}

static enum seen_code use_remove(void *to, const struct seen_key *key,
                                 size_t n, bool *answer,
                                 struct seen_error *why)
{
    struct python_filter *f = to;
    enum seen_code code;

    lock_exclusive(f);
    code = f->it ? seen_filter_remove(f->it, key, n, why) : closed(why);
    unlock_exclusive(f);
    memset(answer, 1, n);
    return code;
}

/* --- one URL --- */

/* The key of a URL. `text` has SEEN_KEY_TEXT bytes. */
static bool make_key(const struct python_filter *f, PyObject *item,
                     struct seen_key *key, char *text)
{
    struct seen_span url;
    struct seen_error why;

    if (!python_text(item, &url))
        return false;
    if (seen_key_make_as(key, text, url.text, url.len, &f->profile, &why) ==
        SEEN_OK)
        return true;
    python_raise(&why, NULL);
    return false;
}

static int contains(PyObject *self, PyObject *item)
{
    struct python_filter *f = (struct python_filter *)self;
    char text[SEEN_KEY_TEXT];
    struct seen_key key;
    struct seen_error why;
    enum seen_code code;
    bool seen = false;

    if (!usable(f) || !make_key(f, item, &key, text))
        return -1;
    if (!f->waits && !pthread_rwlock_tryrdlock(&f->lock)) {
        code = f->it ? seen_filter_has(f->it, &key, 1, &seen, &why)
                     : closed(&why);
        unlock_shared(f);
    } else {
        Py_BEGIN_ALLOW_THREADS code = use_has(f, &key, 1, &seen, &why);
        Py_END_ALLOW_THREADS
    }
    if (code == SEEN_OK)
        return seen;
    python_raise(&why, f->path);
    return -1;
}

/* Add or remove one URL. */
static bool change(struct python_filter *f, PyObject *item, python_use *use,
                   bool *answer)
{
    char text[SEEN_KEY_TEXT];
    struct seen_key key;
    struct seen_error why;
    enum seen_code code;

    if (!usable(f) || !make_key(f, item, &key, text))
        return false;
    Py_BEGIN_ALLOW_THREADS code = use(f, &key, 1, answer, &why);
    Py_END_ALLOW_THREADS if (code != SEEN_OK) python_raise(&why, f->path);
    return code == SEEN_OK;
}

static PyObject *add(PyObject *self, PyObject *url)
{
    bool fresh;

    if (!change((struct python_filter *)self, url, use_add, &fresh))
        return NULL;
    return PyBool_FromLong(fresh);
}

static PyObject *take_out(PyObject *self, PyObject *url)
{
    bool done;

    if (!change((struct python_filter *)self, url, use_remove, &done))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *count(PyObject *self, PyObject *url)
{
    struct python_filter *f = (struct python_filter *)self;
    char text[SEEN_KEY_TEXT];
    struct seen_key key;
    struct seen_error why;
    enum seen_code code;
    uint64_t n = 0;

    if (!usable(f) || !make_key(f, url, &key, text))
        return NULL;
    Py_BEGIN_ALLOW_THREADS lock_shared(f);
    code = f->it ? seen_filter_count(f->it, &key, 1, &n, &why) : closed(&why);
    unlock_shared(f);
    Py_END_ALLOW_THREADS if (code != SEEN_OK) return python_raise(&why,
                                                                  f->path);
    return PyLong_FromUnsignedLongLong(n);
}

/* --- many URLs --- */

/* _many(what, urls, skip, packed): what is "has", "add" or "remove". */
static PyObject *many(PyObject *self, PyObject *args)
{
    struct python_filter *f = (struct python_filter *)self;
    struct python_job job = { .path = f->path, .to = f };
    PyObject *answers;
    const char *what;
    int skip, packed;

    if (!PyArg_ParseTuple(args, "sOpp", &what, &job.urls, &skip, &packed) ||
        !usable(f))
        return NULL;
    job.use = !strcmp(what, "has")   ? use_has
              : !strcmp(what, "add") ? use_add
                                     : use_remove;
    job.profile = f->profile;
    job.skip = skip;
    answers = packed ? PyByteArray_FromStringAndSize(NULL, 0) : PyList_New(0);
    if (!answers)
        return NULL;
    *(packed ? &job.bytes : &job.list) = answers;
    if (!python_batches(&job))
        Py_CLEAR(answers);
    return answers;
}

/* --- the file --- */

static PyObject *refresh(PyObject *self, PyObject *none)
{
    struct python_filter *f = (struct python_filter *)self;
    struct seen_error why;
    enum seen_code code;
    bool changed = false;

    (void)none;
    if (!usable(f))
        return NULL;
    Py_BEGIN_ALLOW_THREADS lock_exclusive(f);
    code = f->it ? seen_store_refresh(f->it, &changed, &why) : closed(&why);
    unlock_exclusive(f);
    Py_END_ALLOW_THREADS if (code != SEEN_OK) return python_raise(&why,
                                                                  f->path);
    return PyBool_FromLong(changed);
}

static PyObject *checkpoint(PyObject *self, PyObject *none)
{
    struct python_filter *f = (struct python_filter *)self;
    struct seen_error why;
    enum seen_code code;

    (void)none;
    if (!usable(f))
        return NULL;
    Py_BEGIN_ALLOW_THREADS lock_exclusive(f);
    code = f->it ? seen_store_checkpoint(f->it, &why) : closed(&why);
    unlock_exclusive(f);
    Py_END_ALLOW_THREADS if (code != SEEN_OK) return python_raise(&why,
                                                                  f->path);
    Py_RETURN_NONE;
}

/* _save(path, replace) */
static PyObject *save(PyObject *self, PyObject *args)
{
    struct python_filter *f = (struct python_filter *)self;
    PyObject *path = NULL;
    struct seen_error why;
    enum seen_code code;
    const char *name;
    int replace;

    if (!PyArg_ParseTuple(args, "O&p", PyUnicode_FSConverter, &path, &replace))
        return NULL;
    if (!usable(f)) {
        Py_DECREF(path);
        return NULL;
    }
    name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS lock_shared(f);
    code = !f->it    ? closed(&why)
           : replace ? seen_store_save(f->it, name, &why)
                     : seen_store_create(f->it, name, &why);
    unlock_shared(f);
    Py_END_ALLOW_THREADS if (code != SEEN_OK) python_raise(&why, name);
    Py_DECREF(path);
    if (code != SEEN_OK)
        return NULL;
    Py_RETURN_NONE;
}

/* Close; in a child of the process that opened it for writing, only forget.
   The filter is gone in any case. */
static enum seen_code shut(struct python_filter *f, struct seen_error *why)
{
    bool ours = f->forks == forks;
    enum seen_code code = SEEN_OK;
    struct seen_filter *it;

    if (!f->it)
        return SEEN_OK;
    if (!ours) {
        if (!f->writer && !f->changing)
            seen_filter_free(f->it);
        f->it = NULL;
        return SEEN_OK;
    }
    Py_BEGIN_ALLOW_THREADS lock_exclusive(f);
    it = f->it;
    f->it = NULL;
    if (it && f->writer)
        code = seen_store_close(it, why);
    else
        seen_filter_free(it);
    unlock_exclusive(f);
    Py_END_ALLOW_THREADS return code;
}

static PyObject *close_filter(PyObject *self, PyObject *none)
{
    struct python_filter *f = (struct python_filter *)self;
    struct seen_error why;

    (void)none;
    if (shut(f, &why) != SEEN_OK)
        return python_raise(&why, f->path);
    Py_RETURN_NONE;
}

/* --- what it is --- */

static const struct {
    const char *name;
    unsigned trait;
} abilities[] = {
    { "add", SEEN_CAN_ADD },     { "remove", SEEN_CAN_REMOVE },
    { "count", SEEN_CAN_COUNT }, { "prefix", SEEN_CAN_PREFIX },
    { "merge", SEEN_CAN_MERGE }, { "route", SEEN_CAN_ROUTE },
    { "grow", SEEN_CAN_GROW },
};

static PyObject *list_abilities(const struct seen_filter *it)
{
    PyObject *list = PyList_New(0), *tuple = NULL;

    for (size_t i = 0; list && i < sizeof abilities / sizeof *abilities; i++) {
        PyObject *name;

        if (!seen_filter_can(it, abilities[i].trait))
            continue;
        name = PyUnicode_FromString(abilities[i].name);
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    if (list)
        tuple = PyList_AsTuple(list);
    Py_XDECREF(list);
    return tuple;
}

static PyObject *list_meta(const struct seen_filter *it)
{
    PyObject *dict = PyDict_New();
    const char *name, *value;

    for (size_t i = 0; dict && seen_meta_at(it, i, &name, &value); i++) {
        PyObject *text = PyUnicode_DecodeUTF8(value, (Py_ssize_t)strlen(value),
                                              "replace");

        if (!text || PyDict_SetItemString(dict, name, text) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(text);
    }
    return dict;
}

static PyObject *describe(const struct seen_filter *it)
{
    const struct seen_plan *p = seen_filter_plan(it);

    return Py_BuildValue(
        "{s:s,s:s,s:K,s:d,s:K,s:I,s:K,s:N,s:N,s:d,s:K,s:d,s:d,s:K,s:N,s:N}",
        "kind", p->kind, "profile", p->profile[0] ? p->profile : "raw",
        "capacity", (unsigned long long)p->capacity, "planned",
        seen_filter_planned(it), "bits", (unsigned long long)p->bits, "probes",
        p->probes, "seed", (unsigned long long)p->seed, "over",
        PyBool_FromLong(p->over), "keyed", PyBool_FromLong(p->keyed),
        "entries", seen_filter_entries(it), "offered",
        (unsigned long long)seen_filter_offered(it), "rate",
        seen_filter_rate(it), "load",
        seen_filter_cells(it)
            ? (double)seen_filter_cells_set(it) / (double)seen_filter_cells(it)
            : 0.0,
        "bytes", (unsigned long long)seen_filter_bytes(it), "can",
        list_abilities(it), "meta", list_meta(it));
}

static PyObject *details(PyObject *self, PyObject *none)
{
    struct python_filter *f = (struct python_filter *)self;
    PyObject *dict = NULL;
    bool open, collects;

    (void)none;
    if (!usable(f))
        return NULL;
    Py_BEGIN_ALLOW_THREADS /* who holds the lock may wait for a disk */
        lock_shared(f);
    Py_END_ALLOW_THREADS collects = PyGC_Disable(); /* it calls Python code */
    open = f->it;
    if (open)
        dict = describe(f->it);
    unlock_shared(f);
    if (collects)
        PyGC_Enable();
    return open ? dict : python_raise_named("Closed", "the filter is closed");
}

static PyObject *get_path(PyObject *self, void *none)
{
    struct python_filter *f = (struct python_filter *)self;

    (void)none;
    if (!f->path)
        Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(f->path);
}

static PyObject *get_closed(PyObject *self, void *none)
{
    (void)none;
    return PyBool_FromLong(!((struct python_filter *)self)->it);
}

static PyObject *get_writable(PyObject *self, void *none)
{
    struct python_filter *f = (struct python_filter *)self;

    (void)none;
    return PyBool_FromLong(f->it && (f->writer || !f->path));
}

/* --- life --- */

/* An object without a filter. */
static struct python_filter *make(PyTypeObject *type)
{
    struct python_filter *f = (void *)PyType_GenericAlloc(type, 0);

    if (f && !make_lock(f)) {
        PyErr_NoMemory();
        Py_CLEAR(f);
    }
    return f;
}

static bool set_filter(struct python_filter *f, struct seen_filter *it)
{
    const char *profile = seen_filter_plan(it)->profile;
    struct seen_error why;

    f->it = it;
    if (seen_profile_find(&f->profile, *profile ? profile : "raw", &why) ==
        SEEN_OK)
        return true;
    python_raise(&why, f->path);
    return false;
}

/* _open(path, mode, sync, profile, secret, over, verify): mode 0 maps, 1
   loads, 2 opens for writing; verify 0 nothing, 1 all, 2 what keys need. */
static PyObject *open_filter(PyObject *type, PyObject *args)
{
    enum seen_code (*const how[])(
        struct seen_filter **, const char *, const struct seen_access *,
        struct seen_error *) = { seen_store_map, seen_store_load,
                                 seen_store_open };
    struct seen_access access = { .profile = NULL };
    PyObject *path = NULL;
    struct seen_filter *it = NULL;
    struct python_filter *f;
    struct seen_error why;
    enum seen_code code;
    const char *name, *secret;
    Py_ssize_t len;
    int mode, sync, over, verify;

    if (!PyArg_ParseTuple(args, "O&iizz#pi", PyUnicode_FSConverter, &path,
                          &mode, &sync, &access.profile, &secret, &len, &over,
                          &verify))
        return NULL;
    if (mode < 0 || mode > 2 || (secret && len != SEEN_SECRET)) {
        Py_DECREF(path);
        PyErr_SetString(PyExc_ValueError, "a secret has 16 bytes");
        return NULL;
    }
    access.secret = (const unsigned char *)secret;
    access.sync = (enum seen_sync)sync;
    access.over = over;
    access.unverified = !verify;
    access.lazy = verify == 2;
    name = PyBytes_AsString(path);
    python_take_faults();
    Py_BEGIN_ALLOW_THREADS code = how[mode](&it, name, &access, &why);
    Py_END_ALLOW_THREADS if (code != SEEN_OK)
    {
        python_raise(&why, name);
        Py_DECREF(path);
        return NULL;
    }
    f = make((PyTypeObject *)type);
    if (f) {
        f->path = strdup(name);
        f->writer = mode == 2;
    }
    Py_DECREF(path);
    if (!f || !f->path) {
        seen_filter_free(it);
        Py_XDECREF((PyObject *)f);
        return PyErr_NoMemory();
    }
    if (!set_filter(f, it))
        Py_CLEAR(f);
    return (PyObject *)f;
}

/* _ask(reader, name, profile, secret): read by an object, as ranges. */
static PyObject *ask_filter(PyObject *type, PyObject *args)
{
    struct seen_access access = { .profile = NULL };
    struct seen_ranges ranges;
    struct seen_filter *it = NULL;
    struct python_filter *f;
    struct seen_error why;
    enum seen_code code;
    const char *name, *secret;
    PyObject *reader;
    Py_ssize_t len;

    if (!PyArg_ParseTuple(args, "Oszz#", &reader, &name, &access.profile,
                          &secret, &len))
        return NULL;
    if (secret && len != SEEN_SECRET) {
        PyErr_SetString(PyExc_ValueError, "a secret has 16 bytes");
        return NULL;
    }
    access.secret = (const unsigned char *)secret;
    python_take_faults();
    ranges = python_ranges(reader);
    Py_BEGIN_ALLOW_THREADS code = seen_ranges_open(&it, &ranges, &access,
                                                   &why);
    Py_END_ALLOW_THREADS if (code != SEEN_OK) return python_raise(&why, name);
    f = make((PyTypeObject *)type);
    if (f) {
        f->path = strdup(name);
        f->waits = true;
    }
    if (!f || !f->path) {
        seen_filter_free(it);
        Py_XDECREF((PyObject *)f);
        return PyErr_NoMemory();
    }
    if (!set_filter(f, it))
        Py_CLEAR(f);
    return (PyObject *)f;
}

/* _new(plan): in memory. */
static PyObject *new_filter(PyObject *type, PyObject *dict)
{
    const unsigned char *secret;
    struct seen_filter *it;
    struct python_filter *f;
    struct seen_plan plan;
    struct seen_error why;

    if (!python_plan(dict, &plan, &secret))
        return NULL;
    if (seen_filter_new_keyed(&it, &plan, secret, &why) != SEEN_OK)
        return python_raise(&why, NULL);
    f = make((PyTypeObject *)type);
    if (!f) {
        seen_filter_free(it);
        return NULL;
    }
    if (!set_filter(f, it) || !python_meta(dict, it))
        Py_CLEAR(f);
    return (PyObject *)f;
}

/* Close what was not closed. `named` is self, or NULL if nobody may refer to
   it any more, as a warning or a hook of Python would. */
static void close_last(struct python_filter *f, PyObject *named)
{
    PyObject *type, *value, *trace;
    struct seen_error why;

    if (!f->it)
        return;
    PyErr_Fetch(&type, &value, &trace);
    if (f->writer && f->forks == forks &&
        PyErr_ResourceWarning(named, 1, "%s: was not closed", f->path) < 0)
        PyErr_WriteUnraisable(named);
    if (shut(f, &why) != SEEN_OK) {
        python_raise(&why, f->path);
        PyErr_WriteUnraisable(named);
    }
    PyErr_Restore(type, value, trace);
}

static void finalize(PyObject *self)
{
    close_last((struct python_filter *)self, self);
}

static void dealloc(PyObject *self)
{
    struct python_filter *f = (struct python_filter *)self;
    PyTypeObject *type = Py_TYPE(self);
    void *pointer = PyType_GetSlot(type, Py_tp_free);
    freefunc release;

    memcpy(&release, &pointer, sizeof release);
    close_last(f, NULL); /* Python calls finalize() for derived types only */
    if (f->forks == forks)
        pthread_rwlock_destroy(&f->lock);
    free(f->path);
    release(self);
    Py_DECREF(type);
}

static PyObject *refuse_pickle(PyObject *self, PyObject *protocol)
{
    (void)self;
    (void)protocol;
    PyErr_SetString(PyExc_TypeError,
                    "a filter cannot be pickled: it is an open file with its "
                    "lock and journal; send its path and open it there");
    return NULL;
}

static PyMethodDef methods[] = {
    { "_open", open_filter, METH_VARARGS | METH_CLASS, NULL },
    { "_ask", ask_filter, METH_VARARGS | METH_CLASS, NULL },
    { "_new", new_filter, METH_O | METH_CLASS, NULL },
    { "_many", many, METH_VARARGS, NULL },
    { "_save", save, METH_VARARGS, NULL },
    { "_details", details, METH_NOARGS, NULL },
    { "add", add, METH_O,
      "add(url, /) -> bool\n\nAdd a URL; True if it was new.\n\n"
      "When this returns, the URL is in the journal of the file, and is as "
      "safe as\n`sync` of seen.open() says.\n\n"
      ">>> f = seen.new(capacity=1000)\n"
      ">>> f.add('https://a.example/'), f.add('https://a.example/')\n"
      "(True, False)\n" },
    { "remove", take_out, METH_O,
      "remove(url, /) -> None\n\nRemove a URL that was added; for kinds that "
      "count.\n\nA URL that was never added must not be removed: it may "
      "share its cells with\nothers, which are then forgotten. Absent is "
      "raised if its count is 0.\n\n"
      ">>> f = seen.new(kind='counting', capacity=1000)\n"
      ">>> f.add('https://a.example/')\nTrue\n"
      ">>> f.remove('https://a.example/')\n"
      ">>> 'https://a.example/' in f\nFalse\n" },
    { "count", count, METH_O,
      "count(url, /) -> int\n\nHow often a URL was added, never too low; for "
      "kinds that count.\n\n"
      ">>> f = seen.new(kind='counting', capacity=1000)\n"
      ">>> f.add_many(['https://a.example/'] * 3)\n[True, False, False]\n"
      ">>> f.count('https://a.example/')\n3\n" },
    { "refresh", refresh, METH_NOARGS,
      "refresh() -> bool\n\nFor a reader: read what writers have added since; "
      "whether there was anything.\n\nMismatch is raised if the file was "
      "replaced by another filter: open it again." },
    { "checkpoint", checkpoint, METH_NOARGS,
      "checkpoint() -> None\n\nWrite all changes to the file and empty the "
      "journal; the filter stays open." },
    { "close", close_filter, METH_NOARGS,
      "close() -> None\n\nClose the filter; a second time does nothing." },
    { "__reduce_ex__", refuse_pickle, METH_O, NULL },
    { "__reduce__", refuse_pickle, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef members[] = {
    { "path", get_path, NULL, "The path as it was given; None in memory.",
      NULL },
    { "closed", get_closed, NULL, "Was it closed?", NULL },
    { "writable", get_writable, NULL, "Can URLs be added?", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

/* Slots are void pointers, to which a function's is converted by memory. */
static void *slot(const void *function)
{
    void *pointer;

    memcpy(&pointer, function, sizeof pointer);
    return pointer;
}

int python_filter_add_type(PyObject *module)
{
    const objobjproc has = contains;
    const destructor end = dealloc, last = finalize;
    PyType_Slot slots[] = {
        { Py_tp_methods, methods },      { Py_tp_getset, members },
        { Py_sq_contains, slot(&has) },  { Py_tp_dealloc, slot(&end) },
        { Py_tp_finalize, slot(&last) }, { 0, NULL },
    };
    PyType_Spec spec = {
        .name = "seen._seen.Filter",
        .basicsize = sizeof(struct python_filter),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                 Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };
    static bool watched;
    PyObject *type;
    int result;

    if (!watched && pthread_atfork(NULL, NULL, count_fork)) {
        PyErr_NoMemory();
        return -1;
    }
    watched = true;
    type = PyType_FromModuleAndSpec(module, &spec, NULL);
    if (!type)
        return -1;
    result = PyModule_AddObjectRef(module, "Filter", type);
    Py_DECREF(type);
    return result;
}
