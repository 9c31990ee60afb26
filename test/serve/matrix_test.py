"""matrix_test.py - every kind of filter, with every command and every verb.

The kinds are those of `seen help --kinds`, written as their synopses say, and
combinators of them; the verbs of the Redis protocol are those that COMMAND
lists. Every cell of the matrix works, or is refused with exit code 2 or an
error, and a message; no process ends by a signal, and what was added is
never reported as new. test/filter/matrix_test.c does the same with the library.
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile

import pytest

from redis_test import TOKEN, Error, Raw, command
from serving import SEEN, Server, run

URLS = ["http://h%d.example/d%d/p%d" % (i % 7, i % 11, i) for i in range(100)]
LIST = "".join(url + "\n" for url in URLS)
NEW = "http://new.example/d/p"      # is added and removed here and there
VALUES = {"N": ["4"], "F": ["3"], "L": ["3"], "W": ["8"], "BITS": ["16"], "ARITY": ["4"],
          "HASH": ["md5", "orestes"]}


def expand(synopsis):
    """All that a synopsis can be: "fuse[:BITS]" is fuse and fuse:16."""
    option = re.search(r"\[([^][]*)\]", synopsis)
    if option:
        before, after = synopsis[:option.start()], synopsis[option.end():]
        return expand(before + after) + expand(before + option[1] + after)
    word = re.search(r"(?!KIND)\b[A-Z]+\b", synopsis)
    if word:
        return [kind for value in VALUES[word[0]]
                for kind in expand(synopsis[:word.start()] + value + synopsis[word.end():])]
    return [synopsis]


def every_kind():
    lines = [line.split()[0] for line in run("help", "--kinds").splitlines()]
    kinds = [kind for line in lines for kind in expand(line)]
    leaves = [kind for kind in kinds if "KIND" not in kind]
    assert len(leaves) > 8 and len(kinds) - len(leaves) > 4
    return leaves + [outer.replace("KIND", leaf) for outer in kinds if "KIND" in outer
                     for leaf in leaves]


def attempt(*words, stdin=LIST):
    """Run a command that may refuse: whether it did not."""
    done = subprocess.run([SEEN, *map(str, words)], input=stdin.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300)
    said = done.stderr.decode()
    assert done.returncode in (0, 1, 2), (words, done.returncode, said)
    if done.returncode == 2:
        assert said.startswith("seen: ") and len(said) > 20, (words, said)
    return done.returncode != 2


@pytest.fixture(scope="module")
def place():
    """A folder in memory, if there is one: hundreds of files are flushed."""
    with tempfile.TemporaryDirectory(prefix="seen-matrix-",
                                     dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as it:
        yield pathlib.Path(it)


@pytest.fixture(scope="module")
def made(place):
    """A folder with a filter of every kind, k0.seen, ...; and {name: kind}."""
    folder, kinds = place / "filters", {}
    folder.mkdir()
    for kind in every_kind():
        name = "k%d" % len(kinds)
        if attempt("build", "--quiet", "-o", folder / (name + ".seen"), "--kind", kind,
                   "--profile", "raw", "--capacity", "400", "-"):
            kinds[name] = kind
    assert len(kinds) > 50
    return folder, kinds


def whole(path, kind):
    """Does the file answer, and hold all that it held?"""
    done = subprocess.run([SEEN, "check", "--count", "--only", "new", path, "-i", "-"],
                          input=LIST.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (0, b"0\n"), (kind, done)


# --- commands ---

def test_every_command_works_or_refuses(made, place):
    """On some nestings of each combinator; files of all kinds are checked below."""
    folder, kinds = made
    chosen = [(name, kind) for name, kind in kinds.items() if "/" not in kind or
              kind.split("/")[1] in ("blocked", "counting:8", "fuse", "ribbon", "layered:3")]
    assert len(chosen) > 20
    assert attempt("key", "--profile", "raw", *URLS)
    path, other = place / "f.seen", place / "g.seen"
    for name, kind in chosen:
        path.write_bytes((folder / (name + ".seen")).read_bytes())
        done = {}
        for what, *words in (
                ["add", "add", path, NEW], ["dedup", "dedup", "--filter", path],
                ["count", "count", path, URLS[0]], ["remove", "remove", path, NEW],
                ["prefix", "check", "--prefix", path, URLS[0]], ["info", "info", path],
                ["json", "info", "--json", path], ["text", "info", "--text", path],
                ["route", "info", "--route", URLS[0], path],
                ["csv", "convert", path, "--quiet", "-o", place / "f.csv"],
                ["orestes", "convert", path, "--quiet", "-o", place / "f.json"],
                ["grow", "convert", path, "--quiet", "--kind", "growing/" + kind, "-o", other],
                ["merge", "merge", "--quiet", "-o", other, path, path]):
            done[what] = attempt(*words)
            if other.exists():
                whole(other, (kind, words))
                other.unlink()
        assert done["info"] and done["json"] and done["text"] and done["csv"], (kind, done)
        assert done["orestes"] == (kind == "bloom:orestes"), (kind, done)
        assert done["add"] != any(name in kind for name in ("fuse", "ribbon", "shards")), (kind, done)
        assert done["prefix"] == ("layered" in kind), (kind, done)
        assert attempt("convert", place / "f.csv", "--quiet", "-o", other)
        assert other.read_bytes() == path.read_bytes(), kind
        other.unlink()
        whole(path, kind)


def test_all_of_them_are_published(made):
    """What it cannot publish it says, and what it publishes is verified."""
    folder, kinds = made
    assert attempt("publish", folder, "--url", "https://a.example/")
    sitemap = (folder / "sitemap.xml").read_text()
    for name in kinds:
        assert "/%s.seen" % name in sitemap


# --- the server ---

def requests(name):
    """Requests for one archive, and what may be answered."""
    one = URLS[3]
    return [("GET", "/%s/%s" % (name, one), None, {200}),
            ("HEAD", "/%s/%s" % (name, one), None, {200}),
            ("PUT", "/%s/%s" % (name, NEW), "", {200, 201, 409, 507}),
            ("PUT", "/%s/%s" % (name, one), "", {200, 409}),
            ("DELETE", "/%s/%s" % (name, NEW), "", {204, 404, 409}),
            ("POST", "/" + name, LIST, {200}),
            ("POST", "/" + name, json.dumps(URLS), {200}),
            ("POST", "/add/" + name, LIST, {200, 409}),
            ("GET", "/prefix/%s/%s" % (name, one), None, {200, 501}),
            ("GET", "/info/" + name, None, {200}),
            ("GET", "/files/%s.seen" % name, None, {200})]


def verbs(raw):
    """The commands on one key, of any number of words: as COMMAND lists them."""
    listed = {row[0].decode(): row for row in raw.ask("COMMAND")}
    names = [name for name in listed if re.match(r"(bf|cf)\.|s(add|rem|card|scan|is|mis|mem)|type",
                                                 name)]
    assert {"bf.add", "cf.del", "sadd", "srem", "bf.scandump", "type"} <= set(names)
    special = {"bf.reserve": ["0.01", "100"], "cf.reserve": ["100"], "bf.scandump": ["0"],
               "cf.scandump": ["0"], "bf.loadchunk": ["1", "x"], "cf.loadchunk": ["1", "x"],
               "bf.insert": ["ITEMS", NEW], "cf.insert": ["ITEMS", NEW],
               "cf.insertnx": ["ITEMS", NEW], "sscan": ["0"]}
    return [[name, "NAME"] + special.get(name, [NEW] * (abs(listed[name][1]) - 2))
            for name in sorted(names)]


def held(answer):
    return isinstance(answer, list) and len(answer) == len(URLS) and all(answer)


def copied(raw, name):
    """Dump a filter and load it under another name; it must hold all. A dump that is refused
    is refused for the protocol's other type of filter only."""
    for kind in "BF", "CF":
        pieces, at = [], 0
        while not isinstance(answer := raw.ask(kind + ".SCANDUMP", name, at), Error) and answer[0]:
            pieces.append(answer)
            at = answer[0]
        if pieces:
            for at, piece in pieces:
                assert raw.ask(kind + ".LOADCHUNK", "copy", at, piece) == "OK"
            assert held(raw.ask("SMISMEMBER", "copy", *URLS))
            assert raw.ask("DEL", "copy") == 1
            return True
    return False


