"""publish_test.py - what seen publish writes, and when it does not."""
import fcntl
import functools
import http.server
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import pytest
from publishing import BASE, DC, MAP, RS, SEEN, Site, sha256

SANITIZED = b"__asan_init" in open(SEEN, "rb").read()


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


# --- what is written ---


def test_a_sitemap_says_all_there_is_to_say(site):
    site.build("haw.seen", 1000, "--meta", "title=Croatian Web Archive", "--meta", "holder=NSK",
               "--meta", "as-of=2026-11-15", "--meta", "description=All of it.")
    site.build("sub/x y.seen", 500, "--kind", "fuse", capacity=None)
    report = site.publish()
    assert (report["filters"], report["new"], report["changed"]) == (2, 2, 0)
    assert report["bytes"] == sum((site / n).stat().st_size for n in ("haw.seen", "sub/x y.seen"))

    root = site.tree("sitemap.xml")
    assert root.find(RS + "ln").attrib == {"rel": "up", "href": BASE + "capabilitylist.xml"}
    assert root.find(RS + "md").attrib["capability"] == "resourcelist"
    assert root.find(RS + "md").attrib["at"].endswith("Z")
    entries = site.sitemap()
    assert list(entries) == ["haw.seen", "sub/x y.seen"]
    haw = entries["haw.seen"]
    assert haw.loc == BASE + "haw.seen"
    assert haw.sha256 == sha256(site / "haw.seen")
    assert haw.length == (site / "haw.seen").stat().st_size
    assert haw.md["type"] == "application/vnd.seen"
    assert haw.lastmod == time.strftime("%Y-%m-%dT%H:%M:%SZ",
                                        time.gmtime((site / "haw.seen").stat().st_mtime))
    assert haw.dc == {
        "title": "Croatian Web Archive", "creator": "NSK", "publisher": "NSK",
        "description": "All of it.", "date": "2026-11-15",
        "format": "application/vnd.seen; kind=blocked; profile=raw",
        "extent": haw.dc["extent"], "identifier": haw.loc}
    assert re.fullmatch(f"{haw.length:,} bytes; about (1,0[0-2]|99)[0-9] URLs",
                        haw.dc["extent"])
    other = entries["sub/x y.seen"]
    assert other.loc == BASE + "sub/x%20y.seen"
    assert other.dc["title"] == "x y"
    assert "kind fuse, profile raw" in other.dc["description"]
    assert other.dc["date"] == other.lastmod[:10]


def test_lists_lead_to_each_other(site):
    site.build("haw.seen")
    site.publish()
    known = site.tree(".well-known/resourcesync")
    assert known.find(RS + "md").attrib["capability"] == "description"
    assert known.findtext(f"{MAP}url/{MAP}loc") == BASE + "capabilitylist.xml"
    lists = site.tree("capabilitylist.xml")
    assert [(u.findtext(MAP + "loc"), u.find(RS + "md").attrib["capability"])
            for u in lists.findall(MAP + "url")] == [(BASE + "sitemap.xml", "resourcelist")]
    site.publish("--deltas", 3)
    lists = site.tree("capabilitylist.xml")
    assert [u.find(RS + "md").attrib["capability"] for u in lists.findall(MAP + "url")] == \
        ["resourcelist", "changelist"]
    changes = site.tree("changelist.xml")
    assert changes.find(RS + "md").attrib["capability"] == "changelist"
    assert set(changes.find(RS + "md").attrib) == {"capability", "from"}    # until: it is closed


def test_titles_that_would_break_xml_do_not(site):
    hostile = "<script>&amp;\"']]>\u20ac\U0001f41d <!-- --> %00"
    site.build("haw.seen", 10, "--meta", "title=" + hostile)
    # What is no UTF-8 gets into a filter, but not out again.
    subprocess.run([SEEN.encode(), b"build", b"--quiet", b"-o", bytes(site / "bytes.seen"),
                    b"--capacity", b"100", b"--meta", b"title=a\xff\xc3z", b"-"],
                   input=b"http://a.example/\n", check=True)
    (site / "archive.json").write_text('{"rights": "a\\u0001b\\u000ac<&\\"", "coverage": "\\ud83d\\udc1d"}')
    site.publish()
    entries = site.sitemap()
    assert entries["haw.seen"].dc["title"] == hostile
    assert entries["bytes.seen"].dc["title"] == "a\ufffd\ufffdz"
    assert entries["haw.seen"].dc["rights"] == "a\ufffdb\ufffdc<&\""
    assert entries["haw.seen"].dc["coverage"] == "\U0001f41d"


