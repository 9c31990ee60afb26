"""A filter is asked where it is: what travels, what is kept, and who lies.

Servers are those of test/harvest/hostile.py, which say what we want and record
every request, and nginx.
"""
import collections
import os
import re
import shutil
import stat
import subprocess
import sys
import threading

import pytest

for beside in "../harvest", "../serve", "../crawl", "../fault":
    sys.path.append(os.path.join(os.path.dirname(__file__), beside))
import injected  # noqa: E402
from hostile import Web, redirect, status, stream  # noqa: E402
from nginx import PROGRAM, Nginx  # noqa: E402
from serving import SEEN, build  # noqa: E402

HAS = ["http://has.example/%d" % i for i in range(3000)]
NOT = ["http://not.example/%d" % i for i in range(3000)]
FIRST, BLOCK = 128 << 10, 64 << 10
Said = collections.namedtuple("Said", "code out err")


@pytest.fixture(scope="module")
def filters(tmp_path_factory):
    """Files of 1.2 MB, as bytes, by name; "later" is "blocked" with one URL more."""
    where, made = tmp_path_factory.mktemp("filters"), {}
    for name, kind, urls in (("blocked", "blocked", HAS), ("later", "blocked", HAS + NOT[:1]),
                             ("bloom", "bloom", HAS), ("spatial", "spatial:3/blocked", HAS),
                             ("small", "blocked", HAS[:10])):
        path = where / (name + ".seen")
        build(path, urls, "--kind", kind, "--capacity",
              {"small": "1000", "bloom": "4000000"}.get(name, "1000000"))
        made[name] = path.read_bytes()
    for kind in "ribbon", "fuse", "shards":
        path = where / (kind + ".seen")
        build(path, ["http://many.example/%d" % i for i in range(300000)] + HAS, "--kind", kind,
              "--capacity", "303000")
        made[kind] = path.read_bytes()
    return made


class Asker:
    """Someone with a home, who asks."""

    def __init__(self, home, web):
        self.home, self.web = home, web
        self.env = {**os.environ, "XDG_CACHE_HOME": str(home / "cache"),
                    "XDG_DATA_HOME": str(home / "data")}
        self.allow = ["--allow", "127.0.0.1:%d" % web.port]

    def start(self, command, *words, **how):
        program = injected.SEEN if "LD_PRELOAD" in self.env else SEEN
        return subprocess.Popen([program, command, *self.allow, *words], env=self.env,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **how)

    def __call__(self, *words, command="check", urls=None):
        one = self.start(command, *words)
        out, err = one.communicate("".join(u + "\n" for u in urls or []).encode(), 120)
        return Said(one.returncode, out.decode(), err.decode())

    def kept(self):
        return sorted(os.listdir(self.home / "cache" / "seen"))


@pytest.fixture
def web():
    with Web() as web:
        yield web


@pytest.fixture
def ask(tmp_path, web):
    return Asker(tmp_path, web)


def ranges(web, since=0):
    """The ranges that were asked for, and with If-Range or not."""
    return [(talk.headers.get("range"), talk.headers.get("if-range")) for talk in web.log[since:]]


def asked(web):
    """How many bytes each range had."""
    found = []
    for part, _ in ranges(web):
        first, last = map(int, part[6:].split("-"))
        found.append(last + 1 - first)
    return found


def answers(said):
    return {line.split("\t")[1]: line.split("\t")[0] for line in said.out.splitlines()}


# --- what travels ---

