"""remote_spatial_test.py - one filter whose parts are on several servers, and
one filter per visit: the spatial and the temporal strategy."""
import json
import signal
import subprocess

import pytest

from redis_server import Redis, SEEN, freeze, listed, run, start

ALL = 20000


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    with Redis(tmp_path_factory.mktemp("a")) as a, Redis(tmp_path_factory.mktemp("b"), password="s3cret") as b:
        yield a, b


@pytest.fixture(scope="module")
def urls(tmp_path_factory):
    folder = tmp_path_factory.mktemp("urls")
    listed(folder / "old", 0, ALL)
    listed(folder / "new", ALL, ALL + 5000)
    run("build", "-o", folder / "old.seen", "--kind", "spatial:2/blocked", "--rate", "1e-4", "--capacity", ALL + 6000,
        "--meta", "title=Crawl", folder / "old")
    return folder


def parts(servers, name, more=""):
    return [s.url(name, more, user=":s3cret@" if s.password else "") for s in servers]


def spatial(servers, name, more=""):
    return "spatial:" + ",".join(parts(servers, name, more))


def test_commands_take_an_address_of_two_parts(servers, urls, tmp_path):
    url, file = spatial(servers, "haw"), tmp_path / "old.seen"
    file.write_bytes((urls / "old.seen").read_bytes())
    run("convert", file, "-o", url)
    told, kept = (json.loads(run("info", "--json", at).stdout) for at in (url, file))
    for it in "kind", "profile", "capacity", "entries", "bytes", "bits", "set", "rate", "offered":
        assert told[it] == pytest.approx(kept[it]) if isinstance(kept[it], float) else told[it] == kept[it], it
    assert len(told["parts"]) == 2
    for at, code in ("old", 0), ("new", 1):
        assert run("check", url, "-i", urls / at, code=code).stdout == run("check", file, "-i", urls / at, code=code).stdout
    ours, theirs = (json.loads(run("add", "--json", at, *more, "-i", urls / "new").stdout)
                    for at, more in ((url, ()), (file, ("--sync", "no"))))
    # A batch may make a key of it a false positive of one part: see remote/spatial.c.
    assert theirs["new"] - 5 <= ours["new"] <= theirs["new"]
    assert ours["rate"] == pytest.approx(theirs["rate"])
    # The order of the parts does not matter.
    assert " 0 new, 5,000 seen" in run("add", "spatial:" + ",".join(reversed(parts(servers, "haw"))), "-i", urls / "new").stdout
    assert "http://y.example/\n" == run("dedup", "--filter", url, stdin="http://y.example/\nhttp://y.example/\n").stdout
    # A part is a filter of its own, with the metadata of the whole.
    one = parts(servers, "haw")[1]
    assert "Crawl" in run("info", one).stdout
    assert run("check", "--count", one, "-i", urls / "old").stdout == "new\t0\nseen\t%d\n" % ALL
    run("convert", one, "-o", tmp_path / "part.seen")


def test_filters_that_are_not_parts_of_one_are_refused(servers, urls, tmp_path):
    one = parts(servers, "other")
    assert "take spatial:2/blocked" in run("build", "-o", spatial(servers, "other"), "--capacity", "1000", urls / "old",
                                           code=2).stderr
    assert "take spatial:2/blocked" in run("build", "-o", spatial(servers, "other"), "--kind", "spatial:3/blocked",
                                           "--capacity", "1000", urls / "old", code=2).stderr
    for at in one:
        run("build", "-o", at, "--capacity", "1000", "--allow-empty", "/dev/null")
    it = run("check", spatial(servers, "other"), "http://a/", code=2).stderr
    assert "have seed" in it and "s3cret" not in it
    run("build", "-o", one[1], "--capacity", "1000", "--seed", "7", "--profile", "whatwg", "--allow-empty", "/dev/null")
    assert "profiles" in run("check", spatial(servers, "other"), "http://a/", code=2).stderr
    run("build", "-o", one[1], "--capacity", "2000", "--seed", "7", "--allow-empty", "/dev/null")
    assert "not of one filter" in run("check", spatial(servers, "other"), "http://a/", code=2).stderr
    assert "two addresses" in run("check", "spatial:" + one[0], "http://a/", code=2).stderr
    for words in ("convert", spatial(servers, "other"), "-o", "/dev/null", "--to", "text"), \
            ("merge", "-o", tmp_path / "x.seen", spatial(servers, "other")):
        assert "filters of their own" in run(*words, code=2).stderr


