"""publish_servers_test.py - nginx and Apache serve what was published.

The settings are those of doc/sharing.md, taken out of it: what a reader
copies is what is tested.
"""
import email.utils
import http.client
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import xml.etree.ElementTree as ET

import pytest
from publishing import MAP, RS, Site, sha256

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port  # noqa: E402

ROOT = os.environ.get("SEEN_SOURCE", os.getcwd())
PATHS = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
NGINX, APACHE = shutil.which("nginx", path=PATHS), shutil.which("apache2", path=PATHS)
MODULES = "/usr/lib/apache2/modules"

NGINX_CONFIG = """
daemon off;
worker_processes 1;
{user}
pid {work}/pid;
error_log {work}/error.log;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {work}/body;
    proxy_temp_path {work}/proxy;
    fastcgi_temp_path {work}/fastcgi;
    uwsgi_temp_path {work}/uwsgi;
    scgi_temp_path {work}/scgi;
    server {{
        listen 127.0.0.1:{port};
        {snippet}
    }}
}}
"""

APACHE_CONFIG = """
ServerRoot {work}
PidFile {work}/pid
ErrorLog {work}/error.log
Mutex file:{work}
ServerName localhost
Listen 127.0.0.1:{port}
{user}
{modules}
TypesConfig /dev/null
DocumentRoot {work}/root
<Directory "{work}/root">
    Require all granted
</Directory>
{snippet}
"""


def snippet(language, folder):
    """The settings for a server, as the document has them, for this folder."""
    text = open(os.path.join(ROOT, "doc/sharing.md"), encoding="utf-8").read()
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)
    assert len(found) == 1 and "/srv/haw" in found[0]
    return found[0].replace("/srv/haw", str(folder))


