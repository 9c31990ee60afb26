"""Run an experiment of the laboratory, and look into what it found."""
import json
import os
import subprocess

SEEN = os.environ["SEEN"]


def run(name, n, *options, code=0):
    """The experiment as a dictionary; fails unless seen ends with `code`."""
    done = subprocess.run(
        [SEEN, "lab", name, "--json", "--n", str(n), *options],
        capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr + done.stdout[-2000:]
    found = json.loads(done.stdout)["experiments"]
    assert [e["name"] for e in found] == [name]
    return check(found[0])


def refused(name, n, *options):
    """What the experiment says when it refuses so few or so many URLs."""
    done = subprocess.run(
        [SEEN, "lab", name, "--quick", "--n", str(n), *options],
        capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2, (done.returncode, done.stderr)
    return done.stderr


def check(found):
    """What holds for every experiment: whole sentences, all numbers there."""
    assert len(found["text"]) >= 2
    for text in found["text"]:
        assert text[0].isupper() or text[0].isdigit()
        assert text.endswith((".", ".)"))
        assert "nan" not in text.lower().split()
        assert "inf" not in text.lower().split()
    for table in found["tables"]:
        assert table["rows"], table["name"]
        for row in table["rows"]:
            assert len(row) == len(table["columns"])
    for plot in found["plots"]:
        assert all(s["points"] for s in plot["series"]), plot["name"]
    return found


def table(found, name):
    """The rows of one table, each a dictionary by its columns."""
    for t in found["tables"]:
        if t["name"] == name:
            return [dict(zip(t["columns"], row)) for row in t["rows"]]
    raise AssertionError(name + " is not there")


def column(rows, name):
    """One column of such rows."""
    return [row[name] for row in rows]


def rising(numbers):
    """True if each is larger than the one before."""
    return all(a < b for a, b in zip(numbers, numbers[1:]))
