"""texts_test.py - filters that are published as text, and what is made of them.

The workflow of the archives report: "parse the sitemap XML file, extract the
URL of new or updated BF files, get the serialized plain text file, and ingest
the file into the local BF implementation".
"""
import base64
import hashlib
import json
import os
import re
import resource
import subprocess
import sys

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "../serve")]
from hostile import Web, digest, page, stream, url, urlset  # noqa: E402
from serving import SANITIZED, SEEN, build, run  # noqa: E402

MEMORY = 64 << 20


class Folder:
    """A folder to harvest into; with no more than 64 MB of memory."""

    def __init__(self, path):
        self.path = path

    def harvest(self, *words, code=0):
        def limit():
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        done = subprocess.run([SEEN, "harvest", *words, "--into", self.path, "--allow-private",
                               "--timeout", "2s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60, preexec_fn=limit)
        self.out, self.err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == code, self.out + self.err
        return self.out

    def files(self):
        return {path.name: path.read_bytes() for path in self.path.glob("*") if path.is_file()}

    def own(self):
        return {path.name for path in (self.path / ".harvest").glob("*")} - {"lock"}


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Files by name; the text of each beside it."""
    where = tmp_path_factory.mktemp("texts")
    for name, n in (("one", 100), ("two", 130)):
        pages = ["http://a.example/%d" % i for i in range(n)]
        build(where / (name + ".seen"), pages, "--capacity", "20000")
        run("convert", where / (name + ".seen"), "-o", where / (name + ".csv"), "--quiet")
        build(where / "o.seen", pages, "--kind", "bloom:orestes", "--profile", "raw", "--capacity", "5000")
        run("convert", where / "o.seen", "-o", where / (name + ".json"), "--quiet")
        (where / "o.seen").unlink()
    return {path.name: path.read_bytes() for path in where.iterdir()}


@pytest.fixture
def web():
    with Web() as web:
        yield web


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "in")


def announce(web, *entries):
    web["/sitemap.xml"] = page(urlset(*entries), "application/xml")
    return web("/sitemap.xml")


def test_a_text_form_is_converted_and_neither_fetched_nor_converted_twice(web, texts, folder):
    web.serve("/haw.csv", texts["one.csv"])
    where = announce(web, url(web("/haw.csv"), hash=digest(texts["one.csv"]),
                              length=len(texts["one.csv"]), type="text/csv"))
    assert folder.harvest(where, "--dry-run") == "haw.seen: would be new, %s\n" % size(texts["one.csv"])
    assert folder.harvest(where) == \
        "haw.seen: new, %s; converted from its text form\n" % size(texts["one.seen"])
    assert folder.files() == {"haw.seen": texts["one.seen"]} and folder.own() == {"haw.seen.json"}
    inode = os.stat(folder.path / "haw.seen").st_ino
    assert folder.harvest(where) == "haw.seen: unchanged\n"
    assert len(web.asked("/haw.csv")) == 1
    web.serve("/haw.csv", texts["two.csv"])
    where = announce(web, url(web("/haw.csv"), hash=digest(texts["two.csv"])))
    assert "haw.seen: updated" in folder.harvest(where)
    assert folder.files() == {"haw.seen": texts["two.seen"]}
    assert os.stat(folder.path / "haw.seen").st_ino != inode


def size(data):
    n = len(data)
    return "%.1f kB" % (n / 1000) if n < 9950 else "%.0f kB" % (n / 1000)


def test_without_a_hash_its_server_is_asked(web, texts, folder):
    web.serve("/haw.csv", texts["one.csv"])
    where = announce(web, url(web("/haw.csv"), "2026-11-15"))
    folder.harvest(where)
    before = web.bytes
    assert folder.harvest(where) == "haw.seen: unchanged\n"
    assert web.bytes - before < 2000 and web.asked("/haw.csv")[1].headers["if-none-match"]
    web["/haw.csv"] = lambda talk: talk.answer(texts["one.csv"])        # it knows nothing of versions
    inode = os.stat(folder.path / "haw.seen").st_ino
    assert folder.harvest(where) == "haw.seen: unchanged\n"
    assert os.stat(folder.path / "haw.seen").st_ino == inode and folder.own() == {"haw.seen.json"}
    web.serve("/haw.csv", texts["two.csv"])
    assert "updated" in folder.harvest(where)
    announce(web)
    assert folder.harvest(where, "--remove-withdrawn") == "haw.seen: removed\n"
    assert not folder.files() and not folder.own()


@pytest.mark.parametrize("path, entry", [
    ("/orestes.json", {}),                                      # by its ending
    ("/filter?of=haw", {"type": "application/json"}),           # by its type
    ("/haw", {"extra": "<dc:format>text/csv</dc:format>"}),     # as the report's sitemap has it
    ("/haw.csv", {}), ("/haw.txt", {"type": "text/csv; charset=utf-8"})])
def test_the_json_of_orestes_is_converted_whatever_it_is_called(web, texts, folder, path, entry):
    web.serve(path, texts["one.json"])
    where = announce(web, url(web(path).replace("&", "&amp;"), **entry))
    assert "; converted from the JSON of Orestes, with profile raw" in folder.harvest(where)
    [(name, data)] = folder.files().items()
    assert name == {"/orestes.json": "orestes.seen", "/filter?of=haw": "filter.seen"}.get(path, "haw.seen")
    told = json.loads(run("info", "--json", folder.path / name))
    assert told["profile"] == "raw" and told["kind"] == "bloom:orestes"
    assert run("check", folder.path / name, "http://a.example/7") == "seen\thttp://a.example/7\n"
    assert folder.harvest(where) == name + ": unchanged\n"


def test_a_text_can_be_named_itself_and_in_a_registry(web, texts, folder):
    web.serve("/a.csv", texts["one.csv"])
    web.serve("/b.json", texts["one.json"])
    web["/list.txt"] = page(("%s\n" % web("/b.json")).encode(), "text/plain")
    folder.harvest(web("/a.csv"), web("/list.txt"))
    assert set(folder.files()) == {"a.seen", "b.seen"}
    assert folder.harvest(web("/a.csv"), web("/list.txt")).count("unchanged") == 2


def test_of_several_forms_the_best_is_taken_and_a_better_one_replaces_it(web, texts, folder):
    for name in ("one.csv", "one.json", "one.seen"):
        web.serve("/haw" + name[3:], texts[name])
    csv, js, seen = (url(web("/haw" + end)) for end in (".csv", ".json", ".seen"))
    assert "Orestes" in folder.harvest(announce(web, js))
    assert "updated" in folder.harvest(announce(web, js, csv)) and "text form" in folder.out
    folder.harvest(announce(web, csv, js, seen))
    assert folder.out == "haw.seen: unchanged\n" or "updated" in folder.out
    assert folder.files() == {"haw.seen": texts["one.seen"]} and not web.asked("/haw.seen")[1:]
    assert folder.harvest(announce(web, csv, js, seen)) == "haw.seen: unchanged\n"


def test_another_text_is_not_a_filter_and_no_trouble(web, texts, folder):
    web.serve("/good.csv", texts["one.csv"])
    web["/table.csv"] = stream(b"year,pages\n" * 1000)
    web["/feed.json"] = stream(b'{"version": 1, "items": [' * 100)
    web["/tiny.csv"] = page(b"a,b\n", "text/csv")
    where = announce(web, *(url(web(path)) for path in ("/table.csv", "/feed.json", "/good.csv", "/tiny.csv")))
    folder.harvest(where)
    assert set(folder.out.splitlines()) == {
        *(web(path) + ": ignored; not a filter" for path in ("/feed.json", "/table.csv", "/tiny.csv")),
        "good.seen: new, %s; converted from its text form" % size(texts["one.seen"])}
    assert web.bytes < 100000000 and folder.own() == {"good.seen.json"}
    web["/good.csv"] = page(b"year,pages\n2026,1\n", "text/csv")      # it was one once
    folder.harvest(where, code=2)
    assert "good.csv: refused: is no longer a filter" in folder.err
    assert folder.files() == {"good.seen": texts["one.seen"]}


def test_a_cut_text_is_gone_on_with(web, texts, folder):
    data, half = texts["one.csv"], len(texts["one.csv"]) // 2

    def cut(talk):
        talk.head(200, Content_Length=len(data), ETag='"1"')
        talk.send(data[:half])
        web.serve("/haw.csv", data, ETag='"1"')
    web["/haw.csv"] = cut
    assert "of which" in folder.harvest(announce(web, url(web("/haw.csv"))))
    assert folder.files() == {"haw.seen": texts["one.seen"]}
    assert web.asked("/haw.csv")[1].headers["range"] == "bytes=%d-" % half


def sealed(text):
    """With the right checksum, so that only the rest can be wrong."""
    lines = text.split(b"\n")
    lines[1] = b"checksum,sha-256:" + hashlib.sha256(b"\n".join(lines[:1] + lines[2:])).hexdigest().encode()
    return b"\n".join(lines)


def huge(text, cells, bits):
    """The text, with other numbers of cells and bits in its plan."""
    lines = [b"cells,%d" % cells if line.startswith(b"cells,") else
             b"bits,%d" % bits if line.startswith(b"bits,") else line for line in text.split(b"\n")]
    front = lines[:lines.index(b"at,base64") + 1]
    return sealed(b"\n".join(front) + b"\n")


HOSTILE = {
    "a_terabyte_in_some_lines": ("bytes of cells", lambda t: huge(t["one.csv"], 1 << 40, 1 << 43)),
    "half_a_gigabyte_in_some_lines": ("nearly empty|no memory|quarter",
                                      lambda t: huge(t["one.csv"], 1 << 29, 1 << 32)),
    "more_cells_than_the_plan_has": ("cells", lambda t: sealed(t["one.csv"].replace(b"\ncells,", b"\ncells,1"))),
    "no_cells_at_all": ("cells", lambda t: sealed(t["one.csv"].replace(b"\ncells,", b"\nsells,"))),
    "a_row_twice": ("not above", lambda t: sealed(t["one.csv"] + t["one.csv"].split(b"\n")[-2] + b"\n")),
    "cut_short": ("cut short", lambda t: t["one.csv"][:-300]),
    "a_flipped_bit": ("line", lambda t: t["one.csv"][:5000] + bytes([t["one.csv"][5000] ^ 1]) +
                      t["one.csv"][5001:]),
    "a_line_without_end": ("line", lambda t: t["one.csv"].split(b"kind,")[0] + b"x" * 3000000),
    "a_plan_without_end": ("plan|line", lambda t: sealed(t["one.csv"].split(b"kind,")[0] +
                                                         b"title,x\n" * 400000)),
    "a_kind_that_there_is_not": ("kind", lambda t: sealed(t["one.csv"].replace(b"kind,blocked", b"kind,nothing"))),
    "another_version": ("version", lambda t: t["one.csv"].replace(b"seen,1\n", b"seen,77\n", 1)
                        if t["one.csv"].startswith(b"seen,1\n") else b"seen,77\n" + t["one.csv"][7:]),
    "orestes_of_four_billion_bits": ("nearly empty|no memory|quarter",
                                     lambda t: b'{"m":4294967296,"h":3,"b":"AAAA"}'),
    "orestes_of_more_bits": ("has|bits", lambda t: b'{"m":99999999999999,"h":3,"b":"AAAA"}'),
    "orestes_that_costs_much": ("probes", lambda t: b'{"m":4096,"h":100000,"b":"AAAA"}'),
    "orestes_cut_short": ("cut short", lambda t: t["one.json"][:-200]),
    "orestes_nested": ("nested", lambda t: b'{"m":1000,"h":3,"x":' + b"[" * 100000),
    "orestes_longer_than_it_says": ("longer", lambda t: b'{"m":8,"h":3,"b":"%s"}' %
                                    base64.b64encode(bytes(9000))),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_text_is_refused_and_the_old_file_stays(web, texts, folder, case):
    reason, make = HOSTILE[case]
    web.serve("/x.csv", texts["one.csv"])
    web.serve("/good.csv", texts["one.csv"])
    where = announce(web, url(web("/x.csv")), url(web("/good.csv")))
    folder.harvest(where)
    web.serve("/x.csv", make(texts))
    web.serve("/good.csv", texts["two.csv"])
    folder.harvest(where, code=2)
    assert folder.files() == {"x.seen": texts["one.seen"], "good.seen": texts["two.seen"]}
    assert folder.own() <= {"x.seen.json", "good.seen.json", "x.seen.part"}
    assert re.search("x.csv: refused: .*(%s)" % reason, folder.err), folder.err