def test_a_first_question_takes_two_requests_and_a_later_one_takes_one(ask, web, filters):
    url = web.serve("/a.seen", filters["blocked"])
    assert ask(url, HAS[0]) == (0, "seen\t%s\n" % HAS[0], "")
    assert len(web.log) == 2
    assert asked(web) == [FIRST, BLOCK] and FIRST + BLOCK < 200000
    (first, none), (block, version) = ranges(web)
    assert (first, none) == ("bytes=0-131071", None)
    assert version and re.fullmatch(r"bytes=\d+-\d+", block)
    new = next(u for u in NOT if len(web.log) < 3 and ask(url, u).code == 1 and len(web.log) == 3)
    assert asked(web)[2] == BLOCK
    assert ranges(web, 2)[0][1] == version
    # What was asked for once is here.
    assert ask(url, HAS[0], new).code == 1
    assert len(web.log) == 3


def test_without_a_cache_nothing_is_kept(ask, web, filters, tmp_path):
    url = web.serve("/a.seen", filters["blocked"])
    for requests in 2, 4:
        assert ask("--no-cache", url, HAS[0]).code == 0
        assert len(web.log) == requests
    assert not os.path.exists(tmp_path / "cache")


@pytest.mark.parametrize("kind", ["blocked", "bloom", "spatial", "ribbon", "fuse", "shards", "small"])
def test_answers_are_those_of_the_file(ask, web, filters, tmp_path, kind):
    url = web.serve("/a.seen", filters[kind])
    (tmp_path / "a.seen").write_bytes(filters[kind])
    some = [u for pair in zip(HAS, NOT) for u in pair][:60]
    here = ask(str(tmp_path / "a.seen"), urls=some)
    for u in some[:6]:
        assert answers(ask(url, u))[u] == answers(here)[u]
    there = ask(url, urls=some)
    assert (there.code, there.out) == (here.code, here.out)


def test_many_parts_are_announced(ask, web, filters):
    said = ask(web.serve("/a.seen", filters["bloom"]), HAS[0])
    assert re.search(r"a\.seen: fetching \d+ parts of it, \d+ kB\n", said.err)
    assert len(web.log) > 5


def test_a_long_list_fetches_all_of_it_as_soon_as_that_is_cheaper(ask, web, filters):
    said = ask("--count", web.serve("/a.seen", filters["blocked"]), urls=HAS + NOT)
    assert "seen\t3000" in said.out
    # The beginning and the rest, which is one range; never more than twice the file.
    assert len(web.log) <= 3
    assert sum(talk.sent for talk in web.log) < 2 * len(filters["blocked"])


def test_lists_of_few_lines_pay_by_the_line_and_at_most_twice_the_file(ask, web, filters):
    url = web.serve("/a.seen", filters["blocked"])
    one = ask.start("check", url)
    for u in HAS[:40]:
        one.stdin.write(u.encode() + b"\n")
        one.stdin.flush()
        assert one.stdout.readline() == b"seen\t%s\n" % u.encode()
    one.stdin.close()
    assert one.wait(100) == 0
    assert sum(talk.sent for talk in web.log) + BLOCK * len(web.log) < \
        2 * (len(filters["blocked"]) + FIRST + BLOCK)


def test_several_filters_are_asked_by_name(ask, web, filters):
    web.serve("/one.seen", filters["blocked"])
    web.serve("/two.seen", filters["later"])
    for keep in [], ["--no-cache"]:
        since = len(web.log)
        said = ask(*keep, "-f", web("/one.seen"), "-f", "x=" + web("/two.seen"), HAS[0], NOT[0])
        assert said == (0, "one,x\t-\t%s\nx\t-\t%s\n" % (HAS[0], NOT[0]), "")
        assert asked(web)[since:].count(FIRST) == 2


def test_info_reads_the_beginning_and_then_asks_whether_it_changed(ask, web, filters):
    url = web.serve("/a.seen", filters["blocked"])
    said = ask(url, command="info")
    assert said.code == 0 and "1,000,000 URLs" in said.out and "verified      no" in said.out
    assert [r[0] for r in ranges(web)] == ["bytes=0-131071"]
    assert ask(url, command="info").out == said.out
    assert len(web.log) == 2 and "if-none-match" in web.log[1].headers
    web.serve("/a.seen", filters["small"])
    assert "1,000 URLs" in ask(url, command="info").out
    said = ask("--verify", url, command="info")
    assert said.code == 0 and "verified" not in said.out


