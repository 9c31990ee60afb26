"""textform_test.py - doc/format.md is enough to read the text form.

textform_reader.py was written from it. What it finds in the text is what the
reader of files (test/store) finds in the file that the text was made from.
"""
import os
import struct
import subprocess
import sys

import pytest

HERE = os.path.dirname(__file__)
sys.path[:0] = [HERE, os.path.join(HERE, "..", "store")]
import format_reader                                            # noqa: E402
import textform_reader                                          # noqa: E402

SEEN = os.environ.get("SEEN", "build/seen")

KINDS = [
    "bloom", "bloom:orestes", "blocked", "counting:8", "counting:16,minimal", "fuse", "fuse:16", "ribbon", "ribbon:12",
    "layered:3", "spatial:2/bloom", "growing/blocked", "dynamic:4/bloom", "routed:16,md5/blocked",
    "routed:4/counting", "spatial:2/routed:2/fuse",
]


def seen(*args, text="", code=0):
    out = subprocess.run([SEEN, *map(str, args)], input=text, capture_output=True, text=True)
    assert out.returncode == code, out.stderr
    return out.stdout + out.stderr


def urls(n):
    return "".join("http://a.example/%d/%d\n" % (i % 7, i) for i in range(n))


@pytest.fixture(name="made", params=KINDS)
def fixture_made(request, tmp_path):
    path = tmp_path / "f.seen"
    capacity = ["--capacity", 100 if "growing" in request.param else 1000]
    seen("build", "--quiet", "-o", path, "--kind", request.param, "--profile", "raw", "--meta",
         'title=Zürich, "a" = b', *capacity, "-", text=urls(1000))
    seen("convert", path, "-o", tmp_path / "f.csv", "--quiet")
    return path


def test_the_text_says_what_the_file_says(made):
    head, text, cells = textform_reader.read(made.with_suffix(".csv"))
    bytes_ = made.read_bytes()
    applied, offered, text_len = struct.unpack_from("<3Q", bytes_, 32)
    cells_at, cells_len = struct.unpack_from("<2Q", bytes_, 96)
    assert head["cells"] == cells_len == len(cells)
    assert head.get("applied", 0) == applied
    assert cells == bytes_[cells_at:cells_at + cells_len]
    plain = [line for line in text if not line.startswith(("set=", "offered="))]
    plain = [" ".join(w for w in line.split(" ") if not w.startswith("set="))
             if line.startswith("part=") else line for line in plain]
    assert "\n".join(plain) + "\n" == bytes_[128:128 + text_len].decode()
    assert "offered=%d" % offered in text
    assert 'title=Zürich, "a" = b' in text
    format_reader.Filter(bytes_)


def test_sed_and_sha256sum_verify_it(made):
    csv = made.with_suffix(".csv")
    found = subprocess.run("sed 2d '%s' | sha256sum" % csv, shell=True, capture_output=True,
                           text=True, check=True).stdout.split()[0]
    assert csv.read_text().splitlines()[1] == "checksum,sha-256:" + found


def test_back_comes_the_same_file_also_with_other_line_ends(made):
    csv, back = made.with_suffix(".csv"), made.with_name("back.seen")
    seen("convert", csv, "-o", back, "--quiet")
    assert back.read_bytes() == made.read_bytes()
    csv.write_bytes(csv.read_bytes().replace(b"\n", b"\r\n"))
    textform_reader.read(csv)
    seen("convert", csv, "-o", back, "--quiet")
    assert back.read_bytes() == made.read_bytes()


def test_both_readers_refuse_a_change(made):
    csv = made.with_suffix(".csv")
    text = bytearray(csv.read_bytes())
    for at in range(20, len(text), len(text) // 9):
        changed = text[:at] + bytes([text[at] ^ 1]) + text[at + 1:]
        csv.write_bytes(changed)
        with pytest.raises((textform_reader.Refused, ValueError, KeyError)):
            textform_reader.read(csv)
        assert "f.csv: " in seen("convert", csv, "-o", made.with_name("no.seen"), code=2)
        assert not made.with_name("no.seen").exists()
