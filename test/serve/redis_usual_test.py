"""redis_usual_test.py - what viewers and libraries send to every server of Redis.

The same words go to a redis-server and to ours, and both say the same. Where Redis has a
string, we have a filter.
"""
import os
import shutil
import signal
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote"))
from redis_server import Redis, freeze
from redis_test import Raw, command, serving

NAME = "usual"

SAME = [line.split() for line in """
TTL usual
TTL nothing
TTL
PTTL usual
PTTL nothing
EXPIRETIME usual
PEXPIRETIME nothing
EXPIRE nothing 5
EXPIRE nothing 5 nx
EXPIRE nothing x
EXPIRE nothing 5 foo
EXPIRE nothing 5 nx xx
EXPIRE nothing 5 gt lt
EXPIRE nothing
PEXPIREAT nothing 5
PERSIST usual
PERSIST nothing
PERSIST
TOUCH usual nothing
MEMORY USAGE nothing
MEMORY USAGE nothing SAMPLES 5
MEMORY USAGE usual SAMPLES x
MEMORY USAGE usual FOO 1
MEMORY USAGE
MEMORY FOO
MEMORY
OBJECT ENCODING nothing
OBJECT ENCODING
OBJECT REFCOUNT usual
OBJECT REFCOUNT nothing
OBJECT IDLETIME usual
OBJECT FREQ usual
OBJECT FREQ nothing
OBJECT FOO usual
SLOWLOG GET
SLOWLOG GET 10
SLOWLOG GET -1
SLOWLOG GET -2
SLOWLOG GET x
SLOWLOG LEN
SLOWLOG LEN 1
SLOWLOG RESET
SLOWLOG FOO
SLOWLOG
LATENCY LATEST
LATENCY HISTORY command
LATENCY RESET
LATENCY FOO
ACL WHOAMI
ACL WHOAMI x
ACL USERS
ACL FOO
CLUSTER INFO
CLUSTER NODES
CLUSTER SLOTS
CLUSTER SHARDS
CLUSTER MYID
CLUSTER KEYSLOT a
CLUSTER LINKS
CLUSTER INFO x
CLUSTER FOO
CLUSTER
READONLY
READWRITE
ASKING
ROLE
WAIT 0 1
WAIT x 1
WAIT 0 x
WAIT 0 -1
COMMAND GETKEYS TTL a
COMMAND GETKEYS DEL a b c
COMMAND GETKEYS TTL a b
COMMAND GETKEYS PING a
COMMAND GETKEYS FOO a
COMMAND GETKEYS
COMMAND FOO
CONFIG FOO
MODULE FOO
CLIENT FOO
CLIENT ID x
CLIENT GETREDIR
CLIENT TRACKINGINFO
CLIENT CACHING YES
CLIENT TRACKING
CLIENT TRACKING FOO
CLIENT TRACKING ON FOO
CLIENT TRACKING ON REDIRECT x
CLIENT TRACKING ON REDIRECT 987654
CLIENT TRACKING ON PREFIX a
CLIENT TRACKING ON OPTIN OPTOUT
CLIENT TRACKING ON BCAST OPTIN
CLIENT TRACKING ON NOLOOP
CLIENT TRACKINGINFO
CLIENT GETREDIR
CLIENT TRACKING ON BCAST
CLIENT TRACKING OFF
CLIENT TRACKING ON OPTIN
CLIENT CACHING YES
CLIENT CACHING NO
CLIENT CACHING FOO
CLIENT TRACKING ON OPTOUT
CLIENT TRACKING OFF
CLIENT TRACKING ON OPTOUT
CLIENT CACHING YES
CLIENT TRACKING OFF
CLIENT GETREDIR
""".splitlines() if line]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("usual"), "--sets") as it, Raw(it) as raw:
        assert raw.trusted().ask("BF.ADD", NAME, "x") == 1
        yield it


@pytest.mark.parametrize("version", [2, 3])
def test_both_servers_say_the_same(server, tmp_path, version):
    if not shutil.which("redis-server"):
        pytest.skip("no redis-server")
    with Redis(tmp_path) as other, Raw(other) as theirs, Raw(server) as ours:
        ours.trusted()
        assert theirs.ask("SET", NAME, "x") == "OK"
        for raw in ours, theirs:
            raw.ask("HELLO", version)
        for words in SAME:
            assert ours.ask(*words) == theirs.ask(*words), words


