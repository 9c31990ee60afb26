"""remote_test.py - filters in Redis: commands, faults, TLS, passwords.

One server is shared; a test that stops or limits a server has its own.
"""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from redis_server import Redis, SEEN, freeze, listed, run, start, until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "servers"))
from authority import Authority

ALL = 20000


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Redis(tmp_path_factory.mktemp("redis")) as it:
        yield it


@pytest.fixture(scope="module")
def urls(tmp_path_factory):
    """Two lists without a common URL, and filters of the first."""
    folder = tmp_path_factory.mktemp("urls")
    listed(folder / "old", 0, ALL)
    listed(folder / "new", ALL, ALL + 5000)
    run("build", "-o", folder / "old.seen", "--capacity", ALL + 6000, folder / "old")
    run("build", "-o", folder / "low.seen", "--capacity", ALL + 6000, "--rate", "1e-6", "--kind", "routed:4/bloom",
        folder / "old")
    return folder


@pytest.fixture
def name(request, server):
    """A name of its own for each test; nothing of it is left behind."""
    yield request.node.name
    client = server.client()
    for key in list(client.scan_iter(request.node.name.replace("[", "?").replace("]", "?") + "*", count=1000)):
        client.delete(key)


def chunks(client, name):
    return sorted(k for k in client.scan_iter("*") if k.startswith(name.encode() + b":{") and k.count(b":") == 2)


# --- commands ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["old", "low"])
def test_a_filter_comes_back_as_it_went(server, urls, name, tmp_path, kind):
    name = "copy-" + kind
    url, file = server.url("3/" + name), urls / (kind + ".seen")
    assert "filter of" in run("convert", file, "-o", url).stderr
    run("convert", url, "-o", tmp_path / "back.seen")
    assert (tmp_path / "back.seen").read_bytes() == file.read_bytes()
    told, kept = (json.loads(run("info", "--json", at).stdout) for at in (url, file))
    assert told.pop("losses") == 0
    assert told == kept


def test_a_filter_made_for_redis_has_fewer_probes(server, urls, name, tmp_path):
    """Unless they are chosen, and at most for 5 % more memory."""
    words = "build", "--capacity", ALL, "--rate", "1e-6", "--kind", "routed:4/bloom", urls / "old", "-o"
    facts = []
    for to, *more in ((server.url(name),), (server.url(name), "--probes", "20"), (tmp_path / "f.seen",)):
        run(*words, to, *more)
        facts.append(json.loads(run("info", "--json", to).stdout))
    assert facts[1]["bytes"] == facts[2]["bytes"] < facts[0]["bytes"] < 1.06 * facts[2]["bytes"]
    assert facts[0]["rate"] < 1.1e-6


@pytest.mark.parametrize("kind", ["old", "low"])
def test_answers_and_bits_are_those_of_a_file(server, urls, name, tmp_path, kind):
    url, file = server.url("like-" + kind), tmp_path / "like.seen"
    file.write_bytes((urls / (kind + ".seen")).read_bytes())
    run("convert", file, "-o", url)
    for at in "old", "new":
        assert run("check", url, "-i", urls / at, code=1 if at == "new" else 0).stdout == \
            run("check", file, "-i", urls / at, code=1 if at == "new" else 0).stdout
    assert run("add", url, "-i", urls / "new").stdout == run("add", file, "--sync", "no", "-i", urls / "new").stdout
    assert " 0 new, 5,000 seen" in run("add", url, "-i", urls / "new").stdout
    run("merge", "-o", tmp_path / "a.seen", url)
    run("merge", "-o", tmp_path / "b.seen", file)
    for it in "ab":
        run("convert", tmp_path / (it + ".seen"), "-o", tmp_path / (it + ".csv"))
    rows = [[line for line in (tmp_path / (it + ".csv")).read_text().splitlines()
             if not line.startswith(("checksum,", "applied,", "offered,"))] for it in "ab"]
    assert rows[0] == rows[1]


