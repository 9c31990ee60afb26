"""Outcome, not fault: nothing that an answer contains ends a run. Each page is stored, or fails with a reason, and the
page that comes after it is fetched."""
import gzip
import json
import ssl
import subprocess

from crawling import Answer, Crawl, Site, page
from working import Team, on_servers

END = b"\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html"
CHUNKED = OK + b"\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
MB = b"a" * (1 << 20)

HEADS = {
    "a header of 90 kB": OK + b"\r\nX: " + b"a" * 90000 + END,
    "a header of 200 kB": OK + b"\r\nX: " + b"a" * 200000 + END,
    "a header of 200 kB behind another head": b"HTTP/1.1 103 Early\r\n\r\n" + OK + b"\r\nX: " + b"a" * 200000 + END,
    "the same after 100": b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"\r\nX: " + b"a" * 200000 + END,
    "a status line of 200 kB": b"HTTP/1.1 200 " + b"a" * 200000 + END,
    "bytes above 0x7f": OK + b"\r\nX-\xff\xfe: \x80\xff\xc3" + END,
    "a header that is not UTF-8": OK + b"\xff\xfe\r\nETag: \"\xff\xc3\"\r\nLast-Modified: \xed\xa0\x80" + END,
    "a zero in a header": OK + b"\r\nX: a\0b" + END,
    "a header without a name": OK + b"\r\n: x" + END,
    "a header without a colon": OK + b"\r\nx" + END,
    "a folded header": b"HTTP/1.1 200 OK\r\n folded: x\r\n more" + END,
    "status 999": b"HTTP/1.1 999 What" + END,
    "status 000": b"HTTP/1.1 000 What" + END,
    "status 99": b"HTTP/1.1 99 What" + END,
    "status 1000": b"HTTP/1.1 1000 What" + END,
    "status -1": b"HTTP/1.1 -1 What" + END,
    "status 101": b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n" + END,
    "heads of 1xx": b"HTTP/1.1 102 Wait\r\n\r\n" * 5000 + OK + END,
    "no version": b"HTTP/ 200 OK" + END,
    "HTTP/9.9": b"HTTP/9.9 200 OK" + END,
    "HTTP/2": b"HTTP/2 200\r\n" + END,
    "a hundred codings": OK + b"\r\nContent-Encoding: " + b", ".join([b"gzip"] * 100) + END,
    "codings in a hundred headers": OK + b"\r\nContent-Encoding: br" * 100 + END,
    "an empty coding": OK + b"\r\nContent-Encoding: ,,;" + END,
    "a location of 1 MB": b"HTTP/1.1 302 Found\r\nLocation: /" + MB + END,
    "a location of 90 kB": b"HTTP/1.1 302 Found\r\nLocation: /" + b"a" * 90000 + END,
    "a location of bytes": b"HTTP/1.1 302 Found\r\nLocation: //\xff\x80[" + END,
    "a redirect to itself": b"HTTP/1.1 302 Found\r\nLocation: " + END,
    "a length below 0": OK + b"\r\nContent-Length: -1" + END,
    "a length of 30 digits": OK + b"\r\nContent-Length: " + b"9" * 30 + b"\r\n\r\nx",
    "a chunk of 30 digits": CHUNKED + b"f" * 30 + b"\r\nx\r\n0\r\n\r\n",
    "chunks that are not": CHUNKED + b"zz\r\n",
    "trailers of 1 MB": CHUNKED + b"1\r\nx\r\n0\r\nX: " + MB + b"\r\n\r\n",
    "10,000 trailers": CHUNKED + b"1\r\nx\r\n0\r\n" + b"X: y\r\n" * 10000 + b"\r\n",
    "a chunk extension of 1 MB": CHUNKED + b"1;" + MB + b"\r\nx\r\n0\r\n\r\n",
    "two codings of transfer": OK + b"\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\nx",
    "a retry in the year 10000": b"HTTP/1.1 404 No\r\nRetry-After: Fri, 31 Dec 9999999 23:59:59 GMT" + END,
    "a long charset": OK + b"; charset=\"" + b"x" * 5000 + b"\"" + END,
    "a long type": b"HTTP/1.1 200 OK\r\nContent-Type: " + b"x/" * 5000 + END,
    "204 with a body": b"HTTP/1.1 204 No" + END,
    "304 that nobody asked for": b"HTTP/1.1 304 Not" + END,
    "206": b"HTTP/1.1 206 Part\r\nContent-Range: bytes 0-0/99999999999999999999" + END,
    "407": b"HTTP/1.1 407 Proxy\r\nProxy-Authenticate: Basic" + END,
    "a link header of links": OK + b"\r\nLink: " + b"<a>;rel=next," * 6000 + END,
    "a cookie of bytes": OK + b"\r\nSet-Cookie: \xff=\x01;domain=\xff" + END,
    "a robots tag": OK + b"\r\nX-Robots-Tag: " + b"noindex," * 9000 + END,
}

