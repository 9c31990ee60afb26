#!/usr/bin/python3
"""neighbours.py - one hostile host beside ten innocent ones.

    SEEN=build/seen test/hostile/neighbours.py [--only NAME,...] [--turns 3]

A crawl of ten small sites, alone and then with one more host that does its
worst, once per misbehaviour in the table below. The crawl has to fetch every
innocent page, and to end when it is asked to. What is compared is the CPU time
of the crawler until the last innocent page was asked for: innocent pages per
CPU second, as a share of what they are alone. So it does not matter how busy
the machine is. The memory is the peak of the process.

The servers are a process of their own, on addresses of the loopback. All loops
end: a misbehaviour has SECONDS, and the hostile host as many bytes as BYTES.
"""
import argparse
import asyncio
import ctypes
import ctypes.util
import gzip
import json
import multiprocessing
import os
import resource
import shutil
import signal
import socket
import statistics
import ssl
import subprocess
import sys
import tempfile
import time
import zlib

SEEN = os.path.abspath(os.environ.get("SEEN", "build/seen"))
INNOCENT = ["127.0.2.%d" % i for i in range(1, 11)]
HOSTILE = "127.0.3.1"
PAGES = 3000                # per innocent host
SECONDS = 240               # per misbehaviour
BYTES = 64 << 20            # of one hostile answer
CALM = 0.8                  # of what it is alone
MEMORY = 400 << 20

HTML = b"Content-Type: text/html\r\n"


def answer(body, head=HTML, status=b"200 OK"):
    return b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, head, len(body), body)


def links(urls):
    return b"".join(b"<a href='%s'>x</a>\n" % (u if isinstance(u, bytes) else u.encode()) for u in urls)


def ten(path):
    """The start page of a host that has ten more like the one at hand."""
    return links("/%s/%d" % (path, i) for i in range(10))


def pages_of(body, head=HTML, status=b"200 OK"):
    """Ten pages with this body."""
    made = answer(body, head, status)

    def serve(path):
        if path == "/robots.txt":
            return answer(b"", b"Content-Type: text/plain\r\n", b"404 Not Found")
        return answer(ten("p")) if path == "/" else made
    return serve


def robots(rules, urls):
    text = answer(rules, b"Content-Type: text/plain\r\n")
    start = answer(links(urls))

    def serve(path):
        return text if path == "/robots.txt" else start
    return serve


def raw(*pieces):
    """Ten pages with these bytes, then the end of the connection. A piece may be (bytes, times)."""
    def serve(path, writer):
        async def go():
            if path in ("/", "/robots.txt"):
                writer.write(pages_of(b"")(path))
                return
            for piece in pieces:
                some, times = piece if isinstance(piece, tuple) else (piece, 1)
                for _ in range(times):
                    writer.write(some)
                    await writer.drain()
        return go()
    serve.streams = True
    return serve


def brotli(n):
    """br of n zeros, with the largest window."""
    library = ctypes.CDLL(ctypes.util.find_library("brotlienc"))
    zeros, out, size = bytes(n), ctypes.create_string_buffer(1 << 20), ctypes.c_size_t(1 << 20)
    if not library.BrotliEncoderCompress(5, 24, 0, ctypes.c_size_t(n), zeros, ctypes.byref(size), out):
        sys.exit("neighbours: brotli does not compress")
    return out.raw[:size.value]


def deflated(n, level=9):
    """gzip of n zeros, made in pieces."""
    z, out = zlib.compressobj(level, zlib.DEFLATED, 31), []
    for _ in range(n >> 20):
        out.append(z.compress(bytes(1 << 20)))
    return b"".join(out) + z.flush()


def slowly(path, writer):
    """Bytes one at a time."""
    async def drip():
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
        for _ in range(SECONDS * 4):
            writer.write(b"X")
            await writer.drain()
            await asyncio.sleep(0.25)
    return drip()


