"""python_test.py - the Python package: what its docstrings and doc/python.md promise."""
import ast
import doctest
import gc
import json
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import typing
import warnings

import pytest

BUILD = os.environ.get("SEEN_BUILD", "build")
SEEN = os.path.join(BUILD, "seen")
sys.path.insert(0, os.path.join(BUILD, "python"))
seen = pytest.importorskip("seen", reason="the Python package was not built")


def urls(n, host="a"):
    return ["https://%s.example/%d" % (host, i) for i in range(n)]


def run(code, *args):
    """Python code in a process of its own; what it printed."""
    done = subprocess.run(["/usr/bin/python3", "-c", code, *map(str, args)], capture_output=True,
                          env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")})
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def program(*words, stdin=""):
    return subprocess.run([SEEN, *map(str, words)], input=stdin.encode(), capture_output=True,
                          check=False)


@pytest.fixture
def path(tmp_path):
    seen.build(tmp_path / "a.seen", urls(1000), capacity=10000)
    return tmp_path / "a.seen"


# --- documentation ------------------------------------------------------------

def test_docstrings_are_examples_that_work():
    for module, least in ((seen, 40), (seen.errors, 2), (seen._seen, 9)):
        result = doctest.testmod(module, extraglobs={"seen": seen})
        assert result.failed == 0 and result.attempted >= least


def test_the_guide_is_examples_that_work(tmp_path, monkeypatch):
    guide = pathlib.Path(os.environ.get("SEEN_SOURCE", "."), "doc", "python.md").resolve()
    monkeypatch.chdir(tmp_path)
    text = guide.read_text().replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, "python.md", str(guide), 0)
    result = doctest.DocTestRunner().run(test)
    assert result.failed == 0 and result.attempted > 15


