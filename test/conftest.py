"""conftest.py - no test waits for a process without an end.

A wait that has no timeout of its own gets a long one: a program that hangs fails its test, with the line that waited for
it, and the tests after it still run.
"""
import subprocess

LONGEST = 240       # seconds


class Popen(subprocess.Popen):
    def wait(self, timeout=None):
        return super().wait(LONGEST if timeout is None else timeout)

    def communicate(self, input=None, timeout=None):
        return super().communicate(input, LONGEST if timeout is None else timeout)


subprocess.Popen = Popen        # run() and its kin use it, too