def test_files_and_urls_are_listed_together(ask, web, filters, tmp_path):
    (tmp_path / "here.seen").write_bytes(filters["small"])
    said = ask(str(tmp_path / "here.seen"), web.serve("/a.seen", filters["blocked"]), command="info")
    assert said.code == 0 and [line.split()[1] for line in said.out.splitlines()[1:]] == ["blocked"] * 2
    # URLs that are asked about do not make a file one on a web server.
    ask.allow = []
    assert ask("--count", str(tmp_path / "here.seen"), HAS[0]).code == 0
    assert ask("-f", str(tmp_path / "here.seen"), HAS[0]).code == 0
    ask.allow = ["--allow", "127.0.0.1:%d" % web.port]
    assert ask(HAS[0], "-f", web("/a.seen")).code == 0
    assert ask("--", web("/a.seen"), HAS[0]).code == 0


# --- decoys ---

def blocks_of(web, since=0):
    """The blocks that were asked for, by the first byte of each; ranges have several."""
    found = set()
    for part, _ in ranges(web, since):
        first, last = map(int, part[6:].split("-"))
        if first:
            found |= set(range(first, last + 1, BLOCK))
    return found


def test_decoys_are_the_same_ones_each_time_and_for_each_of_their_group(ask, web, filters):
    url = web.serve("/a.seen", filters["blocked"])
    groups = []
    for u in HAS[:9]:
        since = len(web.log)
        assert ask("--no-cache", "--decoys", "2", url, u).code == 0
        groups.append(blocks_of(web, since))
    # Blocks that came with the beginning are not asked for.
    assert all(1 <= len(g) <= 5 for g in groups if g)
    assert max(len(g) for g in groups) >= 3
    for a in groups:
        for b in groups:
            assert a == b or not a & b
    secret = ask.home / "data" / "seen" / "decoys"
    assert len(secret.read_bytes()) == 16 and stat.S_IMODE(secret.stat().st_mode) == 0o600
    # Another secret, other groups.
    secret.write_bytes(bytes(range(16)))
    others = []
    for u in HAS[:9]:
        since = len(web.log)
        ask("--no-cache", "--decoys", "2", url, u)
        others.append(blocks_of(web, since))
    assert others != groups


# --- the file changes ---

def test_a_file_that_is_replaced_between_two_requests_is_asked_anew(ask, web, filters):
    url = web.serve("/a.seen", filters["blocked"])
    assert ask(url, NOT[0]).code == 1
    web.serve("/a.seen", filters["later"])
    # NOT[0] is in the later version only, and the block that denies it is kept; but
    # others are needed.
    said = ask(url, NOT[0], *HAS[:20])
    assert (said.code, said.out.splitlines()[0]) == (0, "seen\t" + NOT[0])


def test_a_file_that_is_replaced_behind_the_first_request_is_asked_anew(ask, web, filters):
    good = {}

    def changing(talk):
        good[len(web.log) > 1](talk)

    web.serve("/a.seen", filters["blocked"])
    good[False] = web.pages["/a.seen"]
    web.serve("/a.seen", filters["later"])
    good[True] = web.pages["/a.seen"]
    web["/a.seen"] = changing
    said = ask(web("/a.seen"), NOT[0], *HAS[:20])
    assert (said.code, said.out.splitlines()[0]) == (0, "seen\t" + NOT[0])


def test_a_list_is_not_answered_from_two_versions(ask, web, filters):
    url = web.serve("/a.seen", filters["blocked"])
    one = ask.start("check", url)
    one.stdin.write(HAS[0].encode() + b"\n")
    one.stdin.flush()
    assert one.stdout.readline().startswith(b"seen\t")
    web.serve("/a.seen", filters["later"])
    out, err = one.communicate("".join(u + "\n" for u in NOT[:200]).encode(), 100)
    assert one.returncode == 2
    assert b"was replaced while it was asked; ask again" in err


