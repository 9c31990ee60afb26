"""What comes from the web is hostile: each case is one way to be so.

Every case begins with a folder into which two filters were harvested, x and
good. Then x, or the list that names it, turns hostile, while good changes to
its next version. Of each case it is asserted that

  - the harvest says what is wrong, in words, and exits with 2;
  - good is taken all the same;
  - x stays byte for byte, also with --remove-withdrawn;
  - nothing is written outside the folder, and nothing odd into it;
  - with no more than 64 MB of memory (RLIMIT_DATA: all but the maps);
  - nobody came to the ports where nobody may go.
"""
import gzip
import os
import re
import resource
import socket
import struct
import subprocess
import sys
import time
import zlib

import pytest
import xxhash

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "../serve"),
                os.path.join(os.path.dirname(__file__), "../store")]
from hostile import (MAP, PATCH, Trap, Web, bomb, digest, index, md, page, redirect, status,  # noqa: E402
                     stream, url, urlset)
from serving import SANITIZED, SEEN, build  # noqa: E402

MEMORY = 64 << 20
BROKEN = os.path.join(os.path.dirname(__file__), "../data/broken")


# --- the frame ---------------------------------------------------------------

@pytest.fixture(scope="module")
def filters(tmp_path_factory):
    """Two versions of two filters, as bytes."""
    where, made = tmp_path_factory.mktemp("filters"), {}
    for name, capacity in (("x", 20000), ("good", 3000)):
        for version in (1, 2):
            path = where / "f.seen"
            build(path, ["http://%s.example/%d" % (name, i) for i in range(400 * version)],
                  "--capacity", str(capacity))
            made[name, version] = path.read_bytes()
            path.unlink()
    return made


class Stage:
    """A web, a folder to harvest into, and traps beside the way."""

    def __init__(self, where, web, filters):
        self.web, self.filters, self.where = web, filters, where
        self.folder = where / "harvested" / "filters"
        self.folder.parent.mkdir()
        (where / "harvested" / "passwd.seen").write_bytes(b"not yours")
        self.traps = [Trap(), Trap("127.0.0.2")]
        if socket.has_ipv6:
            try:
                self.traps.append(Trap("::1", socket.AF_INET6))
            except OSError:
                pass
        self.trap = "127.0.0.1:%d" % self.traps[0].port
        self.trap_port = self.traps[0].port

    def harvest(self, *words):
        def limit():
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        done = subprocess.run([SEEN, "harvest", *words, "--into", self.folder, "--timeout", "1s",
                               "--allow", "127.0.0.1:%d" % self.web.port],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit,
                              timeout=120, cwd=self.where)
        self.said = done.stderr.decode()
        self.printed = done.stdout.decode()
        assert "\x1b" not in self.said + self.printed
        return done.returncode

    def entry(self, name, version, **other):
        data = self.filters[name, version]
        values = {"hash": digest(data), "length": len(data), "type": "application/vnd.seen", **other}
        return url(self.web("/%s.seen" % name), "2026-11-0%dT10:00:00Z" % version, **values)

    def begin(self, hostile):
        """Both, as they were before."""
        for name in ("x", "good"):
            self.web.serve("/%s.seen" % name, self.filters[name, 1])
        self.web.serve("/good.xml", urlset(self.entry("good", 1)))
        self.web[hostile] = page(urlset(self.entry("x", 1)), "application/xml")
        code = self.harvest(self.web(hostile), self.web("/good.xml"))
        assert code == 0, self.said
        self.web.serve("/good.seen", self.filters["good", 2])
        self.web.serve("/x.seen", self.filters["x", 2])
        self.web.serve("/good.xml", urlset(self.entry("good", 2)))
        self.before = self.outside()

    def outside(self):
        return {path: path.read_bytes() for path in self.where.rglob("*")
                if path.is_file() and self.folder not in path.parents}

    def read(self, name):
        return (self.folder / (name + ".seen")).read_bytes()

    def judge(self, x=1):
        """What must be true whatever happened."""
        assert self.read("good") == self.filters["good", 2], self.said
        assert self.read("x") == self.filters["x", x], self.said
        assert self.outside() == self.before
        names = {path.name for path in self.folder.iterdir()}
        assert names <= {"x.seen", "good.seen", ".harvest"}, names
        for path in (self.folder / ".harvest").iterdir():
            assert re.fullmatch(r"lock|(x|good)\.seen\.(json|part)", path.name), path
        for trap in self.traps:
            assert trap.count() == 0, "somebody went where nobody may go"

    def end(self):
        for trap in self.traps:
            trap.close()


@pytest.fixture
def stage(tmp_path, filters):
    with Web() as web:
        stage = Stage(tmp_path, web, filters)
        yield stage
        stage.end()


