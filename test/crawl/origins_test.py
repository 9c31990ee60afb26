"""Scheme, host and port: a link to a port that cannot be asked ends nothing but the pages there."""
import collections
import json
import signal
import socket
import ssl
import subprocess
import threading

import pytest

from crawling import SEEN, Answer, Crawl, Site, page
from working import Team, on_servers, on_sqlite

PAGES = 61


class Garbage:
    """A port that answers with something else. It counts who asks."""

    def __init__(self, text=b"220 mail.example ESMTP\r\n"):
        self.text, self.asked = text, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def serve(self):
        while True:
            try:
                one, _ = self.socket.accept()
            except OSError:
                return
            self.asked += 1
            with one:
                one.sendall(self.text)
                one.recv(65536)

    def __exit__(self, *why):
        self.socket.close()


class Refusing:
    """A port that nobody else gets, and that refuses connections."""

    def __enter__(self):
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        return self

    def __exit__(self, *why):
        self.socket.close()


@pytest.fixture
def comments(tmp_path):
    """A site, and what visitors write below its pages: URLs, and why they are not fetched."""
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-subj", "/CN=x"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    with Site({}) as site, Site({"/": page()}) as secret, Garbage() as garbage, Refusing() as refusing:
        secret.socket = context.wrap_socket(secret.socket, server_side=True)
        links = {secret.url("/x").replace("http:", "https:"): "certificate",
                 "http://127.0.0.1:%d/" % refusing.port: "connect",
                 "http://127.0.0.1:%d/" % garbage.port: "HTTP",
                 "http://127.0.0.1:%d/y" % garbage.port: "HTTP",
                 "http://127.0.0.1:25/": "port"}
        site.pages["/"] = page(*links, "/1")
        for i in range(1, PAGES):
            site.pages["/%d" % i] = page(*links, *("/%d" % k for k in (2 * i, 2 * i + 1) if k < PAGES))
        yield site, links


def test_links_to_other_ports_do_not_end_a_crawl(tmp_path, comments):
    site, links = comments
    crawl = Crawl(tmp_path / "c", site.url("/")).run("--retries", 1, "--pause", "1s")
    report = crawl.report()
    assert len(site.paths()) == report["stored"] == PAGES
    assert report["left"] == report["closed"] == len(links) and not report["waiting"] and not report["covered"]
    log = {line[3]: line for line in crawl.log()}
    for url, word in links.items():
        origin = url.rsplit("/", 1)[0]
        said = crawl.why(url)
        assert "robots.txt of %s cannot be fetched: " % origin in said and word in said, said
        assert log[url][1] == "-61" and "cannot_be_fetched" in log[url][-1]
    stopped = {one["host"]: one["waiting"] for one in report["hosts"] if one.get("stopped")}
    assert stopped == collections.Counter(url.rsplit("/", 1)[0] for url in links)

    # The same command asks again, and only there.
    crawl.run("--retries", 0, "--pause", "0s")
    again = crawl.report()
    assert len(site.paths()) == again["stored"] == PAGES and again["left"] == len(links)
    # So does the next visit.
    crawl.run("--revisit", "--revisit-min", "1s", "--revisit-every", "1s", "--retries", 0, "--pause", "0s",
              "--clock", "2099-01-01T00:00:00Z")
    assert crawl.report()["left"] == len(links) and crawl.report()["visit"]["number"] == 2


def test_what_is_repaired_is_fetched_by_the_same_command(tmp_path):
    with Site({"/": page()}) as other, Site({}) as site:
        other.pages["/robots.txt"] = Answer("no", 503)
        site.pages["/"] = page(other.url("/"), "/a")
        site.pages["/a"] = page()
        crawl = Crawl(tmp_path / "c", site.url("/")).run("--retries", 0, "--pause", "0s")
        assert crawl.report()["stored"] == 2 and crawl.report()["left"] == 1 and not other.paths()
        del other.pages["/robots.txt"]
        crawl.run()
        report = crawl.report()
        assert other.paths() == ["/"] and report["covered"] and report["stored"] == 3 and not report["closed"]
        assert {one["host"] for one in report["hosts"]} == {"127.0.0.1"}


