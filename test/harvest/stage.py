"""stage.py - where the cases of hostile_*_test.py are played.

Every case begins with a folder into which two filters were harvested, x and
good. Then x, or the list that names it, turns hostile, while good changes to
its next version. Of each case it is asserted that

  - the harvest reports what is wrong, in words, and exits with 2;
  - good is updated all the same;
  - x stays byte for byte, also with --remove-withdrawn;
  - nothing is written outside the folder, and nothing odd into it;
  - with no more than 64 MB of memory (RLIMIT_DATA: all but the maps);
  - nothing connected to the forbidden ports.

In a case that `recovers` harm is tried, but the right file can be had: then
it must be.

    cases = Cases()

    @cases.add("not found")
    def a_filter_that_is_gone(s):
        s.web["/x.seen"] = status(404)
        return s.entry("x", 2)          # what the sitemap has about x
"""
import os
import re
import resource
import socket
import subprocess
import sys

import pytest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "../serve")]
from hostile import Trap, Web, digest, page, url, urlset  # noqa: E402
from serving import SANITIZED, SEEN, build  # noqa: E402

MEMORY = 64 << 20


@pytest.fixture(scope="session")
def filters(tmp_path_factory):
    """Two versions of two filters, as bytes."""
    where, made = tmp_path_factory.mktemp("filters"), {}
    for name, capacity in (("x", 20000), ("good", 3000)):
        for version in (1, 2):
            path = where / "f.seen"
            build(path, ["http://%s.example/%d" % (name, i) for i in range(400 * version)],
                  "--capacity", str(capacity))
            made[name, version] = path.read_bytes()
            path.unlink()
    return made


class Stage:
    """A web, a folder to harvest into, and traps beside the way."""

    def __init__(self, where, web, filters):
        self.web, self.filters, self.where = web, filters, where
        self.folder = where / "harvested" / "filters"
        self.folder.parent.mkdir()
        (where / "harvested" / "passwd.seen").write_bytes(b"not yours")
        self.traps = [Trap(), Trap("127.0.0.2")]
        if socket.has_ipv6:
            try:
                self.traps.append(Trap("::1", socket.AF_INET6))
            except OSError:
                pass
        self.trap = "127.0.0.1:%d" % self.traps[0].port
        self.trap_port = self.traps[0].port

    def harvest(self, *words, timeout="1s"):
        def limit():
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        done = subprocess.run([SEEN, "harvest", *words, "--into", self.folder, "--timeout", timeout,
                               "--allow", "127.0.0.1:%d" % self.web.port],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit,
                              timeout=120, cwd=self.where)
        self.said = done.stderr.decode()
        self.printed = done.stdout.decode()
        assert "\x1b" not in self.said + self.printed
        return done.returncode

    def entry(self, name, version, **other):
        data = self.filters[name, version]
        values = {"hash": digest(data), "length": len(data), "type": "application/vnd.seen", **other}
        return url(self.web("/%s.seen" % name), "2026-11-0%dT10:00:00Z" % version, **values)

    def begin(self, hostile):
        """Both, as they were before."""
        for name in ("x", "good"):
            self.web.serve("/%s.seen" % name, self.filters[name, 1])
        self.web.serve("/good.xml", urlset(self.entry("good", 1)))
        self.web[hostile] = page(urlset(self.entry("x", 1)), "application/xml")
        code = self.harvest(self.web(hostile), self.web("/good.xml"), timeout="30s")
        assert code == 0, self.said
        self.web.serve("/good.seen", self.filters["good", 2])
        self.web.serve("/x.seen", self.filters["x", 2])
        self.web.serve("/good.xml", urlset(self.entry("good", 2)))
        self.before = self.outside()

    def outside(self):
        return {path: path.read_bytes() for path in self.where.rglob("*")
                if path.is_file() and self.folder not in path.parents}

    def read(self, name):
        return (self.folder / (name + ".seen")).read_bytes()

    def judge(self, x=1):
        """What must be true whatever happened."""
        assert self.read("good") == self.filters["good", 2], self.said
        assert self.read("x") == self.filters["x", x], self.said
        assert self.outside() == self.before
        names = {path.name for path in self.folder.iterdir()}
        assert names <= {"x.seen", "good.seen", ".harvest"}, names
        for path in (self.folder / ".harvest").iterdir():
            assert re.fullmatch(r"lock|(x|good)\.seen\.(json|part)", path.name), path
        for trap in self.traps:
            assert trap.count() == 0, "somebody went where nobody may go"

    def end(self):
        for trap in self.traps:
            trap.close()


