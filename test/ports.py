"""ports.py - ports for servers that cannot choose one by themselves.

A port that the kernel has chosen and that is closed again may be given to another
process before the server listens there. So these are below the range from
which the kernel chooses, and processes that run at the same time try different
ones.
"""
import itertools
import os
import socket

FIRST = 10000
numbers = itertools.count(os.getpid() * 16)


def free_port():
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        end = int(file.read().split()[0])
    assert end > FIRST, "the kernel leaves no ports to choose from"
    while True:
        port = FIRST + next(numbers) % (end - FIRST)
        try:
            with socket.socket() as s:
                s.bind(("", port))
                return port
        except OSError:
            pass
