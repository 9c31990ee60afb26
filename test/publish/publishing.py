"""publishing.py - a folder to publish, and its lists as they are read.

    site = Site(tmp_path)
    site.build("haw.seen", 1000)
    site.publish("--deltas", 2)
    assert site.sitemap()["haw.seen"].length == 32896

Every list is read by a parser of XML that knows nothing of us.
"""
import hashlib
import json
import os
import subprocess
import urllib.parse
import xml.etree.ElementTree as ET

SEEN = os.path.abspath(os.environ.get("SEEN", "build/seen"))
MAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
RS = "{http://www.openarchives.org/rs/terms/}"
DC = "{http://purl.org/dc/elements/1.1/}"
TERMS = "{http://purl.org/dc/terms/}"
ELEMENTS = {"title", "creator", "subject", "description", "publisher", "contributor", "date", "type",
            "format", "identifier", "source", "language", "relation", "coverage", "rights"}
BASE = "https://haw.example/bloom-filter/"
PATCH = "http://www.openarchives.org/rs/terms/patch"


def urls(first, last):
    return "".join(f"http://h{i % 7}.example/{i}\n" for i in range(first, last)).encode()


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Entry:
    """A <url> of a list."""

    def __init__(self, element, base):
        names = [child.tag for child in element]
        assert names[0] == MAP + "loc"          # the order of the schema
        assert MAP + "lastmod" not in names[2:]
        self.loc = element.find(MAP + "loc").text
        assert self.loc.startswith(base)
        self.path = urllib.parse.unquote(self.loc[len(base):])
        self.lastmod = element.findtext(MAP + "lastmod")
        self.md = element.find(RS + "md").attrib
        self.sha256 = self.md.get("hash", "").replace("sha-256:", "")
        self.length = int(self.md.get("length", 0))
        self.dc = {e.tag[len(DC):]: e.text for e in element if e.tag.startswith(DC)}
        assert set(self.dc) <= ELEMENTS         # the fifteen that there are
        self.dc |= {e.tag[len(TERMS):]: e.text for e in element if e.tag.startswith(TERMS)}
        links = {e.attrib["rel"]: e.attrib for e in element.findall(RS + "ln")}
        assert set(links) <= {PATCH, "alternate"}
        self.patch, self.text = links.get(PATCH), links.get("alternate")
        for link in links.values():
            assert link["href"].startswith(base)
        if self.patch:
            self.patch_path = urllib.parse.unquote(self.patch["href"][len(base):])


class Site:
    def __init__(self, folder, base=BASE):
        self.folder, self.base = folder / "site", base
        self.folder.mkdir()

    def __truediv__(self, name):
        return self.folder / name

    def run(self, *words, stdin=b"", codes=(0,)):
        done = subprocess.run([SEEN, *map(str, words)], input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        assert done.returncode in codes, (words, done.returncode, done.stderr.decode())
        return done

    def build(self, name, n=1000, *options, capacity=20000):
        (self / name).parent.mkdir(parents=True, exist_ok=True)
        self.run("build", "--quiet", "-o", self / name, "--profile", "raw", *options,
                 *(("--capacity", capacity) if capacity else ()), "-", stdin=urls(0, n))

    def add(self, name, first, last):
        self.run("add", self / name, "-i", "-", stdin=urls(first, last))

    def publish(self, *options, codes=(0,)):
        """Publish, and check what must always be true; the report."""
        done = self.run("publish", self.folder, "--url", self.base, "--json", *options,
                        codes=codes)
        report = json.loads(done.stdout)
        report["said"] = done.stderr.decode()
        if "--dry-run" not in options:
            self.check()
        return report.get("sum", {}) | {"files": report["files"], "said": report["said"]}

    def tree(self, name):
        return ET.parse(self / name).getroot()

    def entries(self, name):
        """Of a list, or of all that it is split into."""
        root = self.tree(name)
        if root.tag == MAP + "sitemapindex":
            parts = [e.text[len(self.base):] for e in root.iter(MAP + "loc")]
            return [e for part in parts for e in self.entries(part)]
        assert root.tag == MAP + "urlset"
        return [Entry(e, self.base) for e in root.findall(MAP + "url")]

    def sitemap(self):
        return {e.path: e for e in self.entries("sitemap.xml")}

    def changes(self, path=None):
        return [e for e in self.entries("changelist.xml") if path in (None, e.path)]

    def check(self, settled=True, gone=frozenset()):
        """Lists name what is there, but for what was removed since; and, if the
        last run came to its end, nothing is left over."""
        if not (self / "sitemap.xml").exists():
            return
        for path in set(self.sitemap()) - gone:
            assert (self / path).exists()
        announced = set()
        if (self / "changelist.xml").exists():
            for e in self.changes():
                if e.patch:
                    announced.add(e.patch_path)
                    assert sha256(self / e.patch_path) == e.patch["hash"][len("sha-256:"):]
                    assert (self / e.patch_path).stat().st_size == int(e.patch["length"])
        if settled:
            there = {str(p.relative_to(self.folder)) for p in self.folder.glob("deltas/**/*")
                     if p.is_file()}
            assert there == announced
            assert not list(self.folder.rglob("*.new"))
            assert not list(self.folder.rglob("*.lock"))

    def snapshot(self):
        """All lists, as bytes and dates."""
        return {p.name: (p.read_bytes(), p.stat().st_mtime_ns, p.stat().st_ino)
                for p in [*self.folder.glob("*.xml"), self / ".well-known/resourcesync"]}
