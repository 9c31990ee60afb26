"""troubles_test.py - servers that fail, are slow, move, or do harm without meaning it.

What harvest_test.py shows must also hold beside them: no other publisher waits
for them, nothing is lost, and a passing failure is tried again.
"""
import contextlib
import json
import os
import re
import resource
import subprocess
import sys
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "../serve")]
from harvest_test import Harvest, announce, complete_while_others_hang, content, filters, web  # noqa: E402, F401
from hostile import MAP, Web, digest, page, redirect, status, url, urlset  # noqa: E402
from serving import SANITIZED, SEEN, build  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port as closed_port  # noqa: E402


def lines(*urls):
    return page("".join(u + "\n" for u in urls).encode(), "text/plain")


def drip(data, pause, before=b"", **headers):
    """The same again and again, with a pause."""
    def answer(talk):
        talk.head(200, **headers)
        talk.send(before)
        while True:
            talk.send(data)
            time.sleep(pause)
    return answer


# --- tried again, and not for ever -------------------------------------------

def test_a_server_that_cuts_every_answer_and_knows_no_ranges_is_asked_three_times(web, tmp_path):
    body = bytes(3 << 20)

    def cut(talk):
        talk.head(200, Content_Length=len(body))
        talk.send(body[:1300000])
    web["/x.seen"] = cut
    web["/sitemap.xml"] = page(urlset(url(web("/x.seen"), hash=digest(body), length=len(body))))
    assert "cut short" in Harvest(tmp_path, web("/sitemap.xml"), code=2).err
    assert len(web.asked("/x.seen")) == 3