def test_everything_public_has_hints_and_help():
    for name in ("open", "new", "build", "key"):
        function = getattr(seen, name)
        assert function.__doc__ and "return" in typing.get_type_hints(function)
    hints = ast.parse((pathlib.Path(seen.__file__).parent / "_seen.pyi").read_text())
    described = {n.name for c in hints.body if isinstance(c, ast.ClassDef) for n in c.body}
    described |= {n.name for n in hints.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    there = {n for n in (*vars(seen._seen), *vars(seen._seen.Filter))
             if not n.startswith("__") and n != "version"}
    assert there <= described
    for name, value in vars(seen.Filter).items():
        if not name.startswith("_"):
            assert value.__doc__, name
    assert (pathlib.Path(seen.__file__).parent / "py.typed").exists()
    assert seen.__version__ == program("version").stdout.decode().split()[1]


# --- files --------------------------------------------------------------------

def test_the_program_and_the_package_share_files(path, tmp_path):
    assert program("check", path, *urls(3)).returncode == 0
    assert program("add", path, "https://b.example/").returncode == 0
    with seen.open(path) as f:
        assert "https://b.example/" in f and "https://c.example/" not in f
        assert f.info.kind == "blocked" and f.path == str(path) and not f.writable
        assert f.info.capacity == 10000 and 990 < f.info.entries < 1012
    (tmp_path / "list.txt").write_text("\n".join(urls(1000)) + "\nhttp://\n")
    program("build", "--quiet", "-o", tmp_path / "c.seen", "--capacity", 10000,
            tmp_path / "list.txt")
    made = seen.build(tmp_path / "d.seen", tmp_path / "list.txt", capacity=10000)
    assert made.urls == 1000 and made.bad == 1
    assert (tmp_path / "c.seen").read_bytes() == (tmp_path / "d.seen").read_bytes()


def test_builds_of_all_sorts(tmp_path):
    at = tmp_path / "x.seen"
    for inputs, options, kind in (
            (urls(5000), {}, "blocked"),
            ((u for u in urls(5000)), {}, "blocked"),
            (urls(5000), {"rate": 1e-6}, "spatial:3/blocked"),
            (urls(5000), {"hostile": True}, "bloom"),
            (iter(urls(5000)), {"kind": "layered:2", "profile": "raw"}, "layered:2"),
            (iter(urls(5000)), {"kind": "growing/blocked"}, "growing/blocked"),
            ((u.encode() for u in urls(5000)), {"capacity": 9000}, "blocked"),
            (set(urls(5000)), {"kind": "fuse"}, "fuse"),
            (iter(urls(5000)), {"kind": "fuse"}, "fuse"),
            (iter(urls(5000)), {"kind": "ribbon", "rate": 0.003}, "ribbon"),
            (urls(5000), {"kind": "counting", "rate": 0.001}, "counting"),
            (urls(5000), {"kind": "bloom", "rate": 1e-6, "profile": "whatwg"}, "bloom"),
            (urls(5000), {"bits": 100000, "secret": b"0123456789abcdef"}, "blocked"),
            ((), {"capacity": 10}, "blocked"), (iter(()), {}, "growing/blocked")):
        made = seen.build(at, inputs, meta={"title": "Ä"}, **options)
        with seen.open(at, secret=options.get("secret")) as f:
            assert f.info.kind.startswith(kind) and f.info.meta == {"title": "Ä"}
            assert made.urls in (0, 5000) and all(f.has_many(urls(made.urls)))
    # An index whose keys are another program's: they are derived.
    cdx = tmp_path / "index.cdxj"
    cdx.write_text("".join('com,example,a)/%d 2020 {"url": "https://b.example/%d"}\n' % (i, i)
                           for i in range(100)))
    assert seen.build(at, [cdx]).urls == 100
    with seen.open(at) as f:
        assert "https://b.example/7" in f
    before = at.read_bytes()
    for bad, kind in (([tmp_path / "none"], FileNotFoundError), ([], None),
                      ([cdx, "https://a.example/"], TypeError), ("https://a.example/", TypeError),
                      ([1, 2], TypeError), (5, TypeError)):
        if kind:
            with pytest.raises(kind):
                seen.build(at, bad)
    with pytest.raises(seen.BadURL) as e:
        seen.build(at, ["https://a.example/", "http://"], errors="raise")
    assert e.value.position == 1
    (tmp_path / "cut.gz").write_bytes(__import__("gzip").compress(b"http://a.example/\n" * 99)[:-9])
    with pytest.raises(seen.Corrupt):
        seen.build(at, tmp_path / "cut.gz")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(seen.RangeError, match="no URLs"):
        seen.build(at, tmp_path / "empty")
    assert at.read_bytes() == before and sorted(os.listdir(tmp_path))[-1] == "x.seen"


def test_what_is_not_counted_is_read_once_and_has_the_right_size(tmp_path):
    """From a file, a pipe, a list and a generator the filter is that of `seen build`."""
    for n in (1, 1000, 20000):
        repeated = urls(n) + urls(n)[::-1]
        listed, at = tmp_path / "list.txt", tmp_path / "a.seen"
        listed.write_text("\n".join(repeated) + "\n")
        program("build", "--quiet", "-o", tmp_path / "program.seen", listed)
        program_made = (tmp_path / "program.seen").read_bytes()
        out, into = os.pipe()
        writer = threading.Thread(target=lambda: (os.write(into, listed.read_bytes()),
                                                  os.close(into)))
        writer.start()
        pipe = pathlib.Path("/dev/fd/%d" % out)
        for inputs in (listed, pipe, repeated, iter(repeated)):
            made = seen.build(at, inputs)
            assert at.read_bytes() == program_made
            assert made.bytes * 8 <= max(512, 10.5 * n)
        writer.join()
        os.close(out)
        assert sorted(os.listdir(tmp_path)) == ["a.seen", "list.txt", "program.seen"]
    # A plan that cannot be is refused before anything but the first URL, which is no path, is read.
    unread = iter(urls(2))
    with pytest.raises(seen.RangeError):
        seen.build(at, unread, kind="blocked", rate=1e-9)
    assert next(unread) == urls(2)[1]


def test_readers_follow_writers(path):
    with seen.open(path, load=True) as reader, seen.open(path, write=True) as writer:
        assert writer.add("https://b.example/") and not writer.add("https://b.example/")
        assert "https://b.example/" not in reader
        assert reader.refresh() and "https://b.example/" in reader
        assert not reader.refresh()
        writer.checkpoint()
        assert not os.path.getsize(str(path) + ".journal") > 100
        with pytest.raises(seen.Busy):
            seen.open(path, write=True)
        began = time.monotonic()
        with pytest.raises(seen.Busy):
            seen.open(path, write=True, wait=0.1)
        assert time.monotonic() - began >= 0.1
    with seen.open(path, load=True) as f:
        assert "https://b.example/" in f
        seen.build(path, urls(10), capacity=500)
        with pytest.raises(seen.Mismatch):
            f.refresh()


@pytest.mark.parametrize("sync", ["always", "everysec", "no"])
def test_a_killed_process_loses_nothing_it_was_told(path, sync):
    code = """
import os, sys, seen
f = seen.open(sys.argv[1], write=True, sync=sys.argv[2])
f.add_many("https://k.example/%d" % i for i in range(3000))
for i in range(100):
    f.add("https://l.example/%d" % i)
print("done", flush=True)
os.kill(os.getpid(), 9)
"""
    done = subprocess.run(["/usr/bin/python3", "-c", code, str(path), sync], capture_output=True,
                          env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")})
    assert done.returncode == -9 and done.stdout == b"done\n"
    with seen.open(path) as f:
        assert all(f.has_many(urls(3000, "k"))) and all(f.has_many(urls(100, "l")))
    with seen.open(path, write=True) as f:
        assert not any(f.add_many(urls(3000, "k")))


# --- errors -------------------------------------------------------------------

def test_every_code_is_an_exception():
    header = pathlib.Path(os.environ.get("SEEN_SOURCE", "."), "include/seen/error.h").read_text()
    for code in range(1, 12):
        e = seen.errors.failure(code, "text", 5, 7, "a.seen")
        assert isinstance(e, seen.Error) and e.code == code and e.position == 7
        assert type(e) is not seen.Error and "text" in str(e)
        assert e.name == seen._seen.code_name(code)
        assert "%s = %d" % (e.name, code) in header
    assert "SEEN_BAD_URL = 11 " in header       # a new code needs a class


def test_files_that_are_refused(path, tmp_path):
    with pytest.raises(FileNotFoundError) as e:
        seen.open(tmp_path / "none.seen")
    assert e.value.code == 6 and e.value.errno == 2 and e.value.filename.endswith("none.seen")
    with pytest.raises(seen.Mismatch):
        seen.open(path, profile="whatwg")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(seen.Corrupt):
        seen.open(path)
    with seen.open(path, verify=False):
        pass
    for write in (False, True):
        with seen.open(path, write=write, verify="lazy") as f:
            with pytest.raises(seen.Corrupt, match="block 0"):
                f.has_many(["https://a.example/"])
            if write:
                with pytest.raises(seen.Corrupt, match="block 0"):
                    f.add("https://new.example/")
    with pytest.raises(ValueError):
        seen.open(path, verify="some")
    with pytest.raises(seen.Exists):
        seen.new(capacity=10).save(path, replace=False)
    with pytest.raises(seen.IOFailure):
        seen.new(capacity=10).save("/proc/x/y.seen")
    for options in ({}, {"capacity": 10, "kind": "what"}, {"capacity": -1}, {"capacity": 2**70},
                    {"capacity": 10, "rate": 7}, {"capacity": 10, "profile": "x" * 40},
                    {"capacity": 10, "secret": b"short"}, {"capacity": 10, "probes": 1 << 40}):
        with pytest.raises((ValueError, OverflowError)):
            seen.new(**options)
    for options in ({"capacity": "10"}, {"capacity": 10, "rate": "x"}, {"capacity": 10, "kind": 5},
                    {"capacity": 10, "meta": {"a": 5}}, {"capacity": 10, "meta": "x"}):
        with pytest.raises(TypeError):
            seen.new(**options)
    with pytest.raises(ValueError):
        seen.open(path, sync="never")
    with pytest.raises(ValueError):
        seen.open("a\0b")


def test_objects_that_are_not_urls():
    f = seen.new(capacity=1000)
    for bad in (None, 5, 5.5, [], ("http://a.example/",), bytearray(b"http://a.example/"), object):
        with pytest.raises(TypeError, match="a URL is a str or bytes"):
            bad in f
        with pytest.raises(TypeError):
            f.add(bad)
        with pytest.raises(TypeError) as e:
            f.add_many(["http://b.example/", bad])
        assert e.value.position == 1 and "http://b.example/" in f
    for bad in ("", "http://", "http://\udc80/", "http://" + "a" * 9000, b"http:///"):
        with pytest.raises(seen.BadURL):
            bad in f
        with pytest.raises(ValueError) as e:
            f.has_many([*urls(2000), bad, "http://c.example/"])
        assert e.value.position == 2000
        assert f.has_many([bad, "http://b.example/"], errors="ignore") == [False, True]
        assert f.add_many([bad], errors="ignore") == [False]
    for bad in ("http://a.example/", b"x", 5, None):
        with pytest.raises(TypeError):
            f.has_many(bad)
        with pytest.raises(TypeError):
            f.iter_add(bad)
    with pytest.raises(ValueError):
        f.has_many([], errors="what")
    with pytest.raises(TypeError):
        seen.Filter()
    raw = seen.new(capacity=1000, profile="raw")    # takes any bytes
    assert raw.add(bytes(range(256))) and bytes(range(256)) in raw and raw.add("\0")


def test_metadata_that_is_not_text():
    for meta in ({"title": "a\0b"}, {"ti\0tle": "a"}, {"title": "\udc80"}):
        with pytest.raises(ValueError):
            seen.new(capacity=10, meta=meta)
    for meta in ({"title": b"a"}, {1: "a"}, [("title", "a")]):
        with pytest.raises(TypeError):
            seen.new(capacity=10, meta=meta)
    with pytest.raises(seen.RangeError):
        seen.new(capacity=10, meta={"title": "a\nb"})


def test_a_failing_iterable_has_added_what_came_before():
    def broken():
        yield from urls(1500)
        raise RuntimeError("broken")

    f = seen.new(capacity=10000)
    with pytest.raises(RuntimeError, match="broken"):
        f.add_many(broken())
    assert all(f.has_many(urls(1500)))

    def inside():       # uses the filter in the middle of a batch
        for url in urls(3000, "i"):
            yield url
            f.add(url + "/")
        f.close()
        yield "http://z.example/"

    with pytest.raises(seen.Closed):
        f.add_many(inside())


def test_a_full_filter_says_how_far_it_came():
    f = seen.new(kind="bloom", capacity=1000, rate=0.001)
    with pytest.raises(seen.Full) as e:
        f.add_many(urls(5000))
    assert 1000 <= e.value.position < 1400 and e.value.code == 3
    assert all(f.has_many(urls(e.value.position)))
    with pytest.raises(seen.Full) as e2:
        list(f.iter_add(urls(3000, "full"), batch=7))
    assert e2.value.position < 3000


def test_what_kinds_cannot_do():
    f = seen.new(capacity=10)
    f.add("http://a.example/")
    for call in (f.remove, f.count):
        with pytest.raises(seen.Unable):
            call("http://a.example/")
    with pytest.raises(seen.Unable):
        f.checkpoint()
    g = seen.new(kind="counting", capacity=1000)
    with pytest.raises(KeyError) as e:
        g.remove("http://a.example/")
    assert e.value.code == 10 and "'" not in str(e.value)[:1]
    with pytest.raises(seen.Absent):
        g.remove_many(["http://a.example/"])


def test_a_reader_cannot_add(path):
    with seen.open(path) as f:
        with pytest.raises(seen.Error):
            f.add("http://new.example/")
        assert "http://new.example/" not in f


CUT_SHORT = """
import faulthandler, os, signal, sys, threading, seen
path, how = sys.argv[1:]
f = seen.open(path, write=how == "write")
if how == "traceback":                  # takes SIGBUS; opening a file takes it back
    faulthandler.enable()
    f = seen.open(path)
os.truncate(path, 4096)
many = ["https://a.example/%d" % i for i in range(20000)]
said = []

def use(what):
    try:
        what()
        said.append("nothing")
    except Exception as e:
        said.append("%s %s %s" % (type(e).__name__, e.errno, "cut short" in str(e)))

threads = [threading.Thread(target=use, args=[lambda: f.has_many(many)]) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
use(lambda: many[0] in f)
use(lambda: f.save(path + ".copy"))
if how == "write":
    use(lambda: f.add_many(many))
    use(f.close)
print(sorted(set(said)), os.path.exists(path + ".copy"), flush=True)
os.kill(os.getpid(), signal.SIGBUS)     # not ours
"""


@pytest.mark.parametrize("how", ["read", "write", "traceback"])
def test_a_file_that_is_cut_short_raises(how, tmp_path):
    seen.build(tmp_path / "f.seen", urls(20000), capacity=1000000)
    done = subprocess.run(["/usr/bin/python3", "-c", CUT_SHORT, str(tmp_path / "f.seen"), how],
                          env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")},
                          capture_output=True, text=True)
    assert done.stdout == "['IOFailure 5 True'] False\n", done
    assert done.returncode == -signal.SIGBUS
    assert ("Fatal Python error: Bus error" in done.stderr) == (how == "traceback")


def test_closed_filters(path):
    f = seen.open(path, write=True)
    assert f.writable and not f.closed
    f.close()
    f.close()
    assert f.closed and not f.writable and "closed" in repr(f)
    for use in (lambda: "http://a.example/" in f, lambda: f.add("http://a.example/"),
                lambda: f.has_many([]), lambda: f.info, f.refresh, f.checkpoint,
                lambda: f.save("x"), lambda: list(f.iter_has(["http://a.example/"]))):
        with pytest.raises(seen.Closed):
            use()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        g = seen.open(path, write=True)
        g.add("http://dropped.example/")
        del g
        gc.collect()
    assert [w.category for w in caught] == [ResourceWarning]
    with seen.open(path, write=True) as f:
        assert "http://dropped.example/" in f


def test_objects_that_nobody_closed(path):
    code = """import seen, sys, warnings
warnings.simplefilter("always")
f = seen.%s._open(sys.argv[1], 2, 0, None, None, False, True)
f.add("https://unclosed.example/")
del f
with seen.open(sys.argv[1]) as f:
    assert "https://unclosed.example/" in f and f.path == sys.argv[1]
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    f = seen.%s._open(sys.argv[1], 2, 0, None, None, False, True)
    del f
print(len(said), said[0].message)"""
    for name in ("Filter", "_seen.Filter"):
        assert run(code % (name, name), path) == "1 %s: was not closed\n" % path


def test_pickling_is_refused_with_a_reason(path):
    with seen.open(path) as f:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="send its path"):
                pickle.dumps(f, protocol)
        with pytest.raises(TypeError):
            __import__("copy").copy(f)


# --- many ---------------------------------------------------------------------

def test_iterators_of_any_size_take_constant_memory():
    code = """
import resource, seen
f = seen.new(capacity=3_000_000, rate=0.01)
def links(n):
    return (b"https://a.example/a/rather/long/path/of/a/page/%d" % i for i in range(n))
def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sum(new for _, new in f.iter_add(links(20000)))
before = memory()
print(sum(new for _, new in f.iter_add(links(400000))))
print(sum(f.has_many(links(400000), numpy=False)[:10]))
print(memory() - before)
"""
    fresh, found, grown = map(int, run(code).split())
    assert 374000 < fresh <= 380000 and found == 10
    assert grown < 12000        # KiB; the list of answers has 3 MB, the URLs would have 40


def test_numpy_arrays(monkeypatch):
    f = seen.new(capacity=10000)
    f.add_many(urls(3000))
    numpy = pytest.importorskip("numpy")
    answers = f.has_many(urls(6000), numpy=True)
    assert answers.dtype == numpy.bool_ and answers.shape == (6000,)
    assert answers[:3000].all() and answers.tolist() == f.has_many(urls(6000))
    assert f.has_many(numpy.array(urls(5)), numpy=True).all()
    assert f.add_many([], numpy=True).shape == (0,)
    answers[0] = False          # it is the caller's
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ImportError):
        f.has_many(urls(5), numpy=True)
    assert f.has_many(urls(5)) == [True] * 5


