"""What people get wrong is said with its name and with help, and costs nothing."""
import os
import subprocess

import pytest

from crawling import SEEN, Crawl, Site, page


def crawl(folder, *words):
    done = subprocess.run([SEEN, "crawl", "--into", str(folder), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300)
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("words, message", [
    ([], "a new crawl needs start URLs, --input or --template"),
    (["a.example/x"], "a.example/x: a URL needs a scheme; did you mean https://a.example/x?"),
    (["/etc/passwd"], "/etc/passwd: a URL needs a scheme"),
    (["file:///etc/passwd"], "file:///etc/passwd: not an http or https URL"),
    (["--template", "none.json"], "none.json: cannot be opened: No such file or directory\n"),
    (["--input", "none.txt"], "none.txt: cannot be opened: No such file or directory\n"),
    (["http://a.example/", "--include", "("], "--include (: "),
    (["http://a.example/", "--delay", "soon"], "--delay soon: a time of at most an hour"),
])
def test_a_mistake_is_named_and_leaves_no_folder(tmp_path, words, message):
    code, err = crawl(tmp_path / "c", *words)
    assert code == 2 and message in err
    assert not os.path.exists(tmp_path / "c")


def test_a_bad_line_of_a_list_is_named(tmp_path):
    (tmp_path / "list").write_text("# seeds\nhttp://a.example/\nno URL\n")
    done = subprocess.run([SEEN, "crawl", "--into", "c", "--urls", "list"], cwd=tmp_path,
                          stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"seen: c: list: line 3: a URL needs a scheme" in done.stderr


def test_a_mistake_does_not_touch_a_crawl_that_has_begun(tmp_path):
    with Site({"/": page()}) as site:
        done = Crawl(tmp_path / "c", site.url("/")).run()
        code, err = crawl(tmp_path / "c", "nowhere")
        assert code == 2 and "did you mean https://nowhere?" in err
        assert done.report()["pages"] == 1


def test_the_same_command_asks_hosts_again_that_were_given_up(tmp_path):
    with Site({"/": page("/a"), "/a": page()}) as site:
        code, _ = crawl(tmp_path / "c", site.url("/"), "--delay", "0", "--capacity", "1000")
        report = Crawl(tmp_path / "c").report()
        assert code == 0 and report["left"] == 1 and report["visit"]["ended"]
        assert [one["host"] for one in report["hosts"] if "see --allow-private" in one.get("stopped", "")] == [site.url("")]
        done = Crawl(tmp_path / "c", site.url("/")).run()
        assert site.paths() == ["/", "/a"]
        assert done.report()["covered"] and done.report()["visit"]["number"] == 1


def test_a_budget_of_pages_is_exact(tmp_path):
    pages = {"/": page(*("/%d" % i for i in range(30)))}
    pages.update({"/%d" % i: page() for i in range(30)})
    with Site(pages) as site:
        crawl = Crawl(tmp_path / "c", site.url("/"))
        for budget in (1, 2, 9):
            assert crawl.run("--pages", budget).report()["pages"] == budget
        assert len(site.paths()) == 9
        assert crawl.run("--pages", 100).report()["pages"] == 31


def test_start_urls_that_are_given_later_are_fetched(tmp_path):
    with Site({"/": page(), "/b": page("/c"), "/c": page()}) as site:
        Crawl(tmp_path / "c", site.url("/")).run()
        assert site.paths() == ["/"]
        done = Crawl(tmp_path / "c", site.url("/b"), site.url("/")).run()
        assert site.paths() == ["/", "/b", "/c"]
        assert done.report()["covered"] and done.report()["visit"]["number"] == 1


def test_a_revisit_that_comes_too_early_says_so(tmp_path):
    with Site({"/": page("/a", "/b"), "/a": page(), "/b": page()}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run()
        assert crawl.report()["not_due"] == 0
        site.log.clear()
        crawl.run("--revisit")
        assert crawl.done.stdout.startswith(b"nothing is due before ") and b"; no visit began" in crawl.done.stdout
        assert not site.log and crawl.report()["visit"]["number"] == 1 and crawl.err == ""
        assert crawl.why(site.url("/a")).split("; ")[1].startswith("not due before ")
        # A start URL that is new is something to do; known start URLs come with it.
        site.pages["/new"] = page("/a")
        again = Crawl(tmp_path / "c", site.url("/new")).run("--revisit")
        assert site.paths() == ["/", "/new"] and again.report()["not_due"] == 2
        assert b"not due       2 pages of earlier visits; the next one in 2" in again.done.stdout


def test_why_names_what_is_never_fetched(tmp_path):
    with Site({"/": page()}) as site:
        crawl = Crawl(tmp_path / "c", site.url("/")).run()
        assert crawl.why("ftp://127.0.0.1/") == "not fetched: not an http or https URL"
