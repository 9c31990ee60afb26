"""remote_bf_test.py - filters behind BF commands: those of `seen serve`.

Those of RedisBloom are imitated: bf_server.py says how.
"""
import json
import os
import signal
import socket
import ssl
import subprocess
import sys

import pytest

from bf_server import Proxy, redisbloom
from redis_server import Redis, SEEN, freeze, listed, run, start, until

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "servers"), os.path.join(HERE, "..", "serve")]
from authority import Authority
from serving import Server

ALL, TOKEN = 20000, "token-of-the-test"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bf")
    listed(folder / "old", 0, ALL)
    listed(folder / "new", ALL, ALL + 5000)
    (folder / "token").write_text(TOKEN + "\n")
    (folder / "token").chmod(0o600)
    return folder


@pytest.fixture
def served(folder, tmp_path):
    """A server with filters of each kind that BF commands are for."""
    run("build", "-o", tmp_path / "haw.seen", "--capacity", ALL + 6000, "--meta", "title=Crawl", folder / "old")
    run("build", "-o", tmp_path / "growing.seen", "--kind", "growing/blocked", "--capacity", "1000", "--profile", "whatwg",
        folder / "old")
    run("build", "-o", tmp_path / "small.seen", "--capacity", "1000", "--allow-empty", "/dev/null")
    run("build", "-o", tmp_path / "counting.seen", "--kind", "counting:4", "--capacity", "1000", "--allow-empty", "/dev/null")
    with Server(tmp_path, "-w", "--sync", "no", "--token", folder / "token", ".") as it:
        yield it


def bf(server, name="haw", more="", user=""):
    return "bf://%s127.0.0.1:%d/%s%s" % (user, server.port, name, more)


def test_commands_work_as_on_the_file(served, folder, tmp_path):
    user = ":%s@" % TOKEN
    for name in "haw", "growing":
        file, url, trusted = tmp_path / (name + ".seen"), bf(served, name), bf(served, name, user=user)
        told, kept = (json.loads(run("info", "--json", at).stdout) for at in (url, file))
        assert told.pop("losses") == 0 and told == kept
        for at, code in ("old", 0), ("new", 1):
            assert run("check", url, "-i", folder / at, code=code).stdout == \
                run("check", file, "-i", folder / at, code=code).stdout
        said = run("add", trusted, "-i", folder / "new").stdout
        assert said.startswith("5,000 URLs: ") and "rate now" in said
        assert " 0 new, 5,000 seen" in run("add", trusted, "-i", folder / "new").stdout
        assert run("check", "--count", url, "-i", folder / "new").stdout == "new\t0\nseen\t5000\n"
        kept = run("dedup", "--filter", trusted, stdin="http://y.example/\nhttp://host0.example/page/0\nhttp://y.example/\n")
        assert kept.stdout == "http://y.example/\n"


def test_the_profile_is_that_of_the_server(served):
    assert "has profile surt" in run("check", "--profile", "whatwg", bf(served), "http://a/", code=2).stderr
    assert "has profile surt" in run("check", bf(served, more="?profile=raw"), "http://a/", code=2).stderr
    assert "profile" in run("check", bf(served, more="?profile=nonsense"), "http://a/", code=2).stderr
    run("check", bf(served, more="?profile=surt"), "http://host0.example/page/0")


def test_a_server_that_records_no_profile_needs_one_in_the_address(served, folder):
    with redisbloom(served.port) as proxy:
        assert "?profile=" in run("check", bf(proxy), "http://a/", code=2).stderr
        url = bf(proxy, more="?profile=surt", user=":%s@" % TOKEN)
        assert run("check", "--count", url, "-i", folder / "old").stdout == "new\t0\nseen\t%d\n" % ALL
        assert "5,000 URLs: " in run("add", url, "-i", folder / "new").stdout
        assert run("check", "--count", bf(served), "-i", folder / "new").stdout == "new\t0\nseen\t5000\n"
        told = json.loads(run("info", "--json", url).stdout)
        assert told["capacity"] == ALL + 6000 and told["profile"] == "surt" and told["rate"] is None
        assert "rate" not in run("info", url).stdout
        assert "http://z.example/\n" == run("dedup", "--filter", url, stdin="http://z.example/\n").stdout


