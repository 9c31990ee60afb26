"""orestes_test.py - filters of Orestes, made and asked by another program."""
import json
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import orestes_model                                            # noqa: E402

SEEN = os.environ.get("SEEN", "build/seen")
URLS = ["http://a.example/%d/ü%s" % (i, "x" * (i % 9)) for i in range(4000)]


def seen(*args, text="", code=0):
    out = subprocess.run([SEEN, *map(str, args)], input=text, capture_output=True, text=True)
    assert out.returncode == code, out.stderr
    return out.stdout + out.stderr


def test_murmur3_is_the_published_one():
    # from SMHasher's author and its many ports
    assert orestes_model.murmur3(b"", 0) == 0
    assert orestes_model.murmur3(b"", 1) == 0x514e28b7
    assert orestes_model.murmur3(b"test", 0) == 0xba6bd213
    assert orestes_model.murmur3(b"Hello, world!", 0) == 0xc0363e43


@pytest.mark.parametrize("m,h", [(10000, 7), (9973, 5), (20, 3), (1, 1), (40000, 1), (65536, 64)])
def test_what_orestes_made_is_asked_and_comes_back(m, h, tmp_path):
    model = orestes_model.Filter(m, h)
    for url in URLS[:min(1000, m // h + 1)]:
        model.add(url)
    path = tmp_path / "f.json"
    path.write_text(model.dumps())
    seen("convert", path, "-o", tmp_path / "f.seen")
    answers = seen("check", tmp_path / "f.seen", text="\n".join(URLS) + "\n",
                   code=0 if all(map(model.has, URLS)) else 1)
    assert answers.splitlines() == [("seen\t" if model.has(url) else "new\t") + url
                                    for url in URLS]
    seen("convert", tmp_path / "f.seen", "-o", tmp_path / "back.json")
    assert (tmp_path / "back.json").read_text() == model.dumps()


def test_what_we_made_is_asked_by_orestes(tmp_path):
    seen("build", "--quiet", "-o", tmp_path / "f.seen", "--kind", "bloom:orestes", "--profile",
         "raw", "--capacity", 1000, "-", text="\n".join(URLS[:1000]) + "\n")
    model = orestes_model.loads(seen("convert", tmp_path / "f.seen", "-o", "-", "--to", "orestes",
                                     "--quiet"))
    answers = seen("check", tmp_path / "f.seen", text="\n".join(URLS) + "\n", code=1).splitlines()
    assert [line.startswith("seen\t") for line in answers] == [model.has(url) for url in URLS]
    assert all(map(model.has, URLS[:1000]))


def test_members_in_any_order_and_gson_escapes(tmp_path):
    model = orestes_model.Filter(1000, 4)
    for url in URLS[:50]:
        model.add(url)
    it = json.loads(model.dumps())
    text = json.dumps({"b": it["b"], "HashMethod": {"x": ["]"]}, "h": 4, "m": 1000}, indent=2)
    (tmp_path / "f.json").write_text(text.replace("/", "\\/").replace("=", "\\u003d"))
    seen("convert", tmp_path / "f.json", "-o", tmp_path / "f.seen")
    seen("convert", tmp_path / "f.seen", "-o", tmp_path / "back.json")
    assert (tmp_path / "back.json").read_text() == model.dumps()
