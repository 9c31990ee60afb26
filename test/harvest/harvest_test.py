"""harvest_test.py - what seen harvest does with servers that mean well.

The servers are the one of hostile.py, which counts and can be told to cut,
nginx over folders that seen publish wrote, and seen serve itself.
"""
import fcntl
import gzip
import json
import os
import pty
import random
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "../serve")]
from hostile import Web, digest, index, page, redirect, url, urlset  # noqa: E402
from serving import SANITIZED, SEEN, Server, build, run, until  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port  # noqa: E402

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def pages(name, n):
    return ["http://%s.example/%d" % (name, i) for i in range(n)]


@pytest.fixture(scope="module")
def filters(tmp_path_factory):
    """Three versions of a filter and one of another, as bytes."""
    where, made = tmp_path_factory.mktemp("filters"), {}
    for name, version, n in (("a", 1, 100), ("a", 2, 130), ("a", 3, 160), ("b", 1, 50)):
        path = where / "f.seen"
        build(path, pages(name, n), "--capacity", "50000")
        made[name, version] = path.read_bytes()
        path.unlink()
    return made


@pytest.fixture
def web():
    with Web() as web:
        yield web


class Harvest:
    """What a run said, and how it ended."""

    def __init__(self, folder, *words, code=0, timeout=None):
        timeout = timeout or ("2s" if code else "30s")      # if all goes well, nobody is waited for
        done = subprocess.run([SEEN, "harvest", *words, "--into", folder, "--allow-private",
                               "--timeout", timeout], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=120)
        self.out, self.err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == code, self.out + self.err


def announce(web, filters, *what, path="/sitemap.xml", up=None, **other):
    """A resource list of these filters, each (name, version)."""
    entries = []
    for name, version in what:
        data = filters[name, version]
        web.serve("/%s.seen" % name, data)
        values = {"hash": digest(data), "length": len(data), "type": "application/vnd.seen", **other}
        entries.append(url(web("/%s.seen" % name), "2026-11-1%dT10:00:00Z" % version, **values))
    web[path] = page(urlset(*entries, up=up), "application/xml")
    return web(path)


def content(folder):
    """The files in it, without locks that a killed process left."""
    return {path.name: path.read_bytes() for path in folder.glob("*")
            if path.is_file() and path.suffix != ".lock"}


# --- what is fetched, and what is not ----------------------------------------

def test_what_is_new_is_fetched_and_what_is_known_by_its_hash_is_not_asked_for(web, filters, tmp_path):
    there = tmp_path / "new" / "folder"
    there.parent.mkdir()
    where = announce(web, filters, ("a", 1), ("b", 1))
    run = Harvest(there, where)
    assert sorted(run.out.splitlines()) == ["a.seen: new, 70 kB", "b.seen: new, 70 kB"]
    assert content(there) == {"a.seen": filters["a", 1], "b.seen": filters["b", 1]}
    web.log.clear()
    run = Harvest(there, where)
    assert sorted(run.out.splitlines()) == ["a.seen: unchanged", "b.seen: unchanged"]
    assert [talk.path for talk in web.log] == ["/sitemap.xml"]
    announce(web, filters, ("a", 2), ("b", 1))
    run = Harvest(there, where)
    assert sorted(run.out.splitlines()) == ["a.seen: updated, 70 kB", "b.seen: unchanged"]
    assert content(there)["a.seen"] == filters["a", 2]


@pytest.mark.parametrize("headers", [
    {"ETag": '"v1"'}, {"ETag": 'W/"v1"'},
    {"ETag": "", "Last_Modified": "Sun, 15 Nov 2026 10:00:00 GMT"}])
def test_without_a_hash_the_server_is_asked_whether_it_changed(web, filters, tmp_path, headers):
    headers = {name: value for name, value in headers.items() if value}
    if "ETag" not in headers:
        headers["X"] = "y"
    where = web("/sitemap.xml")
    web["/sitemap.xml"] = page(urlset(url(web("/a.seen"), "2026-11-15"), capability=None))
    web.serve("/a.seen", filters["a", 1], **headers)
    if "Last_Modified" in headers:
        del web.pages["/a.seen"].headers["ETag"]
    Harvest(tmp_path, where)
    before = web.bytes
    assert Harvest(tmp_path, where).out == "a.seen: unchanged\n"
    assert web.bytes - before < 2000 and len(web.asked("/a.seen")) == 2
    changed = {"ETag": '"v2"'} if "ETag" in headers else \
        {"Last_Modified": "Sun, 15 Nov 2026 11:00:00 GMT"}
    web.serve("/a.seen", filters["a", 2], **changed)
    assert Harvest(tmp_path, where).out == "a.seen: updated, 70 kB\n"
    assert content(tmp_path) == {"a.seen": filters["a", 2]}


def test_without_a_hash_the_same_second_and_length_are_enough(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1), hash=None)
    Harvest(tmp_path, where)
    assert Harvest(tmp_path, where).out == "a.seen: unchanged\n"
    assert len(web.asked("/a.seen")) == 1
    announce(web, filters, ("a", 2), hash=None)     # another lastmod
    assert Harvest(tmp_path, where).out == "a.seen: updated, 70 kB\n"


def test_a_server_without_validators_is_asked_again_and_the_same_file_is_no_news(web, filters, tmp_path):
    web["/sitemap.xml"] = page(urlset(url(web("/a.seen"))))
    web["/a.seen"] = lambda talk: talk.answer(filters["a", 1])
    Harvest(tmp_path, web("/sitemap.xml"))
    stamp = os.stat(tmp_path / "a.seen").st_ino
    assert Harvest(tmp_path, web("/sitemap.xml")).out == "a.seen: unchanged\n"
    assert os.stat(tmp_path / "a.seen").st_ino == stamp


def test_other_entries_of_a_sitemap_are_nothing_to_us(web, filters, tmp_path):
    announce(web, filters, ("a", 1))
    body = urlset(url(web("/")), url(web("/page.html"), "2026"), url(web("/a.seen")),
                  url(web("/data?x.seen")), capability=None)
    web["/sitemap.xml"] = page(body, "application/xml")
    assert Harvest(tmp_path, web("/sitemap.xml")).out == "a.seen: new, 70 kB\n"


