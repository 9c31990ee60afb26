"""seen.open("https://..."): a filter that is asked where it is, from Python."""
import os
import sys
import threading

import pytest

for beside in "../harvest", "../serve":
    sys.path.append(os.path.join(os.path.dirname(__file__), beside))
sys.path.insert(0, os.path.join(os.environ.get("SEEN_BUILD", "build"), "python"))
from hostile import Web, redirect, status, stream  # noqa: E402
from serving import build  # noqa: E402

seen = pytest.importorskip("seen", reason="the Python package was not built")

HAS = ["http://has.example/%d" % i for i in range(300)]
NOT = ["http://not.example/%d" % i for i in range(300)]
FIRST, BLOCK = 128 << 10, 64 << 10


@pytest.fixture(scope="module")
def filters(tmp_path_factory):
    where, made = tmp_path_factory.mktemp("filters"), {}
    for name, kind, urls in (("blocked", "blocked", HAS), ("later", "blocked", HAS + NOT),
                             ("bloom", "bloom", HAS)):
        path = where / (name + ".seen")
        build(path, urls, "--kind", kind, "--capacity", "1000000")
        made[name] = path.read_bytes()
    return made


@pytest.fixture
def web():
    with Web() as web:
        yield web


def ask(url):
    return seen.open(url, private=True)


def asked(web):
    """How many bytes each request was for."""
    found = []
    for talk in web.log:
        first, last = map(int, talk.headers["range"][6:].split("-"))
        found.append(last + 1 - first)
    return found


def test_urls_are_asked_by_parts(web, filters):
    with ask(web.serve("/a.seen", filters["blocked"])) as f:
        assert f.path == web("/a.seen") and not f.writable
        assert f.info.capacity == 1000000
        assert asked(web) == [FIRST]
        assert HAS[0] in f
        assert asked(web) == [FIRST, BLOCK]
        assert web.log[1].headers["if-range"]
        assert f.has_many(HAS + NOT) == [True] * 300 + [False] * 300
        assert sum(asked(web)) < 2 * len(filters["blocked"])


def test_threads_share_it(web, filters):
    failed = []

    def go(f, from_):
        try:
            for u in HAS[from_::4]:
                assert u in f
        except Exception as e:      # noqa: B902
            failed.append(e)

    with ask(web.serve("/a.seen", filters["bloom"])) as f:
        threads = [threading.Thread(target=go, args=(f, i)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(100)
    assert not failed


def test_it_can_be_saved(web, filters, tmp_path):
    with ask(web.serve("/a.seen", filters["blocked"])) as f:
        f.save(tmp_path / "copy.seen")
    assert (tmp_path / "copy.seen").read_bytes() == filters["blocked"]


def test_a_file_that_is_replaced_is_not_answered_from(web, filters):
    with ask(web.serve("/a.seen", filters["blocked"])) as f:
        web.serve("/a.seen", filters["later"])
        with pytest.raises(seen.Mismatch, match="was replaced"):
            f.has_many(HAS)
    with ask(web("/a.seen")) as f:
        assert f.has_many(NOT) == [True] * 300


def test_a_server_without_ranges_sends_all_of_it_once(web, filters):
    web["/a.seen"] = lambda talk: talk.answer(filters["blocked"])
    with ask(web("/a.seen")) as f:
        assert f.has_many(HAS + NOT) == [True] * 300 + [False] * 300
    assert len(web.log) == 1


def cut(body, at):
    def answer(talk):
        first, last = map(int, talk.headers["range"][6:].split("-"))
        talk.head(206, Content_Range="bytes %d-%d/%d" % (first, last, len(body)),
                  Content_Length=last + 1 - first)
        talk.send(body[first:last + 1][:at])
    return answer


def lying(body):
    def answer(talk):
        first, last = map(int, talk.headers["range"][6:].split("-"))
        talk.head(206, Content_Range="bytes %d-%d/%d" % (first, last, len(body)),
                  Content_Length=last + 1 - first, ETag='"1"')
        talk.send(bytes(last + 1 - first) if first else body[:last + 1])
    return answer


@pytest.mark.parametrize("what, error, words", [
    ("gone", FileNotFoundError, "is not there"),
    ("forbidden", OSError, "403"),
    ("gzip", seen.Corrupt, "Content-Encoding"),
    ("cut", (seen.Corrupt, OSError), ""),
    ("noise", seen.Corrupt, "not a seen filter"),
    ("another protocol", seen.RangeError, "plain http"),
    ("a circle", seen.RangeError, "redirects"),
    ("too long", seen.RangeError, "too long"),
])
def test_what_is_wrong_is_an_exception(web, filters, what, error, words):
    web["/a.seen"] = {
        "gone": status(404), "forbidden": status(403),
        "gzip": lambda talk: talk.answer(filters["blocked"], Content_Encoding="gzip"),
        "cut": cut(filters["blocked"], 1000),
        "noise": stream(b"x" * 65536, b"x", Content_Length=1 << 20),
        "another protocol": redirect("file:///etc/passwd"),
        "a circle": redirect("/a.seen"),
        "too long": lambda talk: talk.head(200, Content_Length=3 << 30),
    }[what]
    with pytest.raises(error, match=words):
        ask(web("/a.seen"))


def test_a_lie_is_no_answer(web, filters):
    web["/a.seen"] = lying(filters["later"])
    with ask(web("/a.seen")) as f:
        with pytest.raises(seen.Corrupt, match="checksum differs in block"):
            f.has_many(HAS)


def test_private_addresses_need_leave(web, filters):
    with pytest.raises(seen.RangeError, match="not a public address"):
        seen.open(web.serve("/a.seen", filters["blocked"]))
    assert not web.log


def test_it_can_only_be_asked(web):
    for how in {"write": True}, {"load": True}, {"write": True, "create": True}:
        with pytest.raises(ValueError, match="can only be asked"):
            seen.open(web("/a.seen"), **how)


def test_what_a_reader_raises_arrives_as_it_is():
    class Reader:
        def read(self, ranges):
            raise KeyboardInterrupt("now")

    with pytest.raises(KeyboardInterrupt, match="now"):
        seen.Filter._ask(Reader(), "x", None, None)

    class Liar:
        def __init__(self, answer):
            self.answer = answer

        def read(self, ranges):
            return self.answer

    for answer in None, (), ([], 5), ([b"x" * (1 << 20)], 1 << 20), (["x"], 1), ([b""], 0):
        with pytest.raises((TypeError, ValueError, IndexError, seen.Error)):
            seen.Filter._ask(Liar(answer), "x", None, None)