ITEMS, LISTS = {}, {}


def item(reason, recovers=False):
    """A case in which x itself is hostile. The function gives its entries."""
    def register(function):
        assert function.__name__ not in ITEMS
        ITEMS[function.__name__] = function, reason, recovers
        return function
    return register


def listed(reason, recovers=False):
    """A case in which the list that should name x is hostile."""
    def register(function):
        assert function.__name__ not in LISTS
        LISTS[function.__name__] = function, reason, recovers
        return function
    return register


# --- the size ----------------------------------------------------------------

@item("SHA-256 is not the one announced")
def a_hash_that_lies(s):
    return s.entry("x", 2, hash=digest(b"something else"))


@item("longer than 100 bytes")
def a_length_that_is_too_small(s):
    return s.entry("x", 2, length=100)


@item("instead of the 9999999 announced")
def a_length_that_is_too_large(s):
    return s.entry("x", 2, length=9999999)


@item("longer than")
def longer_than_announced_without_saying(s):
    s.web["/x.seen"] = stream(s.filters["x", 2])
    return s.entry("x", 2)


@item("instead of the|shorter|cut")
def shorter_than_announced_without_saying(s):
    def answer(talk):
        talk.head(200)
        talk.send(s.filters["x", 2][:1000])
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@item("cut|short|closed|ended")
def cut_in_the_middle_every_time(s):
    def answer(talk):
        talk.head(200, Content_Length=len(s.filters["x", 2]))
        talk.send(s.filters["x", 2][:1000])
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@item("more than the")
def a_terabyte_announced(s):
    return s.entry("x", 2, length=1 << 40)


@item("longer than")
def a_terabyte_in_the_head(s):
    def answer(talk):
        talk.head(200, Content_Length=1 << 40)
        talk.forever(bytes(1 << 16), 1 << 26)
    s.web["/x.seen"] = answer
    return url(s.web("/x.seen"))


@item("longer|more")
def a_stream_without_end_or_length(s):
    s.web["/x.seen"] = stream(bytes(1 << 16))
    s.words = ["--max-size", "20M"]
    return url(s.web("/x.seen"))


@item("Content-Encoding")
def a_gzip_bomb_as_a_file(s):
    packed = bomb()
    s.web["/x.seen"] = lambda talk: talk.answer(packed, Content_Encoding="gzip")
    return s.entry("x", 2)


@item("negative|HTTP|length|parse|invalid|answer|cut|Weird|longer|head")
def a_length_below_nothing(s):
    def answer(talk):
        talk.head(200, Content_Length=-5)
        talk.send(s.filters["x", 2])
    s.web["/x.seen"] = answer
    return url(s.web("/x.seen"), hash=digest(b"no"))


# --- the bytes ---------------------------------------------------------------

def other_bytes(s, data):
    """Announced as it should be: only the file itself is wrong."""
    s.web.serve("/x.seen", data)
    return url(s.web("/x.seen"), hash=digest(data), length=len(data))


def head_with(data, **fields):
    """The same file with other fields in its head, and its checksum."""
    at = {"format": (8, "<I"), "state": (16, "<I"), "text_len": (48, "<Q"), "leaves": (64, "<Q"),
          "cells_len": (104, "<Q"), "length": (112, "<Q")}
    head = bytearray(data[:128])
    for name, value in fields.items():
        struct.pack_into(at[name][1], head, at[name][0], value)
    struct.pack_into("<Q", head, 120, xxhash.xxh3_64_intdigest(bytes(head[:120])))
    return bytes(head) + data[128:]


def broken(name, reason):
    def case(s):
        with open(os.path.join(BROKEN, name + ".seen"), "rb") as file:
            return other_bytes(s, file.read())
    case.__name__ = "a_file_that_is_broken_" + name.replace("-", "_")
    item(reason)(case)


broken("cells", "checksum differs")
broken("cut", "cut short|bytes instead of")
broken("empty", "too short")
broken("gap", "bytes where there should be none")
broken("head", "checksum differs in the head")
broken("later-format", "format version")
broken("later-hash", "hash version")
broken("later-kind", "kind")
broken("later-name", "must be understood|name|know")
broken("table", "checksum differs in the table")
broken("text", "checksum differs in the text")
broken("text-mode", "not a filter")
broken("trailing", "added to|bytes instead")
broken("unsealed", "was being written")


@item("not a filter of seen")
def a_file_that_is_no_filter(s):
    return other_bytes(s, os.urandom(100000))


@item("not a filter of seen|too short")
def a_page_instead(s):
    return other_bytes(s, b"<!DOCTYPE html><html><body>Please log in" + b" " * 200)


@item("checksum differs")
def a_flipped_cell(s):
    data = bytearray(s.filters["x", 2])
    data[-3] ^= 1
    return other_bytes(s, bytes(data))