def test_every_verb_and_request_is_answered(made, tmp_path):
    folder, kinds = made
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    bearer = {"Authorization": "Bearer " + TOKEN}
    with Server(folder, "--writable", "--token", token, "--sync", "no", "--sets", ".",
                quiet=False) as server:
        with Raw(server) as raw, server.client() as http:
            raw.trusted()
            every = verbs(raw)
            for name, kind in kinds.items():
                for method, target, body, codes in requests(name):
                    answer = http.ask(method, target, bearer, body)
                    assert answer.status in codes, (kind, method, target, answer.status, answer.text)
                    if method == "POST" and target == "/" + name:
                        assert '"seen": false' not in answer.text and "new\t" not in answer.text
                # All verbs at once, then once more in a transaction.
                words = [[name if w == "NAME" else w for w in verb] for verb in every]
                raw.send(b"".join(command(*w) for w in words) +
                         command("SMISMEMBER", name, *URLS))
                for verb in words:
                    answer = raw.read()
                    assert not isinstance(answer, Error) or len(answer) > 10, (kind, verb, answer)
                answer = raw.read()
                assert held(answer), (kind, answer)
                assert copied(raw, name), kind
                raw.send(command("MULTI") + command("SADD", name, NEW) +
                         command("SISMEMBER", name, NEW) + command("EXEC"))
                assert raw.read() == "OK" and raw.read() == "QUEUED" and raw.read() == "QUEUED"
                added, there = raw.read()
                assert isinstance(added, Error) or there == 1, (kind, added, there)
            # All archives at once. None is null: each can be asked.
            for url in URLS[0], URLS[99]:
                answer = json.loads(http.get("/agg/" + url).text)
                said = {a["name"]: a["seen"] for a in answer["archives"]}
                assert said == dict.fromkeys(kinds, True), said
            for line in http.ask("POST", "/agg", body=LIST).text.splitlines():
                seen, unknown = line.split("\t")[:2]
                assert set(seen.split(",")) == set(kinds) and unknown == "-", line
            assert raw.ask("SAVE") == "OK"
            for name, kind in kinds.items():
                assert held(raw.ask("SMISMEMBER", name, *URLS)), kind
        assert server.alive
    for name, kind in kinds.items():
        whole(folder / (name + ".seen"), kind)
