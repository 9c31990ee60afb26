"""injected.py - run a program with a fault, by inject.c.

    done = run(["check", "f.seen"], folder, Fault("read", 3, "EIO"))
    done.code, done.out, done.err, done.calls["read"], done.faults
"""
import collections
import errno
import os
import signal
import struct
import subprocess

# The program that has all commands: the calls of one that becomes another one are
# not those of one process.
SEEN = os.path.join(os.path.dirname(os.path.abspath(os.environ.get("SEEN", "build/seen"))), "seen-all")
BUILD = os.path.abspath(os.environ.get("SEEN_BUILD", os.path.dirname(SEEN)))
SHIM = os.path.join(BUILD, "test", "libinject.so")

CLASSES = ["read", "write", "sync", "rename", "open", "size", "map", "close", "lock", "link", "list",
           "stat", "memory", "change"]      # as in inject.c
SECONDS = 20                                # after which a program hangs

Done = collections.namedtuple("Done", "code out err calls faults trace")


class Fault:
    """The Nth call of a class, or all from the Nth, and what becomes of it."""

    def __init__(self, kind, at, action, on=False):
        self.kind, self.at, self.action, self.on = kind, at, action, on

    def __str__(self):
        return "%s %d%s %s" % (self.kind, self.at, "+" if self.on else "", self.action)

    @property
    def kills(self):
        return self.action == "kill"

    def setting(self):
        action = self.action
        if action not in ("short", "kill", "stop"):
            action = getattr(errno, action)
        return "%s:%d:%s:%s" % (self.kind, self.at, "-" if self.on else self.at, action)


def environment(report, fault):
    """For a program that is to meet a fault."""
    it = dict(os.environ, LD_PRELOAD=SHIM, SEEN_FAULT_REPORT=report, LC_ALL="C")
    if fault:
        it["SEEN_FAULT"] = fault.setting()
    return it


def read_report(path):
    """Calls per class, faults that were made, and the stack of the first."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        data = b""
    head = 8 * (len(CLASSES) + 1)
    if len(data) < head:
        return {name: 0 for name in CLASSES}, 0, ""
    numbers = struct.unpack("=%dQ" % (len(CLASSES) + 1), data[:head])
    return (dict(zip(CLASSES, numbers)), numbers[-1],
            data[head:].split(b"\0", 1)[0].decode())


def run(words, folder, fault=None, stdin=b"", injected=True):
    """Run seen in a folder. The files beside the folder are the test's."""
    out, err, report = (str(folder) + end for end in (".out", ".err", ".report"))
    with open(str(folder) + ".in", "wb") as file:
        file.write(stdin)
    with open(out, "wb") as to, open(err, "wb") as said, open(str(folder) + ".in", "rb") as source:
        process = subprocess.Popen([SEEN, *words], cwd=folder, stdin=source, stdout=to, stderr=said,
                                   env=environment(report, fault) if injected else None)
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait(60)
            code = "hangs"
    with open(out, "rb") as file:
        printed = file.read()
    with open(err, "rb") as file:
        said = file.read().decode(errors="replace")
    calls, faults, trace = read_report(report) if injected else ({}, 0, "")
    return Done(code, printed, said, calls, faults, trace)


def symbols(trace, most=14):
    """A stack in functions and lines, for people."""
    found = []
    for line in trace.splitlines()[:30]:
        path, offset = line.rsplit("+", 1)
        if path == SHIM:
            continue
        name = os.path.basename(path)
        if path in (SEEN, "build/seen-all"):
            got = subprocess.run(["addr2line", "-fse", SEEN, hex(int(offset, 16) - 1)],
                                 capture_output=True, text=True).stdout.split()
            name = " ".join(got) if got else name
        found.append("      " + name + ("" if path == SEEN else "+" + offset))
    return "\n".join(found[:most])