@item("plan of more than")
def a_plan_of_sixteen_megabytes(s):
    data = head_with(s.filters["x", 2], text_len=16 << 20)
    return other_bytes(s, data + bytes(17 << 20))


@item("makes no sense|bytes instead|cut short")
def a_head_that_asks_for_a_terabyte(s):
    return other_bytes(s, head_with(s.filters["x", 2], cells_len=1 << 40, length=(1 << 40) + 4096))


def with_text(data, change):
    """The same file with another plan, and all checksums as they should be."""
    text_len, = struct.unpack_from("<Q", data, 48)
    text = change(data[128:128 + text_len])
    leaves, blocks, table_at = struct.unpack_from("<QQQ", data, 64)
    table = data[table_at:table_at + 8 * (leaves + blocks)]
    cells_at, cells_len = struct.unpack_from("<QQ", data, 96)
    cells = data[cells_at:]
    head = bytearray(data[:128])
    table_at = -(-(128 + len(text)) // 8) * 8
    cells_at = -(-(table_at + len(table)) // 4096) * 4096
    text_sum, table_sum = xxhash.xxh3_64_intdigest(text), xxhash.xxh3_64_intdigest(table)
    applied, offered = struct.unpack_from("<QQ", data, 32)
    identity = xxhash.xxh3_64_intdigest(struct.pack("<4Q", text_sum, table_sum, applied, offered))
    struct.pack_into("<Q", head, 24, identity)
    struct.pack_into("<QQQQQQQQQ", head, 48, len(text), text_sum, leaves, blocks, table_at, table_sum,
                     cells_at, cells_len, cells_at + len(cells))
    struct.pack_into("<Q", head, 120, xxhash.xxh3_64_intdigest(bytes(head[:120])))
    front = bytes(head) + text
    front += bytes(table_at - len(front)) + table
    return front + bytes(cells_at - len(front)) + cells


@item("canonical|cells|size")
def a_plan_that_asks_for_a_terabyte(s):
    data = with_text(s.filters["x", 2],
                     lambda text: re.sub(rb"size=\d+", b"size=1099511627776",
                                         re.sub(rb"bits=\d+", b"bits=8796093022208", text)))
    assert data != s.filters["x", 2]
    return other_bytes(s, data)


@item("part|text|plan|kind|canonical")
def a_plan_of_ten_thousand_parts(s):
    part = b"part=1 kind=bloom capacity=612 rate=0.01 bits=6144 probes=7 seed=1 at=0 size=768\n"
    return other_bytes(s, with_text(s.filters["x", 2], lambda text: text + part * 10000))


# --- answers -----------------------------------------------------------------

def answers(code, reason, **headers):
    def case(s):
        s.web["/x.seen"] = status(code, **headers)
        return s.entry("x", 2)
    case.__name__ = "answered_with_%d" % code
    item(reason)(case)


answers(204, "204|bytes instead|cut|answer")
answers(206, "part|range|206|changed|answer")
answers(304, "304")
answers(401, "wants a password", WWW_Authenticate="Basic")
answers(403, "forbidden")
answers(404, "not found")
answers(410, "gone")
answers(416, "416")
answers(429, "too many requests", Retry_After="100000")
answers(500, "fault of the server")
answers(999, "HTTP")


@item("HTTP|status|answer|reset|cut|parse")
def no_http_at_all(s):
    s.web["/x.seen"] = lambda talk: talk.send(b"\x00\xff220 welcome to the mail server\r\n" * 100)
    return s.entry("x", 2)


@item("head|header|large|long")
def a_head_without_end(s):
    def answer(talk):
        talk.send(b"HTTP/1.1 200 OK\r\n")
        talk.forever(b"X-More: " + b"x" * 1000 + b"\r\n", 1 << 28)
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@item("the connection broke")
def reset_at_once(s):
    s.web["/x.seen"] = lambda talk: talk.reset()
    return s.entry("x", 2)


@item("the connection broke")
def reset_in_the_middle(s):
    def answer(talk):
        talk.head(200, Content_Length=len(s.filters["x", 2]))
        talk.send(s.filters["x", 2][:5000])
        time.sleep(0.05)
        talk.reset()
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@item("nothing|slow|time|stall|late|sent")
def silence(s):
    s.web["/x.seen"] = lambda talk: time.sleep(8)
    return s.entry("x", 2)


@item("slow|time|bytes a second|stall")
def a_byte_now_and_then(s):
    def answer(talk):
        talk.head(200, Content_Length=len(s.filters["x", 2]))
        for i in range(160):
            talk.send(s.filters["x", 2][i * 5:i * 5 + 5])
            time.sleep(0.05)
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@item("chunk|cut|HTTP|parse|answer|malformed|fail|Weird|receiv")
def chunks_that_lie(s):
    def answer(talk):
        talk.head(200, Transfer_Encoding="chunked")
        talk.send(b"ffffffffffffffff\r\n" + s.filters["x", 2] + b"\r\n0\r\n\r\n")
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


# --- changes while it is fetched --------------------------------------------

@item("cut|changed|short|closed|SHA-256")
def another_version_at_every_request(s):
    count = [0]

    def answer(talk):
        count[0] += 1
        talk.web.serve("/other", s.filters["x", 2], ETag='"%d"' % count[0])
        if "range" in talk.headers:         # says so by its tag
            begin = int(talk.headers["range"][6:].split("-")[0])
            talk.head(206, Content_Range="bytes %d-%d/%d" % (begin, begin + 9, len(s.filters["x", 2])),
                      Content_Length=10, ETag='"%d"' % count[0])
            talk.send(bytes(10))
        else:
            talk.head(200, Content_Length=len(s.filters["x", 2]), ETag='"%d"' % count[0])
            talk.send(s.filters["x", 2][:4000])
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@item("", recovers=True)
def another_version_after_a_cut(s):
    """If-Range tells, and the whole new file comes instead of its rest."""
    count = [0]

    def answer(talk):
        count[0] += 1
        if count[0] == 1:
            talk.head(200, Content_Length=len(s.filters["x", 2]), ETag='"old"')
            talk.send(os.urandom(4000))
        else:
            assert talk.headers["if-range"] == '"old"'
            talk.answer(s.filters["x", 2], ETag='"new"')
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@item("", recovers=True)
def a_rest_that_does_not_fit(s):
    """The server takes it for the same version, but it is none: once more."""
    count = [0]

    def answer(talk):
        count[0] += 1
        data = s.filters["x", 2]
        if count[0] == 1:
            talk.head(200, Content_Length=len(data), ETag='"1"')
            talk.send(os.urandom(4000))
        elif "range" in talk.headers:
            talk.head(206, Content_Length=len(data) - 4000, ETag='"1"',
                      Content_Range="bytes 4000-%d/%d" % (len(data) - 1, len(data)))
            talk.send(data[4000:])
        else:
            talk.answer(data, ETag='"1"')
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@item("range|part|cut|changed|answer|asked")
def another_range_than_asked_for(s):
    def answer(talk):
        data = s.filters["x", 2]
        if "range" in talk.headers:
            talk.head(206, Content_Length=100, Content_Range="bytes 0-99/%d" % len(data), ETag='"1"')
            talk.send(data[:100])
        else:
            talk.head(200, Content_Length=len(data), ETag='"1"')
            talk.send(data[:4000])
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@item("", recovers=True)
def a_server_that_fails_twice(s):
    count = [0]

    def answer(talk):
        count[0] += 1
        if count[0] < 3:
            talk.answer(b"", 503, Retry_After="0")
        else:
            talk.answer(s.filters["x", 2])
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


# --- redirects ---------------------------------------------------------------

SPELLINGS = {
    "file": "file:///etc/passwd",
    "gopher": "gopher://{trap}/_x",
    "ftp": "ftp://{trap}/x.seen",
    "data": "data:application/octet-stream,x",
    "dict": "dict://{trap}/",
    "another_port": "http://{trap}/x.seen",
    "without_scheme": "//{trap}/x.seen",
    "short_spelling": "http://127.1:{port}/x.seen",
    "hexadecimal": "http://0x7f000001:{port}/x.seen",
    "decimal": "http://2130706433:{port}/x.seen",
    "octal": "http://0177.0.0.1:{port}/x.seen",
    "full_width": "http://\uff11\uff12\uff17.0.0.1:{port}/x.seen",
    "another_loopback": "http://127.0.0.2:{second}/x.seen",
    "localhost": "http://localhost:{port}/x.seen",
    "localhost_with_dot": "http://localhost.:{port}/x.seen",
    "nothing": "http://0.0.0.0:{port}/x.seen",
    "ipv6_loopback": "http://[::1]:{sixth}/x.seen",
    "ipv6_mapped": "http://[::ffff:127.0.0.1]:{port}/x.seen",
    "ipv6_mapped_hex": "http://[::ffff:7f00:1]:{port}/x.seen",
    "ipv6_compatible": "http://[::127.0.0.1]:{port}/x.seen",
    "nat64": "http://[64:ff9b::7f00:1]:{port}/x.seen",
    "link_local": "http://169.254.169.254/latest/meta-data/",
    "private_10": "http://10.0.0.1/x.seen",
    "private_172": "http://172.16.0.1/x.seen",
    "private_192": "http://192.168.1.1/x.seen",
    "carrier": "http://100.64.0.1/x.seen",
    "ipv6_link_local": "http://[fe80::1]/x.seen",
    "ipv6_private": "http://[fc00::1]/x.seen",
    "a_user": "http://u:p@{trap}/x.seen",
}
FORBIDDEN = ("not a public address|http|scheme|protocol|password|user|forbidden|port|redirect|"
             "cannot be found|resolve|URL")


def spelled(s, name):
    return SPELLINGS[name].format(trap=s.trap, port=s.trap_port, second=s.traps[1].port,
                                  sixth=s.traps[-1].port)


def redirected(name):
    def case(s):
        s.web["/x.seen"] = redirect(spelled(s, name).encode().decode("latin-1"))
        return s.entry("x", 2)
    case.__name__ = "redirected_to_" + name
    item(FORBIDDEN)(case)


for name in SPELLINGS:
    redirected(name)


@item("redirect")
def redirected_in_a_circle(s):
    s.web["/x.seen"] = redirect("/y.seen")
    s.web["/y.seen"] = redirect("/x.seen")
    return s.entry("x", 2)


@item("redirect")
def redirected_without_end(s):
    for i in range(50):
        s.web["/%d.seen" % i] = redirect("/%d.seen" % (i + 1), 301)
    s.web["/x.seen"] = redirect("/0.seen", 308)
    return s.entry("x", 2)


@item("answered with 302")
def redirected_nowhere(s):
    s.web["/x.seen"] = lambda talk: talk.answer(b"", 302)
    return s.entry("x", 2)


@item("not a public address")
def redirected_by_an_answer_without_end(s):
    def answer(talk):
        talk.head(302, Location="http://%s/" % s.trap)
        talk.forever(bytes(1 << 16), 1 << 30)
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@item("not a public address")
def redirected_by_a_gzip_bomb(s):
    packed = bomb()
    s.web["/x.seen"] = lambda talk: talk.answer(packed, 302, Location="http://%s/" % s.trap,
                                                Content_Encoding="gzip")
    return s.entry("x", 2)


@item("not a public address")
def redirected_the_second_time(s):
    s.web["/x.seen"] = redirect("/y.seen")
    s.web["/y.seen"] = redirect("http://%s/x.seen" % s.trap)
    return s.entry("x", 2)


# --- addresses and names -----------------------------------------------------

def located(name):
    def case(s):
        return s.entry("x", 1) + url(spelled(s, name))
    case.__name__ = "located_at_" + name
    item(FORBIDDEN + "|no http|name|refused")(case)


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
    case.__name__ = "named_with_" + name
    item(NAMES[name][1])(case)


for name in NAMES:
    named(name)


@item("has the name of")
def two_of_one_name(s):
    s.web.serve("/other/x.seen", s.filters["x", 2])
    return s.entry("x", 1) + url(s.web("/other/x.seen"), hash=digest(s.filters["x", 2]))


@item("the file of this name is from")
def the_name_of_another(s):
    s.web.serve("/other/x.seen", s.filters["x", 2])
    return url(s.web("/other/x.seen"), hash=digest(s.filters["x", 2]))


@item("more than 2048 bytes")
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


@item("", recovers=True)
def a_patch_that_is_none(s):
    return patched(s, os.urandom(500))


@item("", recovers=True)
def a_patch_with_another_hash(s):
    return patched(s, os.urandom(500), hash=digest(b""))


@item("", recovers=True)
def a_patch_that_is_longer_than_announced(s):
    return patched(s, bytes(1 << 20), announced=bytes(100))


@item("", recovers=True)
def a_patch_that_is_shorter_than_announced(s):
    return patched(s, bytes(50), announced=bytes(100))


@item("", recovers=True)
def a_patch_that_is_larger_than_the_file(s):
    return patched(s, bytes(1 << 20))


@item("", recovers=True)
def a_patch_that_is_a_gzip_bomb(s):
    packed = bomb()
    return patched(s, packed, length=5000, Content_Encoding="gzip")


@item("", recovers=True)
def a_patch_that_is_not_there(s):
    entry = patched(s, bytes(100))
    del s.web.pages["/d"]
    return entry


@item("", recovers=True)
def a_patch_somewhere_forbidden(s):
    entry = patched(s, bytes(100))
    s.web["/d"] = redirect("http://%s/d" % s.trap)
    return entry


@item("", recovers=True)
def a_patch_for_another_base(s):
    work = s.where / "deltas"
    work.mkdir()
    delta = make_delta(work, s.filters["good", 1], s.filters["good", 2])
    s.before = s.outside()
    return patched(s, delta)


@item("", recovers=True)
def a_change_list_that_is_no_list(s):
    entry = patched(s, bytes(100))
    s.web["/changes.xml"] = stream(b"<" * 1000, b"<urlset " + MAP.encode() + b">")
    return entry


@item("", recovers=True)
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


# --- lists -------------------------------------------------------------------

def xml(text):
    return page(text if isinstance(text, bytes) else text.encode(), "application/xml")


def doc(prolog, inside=""):
    return "<?xml version='1.0'?>" + prolog + "<urlset " + MAP + ">" + inside + "</urlset>"


@listed("DOCTYPE")
def a_doctype(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE urlset>", s.entry("x", 2)))


@listed("DOCTYPE")
def an_entity(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE urlset [<!ENTITY x 'y'>]>", s.entry("x", 2)))


@listed("DOCTYPE")
def a_billion_laughs(s):
    laughs = "".join("<!ENTITY l%d '%s'>" % (i + 1, ("&l%d;" % i) * 10) for i in range(10))
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE urlset [<!ENTITY l0 'ha'>%s]>" % laughs,
                                    "<url><loc>&l10;</loc></url>"))


@listed("DOCTYPE")
def quadratic_laughs(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE urlset [<!ENTITY a '%s'>]>" % ("a" * 60000),
                                    "<url><loc>%s</loc></url>" % ("&a;" * 10000)))


@listed("DOCTYPE")
def a_dtd_elsewhere(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE urlset SYSTEM 'http://%s/x.dtd'>" % s.trap))


@listed("DOCTYPE")
def a_file_as_an_entity(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>]>",
                                    "<url><loc>http://%s/&f;</loc></url>" % s.trap))