BODIES = {
    "zeros": b"\0" * 100000,
    "UTF-16 with lone surrogates": b"\xff\xfe" + b"\x00\xd8" * 50000,
    "UTF-16 of an odd length": b"\xfe\xff\0<\0",
    "UTF-32": b"\xff\xfe\0\0" + b"<\0\0\0\0\xd8\0\0\xff\xff\xff\x7f" * 5000,
    "bytes": bytes(range(256)) * 400,
    "100,000 deep": b"<div>" * 100000,
    "a name of 1 MB": b"<" + MB + b" " + MB + b"=" + MB + b">x</" + MB + b">",
    "distinct names": b"".join(b"<x%0100d></x%0100d>" % (i, i) for i in range(2000)),
    "ids": b"".join(b"<p id=%d>" % i for i in range(10000)),
    "siblings": b"<br>" * 50000,
    "a comment that does not end": b"<!--" + MB,
    "a doctype of 1 MB": b"<!DOCTYPE html PUBLIC '" + MB + b"'>",
    "references": b"&zzzzzz" * 10000 + b"&#xd800;&#0;&#99999999999;&#x110000;",
    "escapes": b"<h1>" + b"\x01\x02\x1f\x7f\"\\" * 10000 + b"</h1>",
    "noncharacters": "\ufffe\uffff\U0010ffff\x00".encode() * 1000,
    "an XML declaration": b"<?xml version='1.0' encoding='UTF-7'?><!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>",
    "base": b"<base href='http://\xff/'><a href='/found'>x</a><base href=':'>",
    "xmlns": b"<html xmlns='\xff' xmlns:a='" + MB + b"'><a:b>",
}
TYPES = ("text/html", "application/xhtml+xml", "application/rss+xml", "application/xml", "text/css", "")

FIELDS = {"T": "h1", "A": {"css": "a::attr(href)", "type": "url", "many": True}, "H": {"css": "p", "type": "html"},
          "X": {"xpath": "//*[last()]", "many": True, "regex": "(.)"}, "D": {"css": "x", "type": "date", "required": True}}


BOMB = gzip.compress(b"\0" * (257 << 20), 1)


def raw(answer):
    def send(handler):
        handler.wfile.write(answer)
        handler.close_connection = True
        return True
    return send


def pages():
    found = {"/h%d" % i: raw(head) for i, head in enumerate(HEADS.values())}
    for i, body in enumerate(BODIES.values()):
        for k, type in enumerate(TYPES if len(body) < 200000 else TYPES[:1]):
            found["/b%d-%d" % (i, k)] = Answer(body, type=type)
    for i, path in enumerate(list(found)):      # a host with five failures in a row is left
        found["/ok%d" % i] = page(title="ok")
    found["/"] = page(*(one for i, path in enumerate(list(found)[:len(found) // 2]) for one in (path, "/ok%d" % i)))
    return found


def template(folder, site):
    path = folder / "t.json"
    path.write_text(json.dumps({"name": "t", "start": [site.url("/")], "follow": [{"css": "a"}],
                                "pages": {"default": {"fields": FIELDS}}}))
    return path


def test_no_answer_ends_a_crawl(tmp_path):
    with Site(pages()) as site:
        crawl = Crawl(tmp_path / "c").run("--template", template(tmp_path, site), "--index", "--requisites", "--sitemaps",
                                          "--retries", 0, "--timeout", "60s", "--clock", "2026-01-01T00:00:00Z")
        log = {one[3]: one for one in crawl.log()}
        assert set(map(site.url, site.pages)) <= set(log)
        assert all(one[1] == "200" for url, one in log.items() if "/ok" in url) and crawl.report()["covered"]
        assert len(crawl.records()) > len(BODIES)


def test_no_answer_ends_a_worker(tmp_path):
    """PostgreSQL is stricter about bytes than SQLite."""
    with Site(pages()) as site:
        team = Team(tmp_path, **on_servers(tmp_path))
        team.enqueue("--delay", "0", "--retries", 0, "--pause", "0s", "--requisites", "--sitemaps", template(tmp_path, site))
        report = team.work("--into", tmp_path / "files")
        assert report["lost_leases"] == 0
        records, ends = team.records()
        assert {site.url(path) for path in site.pages if "/ok" in path} <= {one["_url"] for one in records}
        assert len(ends) == 1


def test_a_page_that_is_too_long_for_a_template_is_stored_without_fields(tmp_path):
    """257 MB of zeros in 256 kB. It ended a crawl at every restart, and each worker in turn."""
    bomb = Answer(BOMB, Content_Encoding="gzip")
    with Site({"/": page("/long", "/after"), "/long": bomb, "/after": page()}) as site:
        crawl = Crawl(tmp_path / "c").run("--template", template(tmp_path, site), "--max-size", "300M", "--clock",
                                          "2026-01-01T00:00:00Z")
        assert crawl.report()["stored"] == 3 and crawl.report()["covered"] and crawl.report()["costly"] == 1
        assert "too long for a template" in crawl.why(site.url("/long"))
        team = Team(tmp_path, lease=60)
        team.enqueue("--delay", "0", "--max-size", "300M", template(tmp_path, site))
        assert team.work()["pages"] == 3
        found = {one["_url"]: one.get("_costly") for one in team.records()[0]}
        assert found == {site.url("/"): None, site.url("/long"): "it is too long for a template", site.url("/after"): None}


def test_a_name_in_a_certificate_ends_no_worker(tmp_path):
    """Words that quote it are cut in the middle of a letter. PostgreSQL refuses text that is not UTF-8."""
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-utf8",
                    "-keyout", key, "-out", cert, "-subj", "/CN=xx" + "\u00fc" * 40], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    with Site({"/": page()}) as site:
        site.socket = context.wrap_socket(site.socket, server_side=True)
        path = tmp_path / "t.json"
        path.write_text(json.dumps({"name": "t", "start": [site.url("/").replace("http:", "https:")]}))
        team = Team(tmp_path, **on_servers(tmp_path))
        team.enqueue("--delay", "0", "--retries", 0, "--pause", "0s", path)
        assert team.work("--ca", cert)["pages"] == 0
        hosts = json.dumps(team.status()["hosts"])
        assert "certificate" in hosts and hosts.isascii()