def test_one_connection_that_fails_does_not_hide_a_site(web, filters, tmp_path):
    """Of its first step; nor does a redirect to a forbidden address."""
    times = []

    def once(talk):
        times.append(1)
        if len(times) > 1:
            talk.answer(b"", 404)
    web["/f/.well-known/resourcesync"] = once
    announce(web, filters, ("a", 1), path="/f/sitemap.xml")
    assert Harvest(tmp_path / "1", web("/f/")).out == "a.seen: new, 70 kB\n"
    assert len(times) == 2
    for to in ("http://127.0.0.1:%d/" % closed_port(), "http://10.255.255.1/"):
        web["/f/.well-known/resourcesync"] = redirect(to)
        done = subprocess.run([SEEN, "harvest", web("/f/"), "--into", tmp_path / to[-6:-1].strip("/"),
                               "--timeout", "1s", "--allow", "127.0.0.1:%d" % web.port],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        assert done.stdout == b"a.seen: new, 70 kB\n", done.stderr


def test_a_list_that_was_cut_is_read_again(web, filters, tmp_path):
    where, times = announce(web, filters, ("a", 1)), []
    whole = web.pages["/sitemap.xml"]

    def cut(talk):
        times.append(1)
        if len(times) > 2:
            return whole(talk)
        talk.head(200, Content_Length=5000)
        talk.send(b"<urlset %s>" % MAP.encode())
    web["/sitemap.xml"] = cut
    assert Harvest(tmp_path, where).out == "a.seen: new, 70 kB\n"
    assert len(times) == 3


def test_a_list_that_is_wrong_is_not_read_again(web, tmp_path):
    web["/sitemap.xml"] = page(b"<urlset><url></urlset>", "application/xml")
    Harvest(tmp_path, web("/sitemap.xml"), code=2)
    assert len(web.asked("/sitemap.xml")) == 1


def test_retry_after_is_obeyed(web, filters, tmp_path):
    where, times = announce(web, filters, ("a", 1)), {"/sitemap.xml": [], "/a.seen": []}
    pages = dict(web.pages)

    def later(talk):
        times[talk.path].append(time.monotonic())
        if len(times[talk.path]) > 1:
            return pages[talk.path](talk)
        talk.answer(b"", 503, Retry_After="1")
    for path in times:
        web[path] = later
    Harvest(tmp_path, where)
    for first, second in times.values():
        assert second - first > 0.95
    web["/sitemap.xml"] = status(429, Retry_After="3600")
    web.log.clear()
    assert "too many requests" in Harvest(tmp_path, where, code=2).err
    assert len(web.log) == 1


def in_pieces(body, first, most):
    """A server that never sends more than so much of a range."""
    def answer(talk):
        asked = re.match(r"bytes=(\d+)-", talk.headers.get("range", ""))
        if not asked:
            talk.head(200, Content_Length=len(body), ETag='"x"')
            talk.send(body[:first])
            return
        at = int(asked.group(1))
        piece = body[at:at + most]
        talk.head(206, Content_Length=len(piece), ETag='"x"',
                  Content_Range="bytes %d-%d/%d" % (at, at + len(piece) - 1, len(body)))
        talk.send(piece)
    return answer


@pytest.mark.parametrize("told", [True, False])
def test_of_a_part_that_is_shorter_than_asked_for_the_rest_is_asked_for(web, tmp_path, told):
    source = tmp_path / "f.seen"
    build(source, ["http://a.example/"], "--capacity", "300000")
    body = source.read_bytes()
    web["/x.seen"] = in_pieces(body, 100000, 100000)
    values = {"hash": digest(body), "length": len(body)} if told else {}
    web["/sitemap.xml"] = page(urlset(url(web("/x.seen"), **values)))
    Harvest(tmp_path / "in", web("/sitemap.xml"))
    assert content(tmp_path / "in") == {"x.seen": body}
    assert len(web.asked("/x.seen")) == -(-len(body) // 100000)
    web["/x.seen"] = in_pieces(body, 10, 10)        # a lifetime of requests
    web.log.clear()
    Harvest(tmp_path / "on", web("/sitemap.xml"), code=2)
    assert len(web.asked("/x.seen")) < 10


# --- nobody waits ------------------------------------------------------------

def test_slow_lists_keep_the_filters_of_others_waiting_for_a_while_only(web, filters, tmp_path):
    """With --timeout 1s: 20 s for the lists of one publisher."""
    good = announce(web, filters, ("a", 1))
    with Web("127.0.0.3") as slow, Web("127.0.0.4") as many:
        begun = b"<urlset %s>" % MAP.encode()
        slow["/sitemap.xml"] = drip(b" " * 200, 0.1, begun, Content_Length=50 << 20)

        def steady(talk):
            talk.head(200)
            talk.send(begun)
            for _ in range(50):
                talk.send(b" " * 200)
                time.sleep(0.1)
            talk.send(b"</urlset>")
        for i in range(20):
            many["/%d.xml" % i] = steady
        many["/sitemap.xml"] = page(("<sitemapindex %s>%s</sitemapindex>" % (MAP, "".join(
            "<sitemap><loc>%s</loc></sitemap>" % many("/%d.xml" % i) for i in range(20)))).encode())
        web["/r.txt"] = lines(slow("/sitemap.xml"), many("/sitemap.xml"), good)
        run = Harvest(tmp_path, web("/r.txt"), code=2, timeout="1s")    # it ends
        assert "took longer than 20 seconds" in run.err
        assert "requests for this publisher took longer than 20 seconds" in run.err
        assert content(tmp_path) == {"a.seen": filters["a", 1]}


def test_a_server_that_becomes_slow_is_given_up_and_the_part_is_kept(web, tmp_path):
    web["/x.seen"] = drip(b"x" * 20, 0.05, bytes(200000), Content_Length=1 << 20, ETag='"x"')
    web["/sitemap.xml"] = page(urlset(url(web("/x.seen"), hash=digest(b"x"), length=1 << 20)))
    run = Harvest(tmp_path, web("/sitemap.xml"), code=2, timeout="1s")        # it ends
    assert "comes too slowly" in run.err
    assert len(web.asked("/x.seen")) == 1
    assert (tmp_path / ".harvest/x.seen.part").stat().st_size > 200000


def test_in_one_list_a_host_that_hangs_keeps_the_others_not_waiting(web, filters, tmp_path):
    with Web("127.0.0.3") as other:
        hanging = [url(other("/%d.seen" % i)) for i in range(8)]
        for i in range(8):
            other["/%d.seen" % i] = lambda talk: time.sleep(120)
        for i in range(8):
            web.serve("/g%d.seen" % i, filters["a", 1])
        web["/sitemap.xml"] = page(urlset(*hanging, *(url(web("/g%d.seen" % i)) for i in range(8))))
        complete_while_others_hang(tmp_path, 8, web("/sitemap.xml"))


@pytest.mark.skipif(SANITIZED, reason="takes memory of its own")
def test_names_are_looked_up_in_little_memory(web, tmp_path):
    """A thread with the usual stack of 8 MB could not be started."""
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (8 << 20, 8 << 20))
    done = subprocess.run([SEEN, "harvest", "http://nowhere.invalid/x.seen", "--into", tmp_path,
                           "--timeout", "1s"], stderr=subprocess.PIPE, preexec_fn=limit, timeout=30)
    assert done.returncode == 2
    assert b"refused" in done.stderr and b"no memory" not in done.stderr


def test_a_publisher_with_many_hosts_that_hang_keeps_no_other_waiting(web, filters, tmp_path):
    with contextlib.ExitStack() as stack:
        hosts = [stack.enter_context(Web("127.0.0.%d" % i)) for i in range(3, 15)]
        for host in hosts:
            host["/x.seen"] = lambda talk: time.sleep(120)
        hosts[0]["/sitemap.xml"] = page(urlset(*(url(host("/x.seen")) for host in hosts)))
        for i in range(12):
            filters["g%d" % i, 1] = filters["a", 1]
        good = announce(web, filters, *(("g%d" % i, 1) for i in range(12)))
        complete_while_others_hang(tmp_path, 12, hosts[0]("/sitemap.xml"), good, "--names", "host")


def test_a_host_that_is_dead_is_not_asked_for_everything_that_others_name_on_it(web, filters, tmp_path):
    dead, good = "http://127.0.0.1:%d/" % closed_port(), announce(web, filters, ("a", 1))
    for member in range(3):
        web["/%d.xml" % member] = page(urlset(*(
            url(dead + "%d-%d.seen" % (member, i)) for i in range(20))))
    web["/r.txt"] = lines(*(web("/%d.xml" % member) for member in range(3)), good,
                          *(dead + "r%d.seen" % i for i in range(20)))
    run = Harvest(tmp_path, web("/r.txt"), code=2)
    assert run.out == "a.seen: new, 70 kB\n"
    assert run.err.count("no connection") <= 6
    assert run.err.count("requests in a row to its host") >= 74


def test_what_one_names_on_a_host_that_works_does_not_make_it_dead_for_others(web, filters, tmp_path):
    with Web("127.0.0.3") as evil:
        for i in range(20):
            web["/trouble%d.seen" % i] = status(500)
        evil["/sitemap.xml"] = page(urlset(*(url(web("/trouble%d.seen" % i)) for i in range(20))))
        run = Harvest(tmp_path, evil("/sitemap.xml"), announce(web, filters, ("a", 1), ("b", 1)), code=2)
        assert sorted(content(tmp_path)) == ["a.seen", "b.seen"]
        assert run.err.count("500") <= 5


# --- registries --------------------------------------------------------------

def test_long_registries_take_little_time(web, tmp_path):
    first = "http://127.0.0.1:1/a.seen"
    web["/r.txt"] = lines(first, *("http://127.0.0.1:1/%d.seen" % i for i in range(20000)),
                          *[first] * 100000)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    Harvest(tmp_path, web("/r.txt"), "--dry-run", "--quiet")
    if not SANITIZED:
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 5


def test_what_one_member_names_does_not_use_up_what_there_is_for_others(web, filters, tmp_path):
    with Web("127.0.0.3") as evil:
        evil["/evil"] = lines(*("http://127.0.0.1:1/%s%06d.seen" % ("x" * 90, i) for i in range(100000)))
        evil["/sites"] = lines(*("http://127.0.0.1:1/%d/" % i for i in range(3000)))
        web["/r.txt"] = lines(evil("/evil"), evil("/sites"), web("/f/"))
        announce(web, filters, ("a", 1), ("b", 1), path="/f/sitemap.xml")
        run = Harvest(tmp_path, web("/r.txt"), "--dry-run", code=2)
        assert "/evil: announces more than fits into memory" in run.err
        assert "/sites: leads to more than 500 lists" in run.err
        assert "\na.seen: would be new" in run.out and "\nb.seen: would be new" in run.out


def test_a_site_that_is_named_twice_is_looked_at_once(web, filters, tmp_path):
    announce(web, filters, ("a", 1), path="/f/sitemap.xml")
    web["/more.txt"] = lines(web("/f/"))
    web["/r.txt"] = lines(web("/f/"), web("/more.txt"), web("/f/"))
    assert Harvest(tmp_path, web("/r.txt"), web("/f/")).out == "a.seen: new, 70 kB\n"
    assert len(web.asked("/f/sitemap.xml")) == 1


def test_a_list_that_failed_for_another_source_withdraws_nothing(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    web["/r.txt"] = lines(where)
    Harvest(tmp_path, where)
    web["/sitemap.xml"] = status(500)
    for order in ((where, web("/r.txt")), (web("/r.txt"), where)):
        run = Harvest(tmp_path, *order, "--remove-withdrawn", code=2)
        assert run.out == "" and "a.seen" in content(tmp_path)


def test_of_two_other_hosts_that_contradict_each_other_neither_counts(web, filters, tmp_path):
    """Its server is asked instead; it announces nothing itself."""
    web.serve("/a.seen", filters["a", 2])
    with Web("127.0.0.3") as one, Web("127.0.0.4") as two:
        for other, version in ((one, 1), (two, 2)):
            data = filters["a", version]
            other["/sitemap.xml"] = page(urlset(url(web("/a.seen"), hash=digest(data), length=len(data))))
        Harvest(tmp_path, one("/sitemap.xml"), two("/sitemap.xml"))
        assert content(tmp_path) == {"a.seen": filters["a", 2]}


def test_a_redirect_does_not_make_a_list_one_of_the_filters_host(web, filters, tmp_path):
    with Web("127.0.0.3") as evil:
        web["/go"] = redirect(evil("/sitemap.xml"))     # as open redirects do
        evil["/sitemap.xml"] = page(urlset(url(web("/a.seen"), hash=digest(b"no"), length=5)))
        Harvest(tmp_path, web("/go"), announce(web, filters, ("a", 1)))
        assert content(tmp_path) == {"a.seen": filters["a", 1]}


# --- names, and publishers that move -----------------------------------------

def test_folders_with_equal_names_need_their_paths(web, filters, tmp_path):
    for folder, version in (("a", 1), ("b", 2)):
        web.serve("/f/%s/x.seen" % folder, filters["a", version])
    web["/sitemap.xml"] = page(urlset(*(url(web("/f/%s/x.seen" % folder)) for folder in "ab")))
    run = Harvest(tmp_path / "1", web("/sitemap.xml"), code=2)
    assert "give --names path" in run.err
    Harvest(tmp_path / "2", web("/sitemap.xml"), "--names", "path")
    assert content(tmp_path / "2") == {"f.a.x.seen": filters["a", 1], "f.b.x.seen": filters["a", 2]}
    Harvest(tmp_path / "3", web("/sitemap.xml"), "--names", "url")
    assert sorted(content(tmp_path / "3")) == ["127.0.0.1-%d.f.%s.x.seen" % (web.port, folder)
                                               for folder in "ab"]
    assert "x is not one of the choices" in Harvest(tmp_path / "4", web("/"), "--names", "x", code=2).err


def test_a_publisher_that_moves_its_filters_is_followed(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    web.serve("/new/a.seen", filters["a", 1])
    Harvest(tmp_path, where)
    for version, said in ((1, "unchanged"), (2, "updated, 70 kB"), (2, "unchanged")):
        data = filters["a", version]
        web.serve("/new/a.seen", data)
        web["/sitemap.xml"] = page(urlset(url(web("/new/a.seen"), hash=digest(data))))
        assert Harvest(tmp_path, where, "--remove-withdrawn").out == "a.seen: %s\n" % said
    assert content(tmp_path) == {"a.seen": filters["a", 2]}
    assert json.loads((tmp_path / ".harvest/a.seen.json").read_text())["loc"] == web("/new/a.seen")


def test_a_publisher_that_moves_to_another_host_is_followed_if_the_registry_says_so(web, filters, tmp_path):
    with Web("127.0.0.3") as new:
        where, there = announce(web, filters, ("a", 1)), announce(new, filters, ("a", 2))
        web["/r.txt"] = lines(where)
        Harvest(tmp_path, web("/r.txt"))
        web["/r.txt"] = lines(where, there)             # somebody else
        assert "is from" in Harvest(tmp_path, web("/r.txt"), code=2).err
        web["/sitemap.xml"] = status(404)               # who waits for his chance
        assert "is from" in Harvest(tmp_path, web("/r.txt"), code=2).err
        assert content(tmp_path) == {"a.seen": filters["a", 1]}
        web["/r.txt"] = lines(there)
        assert Harvest(tmp_path, web("/r.txt")).out == "a.seen: updated, 70 kB\n"
        assert content(tmp_path) == {"a.seen": filters["a", 2]}


# --- withdrawn, and what is left over ----------------------------------------

def test_a_site_that_withdraws_its_last_filter_is_read_without_a_fault(web, filters, tmp_path):
    announce(web, filters, ("a", 1), path="/f/sitemap.xml")
    Harvest(tmp_path, web("/f/"))
    announce(web, filters, path="/f/sitemap.xml")
    assert Harvest(tmp_path, web("/f/")).out == "a.seen: withdrawn\n"
    assert Harvest(tmp_path, web("/f/"), "--remove-withdrawn").out == "a.seen: removed\n"
    web["/f/sitemap.xml"] = page(urlset(url(web("/page.html")), capability=None))
    assert "announces no filters" in Harvest(tmp_path, web("/f/"), code=2).err


def test_parts_that_are_no_longer_harvested_are_removed_after_a_month(web, filters, tmp_path):
    where, part = announce(web, filters, ("a", 1)), tmp_path / ".harvest/a.seen.part"

    def cut(talk):
        talk.head(200, Content_Length=len(filters["a", 1]), ETag='"x"')
        talk.send(filters["a", 1][:30000])
    web["/a.seen"] = cut
    Harvest(tmp_path, where, code=2)
    other = announce(web, filters, ("b", 1), path="/other.xml")
    for age, stays in ((29, True), (31, False)):
        stamp = time.time() - age * 86400
        os.utime(part, (stamp, stamp))
        Harvest(tmp_path, other)
        assert part.exists() == stays
    assert sorted(path.name for path in part.parent.iterdir()) == ["b.seen.json", "lock"]


def test_fifos_in_our_folder_do_not_hang_it(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    (tmp_path / ".harvest").mkdir()
    for ending in ("json.new", "part", "delta", "step", "base"):
        os.mkfifo(tmp_path / ".harvest" / ("a.seen." + ending))
    assert Harvest(tmp_path, where).out == "a.seen: new, 70 kB\n"


def test_our_folder_must_be_no_link(web, filters, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in/.harvest").symlink_to(tmp_path / "elsewhere")
    run = Harvest(tmp_path / "in", announce(web, filters, ("a", 1)), code=2)
    assert ".harvest is not a folder of its own" in run.err and not web.log


# --- the disk ----------------------------------------------------------------

@pytest.fixture
def tiny(tmp_path):
    """A disk of 4 MB."""
    where = tmp_path / "tiny"
    where.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", where],
                      stderr=subprocess.DEVNULL).returncode:
        pytest.skip("needs to mount a file system")
    yield where
    subprocess.run(["umount", where], check=True)


def test_a_file_of_unknown_length_does_not_fill_the_disk(web, filters, tiny):
    def endless(talk):
        talk.head(200)
        talk.forever(bytes(10000))
    web["/x.seen"] = endless
    web["/sitemap.xml"] = page(urlset(url(web("/x.seen"))))
    assert "disk has room for" in Harvest(tiny / "in", web("/sitemap.xml"), code=2).err
    room = os.statvfs(tiny)
    assert room.f_bavail > 0.9 * room.f_blocks


def test_a_part_that_fills_half_of_the_disk_can_be_gone_on_with(web, tiny, tmp_path):
    source = tmp_path / "f.seen"
    build(source, ["http://a.example/"], "--capacity", "2000000")
    body = source.read_bytes()
    assert 2 << 20 < len(body) < 3.7 * (1 << 20), len(body)
    web["/sitemap.xml"] = page(urlset(url(web("/x.seen"), hash=digest(body), length=len(body))))

    def cut(talk):
        if "range" in talk.headers:
            talk.answer(b"", 503)
            return
        talk.head(200, Content_Length=len(body), ETag='"x"')
        talk.send(body[:2 << 20])
    web["/x.seen"] = cut
    Harvest(tiny / "in", web("/sitemap.xml"), code=2)
    web.serve("/x.seen", body, ETag='"x"')
    assert ", of which " in Harvest(tiny / "in", web("/sitemap.xml")).out
    assert content(tiny / "in") == {"x.seen": body}


# --- what is said ------------------------------------------------------------

def test_a_folder_may_be_named_without_its_last_slash(web, filters, tmp_path):
    announce(web, filters, ("a", 1), path="/f/sitemap.xml")
    assert Harvest(tmp_path, web("/f")).out == "a.seen: new, 70 kB\n"


def test_what_is_asked_for_wrongly_is_said_before_the_first_round(tmp_path):
    for words, said in ((["--allow", "localhost:7810"], "seen: --allow localhost:7810: "),
                        (["--ca", "/nonexistent"], "seen: --ca /nonexistent: ")):
        run = Harvest(tmp_path, "http://a.example/", "--every", "1s", *words, code=2)
        assert run.err.startswith(said) and run.err.count("\n") == 1
    run = Harvest(tmp_path, "ftp://x/", "--every", "1s", code=2)
    assert run.err == "seen: ftp://x/: is not an http or https URL\n"
    done = subprocess.run([SEEN, "harvest", "http://127.0.0.1:8123/", "--into", tmp_path],
                          stderr=subprocess.PIPE)
    assert b"--allow-private" in done.stderr