def test_archive_json_speaks_for_files_first_and_for_the_archive_last(site):
    site.build("a.seen", 10, "--meta", "title=its own", "--meta", "holder=its holder")
    site.build("sub/b.seen", 10)
    (site / "archive.json").write_text("""{
        "title": "the archive", "creator": "C", "rights": "CC0-1.0", "coverage": "2004/2026",
        "files": {"sub/b.seen": {"title": "of the file", "rights": "", "identifier": "urn:x"}}}""")
    site.publish()
    a, b = site.sitemap()["a.seen"].dc, site.sitemap()["sub/b.seen"].dc
    assert (a["title"], a["creator"], a["publisher"]) == ("its own", "its holder", "its holder")
    assert (a["rights"], a["coverage"]) == ("CC0-1.0", "2004/2026")
    assert (b["title"], b["creator"], b["identifier"]) == ("of the file", "C", "urn:x")
    assert "rights" not in b and "publisher" not in b


def test_the_example_of_the_document_works(site):
    text = open(os.path.join(os.environ.get("SEEN_SOURCE", os.getcwd()), "doc/sharing.md"),
                encoding="utf-8").read()
    [example] = re.findall(r"^```json\n(.*?)^```", text, re.M | re.S)
    (site / "archive.json").write_text(example)
    site.build("haw.seen", 10)
    site.build("sub/x.seen", 10)
    assert site.publish()["said"] == ""
    entries = site.sitemap()
    assert entries["haw.seen"].dc["title"] == "Croatian Web Archive"
    assert entries["haw.seen"].dc["rights"] == "CC0-1.0"
    assert entries["sub/x.seen"].dc["coverage"] == "2024"
    assert "rights" not in entries["sub/x.seen"].dc


