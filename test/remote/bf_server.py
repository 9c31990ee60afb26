"""bf_server.py - servers with BF commands: `seen serve`, and what answers as RedisBloom does.

    with Bloom(tmp_path, redisbloom=True) as server:
        run("check", server.url("haw", "profile=whatwg"), "http://a.example/")

RedisBloom is not in Debian. A proxy in front of `seen serve` hides what RedisBloom does not know: BF.INFO NAME PLAN gets
the reply to an unknown option, and a BF.RESERVE of more than seven words that to one with too many.
"""
import os
import socket
import ssl
import subprocess
import sys
import threading

import redis

from redis_server import SEEN, until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from ports import free_port


class Proxy:
    """Forward connections to a port; `change` is done to what clients send."""

    def __init__(self, port, change=lambda data: data, context=None):
        self.to, self.change, self.context = port, change, context
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
                if self.context:
                    client = self.context.wrap_socket(client, server_side=True)
            except ssl.SSLError:
                continue
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                client.close()
                continue
            threading.Thread(target=self.pump, args=(client, server, self.change), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, lambda data: data), daemon=True).start()

    @staticmethod
    def pump(source, target, change):
        try:
            while data := source.recv(1 << 16):
                target.sendall(change(data))
        except OSError:
            pass
        for it in source, target:
            try:
                it.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.listener.close()


def as_redisbloom(data):
    data = data.replace(b"$4\r\nPLAN\r\n", b"$4\r\nNONE\r\n")
    return data.replace(b"*8\r\n$10\r\nBF.RESERVE\r\n", b"*12\r\n$10\r\nBF.RESERVE\r\n" + 4 * b"$1\r\nx\r\n")


def redisbloom(port):
    return Proxy(port, as_redisbloom)


class Bloom:
    """`seen serve` with a folder for the filters that clients make. It can be stopped, and started at the same port."""

    TOKEN = "token-of-the-test"

    def __init__(self, folder, redisbloom=False):
        self.folder = folder
        (folder / "filters").mkdir(parents=True)
        self.token = folder / "token"
        self.token.write_text(self.TOKEN + "\n")
        self.token.chmod(0o600)
        self.own = self.port = free_port()
        self.proxy = Proxy(self.own, as_redisbloom) if redisbloom else None
        if self.proxy:
            self.port = self.proxy.port
        self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *why):
        self.stop()
        if self.proxy:
            self.proxy.__exit__()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([SEEN, "serve", "-w", "--sync", "no", "--token", str(self.token), "--listen",
                                             "127.0.0.1:%d" % self.own, str(self.folder / "filters")],
                                            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        until(self.answers)
        return self

    def answers(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            return self.client().ping()
        except redis.exceptions.ConnectionError:
            return False

    def stop(self):
        self.process.kill()
        self.process.wait(30)

    def client(self):
        return redis.Redis("127.0.0.1", self.own, password=self.TOKEN, socket_timeout=120)

    def url(self, name, more="timeout=10", scheme="bf"):
        return "%s://127.0.0.1:%d/%s?password-file=%s&%s" % (scheme, self.port, name, self.token, more)

    def names(self):
        return sorted(key.decode() for key in self.client().keys("*"))
