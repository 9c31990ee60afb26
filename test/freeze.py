"""freeze.py - a process that stands still."""
import os
import signal
import time


def freeze(pid):
    """SIGSTOP, and wait: until the kernel has told all threads, one may still answer."""
    os.kill(pid, signal.SIGSTOP)
    for _ in range(20000):
        states = []
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/stat" % (pid, task), encoding="ascii", errors="replace") as f:
                states.append(f.read().rpartition(")")[2].split()[0])
        if set(states) == {"T"}:
            return
        time.sleep(0.005)
    raise AssertionError("%d is not stopped: %s" % (pid, states))
