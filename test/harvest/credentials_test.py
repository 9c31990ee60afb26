"""credentials_test.py - who is told who we are, and who is not.

Three servers: one that wants a password, one that wants a client certificate
(TLS, with an authority made here), and a stranger who keeps what he is sent.
"""
import base64
import os
import ssl
import subprocess
import sys

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "../serve")]
from hostile import File, Web, page, redirect, url, urlset  # noqa: E402
from serving import SEEN, build  # noqa: E402

BASIC = "Basic " + base64.b64encode(b"zagreb:s3 cret:x").decode()
SECRETS = ("s3 cret", "t0ken", base64.b64encode(b"zagreb:s3 cret:x").decode())


@pytest.fixture(scope="module")
def filters(tmp_path_factory):
    path = tmp_path_factory.mktemp("filters") / "f.seen"
    build(path, ["http://a.example/"])
    return path.read_bytes()


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """An authority, a server's certificate of it, and a client's."""
    where = tmp_path_factory.mktemp("keys")

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=where, check=True, stderr=subprocess.DEVNULL)
    new = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    openssl(*new, "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    for name in ("server", "client"):
        openssl(*new, "-subj", "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1,IP:127.0.0.2",
                "-CA", "ca.pem", "-CAkey", "ca.key", "-keyout", name + ".key", "-out", name + ".pem")
    return where


def context(keys, wants=False):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(keys / "server.pem", keys / "server.key")
    if wants:
        tls.verify_mode = ssl.CERT_REQUIRED
        tls.load_verify_locations(keys / "ca.pem")
    else:
        tls.verify_mode = ssl.CERT_OPTIONAL          # it asks, and would take one
        tls.load_verify_locations(keys / "ca.pem")
    return tls


class Guarded:
    """Only for those who say the right word."""

    def __init__(self, body, word):
        self.answer, self.word = File(body, {"ETag": '"1"'}), word

    def __call__(self, talk):
        if talk.headers.get("authorization") == self.word:
            self.answer(talk)
        else:
            talk.answer(b"who are you?\n", 401)


class Run:
    def __init__(self, folder, lines, *words, code=0, mode=0o600, keys=None):
        file = folder / "credentials"
        file.write_text("# who we are\n\n" + "\n".join(lines) + "\n")
        file.chmod(mode)
        more = ("--ca", keys / "ca.pem") if keys else ()
        done = subprocess.run([SEEN, "harvest", *words, "--into", folder / "in", "--credentials", file,
                               "--allow-private", "--timeout", "2s", *more],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.out, self.err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == code, self.out + self.err
        said = self.out + self.err + "".join(
            path.read_text(errors="replace") for path in (folder / "in").rglob("*.json"))
        for secret in SECRETS:
            assert secret not in said


def host(web):
    return web.base.split("//")[1]


def told(web):
    return {talk.path for talk in web.log if "authorization" in talk.headers}


def test_a_token_and_a_password_open_the_door_and_are_kept_between_redirects_of_a_host(filters, keys, tmp_path):
    with Web(tls=context(keys)) as web:
        for path, word in (("/b/x.seen", "Bearer t0ken"), ("/a/y.seen", BASIC)):
            web["/moved" + path] = redirect(path)
            web[path] = Guarded(filters, word)
        web["/b/s.xml"] = Guarded(urlset(url(web("/moved/b/x.seen"))), "Bearer t0ken")
        web["/a/s.xml"] = Guarded(urlset(url(web("/moved/a/y.seen"))), BASIC)
        run = Run(tmp_path, [], web("/b/s.xml"), keys=keys, code=2)
        assert "is answered with 401: it wants credentials" in run.err
        Run(tmp_path, [host(web) + " bearer t0ken"], web("/b/s.xml"), keys=keys)
        Run(tmp_path, ["HTTPS://%s\tbasic zagreb:s3 cret:x  " % host(web)], web("/a/s.xml"), keys=keys)
        assert {path.name for path in (tmp_path / "in").glob("*.seen")} == {"x.seen", "y.seen"}
        assert Run(tmp_path, [host(web) + " bearer t0ken"], web("/b/s.xml"), keys=keys).out == \
            "x.seen: unchanged\n"


def test_a_client_certificate_opens_the_door(filters, keys, tmp_path):
    with Web(tls=context(keys, wants=True)) as web:
        web.serve("/x.seen", filters)
        web["/s.xml"] = page(urlset(url(web("/x.seen"))), "application/xml")
        Run(tmp_path, [], web("/s.xml"), keys=keys, code=2)
        assert not web.log
        (keys / "client.key").chmod(0o644)
        run = Run(tmp_path, ["%s cert %s/client.pem %s/client.key" % (host(web), keys, keys)],
                  web("/s.xml"), keys=keys)
        assert "client.key: others can read this file of secrets; chmod 600" in run.err
        assert (tmp_path / "in/x.seen").read_bytes() == filters
        (keys / "client.key").chmod(0o600)
        # Beside the file of credentials, both in one.
        (tmp_path / "both.pem").write_bytes((keys / "client.pem").read_bytes() + (keys / "client.key").read_bytes())
        (tmp_path / "both.pem").chmod(0o600)
        run = Run(tmp_path, [host(web) + " cert both.pem"], web("/s.xml"), keys=keys)
        assert run.out == "x.seen: unchanged\n" and "secrets" not in run.err


@pytest.mark.parametrize("how", ["redirect of a list", "redirect of a filter", "a list names it",
                                 "another scheme", "another port", "there and back"])
def test_nobody_else_is_told(filters, keys, tmp_path, how):
    shown = []                                  # certificates
    with Web(tls=context(keys)) as web, Web(host="127.0.0.2", tls=context(keys)) as stranger, \
            Web(tls=context(keys)) as port, Web() as plain:
        lines = [host(web) + " bearer t0ken", "%s cert %s/client.pem %s/client.key" % (host(web), keys, keys)]
        other = {"another scheme": plain, "another port": port}.get(how, stranger)
        for one in (stranger, port, plain):
            one["/x.seen"] = lambda talk: (shown.append(certificate(talk)), File(filters, {})(talk))
            one["/s.xml"] = page(urlset(url(web("/x.seen"))), "application/xml")
        web.serve("/x.seen", filters)
        web["/s.xml"] = page(urlset(url(other("/x.seen"))), "application/xml")
        if how == "redirect of a list":
            web["/s.xml"] = redirect(other("/s.xml"))
        elif how in ("redirect of a filter", "another scheme", "another port"):
            web["/x.seen"] = redirect(other("/x.seen"))
            web["/s.xml"] = page(urlset(url(web("/x.seen"))), "application/xml")
        elif how == "there and back":
            web["/s.xml"] = page(urlset(url(web("/away/x.seen"))), "application/xml")
            web["/away/x.seen"] = redirect(other("/back"))
            other["/back"] = redirect(web("/x.seen"))
        Run(tmp_path, lines, web("/s.xml"), keys=keys)
        assert (tmp_path / "in/x.seen").read_bytes() == filters
        assert other.log and not told(stranger) and not told(port) and not told(plain)
        assert not any(shown)
        assert "/s.xml" in told(web)
        if how == "there and back":
            assert told(web) == {"/s.xml", "/away/x.seen"}


def certificate(talk):
    return talk.sock.getpeercert() if isinstance(talk.sock, ssl.SSLSocket) else None


def test_a_host_without_a_scheme_is_https(filters, tmp_path):
    with Web() as web:
        web["/x.seen"] = Guarded(filters, "Bearer t0ken")
        Run(tmp_path, [host(web) + " bearer t0ken"], web("/x.seen"), code=2)
        assert not told(web)
        Run(tmp_path, ["http://%s bearer t0ken" % host(web)], web("/x.seen"))
        assert told(web) == {"/x.seen"}


def test_a_file_that_others_can_read_is_warned_about(filters, tmp_path):
    with Web() as web:
        web.serve("/x.seen", filters)
        for mode in (0o644, 0o640, 0o602):
            run = Run(tmp_path, ["a.example bearer t0ken"], web("/x.seen"), mode=mode)
            assert "credentials: others can read this file of secrets; chmod 600" in run.err
        assert "secrets" not in Run(tmp_path, ["a.example bearer t0ken"], web("/x.seen")).err


@pytest.mark.parametrize("line, reason", [
    ("a.example", "is not HOST bearer TOKEN"), ("a.example bearer", "is not HOST bearer TOKEN"),
    ("a.example digest t0ken", "is not HOST bearer TOKEN"), ("a.example bearer t0ken s3 cret", "one word"),
    ("a.example basic s3 cret", "USER:PASSWORD"), ("a.example basic :s3 cret", "USER:PASSWORD"),
    ("https://a.example/path bearer t0ken", "without path"), ("u@a.example bearer t0ken", "without path"),
    ("ftp://a.example bearer t0ken", "host"), ("a.example:25 bearer t0ken", "host that can be fetched"),
    ("a.example cert no.pem no.key", "no.pem cannot be read"),
    ("http://a.example cert credentials", "needs https"),
    ("a.example bearer t0ken\na.example:443 bearer t0ken", "line 4: this host has such a line"),
    ("a.example bearer t0ken\nA.EXAMPLE basic u:s3 cret", "this host has such a line"),
    ("a.example bearer t0ken\x01", "a byte that it cannot have")])
def test_a_file_that_cannot_be_understood_is_refused_before_anything_is_sent(tmp_path, line, reason):
    run = Run(tmp_path, line.split("\n"), "http://127.0.0.1:1/", code=2)
    assert "line " in run.err and reason in run.err
    assert not (tmp_path / "in").exists()
