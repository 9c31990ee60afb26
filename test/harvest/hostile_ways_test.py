"""Redirects, addresses, names and patches that lead astray; see stage.py."""
import os
import subprocess
import sys

import pytest

sys.path[:0] = [os.path.dirname(__file__)]
from hostile import MAP, PATCH, Trap, bomb, digest, page, redirect, stream, url, urlset  # noqa: E402
from stage import SEEN, SPELLINGS, Cases, filters, spelled, stage  # noqa: E402, F401

cases = Cases()


# --- redirects ---------------------------------------------------------------

FORBIDDEN = ("not a public address|only http and https|name or password|user or password|"
             "the host is not found|is not a URL|bad/illegal format|not an http or https URL")


def redirected(name):
    def case(s):
        s.web["/x.seen"] = redirect(spelled(s, name).encode().decode("latin-1"))
        return s.entry("x", 2)
    cases.add(FORBIDDEN, name="redirected_to_" + name)(case)


for name in SPELLINGS:
    redirected(name)


@cases.add("redirect")
def redirected_in_a_circle(s):
    s.web["/x.seen"] = redirect("/y.seen")
    s.web["/y.seen"] = redirect("/x.seen")
    return s.entry("x", 2)


@cases.add("redirect")
def redirected_without_end(s):
    for i in range(50):
        s.web["/%d.seen" % i] = redirect("/%d.seen" % (i + 1), 301)
    s.web["/x.seen"] = redirect("/0.seen", 308)
    return s.entry("x", 2)


@cases.add("answered with 302")
def redirected_nowhere(s):
    s.web["/x.seen"] = lambda talk: talk.answer(b"", 302)
    return s.entry("x", 2)


@cases.add("not a public address")
def redirected_by_an_answer_without_end(s):
    def answer(talk):
        talk.head(302, Location="http://%s/" % s.trap)
        talk.forever(bytes(1 << 16), 1 << 30)
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@cases.add("not a public address")
def redirected_by_a_gzip_bomb(s):
    packed = bomb()
    s.web["/x.seen"] = lambda talk: talk.answer(packed, 302, Location="http://%s/" % s.trap,
                                                Content_Encoding="gzip")
    return s.entry("x", 2)


@cases.add("not a public address")
def redirected_the_second_time(s):
    s.web["/x.seen"] = redirect("/y.seen")
    s.web["/y.seen"] = redirect("http://%s/x.seen" % s.trap)
    return s.entry("x", 2)


# --- addresses and names -----------------------------------------------------

def located(name):
    def case(s):
        return s.entry("x", 1) + url(spelled(s, name).replace("x.seen", "y.seen"))
    cases.add(FORBIDDEN, name="located_at_" + name)(case)


for name in ("file", "gopher", "another_port", "hexadecimal", "ipv6_mapped", "a_user"):
    located(name)

NAMES = {
    "dots": ("/..%2f..%2fpasswd.seen", "name"),
    "encoded_dots": ("/%2e%2e%2fpasswd.seen", "name"),
    "twice_encoded_dots": ("/%252e%252e%252fpasswd.seen", "name"),
    "backslashes": ("/..%5c..%5cpasswd.seen", "name"),
    "an_absolute_path": ("/%2fetc%2fpasswd.seen", "name"),
    "a_dot_file": ("/.passwd.seen", "name"),
    "only_an_ending": ("/.seen", "name"),
    "a_zero": ("/passwd%00.seen", "control"),
    "a_line_end": ("/a%0apasswd.seen", "control"),
    "an_escape_sequence": ("/%1b%5b31mpasswd.seen", "control"),
    "wrong_utf8": ("/%c0%ae%c0%ae.seen", "UTF-8"),
    "another_direction": ("/%e2%80%aepasswd.seen", "characters"),
    "a_dash": ("/-rf.seen", "dash"),
    "300_letters": ("/" + "x" * 300 + ".seen", "200 bytes"),
    "our_own_folder": ("/.harvest%2fx.seen.json.seen", "name"),
}


def named(name):
    def case(s):
        path, _ = NAMES[name]
        s.web.serve(path, s.filters["x", 2])
        return s.entry("x", 1) + url(s.web(path), hash=digest(s.filters["x", 2]))
    cases.add(NAMES[name][1], name="named_with_" + name)(case)


for name in NAMES:
    named(name)


@cases.add("the file of this name is from")
def two_of_one_name(s):
    s.web.serve("/other/x.seen", s.filters["x", 2])
    return s.entry("x", 1) + url(s.web("/other/x.seen"), hash=digest(s.filters["x", 2]))


@cases.add("the file of this name is from")
def the_name_of_another(s):
    s.web.serve("/other/x.seen", s.filters["x", 2])
    s.web.serve("/x.seen", s.filters["x", 1])
    return url(s.web("/other/x.seen"), hash=digest(s.filters["x", 2])) + s.entry("x", 1)


@cases.add("more than 2048 bytes")
def an_address_of_a_megabyte(s):
    return s.entry("x", 1) + url(s.web("/" + "x" * (1 << 20) + ".seen"))


# --- patches: whatever is off, the whole file comes --------------------------

