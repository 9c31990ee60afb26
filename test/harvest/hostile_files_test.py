"""Filters that are not what they are said to be; stage.py says what must be true."""
import os
import re
import struct
import sys
import time

import pytest
import xxhash

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "../serve")]
from hostile import bomb, digest, status, stream, url  # noqa: E402
from serving import build  # noqa: E402
from stage import Cases, filters, stage  # noqa: E402, F401

BROKEN = os.path.join(os.path.dirname(__file__), "../data/broken")
cases = Cases()


# --- the size ----------------------------------------------------------------

@cases.add("SHA-256 is not the one announced")
def a_hash_that_lies(s):
    return s.entry("x", 2, hash=digest(b"something else"))


@cases.add("longer than 100 bytes")
def a_length_that_is_too_small(s):
    return s.entry("x", 2, length=100)


@cases.add("instead of the 9999999 announced")
def a_length_that_is_too_large(s):
    return s.entry("x", 2, length=9999999)


@cases.add("longer than")
def longer_than_announced_without_saying(s):
    s.web["/x.seen"] = stream(s.filters["x", 2])
    return s.entry("x", 2)


@cases.add("has 1000 bytes instead of the")
def shorter_than_announced_without_saying(s):
    def answer(talk):
        talk.head(200)
        talk.send(s.filters["x", 2][:1000])
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@cases.add("cut short")
def cut_in_the_middle_every_time(s):
    def answer(talk):
        talk.head(200, Content_Length=len(s.filters["x", 2]))
        talk.send(s.filters["x", 2][:1000])
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@cases.add("more than the")
def a_terabyte_announced(s):
    return s.entry("x", 2, length=1 << 40)


@cases.add("longer than")
def a_terabyte_in_the_head(s):
    def answer(talk):
        talk.head(200, Content_Length=1 << 40)
        talk.forever(bytes(1 << 16), 1 << 26)
    s.web["/x.seen"] = answer
    return url(s.web("/x.seen"))


@cases.add(r"a question to dynamic:300/bloom:md5\+sha1 costs up to \d+, more than the 10000 of --cost")
def a_filter_that_takes_milliseconds_to_ask(s):
    """With right checksums, and in the same file as an ordinary one."""
    path = s.where.parent / "costly.seen"
    build(path, ["http://x.example/%d" % i for i in range(600)], "--kind", "dynamic:300/bloom:md5+sha1",
          "--capacity", "600", "--bits", "60000", "--probes", "64")
    data = path.read_bytes()
    s.web.serve("/x.seen", data)
    s.words = ["--cost", "10k"]
    return s.entry("x", 2, hash=digest(data), length=len(data))


@cases.add("longer than 20000000")
def a_stream_without_end_or_length(s):
    s.web["/x.seen"] = stream(bytes(1 << 16))
    s.words = ["--max-size", "20M"]
    return url(s.web("/x.seen"))


@cases.add("Content-Encoding")
def a_gzip_bomb_as_a_file(s):
    packed = bomb()
    s.web["/x.seen"] = lambda talk: talk.answer(packed, Content_Encoding="gzip")
    return s.entry("x", 2)


@cases.add("not HTTP")
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
    cases.add(reason, name="a_file_that_is_broken_" + name.replace("-", "_"))(case)


broken("cells", "checksum differs")
broken("cut", "cut short")
broken("empty", "too short")
broken("gap", "bytes in a gap")
broken("head", "checksum differs in the head")
broken("later-format", "format version")
broken("later-hash", "hash version")
broken("later-kind", "kind")
broken("later-name", "which this version must know and does not")
broken("table", "checksum differs in the table")
broken("text", "checksum differs in the text")
broken("text-mode", "not a seen filter")
broken("trailing", "added to")
broken("unsealed", "was being written")


@cases.add("not a seen filter")
def a_file_that_is_no_filter(s):
    return other_bytes(s, os.urandom(100000))


@cases.add("not a seen filter")
def a_page_instead(s):
    return other_bytes(s, b"<!DOCTYPE html><html><body>Please log in" + b" " * 200)