def test_kept_answers_are_checked_when_they_are_old(ask, web, filters):
    url = web.serve("/a.seen", filters["blocked"])
    assert ask(url, HAS[0]).code == 0
    note, = [n for n in ask.kept() if n.endswith(".note")]
    path = ask.home / "cache" / "seen" / note
    path.write_text(re.sub(r"checked=\d+", "checked=1000", path.read_text()))
    assert ask(url, HAS[0]).code == 0
    assert len(web.log) == 3 and "if-none-match" in web.log[2].headers
    # Which is known for an hour from now on.
    assert ask(url, HAS[0]).code == 0
    assert len(web.log) == 3
    path.write_text(re.sub(r"checked=\d+", "checked=1000", path.read_text()))
    web.serve("/a.seen", filters["small"])
    assert ask(url, HAS[0]).code == 0
    assert web.log[-1].headers.get("range") == "bytes=0-131071"


def stale(old, new):
    """A cache of others: the beginning is new, parts are old, under one ETag."""
    def answer(talk):
        first, last = map(int, talk.headers["range"][6:].split("-"))
        body = old if first else new
        last = min(last, len(body) - 1)
        talk.head(206, Content_Range="bytes %d-%d/%d" % (first, last, len(body)),
                  Content_Length=last + 1 - first, ETag='"1"')
        talk.send(body[first:last + 1])
    return answer


def test_parts_of_another_version_are_refused_and_forgotten(ask, web, filters):
    changed = bytearray(filters["blocked"])
    for at in range(FIRST, len(changed) - 8192, 512):
        changed[at] ^= 0xff
    web["/a.seen"] = stale(bytes(changed), filters["blocked"])
    said = ask(web("/a.seen"), *HAS[:20])
    assert said.code == 2 and said.out == "" and "checksum differs in block" in said.err
    # Asked once more with nothing kept, and then no more.
    assert [r for r in ranges(web)].count(("bytes=0-131071", None)) == 2
    web.serve("/a.seen", filters["blocked"])
    assert ask(web("/a.seen"), *HAS[:20]).code == 0


# --- servers ---

def test_a_server_without_ranges_sends_all_of_it_once(ask, web, filters):
    body = filters["blocked"]
    web["/a.seen"] = lambda talk: talk.answer(body, ETag='"x"')
    said = ask(web("/a.seen"), HAS[0])
    assert (said.code, said.out) == (0, "seen\t%s\n" % HAS[0])
    assert "its server has no ranges; fetching all of it, 1.2 MB" in said.err
    assert ask(web("/a.seen"), NOT[1]) == (1, "new\t%s\n" % NOT[1], "")
    assert len(web.log) == 1


def refusals(filters):
    body = filters["blocked"]

    def part(first, last, total, sent, **headers):
        def answer(talk):
            talk.head(206, Content_Range="bytes %d-%d/%d" % (first, last, total),
                      Content_Length=len(sent), **headers)
            talk.send(sent)
        return answer

    huge = bytearray(body[:FIRST])
    huge[112:120] = (1 << 60).to_bytes(8, "little")
    return {
        "another part": (part(5, FIRST + 4, len(body), body[5:FIRST + 5]),
                         "another part than was asked for"),
        "a longer part": (part(0, FIRST, len(body), body[:FIRST + 1]),
                          "another part than was asked for"),
        "a part that is cut": (part(0, FIRST - 1, len(body), body[:1000]), ""),
        "gzip": (lambda talk: talk.answer(body, Content_Encoding="gzip"),
                 "has a Content-Encoding that was not asked for"),
        "gone": (status(404), "is not there (404)"),
        "forbidden": (status(403), "403"),
        "a page": (lambda talk: talk.answer(b"<html>" * 50), "is not a seen filter"),
        "nothing": (lambda talk: talk.answer(b""), "too short"),
        "a head of petabytes": (part(0, FIRST - 1, 1 << 60, bytes(huge)), "checksum differs"),
        "too long for one piece": (
            lambda talk: talk.head(200, Content_Length=3 << 30),
            "longer than"),
        "another protocol": (redirect("file:///etc/passwd"), ""),
        "a private address": (redirect("http://127.0.0.2:8099/a.seen"), "127.0.0.2"),
    }


