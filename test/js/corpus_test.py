"""corpus_test.py - the reader of js/ takes what the program takes, and answers alike.

The fuzzer of files keeps plans with cells. Here they become files as there, with right
checksums, so that the plan is all that a reader has to go by; and so do plans whose numbers
were changed. Nothing may crash, hang or fail in the module (code CORRUPT, "makes the reader
fail"), and each answer is that of the program.
"""
import glob
import json
import os
import random
import re
import shutil
import struct
import subprocess

import pytest
import xxhash

SEEN = os.environ.get("SEEN", "build/seen")
ROOT = os.environ.get("SEEN_SOURCE", ".")
JS = os.path.join(os.environ.get("SEEN_BUILD", "build"), "js")
NODE = shutil.which("node") or shutil.which("nodejs")
URLS = ["http://h%d.example/d/%d?" % (i % 3, i) for i in range(20)]
NUMBERS = [0, 1, 2, 3, 7, 63, 64, 65, 511, 512, 1 << 16, (1 << 31) - 1, 1 << 32, 1 << 35,
           (1 << 48) - 1, 1 << 48, (1 << 63) - 1, (1 << 64) - 1, 10 ** 25]

pytestmark = pytest.mark.skipif(not NODE or not os.path.exists(os.path.join(JS, "seen.wasm")),
                                reason="node or build/js is missing")


def checksum(data):
    return xxhash.xxh3_64_intdigest(bytes(data))


def up(x, a):
    return -(-x // a) * a


def whole(text, sets, cells):
    """The file of a plan, the set cells of its leaves, and its cells."""
    leaves, blocks = len(sets) // 8, up(len(cells), 65536) // 65536
    table_at = up(128 + len(text), 8)
    cells_at = up(table_at + 8 * (leaves + blocks), 4096)
    length = up(cells_at + len(cells), 4096) + 128
    table = sets + b"".join(struct.pack("<Q", checksum(cells[i * 65536:(i + 1) * 65536]))
                            for i in range(blocks))
    sums = struct.pack("<4Q", checksum(text), checksum(table), 0, 0)
    head = b"\x89seen\r\n\x1a" + struct.pack(
        "<4I13Q", 2, 1, 0, 65536, checksum(sums), 0, 0, len(text), checksum(text), leaves, blocks,
        table_at, checksum(table), cells_at, len(cells), length, 0)[:112]
    head += struct.pack("<Q", checksum(head))
    data = (head + text).ljust(table_at, b"\0") + table
    return (data.ljust(cells_at, b"\0") + cells).ljust(length - 128, b"\0") + head


def parts(data):
    """Text, set cells and cells of an input of the fuzzer."""
    text, _, rest = data.partition(b"\0")
    leaves = rest[0] if rest else 0
    return text, rest[1:1 + 8 * leaves], rest[1 + 8 * leaves:]


def changed(rnd, text):
    """A text with one or two other numbers, or another kind."""
    for _ in range(rnd.choice([1, 1, 2])):
        found = list(re.finditer(rb"(?<=[=,:])\d+", text))
        if not found or rnd.random() < 0.1:
            kinds = [b"bloom", b"blocked", b"fuse", b"ribbon", b"layered:2", b"counting:16"]
            text = re.sub(rb"kind=[a-z:0-9]+", b"kind=" + rnd.choice(kinds), text, count=1)
            continue
        one = rnd.choice(found)
        number = rnd.choice([*NUMBERS, int(one[0]) + 1, max(int(one[0]) - 1, 0), int(one[0]) * 2,
                             int(one[0]) + (1 << 32), int(one[0]) + (1 << 35)])
        text = text[:one.start()] + b"%d" % number + text[one.end():]
    return text


def program(path):
    it = subprocess.run([SEEN, "check", path], input="".join(u + "\n" for u in URLS).encode(),
                        capture_output=True, timeout=300)
    assert it.returncode in (0, 1, 2), it.stderr
    if it.returncode == 2:
        return None
    return "".join(str(int(line.startswith(b"seen\t"))) for line in it.stdout.splitlines())


def test_plans_of_the_fuzzer_and_plans_with_other_numbers(tmp_path):
    rnd, n, keyed = random.Random(11), 0, set()
    for name in sorted(glob.glob(os.path.join(ROOT, "test/fuzz/store/*"))):
        with open(name, "rb") as file:
            data = file.read()
        if data[:1] == b"R":
            files = [data[1:]]
        else:
            text, sets, cells = parts(data[1:])
            files = [whole(text, sets, cells)]
            files += [whole(changed(rnd, text), sets, cells) for _ in range(20)]
        for made in files:
            path = tmp_path / ("%04d.seen" % n)
            path.write_bytes(made)
            n += 1
            if b"keyed=" in made:
                keyed.add(path.name)
    (tmp_path / "urls").write_text("".join(u + "\n" for u in URLS))
    out = subprocess.run([NODE, os.path.join(ROOT, "test/js/ask.mjs"), str(tmp_path)],
                         env={**os.environ, "SEEN_JS": os.path.abspath(JS)}, timeout=300,
                         capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    taken = 0
    for line in out.stdout.splitlines():
        name, ours, *why = json.loads(line)
        assert not why or "makes the reader fail" not in why[1], (name, why)
        theirs = program(str(tmp_path / name))
        if name in keyed and ours is None:
            continue
        assert ours == theirs, (name, why)
        taken += ours is not None
    assert len(out.stdout.splitlines()) == n and taken >= 20, (n, taken)
