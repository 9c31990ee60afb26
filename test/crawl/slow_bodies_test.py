"""Hosts that send large bodies up to their last bytes, and then take their time: what they may cost."""
import base64
import contextlib
import hashlib
import json
import os
import signal
import subprocess
import threading

from crawling import Answer, Crawl, Site, page
from work_test import stop
from working import Team, until

MB = 1 << 20


class Slow(Site):
    """Hosts 127.3.0.1 and above send zeros but for the last `kept` bytes, which come after let_go(). Their requests are
    in `stuck` from then on. 127.2.0.1 has innocent pages."""

    INNOCENT = "127.2.0.1"

    def __init__(self, hosts, size, pages=300, kept=MB // 2):
        super().__init__({}, "0.0.0.0")
        self.hosts, self.size, self.kept, self.count = hosts, size, kept, pages
        self.free, self.stuck, self.answered = threading.Event(), set(), set()
        self.digest = base64.b32encode(hashlib.sha1(bytes(size)).digest()).decode()

    def name(self, host):
        return "127.3.0.%d" % (host + 1)

    def urls(self):
        return ["http://%s:%d/" % (one, self.server_address[1])
                for one in [self.name(host) for host in range(self.hosts)] + [self.INNOCENT]]

    def __exit__(self, *why):
        self.let_go()
        super().__exit__(*why)

    def let_go(self):
        self.free.set()

    def template(self, folder):
        path = folder / "slow.json"
        path.write_text(json.dumps({"name": "slow", "start": self.urls()}))
        return str(path)

    def answer(self, handler):
        host = handler.headers["Host"].split(":")[0]
        if handler.path == "/robots.txt":
            return super().answer(handler)
        if host == self.INNOCENT:
            with self.lock:
                self.answered.add(handler.path)
            return Answer(page(*["/%d" % n for n in range(1, self.count)], title=handler.path))
        handler.send_response(200)
        handler.send_header("Content-Type", "application/octet-stream")
        handler.send_header("Content-Length", str(self.size))
        handler.end_headers()
        zeros = bytes(MB)
        for at in range(0, self.size - self.kept, MB):
            handler.wfile.write(zeros[:min(MB, self.size - self.kept - at)])
        with self.lock:
            self.stuck.add(host)
        self.free.wait(240)
        handler.wfile.write(zeros[:self.kept])
        return True

    def is_held_up(self):
        """All slow hosts have sent what they send, and the innocent one is done all the same."""
        return len(self.stuck) == self.hosts and len(self.answered) == self.count


@contextlib.contextmanager
def started(command, **how):
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, **how)
    try:
        yield run
    finally:
        if run.returncode is None:
            run.kill()
            run.wait()


def wait_for(run, true):
    """Until a function returns something that is true."""
    assert until(lambda: true() or run.poll() is not None) and run.poll() is None, "it ended with %s" % run.returncode


