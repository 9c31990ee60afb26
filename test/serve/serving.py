"""serving.py - a server to test, and clients that say exactly what they want.

    with Server(tmp_path, "haw=haw.seen") as server:
        assert server.get("/haw/http://a.example/").status == 200

A server takes a free port of the loopback, is waited for by the line that it
says on standard error, and is stopped by SIGTERM; that it then ends with 0
and said nothing else is part of every test. What it says of archives that do
not answer is in `troubles`; a test that breaks archives has trouble=True.
Clients call it as they like; host=None is the server as it is without --host.
"""
import os
import re
import select
import socket
import subprocess
import threading
import time

os.umask(0o077)     # files of tokens and keys that others can read are warned about
SEEN = os.path.abspath(os.environ.get("SEEN", "build/seen"))
SANITIZED = b"__asan_init" in open(SEEN, "rb").read() if os.path.exists(SEEN) else False


TROUBLE = re.compile(r"the archive \S+ (does not answer|is not served any more|answers again)$")


def run(*words, stdin=b"", codes=(0,), **how):
    """Run seen; what it printed."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    done = subprocess.run([SEEN, *map(str, words)], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **how)
    assert done.returncode in codes, (words, done.returncode, done.stderr.decode())
    return done.stdout.decode()


def build(path, urls=(), *options):
    """A filter of these URLs; of kind blocked, as it has a capacity."""
    if "--capacity" not in options:
        options += ("--capacity", "1000")
    run("build", "--quiet", "--allow-empty", "-o", path, *options, "-",
        stdin="".join(url + "\n" for url in urls))
    return path


def until(fact, seconds=240, every=0.01):
    """Wait for a fact, and return it."""
    end = time.monotonic() + seconds
    while True:
        found = fact()
        if found:
            return found
        assert time.monotonic() < end, "it did not come about"
        time.sleep(every)


class Answer:
    def __init__(self, status, headers, body, raw):
        self.status, self.headers, self.body, self.raw = status, headers, body, raw

    def __getitem__(self, name):
        """The value of a header, "" if there is none."""
        return self.headers.get(name.lower(), "")

    @property
    def text(self):
        return self.body.decode()


class Client:
    """One connection. What is asked is sent as it is; answers are read strictly."""

    def __init__(self, port, timeout=240):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.left = b""

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.socket.close()

    def heard(self):
        """Has anything come, or the end?"""
        return bool(self.left or select.select([self.socket], [], [], 0)[0])

    def send(self, data):
        self.socket.sendall(data.encode("latin-1") if isinstance(data, str) else data)

    def more(self):
        piece = self.socket.recv(1 << 16)
        if not piece:
            raise EOFError("closed after %r" % self.left[-200:])
        self.left += piece

    def line(self):
        while b"\r\n" not in self.left:
            self.more()
        line, self.left = self.left.split(b"\r\n", 1)
        return line

    def take(self, n):
        pieces, have = [self.left], len(self.left)
        while have < n:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise EOFError("closed after %d of %d bytes" % (have, n))
            pieces.append(piece)
            have += len(piece)
        whole = b"".join(pieces)
        self.left = whole[n:]
        return whole[:n]

    def rest(self):
        """All until the server closes."""
        pieces = [self.left]
        self.left = b""
        while piece := self.socket.recv(1 << 16):
            pieces.append(piece)
        return b"".join(pieces)

    def closed(self):
        """Has the server closed, with nothing more said?"""
        try:
            return not self.left and not self.socket.recv(1)
        except ConnectionResetError:
            return True

    def read(self, head=False):
        """The next answer."""
        first = self.line()
        version, status, _ = first.split(b" ", 2)
        assert version == b"HTTP/1.1"
        headers, raw = {}, []
        while line := self.line():
            name, value = line.decode("latin-1").split(": ", 1)
            assert name.lower() not in headers, "%s is there twice" % name
            headers[name.lower()] = value
            raw.append(line)
        status = int(status)
        length, coding = headers.get("content-length"), headers.get("transfer-encoding")
        assert not (length and coding)
        if status < 200 or status in (204, 304):
            assert coding is None
            assert length is None or status == 304, "no length belongs to %d" % status
            body = b""
        elif head:
            body = b""
        elif coding == "chunked":
            pieces = []
            while n := int(self.line(), 16):
                pieces.append(self.take(n))
                assert self.line() == b""
            assert self.line() == b""
            body = b"".join(pieces)
        elif length is not None:
            body = self.take(int(length))
        else:
            assert headers.get("connection") == "close"
            body = self.rest()
        return Answer(status, headers, body, first + b"\r\n" + b"\r\n".join(raw))

    def ask(self, method, target, headers={}, body=None, version="1.1"):
        lines = ["%s %s HTTP/%s" % (method, target, version)]
        if version == "1.1" and "Host" not in headers:
            lines.append("Host: seen.example")
        lines += ["%s: %s" % pair for pair in headers.items()]
        if isinstance(body, str):
            body = body.encode()
        if body is not None and "Transfer-Encoding" not in headers:
            lines.append("Content-Length: %d" % len(body))
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body or b""))
        return self.read(head=method == "HEAD")

    def get(self, target, headers={}):
        return self.ask("GET", target, headers)


def worked(pid):
    """Seconds of processor time of a process."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    """$SEEN serve WORDS in a folder."""

    def __init__(self, folder, *words, descriptors=None, quiet=True, warns=False, trouble=False,
                 host="*"):
        self.folder, self.quiet, self.warns = str(folder), quiet, warns
        self.trouble, self.troubles = trouble, []
        self.words = [SEEN, "serve", "--listen", "127.0.0.1:0", *(("--host", host) if host else ()),
                      *map(str, words)]
        if descriptors:
            self.words = ["sh", "-c", 'ulimit -n %d && exec "$@"' % descriptors, "sh",
                          *self.words]
        self.said = self.warned = ""

    def __enter__(self):
        began = time.monotonic()
        self.process = subprocess.Popen(self.words, cwd=self.folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.pid = self.process.pid
        line = ""
        if select.select([self.process.stderr], [], [], 240)[0]:
            line = self.process.stderr.readline().decode()
        while line and not line.startswith("seen: serving at"):
            if TROUBLE.search(line.strip()):
                self.troubles.append(line.strip())
            else:
                self.warned += line
            line = self.process.stderr.readline().decode()
        if not line.startswith("seen: serving at http://127.0.0.1:"):
            self.process.kill()
            rest = self.process.stderr.read().decode()
            self.process.wait(60)
            raise AssertionError("it does not serve: " + self.warned + line + rest)
        self.took = time.monotonic() - began
        self.port = int(line.split(":")[3].split("/")[0])
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()
        return self

    def listen(self):
        for line in self.process.stderr:
            line = line.decode(errors="replace")
            if TROUBLE.search(line.strip()):
                self.troubles.append(line.strip())
            else:
                self.said += line

    def __exit__(self, *why):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(60)
            code = "none: it did not stop"
        self.listener.join(10)
        self.process.stderr.close()
        if why[0] is None:
            assert code == 0, "exit code %s\n%s" % (code, self.said)
            assert not self.quiet or not self.said, self.said
            assert self.warns or not self.warned, self.warned
            assert self.trouble or not self.troubles, self.troubles
        else:
            print("$ %s    [exit code %s]\n%s%s%s" % (" ".join(self.words), code, self.warned, self.said,
                                                     "\n".join(self.troubles)))

    def kill(self):
        """As by kill -9; the with statement is to be left by hand."""
        self.process.kill()
        self.process.wait(60)
        self.listener.join(10)
        self.process.stderr.close()

    @property
    def alive(self):
        return self.process.poll() is None

    def client(self, timeout=240):
        return Client(self.port, timeout)

    def ask(self, *words, **more):
        with self.client() as client:
            return client.ask(*words, **more)

    def get(self, target, headers={}):
        return self.ask("GET", target, headers)

    def status(self, target):
        return self.get(target).status

    def resident(self):
        """Bytes of memory."""
        with open("/proc/%d/status" % self.pid) as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024

    def worked(self):
        """Seconds of processor time."""
        return worked(self.pid)

    def metrics(self):
        """As {name{labels}: value}, having looked at every line."""
        found, typed = {}, set()
        for line in self.get("/metrics").text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split()
                assert kind in ("counter", "gauge") and name not in typed
                typed.add(name)
            elif line.startswith("# HELP "):
                assert len(line.split(None, 3)) == 4
            else:
                name, value = line.rsplit(" ", 1)
                assert name.split("{")[0] in typed and name not in found
                found[name] = float(value)
        return found


def drip(pieces):
    """A body in chunks of HTTP."""
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces if p) + b"0\r\n\r\n"
