"""rabbitmq.py - a RabbitMQ server for tests, in a folder and on ports of its own.

    with RabbitMQ(tmp_path / "rabbitmq") as server:
        url = server.url()                       # amqp://guest:guest@127.0.0.1:PORT/%2f
        server.ctl("list_queues")
        server.restart()                         # kill=True: as after kill -9

The tests of a ctest run share one server, which shared_rabbitmq() returns; give the queues of each test names of
their own. A test that stops its server starts one.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

import place

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from ports import free_port

SERVER = "/usr/lib/rabbitmq/bin/rabbitmq-server"
CTL = "/usr/lib/rabbitmq/bin/rabbitmqctl"

CONFIG = """listeners.tcp.1 = 127.0.0.1:%(port)d
loopback_users = none
disk_free_limit.absolute = 50MB
log.console = false
log.file.level = warning
"""

TLS = """listeners.ssl.1 = 127.0.0.1:%(tls_port)d
ssl_options.cacertfile = %(authority)s
ssl_options.certfile = %(certificate)s
ssl_options.keyfile = %(key)s
ssl_options.verify = verify_none
ssl_options.fail_if_no_peer_cert = false
"""


class RabbitMQ:
    """tls: an Authority, then a second port speaks TLS. more: lines for its settings."""

    def __init__(self, folder, tls=None, more=""):
        self.folder, self.tls, self.more = str(folder), tls, more
        self.port = self.tls_port = self.dist_port = self.epmd_port = 0
        self.pids, self.authority = {}, tls.certificate if tls else ""

    def make(self):
        self.folder = place.make_folder(self.folder)
        self.port, self.tls_port, self.dist_port, self.epmd_port = (free_port() for _ in range(4))
        config = CONFIG + self.more
        values = {"port": self.port, "tls_port": self.tls_port}
        if self.tls:
            certificate, key = self.tls.issue("localhost", self.folder)
            config += TLS
            values.update(authority=self.tls.certificate, certificate=certificate, key=key)
        with open(self.folder + "/rabbitmq.conf", "w", encoding="utf-8") as file:
            file.write(config % values)
        with open(self.folder + "/plugins", "w", encoding="utf-8") as file:
            file.write("[].\n")
        return self

    def _environment(self):
        at = self.folder
        return dict({name: value for name, value in os.environ.items() if not name.startswith("RABBITMQ_")},
                    HOME=at, RABBITMQ_NODENAME="seen%d@localhost" % self.port,
                    RABBITMQ_NODE_PORT=str(self.port), RABBITMQ_NODE_IP_ADDRESS="127.0.0.1",
                    RABBITMQ_DIST_PORT=str(self.dist_port), ERL_EPMD_PORT=str(self.epmd_port),
                    ERL_EPMD_ADDRESS="127.0.0.1", RABBITMQ_MNESIA_BASE=at + "/mnesia", RABBITMQ_LOG_BASE=at + "/log",
                    RABBITMQ_PID_FILE=at + "/pid", RABBITMQ_ENABLED_PLUGINS_FILE=at + "/plugins",
                    RABBITMQ_CONFIG_FILE=at + "/rabbitmq.conf", RABBITMQ_CONF_ENV_FILE="/dev/null",
                    # The threads of the server wait without using the CPU, which other tests need.
                    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+sbwt none +sbwtdcpu none +sbwtdio none +S 2:2")

    def _spawn(self, name, *command):
        with open("%s/%s.out" % (self.folder, name), "ab") as out:
            self.pids[name] = subprocess.Popen(command, cwd=self.folder, env=self._environment(), stdout=out,
                                               stderr=out, stdin=subprocess.DEVNULL, start_new_session=True).pid

    def start(self):
        if not self.port:
            self.make()
        if not place.lives(self.pids.get("epmd", 0)):
            # Erlang would start one that nobody ends.
            self._spawn("epmd", shutil.which("epmd") or "epmd", "-port", str(self.epmd_port), "-address", "127.0.0.1")
        if os.path.exists(self.folder + "/pid"):
            os.remove(self.folder + "/pid")
        self._spawn("server", SERVER)
        place.wait_until(lambda: self.answers() or not place.lives(self.pids["server"]), 120, self._complaint)
        if not self.answers():
            raise RuntimeError(self._complaint())
        self.pids["beam"] = int(place.read(self.folder + "/pid") or self.pids["server"])
        return self

    def _complaint(self):
        return "rabbitmq-server does not start: " + place.read(self.folder + "/server.out")

    def answers(self):
        """Does it speak AMQP? It listens before it does."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 2) as to:
                to.settimeout(2)
                to.sendall(b"AMQP\0\0\x09\x01")
                return to.recv(1) == b"\1"
        except OSError:
            return False

    def stop(self, kill=False):
        """The messages stay; start() begins where it was."""
        for name in ("beam", "server"):
            if name in self.pids:
                place.end(self.pids.pop(name), signal.SIGKILL if kill else signal.SIGTERM, 30)

    def restart(self, kill=False):
        self.stop(kill)
        self.start()

    def remove(self):
        self.stop(kill=True)
        if "epmd" in self.pids:
            place.end(self.pids.pop("epmd"))
        shutil.rmtree(self.folder, ignore_errors=True)

    __enter__ = start

    def __exit__(self, *why):
        self.remove()

    def url(self, host="127.0.0.1", port=None, user="guest:guest"):
        return "amqp://%s@%s:%d/%%2f" % (user, host, port or self.port)

    def tls_url(self, host="localhost", user="guest:guest"):
        return "amqps://%s@%s:%d/%%2f" % (user, host, self.tls_port)

    def ctl(self, *arguments):
        """rabbitmqctl, which takes one or two seconds."""
        done = subprocess.run([CTL, "--quiet", *arguments], env=self._environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise RuntimeError("rabbitmqctl: " + done.stdout)
        return done.stdout

    # The server of a ctest run outlives the process that starts it.

    def save(self, path):
        kept = {name: getattr(self, name) for name in
                ("folder", "port", "tls_port", "dist_port", "epmd_port", "pids", "authority")}
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(dict(kept, url=self.url(), tls_url=self.tls_url()), file)
        os.rename(path + ".new", path)

    @classmethod
    def load(cls, path):
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        server = cls(kept.pop("folder"))
        for name in ("port", "tls_port", "dist_port", "epmd_port", "authority"):
            setattr(server, name, kept[name])
        # After the machine was started again these numbers are of others.
        server.pids = {name: pid for name, pid in kept["pids"].items()
                       if "HOME=%s\0" % server.folder in place.read("/proc/%d/environ" % pid)}
        return server


def shared_rabbitmq():
    """The server of the ctest run. SEEN_RABBITMQ in the environment names the file that describes it."""
    return RabbitMQ.load(os.environ["SEEN_RABBITMQ"])
