"""place.py - folders and processes for the servers of tests."""
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time


def user_of(name):
    """The arguments that run a command as this user: none unless we are root."""
    if os.geteuid() or not name:
        return []
    pwd.getpwnam(name)
    return ["runuser", "-u", name, "--"]


def make_folder(folder, owner=None):
    """An empty folder for the owner: this one or, if the way to it is closed to the owner, one below /tmp."""
    folder = os.path.abspath(folder)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    if not user_of(owner):
        return folder
    shutil.chown(folder, owner, owner)
    if subprocess.run(user_of(owner) + ["test", "-w", folder], cwd="/").returncode:
        os.rmdir(folder)
        folder = tempfile.mkdtemp(prefix="seen-server-")
        shutil.chown(folder, owner, owner)
    return folder


def wait_until(ready, seconds, complaint):
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise RuntimeError(complaint())
        time.sleep(0.02)


def lives(pid):
    """Is there such a process, and is it not a zombie?"""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def end(pid, sign=signal.SIGTERM, seconds=20):
    """End a process, and wait until it has ended."""
    for number, patience in ((sign, seconds), (signal.SIGKILL, 5)):
        if not lives(pid):
            return
        os.kill(pid, number)
        try:
            wait_until(lambda: not lives(pid), patience, str)
            return
        except RuntimeError:
            pass
    raise RuntimeError("process %d does not end" % pid)


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
