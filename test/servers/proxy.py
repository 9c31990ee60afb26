"""proxy.py - a TCP proxy that cuts connections at a chosen moment.

    with Proxy(server.port) as proxy:
        url = server.url(port=proxy.port)
        proxy.cut()                       # all connections, now
        proxy.cut_at(b"COMMIT", "before") # the next one: it never reaches the server
        proxy.cut_at(b"COMMIT", "after")  # the server answers, and the answer is lost
        proxy.watch(b"COMMIT", "after", f)  # call f() for each, at that moment; cut if it returns True
        proxy.silent = True               # pass nothing on, and close nothing
        proxy.refuse = True               # close new connections at once

As a program, for tests in C: prints its port, then reads such words from its input, one per line, and prints "ok"
after each; after a cut that was ordered has happened, it prints "cut".
"""
import select
import socket
import sys
import threading
import urllib.parse


class Proxy:
    def __init__(self, port, host="127.0.0.1"):
        self.target = (host, port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.silent = self.refuse = False
        self.cuts = 0           # that cut_at() ordered and that happened
        self.on_cut = lambda: None
        self._order = None      # (text, "before" or "after", whether to cut now)
        self._open = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.refuse = True
        self.listener.close()
        self.cut()

    @classmethod
    def of(cls, url):
        """In front of the server of this URL; its own URL is proxy.url."""
        port = urllib.parse.urlsplit(url).port
        proxy = cls(port)
        proxy.url = url.replace(":%d/" % port, ":%d/" % proxy.port)
        return proxy

    def watch(self, text, when, decide):
        assert when in ("before", "after")
        self._order = (text, when, decide)

    def cut_at(self, text, when):
        self.watch(text, when, lambda: True)

    def cut(self):
        with self._lock:
            pairs, self._open = self._open, set()
        for pair in pairs:
            self._close(pair)

    @staticmethod
    def _close(pair):
        for one in pair:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            try:
                if self.refuse:
                    raise OSError
                server = socket.create_connection(self.target, 5)
            except OSError:
                client.close()
                continue
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pair = (client, server)
            with self._lock:
                self._open.add(pair)
            threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, client, server):
        try:
            while self._step(client, server):
                pass
        except OSError:
            pass
        with self._lock:
            self._open.discard((client, server))
        client.close()
        server.close()

    def _step(self, client, server):
        readable = select.select([client, server], [], [], 0.05)[0]
        if self.silent:
            if readable:
                threading.Event().wait(0.05)
            return True
        for one, other in ((client, server), (server, client)):
            if one not in readable:
                continue
            found = one.recv(1 << 16)
            if not found:
                return False
            order = self._order
            if one is client and order and order[0] in found:
                if order[1] == "after":
                    server.sendall(found)
                    select.select([server], [], [], 1)
                if order[2]():
                    if self._order is order:    # else there is a new one
                        self._order = None
                    self.cuts += 1
                    self.on_cut()
                    return False
                if order[1] == "after":
                    continue
            other.sendall(found)
        return True


def main(port):
    with Proxy(port) as proxy:
        proxy.on_cut = lambda: print("cut", flush=True)
        print(proxy.port, flush=True)
        for line in sys.stdin:
            word, *more = line.split()
            if word == "cut":
                proxy.cut()
            elif word in ("before", "after"):
                proxy.cut_at(more[0].encode(), word)
            elif word in ("silent", "refuse"):
                setattr(proxy, word, more[0] == "yes")
            print("ok", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
