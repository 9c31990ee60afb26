"""ports.py - ports for servers that cannot choose one by themselves.

A port that the kernel has chosen and that is closed again may be given to another
process before the server listens there. So these are below the range from
which the kernel chooses. A process that got one has it until it ends: a Unix socket
with the number of the port in its name, which the kernel removes with the process,
keeps the other tests off, also while a server is down or not up yet.
"""
import itertools
import os
import socket

FIRST = 10000
numbers = itertools.count(os.getpid() * 16)
claims = {}


def claim(port):
    """Is it ours, and does nobody listen there?"""
    mark = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        mark.bind("\0seen-test-port-%d" % port)
        with socket.socket() as s:
            s.bind(("", port))
    except OSError:
        mark.close()
        return False
    claims[port] = mark
    return True


def free_port():
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        end = int(file.read().split()[0])
    assert end > FIRST, "the kernel leaves no ports to choose from"
    for _ in range(end - FIRST):
        port = FIRST + next(numbers) % (end - FIRST)
        if claim(port):
            return port
    raise AssertionError("all ports from %d to %d are in use" % (FIRST, end - 1))
