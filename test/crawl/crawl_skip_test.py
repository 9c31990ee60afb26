"""What an archive holds is not fetched; what it does not answer for is."""
import os
import socket
import sys
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "../serve")]
from crawling import Answer, Crawl, Site, page  # noqa: E402
from serving import Server, build               # noqa: E402

PATHS = ["/%d" % i for i in range(60)]


def site():
    pages = {path: page("/", text="x" * 500) for path in PATHS}
    pages["/"] = page(*PATHS)
    return Site(pages)


def held(one):
    """An archive with every third page, and with the start URL."""
    return [one.url("/")] + [one.url(path) for path in PATHS[::3]]


def check(crawl, one):
    left = [path for path in PATHS if path not in PATHS[::3]]
    assert one.paths() == sorted(["/"] + left)
    report = crawl.report()
    assert report["skipped"] == 20 and report["unasked"] == 0 and report["covered"]
    # What 20 pages of the mean size would have cost.
    mean = sum(len(one.pages[path]) for path in ["/"] + left) / 41
    assert abs(report["skipped_bytes"] - 20 * mean) <= 20


@pytest.mark.parametrize("options", [(), ("--profile", "whatwg"), ("--kind", "bloom:md5"), ("--kind", "counting:4")])
def test_a_file_is_asked(tmp_path, options):
    with site() as one:
        build(tmp_path / "a.seen", held(one), *options)
        crawl = Crawl(tmp_path / "c", one.url("/")).run("--skip", tmp_path / "a.seen")
        check(crawl, one)
        assert "held by --skip, about" in crawl.done.stdout.decode()
        assert "may hold it" in crawl.why(one.url("/3")) and "a.seen" in crawl.why(one.url("/3"))
        assert "fetched on" in crawl.why(one.url("/4"))


def test_a_server_is_asked_in_batches(tmp_path):
    with site() as one:
        build(tmp_path / "a.seen", held(one))
        build(tmp_path / "b.seen", [one.url("/0")])
        with Server(tmp_path, "a=a.seen", "b=b.seen", "--log", "log") as server:
            name = "http://127.0.0.1:%d/" % server.port
            crawl = Crawl(tmp_path / "c", one.url("/")).run("--skip", name + "b", "--skip", name + "a")
            check(crawl, one)
            assert "may hold it" in crawl.why(one.url("/3")) and name + "a" in crawl.why(one.url("/3"))
        asked = [line for line in open(tmp_path / "log") if "POST /a" in line]
        assert 1 <= len(asked) <= 12


def other_answers():
    def late(handler):
        time.sleep(0.2)
        handler.connection.shutdown(socket.SHUT_RDWR)
        return True
    return {"not found": Answer("no", 404), "page": Answer("<html>welcome"), "error": Answer("no", 503),
            "moved": Answer("", 302, Location="/b"), "short": Answer("seen\thttp://a.example/\n"),
            "all": lambda handler: Answer(b"".join(b"seen\t" + line[:-2] + b"\n" for line in handler.body)),
            "late": late}


@pytest.mark.parametrize("how", sorted(other_answers()))
def test_pages_are_fetched_if_a_server_does_not_answer(tmp_path, how):
    with site() as one, Site({"/a": other_answers()[how]}) as archive:
        crawl = Crawl(tmp_path / "c", one.url("/")).run("--skip", archive.url("/a"))
        assert one.paths() == sorted(["/"] + PATHS)
        report = crawl.report()
        assert report["skipped"] == 0 and report["unasked"] == 60
        assert crawl.err.count("pages are fetched until it answers") == 1
        assert "--skip did not answer for 60 pages" in crawl.done.stdout.decode()


def test_a_server_that_hangs_holds_up_no_requests(tmp_path):
    with site() as one, socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        Crawl(tmp_path / "c", one.url("/")).run(
            "--timeout", "2s", "--skip", "http://127.0.0.1:%d/a" % silent.getsockname()[1])
        assert 1.9 < time.monotonic() - began < 100
        assert one.paths() == sorted(["/"] + PATHS)


@pytest.mark.parametrize("name, words", [
    ("http://127.0.0.1:1", "not of the form http://HOST/NAME"),
    ("http://127.0.0.1:1/a/", "not of the form http://HOST/NAME"),
    ("missing.seen", "--skip missing.seen"),
])
def test_mistakes_are_refused(tmp_path, name, words):
    assert words in Crawl(tmp_path / "c", "http://127.0.0.1:1/").run("--skip", name, codes=(2,)).err
