"""nginx_test.py - what nginx refuses, so do we.

Two programs that read the same bytes as different requests let one request
hide in another. So odd and malformed requests go over raw sockets to a real
nginx and to `seen serve`, each followed by an ordinary one, and the answers
are counted: who takes a request answers both, who refuses it answers once,
with 4xx or 5xx, and closes.

Nothing that nginx refuses may be taken by us, but for what RFC 9112 demands.
What nginx takes and we do not stands in a table of its own. Both exceptions
have their reasons beside them.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port  # noqa: E402

SEEN = os.environ.get("SEEN", "build/seen")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
LAST = b"GET /healthz HTTP/1.1\r\nHost: last\r\nConnection: close\r\n\r\n"
REFUSED = {400, 413, 414, 417, 431, 494, 501, 505}  # and not 404 or 405: those were read

pytestmark = pytest.mark.skipif(not NGINX, reason="nginx is not installed")

CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log info;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_timeout 5s;
    large_client_header_buffers 4 16k;
    server {{
        listen 127.0.0.1:{port};
        return 200 taken;
    }}
    server {{
        listen 127.0.0.1:{proxy};
        location /bloom/ {{ proxy_pass http://127.0.0.1:{seen}/; }}
    }}
}}
"""


def start(command, port):
    """The process, once it listens."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for _ in range(4800):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server
        except OSError:
            assert server.poll() is None, server.stdout.read().decode()
            time.sleep(0.05)
    stop(server)
    raise AssertionError("it does not listen: %s" % command)


def stop(server):
    server.terminate()
    try:
        server.wait(60)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait(60)
    server.stdout.close()


@pytest.fixture(scope="module")
def nginx(tmp_path_factory, seen, proxy):
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    (folder / "nginx.conf").write_text(CONFIG.format(folder=folder, port=port, seen=seen,
                                                     proxy=proxy))
    server = start([NGINX, "-p", str(folder), "-e", str(folder / "error.log"),
                    "-c", str(folder / "nginx.conf")], port)
    yield port
    stop(server)


@pytest.fixture(scope="module")
def proxy():
    """The port of nginx that passes /bloom/ on to seen."""
    return free_port()


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("seen"), free_port()
    subprocess.run([SEEN, "build", "--quiet", "-o", str(folder / "haw.seen"), "-"],
                   input=b"http://haw.nsk.hr/en\n", check=True)
    subprocess.run([SEEN, "build", "--quiet", "--profile", "raw", "-o", str(folder / "raw.seen"),
                    "--meta", "timemap=http://tm.example/{url}", "--capacity", "100", "-"],
                   input=b"https://raw.example/a?b=http://c/\n", check=True)
    server = start([SEEN, "serve", str(folder), "--listen", "127.0.0.1:%d" % port, "--host",
                    "*"], port)
    yield port
    stop(server)


def talk(port, request, cut=0):
    """All that is answered to the request and the one after it, sent in two
    pieces if there is a cut."""
    got, text = b"", request + LAST
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.settimeout(240)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if cut:
                s.sendall(text[:cut])
                time.sleep(0.003)
            s.sendall(text[cut:])
            while piece := s.recv(65536):
                got += piece
        except (ConnectionResetError, BrokenPipeError):
            pass            # closed, and our bytes were not all read
    return got


def statuses(got, head_only):
    """The status of each answer; 0 of one that has none, as in HTTP/0.9."""
    found = []
    while got:
        m = re.match(rb"HTTP/1\.[01] (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n", got)
        if not m:
            return found + [0]
        status, fields, got = int(m[1]), m[2].lower(), got[m.end():]
        if status == 100:
            continue
        length = re.search(rb"^content-length: *(\d+)", fields, re.M)
        if head_only and not found:
            pass
        elif b"transfer-encoding: chunked" in fields:
            got = got[got.index(b"0\r\n\r\n") + 5:]
        elif length:
            got = got[int(length[1]):]
        elif status not in (204, 304):
            got = b""
        found.append(status)
    return found


def ask(port, request, cut=0):
    return statuses(talk(port, request, cut), request.lstrip().startswith(b"HEAD "))


def taken(found):
    return found and found[0] not in REFUSED


HOST = b"Host: h\r\n"
GET = b"GET / HTTP/1.1\r\n"
POST = b"POST /haw HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"

# Both take these, and both find the request that follows.
GOOD = {
    "plain": GET + HOST + b"\r\n",
    "lookup": b"GET /haw/http://haw.nsk.hr/en HTTP/1.1\r\n" + HOST + b"\r\n",
    "head": b"HEAD / HTTP/1.1\r\n" + HOST + b"\r\n",
    "empty line before": b"\r\n" + GET + HOST + b"\r\n",
    "query": b"GET /?a=b&c=d?e HTTP/1.1\r\n" + HOST + b"\r\n",
    "double slashes": b"GET /haw/http://a//b HTTP/1.1\r\n" + HOST + b"\r\n",
    "bytes above ascii in a target": b"GET /haw/http://a/\xc4\x8d HTTP/1.1\r\n" + HOST + b"\r\n",
    "odd characters in a target": b"GET /haw/http://a/\"<>\\^`{|} HTTP/1.1\r\n" + HOST + b"\r\n",
    "absolute": b"GET http://h/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "absolute, other host": b"GET http://other/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "absolute, capitals": b"GET HTTP://h/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "absolute, no path": b"GET http://h HTTP/1.1\r\n" + HOST + b"\r\n",
    "host with port": GET + b"Host: h:8088\r\n\r\n",
    "host with empty port": GET + b"Host: h:\r\n\r\n",
    "host with a dot at the end": GET + b"Host: a.b.\r\n\r\n",
    "host of ipv6": GET + b"Host: [::1]:80\r\n\r\n",
    "no space after colon": GET + b"Host:h\r\nA:b\r\n\r\n",
    "much space around values": GET + b"Host:   h  \r\nA: \t b \t\r\n\r\n",
    "empty value": GET + HOST + b"A:\r\nB: \r\n\r\n",
    "tab in a value": GET + HOST + b"A: b\tc\r\n\r\n",
    "bytes above ascii in a value": GET + HOST + b"A: \xff\xfe\r\n\r\n",
    "underscore in a name": GET + HOST + b"A_b: c\r\n\r\n",
    "keep-alive of HTTP/1.0": b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "upgrade that is ignored": GET + HOST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
    "minor version above ours": b"GET / HTTP/1.2\r\n" + HOST + b"\r\n",
    "length 0": POST + b"Content-Length: 0\r\n\r\n",
    "length": POST + b"Content-Length: 9\r\n\r\nhttp://a/",
    "length with zeros before": POST + b"Content-Length: 0009\r\n\r\nhttp://a/",
    "body that looks like a request": POST + b"Content-Length: %d\r\n\r\n" % len(LAST) + LAST,
    "chunks": CHUNKED + b"9\r\nhttp://a/\r\n0\r\n\r\n",
    "chunks of one byte": CHUNKED + b"1\r\nh\r\n1\r\nt\r\n0\r\n\r\n",
    "chunk with zeros before": CHUNKED + b"0009\r\nhttp://a/\r\n000\r\n\r\n",
    "chunk with capitals": CHUNKED + b"A\r\nhttp://a/b\r\n0\r\n\r\n",
    "chunk extensions": CHUNKED + b"9;a=b;c=\"d\"\r\nhttp://a/\r\n0;e\r\n\r\n",
    "space before a chunk extension": CHUNKED + b"9 ;a\r\nhttp://a/\r\n0\r\n\r\n",
    "trailers": CHUNKED + b"0\r\nA: b\r\nC: d\r\n\r\n",
    "chunks that hide a request": CHUNKED + b"%x\r\n" % len(LAST) + LAST + b"\r\n0\r\n\r\n",
    "transfer-encoding in capitals": POST + b"TRANSFER-ENCODING: CHUNKED\r\n\r\n0\r\n\r\n",
}

# Bodies that nobody asked for: here they look like requests, and must not be
# taken for any. We may close rather than read them, and then must say so.
SIZED = HOST + b"Content-Length: %d\r\n\r\n" % len(LAST) + LAST
PACKED = HOST + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(LAST), LAST)
UNWANTED = [line + body for body in (SIZED, PACKED) for line in (
    GET,
    b"HEAD / HTTP/1.1\r\n",
    b"GET /haw/http://haw.nsk.hr/en HTTP/1.1\r\n",
    b"HEAD /haw/http://haw.nsk.hr/en HTTP/1.1\r\n",
    b"GET /healthz HTTP/1.1\r\n",
    b"GET /agg/http://haw.nsk.hr/en HTTP/1.1\r\n",
    b"GET /nonesuch HTTP/1.1\r\n",
    b"GET /nonesuch/http://haw.nsk.hr/en HTTP/1.1\r\n",
    b"GET /files/haw.seen HTTP/1.1\r\n",
    b"OPTIONS / HTTP/1.1\r\n",
    b"OPTIONS * HTTP/1.1\r\n",
    b"OPTIONS /haw/http://haw.nsk.hr/en HTTP/1.1\r\n",
    b"POST / HTTP/1.1\r\n",
    b"POST /nonesuch HTTP/1.1\r\n",
    b"POST /add/haw HTTP/1.1\r\n",
    b"PUT /haw/http://haw.nsk.hr/ HTTP/1.1\r\n",
    b"DELETE /haw/http://haw.nsk.hr/en HTTP/1.1\r\n",
    b"PATCH /haw HTTP/1.1\r\n",
)]

# Both refuse these. (nginx says 494 inside and 400 outside for long heads.)
BAD = {
    "space first": b" " + GET + HOST + b"\r\n",
    "nul first": b"\0" + GET + HOST + b"\r\n",
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "method alone": b"GET\r\n\r\n",
    "method with a control byte": b"G\x01T / HTTP/1.1\r\n" + HOST + b"\r\n",
    "method with a colon": b"GET: / HTTP/1.1\r\n" + HOST + b"\r\n",
    "tab after the method": b"GET\t/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "target that is no path": b"GET a HTTP/1.1\r\n" + HOST + b"\r\n",
    "asterisk of get": b"GET * HTTP/1.1\r\n" + HOST + b"\r\n",
    "nul in a target": b"GET /a\0b HTTP/1.1\r\n" + HOST + b"\r\n",
    "control byte in a target": b"GET /a\x01b HTTP/1.1\r\n" + HOST + b"\r\n",
    "delete in a target": b"GET /a\x7fb HTTP/1.1\r\n" + HOST + b"\r\n",
    "cr in a target": b"GET /a\rb HTTP/1.1\r\n" + HOST + b"\r\n",
    "connect": b"CONNECT a.b:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "lower-case version": b"GET / http/1.1\r\n" + HOST + b"\r\n",
    "no digits in the version": b"GET / HTTP/x.y\r\n" + HOST + b"\r\n",
    "version 2.0": b"GET / HTTP/2.0\r\n" + HOST + b"\r\n",
    "version 0.9 in words": b"GET / HTTP/0.9\r\n" + HOST + b"\r\n",
    "http/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "something after the version": b"GET / HTTP/1.1 x\r\n" + HOST + b"\r\n",
    "cr within the version's line": b"GET / HTTP/1.1\rx\n" + HOST + b"\r\n",
    "no host": GET + b"\r\n",
    "absolute without host": b"GET http://h/ HTTP/1.1\r\n\r\n",
    "two hosts": GET + HOST + b"Host: i\r\n\r\n",
    "the same host twice": GET + HOST + HOST + b"\r\n",
    "empty host": GET + b"Host:\r\n\r\n",
    "host with two dots": GET + b"Host: a..b\r\n\r\n",
    "host with a slash": GET + b"Host: a/b\r\n\r\n",
    "host with a space": GET + b"Host: a b\r\n\r\n",
    "host with a control byte": GET + b"Host: a\x01b\r\n\r\n",
    "space before a colon": GET + HOST + b"A : b\r\n\r\n",
    "space before the colon of host": GET + b"Host : h\r\n\r\n",
    "space before the colon of a length": POST + b"Content-Length : 5\r\n\r\nhello",
    "space before a name": GET + HOST + b" A: b\r\n\r\n",
    "space before the first name": GET + b" Host: h\r\n\r\n",
    "folded": GET + HOST + b"A: b\r\n c\r\n\r\n",
    "folded length": POST + b"Content-Length:\r\n 5\r\n\r\nhello",
    "nul in a name": GET + HOST + b"A\0: b\r\n\r\n",
    "control byte in a name": GET + HOST + b"A\x01: b\r\n\r\n",
    "nul in a value": GET + HOST + b"A: b\0c\r\n\r\n",
    "empty name": GET + HOST + b": b\r\n\r\n",
    "space in a name": GET + HOST + b"A b: c\r\n\r\n",
    "length that is no number": POST + b"Content-Length: a\r\n\r\n",
    "length below zero": POST + b"Content-Length: -1\r\n\r\n",
    "length with a plus": POST + b"Content-Length: +5\r\n\r\nhello",
    "length in hexadecimal": POST + b"Content-Length: 0x5\r\n\r\nhello",
    "length in a list": POST + b"Content-Length: 5, 5\r\n\r\nhello",
    "length of nothing": POST + b"Content-Length:\r\n\r\n",
    "length too great": POST + b"Content-Length: 9223372036854775808\r\n\r\n",
    "length that overflows": POST + b"Content-Length: 18446744073709551621\r\n\r\nhello",
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "the same length twice": POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": b"POST /haw HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "chunked in two headers": POST + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n0\r\n\r\n",
    "chunked, then identity": POST + b"Transfer-Encoding: chunked\r\n"
                              b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "chunked not last": POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "gzip, chunked": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "identity": POST + b"Transfer-Encoding: identity\r\n\r\n",
    "unknown coding": POST + b"Transfer-Encoding: cow\r\n\r\n",
    "coding of nothing": POST + b"Transfer-Encoding:\r\n\r\n0\r\n\r\n",
    "coding with a vertical tab": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "tab before a length": POST + b"Content-Length:\t9\r\n\r\nhttp://a/",
    "tab after a length": POST + b"Content-Length: 9\t\r\n\r\nhttp://a/",
    "tab before a coding": POST + b"Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n",
    "tab after a coding": POST + b"Transfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n",
    "coding in quotes": POST + b"Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
    "coding with a comma": POST + b"Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n",
    "chunk without size": CHUNKED + b"\r\nhello\r\n0\r\n\r\n",
    "chunk of a size that is none": CHUNKED + b"g\r\nhello\r\n0\r\n\r\n",
    "chunk of a size below zero": CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n",
    "chunk of a size in C": CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n",
    "chunk of a size too great": CHUNKED + b"8000000000000000\r\nhello\r\n0\r\n\r\n",
    "chunk of a size that overflows": CHUNKED + b"10000000000000005\r\nhello\r\n0\r\n\r\n",
    "chunk longer than its size": CHUNKED + b"4\r\nhello\r\n0\r\n\r\n",
    "space before a size": CHUNKED + b" 5\r\nhello\r\n0\r\n\r\n",
    "space in a target": b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n",
    "user in an absolute target": b"GET http://u@h/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "host in a list": GET + b"Host: a, b\r\n\r\n",
    "cr in a value": GET + HOST + b"A: b\rC: d\r\n\r\n",
    "cr in an extension": CHUNKED + b"9;a\rb\r\nhttp://a/\r\n0\r\n\r\n",
    "long target": b"GET /" + b"x" * 20000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "long header": GET + HOST + b"A: " + b"x" * 20000 + b"\r\n\r\n",
    "long head": GET + HOST + (b"A: " + b"x" * 8000 + b"\r\n") * 12 + b"\r\n",
}

# nginx takes these, we do not, and why.
ODD = "a program behind or before us may see another end of the line"
GRAMMAR = "the grammar of RFC 9112 has no such thing, and no client sends it"
STRICTER = {
    "two empty lines before": (b"\r\n\r\n" + GET + HOST + b"\r\n",
                               "RFC 9112 2.2 asks for one, left by old clients after a body"),
    "bare lf before": (b"\n" + GET + HOST + b"\r\n", ODD),
    "bare lf after the request line": (b"GET / HTTP/1.1\n" + HOST + b"\r\n", ODD),
    "bare lf after a header": (GET + b"Host: h\n\r\n", ODD),
    "bare lf as the empty line": (GET + HOST + b"\n", ODD),
    "only bare lf": (b"GET / HTTP/1.1\nHost: h\n\n", ODD),
    "bare lf before a length": (POST + b"A: b\nContent-Length: 9\r\n\r\nhttp://a/", ODD),
    "two spaces after the method": (b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n", GRAMMAR),
    "two spaces before the version": (b"GET /  HTTP/1.1\r\n" + HOST + b"\r\n", GRAMMAR),
    "space after the version": (b"GET / HTTP/1.1 \r\n" + HOST + b"\r\n", GRAMMAR),
    "http/0.9": (b"GET /\r\n", "an answer without a head is taken for anything"),
    "version 1.10": (b"GET / HTTP/1.10\r\n" + HOST + b"\r\n", GRAMMAR),
    "query without a path": (b"GET http://h?a HTTP/1.1\r\n" + HOST + b"\r\n",
                             "targets begin with a slash, for all that read them after us"),
    "user in host": (GET + b"Host: u@h\r\n\r\n", GRAMMAR),
    "host with a comma": (GET + b"Host: a,b\r\n\r\n", "two hosts that someone has joined"),
    "host with a port that is none": (GET + b"Host: h:http\r\n\r\n", GRAMMAR),
    "host with a port too great": (GET + b"Host: h:65536\r\n\r\n", "there is no such port"),
    "host with two ports": (GET + b"Host: h:1:2\r\n\r\n", GRAMMAR),
    "host with a dot first": (GET + b"Host: .h\r\n\r\n", "a name has no empty label"),
    "host of half an address": (GET + b"Host: [::1\r\n\r\n", GRAMMAR),
    "host above ascii": (GET + b"Host: \xc4\x8d.hr\r\n\r\n", GRAMMAR),
    "parentheses in a name": (GET + HOST + b"A(b): c\r\n\r\n",
                              "nginx drops the header, another may see a name in it"),
    "bytes above ascii in a name": (GET + HOST + b"A\xff: c\r\n\r\n",
                                    "nginx drops the header, another may see a name in it"),
    "line without a colon": (GET + HOST + b"A\r\n\r\n", "nginx drops the line"),
    "control byte in a value": (GET + HOST + b"A: \x01\x1b\r\n\r\n", "it would reach logs"),
    "delete in a value": (GET + HOST + b"A: \x7f\r\n\r\n", "it would reach logs"),
    "two cr after a header": (GET + b"Host: h\r\r\n\r\n", ODD),
    "method of 40 bytes": (b"M" * 40 + b" / HTTP/1.1\r\n" + HOST + b"\r\n",
                           "RFC 9112 3: 501 for a method longer than any of ours"),
    "65 headers": (GET + HOST + b"A: b\r\n" * 64 + b"\r\n", "there is room for 64"),
    "bare lf after a size": (CHUNKED + b"9\nhttp://a/\r\n0\r\n\r\n", ODD),
    "bare lf after an extension": (CHUNKED + b"9;a\nhttp://a/\r\n0\r\n\r\n", ODD),
    "control byte in an extension": (CHUNKED + b"9;\0\r\nhttp://a/\r\n0\r\n\r\n", GRAMMAR),
    "bare lf after a chunk": (CHUNKED + b"9\r\nhttp://a/\n0\r\n\r\n", ODD),
    "bare lf at the end of chunks": (CHUNKED + b"9\r\nhttp://a/\r\n0\r\n\n", ODD),
    "extension without a name": (CHUNKED + b"9;\r\nhttp://a/\r\n0\r\n\r\n", GRAMMAR),
    "space after a size": (CHUNKED + b"9 \r\nhttp://a/\r\n0\r\n\r\n", GRAMMAR),
    "size of two words": (CHUNKED + b"9 9\r\nhttp://a/\r\n0\r\n\r\n", GRAMMAR),
    "trailer that is none": (CHUNKED + b"0\r\nGET / HTTP/1.1\r\n\r\n",
                             "a request that is taken for a trailer"),
    "folded trailer": (CHUNKED + b"0\r\nA: b\r\n c\r\n\r\n", GRAMMAR),
    "long extension": (CHUNKED + b"9;" + b"x" * 5000 + b"\r\nhttp://a/\r\n0\r\n\r\n",
                       "extensions are never read, so there is a limit to them"),
    "long trailer": (CHUNKED + b"0\r\nA: " + b"x" * 5000 + b"\r\n\r\n",
                     "trailers are never read, so there is a limit to them"),
    "target of 9000 bytes": (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
                             "no URL that we know is longer than 8192"),
}

# nginx refuses these, we read them, and why. Where they end, both agree.
READ = {
    "asterisk": (b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", {200, 204},
                 "RFC 9112 3.2.4: a server must know it; nginx never did"),
    "tab before a host": (GET + b"Host:\th\r\n\r\n", {200},
                          "RFC 9110 5.5: it is not a part of the value"),
    "small method": (b"get /haw HTTP/1.1\r\n" + HOST + b"\r\n", {405, 501},
                     "RFC 9110 9.1: a method like any other, and not GET"),
    "method with a dot": (b"G.T /haw HTTP/1.1\r\n" + HOST + b"\r\n", {405, 501},
                          "RFC 9110 5.6.2: it is a token"),
}


@pytest.mark.parametrize("name", GOOD)
def test_both_take_what_is_good(name, nginx, seen):
    theirs, ours = ask(nginx, GOOD[name]), ask(seen, GOOD[name])
    assert taken(theirs) and len(theirs) == 2, theirs
    assert taken(ours) and len(ours) == 2, ours


@pytest.mark.parametrize("request_", UNWANTED, ids=range(len(UNWANTED)))
def test_a_body_is_never_taken_for_a_request(request_, nginx, seen):
    theirs, got = ask(nginx, request_), talk(seen, request_)
    ours = statuses(got, request_.startswith(b"HEAD "))
    assert len(theirs) == 2 or b" * " in request_, theirs
    if len(ours) == 1:
        assert b"\r\nconnection: close\r\n" in got.lower()
    else:
        assert len(ours) == 2, ours


@pytest.mark.parametrize("name", BAD)
def test_both_refuse_what_is_bad(name, nginx, seen):
    theirs, ours = ask(nginx, BAD[name]), ask(seen, BAD[name])
    assert not taken(theirs), theirs
    assert not taken(ours) and len(ours) == 1, ours


@pytest.mark.parametrize("name", STRICTER)
def test_we_refuse_more(name, nginx, seen):
    request, reason = STRICTER[name]
    theirs, ours = ask(nginx, request), ask(seen, request)
    assert taken(theirs), "nginx refuses it as well: %s" % theirs
    assert not taken(ours) and len(ours) == 1, (ours, reason)


@pytest.mark.parametrize("name", READ)
def test_we_read_what_the_rfc_demands(name, nginx, seen):
    request, answers, reason = READ[name]
    theirs, ours = ask(nginx, request), ask(seen, request)
    assert not taken(theirs), "nginx takes it as well: %s" % theirs
    assert ours and ours[0] in answers and len(ours) <= 2, (ours, reason)


def test_where_it_is_cut_does_not_matter(seen):
    requests = [*GOOD.values(), *BAD.values(), *(r for r, _ in STRICTER.values())]
    for request in requests:
        whole = ask(seen, request)
        for cut in {1, len(request) // 2, len(request) - 3, len(request) - 1}:
            assert ask(seen, request, cut) == whole, (cut, request)


def test_slashes_that_nginx_merges_are_restored(nginx, seen, proxy):
    """proxy_pass with a path gives us http:/raw.example/."""
    held, other = "https://raw.example/a?b=http://c/", "https://raw.example/b"

    def get(path):
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d/bloom%s" % (proxy, path)) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    assert get("/raw/" + held)[0] == 200 and get("/raw/" + other)[0] == 404
    assert get("/raw/" + urllib.parse.quote(held.split("?")[0], safe="") + "?b=http://c/")[0] == 200
    assert json.loads(get("/agg/" + held)[1])["url"] == held
    links = get("/timemap/link/" + held)[1]
    assert "<%s>; rel=\"original\"" % held in links and "http://tm.example/" + held in links
    assert ":/raw" not in links.replace("://raw", "")
    assert get("/timegate/" + other)[0] == 404