@pytest.mark.parametrize("where", [on_sqlite, on_servers])
def test_links_to_other_ports_do_not_end_a_visit(tmp_path, comments, where):
    site, links = comments
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"name": "t", "start": [site.url("/")], "follow": [{"css": "a"}]}))
    team = Team(tmp_path, lease=20, **where(tmp_path))
    team.enqueue("--delay", "0", "--retries", 1, "--pause", "1s", path)
    team.work("--into", tmp_path / "files")
    records, ends = team.records()
    assert len(site.paths()) == len(records) == PAGES and len(ends) == 1
    visit, = team.status()["visits"]
    assert visit["fetched"] == PAGES and visit["left"] == len(links) and not visit["waiting"], visit
    hosts = {one["host"]: one for one in team.status()["hosts"]}
    assert not hosts.pop("127.0.0.1")["failures"]       # it answers, at the port that counts
    assert set(hosts) == {url.rsplit("/", 1)[0] for url in links}
    assert all(one["state"] == "stopped" and "robots.txt of " + name in one["waits_for"] for name, one in hosts.items())
    # The next visit asks again.
    team.enqueue("--delay", "0", "--retries", 0, "--pause", "0s", "--visit-due", "2099-01-01T00:00:00Z", path)
    team.work()
    visit = max(team.status()["visits"], key=lambda one: one["visit"])
    assert visit["fetched"] == PAGES and visit["left"] == len(links), visit


def test_a_port_that_is_not_allowed_ends_nothing_else(tmp_path):
    with Site({"/": page()}) as other, Site({}) as site:
        site.pages["/"] = page(other.url("/"), "/a")
        site.pages["/a"] = page()
        allowed = "127.0.0.1:%d" % site.server_address[1]
        command = [SEEN, "crawl", "--into", str(tmp_path / "c"), site.url("/"), "--allow", allowed, "--delay", "0"]
        subprocess.run(command, check=True, stdout=subprocess.PIPE)
        assert site.paths() == ["/", "/a"] and not other.log
        assert "; see --allow-private" in Crawl(tmp_path / "c").why(other.url("/"))


def test_pages_behind_those_that_wait_for_their_port_go_first(tmp_path):
    """60 links to a port that does not answer come first, and its pause is an hour."""
    with Refusing() as refusing, Site({}) as site:
        site.pages["/"] = page(*("http://127.0.0.1:%d/%d" % (refusing.port, i) for i in range(60)), *("/%d" % i for i in range(60)))
        site.pages.update({"/%d" % i: page() for i in range(60)})
        crawl = Crawl(tmp_path / "c", site.url("/"))
        process = subprocess.Popen(crawl.command("--pause", "1h", "--quiet"))
        try:
            site.wait_for(62)
            process.send_signal(signal.SIGTERM)
            assert process.wait(240) == 0
        finally:
            process.kill()
        report = crawl.report()
        assert report["stored"] == 61 and report["waiting"] == 60 and not report["left"]


def test_ports_that_fail_are_tried_a_bounded_number_of_times(tmp_path):
    """A page that links to hundreds of them costs 16 times the attempts, and the site is fetched."""
    with Garbage(b"") as one, Site({}) as site:
        ports = [port for port in range(20000, 20300)]
        links = ["http://127.0.0.1:%d/" % one.port] + ["http://127.0.0.1:%d/" % port for port in ports]
        site.pages["/"] = page(*links, "/a")
        site.pages["/a"] = page(*links, "/b")
        site.pages["/b"] = page()
        crawl = Crawl(tmp_path / "c", site.url("/")).run("--retries", 0, "--pause", "0s", timeout=240)
        report = crawl.report()
        assert site.paths() == ["/", "/a", "/b"] and report["left"] == len(links)
        # Ports in use by others may answer.
        assert sum(one["requests"] for one in report["hosts"]) <= 4 + 16 + 5
        assert len(report["hosts"]) <= 1 + 16 + 1
        assert "ports of its host cannot be asked" in crawl.why(links[-1])


def test_a_host_that_is_down_is_given_up_once(tmp_path):
    with Garbage(b"") as down:
        start = ["http://127.0.0.1:%d/%d" % (down.port, i) for i in range(40)]
        crawl = Crawl(tmp_path / "c", *start).run("--retries", 2, "--pause", "0s")
        report = crawl.report()
        assert down.asked == 3 and report["left"] == 40 and not report["waiting"] and not report["stored"]