def test_a_filter_is_described(server):
    with Raw(server) as raw:
        assert raw.ask("TYPE", NAME) == "MBbloom--"
        assert raw.ask("SCAN", 0, "TYPE", "MBbloom--") == [b"0", [NAME.encode()]]
        assert raw.ask("SCAN", 0, "TYPE", "set") == [b"0", []]
        assert raw.ask("OBJECT", "ENCODING", NAME) == b"raw"
        assert raw.ask("MEMORY", "USAGE", NAME) == raw.ask("BF.INFO", NAME, "SIZE")[0] > 0
        assert raw.ask("COMMAND", "GETKEYS", "BF.ADD", "a", "b") == [b"a"]


def test_what_cannot_be_kept_is_refused(server):
    with Raw(server) as raw:
        raw.trusted()
        for words in ["EXPIRE", NAME, 1], ["PEXPIREAT", NAME, 1]:
            assert "does not expire" in raw.ask(*words)
        for words in ["FLUSHDB"], ["FLUSHALL", "ASYNC"]:
            assert raw.ask(*words).startswith("NOPERM this user has no permissions to run the '%s'" %
                                              words[0].lower())
        assert raw.ask("BF.EXISTS", NAME, "x") == 1


PUSH = b">2\r\n$10\r\ninvalidate\r\n_\r\n"


def test_a_client_that_keeps_answers_is_told_after_each(server):
    """An add by another client would have to reach it; so nothing stays kept."""
    with Raw(server) as raw:
        raw.trusted()
        raw.ask("HELLO", 3)
        assert raw.ask("CLIENT", "TRACKING", "ON") == "OK"
        for words, reply in ((("BF.EXISTS", NAME, "x"), b"#t\r\n"), (("BF.ADD", NAME, "x"), b"#f\r\n"),
                             (("PING",), b"+PONG\r\n"), (("EXISTS", NAME), b":1\r\n")):
            raw.send(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode())
                                                       for w in words))
            wanted = reply + (b"" if words == ("PING",) else PUSH)
            assert raw.file.read(len(wanted)) == wanted
        assert raw.ask("CLIENT", "TRACKING", "OFF") == "OK"
        assert raw.ask("BF.EXISTS", NAME, "x") is True
        assert raw.ask("PING") == "PONG"


def test_lookups_of_many_clients_in_one_turn_are_answered_to_each_in_order(server):
    """While the server stands still all of them send; then it asks in few batches."""
    other = NAME + "-2"
    patterns = [
        ([["BF.EXISTS", NAME, "x"]], [1]),
        ([["BF.EXISTS", NAME, "x"], ["PING"], ["BF.EXISTS", NAME, "no"]], [1, "PONG", 0]),
        ([["BF.EXISTS", other, "y"], ["BF.EXISTS", NAME, "x"]], [1, 1]),
        ([["BF.EXISTS", NAME, "x"], ["BF.MEXISTS", other, "no", "y"], ["BF.EXISTS", "none", "x"],
          ["BF.EXISTS", other, "y"]], [1, [0, 1], 0, 1]),
        ([["BF.EXISTS", NAME, "x"]] * 300, [1] * 300),
        ([["BF.EXISTS", NAME, "no"], ["CLIENT", "REPLY", "SKIP"], ["BF.EXISTS", NAME, "x"], ["ECHO", "e"]],
         [0, b"e"]),
        ([["MULTI"], ["BF.EXISTS", NAME, "x"], ["EXEC"], ["BF.EXISTS", NAME, "no"]],
         ["OK", "QUEUED", [1], 0]),
    ]
    with Raw(server) as raw:
        raw.trusted()
        assert raw.ask("BF.ADD", other, "y") == 1
        clients = [Raw(server) for _ in range(10 * len(patterns))]
        for client in clients:
            assert client.ask("PING") == "PONG"
        freeze(server.pid)
        for i, client in enumerate(clients):
            client.send(b"".join(command(*words) for words in patterns[i % len(patterns)][0]))
        os.kill(server.pid, signal.SIGCONT)
        for i, client in enumerate(clients):
            words, replies = patterns[i % len(patterns)]
            assert [client.read() for _ in replies] == replies, words
            assert client.ask("PING") == "PONG"
            client.__exit__()
        assert raw.ask("DEL", other) == 1