def test_build_merge_and_dedup_take_an_address(server, urls, name, tmp_path):
    url = server.url(name)
    run("build", "-o", url, "--capacity", "30000", "--meta", "title=Crawl", urls / "old")
    assert "title" in run("info", url).stdout
    other = server.url(name + "-2")
    run("build", "-o", other, "--capacity", "30000", "--allow-empty", "/dev/null")
    run("add", other, "http://x.example/")
    run("merge", "-o", url, url, other)
    assert run("check", url, "http://x.example/", "http://host0.example/page/0").stdout.count("seen\t") == 2
    kept = run("dedup", "--filter", url, stdin="http://y.example/\nhttp://x.example/\nhttp://y.example/\n").stdout
    assert kept == "http://y.example/\n"
    assert "exists" in run("dedup", "--filter", url, "--capacity", "9", code=2, stdin="").stderr


def test_dedup_makes_its_filter(server, urls, name):
    """As it makes a file; of a kind that can live there, and not over one that is there."""
    url, lists = server.url(name), urls / "old"
    for more, kind in ("", "blocked"), ("-low", "routed:4/bloom"):
        asked = ["--capacity", ALL + 6000] + (["--rate", "1e-6"] if more else [])
        assert run("dedup", "--filter", url + more, *asked, lists).stdout.count("\n") >= ALL - 20
        assert run("dedup", "--filter", url + more, lists, urls / "new").stdout.count("\n") >= 4990
        told = json.loads(run("info", "--json", url + more).stdout)
        assert (told["kind"], told["capacity"], told["profile"]) == (kind, ALL + 6000, "whatwg")
        assert "exists; --capacity" in run("dedup", "--filter", url + more, "--rate", "1e-3", lists, code=2).stderr
    spread = "spatial:%s-a,%s-b" % (url, url)
    assert run("dedup", "--filter", spread, "--capacity", ALL, lists).stdout.count("\n") >= ALL - 20
    client = server.client()
    client.delete(name + "-b")
    assert "some parts" in run("dedup", "--filter", spread, lists, code=2).stderr
    assert client.exists(name + "-a")
    client.set(name + "-c", "hello")
    assert "another name" in run("dedup", "--filter", url + "-c", lists, code=2).stderr
    assert client.get(name + "-c") == b"hello"
    run("dedup", "--filter", url + "-d?profile=surt", "--capacity", 5, stdin="http://a.example/\n")
    assert json.loads(run("info", "--json", url + "-d").stdout)["profile"] == "surt"


def test_of_many_that_make_one_filter_none_loses_urls(server, name, tmp_path):
    """Whoever comes second opens the filter of the first."""
    lists = [tmp_path / str(n) for n in range(8)]
    for n, path in enumerate(lists):
        listed(path, n, n + 1)
    jobs = [start("dedup", "--filter", server.url(name), "--wait", 240, path) for path in lists]
    told = [job.communicate() for job in jobs]
    assert [job.returncode for job in jobs] == [0] * len(jobs), told
    assert sum("made for 10,000,000" in words for _, words in told) == 1
    listed(tmp_path / "all", 0, 8)
    assert run("check", "--count", server.url(name), "-i", tmp_path / "all").stdout == "new\t0\nseen\t8\n"


def test_a_replaced_filter_leaves_nothing_behind(server, urls, name):
    client, url = server.client(), server.url(name)
    for _ in range(3):
        run("convert", urls / "low.seen", "-o", url)
    assert len(list(client.scan_iter(name + "*"))) == 1 + 1 + 4


def test_chunks_are_shorter_than_16_mib_and_the_last_line_is_reached(server, name, tmp_path):
    url = server.url(name)
    run("build", "-o", tmp_path / "big.seen", "--capacity", "15M", "--allow-empty", "/dev/null")
    run("convert", tmp_path / "big.seen", "-o", url)
    client = server.client()
    sizes = sorted(client.strlen(key) for key in chunks(client, name))
    assert len(sizes) == 2 and sizes[1] == 2**24 - 64
    used = sum(client.memory_usage(key, samples=0) for key in client.scan_iter(name + "*"))
    assert used < 1.05 * sum(sizes) + 4096 * 1024
    listed(tmp_path / "some", 0, 3000)
    assert "3,000 new" in run("add", url, "-i", tmp_path / "some").stdout
    run("add", tmp_path / "big.seen", "-i", tmp_path / "some")
    run("convert", url, "-o", tmp_path / "back.seen")
    cells = [p.read_bytes()[-17 * 2**20:-4096] for p in (tmp_path / "back.seen", tmp_path / "big.seen")]
    assert cells[0] == cells[1]