@cases.add("checksum differs")
def a_flipped_cell(s):
    data = bytearray(s.filters["x", 2])
    data[4097] ^= 1
    return other_bytes(s, bytes(data))


@cases.add("plan of more than")
def a_plan_of_sixteen_megabytes(s):
    data = head_with(s.filters["x", 2], text_len=16 << 20)
    return other_bytes(s, data + bytes(17 << 20))


@cases.add("cut short")
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


@cases.add("but the plan needs 1099511627776")
def a_plan_that_asks_for_a_terabyte(s):
    data = with_text(s.filters["x", 2],
                     lambda text: re.sub(rb"size=\d+", b"size=1099511627776",
                                         re.sub(rb"bits=\d+", b"bits=8796093022208", text)))
    assert data != s.filters["x", 2]
    return other_bytes(s, data)


@cases.add("has a part of kind")
def a_plan_of_ten_thousand_parts(s):
    part = b"part=1 kind=bloom capacity=612 rate=0.01 bits=6144 probes=7 seed=1 at=0 size=768\n"
    return other_bytes(s, with_text(s.filters["x", 2], lambda text: text + part * 10000))


# --- answers -----------------------------------------------------------------

def answers(code, reason, **headers):
    def case(s):
        s.web["/x.seen"] = status(code, **headers)
        return s.entry("x", 2)
    cases.add(reason, name="answered_with_%d" % code)(case)


answers(204, "204")
answers(206, "sends a part")
answers(304, "304")
answers(401, "wants credentials", WWW_Authenticate="Basic")
answers(403, "forbidden")
answers(404, "not found")
answers(410, "gone")
answers(416, "416")
answers(429, "too many requests", Retry_After="100000")
answers(500, "fault of the server")
answers(999, "HTTP")


@cases.add("not HTTP")
def no_http_at_all(s):
    s.web["/x.seen"] = lambda talk: talk.send(b"\x00\xff220 welcome to the mail server\r\n" * 100)
    return s.entry("x", 2)


@cases.add("the head of the answer is longer")
def a_head_without_end(s):
    def answer(talk):
        talk.send(b"HTTP/1.1 200 OK\r\n")
        talk.forever(b"X-More: " + b"x" * 1000 + b"\r\n", 1 << 28)
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@cases.add("the connection broke")
def reset_at_once(s):
    s.web["/x.seen"] = lambda talk: talk.reset()
    return s.entry("x", 2)


@cases.add("the connection broke")
def reset_in_the_middle(s):
    def answer(talk):
        talk.head(200, Content_Length=len(s.filters["x", 2]))
        talk.send(s.filters["x", 2][:5000])
        time.sleep(0.05)
        talk.reset()
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@cases.add("stalled")
def silence(s):
    s.web["/x.seen"] = lambda talk: time.sleep(8)
    return s.entry("x", 2)


@cases.add("comes too slowly")
def a_byte_now_and_then(s):
    def answer(talk):
        talk.head(200, Content_Length=len(s.filters["x", 2]))
        for i in range(160):
            talk.send(s.filters["x", 2][i * 5:i * 5 + 5])
            time.sleep(0.05)
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


@cases.add("damaged|not HTTP")
def chunks_that_lie(s):
    def answer(talk):
        talk.head(200, Transfer_Encoding="chunked")
        talk.send(b"ffffffffffffffff\r\n" + s.filters["x", 2] + b"\r\n0\r\n\r\n")
    s.web["/x.seen"] = answer
    return s.entry("x", 2)


# --- changes while it is fetched --------------------------------------------

@cases.add("changed while it was fetched|cut short")
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


@cases.add("", recovers=True)
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


@cases.add("", recovers=True)
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


@cases.add("sends another part")
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


@cases.add("", recovers=True)
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


@pytest.mark.parametrize("case", cases)
def test_a_hostile_file_is_refused_and_the_rest_goes_on(stage, case):      # noqa: F811
    cases.play(stage, case, True)


def test_these_are_many_cases():
    assert len(cases) >= 40
