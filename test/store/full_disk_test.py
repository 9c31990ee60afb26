"""full_disk_test.py - files that are mapped, on a disk that is full or taken away.

A small file system (ext4, with blocks smaller than a page) is mounted where that is allowed.
"""
import os
import subprocess

import pytest

SEEN = os.environ.get("SEEN", "build/seen")
CUT = "a part of the file is lost"


def run(*args, text=None):
    return subprocess.run([SEEN, *map(str, args)], input=text, capture_output=True, text=True)


def lines(urls):
    return "".join(url + "\n" for url in urls)


def urls_of(site, n):
    return ["http://%s.example/%d" % (site, i) for i in range(n)]


@pytest.fixture
def disk(tmp_path):
    image, at = tmp_path / "disk", tmp_path / "mounted"
    with open(image, "wb") as file:
        file.truncate(8 << 20)
    at.mkdir()
    for words in (["mkfs.ext4", "-q", "-b", "1024", "-m", "0", str(image)],
                  ["mount", "-o", "loop", str(image), str(at)]):
        try:
            done = subprocess.run(words, capture_output=True, text=True)
        except FileNotFoundError:
            pytest.skip("no " + words[0])
        if done.returncode:
            pytest.skip("%s: %s" % (words[0], done.stderr.strip()))
    yield at
    subprocess.run(["umount", "-l", str(at)], check=True)


def fill(path, leave):
    """Take all room of the disk but `leave` bytes."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1024))
        except OSError:
            pass
        file.truncate(max(0, os.path.getsize(path) - leave))
        os.fsync(file.fileno())


@pytest.mark.parametrize("capacity, keys", [(20000, 600), (100000, 600), (300000, 60)])
def test_a_full_disk_is_a_message_and_costs_nothing_that_was_acknowledged(disk, tmp_path,
                                                                         capacity, keys):
    """A sparse copy: adding to it takes blocks that the disk may not have.

    The copy has blocks behind its end. A file system has more blocks for a file than its
    bytes need, too, so their number does not say that there are no holes.
    """
    path, whole, acked = disk / "f.seen", tmp_path / "f.seen", urls_of("a", keys)
    done = run("build", "--quiet", "-o", whole, "--capacity", capacity, "-", text=lines(acked))
    assert done.returncode == 0, done.stderr
    for room in (0, 4 << 10, 8 << 10, 12 << 10, 20 << 10):
        for name in os.listdir(disk):
            if name != "lost+found":
                os.unlink(disk / name)
        subprocess.run(["cp", "--sparse=always", whole, path], check=True)
        size = os.path.getsize(path)
        subprocess.run(["fallocate", "--keep-size", "-o", str(size), "-l", str(size), path],
                       check=True)
        os.sync()
        fill(disk / "full", room)
        acked = acked[:keys]
        for turn in range(2):               # the next add replays the journal of the first
            done = run("add", "--ack", path, text=lines(urls_of("b%d" % turn, 2000)))
            assert done.returncode == 2, (room, turn, done)
            assert "No space left on device" in done.stderr
            acked += done.stdout.split()
        os.unlink(disk / "full")
        done = run("add", "--ack", path, text=lines(urls_of("c", 10)))
        assert done.returncode == 0, done.stderr
        done = run("check", "--only", "new", path, text=lines(acked + urls_of("c", 10)))
        assert (done.stdout, done.stderr) == ("", ""), (room, done)


@pytest.mark.parametrize("words", [["add", "--ack"], ["check", "--filter"]])
def test_a_file_that_is_cut_short_under_a_command_is_a_message(words, tmp_path):
    path = tmp_path / "f.seen"
    run("build", "--quiet", "-o", path, "--kind", "bloom", "--capacity", 1000000, "-",
        text=lines(urls_of("a", 1000)))
    it = subprocess.Popen([SEEN, *words, str(path)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    it.stdin.write("http://c.example/1\n")
    it.stdin.flush()
    assert "http://c.example/1\n" in it.stdout.readline()
    os.truncate(path, 4096)
    said = it.communicate(lines(urls_of("b", 1000)))[1]
    assert it.returncode == 2, said
    assert CUT in said and path.name in said