def peak_of(run):
    """Bytes that a process had in memory, so far."""
    with open("/proc/%d/status" % run.pid) as file:
        return [int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:")][0]


def end_of(run):
    """Its exit code and its peak."""
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    return run.returncode, used.ru_maxrss << 10


def files_in(run, folder):
    """How many files of this folder a process has open."""
    names = []
    for fd in os.listdir("/proc/%d/fd" % run.pid):
        with contextlib.suppress(FileNotFoundError):
            names.append(os.readlink("/proc/%d/fd/%s" % (run.pid, fd)))
    return sum(os.path.dirname(name) == str(folder) for name in names)


# Sanitizers take more for everything, and keep what is freed for a while.
MOST = (700 if os.environ.get("ASAN_OPTIONS") or os.environ.get("TSAN_OPTIONS") else 400) * MB


def test_forty_slow_hosts_take_little_memory_and_keep_nobody_waiting(tmp_path):
    with Slow(40, 15 * MB) as site:
        crawl = Crawl(tmp_path / "c", *site.urls())
        with started(crawl.command("--timeout", "240s"), stderr=crawl.errors) as run:
            wait_for(run, lambda: site.is_held_up() or peak_of(run) >= MOST)
            assert peak_of(run) < MOST
            site.let_go()
            code, peak = end_of(run)
        assert code == 0 and peak < MOST, (code, peak >> 20, crawl.err)
        # Whole, and as they were sent.
        large = [entry for _, entry in crawl.index() if entry["url"] in site.urls()[:-1]]
        assert len(large) == site.hosts
        assert {entry["digest"] for entry in large} == {site.digest}
        assert not [line for line in crawl.log() if "cut:" in line[-1]]
        assert crawl.report()["pages"] == site.hosts + site.count


@contextlib.contextmanager
def worker_of(team, site, tmp_path, temporary):
    """A worker without --into, which has the visit of a site."""
    team.enqueue("--delay", "0", "--pause", "1s", "--timeout", "240s", site.template(tmp_path))
    with open(tmp_path / "errors", "wb") as errors:
        with started(team.command("--drain"), env={**os.environ, "TMPDIR": str(temporary)}, stderr=errors) as run:
            yield run


def test_a_worker_keeps_them_in_a_folder_for_temporary_files(tmp_path):
    temporary = tmp_path / "t"
    temporary.mkdir()
    with Slow(12, 6 * MB, pages=50) as site:
        team = Team(tmp_path)
        with worker_of(team, site, tmp_path, temporary) as run:
            wait_for(run, site.is_held_up)
            wait_for(run, lambda: files_in(run, temporary) >= 12 - 32 // 6)
            assert [name for name in os.listdir(temporary) if not name.startswith("seen-reading-")] == []
            site.let_go()
            assert end_of(run)[0] == 0, (tmp_path / "errors").read_text()
        assert len(team.records()[0]) == site.hosts + site.count


def test_without_room_they_are_put_off_and_fetched_when_there_is_some(tmp_path):
    with Slow(12, 6 * MB, pages=50) as site:
        team = Team(tmp_path)
        with worker_of(team, site, tmp_path, tmp_path / "missing") as run:
            wait_for(run, lambda: len(site.answered) == site.count)
            wait_for(run, lambda: "put off" in (tmp_path / "errors").read_text())
            site.let_go()
            assert end_of(run)[0] == 0, (tmp_path / "errors").read_text()
        said = (tmp_path / "errors").read_text()
        assert said.count("large answers are put off until there is room for them") == 1, said
        assert str(tmp_path / "missing") in said
        # Nothing was lost, nothing was cut, and no host was blamed.
        records = team.records()[0]
        assert len(records) == site.hosts + site.count
        assert {one["_status"] for one in records} == {200}


def test_what_was_held_when_a_lease_ended_does_not_count_for_ever(tmp_path):
    """More than 64 MB are in memory or in files then, and are asked for again."""
    with Slow(5, 15 * MB, pages=50) as site:
        team = Team(tmp_path, lease=1)
        with worker_of(team, site, tmp_path, tmp_path) as run:
            wait_for(run, lambda: len(site.stuck) == site.hosts)
            stop(run, tmp_path / "work.db")
            until(lambda: not any(one["alive"] for one in team.status()["workers"]))
            run.send_signal(signal.SIGCONT)
            number = ":%d" % run.pid
            wait_for(run, lambda: any(one["alive"] and one["name"].endswith(number) for one in team.status()["workers"]))
            site.let_go()
            assert end_of(run)[0] == 0, (tmp_path / "errors").read_text()
        assert len(team.records()[0]) == site.hosts + site.count


def test_hosts_are_not_to_blame_for_a_lack_of_descriptors(tmp_path):
    """80 hosts answer when all that may be under way with 64 descriptors are."""
    with Site({"/": lambda handler: Answer(page("/a")), "/a": page()}, "0.0.0.0") as site:
        urls = ["http://127.4.0.%d:%d/" % (1 + i, site.server_address[1]) for i in range(80)]
        crawl = Crawl(tmp_path / "c", *urls)
        site.hold(0, answered=True)
        limited = ["prlimit", "--nofile=64", *crawl.command("--pause", "0s", "--retries", "0", "--threads", "1")]
        with subprocess.Popen(limited, stdout=subprocess.DEVNULL, stderr=crawl.errors) as run:
            try:
                until(lambda: "requests are put off until there is room for them" in crawl.err or run.poll() is not None)
            finally:
                site.release()
            assert run.wait(240) == 0, crawl.err
        counts = crawl.report()
        assert crawl.urls() == sorted(urls + [url + "a" for url in urls])
        assert not counts["failed"] and not counts["left"], counts
