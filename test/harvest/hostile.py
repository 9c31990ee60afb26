"""hostile.py - a web of our own, whose servers say exactly what we want.

    with Web() as web:
        web.serve("/x.seen", body, ETag='"1"')        # as a good server does
        web["/y.seen"] = redirect("file:///etc/passwd")
        web["/z.seen"] = drip                         # any function of a Talk

What is served with serve() understands If-None-Match, If-Modified-Since, Range
and If-Range. Every request is recorded in web.log. A Trap listens on a port that
must not be connected to, and counts the connections.
"""
import functools
import hashlib
import socket
import struct
import threading
import zlib

MAP = ("xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "
       "xmlns:rs='http://www.openarchives.org/rs/terms/' "
       "xmlns:dc='http://purl.org/dc/elements/1.1/'")
PATCH = "http://www.openarchives.org/rs/terms/patch"


def digest(data):
    return "sha-256:" + hashlib.sha256(data).hexdigest()


def md(**values):
    return "<rs:md %s/>" % " ".join("%s='%s'" % (k, v) for k, v in values.items() if v is not None)


def url(loc, lastmod=None, extra="", **values):
    """An entry of a sitemap."""
    return ("<url><loc>%s</loc>%s%s%s</url>"
            % (loc, "<lastmod>%s</lastmod>" % lastmod if lastmod else "",
               md(**values) if values else "", extra))


def urlset(*entries, capability="resourcelist", up=None):
    return ("<?xml version='1.0' encoding='UTF-8'?>\n<urlset %s>%s%s%s</urlset>\n"
            % (MAP, "<rs:ln rel='up' href='%s'/>" % up if up else "",
               md(capability=capability) if capability else "", "".join(entries))).encode()


def index(*locs, capability=None):
    return ("<sitemapindex %s>%s%s</sitemapindex>"
            % (MAP, md(capability=capability) if capability else "",
               "".join("<sitemap><loc>%s</loc></sitemap>" % loc for loc in locs))).encode()


class Talk:
    """One request, and the socket to answer it."""

    def __init__(self, web, sock, method, path, headers):
        self.web, self.sock, self.method, self.path, self.headers = web, sock, method, path, headers
        self.sent = 0

    def send(self, data):
        self.sock.sendall(data)
        self.sent += len(data)

    def head(self, status=200, headers={}, **more):
        lines = ["HTTP/1.1 %d Answer" % status, "Connection: close"]
        for name, value in {**headers, **more}.items():
            lines.append("%s: %s" % (name.replace("_", "-"), value))
        self.sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def answer(self, body=b"", status=200, **headers):
        self.head(status, Content_Length=len(body), **headers)
        self.send(body)

    def chunk(self, data):
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def reset(self):
        """As by a cable that is cut: RST instead of FIN."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def forever(self, data, most=1 << 40):
        """Send until the other side has enough."""
        while self.sent < most:
            self.send(data)


class File:
    """What a good server does with a file."""

    def __init__(self, body, headers):
        self.body, self.headers = body, headers

    def __call__(self, talk):
        ask, tag = talk.headers, self.headers.get("ETag")
        modified = self.headers.get("Last_Modified")
        if (tag and ask.get("if-none-match") == tag) or \
                (modified and "if-none-match" not in ask and ask.get("if-modified-since") == modified):
            talk.head(304, **self.headers)
            return
        begin, end = 0, len(self.body)
        part = False
        if ask.get("range", "").startswith("bytes=") and \
                ask.get("if-range", tag or modified) in (tag, modified):
            first, last = ask["range"][6:].split("-")
            begin, part = int(first), True
            end = min(end, int(last) + 1) if last else end
        if begin >= len(self.body) and begin:
            talk.head(416, Content_Range="bytes */%d" % len(self.body), Content_Length=0)
            return
        if part:
            talk.head(206, Content_Range="bytes %d-%d/%d" % (begin, end - 1, len(self.body)),
                      Content_Length=end - begin, **self.headers)
        else:
            talk.head(200, Content_Length=len(self.body), **self.headers)
        talk.send(self.body[begin:end])


def redirect(to, status=302, body=b""):
    return lambda talk: talk.answer(body, status, Location=to)


def status(code, body=b"no\n", **headers):
    return lambda talk: talk.answer(body, code, **headers)


def page(body, kind="text/html"):
    return lambda talk: talk.answer(body, Content_Type=kind)


def stream(data, before=b"", most=1 << 40, **headers):
    """Without end, as far as one can see from here."""
    def answer(talk):
        talk.head(200, **headers)
        talk.send(before)
        talk.forever(data, most)
    return answer


@functools.lru_cache
def bomb(before=b"", fill=b"\0", megabytes=200):
    """As gzip, so much of the same behind `before`."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    out = [packer.compress(before)]
    for _ in range(megabytes):
        out.append(packer.compress(fill * (1 << 20)))
    return b"".join(out) + packer.flush()


class Web:
    """A server on a free port of the loopback; with `tls`, an ssl.SSLContext, of https."""

    def __init__(self, host="127.0.0.1", tls=None):
        self.pages, self.log, self.host, self.tls = {}, [], host, tls
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((host, 0))
        self.listener.listen(128)
        self.port = self.listener.getsockname()[1]
        self.base = "%s://%s:%d" % ("https" if tls else "http", host, self.port)
        self.bytes = 0
        self.open = True

    def __enter__(self):
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *why):
        self.open = False
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(10)

    def __setitem__(self, path, handler):
        self.pages[path] = handler

    def __call__(self, path):
        return self.base + path

    def serve(self, path, body, **headers):
        headers.setdefault("ETag", '"%s"' % hashlib.sha256(body).hexdigest()[:16])
        self.pages[path] = File(body, headers)
        return self(path)

    def asked(self, path):
        return [talk for talk in self.log if talk.path == path]

    def accept(self):
        while self.open:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(sock,), daemon=True).start()

    def talk(self, sock):
        sock.settimeout(60)
        talk = None
        try:
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
            data = b""
            while b"\r\n\r\n" not in data:
                piece = sock.recv(65536)
                if not piece:
                    return
                data += piece
            lines = data.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
            method, path, _ = lines[0].split(" ")
            headers = dict(line.lower().split(": ", 1) if line.split(":")[0].lower() not in
                           ("if-none-match", "if-range", "if-modified-since", "authorization") else
                           [line.split(": ", 1)[0].lower(), line.split(": ", 1)[1]]
                           for line in lines[1:])
            talk = Talk(self, sock, method, path, headers)
            self.log.append(talk)
            self.pages.get(path, status(404))(talk)
        except OSError:
            pass                    # they had enough of us
        finally:
            if talk:
                self.bytes += talk.sent
            try:
                sock.shutdown(socket.SHUT_WR)
                sock.settimeout(1)
                while sock.recv(65536):
                    pass
            except OSError:
                pass
            sock.close()


class Trap:
    """A port that must not be connected to."""

    def __init__(self, host="127.0.0.1", family=socket.AF_INET, port=0):
        self.listener = socket.socket(family)
        self.listener.bind((host, port))
        self.listener.listen(16)
        self.port = self.listener.getsockname()[1]
        self.caught = 0
        self.listener.setblocking(False)

    def count(self):
        """How many have come so far, whether or not they said anything."""
        while True:
            try:
                self.listener.accept()[0].close()
                self.caught += 1
            except BlockingIOError:
                return self.caught

    def close(self):
        self.listener.close()