def start(kind, work, folder, port):
    (work / "root").mkdir(parents=True)
    root = os.getuid() == 0
    if kind == "nginx":
        config = NGINX_CONFIG.format(work=work, port=port, snippet=snippet("nginx", folder),
                                     user="user root;" if root else "")
        command = [NGINX, "-c", work / "config", "-p", work, "-e", work / "error.log"]
    else:
        names = [n for n in ("mpm_event", "authz_core", "alias", "mime", "dir")
                 if os.path.exists(f"{MODULES}/mod_{n}.so")]
        config = APACHE_CONFIG.format(
            work=work, port=port, snippet=snippet("apache", folder),
            modules="\n".join(f"LoadModule {n}_module {MODULES}/mod_{n}.so" for n in names),
            user="User www-data\nGroup www-data" if root else "")
        command = [APACHE, "-f", work / "config", "-d", work, "-X"]
    (work / "config").write_text(config)
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Web:
    def __init__(self, port):
        self.port = port

    def get(self, path, method="GET", **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        c.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = c.getresponse()
        answer.body = answer.read()
        c.close()
        return answer


@pytest.fixture(params=["nginx", "apache"])
def served(request):
    """A published folder behind a server, and the server."""
    if not (NGINX if request.param == "nginx" else APACHE):
        pytest.skip(f"{request.param} is not installed")
    # Not in pytest's own folder, which the user of a server may not enter.
    base = pathlib.Path(tempfile.mkdtemp(prefix="seen-served-"))
    base.chmod(0o755)
    port = free_port()
    site = Site(base, f"http://127.0.0.1:{port}/bloom-filter/")
    site.build("haw.seen", 1000)
    site.build("sub/x.seen", 100)
    site.publish("--deltas", 2)
    site.add("haw.seen", 1000, 1100)
    # Apache does not vouch for an ETag of what changed within the last second.
    for name in ("haw.seen", "sub/x.seen"):
        os.utime(site / name, (time.time() - 100, time.time() - 100))
    site.publish()
    process = start(request.param, base / "work", site.folder, port)
    try:
        for _ in range(3000):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None, process.stderr.read().decode()
                time.sleep(0.02)
        else:
            pytest.fail("it does not listen")
        yield site, Web(port)
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()
        shutil.rmtree(base)


def test_lists_and_files_are_served_as_what_they_are(served):
    site, web = served
    types = {"sitemap.xml": "xml", "changelist.xml": "xml", "capabilitylist.xml": "xml",
             ".well-known/resourcesync": "xml", "haw.seen": "application/vnd.seen",
             "sub/x.seen": "application/vnd.seen",
             urllib.parse.quote(site.changes("haw.seen")[-1].patch_path):
                 "application/vnd.seen-delta"}
    for path, kind in types.items():
        answer = web.get("/bloom-filter/" + path)
        assert answer.status == 200, path
        assert answer.body == (site / urllib.parse.unquote(path)).read_bytes()
        assert answer.headers["Content-Type"].endswith(kind), (path, answer.headers)
        assert answer.headers["ETag"] and answer.headers["Last-Modified"]
    assert web.get("/bloom-filter/none.seen").status == 404


def test_the_way_from_well_known_leads_to_every_file(served):
    site, web = served

    def locs(url):
        assert url.startswith(site.base) or url.endswith("/.well-known/resourcesync")
        answer = web.get(urllib.parse.urlsplit(url).path)
        assert answer.status == 200
        return [(u.findtext(MAP + "loc"), u.find(RS + "md").attrib)
                for u in ET.fromstring(answer.body).findall(MAP + "url")]

    [(lists, _)] = locs(f"http://127.0.0.1:{web.port}/.well-known/resourcesync")
    where = {md["capability"]: loc for loc, md in locs(lists)}
    for loc, md in locs(where["resourcelist"]):
        path = urllib.parse.urlsplit(loc).path
        answer = web.get(path)
        assert answer.status == 200 and len(answer.body) == int(md["length"])
        name = urllib.parse.unquote(path[len("/bloom-filter/"):])
        assert md["hash"] == "sha-256:" + sha256(site / name)
    assert len(locs(where["changelist"])) == 3


def test_downloads_are_resumed_and_saved(served):
    site, web = served
    whole = (site / "haw.seen").read_bytes()
    first = web.get("/bloom-filter/haw.seen", Range="bytes=0-999")
    assert first.status == 206 and first.body == whole[:1000]
    assert first.headers["Content-Range"] == f"bytes 0-999/{len(whole)}"
    etag, date = first.headers["ETag"], first.headers["Last-Modified"]
    assert not etag.startswith("W/")
    rest = web.get("/bloom-filter/haw.seen", Range="bytes=1000-", If_Range=etag)
    assert rest.status == 206 and first.body + rest.body == whole
    other = web.get("/bloom-filter/haw.seen", Range="bytes=1000-", If_Range='"another"')
    assert other.status == 200 and other.body == whole
    assert web.get("/bloom-filter/haw.seen", If_None_Match=etag).status == 304
    assert web.get("/bloom-filter/haw.seen", If_Modified_Since=date).status == 304
    assert web.get("/bloom-filter/haw.seen", method="HEAD").headers["Content-Length"] == \
        str(len(whole))


def test_a_list_that_says_nothing_new_is_not_sent_again(served):
    site, web = served
    answer = web.get("/bloom-filter/sitemap.xml")
    assert answer.status == 200, (answer.status, answer.headers.items(), answer.body)
    date = answer.headers["Last-Modified"]
    assert abs(email.utils.parsedate_to_datetime(date).timestamp() - time.time()) < 3600
    time.sleep(1.1)
    site.publish("--rehash")
    assert web.get("/bloom-filter/sitemap.xml", If_Modified_Since=date).status == 304
    site.add("haw.seen", 2000, 2100)
    site.publish()
    assert web.get("/bloom-filter/sitemap.xml", If_Modified_Since=date).status == 200


def test_what_is_ours_alone_is_not_served(served):
    site, web = served
    (site / "haw.seen.journal").write_bytes(b"x")
    (site / "sub/x.seen.lock").write_bytes(b"x")
    version = next(p for p in (site / ".publish/versions").rglob("*") if p.is_file())
    for path in ("haw.seen.journal", "sub/x.seen.lock", ".publish/state.json",
                 ".publish/lock", str(version.relative_to(site.folder))):
        assert web.get("/bloom-filter/" + path).status in (403, 404), path


def test_it_is_harvested_in_full_and_then_by_deltas(served, tmp_path):
    site, web = served
    for n in range(2):
        site.run("harvest", site.base, "--into", tmp_path / "into", "--allow-private", "--quiet")
        found = {sha256(p) for p in (tmp_path / "into").rglob("*.seen")}
        assert {sha256(site / "haw.seen"), sha256(site / "sub/x.seen")} <= found
        site.add("haw.seen", 3000 + n, 3100 + n)
        site.publish()