def test_keys_are_those_of_the_program():
    for profile in ("raw", "whatwg", "surt", "surt:host"):
        for url in ("http://www.Example.com:80/a/../b?z=1&a=2", "https://ö.example/Ü"):
            line = program("key", "--json", "--profile", profile, stdin=url + "\n").stdout
            found, key = json.loads(line), seen.key(url, profile)
            assert key.text == found["key"]
            assert key.hash == int(found["hi"], 16) << 64 | int(found["lo"], 16)
    assert seen.key(b"\xff", "raw").text == "\udcff"
    with pytest.raises(seen.RangeError):
        seen.key("http://a.example/", "nope")


# --- processes ----------------------------------------------------------------

def test_ctrl_c_ends_a_batch_between_turns(tmp_path):
    path = tmp_path / "c.seen"
    seen.build(path, [], capacity=1_000_000)
    with seen.open(path, write=True, sync="no", over=True) as f:
        big = urls(300_000, "big")
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            while True:
                f.add_many(big)     # a list: no Python code runs in between
        assert f.add("https://after.example/")
    big_list = tmp_path / "big.txt"
    big_list.write_text("\n".join(urls(1_500_000)))
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100):
            seen.build(tmp_path / "big.seen", big_list)
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(1000):
            seen.build(tmp_path / "big.seen", big)