def test_kinds_that_one_command_cannot_change_are_refused(server, urls, name, tmp_path):
    for kind, word in (("counting:4", "blocked"), ("growing/blocked", "blocked"), ("spatial:2/blocked", "blocked"),
                       ("bloom:sha1", "blocked"), ("layered:2", "blocked")):
        it = run("build", "-o", server.url(name), "--kind", kind, "--capacity", "1000", urls / "old", code=2)
        assert "cannot live in Redis" in it.stderr and word in it.stderr, kind
    it = run("build", "-o", server.url(name), "--kind", "bloom", "--rate", "1e-6", "--capacity", "10M", urls / "old", code=2)
    assert "take routed:N/" in it.stderr
    assert not list(server.client().scan_iter(name + "*"))


def test_profile_key_and_capacity_are_checked(server, urls, name, tmp_path):
    url = server.url(name)
    run("convert", urls / "old.seen", "-o", url)
    assert "profile surt" in run("check", "--profile", "whatwg", url, "http://a/", code=2).stderr
    (tmp_path / "key").write_text("00112233445566778899aabbccddeeff\n")
    assert "is not keyed" in run("check", "--keyed", tmp_path / "key", url, "http://a/", code=2).stderr
    run("build", "-o", url, "--keyed", tmp_path / "key", "--capacity", "100", "--allow-empty", "/dev/null")
    assert "is keyed" in run("add", url, "http://a/", code=2).stderr
    run("add", "--keyed", tmp_path / "key", url, "http://a.example/")
    assert run("check", "--keyed", tmp_path / "key", url, "http://a.example/").stdout.startswith("seen")


def test_a_full_filter_takes_no_more(server, name, tmp_path):
    url, file = server.url(name), tmp_path / "full.seen"
    run("build", "-o", file, "--capacity", "1000", "--allow-empty", "/dev/null")
    run("convert", file, "-o", url)
    many = listed(tmp_path / "many", 0, 3000)
    in_file = run("add", file, "-i", many, "--json", code=2)
    in_redis = run("add", url, "-i", many, "--json", code=2)
    assert "all it was planned for" in in_redis.stderr
    assert json.loads(in_redis.stdout)["urls"] == json.loads(in_file.stdout)["urls"]
    assert "3,000 URLs" in run("add", "--over", url, "-i", many).stdout


# --- many processes ---------------------------------------------------------------


def test_of_many_processes_at_most_one_gets_new(server, name, tmp_path):
    url, n = server.url(name), 4000
    run("build", "-o", url, "--capacity", "1M", "--rate", "0.001", "--allow-empty", "/dev/null")
    many = listed(tmp_path / "many", 0, n)
    adders = [start("add", "--ack", "--json", url, "-i", many, stdout=open(tmp_path / str(i), "w")) for i in range(8)]
    for it in adders:
        assert it.wait(60) == 0, it.stderr.read()
    new = {}
    for i in range(8):
        for line in (tmp_path / str(i)).read_text().splitlines():
            it = json.loads(line)
            if "url" in it and it.get("new"):
                new[it["url"]] = new.get(it["url"], 0) + 1
    assert max(new.values()) == 1
    # None is new for a false positive only: at 0.4 % of the capacity, fewer than one in a million.
    assert len(new) >= n - 1
    assert json.loads(run("info", "--json", url).stdout)["offered"] == 8 * n


# --- faults -----------------------------------------------------------------------


def test_what_is_not_a_filter_is_refused_and_not_replaced(server, urls, name):
    client, url = server.client(), server.url(name)
    assert "no filter of this name" in run("check", url, "http://a/", code=2).stderr
    client.set(name, "precious")
    assert "not a filter" in run("check", url, "http://a/", code=2).stderr
    assert "delete it first" in run("convert", urls / "old.seen", "-o", url, code=2).stderr
    client.delete(name)
    client.rpush(name, "precious")
    assert "not a filter" in run("info", url, code=2).stderr
    assert "delete it first" in run("convert", urls / "old.seen", "-o", url, code=2).stderr
    client.delete(name)
    client.set(name, "seen-filter 2 0123456789abcdef 16777088\nkind=x\n")
    assert "version 2" in run("info", url, code=2).stderr
    client.set(name, "seen-filter 1 0123456789abcdef 65408\nkind=blocked\nprofile=surt\ncapacity=1000\nrate=0.01\n"
               "bits=281474976710656\nprobes=6\nat=0\nsize=35184372088832\nset=0\noffered=0\n")
    assert "too much" in run("info", url, code=2).stderr


