"""redis_server.py - Redis servers and clusters of the tests, on free ports.

    with Redis(tmp_path) as server:
        server.client().set("a", "b")
        run("build", "-o", server.url("haw"), "urls.txt")
"""
import os
import signal
import subprocess
import sys
import time

import redis

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from freeze import freeze          # noqa: F401
from ports import free_port

SEEN = os.environ.get("SEEN", "build/seen")


def until(fact, seconds=240, every=0.02):
    end = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(every)


def start(*words, **how):
    how.setdefault("stdout", subprocess.PIPE)
    return subprocess.Popen([SEEN, *map(str, words)], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, **how)


def run(*words, code=0, stdin=None, **how):
    """Run a command, which must end with this code; None: any."""
    it = subprocess.run([SEEN, *map(str, words)], input=stdin, capture_output=True, text=True, timeout=120, **how)
    assert code is None or it.returncode == code, (words, it.returncode, it.stdout[-500:], it.stderr)
    return it


def listed(path, first, last):
    """A file of URLs with these numbers."""
    path.write_text("".join("http://host%d.example/page/%d\n" % (i % 1000, i) for i in range(first, last)))
    return path


class Redis:
    """One server. Options are those of redis.conf, as --name value."""

    def __init__(self, folder, *options, port=None, password=None):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.options, self.password = folder, options, password
        self.port = port or free_port()
        self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *why):
        self.stop(signal.SIGKILL)

    def start(self):
        words = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", "",
                 "--appendfsync", "everysec", *self.options]
        if self.password:
            words += ["--requirepass", self.password]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        until(self.answers)
        return self

    def answers(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            return self.client().ping()
        except redis.exceptions.BusyLoadingError:
            return False
        except redis.exceptions.ConnectionError:
            return False

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(how)
        self.process.wait(30)

    def client(self):
        return redis.Redis("127.0.0.1", self.port, password=self.password, socket_timeout=120)

    def url(self, name, more="", user=""):
        return "redis://%s127.0.0.1:%d/%s%s" % (user, self.port, name, more)


class Cluster:
    """Three masters and, if asked for, three replicas."""

    def __init__(self, folder, replicas=1):
        # Nodes would listen 10000 ports above, where a port may be in use.
        self.nodes = [Redis(folder / str(i), "--cluster-enabled", "yes", "--cluster-port", str(free_port()),
                            "--cluster-node-timeout", "3000",
                            "--cluster-allow-replica-migration", "no", "--repl-diskless-sync-delay", "0",
                            "--cluster-replica-validity-factor", "0")
                      for i in range(3 + 3 * replicas)]
        self.replicas = replicas

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def start(self):
        for node in self.nodes:
            node.start()
        subprocess.run(["redis-cli", "--cluster", "create", *("127.0.0.1:%d" % n.port for n in self.nodes),
                        "--cluster-replicas", str(self.replicas), "--cluster-yes"], check=True, capture_output=True)
        until(lambda: all(n.client().cluster("info")["cluster_state"] == "ok" for n in self.nodes))
        if self.replicas:
            until(lambda: all(n.client().info("replication").get("master_link_status", "up") == "up" for n in self.nodes))
        return self

    def __exit__(self, *why):
        for node in self.nodes:
            if node.process:
                node.stop(signal.SIGKILL)

    def url(self, name, more=""):
        return "redis+cluster://%s/%s%s" % (",".join("127.0.0.1:%d" % n.port for n in self.nodes[:3]), name, more)

    def masters(self):
        return [n for n in self.nodes if n.process.poll() is None and n.client().info("replication")["role"] == "master"]

    def keys(self, pattern="*"):
        return sorted(key for n in self.masters() for key in n.client().scan_iter(pattern, count=1000))