REFUSED = ["another part", "a longer part", "a part that is cut", "gzip", "gone", "forbidden",
           "a page", "nothing", "a head of petabytes", "too long for one piece",
           "another protocol", "a private address"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_refused_with_a_reason(ask, web, filters, name):
    handler, why = refusals(filters)[name]
    web["/a.seen"] = handler
    said = ask(web("/a.seen"), HAS[0])
    assert said.code == 2 and said.out == ""
    assert why in said.err and said.err.startswith("seen: " + web("/a.seen"))
    assert ask.kept() == []
    assert len(web.log) <= 2


def test_every_refusal_is_tried(filters):
    assert sorted(refusals(filters)) == sorted(REFUSED)


def test_a_body_without_end_is_left(ask, web):
    web["/a.seen"] = stream(b"x" * 65536, b"x", Content_Length=1 << 20)
    said = ask(web("/a.seen"), HAS[0])
    assert said.code == 2 and "is not a seen filter" in said.err


@pytest.mark.parametrize("slow", ["silent", "silent in the middle", "dripping"])
def test_slow_servers_are_left(ask, web, filters, slow):
    body = filters["blocked"]

    def answer(talk):
        if slow != "silent":
            talk.head(206, Content_Range="bytes 0-%d/%d" % (FIRST - 1, len(body)),
                      Content_Length=FIRST)
            talk.send(body[:1000])
        for i in range(1000, FIRST):
            if slow == "dripping":
                talk.send(body[i:i + 50])
            elif web.hung.wait(100):
                return
            if web.hung.wait(0.2):
                return

    web.hung = threading.Event()
    web["/a.seen"] = answer
    said = ask("--timeout", "1s", web("/a.seen"), HAS[0])
    web.hung.set()
    assert said.code == 2 and said.out == "" and "a.seen: " in said.err


def test_redirects_are_followed(ask, web, filters):
    web.serve("/b.seen", filters["blocked"])
    web["/a.seen"] = redirect(web("/b.seen"))
    assert ask(web("/a.seen"), HAS[0]).code == 0
    assert [talk.path for talk in web.log] == ["/a.seen", "/b.seen"] * 2


def test_private_addresses_need_leave(ask, web, filters):
    ask.allow = []
    said = ask(web.serve("/a.seen", filters["blocked"]), HAS[0])
    assert said.code == 2 and "127.0.0.1" in said.err and not web.log


def test_other_commands_say_what_can_be_done(ask, web):
    ask.allow = []
    for command in ["count"], ["add"], ["remove"], ["meta"], ["merge", "-o", "-"], \
            ["dedup", "--filter"]:
        said = ask(*command[1:], web("/a.seen"), command=command[0])
        assert said.code == 2, command
        assert "is on a web server; seen check and seen info ask it" in said.err, command


# --- the cache ---

def test_the_cache_is_for_its_owner_alone(ask, web, filters):
    url = web.serve("/a.seen", filters["blocked"])
    assert ask(url, HAS[0]).code == 0
    folder = ask.home / "cache" / "seen"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE((folder / n).stat().st_mode) == 0o600 for n in ask.kept())
    folder.chmod(0o755)
    said = ask(url, HAS[0])
    assert said.code == 0 and "not kept for later" in said.err and "chmod 700" in said.err
    assert len(web.log) == 4