def child(work):
    """Run it in a forked child; what it returned, as text."""
    out, into = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            answer = str(work())
        except BaseException as e:
            answer = type(e).__name__
        os.write(into, answer.encode())
        os._exit(0)
    os.close(into)
    text = b""
    while piece := os.read(out, 1000):
        text += piece
    os.close(out)
    os.waitpid(pid, 0)
    return text.decode()


def test_a_child_cannot_use_its_parents_writer(path):
    f = seen.open(path, write=True)
    f.add("https://p.example/1")
    for use in (lambda: f.add("https://c.example/"), lambda: "https://a.example/0" in f,
                lambda: f.add_many(urls(5)), f.checkpoint, lambda: f.info):
        assert child(use) == "ForkError"

    def leave():
        with f:                 # closing in the child changes nothing
            pass
        gc.collect()
        return f.closed

    assert child(leave) == "True"
    assert f.add("https://p.example/2")
    f.close()
    with seen.open(path) as f:
        assert f.has_many(["https://p.example/1", "https://p.example/2", "https://c.example/"]) \
            == [True, True, False]
    assert program("check", path, "https://p.example/2").returncode == 0


def test_a_child_of_a_killed_writer_keeps_the_lock_until_it_ends(path):
    out, into = os.pipe()
    parent = os.fork()
    if not parent:
        f = seen.open(path, write=True)
        f.add("https://p.example/3")
        orphan = os.fork()
        if not orphan:
            signal.pause()
        os.write(into, b"%d" % orphan)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(parent, 0)
    orphan = int(os.read(out, 20))
    with pytest.raises(seen.Busy):
        seen.open(path, write=True)
    os.kill(orphan, signal.SIGKILL)
    with seen.open(path, write=True, wait=20) as f:
        assert "https://p.example/3" in f       # from the journal
    os.close(out)
    os.close(into)