def test_a_type_makes_a_filter_but_its_name_must_end_in_seen(web, filters, tmp_path):
    web.serve("/get", filters["a", 1])
    web["/sitemap.xml"] = page(urlset(url(web("/get"), type="application/vnd.seen")))
    assert "does not end in .seen" in Harvest(tmp_path, web("/sitemap.xml"), code=2).err


# --- where filters are found -------------------------------------------------

def found(web, filters, tmp_path, path, code=0):
    run = Harvest(tmp_path / "in", web(path), code=code)
    assert content(tmp_path / "in") == {"a.seen": filters["a", 1]}, run.err
    return [talk.path for talk in web.log]


def test_a_site_is_found_by_its_source_description(web, filters, tmp_path):
    announce(web, filters, ("a", 1), path="/f/resources.xml")
    web["/f/.well-known/resourcesync"] = page(urlset(
        url(web("/f/capabilities.xml"), capability="capabilitylist"), capability="description"), "text/xml")
    web["/f/capabilities.xml"] = page(urlset(
        url(web("/f/resources.xml"), capability="resourcelist"),
        url(web("/f/dump.zip"), capability="resourcedump"),
        url(web("/f/changes.xml"), capability="changelist"), capability="capabilitylist"))
    assert found(web, filters, tmp_path, "/f/") == [
        "/f/.well-known/resourcesync", "/f/capabilities.xml", "/f/resources.xml", "/a.seen"]


def test_a_site_is_found_by_the_sitemap_in_its_folder(web, filters, tmp_path):
    announce(web, filters, ("a", 1), path="/f/sitemap.xml")
    assert found(web, filters, tmp_path, "/f/") == [
        "/f/.well-known/resourcesync", "/f/sitemap.xml", "/a.seen"]


def test_a_site_is_found_by_robots_txt_and_all_sitemaps_in_it(web, filters, tmp_path):
    announce(web, filters, ("a", 1), path="/deep/down/2.xml")
    web["/1.xml"] = page(urlset(url(web("/page.html")), capability=None))
    web["/robots.txt"] = page(("User-agent: *\r\nDisallow: /\r\nsitemap: %s\r\nSITEMAP:%s#2\r\n"
                               % (web("/1.xml"), web("/deep/down/2.xml"))).encode(), "text/plain")
    asked = found(web, filters, tmp_path, "/f/")
    assert asked[:3] == ["/f/.well-known/resourcesync", "/f/sitemap.xml", "/robots.txt"]
    assert sorted(asked[3:]) == ["/1.xml", "/a.seen", "/deep/down/2.xml"]


def test_a_site_is_found_by_the_sitemap_of_its_host_although_its_folder_has_one_of_pages(
        web, filters, tmp_path):
    announce(web, filters, ("a", 1))
    web["/f/sitemap.xml"] = page(urlset(url(web("/page.html")), capability=None))
    found(web, filters, tmp_path, "/f/")


def test_a_page_is_the_site_that_it_is_on(web, filters, tmp_path):
    announce(web, filters, ("a", 1), path="/f/sitemap.xml")
    web["/f"] = redirect("/f/")
    web["/f/"] = page(b"<!DOCTYPE html>\n<html><body><p>Filters<br></body></html>")
    assert found(web, filters, tmp_path, "/f")[:2] == ["/f", "/f/"]


def test_a_sitemap_may_be_packed_and_in_an_index(web, filters, tmp_path):
    announce(web, filters, ("a", 1), path="/1.xml")
    plain = urlset(url(web("/a.seen"), hash=digest(filters["a", 1])))
    web["/1.xml.gz"] = page(gzip.compress(plain), "application/x-gzip")
    web["/index.xml"] = page(index(web("/1.xml.gz")))
    found(web, filters, tmp_path, "/index.xml")


def test_a_filter_can_be_named_itself(web, filters, tmp_path):
    announce(web, filters, ("a", 1))
    assert found(web, filters, tmp_path, "/a.seen") == ["/a.seen"]


def test_registries_name_sites_sitemaps_filters_and_registries(web, filters, tmp_path):
    announce(web, filters, ("a", 1), path="/f/sitemap.xml")
    web.serve("/b.seen", filters["b", 1])
    web["/list.txt"] = page(("# ours\n\n%s  # a site\n%s\n" % (web("/f/"), web("/more.txt"))).encode(),
                            "text/plain; charset=utf-8")
    web["/more.txt"] = page(("\ufeff%s\r\n" % web("/b.seen")).encode(), "text/plain")
    Harvest(tmp_path, web("/list.txt"))
    assert content(tmp_path) == {"a.seen": filters["a", 1], "b.seen": filters["b", 1]}


def test_a_registry_that_was_written_of_a_mirror_leads_to_the_same_filters(web, filters, tmp_path):
    mirror, list_ = tmp_path / "mirror", tmp_path / "list.txt"
    with Web(host="127.0.0.2") as other:
        for name, title in (("a", "Arhiv <b>&\"'"), ("b", None)):
            meta = ("--meta", "title=" + title, "--meta", "as-of=2026-11-15") if title else ()
            build(tmp_path / (name + ".seen"), pages(name, 9), *meta)
            filters[name, 9] = (tmp_path / (name + ".seen")).read_bytes()
        sitemap = announce(web, filters, ("a", 9))
        web["/sitemap.xml"] = page(urlset(url(web("/a.seen"), "&lt;b&gt;9&lt;/b&gt;")), "application/xml")
        other.serve("/b.seen", filters["b", 9])
        list_.write_text("%s # Croatia\n%s\n\n# more\nhttps://down.example/\n" % (sitemap, other("/b.seen")))
        web["/list.txt"] = page(list_.read_bytes().replace(b"https://down", b"# "), "text/plain")
        Harvest(mirror, web("/list.txt"))
        assert run("publish", mirror, "--registry", list_) == \
            "registry: 3 hosts, 4 places, 2 filters; registry.html and registry.txt written\n"
        told = (mirror / "registry.txt").read_text().splitlines()
        assert "%s  # Croatia" % sitemap in told and "https://down.example/" in told
        told = (mirror / "registry.html").read_text()
        assert "Arhiv &lt;b&gt;&amp;&quot;&#39;" in told or "Arhiv &lt;b&gt;&amp;&#34;&#39;" in told
        assert 'href="%s"' % web("/a.seen") in told and "<b>" not in told and "&lt;b&gt;9" in told and "2026-11-15" in told
        web["/registry.txt"] = page((mirror / "registry.txt").read_bytes().replace(b"https://down", b"# "), "text/plain")
        Harvest(tmp_path / "again", web("/registry.txt"))
        assert content(tmp_path / "again") == {"a.seen": filters["a", 9], "b.seen": filters["b", 9]}


