"""front_test.py - the settings for web servers in front, doc/examples/, run
as they are: only ports, paths and certificates are those of the test.

What counts is that a URL arrives as the client has sent it, byte by byte, that
the access log has the address of the client, and that links lead to the web
server.
"""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile

import pytest

from serving import Client, Server, build, until

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port  # noqa: E402

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "doc", "examples")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
MODULES = "/usr/lib/apache2/modules"
AS_ROOT = "" if os.getuid() else "x"

# Under the profile raw a URL is found only if each byte of it is the same.
URLS = ["http://a.example/", "https://a.example//b//c?d=http://e//f", "http://a.example/%2f%2F%41?%7e",
        "http://a.example/a;b=c,d", "http://a.example/?q=a+b&c=%20", "http://a.example/x/./y",
        "http://a.example/\xc4\x8d", "http://a.example/%C4%8D", "http://a.example/a|b",
        "ftp://a.example///", "http://a.example:8080/~u/'(*)!@$", "//a.example/", "http:/a.example/"]


class Secure(Client):
    def __init__(self, port, address):
        self.left = b""
        plain = socket.create_connection(("127.0.0.1", port), 60, (address, 0))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.socket = context.wrap_socket(plain, server_hostname="archive.example")


@pytest.fixture(scope="module")
def seen():
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="front-") as name:
        folder = pathlib.Path(name)
        os.chmod(folder, 0o755)         # nginx and Apache change their users
        build(folder / "raw.seen", [url.encode("latin-1").decode() for url in URLS], "--profile",
              "raw", "--kind", "bloom", "--rate", "1e-6")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=archive.example",
                        "-keyout", folder / "key", "-out", folder / "cert"], check=True,
                       stderr=subprocess.DEVNULL)
        with Server(folder, "--listen", "unix:s.sock", "--socket-mode", "666", "--proxy", "unix",
                    "--base", "/bloom", "--url", "https://archive.example", "--log", "log",
                    "--log-format", "json", ".", quiet=False, host=None) as server, \
                Server(folder, "--base", "/bloom", ".", host="archive.example") as server.tcp:
            until(lambda: "s.sock" in server.said)
            yield server