def patched(s, delta, announced=None, hash=None, length=None, **headers):
    """A change list that leads from 1 to 2 by this delta."""
    announced = delta if announced is None else announced
    s.web["/d"] = lambda talk: talk.answer(delta, **headers)
    ln = "<rs:ln rel='%s' href='%s' hash='%s' length='%d' type='application/vnd.seen-delta'/>" % (
        PATCH, s.web("/d"), hash or digest(announced), len(announced) if length is None else length)
    x1, x2 = s.filters["x", 1], s.filters["x", 2]
    s.web["/changes.xml"] = page(urlset(
        url(s.web("/x.seen"), change="created", hash=digest(x1), length=len(x1)),
        url(s.web("/x.seen"), extra=ln, change="updated", hash=digest(x2), length=len(x2)),
        capability="changelist"), "application/xml")
    s.web["/capabilities.xml"] = page(urlset(
        url(s.web("/changes.xml"), capability="changelist"), capability="capabilitylist"),
        "application/xml")
    s.up = s.web("/capabilities.xml")
    return s.entry("x", 2)


@cases.add("", recovers=True)
def a_patch_that_is_none(s):
    return patched(s, os.urandom(500))


@cases.add("", recovers=True)
def a_patch_with_another_hash(s):
    return patched(s, os.urandom(500), hash=digest(b""))


@cases.add("", recovers=True)
def a_patch_that_is_longer_than_announced(s):
    return patched(s, bytes(1 << 20), announced=bytes(100))


@cases.add("", recovers=True)
def a_patch_that_is_shorter_than_announced(s):
    return patched(s, bytes(50), announced=bytes(100))


@cases.add("", recovers=True)
def a_patch_that_is_larger_than_the_file(s):
    return patched(s, bytes(1 << 20))


@cases.add("", recovers=True)
def a_patch_that_is_a_gzip_bomb(s):
    packed = bomb()
    return patched(s, packed, length=5000, Content_Encoding="gzip")


@cases.add("", recovers=True)
def a_patch_that_is_not_there(s):
    entry = patched(s, bytes(100))
    del s.web.pages["/d"]
    return entry


@cases.add("", recovers=True)
def a_patch_somewhere_forbidden(s):
    entry = patched(s, bytes(100))
    s.web["/d"] = redirect("http://%s/d" % s.trap)
    return entry


@cases.add("", recovers=True)
def a_patch_for_another_base(s):
    work = s.where / "deltas"
    work.mkdir()
    delta = make_delta(work, s.filters["good", 1], s.filters["good", 2])
    s.before = s.outside()
    return patched(s, delta)


@cases.add("", recovers=True)
def a_change_list_that_is_no_list(s):
    entry = patched(s, bytes(100))
    s.web["/changes.xml"] = stream(b"<" * 1000, b"<urlset " + MAP.encode() + b">")
    return entry


@cases.add("", recovers=True)
def a_change_list_of_a_thousand_patches(s):
    entry = patched(s, bytes(100))
    x1 = s.filters["x", 1]
    ln = "<rs:ln rel='%s' href='%s' hash='%s' length='1'/>" % (PATCH, s.web("/d"), digest(b"d"))
    s.web["/changes.xml"] = page(urlset(
        url(s.web("/x.seen"), hash=digest(x1)),
        *(url(s.web("/x.seen"), extra=ln, hash=digest(b"%d" % i)) for i in range(1000)),
        capability="changelist"), "application/xml")
    return entry


def make_delta(work, old, new):
    """By seen publish, which is the one that makes them."""
    shared = work / "shared"
    shared.mkdir()
    for data in (old, new):
        (shared / "f.seen").write_bytes(data)
        subprocess.run([SEEN, "publish", shared, "--url", "http://a.example/", "--deltas", "2"],
                       check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deltas = list((shared / "deltas").rglob("*.delta"))
    assert len(deltas) == 1
    return deltas[0].read_bytes()


# --- all of them -------------------------------------------------------------

@pytest.mark.parametrize("case", cases)
def test_a_hostile_way_is_not_gone_and_the_rest_goes_on(stage, case):      # noqa: F811
    cases.play(stage, case, True)


def test_the_traps_would_notice(stage):                                     # noqa: F811
    """All that keeps us from them is the guard."""
    stage.web["/sitemap.xml"] = page(urlset(url("http://%s/x.seen" % stage.trap)))
    stage.harvest(stage.web("/sitemap.xml"))
    assert stage.traps[0].count() == 0
    stage.harvest(stage.web("/sitemap.xml"), "--allow-private")
    assert stage.traps[0].count() > 0


def test_these_are_many_cases():
    assert len(cases) >= 65


def test_without_leave_nothing_of_the_loopback_is_connected_to(tmp_path):
    """Whatever is asked for, however it is spelled."""
    trap = Trap()
    for host in ("127.0.0.1", "localhost", "0x7f.1", "127.1", "2130706433", "[::ffff:127.0.0.1]",
                 "0.0.0.0", "localhost."):
        for path in ("/", "/sitemap.xml", "/x.seen", "/list.txt"):
            done = subprocess.run([SEEN, "harvest", "http://%s:%d%s" % (host, trap.port, path),
                                   "--into", tmp_path / "in", "--timeout", "1s"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            assert done.returncode == 2
            assert b"public" in done.stderr or b"resolve" in done.stderr or b"found" in done.stderr, done.stderr
    assert trap.count() == 0
    trap.close()