@pytest.fixture
def stage(tmp_path, filters):
    with Web() as web:
        stage = Stage(tmp_path, web, filters)
        yield stage
        stage.end()


# Addresses that are forbidden, in all their spellings.
SPELLINGS = {
    "file": "file:///etc/passwd",
    "gopher": "gopher://{trap}/_x",
    "ftp": "ftp://{trap}/x.seen",
    "data": "data:application/octet-stream,x",
    "dict": "dict://{trap}/",
    "another_port": "http://{trap}/x.seen",
    "without_scheme": "//{trap}/x.seen",
    "short_spelling": "http://127.1:{port}/x.seen",
    "hexadecimal": "http://0x7f000001:{port}/x.seen",
    "decimal": "http://2130706433:{port}/x.seen",
    "octal": "http://0177.0.0.1:{port}/x.seen",
    "full_width": "http://\uff11\uff12\uff17.0.0.1:{port}/x.seen",
    "another_loopback": "http://127.0.0.2:{second}/x.seen",
    "localhost": "http://localhost:{port}/x.seen",
    "localhost_with_dot": "http://localhost.:{port}/x.seen",
    "nothing": "http://0.0.0.0:{port}/x.seen",
    "ipv6_loopback": "http://[::1]:{sixth}/x.seen",
    "ipv6_mapped": "http://[::ffff:127.0.0.1]:{port}/x.seen",
    "ipv6_mapped_hex": "http://[::ffff:7f00:1]:{port}/x.seen",
    "ipv6_compatible": "http://[::127.0.0.1]:{port}/x.seen",
    "nat64": "http://[64:ff9b::7f00:1]:{port}/x.seen",
    "link_local": "http://169.254.169.254/latest/meta-data/",
    "private_10": "http://10.0.0.1/x.seen",
    "private_172": "http://172.16.0.1/x.seen",
    "private_192": "http://192.168.1.1/x.seen",
    "carrier": "http://100.64.0.1/x.seen",
    "ipv6_link_local": "http://[fe80::1]/x.seen",
    "ipv6_private": "http://[fc00::1]/x.seen",
    "a_user": "http://u:p@{trap}/x.seen",
}


def spelled(s, name):
    return SPELLINGS[name].format(trap=s.trap, port=s.trap_port, second=s.traps[1].port,
                                  sixth=s.traps[-1].port)


class Cases(dict):
    """Functions by their names, with the words that the refusal must have."""

    def add(self, reason, recovers=False, name=None):
        def register(function):
            assert (name or function.__name__) not in self
            self[name or function.__name__] = function, reason, recovers
            return function
        return register

    def play(self, stage, case, names_list):
        """`names_list`: the function gives entries; otherwise it is the list."""
        function, reason, recovers = self[case]
        stage.words, stage.up = [], None
        stage.begin("/hostile.xml")
        entries = function(stage)
        if names_list:
            stage.web["/hostile.xml"] = page(urlset(entries, up=stage.up), "application/xml")
        for _ in range(5):
            code = stage.harvest(stage.web("/hostile.xml"), stage.web("/good.xml"), "--remove-withdrawn",
                                 *stage.words)
            if re.search("stall|slow", reason) or not re.search("stalled|too slowly", stage.said):
                break       # else this process was too slow for it
        if "--dry-run" in stage.words:
            assert "good.seen: would be updated" in stage.printed
            said = stage.said
            assert stage.harvest(stage.web("/good.xml")) == 0
            stage.said = said
        if recovers:
            assert code == 0, stage.said
        else:
            assert code == 2 and re.search(reason, stage.said), stage.said
        stage.judge(x=2 if recovers else 1)