def test_where_nothing_is_found_that_is_said(web, tmp_path):
    web["/f/"] = page(b"<html></html>")
    assert "announces no filters" in Harvest(tmp_path, web("/f/"), code=2).err
    assert "404: not found" in Harvest(tmp_path, web("/none.xml"), code=2).err
    assert "not an http or https URL" in Harvest(tmp_path, "ftp://a.example/", code=2).err
    assert "not an http or https URL" in Harvest(tmp_path, "haw.seen", code=2).err


def test_of_a_host_that_is_down_only_one_thing_is_said(tmp_path):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        run = Harvest(tmp_path, "http://127.0.0.1:%d/" % s.getsockname()[1], code=2)
    assert len(run.err.splitlines()) == 2, run.err      # and the sum


# --- names -------------------------------------------------------------------

def test_two_archives_with_one_name_need_their_hosts(web, filters, tmp_path):
    with Web("127.0.0.3") as other:
        first, second = (announce(w, filters, ("a", v)) for w, v in ((web, 1), (other, 2)))
        quick = web.pages["/sitemap.xml"]
        web["/sitemap.xml"] = lambda talk: (time.sleep(0.3), quick(talk))
        run = Harvest(tmp_path / "1", first, second, code=2)
        assert "--names host" in run.err
        assert content(tmp_path / "1") == {"a.seen": filters["a", 1]}   # though it was read last
        run = Harvest(tmp_path / "2", first, second, "--names", "host")
        assert content(tmp_path / "2") == {
            "127.0.0.1-%d.a.seen" % web.port: filters["a", 1],
            "127.0.0.3-%d.a.seen" % other.port: filters["a", 2]}
        run = Harvest(tmp_path / "1", second, code=2)   # of a file that is here
        assert "is from http://127.0.0." in run.err


def test_a_name_in_use_cannot_be_taken_by_another_publisher(web, filters, tmp_path):
    with Web("127.0.0.3") as other:
        good = announce(web, filters, ("a", 1))
        Harvest(tmp_path, good)
        announce(web, filters, ("a", 2))
        run = Harvest(tmp_path, announce(other, filters, ("a", 3)), good, code=2)
        assert "is from " + web("/a.seen") in run.err and "a.seen: updated" in run.out
        assert content(tmp_path) == {"a.seen": filters["a", 2]}


def test_what_others_say_of_a_filter_counts_less_than_its_own_host(web, filters, tmp_path):
    """Otherwise one publisher could spoil a registry with wrong hashes for all."""
    with Web("127.0.0.3") as other:
        other["/sitemap.xml"] = page(urlset(url(web("/a.seen"), hash=digest(b"no"), length=5)))
        good = announce(web, filters, ("a", 1))
        for i, order in enumerate(((other("/sitemap.xml"), good), (good, other("/sitemap.xml")))):
            Harvest(tmp_path / str(i), *order)
            assert content(tmp_path / str(i)) == {"a.seen": filters["a", 1]}
        assert "refused" in Harvest(tmp_path / "2", other("/sitemap.xml"), code=2).err


# --- the file that is here ---------------------------------------------------

def test_a_file_that_was_not_harvested_is_never_replaced(web, filters, tmp_path):
    (tmp_path / "a.seen").write_bytes(filters["b", 1])
    run = Harvest(tmp_path, announce(web, filters, ("a", 1)), code=2)
    assert "was not harvested" in run.err
    assert content(tmp_path) == {"a.seen": filters["b", 1]}
    (tmp_path / "a.seen").unlink()
    (tmp_path / "a.seen").symlink_to("elsewhere.seen")
    Harvest(tmp_path, web("/sitemap.xml"), code=2)
    assert (tmp_path / "a.seen").is_symlink() and not (tmp_path / "elsewhere.seen").exists()