def endless(head, piece):
    def serve(path, writer):
        async def go():
            if path == "/robots.txt":
                writer.write(answer(b"", HTML, b"404 Not Found"))
                return
            if path == "/":
                writer.write(answer(ten("p")))
                return
            writer.write(head)
            for _ in range(BYTES // len(piece)):
                writer.write(piece)
                await writer.drain()
        return go()
    serve.streams = True
    return serve


def redirects(path):
    if path == "/robots.txt":
        return answer(b"", HTML, b"404 Not Found")
    n = int(path.strip("/") or 0)
    if n % 2000 == 0:
        return answer(links("/%d" % (n + 1 + i * 3) for i in range(100)))
    return answer(b"", b"Location: /%d\r\n" % (n + 1), b"302 Found")


def growing(path):
    """Redirects to themselves, and each URL is longer."""
    if path in ("/", "/robots.txt"):
        return pages_of(b"")(path)
    return answer(b"", b"Location: %s%s\r\n" % (path.encode(), b"a" * 50), b"302 Found")


def guests(path):
    """A host of many, whose robots.txt is that of an innocent one. It has no other pages: so what counts is what its
    robots.txt costs, and not what 500 hosts cost that are crawled like any other."""
    if path == "/robots.txt":
        return answer(b"", b"Location: http://%s:%d/robots.txt\r\n" % (INNOCENT[0].encode(), PORT),
                      b"302 Found")
    return answer(b"x")


def near(make, many=1000):
    """Pages without end: make(path, i) is a link."""
    def serve(path):
        if path == "/robots.txt":
            return pages_of(b"")(path)
        return answer(links(make(path, i) for i in range(many)))
    return serve


def sitemaps(make):
    def serve(path):
        if path == "/robots.txt":
            return answer(b"Sitemap: http://%s:%d/s0.xml\n" % (HOSTILE.encode(), PORT),
                          b"Content-Type: text/plain\r\n")
        if path.startswith("/s"):
            return answer(make(path), b"Content-Type: application/xml\r\n")
        return answer(b"<p>nothing")
    return serve


def many_hosts(answers, hosts=5000):
    """A start page that links to more hosts, each with an address of its own. What an honest host costs, which is
    some 0.2 ms, each of these may cost."""
    async def go(path, writer):
        if writer.get_extra_info("sockname")[0] == HOSTILE:
            writer.write(answer(b"", HTML, b"404 Not Found") if path == "/robots.txt" else
                         answer(links("http://127.9.%d.%d:%d/" % (i // 250, i % 250 + 1, PORT) for i in range(hosts))))
        else:
            await answers(path, writer)

    def serve(path, writer):
        return go(path, writer)
    serve.streams = True
    return serve


RESOLVER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        dlsym(RTLD_NEXT, "getaddrinfo");

    if (!name || !strstr(name, ".slow.invalid"))
        return real(name, service, hints, found);
    sleep(15);
    return EAI_AGAIN;
}
"""


def slow_names():
    """Links to names whose name server does not answer."""
    serve = pages_of(links("http://x%d.slow.invalid/" % i for i in range(5000)))
    serve.resolver = RESOLVER
    return serve


def preloaded(source, folder):
    """Environment with this C in front of libc."""
    with open(folder + "/resolver.c", "w") as file:
        file.write(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder + "/resolver.so", folder + "/resolver.c"], check=True)
    return {**os.environ, "LD_PRELOAD": folder + "/resolver.so"}


async def silence(path, writer):
    await asyncio.sleep(SECONDS)


def each(serve):
    """One answer per connection."""
    async def go(path, writer):
        writer.write(serve(path))
    return go


def handshakes(*pieces):
    """A start page that links to https, on many addresses, where no handshake comes to its end."""
    def serve(path, writer):
        async def go():
            writer.write(answer(b"", HTML, b"404 Not Found") if path == "/robots.txt" else answer(links(
                "https://127.9.%d.%d:%d/" % (i // 250, i % 250 + 1, PORT + 1) for i in range(500))))
        return go()
    serve.streams, serve.handshake = True, pieces
    return serve


def nested_sitemaps(path):
    return b"<sitemapindex>%s</sitemapindex>" % b"".join(
        b"<sitemap><loc>http://%s:%d%s%d</loc></sitemap>" % (HOSTILE.encode(), PORT, path[:40].encode(), i)
        for i in range(2000))


def wide_sitemap(path):
    return b"<urlset>%s</urlset>" % b"".join(
        b"<url><loc>http://%s:%d/%d?%s</loc></url>" % (HOSTILE.encode(), PORT, i, b"&amp;" * 200) for i in range(10000))


slowly.streams = True
PORT = 0

MEG = 1 << 20
CHARSETS = [b"iso-2022-jp", b"gb18030", b"utf-16", b"utf-7", b"big5", b"x-user-defined", b"euc-kr"]

# name: what the host answers
TABLE = {
    "rules": lambda: robots(b"User-agent: *\n" + b"".join(b"Disallow: /%x/%x\n" % (i, i * 7919) for i in range(30000)),
                            ["/%x/%s" % (i % 60, "a" * 1500 + str(i)) for i in range(4000)]),
    "stars": lambda: robots(b"User-agent: *\n" + b"Disallow: /*a*a*a*a*a*a*b\n" * 19000,
                            ["/" + "a" * 1500 + str(i) for i in range(4000)]),
    "forbidden": lambda: robots(b"User-agent: *\nDisallow: /f\n", ["/f%d" % i for i in range(60000)]),
    "nesting": lambda: pages_of(b"<div>" * (2 * MEG // 5) + b"<a href=/x>x"),
    "nested-inline": lambda: pages_of(b"<b><i><u><p>" * (2 * MEG // 12)),
    "tables": lambda: pages_of(b"<table><tr><td>" * (MEG // 15)),
    "attributes": lambda: pages_of(b"<a " + b"".join(b"a%d=x " % i for i in range(300000)) + b">"),
    "one-attribute": lambda: pages_of(b"<a href='" + b"/.." * (5 * MEG) + b"'>"),
    "less-than": lambda: pages_of(b"<" * (15 * MEG)),
    "open-tags": lambda: pages_of(b"<a href=" * (15 * MEG // 8)),
    "references": lambda: pages_of(b"&zzzzzz" * (15 * MEG // 7)),
    "references-in-links": lambda: pages_of(b"<a href='/" + b"&amp" * (3 * MEG) + b"'>" + b"<a href='&lt;'>" * 100000),
    "comments": lambda: pages_of(b"<!--" * (15 * MEG // 4)),
    "scripts": lambda: pages_of(b"<script>" + b"</scrip" * (2 * MEG)),
    "links": lambda: pages_of(links("/%d/%s" % (i, "q" * 200) for i in range(60000))),
    "relative": lambda: pages_of(b"<base href='/" + b"a/" * 1000 + b"'>" + b"<a href='" + b"../" * 1000 + b"'>x</a>" +
                                 b"".join(b"<a href='%s%d'>x</a>" % (b"../" * 900, i) for i in range(3000))),
    "srcset": lambda: pages_of(b"<img srcset='" + b"a 1x, " * (2 * MEG) + b"'>" * 2),
    "bases": lambda: pages_of(b"<base href='/a'>" * 500000),
    "idn": lambda: pages_of(links("http://%s.test/" % ("\u00fc\u4e2d" * 20 + str(i)) for i in range(5000))),
    "names": lambda: pages_of(links("http://x%d.invalid/" % i for i in range(5000))),
    "ports": lambda: pages_of(links("http://%s:%d/" % (HOSTILE, i) for i in range(1, 3000))),
    "charsets": lambda: (lambda made: lambda path: answer(ten("p"), HTML) if path == "/" else
                         made[zlib.crc32(path.encode()) % len(made)])(
        [answer(b"\x1b$B\x81\x30\xff\xfe+AAA-" * (MEG // 4) + b"<a href='?\xe4\xf6'>",
                b"Content-Type: text/html; charset=%s\r\n" % c) for c in CHARSETS]),
    "zeros": lambda: pages_of(bytes(15 * MEG)),
    "title": lambda: pages_of(b"<title>" + b"x " * (7 * MEG)),
    "bomb": lambda: pages_of(deflated(4 << 30), HTML + b"Content-Encoding: gzip\r\n"),
    "bombs": lambda: pages_of(gzip.compress(deflated(1 << 30)), HTML + b"Content-Encoding: gzip, gzip\r\n"),
    "codings": lambda: pages_of(b"x", HTML + b"Content-Encoding: " + b"gzip, " * 3000 + b"br\r\n"),
    "headers": lambda: pages_of(b"x", HTML + b"".join(b"X-%d: y\r\n" % i for i in range(30000))),
    "long-header": lambda: pages_of(b"x", HTML + b"X: " + b"y" * MEG + b"\r\n"),
    "link-header": lambda: pages_of(b"x", HTML + b"Link: " + b"</a>;rel=next," * 20000 + b"\r\n"),
    "location": lambda: pages_of(b"", b"Location: /" + b"a" * 100000 + b"\r\n", b"301 Moved"),
    "early-hints": lambda: endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100),
    "endless-body": lambda: endless(b"HTTP/1.1 200 OK\r\n" + HTML + b"\r\n", b"<a href=/x>" * 5000),
    "endless-chunks": lambda: endless(b"HTTP/1.1 200 OK\r\n" + HTML + b"Transfer-Encoding: chunked\r\n\r\n",
                                      b"1\r\n<\r\n" * 10000),
    "endless-head": lambda: endless(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n" * 10000),
    "slow-head": lambda: slowly,
    "redirects": lambda: redirects,
    "status": lambda: pages_of(b"x" * 1000, HTML, b"999 " + b"x" * 5000),
    "retry-after": lambda: pages_of(b"", b"Retry-After: 99999999999999999999\r\n", b"503 Later"),
    "sitemaps": lambda: sitemaps(nested_sitemaps),
    "wide-sitemap": lambda: sitemaps(wide_sitemap),
    "entities": lambda: sitemaps(lambda p: b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>" + b"".join(
        b"<!ENTITY %c '%s'>" % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(20)) +
        b"]><urlset><url><loc>&u;</loc></url></urlset>"),
    "deep-xml": lambda: sitemaps(lambda p: b"<a>" * (5 * MEG)),
    "certificate": lambda: certified(1000),
    "slow-names": slow_names,
    "silent-hosts": lambda: many_hosts(silence),
    "slow-hosts": lambda: many_hosts(slowly),
    "guests": lambda: many_hosts(each(guests), 500),
    "silent-tls": lambda: handshakes(),
    "closed-tls": lambda: handshakes(b""),
    "endless-tls": lambda: handshakes(*[b"\x16\x03\x03\x40\x00\x02\x00\xff\xff" + bytes(16380)] * 200),
    "tiny-chunks": lambda: raw(b"HTTP/1.1 200 OK\r\n" + HTML + b"Transfer-Encoding: chunked\r\n\r\n",
                               (b"1\r\n<\r\n" * 10000, 250), b"0\r\n\r\n"),
    "chunk-extensions": lambda: raw(b"HTTP/1.1 200 OK\r\n" + HTML + b"Transfer-Encoding: chunked\r\n\r\n",
                                    (b"1;" + b"x=y;" * 50 + b"\r\n<\r\n", 70000), b"0\r\n\r\n"),
    "trailers": lambda: raw(b"HTTP/1.1 200 OK\r\n" + HTML + b"Transfer-Encoding: chunked\r\n\r\n0\r\n",
                            (b"A: b\r\n" * 10000, 1000)),
    "folded": lambda: raw(b"HTTP/1.1 200 OK\r\nX: y\r\n", (b" folded\r\n" * 1000, 1000)),
    "short-body": lambda: raw(b"HTTP/1.1 200 OK\r\n" + HTML + b"Content-Length: 999999999999\r\n\r\n<a href=/x>"),
    "lengths": lambda: raw(b"HTTP/1.1 200 OK\r\n" + HTML + b"Content-Length: " + b"9" * 4000 + b"\r\n\r\nx"),
    "nothing": lambda: raw(),
    "pipelined": lambda: pages_of(b"x", b"Content-Length: 1\r\n\r\nx" +
                                  answer(links("/%d" % i for i in range(1000))) * 50 + b"HTTP/1.1 200 OK\r\n"),
    "header-bytes": lambda: pages_of(b"x", b"".join(b"%c: %c\0\r\xff\r\n" % (i, i) for i in range(33, 256)) +
                                     b"Set-Cookie: \xff=\x01; domain=.\r\n" * 200),
    "tiny-members": lambda: pages_of(gzip.compress(b"") * (14 * MEG // 20), HTML + b"Content-Encoding: gzip\r\n"),
    "padded-gzip": lambda: pages_of(gzip.compress(b"x") + bytes(15 * MEG), HTML + b"Content-Encoding: gzip\r\n"),
    "brotli": lambda: pages_of(brotli(1 << 30), HTML + b"Content-Encoding: br\r\n"),
    "layers": lambda: pages_of(gzip.compress(gzip.compress(gzip.compress(deflated(4 << 30)))),
                               HTML + b"Content-Encoding: gzip, gzip, gzip, gzip\r\n"),
    "growing": lambda: growing,
    "refreshes": lambda: pages_of(b"".join(
        b"<meta http-equiv=refresh content='0;url=/%d'>" % i for i in range(300000))),
    "canonicals": lambda: pages_of(b"".join(b"<link rel=canonical href=/%d>" % i for i in range(400000))),
    "late-charset": lambda: pages_of(b"<p>\xe4\xf6 words" * (MEG // 2) + b"<meta charset=gb18030><meta charset=big5>" +
                                     b"<a href='?\xe4\xf6'>" * 100000),
    "long-url": lambda: pages_of(b"<a href='/" + b"a" * (2 * MEG) + b"'>" * 5),
    "dots": lambda: pages_of(links("http://%s%d/" % ("a." * 50000, i) for i in range(100))),
    "labels": lambda: pages_of(links("http://%s%d/" % ("\u00fc." * 500, i) for i in range(100))),
    "percent": lambda: pages_of(links("http://%s%d/" % ("%25%32%35%c3%bc" * 300, i) for i in range(3000))),
    "sessions": lambda: near(lambda path, i: "/page?PHPSESSID=%08x&%d" % (
        zlib.crc32(b"%f%d" % (time.time(), i)), i), 200),
    "calendar": lambda: near(lambda path, i: "%s/%d" % (path.rstrip("/")[-12:] if path != "/" else "", i)),
    "soft-429": lambda: pages_of(b"<title>Too many requests</title>"),
    "late-429": lambda: pages_of(b"", b"Retry-After: 0\r\n", b"429 Too Many Requests"),
    "groups": lambda: robots(b"".join(b"User-agent: a%d\nDisallow: /\n\n" % i for i in range(20000)), ten("p").split()),
    "robots-sitemaps": lambda: robots(b"Sitemap: /s?a\n" * 10000 + b"Crawl-delay: 1e999\nCrawl-delay: -5\n"
                                      b"User-agent: *\nCrawl-delay: NaN\nCrawl-delay: 0.0000001\nAllow: /\n",
                                      ["/%d" % i for i in range(20)]),
    "sitemap-bomb": lambda: sitemaps(lambda p, made=gzip.compress(deflated(1 << 30)): made),
    "sitemap-lines": lambda: sitemaps(lambda p: b"".join(b"http://%s:%d/%d\n" % (HOSTILE.encode(), PORT, i)
                                                         for i in range(400000))),
    "sitemap-spaces": lambda: sitemaps(lambda p: b"<urlset %s>%s</urlset>" % (
        b" ".join(b"xmlns:a%d='b%d'" % (i, i) for i in range(200)), b"<url><lastmod>\x80</lastmod></url>" * 200000)),
    "sitemap-dates": lambda: sitemaps(lambda p: b"<urlset>" + b"".join(
        b"<url><loc>/%d</loc><lastmod>9999999-99-99T%s</lastmod></url>" % (i, b"9" * 200) for i in range(50000)) +
        b"</urlset>"),
    "feed": lambda: pages_of(b"<rss><channel>" + b"<item><link>/a</link><title>&lt;" * 300000,
                             b"Content-Type: application/rss+xml\r\n"),
}


def certified(names):
    """A start page that links to https, where the certificate has this many names and nobody has signed it."""
    def serve(path):
        if path == "/robots.txt":
            return answer(b"", HTML, b"404 Not Found")
        return answer(links("https://%s:%d/%d" % (HOSTILE, PORT + 1, i) for i in range(1000)))

    with tempfile.TemporaryDirectory() as folder:
        key, certificate, settings = (os.path.join(folder, name) for name in ("key", "certificate", "settings"))
        with open(settings, "w") as file:
            file.write("[req]\ndistinguished_name=d\nx509_extensions=x\nprompt=no\n")
            file.write("[d]\nCN=h\u00fcl\n[x]\nsubjectAltName=@n\n[n]\n")
            file.writelines("DNS.%d=a%d.%s.example\n" % (i, i, "x" * 60) for i in range(names))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-utf8", "-days", "2",
                        "-config", settings, "-keyout", key, "-out", certificate], check=True, capture_output=True)
        serve.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        serve.tls.load_cert_chain(certificate, key)
    return serve


def template(**fields):
    return {"name": "t", "start": ["http://%s:%d/" % (host, PORT) for host in [HOSTILE, *INNOCENT]],
            "pages": {"page": {"url": ["."], "fields": fields}}, "follow": [{"css": "a"}]}


def selects(*selectors):
    return lambda: template(**{"f%d" % i: {"css": s} if not s.startswith("/") else {"xpath": s}
                               for i, s in enumerate(selectors)})


def extracts(*patterns):
    return lambda: template(**{"f%d" % i: {"css": "p", "regex": p} for i, p in enumerate(patterns)})


# name: (answers, template)
DEEP = b"<div class=a>" * 5000 + b"text " * (2 * MEG)
WITH_TEMPLATE = {
    "contains": (lambda: pages_of(DEEP),
                 selects('//div[contains(., "x")]', '//div//div//div[last()]', '//*[count(.//*) > 3]')),
    "siblings": (lambda: pages_of(b"<p>x</p>" * 200000),
                 selects("p ~ p ~ p ~ p", "p:nth-last-child(2n+1)", "p + p ~ p")),
    "has": (lambda: pages_of(DEEP), selects("div div div div div div p", "div > div ~ div", "div:not(p) div ~ div")),
    "patterns": (lambda: pages_of(b"<p>" + b"ax" * (2 * MEG)),
                 extracts("(x+x+)+y", "a.*x.{0,60}y", "(a|x)*a(a|x){40}z")),
}


PAGE = answer(b"<!DOCTYPE html><title>a page</title>" + b"<p>Some words of a page.</p>" * 100 +
              b"<a href='/'>home</a>" + links("/page/%d" % i for i in range(1, 20)))


class Servers(multiprocessing.Process):
    """All hosts, on one port."""

    def __init__(self, port, serve, log):
        super().__init__(daemon=True)
        self.port, self.serve, self.log = port, serve, log
        self.tls, self.ready = getattr(serve, "tls", None), multiprocessing.Event()
        self.handshake = getattr(serve, "handshake", None)

    async def shake(self, _, writer):
        try:
            for piece in self.handshake:
                writer.write(piece)
                await writer.drain()
            if not self.handshake:
                await asyncio.sleep(SECONDS)
        except OSError:
            pass
        writer.close()

    async def client(self, reader, writer):
        host = writer.get_extra_info("sockname")[0]
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1].decode("latin-1")
                if host in INNOCENT:
                    writer.write(self.innocent(host, path))
                elif getattr(self.serve, "streams", False):
                    await self.serve(path, writer)
                    break
                else:
                    writer.write(self.serve(path))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError):
            pass
        writer.close()

    def innocent(self, host, path):
        if path == "/robots.txt":
            return answer(b"User-agent: *\nDisallow: /private\n", b"Content-Type: text/plain\r\n")
        if path == "/":
            return answer(links("/page/%d" % i for i in range(1, PAGES)))
        self.log[INNOCENT.index(host)] += 1
        return PAGE

    def run(self):
        async def all_of_them():
            for host in [HOSTILE, *INNOCENT]:
                await asyncio.start_server(self.client, host, self.port, limit=1 << 20, reuse_port=True)
            # All other addresses of the loopback: the more special one has its own port.
            await asyncio.start_server(self.client, "0.0.0.0", self.port, limit=1 << 20, reuse_port=True, backlog=4096)
            if self.tls:
                await asyncio.start_server(self.client, HOSTILE, self.port + 1, limit=1 << 20, ssl=self.tls)
            if self.handshake is not None:
                await asyncio.start_server(self.shake, "0.0.0.0", self.port + 1, backlog=4096)
            self.ready.set()
            await asyncio.sleep(SECONDS * 2)
        asyncio.run(all_of_them())

    def wait(self):
        """Until all ports are open."""
        if not self.ready.wait(60):
            sys.exit("neighbours: the servers do not start")


def cpu_of(pid):
    with open("/proc/%d/stat" % pid) as file:
        words = file.read().rsplit(") ", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_ended():
    """Of all processes that were started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_of(pid):
    with open("/proc/%d/status" % pid) as file:
        for line in file:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) << 10
    return 0


def crawl(serve, made_template=None, alone=False):
    """One run: innocent pages fetched, CPU seconds, seconds, peak, seconds that it took to stop, exit code."""
    folder = tempfile.mkdtemp(prefix="seen-hostile-")
    log = multiprocessing.Array("q", len(INNOCENT), lock=False)
    servers = Servers(PORT, serve, log)
    servers.start()
    servers.wait()
    command = [SEEN, "crawl", "--into", folder + "/c", "--allow-private", "--delay", "0", "--capacity", "1M",
               "--everywhere", "--sitemaps", "--retries", "0", "--timeout", "20s"]
    if made_template:
        with open(folder + "/t.json", "w") as file:
            json.dump(made_template, file)
        command += ["-t", folder + "/t.json"]
    if not made_template:
        command += ["http://%s:%d/" % (host, PORT) for host in ([] if alone else [HOSTILE]) + INNOCENT]
    before = cpu_of_ended()
    errors = open(folder + "/errors", "w+")
    environment = preloaded(serve.resolver, folder) if hasattr(serve, "resolver") else None
    run = subprocess.Popen(command, stdout=errors, stderr=errors, env=environment)
    try:
        began, wanted = time.monotonic(), (PAGES - 1) * len(INNOCENT)
        while run.poll() is None and sum(log) < wanted and time.monotonic() - began < SECONDS:
            time.sleep(0.01)
        seconds = time.monotonic() - began
        ended = run.poll() is not None
        cpu, peak = (0, 0) if ended else (cpu_of(run.pid), peak_of(run.pid))
        if ended:
            cpu = cpu_of_ended() - before
        else:           # some more time for the hostile host
            time.sleep(3)
            if run.poll() is None:
                peak = max(peak, peak_of(run.pid))
        began = time.monotonic()
        if run.poll() is None:
            run.send_signal(signal.SIGTERM)
        code = run.wait(SECONDS)
        stopped = time.monotonic() - began
        errors.seek(0)
        said = errors.read()
    finally:
        if run.poll() is None:
            run.kill()
            run.wait()
        servers.terminate()
        servers.join()
        shutil.rmtree(folder)
    return sum(log), wanted, cpu, seconds, peak, stopped, code, said


def speed(run):
    """Innocent pages per CPU second."""
    return run[0] / max(run[2], 0.01)


def calm(made_template):
    """The speed without the hostile host: it stays, but says nothing."""
    runs = [crawl(pages_of(b"x"), made_template, alone=True) for _ in range(3)]
    if not all(speed(run) for run in runs):
        sys.exit("neighbours: nothing is fetched alone:\n" + runs[0][-1])
    return statistics.median(speed(run) for run in runs)


def free_ports():
    """A port and the next one, below those that connections of clients have."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        most = int(file.read().split()[0])
    for port in range(most - 2 - os.getpid() % 5000, 2000, -2):
        try:
            for number in (port, port + 1):
                with socket.socket() as free:
                    free.bind(("0.0.0.0", number))
            return port
        except OSError:
            continue
    sys.exit("neighbours: no port is free")


def main():
    global PORT
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", help="misbehaviours, by name")
    arguments.add_argument("--turns", type=int, default=1)
    options = arguments.parse_args()
    names = [*TABLE, *WITH_TEMPLATE]
    if options.only:
        names = [name for name in names if name in options.only.split(",")]
    PORT = free_ports()
    usual = calm(None)
    print("alone: %.0f pages per CPU second" % usual)
    failed = 0
    for name in names:
        serve, template_of = (TABLE[name], None) if name in TABLE else WITH_TEMPLATE[name]
        made = template_of and template_of()
        runs = [crawl(serve(), made) for _ in range(options.turns)]
        share = statistics.median(speed(run) for run in runs) / (calm(made) if made else usual)
        pages, wanted, cpu, seconds, peak, stopped, code, said = runs[-1]
        good = all(r[0] >= r[1] and r[6] in (0, 1) for r in runs) and share >= CALM and peak < MEMORY and stopped < 20
        failed += not good
        print("%-20s %s %5d of %d pages  %5.2f x alone  %6.2f s of CPU  %6.2f s  %4d MB  stop %5.2f s  exit %d" % (
            name, "ok  " if good else "FAIL", pages, wanted, share, cpu, seconds, peak >> 20, stopped, code))
        sys.stdout.flush()
        if not good:
            print("    " + said[-600:].replace("\n", "\n    "), flush=True)
    print("%d passed, %d failed" % (len(names) - failed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