def test_a_child_has_its_own_reader(path):
    memory = seen.new(capacity=100)
    with seen.open(path) as f:
        stop = threading.Event()

        def ask():              # holds the lock at the moment of most forks
            while not stop.is_set():
                f.has_many(urls(1000))

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            assert child(lambda: sum(f.has_many(urls(1500)))) in map(str, range(1000, 1020))
            assert child(lambda: memory.add("http://a.example/")) == "True"
        stop.set()
        for thread in threads:
            thread.join()
    assert "http://a.example/" not in memory


# --- threads ------------------------------------------------------------------

def test_threads_share_a_writer_under_load(path):
    """Each URL is new exactly once, whichever thread adds it; readers see all of it.

    The filter is a fifth full in the end, where one in 137,000 is a false positive, and
    fewer before: 0.15 of 20,000 URLs at most, and 5 or more with a chance below 1e-6.
    """
    seen.build(path, urls(1000), capacity=100000)
    new, wrong = [], []
    with seen.open(path, write=True, sync="no", over=True) as f, seen.open(path) as other:
        everything = urls(20000, "t")

        def add(seed):
            mine = everything[:]
            random.Random(seed).shuffle(mine)
            for i in range(0, len(mine), 500):
                fresh = f.add_many(mine[i:i + 500])
                new.append(sum(fresh))
                f.add(mine[i])
                if not all(f.has_many(mine[i:i + 500])) or mine[i] not in f:
                    wrong.append(i)

        def ask():
            while len(new) < 4 * 40:
                f.info
                other.refresh()
                if not all(other.has_many(urls(1000))):
                    wrong.append("other")
                "https://t.example/1" in f

        threads = [threading.Thread(target=add, args=(n,)) for n in range(4)]
        threads += [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert 20000 - 5 < sum(new) <= 20000
        other.refresh()
        assert all(other.has_many(everything))


def test_threads_that_close_while_others_work(path):
    for _ in range(20):
        f = seen.open(path)
        found = []

        def ask():
            try:
                while True:
                    f.has_many(urls(200))
                    "https://a.example/1" in f
            except seen.Closed:
                found.append("closed")

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.002)
        f.close()
        for thread in threads:
            thread.join(60)
        assert found == ["closed"] * 3