def example(name, server, port, changes, tcp):
    with open(os.path.join(EXAMPLES, name)) as file:
        text = file.read()
    if tcp:
        changes = {**changes, **tcp}
    for old, new in {"/run/seen/serve.sock": server.folder + "/s.sock",
                     "/etc/ssl/certs/archive.example.pem": server.folder + "/cert",
                     "/etc/ssl/private/archive.example.key": server.folder + "/key",
                     **changes}.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def nginx(server, folder, port, tcp=False):
    settings = example("nginx.conf", server, port, {"listen 443 ssl": "listen 127.0.0.1:%d ssl" % port},
                       tcp and {"server unix:%s/s.sock;" % server.folder:
                                "server 127.0.0.1:%d;" % server.tcp.port})
    (folder / "conf").write_text(
        "daemon off; %s pid %s/pid; error_log %s/error; events {}\n"
        "http { access_log off; %s\n%s }\n" % (AS_ROOT and "user root;", folder, folder, " ".join(
            "%s_temp_path %s/%s;" % (name, folder, name)
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")), settings))
    return [shutil.which("nginx", path=PATH), "-p", folder, "-e", folder / "error", "-c",
            folder / "conf"]


def apache(server, folder, port, tcp=False):
    settings = example("apache.conf", server, port, {"*:443": "127.0.0.1:%d" % port},
                       tcp and {'    ProxyPass "/bloom/" "unix': '    #ProxyPass "/bloom/" "unix',
                                '#ProxyPass "/bloom/" "http://127.0.0.1:8080/':
                                'ProxyPass "/bloom/" "http://127.0.0.1:%d/' % server.tcp.port})
    modules = "mpm_event authn_core authz_core authz_host proxy proxy_http ssl socache_shmcb"
    (folder / "conf").write_text(
        "ServerRoot %s\nServerName a\nPidFile %s/pid\nErrorLog %s/error\nDefaultRuntimeDir %s\n"
        "Listen 127.0.0.1:%d https\n%s\n%s\n%s" % (
            folder, folder, folder, folder, port, AS_ROOT and "User www-data\nGroup www-data",
            "\n".join(
                "LoadModule %s_module %s/mod_%s.so" % (name, MODULES, name)
                for name in modules.split()), settings))
    return [shutil.which("apache2", path=PATH), "-D", "FOREGROUND", "-f", folder / "conf"]


@contextlib.contextmanager
def running(kind, seen, folder, tcp=False):
    if not shutil.which({"nginx": "nginx", "apache": "apache2"}[kind.__name__], path=PATH):
        pytest.skip("it is not installed")
    port = free_port()
    process = subprocess.Popen(kind(seen, folder, port, tcp), stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)

    def up():
        assert process.poll() is None, process.stdout.read().decode()
        try:
            return Client(port)
        except OSError:
            return None
    try:
        until(up).__exit__()
        yield port
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(60)
        process.stdout.close()


@pytest.fixture(scope="module", params=[nginx, apache], ids=["nginx", "apache"])
def front(request, seen, tmp_path_factory):
    with running(request.param, seen, tmp_path_factory.mktemp(request.param.__name__)) as port:
        yield port


@pytest.mark.parametrize("kind", [nginx, apache], ids=["nginx", "apache"])
def test_a_loopback_address_answers_to_the_name_that_is_passed_on(kind, seen, tmp_path):
    os.chmod(tmp_path, 0o755)
    with running(kind, seen, tmp_path, tcp=True) as port, Secure(port, "127.0.0.1") as client:
        assert client.get("/bloom/raw/" + URLS[0], {"Host": "archive.example"}).status == 200
        answer = client.get("/bloom/raw/" + URLS[0], {"Host": "evil.example"})
        assert answer.status == 421 and "--host evil.example" in answer.text


@pytest.mark.parametrize("url", URLS)
def test_urls_arrive_as_they_were_sent(front, seen, url):
    with Secure(front, "127.0.0.1") as client:
        answer = client.get("/bloom/raw/" + url)
        assert answer.status == 200, (answer.status, answer.text)
        assert client.ask("HEAD", "/bloom/raw/" + url).status == 200
        assert client.get("/bloom/raw/%s.other" % url).status == 404
        found = client.ask("POST", "/bloom/raw", body=url.encode("latin-1"))
        assert found.status == 200 and found.body.startswith(b"seen\t")


def test_the_log_has_the_address_of_the_client(front, seen):
    target = "/bloom/raw/log%d" % front
    with Secure(front, "127.0.0.77") as client:
        client.get(target, {"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9"})

    def line():
        with open(seen.folder + "/log") as file:
            return [found for found in map(json.loads, file) if found["target"] == target]
    found = until(line)[0]
    assert found["client"] == "127.0.0.77" and found["proxy"] == "unix:"


def test_links_lead_to_the_web_server(front):
    with Secure(front, "127.0.0.1") as client:
        assert "Sitemap: https://archive.example/bloom/sitemap.xml" in client.get(
            "/bloom/robots.txt").text
        assert "<loc>https://archive.example/bloom/files/raw.seen</loc>" in client.get(
            "/bloom/sitemap.xml").text


def test_statistics_are_for_this_machine(front):
    """By the address that the connection is from, not by what the client says."""
    with Secure(front, "127.0.0.1") as client:
        assert client.get("/bloom/metrics").status == 200
        assert client.get("/bloom/healthz").status == 200
        assert client.get("/bloom/").status == 200


def test_lists_are_answered_whole_or_refused(front):
    """The server waits for all of a list: neither web server sends and receives at once."""
    for n, chunked, status in (7000, False, 200), (200000, False, 200), (100000, True, 200), \
            (800000, False, 413):
        body = "".join("http://list.example/%d\n" % i for i in range(n))
        framed = "%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if chunked else body
        with Secure(front, "127.0.0.1") as client:
            with contextlib.suppress(ConnectionError):
                client.send("POST /bloom/raw HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n%s" % (
                    "Transfer-Encoding: chunked" if chunked else "Content-Length: %d" % len(body),
                    framed))
            answer = client.read()
            assert answer.status == status
            assert status != 200 or answer.body.count(b"\n") == n
    with Secure(front, "127.0.0.1") as client:
        assert client.ask("PUT", "/bloom/raw/http://a/").status == 403