def test_a_copy_of_what_is_being_written_is_published(site, tmp_path):
    site.build("haw.seen", 100)
    live = tmp_path / "live.seen"
    os.rename(site / "haw.seen", live)
    writer = subprocess.Popen([SEEN, "add", "--ack", live], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        for i in range(3):
            writer.stdin.write(b"http://live.example/%d\n" % i)
            writer.stdin.flush()
            writer.stdout.readline()
            site.run("merge", "-o", site / "haw.seen", live)
            assert site.publish("--deltas", 3)["changed" if i else "new"] == 1
            site.run("check", site / "haw.seen", "http://live.example/%d" % i)
    finally:
        writer.stdin.close()
        writer.wait(60)
        writer.stdout.close()
    assert [bool(e.patch) for e in site.changes("haw.seen")] == [False, True, True]


def test_a_keyed_filter_is_announced_and_says_so(site, tmp_path):
    (tmp_path / "secret").write_bytes(b"0123456789abcdef")
    (tmp_path / "secret").chmod(0o600)
    site.build("haw.seen", 100, "--keyed", tmp_path / "secret")
    site.publish("--deltas", 2)
    assert "keyed" in site.sitemap()["haw.seen"].dc["description"]
    site.run("add", site / "haw.seen", "--keyed", tmp_path / "secret", "http://new.example/")
    assert site.publish()["deltas"] == 1
    for file in site.folder.rglob("*"):
        assert not file.is_file() or b"0123456789abcdef" not in file.read_bytes()


def test_only_filters_of_the_folder_are_announced(site, tmp_path):
    site.build("haw.seen", 10)
    shutil.copy(site / "haw.seen", tmp_path / "outside.seen")
    for name in (".hidden.seen", "deltas/x.seen", ".git/y.seen", "sub/deltas/z.seen", "note.txt"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(site / "haw.seen", site / name)
    os.symlink(tmp_path / "outside.seen", site / "out.seen")
    os.symlink("haw.seen", site / "in.seen")
    os.symlink(tmp_path, site / "folder")
    os.symlink("nowhere", site / "dangling.seen")
    report = site.run("publish", site.folder, "--url", BASE)
    assert "out.seen: is a link that leads out" in report.stderr.decode()
    assert list(site.sitemap()) == ["haw.seen", "in.seen", "sub/deltas/z.seen"]
    assert (site / "deltas/x.seen").exists()      # not ours to sweep
    assert "deltas/x.seen: is in the folder of deltas" in report.stderr.decode()


def test_what_looks_like_a_filter_is_not_left_out_in_silence(site):
    site.build("haw.seen", 10)
    shutil.copy(site / "haw.seen", site / "OLD.SEEN")
    done = site.run("publish", site.folder, "--url", BASE)
    assert "OLD.SEEN: does not end in .seen, so it is not announced" in done.stderr.decode()
    assert list(site.sitemap()) == ["haw.seen"]
    done = site.run("publish", site.folder, "--quiet")     # cron would send it each day
    assert done.stderr == b""


def test_equal_names_in_subfolders_are_told_once(site):
    for name in ("a/x.seen", "b/x.seen", "c/x.seen", "y.seen"):
        site.build(name, 10)
    report = site.publish()
    notes = [(e["file"], e["why"]) for e in report["files"] if e["what"] == "note"]
    assert notes == [("b/x.seen", "has the same name as a/x.seen; harvesters need --names "
                                  "path to get both")]
    assert len(site.sitemap()) == 4


def test_names_of_any_kind(site):
    site.build("haw.seen", 10)
    for name in ("50%?#&+.seen", "\u017e\u0161.seen", "'\"<>.seen", "a\u00a0b.seen",
                 "a\u202eb.seen"):
        shutil.copy(site / "haw.seen", site / name)
    shutil.copy(bytes(site / "haw.seen"), bytes(site / "x") + b"\xff.seen")
    shutil.copy(site / "haw.seen", site / "a\nb.seen")
    report = site.publish("--deltas", 1, codes=(2,))
    assert set(site.sitemap()) == {"haw.seen", "50%?#&+.seen", "\u017e\u0161.seen", "'\"<>.seen",
                                   "a\u00a0b.seen", "a\u202eb.seen"}
    assert report["refused"] == 2
    odd = {e["file"] for e in report["files"] if "harvesters refuse" in e.get("why", "")}
    assert odd == {"50%?#&+.seen", "'\"<>.seen", "a\u00a0b.seen", "a\u202eb.seen"}


# --- what changes, and what does not ---


def test_what_is_unchanged_keeps_its_bytes_and_dates(site):
    for name in ("a.seen", "b.seen"):
        site.build(name, 100)
    site.publish("--deltas", 2)
    before, date = site.snapshot(), site.sitemap()["a.seen"].lastmod
    time.sleep(1.1)
    report = site.publish()
    assert (report["unchanged"], report["lists_written"]) == (2, 0)
    os.utime(site / "a.seen")                              # touched
    shutil.copy(site / "b.seen", site / "b.copy")          # replaced by the same
    os.rename(site / "b.copy", site / "b.seen")
    report = site.publish("--rehash")
    assert (report["unchanged"], report["lists_written"]) == (2, 0)
    assert site.snapshot() == before
    assert site.sitemap()["a.seen"].lastmod == date


def test_an_untouched_file_is_not_read_again(site):
    site.build("haw.seen", 100)
    old = time.time() - 100
    os.utime(site / "haw.seen", (old, old))
    site.publish()
    data = bytearray((site / "haw.seen").read_bytes())
    data[4097] ^= 1                                        # breaks it
    (site / "haw.seen").write_bytes(data)
    os.utime(site / "haw.seen", (old, old))                # and nobody can tell
    assert site.publish()["unchanged"] == 1
    assert site.publish("--rehash", codes=(2,))["refused"] == 1


def test_two_changes_within_a_moment_are_both_noticed(site):
    site.build("haw.seen", 100)
    for i in range(5):
        site.add("haw.seen", 1000 + 10 * i, 1010 + 10 * i)
        assert site.publish()["changed" if i else "new"] == 1
        assert site.sitemap()["haw.seen"].sha256 == sha256(site / "haw.seen")


def test_lastmod_rises_with_every_change(site):
    dates = []
    site.build("haw.seen", 100)
    for i in range(4):
        old = time.time() - 10000                          # rsync -t, mv, tar
        os.utime(site / "haw.seen", (old, old))
        site.publish()
        dates.append(site.sitemap()["haw.seen"].lastmod)
        site.add("haw.seen", 1000 + i, 1001 + i)
    assert dates == sorted(set(dates))
    os.utime(site / "haw.seen", (2**33, 2**33))            # a clock that was wrong
    site.publish()
    assert site.sitemap()["haw.seen"].lastmod < "2200"


def test_a_list_of_other_addresses_has_another_time(site):
    site.build("haw.seen", 100)
    site.publish()
    first = site.tree("sitemap.xml").find(RS + "md").attrib["at"]
    site.base = "https://other.example/"
    site.publish()
    assert site.tree("sitemap.xml").find(RS + "md").attrib["at"] > first


def test_withdrawn_filters_go_and_are_told(site):
    site.build("a.seen", 100)
    site.build("sub/b.seen", 100)
    site.publish("--deltas", 2)
    site.add("sub/b.seen", 1000, 1010)
    site.publish()
    (site / "sub/b.seen").unlink()
    report = site.publish()
    assert report["withdrawn"] == 1 and list(site.sitemap()) == ["a.seen"]
    assert [e.md["change"] for e in site.changes("sub/b.seen")] == ["deleted"]
    assert not (site / "deltas").exists()
    assert not (site / ".publish/versions/sub").exists()
    assert site.publish()["lists_written"] == 0
    site.build("sub/b.seen", 100)
    site.publish()
    assert [e.md["change"] for e in site.changes("sub/b.seen")] == ["created"]


@pytest.mark.skipif(os.getuid() == 0, reason="root can read everything")
def test_what_cannot_be_seen_is_not_gone(site):
    site.build("sub/b.seen", 100)
    site.publish()
    (site / "sub").chmod(0)
    try:
        report = site.publish(codes=(2,))
    finally:
        (site / "sub").chmod(0o755)
    assert report["withdrawn"] == 0 and "sub/b.seen" in site.sitemap()


# --- deltas ---


def test_deltas_lead_from_version_to_version(site):
    site.build("haw.seen", 1000)
    site.publish("--deltas", 3)
    versions = [sha256(site / "haw.seen")]
    for i in range(5):
        site.add("haw.seen", 2000 + 50 * i, 2050 + 50 * i)
        report = site.publish()
        assert report["deltas"] == 1 and report["delta_bytes"] < report["instead_of"]
        versions.append(sha256(site / "haw.seen"))
    changes = site.changes("haw.seen")
    assert [e.sha256 for e in changes] == versions[-4:]
    assert [bool(e.patch) for e in changes] == [False, True, True, True]
    for old, new in zip(changes, changes[1:]):
        assert new.patch_path == f"deltas/haw.seen/{old.sha256[:16]}-{new.sha256[:16]}.delta"
        assert new.patch["type"] == "application/vnd.seen-delta"
    assert changes[-1].sha256 == site.sitemap()["haw.seen"].sha256
    assert [e.md["datetime"] for e in changes] == sorted(e.md["datetime"] for e in changes)


def test_a_changed_plan_begins_anew(site):
    site.build("haw.seen", 1000)
    site.publish("--deltas", 3)
    site.add("haw.seen", 2000, 2050)
    site.publish()
    site.build("haw.seen", 1000, capacity=30000)
    report = site.publish()
    assert report["deltas"] == 0 and "the plan has changed" in report["files"][0]["why"]
    assert [bool(e.patch) for e in site.changes("haw.seen")] == [False]
    site.add("haw.seen", 2000, 2050)
    assert site.publish()["deltas"] == 1


def test_a_fuse_is_not_kept_twice(site):
    site.build("haw.seen", 1000, "--kind", "fuse", capacity=None)
    site.publish("--deltas", 3)
    site.build("haw.seen", 1001, "--kind", "fuse", capacity=None)
    assert site.publish()["changed"] == 1
    assert not (site / ".publish/versions").exists()


def test_deltas_can_be_had_later_and_given_up(site):
    site.build("haw.seen", 1000)
    site.publish()
    assert not (site / "changelist.xml").exists() and not (site / ".publish/versions").exists()
    site.publish("--deltas", 2)
    site.add("haw.seen", 2000, 2050)
    assert site.publish()["deltas"] == 1
    site.publish("--deltas", 0)
    assert not (site / "changelist.xml").exists() and not (site / "deltas").exists()
    assert "changelist" not in (site / "capabilitylist.xml").read_text()
    assert not (site / ".publish/versions").exists()


class Listening(http.server.ThreadingHTTPServer):
    """The folder over HTTP, and the paths that were asked for."""

    def __init__(self, folder):
        asked = self.asked = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_request(self, code="-", size="-"):
                asked.append((self.path, int(code)))

            def log_message(self, *words):
                pass

        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *why):
        self.shutdown()
        self.server_close()


def test_what_is_harvested_by_deltas_is_the_file(tmp_path):
    site = Site(tmp_path)
    with Listening(site.folder) as server:
        site.base = f"http://127.0.0.1:{server.server_port}/"
        kinds = {"a.seen": "bloom", "b.seen": "blocked", "sub/c.seen": "counting:8",
                 "d.seen": "routed:4/bloom"}
        for name, kind in kinds.items():
            site.build(name, 1000, "--kind", kind)
        site.publish("--deltas", 4, "--text", "yes")
        into = tmp_path / "into"

        def harvest():
            server.asked.clear()
            site.run("harvest", site.base, "--into", into, "--allow-private", "--quiet")
            found = {sha256(path) for path in into.rglob("*.seen")}
            assert found == {sha256(site / name) for name in kinds}
            return [path for path, code in server.asked if code == 200]

        harvest()
        for step in (1, 2):                    # one version behind, then two
            for i in range(step):
                for name in kinds:
                    site.add(name, 2000 + 500 * step + 20 * i, 2020 + 500 * step + 20 * i)
                assert site.publish()["deltas"] == len(kinds)
            asked = harvest()
            assert sum(path.endswith(".delta") for path in asked) == step * len(kinds)
            assert not any(path.endswith((".seen", ".csv")) for path in asked)


def test_what_is_told_of_equal_names_is_true(tmp_path):
    site = Site(tmp_path)
    with Listening(site.folder) as server:
        site.base = f"http://127.0.0.1:{server.server_port}/"
        site.build("a/x.seen", 100)
        site.build("b/x.seen", 200)
        assert "--names path" in site.publish()["said"]
        for names, code in (("file", 2), ("path", 0)):
            into = tmp_path / names
            site.run("harvest", site.base, "--into", into, "--allow-private", "--quiet",
                     "--names", names, codes=(code,))
        assert {sha256(p) for p in into.glob("*.seen")} == \
            {sha256(site / "a/x.seen"), sha256(site / "b/x.seen")}


# --- text ---


def test_the_text_form_is_beside_the_filter_and_announced(site, tmp_path):
    for name in ("a.seen", "sub/b c.seen", "mine.seen"):
        site.build(name, 100)
    (site / "mine.csv").write_text("my,own\n1,2\n")
    report = site.publish("--text", "yes", "--deltas", 2)
    assert ["is not the text form" in e.get("why", "") for e in report["files"]] == \
        [False, True, False]
    assert (site / "mine.csv").read_text() == "my,own\n1,2\n"
    entries = site.sitemap()
    assert entries["mine.seen"].text is None
    for name, csv in (("a.seen", "a.csv"), ("sub/b c.seen", "sub/b c.csv")):
        link = entries[name].text
        assert link["href"] == site.base + csv.replace(" ", "%20") and link["type"] == "text/csv"
        assert link["hash"] == "sha-256:" + sha256(site / csv)
        assert int(link["length"]) == (site / csv).stat().st_size
        site.run("convert", site / csv, "-o", tmp_path / "back.seen")
        assert sha256(tmp_path / "back.seen") == sha256(site / name)
    before = site.snapshot()
    assert site.publish()["lists_written"] == 0 and site.snapshot() == before
    old = (site / "a.csv").read_bytes()
    site.add("a.seen", 1000, 1100)
    (site / "sub/b c.csv").unlink()            # is made again
    site.publish()
    assert (site / "a.csv").read_bytes() != old
    assert site.sitemap()["a.seen"].text["hash"] == "sha-256:" + sha256(site / "a.csv")
    assert site.sitemap()["sub/b c.seen"].text["hash"] == "sha-256:" + sha256(site / "sub/b c.csv")
    (site / "sub/b c.seen").unlink()
    site.publish()
    assert not (site / "sub/b c.csv").exists()
    site.publish("--text", "no")
    assert not (site / "a.csv").exists() and (site / "mine.csv").exists()
    assert site.sitemap()["a.seen"].text is None


# --- trouble ---


def test_a_broken_filter_is_never_announced(site):
    site.build("good.seen", 100)
    site.build("bad.seen", 100)
    whole = (site / "bad.seen").read_bytes()
    site.publish("--deltas", 2)
    date = site.sitemap()["bad.seen"].lastmod
    for wrong in (b"", whole[:100], whole[:-1], whole[:4097] + bytes([whole[4097] ^ 1]) + whole[4098:],
                  b"<html>"):
        (site / "bad.seen").write_bytes(wrong)
        report = site.publish(codes=(2,))
        assert report["refused"] == 1 and "not announced" in report["said"]
        assert list(site.sitemap()) == ["good.seen"]
        assert "deleted" not in (site / "changelist.xml").read_text()
    (site / "bad.seen").write_bytes(whole)                 # from a backup
    site.publish()
    assert site.sitemap()["bad.seen"].lastmod == date
    (site / "worse.seen").write_bytes(whole[:-1])          # never announced before
    assert site.publish(codes=(2,))["refused"] == 1
    assert set(site.sitemap()) == {"good.seen", "bad.seen"}


def test_a_busy_filter_is_announced_as_it_was(site):
    site.build("busy.seen", 100)
    site.build("free.seen", 100)
    site.publish("--deltas", 2)
    before = site.sitemap()["busy.seen"]
    writer = subprocess.Popen([SEEN, "add", "--ack", site / "busy.seen", "-i", "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        writer.stdin.write(b"http://a.example/first\n")
        writer.stdin.flush()
        assert writer.stdout.readline()
        site.add("free.seen", 1000, 1010)
        os.utime(site / "busy.seen")
        done = site.run("publish", site.folder, codes=(2,))
        assert "busy.seen: another writer has it open; it is announced as before" in \
            done.stderr.decode()
        now = site.sitemap()
        assert (now["busy.seen"].sha256, now["busy.seen"].lastmod) == \
            (before.sha256, before.lastmod)
        assert now["free.seen"].sha256 == sha256(site / "free.seen")
        writer.stdin.write(b"http://a.example/new\n")
    finally:
        writer.communicate()
    assert site.publish()["changed"] == 1


def test_writers_need_not_wait_until_all_is_read(site):
    """Once there is a copy, whoever writes may do so at once."""
    site.build("haw.seen", 1000, capacity=40_000_000)
    copy, lock = site / ".publish/snapshot", site / "haw.seen.lock"
    for i in range(20):         # on a busy machine, the moment may pass unseen
        before = sha256(site / "haw.seen")
        run = subprocess.Popen([SEEN, "publish", site.folder, "--url", BASE, "--deltas", "2", "--text",
                                "yes", "--quiet"])
        while run.poll() is None and (not copy.exists() or lock.exists()):
            time.sleep(0.001)
        if run.returncode is None:
            break
        site.add("haw.seen", 2000 + i, 2001 + i)
    site.run("add", "--wait", 0, site / "haw.seen", "http://meanwhile.example/")
    assert run.wait(60) == 0
    assert not copy.exists()
    assert site.sitemap()["haw.seen"].sha256 == before
    assert sha256(site / "haw.seen") != before
    report = site.publish()
    assert (report["changed"], report["deltas"]) == (1, 1)
    assert site.sitemap()["haw.seen"].sha256 == sha256(site / "haw.seen")


def test_what_is_left_of_a_snapshot_does_no_harm(site):
    site.build("haw.seen", 100)
    (site / ".publish").mkdir()
    (site / ".publish/snapshot").write_text("half of a file")
    site.publish()
    assert site.sitemap()["haw.seen"].sha256 == sha256(site / "haw.seen")
    assert not (site / ".publish/snapshot").exists()


def test_what_a_killed_writer_left_is_made_whole(site):
    for name, kind in (("a.seen", "bloom"), ("b.seen", "counting:8")):
        site.build(name, 100, "--kind", kind)
    site.publish("--deltas", 2)
    for name in ("a.seen", "b.seen"):
        writer = subprocess.Popen([SEEN, "add", "--ack", site / name], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        writer.stdin.write(b"http://k.example/0\n")
        writer.stdin.flush()
        assert writer.stdout.readline() == b"http://k.example/0\n"
        writer.send_signal(signal.SIGKILL)
        writer.wait(60)
        writer.stdin.close()
        writer.stdout.close()
        assert (site / (name + ".journal")).exists()
    assert site.publish()["changed"] == 2
    for name in ("a.seen", "b.seen"):
        assert not (site / (name + ".journal")).exists()
        site.run("check", site / name, "http://k.example/0")


@pytest.mark.parametrize("name", [".publish", ".publish/versions", "deltas"])
def test_nothing_is_swept_behind_a_link(site, tmp_path, name):
    site.build("haw.seen", 100)
    site.publish("--deltas", 2)
    site.add("haw.seen", 1000, 1010)
    site.publish()
    victim = tmp_path / "victim"
    os.rename(site / name, victim)
    for other in ("0123456789abcdef", "0123456789abcdef-0123456789abcdef.delta", "mine"):
        (victim / other).write_text("x")
    there = sorted(victim.rglob("*"))
    os.symlink(victim, site / name)
    site.add("haw.seen", 1010, 1020)
    for options in ((), ("--deltas", "0"), ("--dry-run",)):
        done = site.run("publish", site.folder, *options, codes=(2,))
        assert f"{name}: is not a folder, or a link to one" in done.stderr.decode()
    assert sorted(victim.rglob("*")) == there


def test_of_its_own_folders_only_what_it_made_is_swept(site):
    site.build("haw.seen", 100)
    site.publish("--deltas", 2)
    mine = [site / ".publish/versions/mine", site / ".publish/versions/haw.seen/notes.txt"]
    for path in mine:
        path.write_text("x")
    site.publish("--deltas", 0)
    assert all(path.exists() for path in mine)
    assert {p for p in (site / ".publish/versions").rglob("*") if p.is_file()} == set(mine)


@pytest.mark.parametrize("name", ["sitemap.xml", "changelist.xml", "archive.json",
                                  ".publish/state.json", ".well-known/resourcesync"])
def test_nobody_waits_for_a_fifo(site, name):
    site.build("haw.seen", 100)
    site.publish("--deltas", 2)
    (site / name).unlink(missing_ok=True)
    os.mkfifo(site / name)
    done = site.run("publish", site.folder, "--url", BASE, codes=(2,))
    assert f"{name}: is not a regular file" in done.stderr.decode()
    assert (site / name).is_fifo()


def test_two_publishers_are_kept_apart(site):
    site.build("haw.seen", 100)
    site.publish()
    with open(site / ".publish/lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = site.snapshot()
        done = site.run("publish", site.folder, codes=(2,))
        assert "someone else is publishing this folder" in done.stderr.decode()
        assert site.snapshot() == before
    site.publish()


def test_a_dry_run_writes_nothing(site):
    site.build("haw.seen", 100)

    def everything():
        return {str(p): (p.stat().st_mtime_ns, p.is_file() and p.read_bytes())
                for p in site.folder.rglob("*")}

    before = everything()
    assert site.publish("--dry-run", "--deltas", 3)["new"] == 1
    assert everything() == before
    site.publish("--deltas", 3)
    site.add("haw.seen", 1000, 1010)
    before = everything()
    assert site.publish("--dry-run")["changed"] == 1
    assert everything() == before


def test_a_state_that_is_damaged_is_told(site):
    site.build("haw.seen", 100)
    site.publish()
    (site / ".publish/state.json").write_text('{"version": 1, "url": 5}')
    done = site.run("publish", site.folder, "--url", BASE, codes=(2,))
    assert "state.json: was not written by seen publish" in done.stderr.decode()
    (site / ".publish/state.json").unlink()
    assert site.publish()["new"] == 1


def test_no_room_leaves_all_as_it_was(site):
    """A limit on the size of files stands for a full disk: writes fail."""
    site.build("haw.seen", 100, capacity=200000)
    site.publish("--deltas", 2)
    before = site.snapshot()
    site.add("haw.seen", 1000, 1010)

    def limited(size):
        return subprocess.run(["bash", "-c", f"trap '' XFSZ; ulimit -f {size}; exec \"$@\"", "-",
                               SEEN, "publish", site.folder], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)

    done = limited(0)                          # not even a state
    assert done.returncode == 2 and "too large" in done.stderr.decode()
    assert site.snapshot() == before
    done = limited(16)                         # lists, but no copy of the file
    assert done.returncode == 0 and "no delta" in done.stdout.decode()
    site.check()
    assert site.sitemap()["haw.seen"].sha256 == sha256(site / "haw.seen")
    assert site.publish()["unchanged"] == 1    # and now the copy, too
    site.add("haw.seen", 1010, 1020)
    assert site.publish()["deltas"] == 1


@pytest.mark.skipif(SANITIZED, reason="too slow to be killed in time")
def test_killed_at_any_moment_the_next_run_makes_it_right(site):
    chance = random.Random(7)
    names = ["a.seen", "b.seen", "sub/c.seen"]
    for name in names:
        site.build(name, 200)
    begin = time.monotonic()
    site.publish("--deltas", 3)
    takes = time.monotonic() - begin
    finished = 0
    for i in range(40):
        site.add(chance.choice(names), 1000 + 10 * i, 1010 + 10 * i)
        if i % 13 == 12:
            (site / "sub/c.seen").unlink()
        elif not (site / "sub/c.seen").exists():
            site.build("sub/c.seen", 200)
        run = subprocess.Popen([SEEN, "publish", site.folder, "--quiet"])
        time.sleep(chance.uniform(0, takes))
        run.send_signal(signal.SIGKILL)
        if run.wait(60) == 0:
            finished += 1
            takes *= 0.7        # it may have been measured on a busy machine
        site.check(settled=False, gone={"sub/c.seen"} if i % 13 == 12 else set())
        if not (site / "sub/c.seen").exists():
            site.build("sub/c.seen", 200)
    assert finished < 40
    site.publish()
    for name in names:
        assert site.sitemap()[name].sha256 == sha256(site / name)
        assert site.changes(name)[-1].sha256 == sha256(site / name)
    assert site.publish()["lists_written"] == 0
    assert len([p for p in (site / ".publish/versions").rglob("*") if p.is_file()]) == 3


def test_hundreds_of_filters(site):
    site.build("0.seen", 10)
    for i in range(1, 300):
        shutil.copy(site / "0.seen", site / f"{i}.seen")
    assert site.publish()["new"] == 300
    assert len(site.sitemap()) == 300
    assert site.publish()["unchanged"] == 300
