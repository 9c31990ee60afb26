#!/usr/bin/env python3
"""power.py - the power is cut while a command writes, on a real file system.

    test/fault/power.py --cuts 200              as root; some seconds

A file system (ext4) in a file is mounted by a loop device. A command works in
it and is stopped before one of its calls that change the disk. Then the file
system is shut down as by a power cut (FS_IOC_SHUTDOWN): what was not flushed is
gone, except for pages that the kernel happened to write. The command is killed,
the file system mounted again, its journal replayed, and the files are looked at:

  - all that was acknowledged is there; what dedup remembers is in its output;
  - files are the old or the new ones, and open without a complaint;
  - the command can be run again, and leaves nothing else behind.

Cuts go through the calls of each command from the first to the last, each time
with another choice of:

  - pages that reach the disk though nobody flushed them: none, all, or some;
  - the file system's own journal: lost since its last flush, or written.

The server is cut at moments that the clock chooses, while clients add.

Exit code 0 if all of that held, 77 if this system cannot do it.
"""
import argparse
import collections
import ctypes
import fcntl
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import commands                                                 # noqa: E402
from commands import OFFLINE, Wrong, ensure, holds, lines       # noqa: E402
from injected import SEEN, Done, Fault, environment, run        # noqa: E402
from server import Client, Resp, TOKEN                          # noqa: E402

SHUTDOWN = 0x8004587d               # FS_IOC_SHUTDOWN
JOURNAL_WRITTEN, JOURNAL_LOST = 1, 2
MEGABYTES = 48
LIBC = ctypes.CDLL(None, use_errno=True)


class Skip(Exception):
    pass


