"""conftest.py - no test waits for a process without an end, and one that fails shows what its commands said.

A limit of time only bounds a hang: on a busy machine everything takes its time. So a wait for a process has at least
LONGEST seconds. A program that hangs fails its test, with the line that waited for it, and the tests after it still run.

The report of a test that fails has the commands that it ran, with their exit codes and the ends of what they printed,
also where the test had captured that and thrown it away.
"""
import os
import select
import subprocess
import tempfile

import pytest

LONGEST = 240           # seconds
SHOWN, END = 12, 2000   # commands; bytes of each output


class Popen(subprocess.Popen):
    started = []        # in this test, and those that run since an earlier one

    def __init__(self, args, *more, **how):
        if how.get("stderr") == subprocess.DEVNULL:
            how["stderr"] = tempfile.TemporaryFile()    # nobody reads it, unless the test fails
        self.outputs = [how.get("stdout"), how.get("stderr")]
        self.ends = [b"", b""]
        super().__init__(args, *more, **how)
        self.started.append(self)

    def wait(self, timeout=None):
        return super().wait(max(timeout or 0, LONGEST))

    def communicate(self, input=None, timeout=None):
        both = super().communicate(input, max(timeout or 0, LONGEST))
        self.ends = [one[-END:] if one else b"" for one in both]
        return both

    def tell(self):
        """The command, its exit code, and what it said."""
        words = self.args if isinstance(self.args, (str, bytes)) else " ".join(map(os.fsdecode, map(_plain, self.args)))
        code = "runs" if self.returncode is None else "exit code %d" % self.returncode
        lines = ["$ %s    [%s]" % (words, code)]
        for name, end, pipe, output in zip(("stdout", "stderr"), self.ends, (self.stdout, self.stderr), self.outputs):
            end = end or _rest_of(pipe) or _end_of(output)
            if isinstance(end, bytes):
                end = end.decode(errors="replace")
            if end:
                lines.append("--- %s\n%s" % (name, end.rstrip("\n")))
        return "\n".join(lines)


subprocess.Popen = Popen        # run() and its kin use it, too


def _plain(word):
    return word if isinstance(word, (str, bytes, os.PathLike)) else str(word)


def _rest_of(pipe):
    """What nobody has read from a pipe."""
    rest = b""
    try:
        while pipe and not pipe.closed and select.select([pipe], [], [], 0)[0]:
            piece = os.read(pipe.fileno(), 1 << 16)
            if not piece:
                break
            rest = (rest + piece)[-END:]
    except (OSError, ValueError):
        pass
    return rest


def _end_of(output):
    """The end of a file that a command wrote to."""
    try:
        if isinstance(getattr(output, "name", None), str):
            with open(output.name, "rb") as file:
                file.seek(max(0, os.path.getsize(output.name) - END))
                return file.read()
        if hasattr(output, "fileno"):
            return os.pread(output.fileno(), END, max(0, os.fstat(output.fileno()).st_size - END))
    except (OSError, ValueError):
        pass
    return b""


def pytest_runtest_setup(item):
    Popen.started[:] = [one for one in Popen.started if one.returncode is None]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if not report.failed or not Popen.started:
        return
    for one in Popen.started:
        if one.returncode is None:
            one.poll()
    wrong = [one for one in Popen.started if one.returncode != 0]
    shown = [one for one in Popen.started if one in wrong[-SHOWN:] or one in Popen.started[-SHOWN:]]
    report.sections.append(("%d of %d commands" % (len(shown), len(Popen.started)),
                            "\n".join(one.tell() for one in shown)))