@listed("DOCTYPE")
def a_parameter_entity_elsewhere(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE x [<!ENTITY %% p SYSTEM 'http://%s/'> %%p;]>" % s.trap))


@listed("well-formed")
def an_entity_that_nobody_declared(s):
    s.web["/hostile.xml"] = xml(doc("", "<url><loc>&x;</loc></url>"))


@listed("", recovers=True)
def includes_and_style_sheets_elsewhere(s):
    s.web["/hostile.xml"] = xml(doc(
        "<?xml-stylesheet href='http://%s/x.xsl'?>" % s.trap,
        "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='http://%s/'/>" % s.trap +
        s.entry("x", 2)))


@listed("deep")
def elements_in_elements(s):
    s.web["/hostile.xml"] = xml("<urlset %s>" % MAP + "<a>" * 100000)


@listed("without end|well-formed")
def a_tag_without_end(s):
    s.web["/hostile.xml"] = stream(b"x" * 65536, b"<urlset " + MAP.encode() + b"><")


@listed("without end")
def an_attribute_without_end(s):
    s.web["/hostile.xml"] = stream(b"x" * 65536, b"<urlset " + MAP.encode() + b"><url a='")


@listed("without end")
def a_comment_without_end(s):
    s.web["/hostile.xml"] = stream(b"x<y>" * 16384, b"<urlset " + MAP.encode() + b"><!--")


@listed("MB|more than|longer|bytes")
def a_text_without_end(s):
    s.web["/hostile.xml"] = stream(b"x" * 65536, b"<urlset " + MAP.encode() + b"><url><loc>")


@listed("attributes|without end|well-formed")
def attributes_without_end(s):
    def answer(talk):
        talk.head(200)
        talk.send(b"<urlset " + MAP.encode() + b"><url ")
        for i in range(10000000):
            talk.send(b"a%d='' " % i)
    s.web["/hostile.xml"] = answer


@listed("dict|names|well-formed|memory")
def names_without_end(s):
    s.web["/hostile.xml"] = xml("<urlset %s>" % MAP + "".join("<n%d/>" % i for i in range(300000)))


@listed("more than 500,000 entries|bytes|MB|longer")
def entries_without_end(s):
    s.web["/hostile.xml"] = stream(url("http://a.example/").encode() * 1000,
                                   b"<urlset " + MAP.encode() + b">")


@listed("kept in mind")
def a_million_filters(s):
    s.words = ["--dry-run"]
    s.web["/hostile.xml"] = xml(urlset(*(url("http://a.example/%s/%d.seen" % ("x" * 50, i))
                                         for i in range(200000))))


@listed("no XML|neither|zero")
def gigabytes_of_zeros(s):
    s.web["/hostile.xml"] = stream(bytes(1 << 16))


@listed("longer than")
def a_gzip_bomb_as_a_sitemap(s):
    packed = bomb(b"<urlset " + MAP.encode() + b">", b" ")
    s.web["/hostile.xml"] = lambda talk: talk.answer(packed, Content_Encoding="gzip")


@listed("longer than")
def a_gzip_bomb_as_a_file_of_a_sitemap(s):
    packed = bomb(b"<urlset " + MAP.encode() + b"><url><loc>", b"x")
    s.web["/hostile.xml"] = page(packed, "application/gzip")


@listed("XML|neither|zero|gzip|list")
def a_gzip_bomb_in_a_gzip_bomb(s):
    packed = gzip.compress(bomb())
    s.web["/hostile.xml"] = lambda talk: talk.answer(packed, Content_Encoding="gzip")


@listed("not a public address")
def a_gzip_bomb_that_redirects(s):
    packed = bomb()
    s.web["/hostile.xml"] = lambda talk: talk.answer(packed, 301, Content_Encoding="gzip",
                                                     Location="http://%s/" % s.trap)


@listed("gzip|cut|corrupt|damaged")
def gzip_that_is_cut(s):
    packed = gzip.compress(urlset(s.entry("x", 2)) * 50)[:100]
    s.web["/hostile.xml"] = lambda talk: talk.answer(packed, Content_Encoding="gzip")


@listed("index inside an index")
def an_index_of_indices(s):
    s.web["/hostile.xml"] = xml(index(s.web("/1.xml")))
    s.web["/1.xml"] = xml(index(s.web("/2.xml")))
    s.web["/2.xml"] = xml(urlset(s.entry("x", 2)))


@listed("", recovers=True)
def an_index_that_names_itself(s):
    s.web["/hostile.xml"] = xml(index(s.web("/hostile.xml"), s.web("/1.xml"), s.web("/hostile.xml")))
    s.web["/1.xml"] = xml(urlset(s.entry("x", 2)))


@listed("index inside an index")
def indices_that_name_each_other(s):
    s.web["/hostile.xml"] = xml(index(s.web("/1.xml")))
    s.web["/1.xml"] = xml(index(s.web("/hostile.xml")))


@listed("more than 250 lists")
def an_index_of_thousands(s):
    s.web["/hostile.xml"] = xml(index(*(s.web("/%d.xml" % i) for i in range(3000))))
    for i in range(3000):
        s.web["/%d.xml" % i] = xml(urlset())


@listed("too deep")
def capability_lists_in_a_chain(s):
    for i in range(20):
        s.web["/hostile.xml" if not i else "/%d.xml" % i] = xml(urlset(
            url(s.web("/%d.xml" % (i + 1)), capability="resourcelist"), capability="capabilitylist"))


@listed("", recovers=True)
def capability_lists_in_a_circle(s):
    s.web["/hostile.xml"] = xml(urlset(
        url(s.web("/hostile.xml"), capability="capabilitylist"),
        url(s.web("/1.xml"), capability="capabilitylist"), capability="description"))
    s.web["/1.xml"] = xml(urlset(
        url(s.web("/hostile.xml"), capability="resourcelist"),
        url(s.web("/2.xml"), capability="resourcelist"), capability="capabilitylist"))
    s.web["/2.xml"] = xml(urlset(s.entry("x", 2), up=s.web("/1.xml")))


@listed("not a public address")
def a_list_somewhere_forbidden(s):
    s.web["/hostile.xml"] = xml(index("http://%s/s.xml" % s.trap))


@listed("not a public address")
def a_list_that_redirects_somewhere_forbidden(s):
    s.web["/hostile.xml"] = redirect("http://%s/s.xml" % s.trap)


@listed("well-formed")
def a_list_that_is_cut_but_says_it_is_whole(s):
    s.web["/hostile.xml"] = xml(urlset(s.entry("x", 1))[:-12])


@listed("cut|short|closed|ended")
def a_list_that_is_cut(s):
    def answer(talk):
        whole = urlset(s.entry("x", 1))
        talk.head(200, Content_Length=len(whole))
        talk.send(whole[:-12])
    s.web["/hostile.xml"] = answer


@listed("slow|second|time")
def a_list_that_drips(s):
    def answer(talk):
        talk.head(200, Content_Type="application/xml")
        talk.send(b"<urlset " + MAP.encode() + b">")
        for _ in range(200):
            talk.send(b"   ")
            time.sleep(0.05)
    s.web["/hostile.xml"] = answer


@listed("no XML|UTF-8|neither|zero")
def utf16(s):
    s.web["/hostile.xml"] = xml(urlset(s.entry("x", 2)).decode().encode("utf-16"))


@listed("another element")
def another_kind_of_xml(s):
    s.web["/hostile.xml"] = xml("<rss version='2.0'><channel/></rss>")


@listed("nothing|empty|neither")
def an_empty_list(s):
    s.web["/hostile.xml"] = xml("")


@listed("fault of the server")
def a_list_with_a_fault_of_its_server(s):
    s.web["/hostile.xml"] = status(500)


@listed("not found")
def a_list_that_is_gone(s):
    s.web["/hostile.xml"] = status(404)


# --- sites and registries ----------------------------------------------------

@listed("announces no filters")
def a_page_of_a_site_without_filters(s):
    s.web["/hostile.xml"] = page(b"<!DOCTYPE html><title>Hello</title>")


@listed("announces no filters|sitemap|longer")
def a_robots_txt_of_a_gigabyte(s):
    s.web["/hostile.xml"] = page(b"<!DOCTYPE html><title>Hello</title>")
    s.web["/robots.txt"] = stream(b"Disallow: /\n" * 1000, most=1 << 30, Content_Type="text/plain")


@listed("announces no filters|not a public|sitemap")
def a_robots_txt_that_leads_astray(s):
    s.web["/hostile.xml"] = page(b"<!DOCTYPE html><title>Hello</title>")
    s.web["/robots.txt"] = page(("Sitemap: file:///etc/passwd\nSitemap: http://%s/s.xml\n"
                                 "Sitemap: ../x\n" % s.trap).encode(), "text/plain")


@listed("no http or https URL")
def a_registry_of_files(s):
    s.web["/hostile.xml"] = page(b"file:///etc/passwd\n\x1b[31mred\n/etc/passwd\n", "text/plain")


@listed("is no list of URLs")
def a_registry_of_nonsense(s):
    s.web["/hostile.xml"] = page(b"Lorem ipsum\n" * 1000, "text/plain")


@listed("", recovers=True)
def a_registry_that_names_itself(s):
    s.web["/hostile.xml"] = page(("%s\n%s\n%s\n" % (s.web("/hostile.xml"), s.web("/1.xml"),
                                                    s.web("/hostile.xml"))).encode(), "text/plain")
    s.web["/1.xml"] = xml(urlset(s.entry("x", 2)))


@listed("too deep")
def registries_in_a_chain(s):
    for i in range(20):
        s.web["/hostile.xml" if not i else "/%d.txt" % i] = page(
            s.web("/%d.txt" % (i + 1)).encode() + b"\n", "text/plain")


@listed("more than 1000 lists")
def a_registry_of_100000_lines(s):
    s.web["/hostile.xml"] = page("".join("http://%s/%d\n" % (s.trap, i)
                                         for i in range(100000)).encode(), "text/plain")


@listed("too long")
def a_registry_with_a_line_without_end(s):
    s.web["/hostile.xml"] = page(s.web("/" + "x" * (1 << 20)).encode() + b"\n", "text/plain")


@listed("zero")
def a_registry_of_zeros(s):
    s.web["/hostile.xml"] = page(b"http://a.example.invalid/\n" + bytes(1 << 20), "text/plain")


@listed("not a public address")
def a_registry_of_private_addresses(s):
    s.web["/hostile.xml"] = page("".join(spelled(s, name) + "\n" for name in SPELLINGS
                                         if name != "full_width").encode(), "text/plain")


# --- and now -----------------------------------------------------------------

def needs(stage, function):
    if function is a_patch_for_another_base:
        known = subprocess.run([SEEN, "help", "--commands"], stdout=subprocess.PIPE).stdout.split()
        if b"publish" not in known:
            pytest.skip("there is no seen publish")


@pytest.mark.parametrize("case", ITEMS)
def test_a_hostile_filter_is_refused_and_the_rest_goes_on(stage, case):
    function, reason, recovers = ITEMS[case]
    needs(stage, function)
    stage.words, stage.up = [], None
    stage.begin("/hostile.xml")
    entries = function(stage)
    stage.web["/hostile.xml"] = page(urlset(entries, up=stage.up), "application/xml")
    code = stage.harvest(stage.web("/hostile.xml"), stage.web("/good.xml"), "--remove-withdrawn",
                         *stage.words)
    if recovers:
        assert code == 0, stage.said
        stage.judge(x=2)
    else:
        assert code == 2
        assert re.search(reason, stage.said), stage.said
        stage.judge()


@pytest.mark.parametrize("case", LISTS)
def test_a_hostile_list_is_refused_and_the_rest_goes_on(stage, case):
    function, reason, recovers = LISTS[case]
    stage.words = []
    stage.begin("/hostile.xml")
    function(stage)
    code = stage.harvest(stage.web("/hostile.xml"), stage.web("/good.xml"), "--remove-withdrawn",
                         *stage.words)
    if "--dry-run" in stage.words:
        assert "good.seen: would be updated" in stage.printed
        stage.harvest(stage.web("/good.xml"))
        assert code == 2
        stage.judge()
    elif recovers:
        assert code == 0, stage.said
        stage.judge(x=2)
    else:
        assert code == 2
        assert re.search(reason, stage.said), stage.said
        stage.judge()


def test_there_are_at_least_sixty_cases():
    assert len(ITEMS) + len(LISTS) >= 60


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