def test_a_missing_or_foreign_chunk_is_an_error_not_an_answer(server, urls, name):
    client = server.client()
    for kind in "old", "low":
        url = server.url(name + kind)
        run("convert", urls / (kind + ".seen"), "-o", url)
        chunk = chunks(client, name + kind)[0]
        whole = client.get(chunk)
        for change in (lambda: client.delete(chunk), lambda: client.set(chunk, b"x" * len(whole)),
                       lambda: client.set(chunk, whole[:-1]), lambda: client.set(chunk, whole[:24] + b"\x07" + whole[25:]),
                       lambda: client.delete(chunk) and client.rpush(chunk, "x")):
            change()
            for words in ("check", url, "-i", urls / "old"), ("add", url, "-i", urls / "new"), ("info", url), \
                    ("convert", url, "-o", "/dev/null", "--to", "text"):
                it = run(*words, code=2)
                assert "overwritten" in it.stderr or "missing" in it.stderr, it.stderr
                assert not it.stdout
            client.delete(chunk)
            client.set(chunk, whole)
        assert run("check", "--count", url, "-i", urls / "old").stdout == "new\t0\nseen\t%d\n" % ALL


def test_a_chunk_that_vanishes_while_urls_are_added_gives_no_wrong_new(server, urls, name):
    """The add reads a URL per line, so that the chunk goes between two batches."""
    client, url = server.client(), server.url(name)
    run("convert", urls / "old.seen", "-o", url)
    it = subprocess.Popen([SEEN, "add", "--ack", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, bufsize=1)
    it.stdin.write("http://first.example/\n")
    it.stdin.flush()
    assert it.stdout.readline() == "http://first.example/\n"
    client.delete(chunks(client, name)[0])
    it.stdin.write("http://second.example/\n")
    it.stdin.close()
    assert it.wait(30) == 2
    assert it.stdout.read() == "" and "missing" in it.stderr.read()


def test_a_chunk_that_vanishes_while_only_new_urls_are_added_gives_no_wrong_new(server, urls, name):
    """After a batch of new URLs the next ones are added without reading first."""
    client, url = server.client(), server.url(name)
    run("build", "-o", url, "--capacity", "100k", "--allow-empty", "/dev/null")
    it = subprocess.Popen([SEEN, "add", "--ack", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    for first in 0, 1000:
        it.stdin.write("".join("http://a.example/%d\n" % i for i in range(first, first + 1000)))
        it.stdin.flush()
        assert [it.stdout.readline() for _ in range(1000)][-1] == "http://a.example/%d\n" % (first + 999)
    assert client.info("commandstats")["cmdstat_bitfield"]["calls"] >= 1990
    chunk = chunks(client, name)[0]
    client.delete(chunk)
    it.stdin.write("".join("http://b.example/%d\n" % i for i in range(1000)))
    it.stdin.close()
    assert it.wait(30) == 2
    assert it.stdout.read() == "" and "missing" in it.stderr.read()
    for words in ("check", url, "http://a.example/1"), ("add", url, "http://c.example/"):
        it = run(*words, code=2)
        assert it.stdout == "" and "overwritten" in it.stderr


def test_an_evicted_filter_is_refused(urls, tmp_path):
    with Redis(tmp_path / "r", "--maxmemory", "8mb", "--maxmemory-policy", "allkeys-random") as own:
        client, url = own.client(), own.url("haw")
        run("convert", urls / "low.seen", "-o", url)
        keys = client.dbsize()
        until(lambda: client.set(os.urandom(8), b"x" * 100000) and
              sum(1 for _ in client.scan_iter("haw*", count=1000)) < keys, every=0)
        it = run("check", url, "-i", urls / "old", code=2)
        assert it.stdout == "" and ("missing" in it.stderr or "no filter of this name" in it.stderr), it.stderr


def test_server_gone_restarted_or_stopped(urls, tmp_path):
    """Errors at once or in time; after a restart the loss is reported and counted."""
    with Redis(tmp_path / "r", "--appendonly", "yes", "--appendfsync", "always") as own:
        url = own.url("haw", "?timeout=3")
        run("convert", urls / "old.seen", "-o", url)
        freeze(own.process.pid)
        begun = time.monotonic()
        it = run("add", url, "http://slow.example/", code=2)
        assert "in time" in it.stderr and time.monotonic() - begun < 100
        own.process.send_signal(signal.SIGCONT)
        adder = subprocess.Popen([SEEN, "add", "--ack", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, bufsize=1)
        adder.stdin.write("http://one.example/\n")
        adder.stdin.flush()
        assert adder.stdout.readline()
        own.stop(signal.SIGKILL)
        own.start()
        # The connection is lost, but the first command only reads, so that it is repeated.
        adder.stdin.write("http://two.example/\n")
        adder.stdin.flush()
        assert adder.stdout.readline() == "http://two.example/\n"
        adder.stdin.close()
        assert adder.wait(30) == 0
        assert "may be lost" in adder.stderr.read()
        assert json.loads(run("info", "--json", url).stdout)["losses"] == 1
        assert run("check", "--count", url, "-i", urls / "old").stdout.endswith("seen\t%d\n" % ALL)
        own.stop()
        it = run("add", url, "http://gone.example/", code=2)
        assert "Connection refused" in it.stderr
        own.start()


def test_no_memory_and_no_writes(urls, tmp_path):
    with Redis(tmp_path / "r", "--repl-diskless-sync-delay", "0") as own:
        client, url = own.client(), own.url("haw")
        run("convert", urls / "old.seen", "-o", url)
        client.config_set("maxmemory", "1mb")
        assert "OOM" in run("add", url, "-i", urls / "new", code=2).stderr
        assert run("check", "--count", url, "-i", urls / "old").stdout.endswith("seen\t%d\n" % ALL)
        assert "OOM" in run("convert", urls / "low.seen", "-o", own.url("low"), code=2).stderr
        assert "no filter" in run("info", own.url("low"), code=2).stderr
        client.config_set("maxmemory", "0")
        with Redis(tmp_path / "replica", "--replicaof", "127.0.0.1 %d" % own.port) as replica:
            until(lambda: replica.client().info("replication")["master_link_status"] == "up")
            copy = replica.url("haw")
            assert run("check", "--count", copy, "-i", urls / "old").stdout.endswith("seen\t%d\n" % ALL)
            assert "READONLY" in run("add", copy, "http://a.example/", code=2).stderr
            assert " 5,000 URLs" in " " + run("add", own.url("haw", "?replicas=1"), "-i", urls / "new").stdout
            few = own.url("haw", "?replicas=2&timeout=0.5")     # the one that is there may be late
            until(lambda: "1 of 2 replicas" in run("add", few, "http://b.example/", code=2).stderr)
        client.config_set("maxmemory-policy", "allkeys-lru")
        assert "noeviction" in run("info", url).stderr


def test_passwords_and_commands_that_are_forbidden(urls, tmp_path):
    with Redis(tmp_path / "r", password="s3cret/word") as own:
        run("convert", urls / "old.seen", "-o", own.url("haw", user=":s3cret%2Fword@"))
        assert "NOAUTH" in run("info", own.url("haw"), code=2).stderr
        it = run("info", own.url("haw", user=":wrong-word@"), code=2)
        assert "WRONGPASS" in it.stderr and "wrong-word" not in it.stderr and ":***@" in it.stderr
        (tmp_path / "password").write_text("s3cret/word\n")
        run("info", own.url("haw", "?password-file=" + str(tmp_path / "password")))
        run("info", own.url("haw"), env={**os.environ, "SEEN_REDIS_PASSWORD": "s3cret/word"})
        client = own.client()
        client.execute_command("ACL", "SETUSER", "reader", "on", ">pw", "~*", "+@read", "+@connection", "+info", "-bitfield")
        url = own.url("haw", user="reader:pw@")
        assert run("check", "--count", url, "-i", urls / "old").stdout.endswith("seen\t%d\n" % ALL)
        it = run("add", url, "http://a.example/", code=2)
        assert "bitfield" in it.stderr and "pw@" not in it.stderr
        # Nobody sees it in the list of processes either.
        adder = start("add", own.url("haw", user=":s3cret%2Fword@"), stdout=subprocess.DEVNULL)
        until(lambda: b"***" in open("/proc/%d/cmdline" % adder.pid, "rb").read() or adder.poll() is not None)
        adder.wait(30)


def test_tls_checks_the_certificate_before_the_password(urls, tmp_path):
    authority = Authority(tmp_path / "ca")
    (tmp_path / "files").mkdir()
    certificate, key = authority.issue("localhost", tmp_path / "files")
    port = Redis(tmp_path / "none").port
    own = Redis(tmp_path / "r", "--tls-port", str(port), "--tls-cert-file", certificate, "--tls-key-file", key,
                "--tls-ca-cert-file", authority.certificate, "--tls-auth-clients", "optional", password="pw")
    with own:
        def url(host, more=""):
            return "rediss://:pw@%s:%d/haw?cacert=%s%s" % (host, port, authority.certificate, more)
        run("convert", urls / "old.seen", "-o", url("localhost"))
        assert "5,000 URLs" in run("add", url("localhost"), "-i", urls / "new").stdout
        assert run("check", "--count", url("localhost"), "-i", urls / "old").stdout.endswith("seen\t%d\n" % ALL)
        run("convert", url("localhost"), "-o", tmp_path / "back.seen")
        assert "certificate is refused" in run("info", url("127.0.0.1"), code=2).stderr
        run("info", url("127.0.0.1", "&verify=peer"))
        it = run("info", "rediss://:pw@localhost:%d/haw" % port, code=2)
        assert "certificate is refused" in it.stderr
        it = run("info", "rediss://localhost:%d/haw?verify=none&timeout=0.5" % own.port, code=2)  # speaks no TLS
        assert "in time" in it.stderr


def test_an_upload_that_was_stopped_is_continued(urls, tmp_path):
    with Redis(tmp_path / "r") as own:
        client, url = own.client(), own.url("haw")
        run("convert", urls / "old.seen", "-o", url)
        run("build", "-o", tmp_path / "big.seen", "--capacity", "40M", "--allow-empty", "/dev/null")
        run("add", tmp_path / "big.seen", "--sync", "no", "-i", urls / "old")
        it = start("convert", tmp_path / "big.seen", "-o", url)
        until(lambda: len(list(client.scan_iter("haw:{*:*}"))) >= 2, every=0.001)
        it.kill()
        it.wait(60)
        before = [k for k in client.scan_iter("haw:{*:*}")]
        assert run("check", "--count", url, "-i", urls / "old").stdout.endswith("seen\t%d\n" % ALL)  # the old one
        assert "another process" in run("convert", tmp_path / "big.seen", "-o", url, code=2).stderr
        client.delete("haw:{lock}")
        writes = client.info("commandstats")["cmdstat_set"]["calls"]
        run("convert", tmp_path / "big.seen", "-o", url)
        again = client.info("commandstats")["cmdstat_set"]["calls"] - writes
        assert again <= 3 - 1 + 2  # of three chunks one or more were there; one SET for the lock, one for the record
        run("convert", url, "-o", tmp_path / "back.seen")
        assert run("check", "--count", tmp_path / "back.seen", "-i", urls / "old").stdout.endswith("seen\t%d\n" % ALL)
        assert len(before) >= 2


def test_bad_addresses(tmp_path):
    for address, words in (("redis://", "needs a host"), ("redis:///x", "needs a host"), ("redis://h:0/x", "port"),
                           ("redis://h:99999/x", "port"), ("redis://h/", "name of the filter"),
                           ("redis://h/a%0ab", "control"), ("redis://a,b/x", "several hosts"),
                           ("redis://h/x?nothing=1", "no setting"), ("redis://h/x?timeout=0", "timeout"),
                           ("redis://h/x?verify=maybe", "verify"), ("redis://h/%zz", "%")):
        assert words in run("info", address, code=2).stderr, address
