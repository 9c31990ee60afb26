"""vectors_test.py - the program and the reader of the tests pass all vectors.

vectors/README.md describes them. test/js/ asks the same of the reader in js/.
"""
import json
import os
import subprocess
import sys

import pytest
import xxhash

sys.path.insert(0, os.path.dirname(__file__))
import format_reader                                            # noqa: E402

SEEN = os.environ.get("SEEN", "build/seen")
HERE = os.path.join(os.environ.get("SEEN_SOURCE", "."), "vectors")
PROFILES = ["raw", "whatwg", "surt", "surt:host", "surt:1"]

with open(os.path.join(HERE, "vectors.json"), encoding="ascii") as manifest:
    VECTORS = json.load(manifest)
KEYS = VECTORS["keys"]


def read(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def edited(name, row):
    """The file that a row says must be refused."""
    data = bytearray(read(name)[:row["length"]].ljust(row["length"], b"\0"))
    for at, new in row["edits"]:
        data[at:at + len(new) // 2] = bytes.fromhex(new)
    assert len(data) == row["length"]
    return bytes(data)


def run(*args, text="", codes=(0, 1)):
    it = subprocess.run([SEEN, *args], input=text.encode(), capture_output=True)
    assert it.returncode in codes, it.stderr.decode()
    return it.stdout.decode(), it.returncode


@pytest.mark.parametrize("profile", PROFILES)
def test_the_program_makes_these_keys(profile):
    out, _ = run("key", "--json", "--profile", profile, "--", *(row["url"] for row in KEYS))
    found = [json.loads(line) for line in out.splitlines()]
    assert [None if "error" in key else [key["key"], key["lo"], key["hi"]] for key in found] == \
        [row[profile] for row in KEYS]


def test_the_keys_are_hashes_of_their_texts():
    for row in KEYS:
        for profile in PROFILES:
            if row[profile]:
                text, lo, hi = row[profile]
                assert "%032x" % xxhash.xxh3_128_intdigest(text.encode()) == hi + lo


def asked(one):
    return [row for row in KEYS if row[one["profile"]]]


def expected(one):
    return [answer == "1" for answer in one["answers"] if answer != "-"]


@pytest.mark.parametrize("one", VECTORS["files"], ids=lambda one: one["file"])
def test_the_program_gives_these_answers(one, tmp_path):
    path, keyed = os.path.join(HERE, one["file"]), []
    if "secret" in one:
        (tmp_path / "secret").write_bytes(bytes.fromhex(one["secret"]))
        keyed = ["--keyed", str(tmp_path / "secret")]
    out, _ = run("check", *keyed, path, text="".join(row["url"] + "\n" for row in asked(one)))
    assert [line.startswith("seen\t") for line in out.splitlines()] == expected(one)
    assert run("meta", path)[0] == "".join("%s=%s\n" % it for it in one["meta"].items())
    assert len(one["answers"]) == len(KEYS)
    assert [answer == "-" for answer in one["answers"]] == [not row[one["profile"]] for row in KEYS]


@pytest.mark.parametrize("one", VECTORS["files"], ids=lambda one: one["file"])
def test_the_reader_of_the_tests_gives_these_answers(one):
    f = format_reader.Filter(read(one["file"]), bytes.fromhex(one.get("secret", "")) or None)
    assert f.profile == one["profile"] and f.meta == one["meta"]
    assert [bool(f.has(row[f.profile][0].encode())) for row in asked(one)] == expected(one)


def test_the_program_refuses_these_files(tmp_path):
    for row in VECTORS["refused"]:
        (tmp_path / "f.seen").write_bytes(edited(row["file"], row))
        run("check", str(tmp_path / "f.seen"), text="http://a.example/\n", codes=(2,))


def test_the_reader_of_the_tests_refuses_these_files():
    for row in VECTORS["refused"]:
        if row.get("form"):
            continue
        with pytest.raises(Exception):
            f = format_reader.Filter(edited(row["file"], row))
            f.has(b"http://a.example/")
            pytest.fail(row["why"])


def harvested(tmp_path, row, delta):
    """Apply a delta as seen harvest does; None if it was refused."""
    for name, data in (("old.seen", read(row["from"])), ("delta", delta)):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "new.seen").unlink(missing_ok=True)
    it = subprocess.run([sys.executable, "-c", """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
sys.exit(lib.seen_delta_apply(*(p.encode() for p in sys.argv[2:]), None))
""", os.path.join(os.environ.get("SEEN_BUILD", "build"), "libseen.so"),
                         *(str(tmp_path / n) for n in ("old.seen", "delta", "new.seen"))])
    assert it.returncode in range(12)
    return None if it.returncode else (tmp_path / "new.seen").read_bytes()


def test_the_library_applies_these_deltas(tmp_path):
    if not os.path.exists(os.path.join(os.environ.get("SEEN_BUILD", "build"), "libseen.so")):
        pytest.skip("this build has no libseen.so")
    for row in VECTORS["deltas"]:
        assert harvested(tmp_path, row, read(row["delta"])) == read(row["to"])
    for row in VECTORS["refused_deltas"]:
        assert harvested(tmp_path, row, edited(row["delta"], row)) is None, row["why"]
