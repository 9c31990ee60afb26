#!/usr/bin/env python3
"""sweep.py - every command meets every fault, one at a time.

    test/fault/sweep.py                         every fault, about an hour
    test/fault/sweep.py --short                 a sample, as in make test
    test/fault/sweep.py adds                    one scenario
    test/fault/sweep.py adds write              ... and one class of calls
    test/fault/sweep.py adds write:17:ENOSPC    ... and one fault, with all that was said

A scenario runs once undisturbed, which counts its calls; then once per fault.
Whatever the fault, the program must

  - end by itself, not by a signal, and within seconds;
  - end as undisturbed, with the same answers, or with exit code 2 and a message;
  - leave files that are the old or the new ones, with all that was acknowledged;
  - do its work when it is run again, and leave nothing else behind.

Exit code 0 if all of that held.
"""
import argparse
import collections
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import OFFLINE, Wrong, ensure         # noqa: E402
from injected import CLASSES, Fault, run, symbols   # noqa: E402
from server import Serve                            # noqa: E402

# What may become of a call; "+" stands for all calls from the Nth. The number is
# how many faults of this kind the short form tries per scenario.
ACTIONS = [("memory", "ENOMEM", 4), ("read", "EIO", 2), ("write", "ENOSPC", 2), ("sync", "EIO", 2),
           ("rename", "EIO", 1), ("open", "EMFILE", 1), ("size", "ENOSPC", 1), ("map", "ENOMEM", 1),
           ("lock", "ENOLCK", 1), ("link", "EIO", 1), ("list", "EIO", 1), ("stat", "EIO", 0),
           ("close", "EIO", 1), ("change", "kill", 3), ("read", "short", 1), ("write", "short", 1),
           ("read", "EINTR", 0), ("write", "EINTR", 0), ("open", "EACCES", 0),
           ("memory", "ENOMEM+", 0), ("write", "ENOSPC+", 0), ("sync", "EIO+", 0), ("read", "EIO+", 0),
           ("open", "EMFILE+", 0), ("map", "ENOMEM+", 0)]


ALL = dict(OFFLINE, serve=Serve)


def spread(total, most):
    """At most `most` of 1 .. total, over the whole range; the same ones every time."""
    if total <= most:
        return list(range(1, total + 1))
    return sorted({1 + (2 * i + 1) * total // (2 * most) for i in range(most)})


def folder_names(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, _, names in os.walk(folder) for name in names)


class Sweep:
    def __init__(self, scenario, name, base):
        self.scenario, self.name = scenario, name
        self.base = tempfile.mkdtemp(prefix=name + ".", dir=base)
        self.template, self.work = (os.path.join(self.base, x) for x in ("begin", "work"))
        os.mkdir(self.template)
        scenario.prepare(self.template)
        self.fresh()
        self.normal = self.do()
        ensure(self.normal.code in scenario.normal, "undisturbed", name, "ends with", self.normal.code,
               self.normal.err)
        scenario.baseline(self.work, self.normal)
        scenario.after(self.work, self.normal, True)
        self.names = folder_names(self.work)
        self.calls = self.normal.calls
        ensure(self.calls["memory"], "inject.c did not count")

    def fresh(self):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.template, self.work)

    def do(self, fault=None):
        if hasattr(self.scenario, "run"):
            return self.scenario.run(self.work, fault)
        return run(self.scenario.words, self.work, fault, self.scenario.stdin)

    def judge(self, done, fault):
        """How it ended, or Wrong."""
        if done.faults == 0 and not fault.kills:
            return "not reached"
        if self.scenario.excused(done, fault):
            return "excused"
        if fault.kills:
            ensure(done.code == -9 or done.code in self.scenario.normal, "ends with", done.code)
            ended, whole = "killed", done.code != -9
        elif done.code in self.scenario.normal:
            ensure(done.out == self.normal.out, "ends with", done.code, "and other answers:",
                   done.out[-200:], done.err)
            ended, whole = "unharmed", True
        else:
            ensure(done.code == 2, "ends with", done.code, done.err)
            ensure(("\n" + done.err).count("\nseen: "), "ends with 2 and says:", done.err or "nothing")
            ensure("Success" not in done.err, "calls it success:", done.err)
            ended, whole = "refused", False
        self.scenario.after(self.work, done, whole)
        if self.scenario.again:
            then = run(self.scenario.words, self.work, None, self.scenario.stdin, injected=False)
            ensure(then.code in self.scenario.normal, "the next run ends with", then.code, then.err)
            more = set(folder_names(self.work)) - set(self.names)
            if fault.kind == "link" or fault.kills:     # nobody removed it
                more = {name for name in more if not name.endswith(".lock")}
            ensure(not more, "leaves behind", *sorted(more))
            self.scenario.afterwards(self.work)
        return ended

    def one(self, fault):
        self.fresh()
        done = self.do(fault)
        try:
            return self.judge(done, fault), done, None
        except Wrong as why:
            return "WRONG", done, str(why)


def faults(calls, short, only=(), step=1):
    for kind, action, share in ACTIONS:
        if not only or kind in only or kind + ":" + action in only:
            for at in spread(calls[kind], share if short else -(-calls[kind] // step)):
                yield Fault(kind, at, action.rstrip("+"), action.endswith("+"))


def sweep(names, short, base, only=(), step=1, say=print):
    """What was found; says a line per scenario, and the sum."""
    began, findings, total = time.monotonic(), [], collections.Counter()
    for name in names:
        it, ended = Sweep(ALL[name](), name, base), collections.Counter()
        for fault in faults(it.calls, short, only, step):
            how, done, why = it.one(fault)
            ended[how] += 1
            if why:
                findings.append("%s: %s\n      %s\n%s" % (name, fault, why, symbols(done.trace)))
                say(findings[-1])
        total += ended
        say("%-14s %5d calls, %5d faults: %s" % (
            name, sum(it.calls[c] for c in CLASSES[:-1]), sum(ended.values()),
            ", ".join("%d %s" % (n, how) for how, n in sorted(ended.items()))))
    say("%d scenarios, %d faults in %.1f s: %s" % (
        len(names), sum(total.values()), time.monotonic() - began,
        ", ".join("%d %s" % (n, how) for how, n in sorted(total.items()))))
    return findings


def scratch():
    """In memory if possible: a flush then costs nothing."""
    return tempfile.TemporaryDirectory(
        prefix="seen-fault-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


def main():
    options = argparse.ArgumentParser(description="Every command meets every fault, one at a time.")
    options.add_argument("scenario", nargs="?", choices=list(ALL))
    options.add_argument("what", nargs="?", help="CLASS, CLASS:ACTION or CLASS:N:ACTION")
    options.add_argument("--short", action="store_true", help="some faults of each kind, as in make test")
    options.add_argument("--step", type=int, default=1, metavar="N", help="every Nth fault only")
    given = options.parse_args()
    names = [given.scenario] if given.scenario else list(ALL)
    with scratch() as base:
        if given.what and given.what.count(":") == 2:
            kind, at, action = given.what.split(":")
            fault = Fault(kind, int(at.rstrip("+")), action, at.endswith("+"))
            how, done, why = Sweep(ALL[names[0]](), names[0], base).one(fault)
            print("exit code %s, %d faults: %s" % (done.code, done.faults, how), why or "")
            print(done.out.decode(errors="replace")[-2000:] + done.err + symbols(done.trace))
            return why is not None
        return bool(sweep(names, given.short, base, [given.what] if given.what else (), given.step,
                          lambda text: print(text, flush=True)))


if __name__ == "__main__":
    sys.exit(main())