def test_a_file_that_was_added_to_here_is_kept(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    Harvest(tmp_path, where)
    run("add", tmp_path / "a.seen", "http://mine.example/")
    mine = content(tmp_path)
    announce(web, filters, ("a", 2))
    said = Harvest(tmp_path, where, code=2).err
    assert "was changed here since it was harvested; move it away" in said
    assert content(tmp_path) == mine
    (tmp_path / "a.seen").rename(tmp_path / "mine.seen")
    Harvest(tmp_path, where)
    assert (tmp_path / "a.seen").read_bytes() == filters["a", 2]


def test_a_file_that_is_only_touched_is_still_ours(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    Harvest(tmp_path, where)
    os.utime(tmp_path / "a.seen", (1, 1))
    assert Harvest(tmp_path, where).out == "a.seen: unchanged\n"
    announce(web, filters, ("a", 2))
    os.utime(tmp_path / "a.seen", (2, 2))
    assert Harvest(tmp_path, where).out == "a.seen: updated, 70 kB\n"


def test_a_file_that_is_damaged_or_removed_here_is_fetched_anew(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    Harvest(tmp_path, where)
    (tmp_path / "a.seen").write_bytes(filters["a", 1][:-100])
    Harvest(tmp_path, where)
    assert content(tmp_path) == {"a.seen": filters["a", 1]}
    (tmp_path / "a.seen").unlink()
    Harvest(tmp_path, where)
    assert content(tmp_path) == {"a.seen": filters["a", 1]}


def test_a_file_that_a_writer_has_open_is_not_replaced(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    Harvest(tmp_path, where)
    with open(tmp_path / "a.seen.lock", "w") as lock:       # as a writer does first
        fcntl.flock(lock, fcntl.LOCK_EX)
        announce(web, filters, ("a", 2))
        assert "another writer has it open" in Harvest(tmp_path, where, code=2).err
        assert (tmp_path / "a.seen").read_bytes() == filters["a", 1]
    web.log.clear()
    Harvest(tmp_path, where)
    assert content(tmp_path)["a.seen"] == filters["a", 2]
    assert not web.asked("/a.seen")                         # it was here already
    writer = subprocess.Popen([SEEN, "add", "--ack", tmp_path / "a.seen"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    writer.stdin.write(b"http://mine.example/\n")
    writer.stdin.flush()
    writer.stdout.readline()
    announce(web, filters, ("a", 3))
    assert "was changed here" in Harvest(tmp_path, where, code=2).err
    writer.communicate()
    assert run("check", tmp_path / "a.seen", "http://mine.example/").startswith("seen")


def test_a_journal_that_a_writer_left_is_not_thrown_away(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    Harvest(tmp_path, where)
    (tmp_path / "a.seen.journal").write_bytes(b"what was added")
    announce(web, filters, ("a", 2))
    assert "was changed here" in Harvest(tmp_path, where, code=2).err
    assert (tmp_path / "a.seen").read_bytes() == filters["a", 1]


def test_a_harvester_that_died_after_the_swap_knows_its_file_again(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    Harvest(tmp_path, where)
    path = tmp_path / ".harvest" / "a.seen.json"
    record = json.loads(path.read_text())
    record["next"] = record.pop("file")
    for name in ("seconds", "nanoseconds"):
        del record["next"][name]
    path.write_text(json.dumps(record))
    assert Harvest(tmp_path, where).out == "a.seen: unchanged\n"
    assert "next" not in json.loads(path.read_text())
    assert len(web.asked("/a.seen")) == 1
    path.write_text("{")
    assert "cannot be understood" in Harvest(tmp_path, where, code=2).err


# --- what is withdrawn -------------------------------------------------------

def test_withdrawn_filters_are_reported_and_removed_only_on_request(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1), ("b", 1))
    Harvest(tmp_path, where)
    announce(web, filters, ("b", 1))
    for _ in range(2):
        assert "a.seen: withdrawn\n" in Harvest(tmp_path, where).out
        assert len(content(tmp_path)) == 2
    assert "a.seen: would be removed" in Harvest(tmp_path, where, "--remove-withdrawn", "--dry-run").out
    assert len(content(tmp_path)) == 2
    assert "a.seen: removed\n" in Harvest(tmp_path, where, "--remove-withdrawn").out
    assert content(tmp_path) == {"b.seen": filters["b", 1]}
    assert Harvest(tmp_path, where, "--remove-withdrawn").out == "b.seen: unchanged\n"


def test_what_a_list_that_cannot_be_read_names_is_not_withdrawn(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1), ("b", 1))
    Harvest(tmp_path, where)
    for answer in (page(b"<html></html>"), page(b""), page(urlset(url("nonsense"))),
                   lambda talk: talk.answer(b"", 500), lambda talk: talk.answer(b"", 404),
                   page(index(web("/not-there.xml")))):
        web["/sitemap.xml"] = answer
        assert "withdrawn" not in Harvest(tmp_path, where, "--remove-withdrawn", code=2).out
        assert len(content(tmp_path)) == 2


def test_of_a_registry_that_was_cut_short_nothing_is_withdrawn(web, filters, tmp_path):
    """Only the closed connection marks the end of the list, and it comes too early."""
    for name in "ab":
        announce(web, filters, (name, 1), path="/%s.xml" % name)
    text = ("%s\n%s\n" % (web("/a.xml"), web("/b.xml"))).encode()

    def answer(talk):
        talk.head(200, Content_Type="text/plain")
        talk.send(text)
    web["/list.txt"] = answer
    Harvest(tmp_path, web("/list.txt"))
    text = text[:-5]
    run = Harvest(tmp_path, web("/list.txt"), "--remove-withdrawn", code=2)
    assert "ends within a line; it was cut short" in run.err
    assert set(content(tmp_path)) == {"a.seen", "b.seen"}


def test_what_a_broken_description_may_have_named_is_not_withdrawn(web, filters, tmp_path):
    """The site is found by something else then, which names other filters."""
    announce(web, filters, ("a", 1), path="/resources.xml")
    web["/.well-known/resourcesync"] = page(urlset(
        url(web("/capabilities.xml"), capability="capabilitylist"), capability="description"))
    web["/capabilities.xml"] = page(urlset(
        url(web("/resources.xml"), capability="resourcelist"), capability="capabilitylist"))
    Harvest(tmp_path, web("/"))
    announce(web, filters, ("b", 1))
    web["/.well-known/resourcesync"] = lambda talk: talk.answer(b"", 500)
    assert Harvest(tmp_path, web("/"), "--remove-withdrawn").out == "b.seen: new, 70 kB\n"
    assert len(content(tmp_path)) == 2
    del web.pages["/.well-known/resourcesync"]
    assert "a.seen: removed" in Harvest(tmp_path, web("/"), "--remove-withdrawn").out


def test_of_a_registry_what_one_site_withdraws_goes_and_what_is_down_stays(web, filters, tmp_path):
    with Web("127.0.0.3") as other:
        first, second = announce(web, filters, ("a", 1)), announce(other, filters, ("b", 1))
        web["/list.txt"] = page(("%s\n%s\n" % (first, second)).encode(), "text/plain")
        Harvest(tmp_path, web("/list.txt"))
        assert len(content(tmp_path)) == 2
        other["/sitemap.xml"] = lambda talk: talk.answer(b"", 500)
        web["/sitemap.xml"] = page(urlset())
        Harvest(tmp_path, web("/list.txt"), "--remove-withdrawn", code=2)
        assert content(tmp_path) == {"b.seen": filters["b", 1]}
        web["/list.txt"] = page(b"# all gone\n", "text/plain")
        Harvest(tmp_path, web("/list.txt"), "--remove-withdrawn")
        assert content(tmp_path) == {}


def test_a_withdrawn_filter_that_was_added_to_is_kept(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    Harvest(tmp_path, where)
    run("add", tmp_path / "a.seen", "http://mine.example/")
    web["/sitemap.xml"] = page(urlset())
    assert "it is kept" in Harvest(tmp_path, where, "--remove-withdrawn", code=2).err
    assert len(content(tmp_path)) == 1


def test_what_another_root_announced_is_not_withdrawn_by_this_one(web, filters, tmp_path):
    Harvest(tmp_path, announce(web, filters, ("a", 1), path="/1.xml"))
    Harvest(tmp_path, announce(web, filters, ("b", 1), path="/2.xml"), "--remove-withdrawn")
    assert len(content(tmp_path)) == 2


# --- downloads that are cut --------------------------------------------------

class Cutting:
    """Cuts each answer after `after` bytes, `times` times."""

    def __init__(self, data, after, times, tag='"1"'):
        self.data, self.after, self.times, self.tag = data, after, times, tag

    def __call__(self, talk):
        begin = 0
        if talk.headers.get("range") and talk.headers.get("if-range") == self.tag:
            begin = int(talk.headers["range"][6:].split("-")[0])
        rest = self.data[begin:]
        if begin:
            talk.head(206, Content_Length=len(rest), ETag=self.tag,
                      Content_Range="bytes %d-%d/%d" % (begin, len(self.data) - 1, len(self.data)))
        else:
            talk.head(200, Content_Length=len(rest), ETag=self.tag)
        self.times -= 1
        talk.send(rest if self.times < 0 else rest[:self.after])


def test_a_cut_download_is_gone_on_with_at_once(web, filters, tmp_path):
    where, data = announce(web, filters, ("a", 1)), filters["a", 1]
    web["/a.seen"] = Cutting(data, 20000, 2)
    assert Harvest(tmp_path, where).out.startswith("a.seen: new, 70 kB, of which 70 kB came now")
    asked = web.asked("/a.seen")
    assert [talk.headers.get("range") for talk in asked] == [None, "bytes=20000-", "bytes=40000-"]
    assert sum(talk.sent for talk in asked) == len(data)
    assert content(tmp_path) == {"a.seen": data}


@pytest.mark.parametrize("hash", [True, False])
def test_a_cut_download_is_gone_on_with_by_the_next_run(web, filters, tmp_path, hash):
    where, data = announce(web, filters, ("a", 1)), filters["a", 1]
    if not hash:
        web["/sitemap.xml"] = page(urlset(url(web("/a.seen"))))
    web["/a.seen"] = Cutting(data, 10000, 3)
    Harvest(tmp_path, where, code=2)
    assert content(tmp_path) == {}
    assert (tmp_path / ".harvest" / "a.seen.part").stat().st_size == 30000
    web.log.clear()
    assert ", of which 40 kB came now" in Harvest(tmp_path, where).out
    asked, = web.asked("/a.seen")
    assert asked.headers["range"] == "bytes=30000-" and asked.headers["if-range"] == '"1"'
    assert asked.sent == len(data) - 30000
    assert content(tmp_path) == {"a.seen": data}
    assert sorted(path.name for path in (tmp_path / ".harvest").iterdir()) == ["a.seen.json", "lock"]


def test_a_part_of_another_version_is_not_gone_on_with(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    web["/a.seen"] = Cutting(filters["a", 1], 10000, 3)
    Harvest(tmp_path, where, code=2)
    announce(web, filters, ("a", 2))
    web.log.clear()
    Harvest(tmp_path, where)
    asked, = web.asked("/a.seen")
    assert "range" not in asked.headers
    assert content(tmp_path) == {"a.seen": filters["a", 2]}


def test_parts_and_records_of_what_never_came_do_not_pile_up(web, filters, tmp_path):
    ours = tmp_path / ".harvest"
    for name in ("cut", "wrong"):
        filters[name, 1] = filters["a", 1]
    where = announce(web, filters, ("cut", 1), ("wrong", 1))
    web["/cut.seen"] = Cutting(filters["a", 1], 10000, 3)
    web["/wrong.seen"] = lambda talk: talk.answer(bytes(len(filters["a", 1])))
    Harvest(tmp_path, where, code=2)
    assert sorted(path.name for path in ours.iterdir()) == ["cut.seen.json", "cut.seen.part", "lock"]
    announce(web, filters, ("b", 1), path="/other.xml")
    Harvest(tmp_path, web("/other.xml"))            # is somebody else's
    assert (ours / "cut.seen.part").exists()
    announce(web, filters, ("a", 1))
    Harvest(tmp_path, where)
    assert sorted(path.name for path in ours.iterdir()) == ["a.seen.json", "b.seen.json", "lock"]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_harvest_that_was_stopped_is_continued_where_it_was(web, filters, tmp_path, how):
    where, data = announce(web, filters, ("a", 1), ("b", 1)), filters["a", 1]
    held = []

    def half(talk):
        talk.head(200, Content_Length=len(data), ETag='"1"')
        talk.send(data[:40000])
        held.append(talk)
        time.sleep(120)
    web["/a.seen"] = half
    words = [SEEN, "harvest", where, "--into", tmp_path, "--allow-private"]
    first = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    part = tmp_path / ".harvest" / "a.seen.part"
    until(lambda: held and (tmp_path / "b.seen").exists() and part.exists() and
          part.stat().st_size == 40000)
    first.send_signal(how)
    out, err = first.communicate(timeout=60)
    if how == signal.SIGTERM:
        assert first.returncode == 2 and b"stopped" in err
    web["/a.seen"] = Cutting(data, 0, 0)
    web.log.clear()
    run = Harvest(tmp_path, where)
    assert "b.seen: unchanged" in run.out and "a.seen: new" in run.out
    asked, = web.asked("/a.seen")
    assert asked.sent == len(data) - 40000
    assert content(tmp_path) == {"a.seen": data, "b.seen": filters["b", 1]}


def test_many_are_killed_and_the_last_finds_everything(web, filters, tmp_path):
    """At any moment: what is under its name is whole, and ours."""
    names = ["f%d" % i for i in range(12)]
    for name in names:
        filters[name, 1] = filters["a", 1 + hash(name) % 3]
    where = announce(web, filters, *((name, 1) for name in names))
    dice = random.Random(5)
    for _ in range(25):
        one = subprocess.Popen([SEEN, "harvest", where, "--into", tmp_path, "--allow-private", "-q"])
        time.sleep(dice.random() * 0.06)
        one.kill()
        one.wait(60)
        for path in tmp_path.glob("*.seen"):
            assert path.read_bytes() == filters[path.stem, 1]
    Harvest(tmp_path, where)
    assert content(tmp_path) == {name + ".seen": filters[name, 1] for name in names}


# --- how it is run -----------------------------------------------------------

def test_a_dry_run_writes_nothing(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    assert Harvest(tmp_path / "in", where, "-n").out == "a.seen: would be new, 70 kB\n"
    assert not (tmp_path / "in").exists() and not web.asked("/a.seen")
    Harvest(tmp_path / "in", where)
    announce(web, filters, ("a", 2), ("b", 1))

    def stamps():
        return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")}
    before = stamps()
    assert sorted(Harvest(tmp_path / "in", where, "-n").out.splitlines()) == [
        "a.seen: would be updated, 70 kB", "b.seen: would be new, 70 kB"]
    assert stamps() == before


def test_the_report_as_json(web, filters, tmp_path):
    announce(web, filters, ("a", 1))
    web["/list.txt"] = page(("%s\nfile:///x\n%s\n" % (web("/sitemap.xml"), web("/none.seen"))).encode(),
                            "text/plain")
    told = json.loads(Harvest(tmp_path, web("/list.txt"), "--json", code=2).out)
    assert [told[name] for name in ("round", "new", "refused", "unread", "unchanged", "lists")] == \
        [1, 1, 1, 1, 0, 2]
    items = {item["url"]: item for item in told["items"]}
    assert items[web("/a.seen")] == {"result": "new", "file": "a.seen", "url": web("/a.seen"),
                                     "size": len(filters["a", 1]), "travelled": len(filters["a", 1])}
    assert items[web("/none.seen")]["reason"] == "is answered with 404: not found"
    assert "line 2" in items[web("/list.txt")]["reason"]


def test_quiet_says_only_what_went_wrong(web, filters, tmp_path):
    run = Harvest(tmp_path, announce(web, filters, ("a", 1)), "--quiet")
    assert run.out == run.err == ""


def test_https_is_believed_only_with_a_certificate_that_is_trusted(filters, tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", "key.pem", "-out", "cert.pem"],
                   cwd=tmp_path, check=True, stderr=subprocess.DEVNULL)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with Web(tls=tls) as web:
        where = announce(web, filters, ("a", 1))
        said = Harvest(tmp_path / "in", where, code=2).err
        assert "certificate" in said and not web.log, said
        Harvest(tmp_path / "in", where, "--ca", tmp_path / "cert.pem")
        assert content(tmp_path / "in") == {"a.seen": filters["a", 1]}
        record = tmp_path / "in/.harvest/a.seen.json"   # as from before it moved to https
        record.write_text(record.read_text().replace("https:", "http:"))
        run = Harvest(tmp_path / "in", where, "--ca", tmp_path / "cert.pem")
        assert run.out == "a.seen: unchanged\n"
        record.write_text(record.read_text().replace("https:", "http:").replace("/a.seen", "/b/a.seen"))
        assert "is from http:" in Harvest(tmp_path / "in", where, "--ca", tmp_path / "cert.pem", code=2).err


def test_two_at_once_in_a_folder_are_one_too_many(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    web["/slow.xml"] = lambda talk: time.sleep(120)
    first = subprocess.Popen([SEEN, "harvest", web("/slow.xml"), "--into", tmp_path, "--allow-private"],
                             stderr=subprocess.PIPE)
    until(lambda: web.asked("/slow.xml"))
    assert "another harvest is running" in Harvest(tmp_path, where, code=2).err
    first.terminate()
    first.communicate(timeout=60)
    Harvest(tmp_path, where)


def test_a_daemon_runs_round_after_round_until_it_is_terminated(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    daemon = subprocess.Popen([SEEN, "harvest", where, "--into", tmp_path, "--allow-private",
                               "--every", "1s", "--timeout", "1s"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(lambda: content(tmp_path).get("a.seen") == filters["a", 1])
    announce(web, filters, ("a", 2))
    until(lambda: content(tmp_path).get("a.seen") == filters["a", 2])
    web["/sitemap.xml"] = lambda talk: talk.answer(b"", 404)
    rounds = len(web.asked("/sitemap.xml"))
    until(lambda: len(web.asked("/sitemap.xml")) >= rounds + 2)
    announce(web, filters, ("a", 3))
    until(lambda: content(tmp_path).get("a.seen") == filters["a", 3])
    rounds = len(web.asked("/sitemap.xml"))     # the next one begins when this one is reported
    until(lambda: len(web.asked("/sitemap.xml")) > rounds)
    daemon.terminate()
    out, err = daemon.communicate(timeout=60)
    assert daemon.returncode == 0, err
    assert out.decode().splitlines() == ["a.seen: new, 70 kB"] + ["a.seen: updated, 70 kB"] * 2
    assert b"404: not found" in err and err.count(b"seen: 1 updated; ") == 2


def test_progress_is_shown_on_a_terminal(web, filters, tmp_path):
    where, data = announce(web, filters, ("a", 1), ("b", 1)), filters["a", 1]

    said = bytearray()

    def shown():
        return re.search(rb"\r\x1b\[Kharvest 1 of 2 files  \d+ kB  \d\.\d MB/s", said)

    def slow(talk):
        talk.head(200, Content_Length=len(data))
        for at in range(0, len(data), 1000):
            talk.send(data[at:at + 1000])
            if not shown():
                time.sleep(0.15)
    web["/a.seen"] = slow
    ours, theirs = pty.openpty()
    process = subprocess.Popen([SEEN, "harvest", where, "--into", tmp_path, "--allow-private"],
                               stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:
        pass                            # that is how a terminal ends
    os.close(ours)
    assert process.wait(60) == 0 and shown(), said


def test_several_are_fetched_at_once(web, filters, tmp_path):
    together, most, changed = [0], [0], threading.Condition()

    def slow(talk):
        with changed:
            together[0] += 1
            most[0] = max(most[0], together[0])
            changed.notify_all()
            changed.wait_for(lambda: most[0] >= 4, 20)
        time.sleep(0.2)                 # for a fifth
        with changed:
            together[0] -= 1
        talk.answer(filters["a", 1])
    entries = []
    for i in range(8):
        web["/%d.seen" % i] = slow
        entries.append(url(web("/%d.seen" % i), hash=digest(filters["a", 1])))
    web["/sitemap.xml"] = page(urlset(*entries))
    Harvest(tmp_path, web("/sitemap.xml"))
    assert most[0] == 4 and len(content(tmp_path)) == 8


def complete_while_others_hang(folder, n, *words):
    """All n files come while requests to other hosts are still waiting for an answer."""
    one = subprocess.Popen([SEEN, "harvest", *words, "--into", folder, "--allow-private",
                            "--timeout", "100s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: len(content(folder)) == n)
    assert one.poll() is None
    one.terminate()
    one.wait(60)


def test_a_source_whose_servers_hang_keeps_no_other_waiting(web, filters, tmp_path):
    with Web("127.0.0.3") as other:
        for i in range(12):
            other["/e%d.seen" % i] = lambda talk: time.sleep(120)
            filters["g%d" % i, 1] = filters["a", 1]
        other["/sitemap.xml"] = page(urlset(*(url(other("/e%d.seen" % i)) for i in range(12))))
        good = announce(web, filters, *(("g%d" % i, 1) for i in range(12)))
        complete_while_others_hang(tmp_path, 12, other("/sitemap.xml"), good)
        said = Harvest(tmp_path, other("/sitemap.xml"), good, code=2, timeout="1s").err
        assert said.count("stalled") <= 4 and said.count("is left for the next round") >= 8, said


def test_many_broken_filters_do_not_keep_the_good_ones_of_their_source_away(web, filters, tmp_path):
    entries = []
    for i in range(10):
        data = filters["a", 1] if i == 9 else bytes(5000)
        entries.append(url(web.serve("/%d.seen" % i, data), hash=digest(data)))
    web["/sitemap.xml"] = page(urlset(*entries))
    run = Harvest(tmp_path, web("/sitemap.xml"), code=2)
    assert run.out == "9.seen: new, 70 kB\n" and run.err.count("not a seen filter") == 9


def test_the_filters_of_a_full_sitemap_fit_into_memory_and_of_more_those_that_fit_are_taken(web, tmp_path):
    def limit():
        if not SANITIZED:
            resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))
    for n in (50000, 150000):
        web["/sitemap.xml"] = page(urlset(*(
            url(web("/archive/bloom-filter/of/the-year-2026/%06d.seen" % i), "2026-11-16T04:30:13Z",
                hash="sha-256:%064x" % i, length=5376) for i in range(n))))
        done = subprocess.run([SEEN, "harvest", web("/sitemap.xml"), "--into", tmp_path, "--dry-run",
                               "--json", "--allow-private"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, preexec_fn=limit, timeout=60)
        told = json.loads(done.stdout)
        assert told["refused"] == 0
        if n == 50000:
            assert done.returncode == 0 and told["new"] == n and told["unread"] == 0
        else:
            assert done.returncode == 2 and 75000 < told["new"] < n and told["unread"] == 1
            assert done.stderr.count(b"\n") == 1 and b"fits into memory; the rest is left out" in done.stderr


def test_a_file_larger_than_allowed_is_refused(web, filters, tmp_path):
    where = announce(web, filters, ("a", 1))
    assert "more than the 50000 allowed" in Harvest(tmp_path, where, "--max-size", "50k", code=2).err
    assert not web.asked("/a.seen")


def test_a_keyed_filter_is_harvested_without_its_key(web, tmp_path):
    key = tmp_path / "key"
    key.write_bytes(os.urandom(16))
    key.chmod(0o600)
    build(tmp_path / "k.seen", pages("k", 10), "--keyed", key)
    filters = {("k", 1): (tmp_path / "k.seen").read_bytes()}
    Harvest(tmp_path / "in", announce(web, filters, ("k", 1)))
    assert content(tmp_path / "in") == {"k.seen": filters["k", 1]}
    assert run("check", "--keyed", key, tmp_path / "in" / "k.seen", "http://k.example/1") == "seen\thttp://k.example/1\n"


# --- with the rest of seen ---------------------------------------------------

def test_a_running_server_answers_from_what_was_harvested(web, filters, tmp_path):
    there = tmp_path / "in"
    where = announce(web, filters, ("a", 1))
    Harvest(there, where)
    with Server(tmp_path, str(there)) as server:
        assert server.status("/a/http://a.example/99") == 200
        assert server.status("/a/http://a.example/129") == 404
        announce(web, filters, ("a", 2), ("b", 1))
        Harvest(there, where)
        until(lambda: server.status("/a/http://a.example/129") == 200)
        until(lambda: server.status("/b/http://b.example/1") == 200)
        archives = json.loads(server.get("/archives").text)
        assert sorted(a["name"] for a in archives["archives"]) == ["a", "b"]
        announce(web, filters, ("b", 1))
        Harvest(there, where, "--remove-withdrawn")
        until(lambda: server.status("/a/http://a.example/1") == 404)
        assert server.status("/b/http://b.example/1") == 200


def test_a_running_server_can_be_harvested_from(filters, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "a.seen").write_bytes(filters["a", 1])
    with Server(tmp_path, str(shared)) as server:
        base = "http://127.0.0.1:%d/" % server.port
        assert Harvest(tmp_path / "in", base).out == "a.seen: new, 70 kB\n"
        assert Harvest(tmp_path / "in", base).out == "a.seen: unchanged\n"
        time.sleep(1.1)                 # its lastmod has whole seconds
        (shared / "next").write_bytes(filters["a", 2])
        (shared / "next").rename(shared / "a.seen")
        until(lambda: server.status("/a/http://a.example/129") == 200)
        assert Harvest(tmp_path / "in", base).out == "a.seen: updated, 70 kB\n"
        assert content(tmp_path / "in") == {"a.seen": filters["a", 2]}


CONFIG = """
daemon off; worker_processes 1; pid {work}/pid; error_log {work}/error.log;
events {{ worker_connections 64; }}
http {{
    access_log {work}/access.log;
    client_body_temp_path {work}/body; proxy_temp_path {work}/proxy; fastcgi_temp_path {work}/fastcgi;
    uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;
    server {{ listen 127.0.0.1:{port}; location /f/ {{ alias {root}/; }} }}
}}
"""


@pytest.fixture
def shared(tmp_path):
    """A folder, where nginx serves it, and what it was asked for."""
    if not NGINX:
        pytest.skip("nginx is not installed")
    root, work = tmp_path / "shared", tmp_path / "nginx"
    root.mkdir()
    work.mkdir()
    for path in (tmp_path, *list(tmp_path.parents)[:2]):
        path.chmod(0o755)               # nginx may run as somebody else
    port = free_port()
    (work / "nginx.conf").write_text(
        ("user root;\n" if os.geteuid() == 0 else "") + CONFIG.format(work=work, root=root, port=port))
    server = subprocess.Popen([NGINX, "-p", work, "-e", work / "error.log", "-c", work / "nginx.conf"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def listens():
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0
    until(listens)

    def asked():
        """The requests since the last time."""
        lines = (work / "access.log").read_text().splitlines()
        (work / "access.log").write_text("")
        return [(line.split()[6], int(line.split()[8])) for line in lines]
    yield root, "http://127.0.0.1:%d/f/" % port, asked
    server.terminate()
    server.wait(60)
    server.stdout.close()


def publish(root, base, data, deltas=2, name="a.seen"):
    path = root / name
    path.parent.mkdir(exist_ok=True)
    (root / "next").write_bytes(data)
    (root / "next").rename(path)
    run("publish", root, "--url", base, "--deltas", deltas, "--quiet")


def test_what_is_published_is_harvested_and_only_changes_travel(shared, filters, tmp_path):
    root, base, asked = shared
    there = tmp_path / "in"
    publish(root, base, filters["a", 1])
    assert Harvest(there, base).out == "a.seen: new, 70 kB\n"
    asked()
    publish(root, base, filters["a", 2])
    said = Harvest(there, base).out
    assert " by 1 patch instead of 70 kB" in said, said
    assert content(there) == {"a.seen": filters["a", 2]}
    requests = asked()
    assert not any(path == "/f/a.seen" for path, _ in requests)
    delta, = [size for path, size in requests if "/deltas/" in path]
    assert delta < 2000
    assert Harvest(there, base).out == "a.seen: unchanged\n"
    assert not any("change" in path or "delta" in path for path, _ in asked())


def test_files_of_the_old_format_are_mirrored_and_patched_to_the_new_one(shared, tmp_path):
    """A publisher whose filters are of version 1 goes on with a program that writes version 2."""
    root, base, asked = shared
    data, into, path = os.path.join(os.path.dirname(__file__), "../data"), tmp_path / "in", root / "a.seen"

    def version():
        assert path.read_bytes() == content(into)["a.seen"]
        return path.read_bytes()[8]
    with open(os.path.join(data, "blocked.seen"), "rb") as old:
        publish(root, base, old.read())
    Harvest(into, base)
    assert version() == 1
    run("add", path, "http://new.example/1", codes=(0, 1))          # in place: still the old one
    run("publish", root, "--quiet")
    assert "1 patch" in Harvest(into, base).out and version() == 1
    run("merge", "-o", tmp_path / "copy.seen", path)
    publish(root, base, (tmp_path / "copy.seen").read_bytes())      # rewritten
    assert "1 patch" in Harvest(into, base).out and version() == 2
    run("add", path, "http://new.example/2", codes=(0, 1))
    run("publish", root, "--quiet")
    assert "1 patch" in Harvest(into, base).out and version() == 2
    with open(os.path.join(data, "blocked.seen"), "rb") as old:     # and back
        publish(root, base, old.read())
    assert "updated" in Harvest(into, base).out and version() == 1
    assert run("check", into / "a.seen", "http://new.example/2", codes=(1,)).startswith("new")


def test_a_damaged_head_is_repaired_by_the_publisher_and_fetched_again_by_the_harvester(shared, filters, tmp_path):
    root, base, asked = shared
    good = filters["a", 1]
    bad = good[:60] + bytes([good[60] ^ 255]) + good[61:]
    publish(root, base, bad)
    assert (root / "a.seen").read_bytes() == good
    Harvest(tmp_path / "in", base)
    (tmp_path / "in/a.seen").write_bytes(bad)
    assert "a.seen: updated" in Harvest(tmp_path / "in", base).out
    assert content(tmp_path / "in")["a.seen"] == good


def test_patches_follow_each_other_and_from_too_far_back_the_whole_file_comes(shared, filters, tmp_path):
    root, base, asked = shared
    for folder in ("first", "second"):
        publish(root, base, filters["a", 1])
        Harvest(tmp_path / "first", base)
    publish(root, base, filters["a", 2])
    publish(root, base, filters["a", 3])
    assert " by 2 patches instead of" in Harvest(tmp_path / "first", base + "sitemap.xml").out
    assert content(tmp_path / "first") == {"a.seen": filters["a", 3]}
    publish(root, base, filters["a", 1], deltas=1)
    publish(root, base, filters["a", 2], deltas=1)
    assert Harvest(tmp_path / "first", base).out == "a.seen: updated, 70 kB\n"
    assert content(tmp_path / "first") == {"a.seen": filters["a", 2]}


def test_change_lists_in_an_index_continue_each_other(shared, filters, tmp_path):
    root, base, asked = shared
    publish(root, base, filters["a", 1])
    Harvest(tmp_path / "in", base)
    publish(root, base, filters["a", 2])
    publish(root, base, filters["a", 3])
    whole = (root / "changelist.xml").read_text()
    entries = re.findall(r"<url>.*?</url>", whole, re.S)
    assert len(entries) == 3
    for i, entry in enumerate(entries):
        (root / ("c%d.xml" % i)).write_text(whole[:whole.index("<url>")] + entry + "</urlset>")
    (root / "changelist.xml").write_bytes(
        index(*(base + "c%d.xml" % i for i in range(3)), capability="changelist"))
    assert " by 2 patches instead of" in Harvest(tmp_path / "in", base).out
    assert content(tmp_path / "in") == {"a.seen": filters["a", 3]}


def test_a_delta_that_is_damaged_makes_the_whole_file_come(shared, filters, tmp_path):
    root, base, asked = shared
    publish(root, base, filters["a", 1])
    Harvest(tmp_path / "in", base)
    publish(root, base, filters["a", 2])
    delta, = (root / "deltas").rglob("*.delta")
    data = bytearray(delta.read_bytes())
    data[len(data) // 2] ^= 1
    delta.write_bytes(data)
    assert Harvest(tmp_path / "in", base).out == "a.seen: updated, 70 kB\n"
    assert content(tmp_path / "in") == {"a.seen": filters["a", 2]}
    assert sorted(path.name for path in (tmp_path / "in" / ".harvest").iterdir()) == \
        ["a.seen.json", "lock"]


def test_a_published_folder_with_subfolders_is_harvested_flat(shared, filters, tmp_path):
    root, base, asked = shared
    publish(root, base, filters["a", 1], name="sub/a.seen")
    publish(root, base, filters["b", 1], name="b.seen")
    Harvest(tmp_path / "in", base)
    assert content(tmp_path / "in") == {"a.seen": filters["a", 1], "b.seen": filters["b", 1]}