def test_a_cache_with_anything_in_it_gives_right_answers(ask, web, filters):
    url = web.serve("/a.seen", filters["blocked"])
    assert ask(url, HAS[0]).code == 0
    folder = ask.home / "cache" / "seen"
    note, part = ask.kept()
    for name, bytes in ((part, b""), (part, b"x" * 300000), (note, b""), (note, b"url=x\n"),
                        (note, b"\0" * 100), (part, filters["later"]), (part, filters["small"])):
        was = {n: (folder / n).read_bytes() for n in (note, part)}
        (folder / name).write_bytes(bytes)
        assert ask(url, HAS[0], HAS[1]).code == 0, name
        assert ask(url, NOT[0]).code == 1, name
        for n in was:
            (folder / n).write_bytes(was[n])


@pytest.mark.skipif(not os.path.exists(injected.SHIM), reason="inject.c was not built")
@pytest.mark.parametrize("call, action", [("write", "ENOSPC"), ("size", "ENOSPC"), ("rename", "EACCES"),
                                          ("link", "EIO")])
def test_a_cache_that_fails_costs_no_answer_or_has_a_reason(ask, web, filters, call, action):
    url, report = web.serve("/a.seen", filters["blocked"]), str(ask.home / "report")
    clean, counted = ask.env, 100
    for nth in range(1, 100):
        if counted < nth:
            break
        for left in "cache", "data":
            shutil.rmtree(ask.home / left, ignore_errors=True)
        ask.env = {**injected.environment(report, injected.Fault(call, nth, action)), **clean}
        said = ask("--decoys", "1", url, HAS[0], NOT[0])
        counted = injected.read_report(report)[0][call]
        ask.env = clean
        right = said[:2] == (1, "seen\t%s\nnew\t%s\n" % (HAS[0], NOT[0]))
        assert right or (said.code == 2 and said.err.startswith("seen: ")), (nth, said)
        assert ask(url, HAS[0], NOT[0]).code == 1, nth
    assert 1 < nth < 40


def test_many_processes_share_it(ask, web, filters):
    url = web.serve("/a.seen", filters["blocked"])
    several = [ask.start("check", url, *HAS[i:i + 5], NOT[i]) for i in range(12)]
    for i, one in enumerate(several):
        out, err = one.communicate(b"", 100)
        assert out.decode() == "".join("seen\t%s\n" % u for u in HAS[i:i + 5]) + "new\t%s\n" % NOT[i]
        assert one.returncode == 1
        assert not err or re.fullmatch(rb"seen: .*: fetching [^\n]* parts of it, [^\n]*\n", err)
    assert len(ask.kept()) == 2


# --- nginx ---

@pytest.mark.skipif(not PROGRAM, reason="nginx is not installed")
def test_nginx_answers_with_ranges(tmp_path, filters):
    with Nginx(tmp_path / "web", {}) as server:
        (tmp_path / "web" / "pages" / "a.seen").write_bytes(filters["blocked"])
        (tmp_path / "web" / "pages" / "ribbon.seen").write_bytes(filters["ribbon"])
        ask = Asker(tmp_path, server)
        url = server.url("/a.seen")
        assert ask(url, HAS[0]).code == 0
        assert ask(url, HAS[0]).code == 0
        assert ask(url, NOT[1]).code == 1
        assert ask("--count", url, urls=HAS).out == "new\t0\nseen\t3000\n"
        assert ask(server.url("/ribbon.seen"), *HAS[:3]).code == 0
        (tmp_path / "web" / "pages" / "new").write_bytes(filters["later"])
        os.rename(tmp_path / "web" / "pages" / "new", tmp_path / "web" / "pages" / "a.seen")
        os.utime(tmp_path / "web" / "pages" / "a.seen", (1000, 1000))
        ask.home = tmp_path / "other"
        assert ask(url, NOT[0]).code in (0, 1)
    first = [one.status for one in server.log() if one.path == "/a.seen"][:3]
    assert first[0] == 206 and set(first) == {206}
