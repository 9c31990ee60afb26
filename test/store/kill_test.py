"""kill_test.py - the program is killed at random moments, and loses nothing.

kill_test.c does this to the library; here it is the command line. `seen add
--ack` prints each URL once it is safe, and is killed with SIGKILL while it
does, or while it closes the file. SEEN_KILLS says how often.
"""
import os
import random
import signal
import subprocess
import time

import pytest

SEEN = os.environ.get("SEEN", "build/seen")
KILLS = int(os.environ.get("SEEN_KILLS", "200"))
CHUNK = 400                             # URLs for one run of `seen add`


def run(*args, text=None):
    out = subprocess.run([SEEN, *map(str, args)], input=text, capture_output=True, text=True)
    assert out.returncode in (0, 1), out.stderr
    return out.stdout


def lines(urls):
    return "".join(url + "\n" for url in urls)


def kill_later(process, rnd, most):
    time.sleep(rnd.random() * most)
    process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("kind", ["blocked", "counting:8", "growing/bloom"])
def test_a_killed_add_loses_and_doubles_nothing(kind, tmp_path):
    rnd, path, acked, offered = random.Random(kind), tmp_path / "f.seen", [], []
    rounds = max(KILLS // 6, 3)
    capacity = 1000 if "growing" in kind else rounds * CHUNK
    # At 1e-9 no URL is taken for another, so counts are exact.
    run("build", "--quiet", "--allow-empty", "-o", path, "--kind", kind, "--capacity", capacity,
        "--rate", "1e-9" if "counting" in kind else "1e-4", "-", text="")
    for i in range(rounds):
        urls = ["http://a.example/%d/%d" % (i, j) for j in range(CHUNK)]
        adding = subprocess.Popen([SEEN, "add", "--ack", "--sync",
                                   rnd.choice(["always", "everysec", "no"]), path],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        try:
            step = rnd.choice([1, 20, CHUNK])
            for j in range(0, CHUNK, step):
                adding.stdin.write(lines(urls[j:j + step]))
                adding.stdin.flush()
            if rnd.random() < 0.5:
                adding.stdin.close()
        except BrokenPipeError:
            pass
        out = adding.stdout.readline() if i % 2 else ""     # or it may be killed before its start
        kill_later(adding, rnd, 0.03)
        out += adding.stdout.read()
        assert adding.wait(60) in (0, -signal.SIGKILL), adding.stderr.read()
        acked += [line for line in out.split("\n")[:-1]]
        offered += urls

        if i % 8 == 7 or i == rounds - 1:
            assert run("check", "--only", "new", path, text=lines(acked)) == ""
    if kind.startswith("counting"):
        sure = set(acked)
        for line in run("count", path, text=lines(offered)).splitlines():
            count, url = line.split("\t")
            assert count == "1" or (count == "0" and url not in sure), line
    assert len(acked) >= rounds // 2
    run("add", path, "http://last.example/")
    assert os.listdir(tmp_path) == ["f.seen"]


def test_a_killed_build_leaves_the_old_filter_or_the_new(tmp_path):
    rnd, path, source = random.Random(1), tmp_path / "f.seen", tmp_path / "urls"
    source.write_text(lines("http://a.example/%d" % i for i in range(20000)))
    build = ["build", "--quiet", "-o", str(path), "--capacity", "20000"]
    run(*build, "--seed", "1", source)
    kinds = {path.read_bytes()}
    run(*build, "--seed", "2", source)
    kinds.add(path.read_bytes())
    for i in range(max(KILLS // 2, 10)):
        building = subprocess.Popen([SEEN, *build, "--seed", str(1 + i % 2), str(source)])
        kill_later(building, rnd, 0.03)
        building.wait(60)
        assert path.read_bytes() in kinds
    run(*build, "--seed", "1", source)
    assert sorted(os.listdir(tmp_path)) == ["f.seen", "urls"]