def test_collected_objects_may_use_the_filter():
    """info makes objects under the lock: if rubbish was collected then, and its __del__ asked the
    filter while another thread waits to add, both would wait forever."""
    said = run("""import faulthandler, gc, seen, threading, time
faulthandler.dump_traceback_later(240, exit=True)
f, stop = seen.new(capacity=10**6, over=True), False

class Rubbish:
    def __init__(self):
        self.me = self
    def __del__(self):
        time.sleep(0.001)
        "http://a.example/" in f

def add():
    i = 0
    while not stop:
        i += 1
        f.add("http://%d.example/" % i)

thread = threading.Thread(target=add)
thread.start()
gc.set_threshold(1)
for _ in range(300):
    gc.disable()
    Rubbish()
    gc.enable()
    f.info
assert gc.isenabled()
gc.disable()
f.info
assert not gc.isenabled()
stop = True
thread.join()
print("done")""")
    assert said == "done\n"


def test_two_threads_of_two_handles_take_turns(path):
    """Of two writers one gets Busy, and goes on when the other has closed."""
    def work(name):
        for i in range(10):
            with seen.open(path, write=True, sync="no", wait=20) as f:
                f.add("https://%s.example/%d" % (name, i))

    threads = [threading.Thread(target=work, args=(name,)) for name in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with seen.open(path) as f:
        assert all(f.has_many(urls(10, "x") + urls(10, "y")))


def test_long_work_does_not_stop_other_threads():
    """While a batch is looked up, the GIL is free: a counting thread goes on."""
    f = seen.new(kind="bloom:md5", capacity=100000, rate=0.0001)
    many = urls(1024)           # one batch, of about 10 ms
    counted = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    shares, end = [0], time.monotonic() + 240
    while max(shares) <= 5 and time.monotonic() < end:      # on a busy machine, both may wait for a CPU
        at = counted[0]
        f.has_many(many)
        shares.append(counted[0] - at)
    stop.set()
    thread.join()
    assert max(shares) > 5


# --- the installed package ----------------------------------------------------

LATER = """
import doctest, pickle, seen
assert not doctest.testmod(seen, extraglobs={"seen": seen}).failed
f = seen.new(capacity=5000)
f.add_many("http://a.example/%d" % i for i in range(3000))
try:
    f.add_many([5])
except TypeError as e:
    assert e.position == 0
try:
    f.add("http://")
except seen.BadURL as e:
    f.close()
assert f.closed
"""


def test_the_installed_package_works(tmp_path):
    for component in ("python", "library"):
        subprocess.run(["cmake", "--install", BUILD, "--prefix", tmp_path / "p", "--component",
                        component], check=True, capture_output=True)
    found, = (tmp_path / "p").glob("**/seen/_seen.abi3.so")
    out = subprocess.run(["/usr/bin/python3", "-c", "import seen; print(seen.__file__)"],
                         capture_output=True, check=True,
                         env={"PYTHONPATH": str(found.parent.parent)}).stdout.decode()
    assert out.strip() == str(found.parent / "__init__.py")
    for later in ("python3.12", "python3.13", "python3.14"):
        works = subprocess.run(["sh", "-c", later + ' -c "import sys" 2>/dev/null']).returncode == 0
        if works:           # the same file, on the stable ABI
            subprocess.run([later, "-c", LATER], check=True,
                           env={**os.environ, "PYTHONPATH": str(found.parent.parent)})
    # Only functions of the stable ABI and of libseen are used.
    names = subprocess.run(["nm", "-D", "--undefined-only", found], capture_output=True,
                           check=True).stdout.decode()
    private = [n for n in names.split() if n.startswith(("_Py", "store_", "filter_"))]
    assert set(private) <= {"_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_Dealloc",
                            "_Py_IncRef", "_Py_DecRef", "_PyArg_ParseTuple_SizeT",
                            "_PyObject_CallMethod_SizeT", "_Py_BuildValue_SizeT"}
    assert "libseen.so.0" in subprocess.run(["readelf", "-d", found], capture_output=True,
                                            check=True).stdout.decode()


def test_a_file_that_open_creates_grows(tmp_path):
    path = tmp_path / "new.seen"
    with pytest.raises(ValueError):
        seen.open(path, create=True)
    with seen.open(path, write=True, sync="no", create=True, rate=0.001, profile="whatwg") as f:
        assert f.info.capacity == 20000
        f.add_many("https://a.example/%d" % i for i in range(50000))
        assert f.info.capacity >= 50000
        assert f.info.rate <= 0.001
    assert os.stat(str(path) + ".keys").st_mode & 0o777 == 0o600
    with seen.open(path, write=True, create=True) as f:
        assert f.info.capacity >= 50000 and f.info.profile == "whatwg"
        assert all(f.has_many("https://a.example/%d" % i for i in range(50000)))
    with seen.open(tmp_path / "low.seen", write=True, create=True, rate=1e-6) as f:
        assert f.info.kind == "spatial:3/blocked"