def system(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise Skip("%s: %s" % (" ".join(words), done.stderr.strip() or done.returncode))


class Disk:
    """A file system that can lose its power."""

    def __init__(self, base):
        self.image, self.at = os.path.join(base, "disk"), os.path.join(base, "mounted")
        self.mounted = False
        os.mkdir(self.at)
        with open(self.image, "wb") as file:
            file.truncate(MEGABYTES << 20)
        system("mkfs.ext4", "-q", "-b", "4096", self.image)
        self.mount()

    def mount(self):
        system("mount", "-o", "loop", self.image, self.at)
        self.mounted = True

    def unmount(self):
        for _ in range(200):
            if subprocess.run(["umount", self.at], capture_output=True).returncode == 0:
                self.mounted = False
                return
            time.sleep(0.01)
        raise Skip("cannot unmount")

    def flush(self):
        fd = os.open(self.at, os.O_RDONLY)
        LIBC.syncfs(fd)
        os.close(fd)

    def write_pages(self, rnd, share):
        """Let some pages reach the disk that nobody has flushed."""
        for folder, _, names in os.walk(self.at):
            for name in names:
                try:
                    fd = os.open(os.path.join(folder, name), os.O_RDONLY)
                except OSError:
                    continue
                for page in range(-(-os.fstat(fd).st_size // 4096)):
                    if rnd.random() < share:
                        LIBC.sync_file_range(fd, ctypes.c_longlong(page * 4096),
                                             ctypes.c_longlong(4096), 7)
                os.close(fd)

    def cut(self, how):
        fd = os.open(self.at, os.O_RDONLY)
        fcntl.ioctl(fd, SHUTDOWN, struct.pack("i", how))
        os.close(fd)

    def back(self):
        """The power is back."""
        self.unmount()
        self.mount()


class Cutter:
    """One scenario, cut as often as wanted."""

    def __init__(self, disk, base, name):
        self.disk, self.base, self.name = disk, base, name
        self.scenario = OFFLINE[name]()
        self.template = os.path.join(base, name)
        os.mkdir(self.template)
        self.scenario.prepare(self.template)
        self.work = os.path.join(disk.at, "work")
        self.fresh()
        normal = run(self.scenario.words, self.work, None, self.scenario.stdin)
        ensure(normal.code in self.scenario.normal, "undisturbed", name, "ends with", normal.err)
        self.scenario.baseline(self.work, normal)
        self.names = self.listed()
        self.total = normal.calls["change"]

    def listed(self):
        return {os.path.relpath(os.path.join(at, name), self.work)
                for at, _, names in os.walk(self.work) for name in names}

    def fresh(self):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.template, self.work)
        self.disk.flush()

    def cut(self, at, rnd):
        """Returns what was chosen; raises Wrong."""
        self.fresh()
        share, how = rnd.choice([0, 0, 1, 0.5]), rnd.choice([JOURNAL_LOST, JOURNAL_LOST, JOURNAL_WRITTEN])
        # The output is a file on the disk, or the ears of somebody who noted what was acknowledged.
        prints = os.path.join(self.disk.at if "dedup" in self.name else self.base, "printed")
        with open(os.path.join(self.base, "in"), "wb") as file:
            file.write(self.scenario.stdin)
        with open(prints, "wb") as out, open(os.path.join(self.base, "in"), "rb") as source:
            process = subprocess.Popen([SEEN, *self.scenario.words], cwd=self.work, stdin=source, stdout=out,
                                       stderr=subprocess.DEVNULL,
                                       env=environment(self.base + "/report", Fault("change", at, "stop")))
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        stopped = os.WIFSTOPPED(status)
        if share:
            self.disk.write_pages(rnd, share)
        self.disk.cut(how)
        if stopped:
            os.kill(process.pid, signal.SIGKILL)
            os.waitpid(process.pid, 0)
        process.returncode = 0      # it was waited for
        self.disk.back()
        printed = b""
        if os.path.exists(prints):
            with open(prints, "rb") as file:
                printed = file.read()
        whole = not stopped and os.WEXITSTATUS(status) in self.scenario.normal
        self.scenario.after(self.work, Done(0, printed, "", {}, 0, ""), whole)
        if self.scenario.again:
            then = run(self.scenario.words, self.work, None, self.scenario.stdin, injected=False)
            ensure(then.code in self.scenario.normal, "the next run ends with", then.code, then.err)
            more = self.listed() - self.names
            ensure(not more, "leaves behind", *sorted(more))
        return "%.0f %% of the pages, journal %s" % (100 * share, "written" if how == 1 else "lost")


class ServerCutter:
    """The server, while two clients add over both protocols."""
    name, total = "serve", 10

    def __init__(self, disk, base):
        self.disk, self.base = disk, base
        self.work = os.path.join(disk.at, "work")
        with open(os.path.join(base, "token"), "w") as file:
            os.chmod(file.name, 0o600)
            file.write("kruskovac\n")

    def add(self, port, kind, promised):
        try:
            client = Resp(port, 5) if kind == "g" else Client(port, 5)
            if kind == "g":
                client.do("AUTH", "kruskovac")
            for i in range(100000):
                urls = ["http://%s.example/%d/%d" % (kind, i, j) for j in range(1 + i % 7)]
                if kind == "g":
                    good = isinstance(client.do("BF.MADD", "g", *urls), list)
                else:
                    good = client.ask("POST", "/add/a", headers=TOKEN, body="\n".join(urls)).status == 200
                if not good:
                    return
                promised.extend(urls)
        except (OSError, EOFError, AssertionError, ValueError):
            pass

    def cut(self, at, rnd):
        shutil.rmtree(self.work, ignore_errors=True)
        os.mkdir(self.work)
        commands.build(self.work, "a.seen", commands.OLD, "--capacity", "100000")
        commands.build(self.work, "g.seen", commands.OLD, "--kind", "growing/bloom", "--capacity", "500")
        self.disk.flush()
        share, how = rnd.choice([0, 1, 0.5]), rnd.choice([JOURNAL_LOST, JOURNAL_WRITTEN])
        server = subprocess.Popen([SEEN, "serve", "--listen", "127.0.0.1:0", "--threads", "2", "-w", "--token",
                                   os.path.join(self.base, "token"), "."], cwd=self.work,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        port = int(server.stderr.readline().split(":")[3].split("/")[0])
        promised = {"a": [], "g": []}
        clients = [threading.Thread(target=self.add, args=(port, kind, urls))
                   for kind, urls in promised.items()]
        for client in clients:
            client.start()
        time.sleep(0.02 + rnd.random() * 0.2)
        if share:
            self.disk.write_pages(rnd, share)
        self.disk.cut(how)
        time.sleep(0.01)            # a server that goes on does not acknowledge any more
        server.kill()
        server.wait(60)
        server.stderr.close()
        for client in clients:
            client.join()
        self.disk.back()
        for kind, urls in promised.items():
            holds(self.work, kind + ".seen", commands.OLD + urls)
        self.adds = sum(map(len, promised.values()))
        return "%d adds acknowledged" % self.adds


NAMES = ["adds", "add-few", "add-growing", "add-kept", "add-new", "add-counting", "remove", "dedup", "dedup-new", "build-list", "merge",
         "convert-text", "convert-back", "publish", "serve"]


def cuts_of(disk, base, names, cuts, say):
    findings, total, adds = [], collections.Counter(), 0
    for i, name in enumerate(names):
        it = ServerCutter(disk, base) if name == "serve" else Cutter(disk, base, name)
        share = cuts // len(names) + (i < cuts % len(names))
        for j in range(share):
            rnd = random.Random("%s %d" % (name, j))
            at = 1 + j * it.total // share if share < it.total else 1 + j % (it.total + 1)
            try:
                what = it.cut(at, rnd)
                total["right"] += 1
                adds += getattr(it, "adds", 0)
            except Wrong as why:
                total["WRONG"] += 1
                findings.append("%s, cut %d before call %d: %s" % (name, j, at, why))
                say(findings[-1])
                if not disk.mounted:
                    disk.mount()
        say("%-14s %4d calls, %4d cuts" % (name, it.total, share))
    say("%d scenarios, %d power cuts: %s; the server had acknowledged %d adds" % (
        len(names), sum(total.values()), ", ".join("%d %s" % (n, how) for how, n in sorted(total.items())), adds))
    return findings


def main():
    options = argparse.ArgumentParser(description="Cut the power while a command writes.")
    options.add_argument("--cuts", type=int, default=200, metavar="N")
    options.add_argument("scenario", nargs="*", choices=NAMES + [[]])
    given = options.parse_args()
    if os.geteuid() != 0:
        print("power.py: skipped: only root can mount")
        return 77
    with tempfile.TemporaryDirectory(prefix="seen-power-", dir="/dev/shm" if os.path.isdir("/dev/shm")
                                     else None) as base:
        disk = None
        try:
            disk = Disk(base)
            return bool(cuts_of(disk, base, given.scenario or NAMES, given.cuts,
                                lambda text: print(text, flush=True)))
        except (Skip, FileNotFoundError) as why:
            print("power.py: skipped:", why)
            return 77
        finally:
            if os.path.ismount(os.path.join(base, "mounted")):
                subprocess.run(["umount", "-l", os.path.join(base, "mounted")], check=False)


if __name__ == "__main__":
    sys.exit(main())