def test_of_many_processes_at_most_one_gets_new(servers, urls, tmp_path):
    """Also if some name the parts in another order."""
    url, n = spatial(servers, "race"), 4000
    run("build", "-o", url, "--kind", "spatial:2/blocked", "--rate", "1e-5", "--capacity", "500k", "--allow-empty", "/dev/null")
    turned = "spatial:" + ",".join(reversed(parts(servers, "race")))
    many = listed(tmp_path / "many", 0, n)
    adders = [start("add", "--ack", "--json", (url, turned)[i % 2], "-i", many, stdout=open(tmp_path / str(i), "w"))
              for i in range(8)]
    new = []
    for i, it in enumerate(adders):
        assert it.wait(60) == 0, it.stderr.read()
        new += [json.loads(line)["url"] for line in (tmp_path / str(i)).read_text().splitlines() if '"new": true' in line]
    assert len(new) == len(set(new))
    assert len(new) >= n - 1  # at 0.8 % of the capacity nothing is a false positive of a part
    assert run("check", "--count", url, "-i", many).stdout == "new\t0\nseen\t%d\n" % n


def test_a_dead_part_is_an_error_and_never_new(urls, tmp_path):
    with Redis(tmp_path / "a") as a, Redis(tmp_path / "b") as b:
        url = spatial((a, b), "haw", "?timeout=3")
        hasty = "spatial:%s,%s" % (a.url("haw", "?timeout=20"), b.url("haw", "?timeout=0.5"))
        run("convert", urls / "old.seen", "-o", url)
        it = subprocess.Popen([SEEN, "add", "--ack", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, bufsize=1)
        it.stdin.write("http://first.example/\n")
        assert it.stdout.readline() == "http://first.example/\n"
        freeze(b.process.pid)
        it.stdin.write("http://second.example/\n")
        it.stdin.close()
        assert it.wait(30) == 2 and it.stdout.read() == "" and "in time" in it.stderr.read()
        for words in ("check", hasty, "-i", urls / "old"), ("add", hasty, "http://a.example/"), ("info", hasty):
            it = run(*words, code=2)
            assert it.stdout == "" and "part 1: " in it.stderr and it.stderr.count("timed out") == 1, it.stderr
        b.process.send_signal(signal.SIGCONT)
        assert run("check", "--count", url, "-i", urls / "old").stdout == "new\t0\nseen\t%d\n" % ALL
        a.stop()
        for words in ("check", url, "-i", urls / "old"), ("add", url, "http://a.example/"):
            it = run(*words, code=2)
            assert it.stdout == "" and "part 0: " in it.stderr and "refused" in it.stderr


def test_a_filter_per_visit_errs_on_other_urls(servers, urls, tmp_path):
    """The temporal strategy: a name and a seed per visit."""
    wrong = []
    for visit in "2026-10-18", "2026-11-18":
        url = servers[0].url("haw-" + visit)
        run("build", "-o", url, "--seed", visit.replace("-", ""), "--rate", "0.01", "--capacity", ALL, urls / "old")
        said = run("check", "--only", "seen", url, "-i", urls / "new", code=None).stdout
        wrong.append(set(said.splitlines()))
        assert 0 < len(wrong[-1]) < 150  # 50 of 5000 are expected
    assert len(wrong[0] & wrong[1]) < 10  # 0.5 are expected
