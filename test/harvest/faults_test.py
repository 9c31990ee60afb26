"""faults_test.py - a harvest that is killed, or whose disk fails, at any step.

Four filters are in a folder: a is announced in a new version, b as text, p with
a patch, and c is withdrawn. The harvest of all that is disturbed at one call
(test/fault/inject.c). Whatever happens,

  - a, b and p are the old or the new one, byte for byte, and c is whole or gone;
  - exit 0 means that all was done, and exit 2 has words;
  - the next harvest finishes the work and leaves nothing over.

Of all calls some are disturbed; with SEEN_FAULTS=all, all.
"""
import os
import shutil
import subprocess
import sys

import pytest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), part) for part in ("", "../serve", "../fault")]
from hostile import Web, digest, page, url, urlset  # noqa: E402
from injected import SHIM, Fault, run, symbols  # noqa: E402
from serving import SANITIZED, SEEN, build  # noqa: E402

# What becomes of which calls, and of every which in the short form.
FAULTS = {"change": ("kill", 11), "sync": ("EIO", 7), "rename": ("EIO", 4), "write": ("ENOSPC", 7),
          "open": ("EMFILE", 23), "stat": ("EIO", 43), "read": ("EIO", 31), "link": ("EIO", 22),
          "list": ("EIO", 3), "map": ("ENOMEM", 4)}
pytestmark = pytest.mark.skipif(SANITIZED or not os.path.exists(SHIM), reason="cannot be preloaded")


class Before:
    """A web and a folder between two versions."""

    def __init__(self, where, web):
        self.where, self.web, self.version, text = where, web, {}, {}
        for k in (1, 2):
            path = where / "x.seen"
            build(path, ["http://a.example/%d" % i for i in range(100 * k)], "--capacity", "2000")
            self.version[k] = path.read_bytes()
            subprocess.run([SEEN, "convert", "--quiet", path, "-o", where / "x.csv"], check=True)
            text[k] = (where / "x.csv").read_bytes()
        self.words = ["harvest", web("/s.xml"), web("/site/"), "--into", "in", "--allow-private",
                      "--timeout", "5s", "--remove-withdrawn"]
        self.start = where / "start"
        self.start.mkdir()
        for k in (1, 2):
            self.announce(k, text)
            if k == 1:
                assert run(self.words, self.start, injected=False).code == 0

    def announce(self, k, text):
        data, site = self.version[k], self.where / "site"
        entries = [url(self.web.serve("/a.seen", data), hash=digest(data), length=len(data)),
                   url(self.web.serve("/b.csv", text[k]))]
        if k == 1:
            entries.append(url(self.web.serve("/c.seen", data)))
        self.web["/s.xml"] = page(urlset(*entries), "application/xml")
        site.mkdir(exist_ok=True)
        (site / "p.seen").write_bytes(data)
        subprocess.run([SEEN, "publish", site, "--url", self.web("/site/"), "--deltas", "2", "--quiet"], check=True)
        for path in site.rglob("*"):
            if path.is_file() and ".publish" not in path.parts:
                self.web.serve("/site/%s" % path.relative_to(site), path.read_bytes())

    def harvest(self, fault=None):
        folder = self.where / "now"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.start, folder)
        return folder, run(self.words, folder, fault)

    def read(self, folder, name):
        path = folder / "in" / (name + ".seen")
        return path.read_bytes() if path.exists() else None

    def wrong(self, folder, done, fault):
        """What is not as it must be."""
        old, new = self.version[1], self.version[2]
        found = [self.read(folder, name) for name in "abpc"]
        if done.code not in (0, 2) and not (fault.kills and done.code == -9):
            yield "ends with %s" % done.code
        if any(data not in (old, new) for data in found[:3]) or found[3] not in (old, None):
            yield "a filter is neither the old nor the new one"
        if done.code == 0 and found != [new, new, new, None]:
            yield "not all was done, and nothing said"
        if done.code == 2 and not done.err:
            yield "no word"
        after = run(self.words, folder, injected=False)
        if after.code or [self.read(folder, name) for name in "abpc"] != [new, new, new, None]:
            yield "the next harvest does not finish it: " + after.err
        left = {path.name for path in (folder / "in/.harvest").iterdir()}
        if left != {"lock", "a.seen.json", "b.seen.json", "p.seen.json"}:
            yield "leaves %s" % sorted(left)


def test_at_any_step_a_filter_is_the_old_one_or_the_new_one(tmp_path):
    with Web() as web:
        before, faults = Before(tmp_path, web), []
        _, done = before.harvest()
        assert done.code == 0 and b"by 1 patch" in done.out, done
        for kind, (action, every) in FAULTS.items():
            every = 1 if os.environ.get("SEEN_FAULTS") == "all" else every
            assert done.calls[kind]
            for at in range(1, done.calls[kind] + 1, every):
                fault = Fault(kind, at, action)
                folder, met = before.harvest(fault)
                faults += ["%s: %s\n%s%s" % (fault, what, met.err, symbols(met.trace))
                           for what in before.wrong(folder, met, fault)]
        assert not faults, "\n".join(faults)