def test_a_missing_key_is_an_error_and_never_new(served, folder, tmp_path):
    """Also if it goes between two batches, of a server that says 0 for it."""
    assert "no filter of this name" in run("check", bf(served, "none"), "http://a/", code=2).stderr
    assert "not a filter of BF" in run("check", bf(served, "counting"), "http://a/", code=2).stderr
    for words in ("check",), ("add", "--ack"):
        run("build", "-o", tmp_path / "gone.seen", "--capacity", "1000", "--allow-empty", "/dev/null")
        until(lambda: run("info", bf(served, "gone"), code=None).returncode == 0)
        it = subprocess.Popen([SEEN, *words, bf(served, "gone", user=":%s@" % TOKEN)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        it.stdin.write("http://first.example/\n")
        assert "http://first.example/" in it.stdout.readline()
        with socket.create_connection(("127.0.0.1", served.port)) as client:
            client.sendall(b"AUTH %s\r\nDEL gone\r\n" % TOKEN.encode())
            reply = b""
            while b":1\r\n" not in reply:
                reply += client.recv(100)
        it.stdin.write("http://second.example/\n")
        it.stdin.close()
        assert it.wait(30) == 2
        assert it.stdout.read() == "" and "no filter of this name" in it.stderr.read()


def test_full_untrusted_and_foreign_servers(served, folder, tmp_path):
    trusted = bf(served, "small", user=":%s@" % TOKEN)
    many = listed(tmp_path / "many", 0, 3000)
    it = run("add", "--json", trusted, "-i", many, code=2)
    assert "all it was planned for" in it.stderr and 900 < json.loads(it.stdout)["new"] < 1300
    assert "cannot be overfilled" in run("add", "--over", trusted, "http://a.example/", code=2).stderr
    assert "NOAUTH" in run("add", bf(served), "http://a.example/", code=2).stderr
    it = run("add", bf(served, user=":wrong-token@"), "http://a.example/", code=2)
    assert "WRONGPASS" in it.stderr and "wrong-token" not in it.stderr
    run("add", bf(served, more="?password-file=%s" % (folder / "token")), "http://a.example/")
    run("add", bf(served), "http://b.example/", env={**os.environ, "SEEN_REDIS_PASSWORD": TOKEN})
    with Redis(tmp_path / "r") as own:
        own.client().set("haw", "x")
        name = tmp_path / "urls"
        name.write_text("http://a.example/\n")
        for key in "haw", "none":
            url = "bf://127.0.0.1:%d/%s?profile=whatwg" % (own.port, key)
            for words in ("info", url), ("check", url, "http://a.example/"), ("add", url, "http://a.example/"), \
                    ("dedup", "--filter", url, name), ("serve", "--listen", "127.0.0.1:0", "a=" + url):
                assert "no BF.* commands: load RedisBloom, or use redis://" in run(*words, code=2).stderr, words


def test_what_needs_cells_is_refused_with_a_reason(served, folder, tmp_path):
    url, out = bf(served), tmp_path / "out.seen"
    for words in ("convert", url, "-o", out), ("convert", tmp_path / "haw.seen", "-o", url), ("merge", "-o", out, url), \
            ("merge", "-o", url, tmp_path / "haw.seen"), ("build", "-o", url, folder / "old"):
        assert "cannot copy a filter" in run(*words, code=2).stderr, words
    assert not out.exists()
    assert "not for bf" in run("info", bf(served, more="?replicas=1"), code=2).stderr


def test_dedup_makes_its_filter(served, folder, tmp_path):
    url = bf(served, "made", user=":%s@" % TOKEN)
    for n in 1, 0:
        it = run("dedup", "--filter", url, "--count", stdin="http://a.example/\n")
        assert it.stdout == "kept\t%d\ndropped\t%d\n" % (n, 1 - n)
    told = json.loads(run("info", "--json", tmp_path / "made.seen").stdout)
    assert (told["profile"], told["capacity"]) == ("whatwg", 10**5) and told["kind"].startswith("growing")
    run("build", "-o", tmp_path / "once.seen", "--kind", "fuse", folder / "old")
    until(lambda: run("info", bf(served, "once"), code=None).returncode == 0)
    assert "built once; name another" in run("dedup", "--filter", bf(served, "once", user=":%s@" % TOKEN), folder / "old",
                                             code=2).stderr


def test_of_many_processes_at_most_one_gets_new(served, tmp_path):
    url, n = bf(served, user=":%s@" % TOKEN), 4000
    many = listed(tmp_path / "many", 100000, 100000 + n)
    adders = [start("add", "--ack", "--json", url, "-i", many, stdout=open(tmp_path / str(i), "w")) for i in range(4)]
    new = []
    for i, it in enumerate(adders):
        assert it.wait(60) == 0, it.stderr.read()
        new += [json.loads(line)["url"] for line in (tmp_path / str(i)).read_text().splitlines() if '"new": true' in line]
    assert len(new) == len(set(new)) and len(new) > 0.98 * n  # the rest are false positives, at most 1 %


def test_a_server_that_stops_is_an_error(folder, tmp_path):
    run("build", "-o", tmp_path / "haw.seen", "--capacity", "1000", "--allow-empty", "/dev/null")
    own = Server(tmp_path, "-w", "--token", folder / "token", "haw.seen").__enter__()
    url = bf(own, user=":%s@" % TOKEN, more="?timeout=3")
    it = subprocess.Popen([SEEN, "add", "--ack", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, bufsize=1)
    it.stdin.write("http://first.example/\n")
    assert it.stdout.readline() == "http://first.example/\n"
    freeze(own.pid)
    it.stdin.write("http://second.example/\n")
    it.stdin.close()
    assert it.wait(30) == 2
    said = it.stderr.read()
    assert it.stdout.read() == "" and "in time" in said and "may have been added" in said
    own.kill()
    assert "Connection refused" in run("check", url, "http://first.example/", code=2).stderr


def test_tls(served, folder, tmp_path):
    authority = Authority(tmp_path / "ca")
    (tmp_path / "files").mkdir()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("localhost", tmp_path / "files"))
    with Proxy(served.port, context=context) as proxy:
        url = "bfs://:%s@localhost:%d/haw?cacert=%s" % (TOKEN, proxy.port, authority.certificate)
        assert run("check", "--count", url, "-i", folder / "old").stdout == "new\t0\nseen\t%d\n" % ALL
        assert "5,000 URLs: " in run("add", url, "-i", folder / "new").stdout
        assert "certificate is refused" in run("info", url.split("?")[0], code=2).stderr
