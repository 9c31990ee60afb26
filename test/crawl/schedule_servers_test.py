"""schedule_servers_test.py - a scheduler whose server goes away and comes back."""
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.environ["SEEN_SOURCE"], "test", "servers"))
from postgres import shared_postgres
from proxy import Proxy
from rabbitmq import shared_rabbitmq

SEEN = os.environ["SEEN"]
LONGEST = 240   # seconds


class Scheduler:
    def __init__(self, folder, url):
        self.folder, self.url, self.jobs = folder, url, "jobs-%d-%s" % (os.getpid(), folder.name)
        (folder / "t").mkdir()
        (folder / "t" / "often.json").write_text(
            '{"start": "http://a.example/", "interval": "1s"}', encoding="utf-8")
        self.out, self.err = open(folder / "out", "w+b"), open(folder / "err", "w+b")
        self.process = subprocess.Popen(
            [SEEN, "schedule", "--templates", str(folder / "t"), "--queue", url, "--jobs", self.jobs],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err)

    def ids(self):
        return (self.folder / "out").read_text(encoding="utf-8").split()

    def complaint(self):
        return (self.folder / "err").read_text(encoding="utf-8")

    def wait_for(self, ready):
        end = time.monotonic() + LONGEST
        while not ready():
            assert self.process.poll() is None and time.monotonic() < end, self.complaint()
            time.sleep(0.02)

    def wait_for_more(self, count):
        before = len(self.ids())
        self.wait_for(lambda: len(self.ids()) >= before + count)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(5)
        finally:
            self.process.kill()
            self.out.close()
            self.err.close()


def on_postgres():
    """The port of the server, and its URL by another port."""
    server = shared_postgres()
    own = server.database("schedule").replace("postgres@", "postgres:hidden@")
    return server.port, lambda port: own.replace(":%d/" % server.port, ":%d/" % port)


def on_rabbitmq():
    server = shared_rabbitmq()
    return server.port, lambda port: server.url(port=port)


def stats(url, name):
    """{queue: messages that may be taken} of the one with this name."""
    done = subprocess.run([SEEN, "queue", "stats", name, "--queue", url, "--json"], capture_output=True, text=True,
                          timeout=LONGEST)
    assert done.returncode < 2, done.stderr
    return {one["queue"]: one["ready"] for one in json.loads(done.stdout)}


@pytest.mark.parametrize("servers", [on_postgres, on_rabbitmq])
def test_a_server_that_goes_away_is_waited_for(tmp_path, servers):
    port, url = servers()
    with Proxy(port) as proxy:
        proxy.refuse = True     # it is not up yet
        scheduler = Scheduler(tmp_path, url(proxy.port))
        try:
            scheduler.wait_for(lambda: "jobs wait for it" in scheduler.complaint())
            assert not scheduler.ids()
            proxy.refuse = False
            scheduler.wait_for_more(2)
            proxy.refuse = True
            proxy.cut()
            time.sleep(2)
            proxy.refuse = False
            scheduler.wait_for_more(2)
            proxy.silent = True     # a signal ends it also while it waits
            time.sleep(1.2)
            assert scheduler.end() == 0
        finally:
            scheduler.process.kill()
    times = [int(re.fullmatch("often@([0-9]+)", one)[1]) for one in scheduler.ids()]
    assert times == sorted(set(times))
    assert stats(url(port), scheduler.jobs)[scheduler.jobs] >= len(times)
    assert stats(url(port), "nothing-" + scheduler.jobs) == {}
    complaint = scheduler.complaint()
    assert "hidden" not in complaint and "guest" not in complaint
    assert complaint.count("jobs wait for it") <= 2
