"""service_test.py - what an operator does to a server: addresses and sockets,
signals, logs, troubles, health, metrics, and a first write without a token."""
import contextlib
import ctypes
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from serving import SEEN, Client, Server, build, until, worked

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from ports import free_port  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
HELD = "http://a.example/"
TOKEN = {"Authorization": "Bearer kruskovac"}


def fails(folder, *words, **how):
    """What a server says that does not start."""
    done = subprocess.run([SEEN, "serve", *words], cwd=folder, stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=60, **how)
    assert done.returncode == 2, done.stderr
    return done.stderr.decode()


class UnixClient(Client):
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.left = b""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    it = tmp_path_factory.mktemp("service")
    (it / "filters").mkdir()
    build(it / "filters" / "haw.seen", [HELD])
    (it / "token").write_text("kruskovac\n")
    return it


@pytest.fixture(scope="module")
def server(folder):
    """One that has everything."""
    with Server(folder, "--listen", "unix:http.sock", "--redis", "127.0.0.1:0", "--redis",
                "unix:redis.sock", "--socket-mode", "600", "-w", "--token", "none", "--token",
                "token", "--log", "log", "--log-format", "json", "--proxy", "127.0.0.1", "--proxy",
                "unix", "--threads", "2", "filters", quiet=False, trouble=True) as it:
        until(lambda: "unix:redis.sock" in it.said)
        it.redis = int(re.search(r"also at port (\d+)", it.said).group(1))
        yield it
    assert it.troubles == []


ASIDE = []


def aside(test):
    """A test that mostly waits for clocks: all of these run at once, while others go on."""
    def collect(running):
        running[test].result(120)
    ASIDE.append(test)
    return collect


@pytest.fixture(scope="module", autouse=True)
def running(folder, server, tmp_path_factory):
    with ThreadPoolExecutor(len(ASIDE)) as pool:
        yield {test: pool.submit(test, folder, server, tmp_path_factory.mktemp("aside"))
               for test in ASIDE}


def logged(server, mark):
    """The line of the log about a request whose target has this mark."""
    def find():
        with open(os.path.join(server.folder, "log")) as file:
            found = [json.loads(line) for line in file]
        return [line for line in found if mark in (line["target"] or line["other"] or "")]
    return until(find)[0]


# --- addresses ---

def test_addresses_of_all_forms(folder):
    ports = [free_port() for _ in range(4)]
    with Server(folder, "--listen", ports[0], "--listen", ":%d" % ports[1], "--listen",
                "[::1]:%d" % ports[2], "--listen", "localhost:%d" % ports[3], "filters",
                quiet=False) as server:
        until(lambda: server.said.count("\n") == 4)
        said = server.said.splitlines()
        assert said[0] == "seen: serving at http://127.0.0.1:%d/" % ports[0]
        assert said[1] in ["seen: serving at http://%s:%d/" % (at, ports[1])
                           for at in ("[::]", "0.0.0.0")]
        assert said[2] == "seen: serving at http://[::1]:%d/" % ports[2]
        for port in ports[:2]:
            with Client(port) as client:
                assert client.get("/haw/" + HELD).status == 200
        with socket.create_connection(("::1", ports[2])) as six:
            six.sendall(b"GET /haw/%s HTTP/1.0\r\n\r\n" % HELD.encode())
            assert six.recv(12) == b"HTTP/1.1 200"


@pytest.mark.parametrize("address", [
    "", ":", "*", "unix", "a:b", "127.0.0.1:", "127.0.0.1:-1", "65536", ":65536", "::1:8080",
    "[::1]", "[]:80", "[::1:80", " 8080", "8080 ", "0x50", "127.0.0.1:80:80", "http://a:80",
    "x" * 300 + ":80"])
def test_bad_addresses_are_refused(folder, address):
    assert "is not ADDRESS:PORT" in fails(folder, "--listen", address, "filters")


def test_other_addresses_that_cannot_be(folder, server):
    assert "Address already in use" in fails(folder, "--listen", str(server.port), "filters")
    assert "cannot listen on 192.0.2.1:80: " in fails(folder, "--listen", "192.0.2.1:80", "filters")
    assert "no.such.invalid:80: " in fails(folder, "--listen", "no.such.invalid:80", "filters")
    assert "at most 32 addresses" in fails(folder, *["--listen", "0"] * 33, "filters")
    for mode in "8", "1777", "", "-1", "6x":
        assert "--socket-mode" in fails(folder, "--socket-mode", mode, "filters")
    for proxy in "localhost", "10.0.0.0/33", "":
        assert "--proxy" in fails(folder, "--proxy", proxy, "filters")


# --- Unix sockets ---

def test_unix_sockets_speak_both_protocols(folder, server):
    assert os.stat(folder / "http.sock").st_mode & 0o7777 == 0o600
    with UnixClient(folder / "http.sock") as client:
        assert client.get("/haw/" + HELD).status == 200
        assert client.get("/robots.txt").text.endswith("http://seen.example/sitemap.xml\n")
    for path in "http.sock", "redis.sock":
        with UnixClient(folder / path) as client:
            client.send("BF.EXISTS haw %s\r\n" % HELD)
            assert client.line() == b":1"
    clients = [UnixClient(folder / "http.sock") for _ in range(50)]
    assert all(client.get("/haw/" + HELD).status == 200 for client in clients)
    for client in clients:
        client.__exit__()


def test_the_file_of_a_unix_socket(folder, tmp_path, server):
    path = tmp_path / "s"
    where = "unix:%s" % path
    with Server(folder, "--listen", where, "filters", quiet=False) as one:
        until(lambda: "s\n" in one.said)
        assert path.stat().st_mode & 0o7777 == 0o660
        assert "another server listens on" in fails(folder, "--listen", where, "filters")
    assert not path.exists(), "it is removed in the end"
    one = Server(folder, "--listen", where, "filters", quiet=False)
    one.__enter__()
    until(lambda: "s\n" in one.said)
    one.kill()
    assert path.exists()
    with Server(folder, "--listen", where, "filters", quiet=False) as two:  # it takes its place
        until(lambda: "s\n" in two.said)
        with UnixClient(path) as client:
            assert client.get("/haw/" + HELD).status == 200
        path.unlink()
        path.write_text("of another program")
    assert path.read_text() == "of another program"
    assert "is not a socket" in fails(folder, "--listen", where, "filters")
    assert path.read_text() == "of another program"
    assert "1 to 107 bytes" in fails(folder, "--listen", "unix:" + "x" * 108, "filters")
    assert "1 to 107 bytes" in fails(folder, "--listen", "unix:", "filters")
    assert "No such file" in fails(folder, "--listen", "unix:%s/none/s" % tmp_path, "filters")


def test_of_servers_that_start_together_one_gets_the_socket(folder, tmp_path):
    """All of them find the file of a dead server."""
    path = tmp_path / "s"
    for _ in range(3):
        dead = socket.socket(socket.AF_UNIX)
        dead.bind(str(path))
        dead.close()
        them = [subprocess.Popen([SEEN, "serve", "--listen", "unix:%s" % path, "--threads", "1",
                                  "filters"], cwd=folder, stderr=subprocess.PIPE) for _ in range(6)]
        said = [it.stderr.readline().decode() for it in them]
        assert sum("serving at" in line for line in said) == 1, said
        assert sum("another server listens" in line for line in said) == 5, said
        with UnixClient(path) as client:
            assert client.get("/haw/" + HELD).status == 200
        for it in them:
            it.terminate()
            it.wait(60)
            it.stderr.close()
        assert not path.exists()


# --- systemd ---

@contextlib.contextmanager
def passed(folder, *sockets, names=None, count=None, pid="$$", words=("filters",)):
    """A server that gets these sockets as systemd passes them."""
    fds = [s.fileno() for s in sockets]
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 50) for fd in fds]
    moves = " ".join("%d<&%d %d<&-" % (3 + i, fd, fd) for i, fd in enumerate(high))
    script = 'LISTEN_PID=%s LISTEN_FDS="%s" %s exec "$@" %s' % (
        pid, len(fds) if count is None else count,
        "LISTEN_FDNAMES='%s'" % names if names is not None else "", moves)
    env = {k: v for k, v in os.environ.items() if not k.startswith("LISTEN_")}
    process = subprocess.Popen(["bash", "-c", script, "bash", SEEN, "serve", "--host", "*",
                                *words], cwd=folder,
                               pass_fds=high, stderr=subprocess.PIPE, env=env)
    for fd in high:
        os.close(fd)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()


def bound(*address):
    s = socket.socket(socket.AF_UNIX if len(address) == 1 else socket.AF_INET)
    s.bind(address[0] if len(address) == 1 else address)
    s.listen()
    return s


def test_sockets_of_systemd_take_the_place_of_the_options(folder, tmp_path):
    path = str(tmp_path / "s")
    tcp, local, redis = bound("127.0.0.1", 0), bound(path), bound("127.0.0.1", 0)
    port, other = tcp.getsockname()[1], redis.getsockname()[1]
    taken = bound("127.0.0.1", 0)       # --listen of a port in use is not tried
    with passed(folder, tcp, local, redis, names="http:unix:redis",
                words=("--listen", "127.0.0.1:%d" % taken.getsockname()[1], "--redis",
                       "127.0.0.1:%d" % taken.getsockname()[1], "filters")) as process:
        said = [process.stderr.readline().decode() for _ in range(3)]
        assert said == ["seen: serving at http://127.0.0.1:%d/\n" % port,
                        "seen: serving at unix:%s\n" % path,
                        "seen: the Redis protocol also at port %d\n" % other]
        for one in tcp, local, redis:
            one.close()                 # only the server has them now
        clients = [Client(port) for _ in range(20)]
        assert all(client.get("/haw/" + HELD).status == 200 for client in clients)
        with UnixClient(path) as client:
            assert client.get("/haw/" + HELD).status == 200
        with Client(other) as client:
            client.send("PING\r\nGET / HTTP/1.1\r\n")
            assert client.line() == b"+PONG" and client.closed()
        with open("/proc/%d/environ" % process.pid, "rb") as file:
            assert b"LISTEN_PID" in file.read()     # of its start
    assert process.returncode == 0
    assert os.path.exists(path), "the file belongs to systemd"


def test_clients_of_a_passed_socket_do_not_disturb_a_server_that_ends(folder):
    """They connect, since systemd still has the socket, and wait for the next server."""
    with bound("127.0.0.1", 0) as tcp, passed(folder, tcp, words=("filters", "--threads",
                                                                  "2")) as process:
        assert "serving at" in process.stderr.readline().decode()
        idle, slow = (Client(tcp.getsockname()[1]) for _ in range(2))
        assert idle.get("/haw/" + HELD).status == 200
        slow.send("POST /agg HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 20\r\n\r\n")
        assert slow.read().status == 100        # it is under way
        slow.send("http://a.e")
        process.terminate()
        assert idle.closed()                    # and the signal has come
        early = [Client(tcp.getsockname()[1]) for _ in range(3)]
        before = worked(process.pid)
        time.sleep(0.7)
        assert worked(process.pid) - before < 0.05
        slow.send("xample/1/2")
        assert slow.read().status == 200
        assert process.wait(60) == 0
        for client in early + [idle, slow]:
            client.socket.close()


def descriptor_of(pid, client):
    """The server's own end of a connection, as a socket of ours: pidfd_getfd(2)."""
    libc, pidfd = ctypes.CDLL(None, use_errno=True), os.pidfd_open(pid)
    try:
        for fd in os.listdir("/proc/%d/fd" % pid):
            mine = libc.syscall(438, pidfd, int(fd), 0)
            if mine < 0:
                continue
            try:
                it = socket.socket(fileno=mine)
            except OSError:             # a file
                os.close(mine)
                continue
            with contextlib.suppress(OSError):
                if it.getpeername() == client.getsockname():
                    return it
            it.close()
    finally:
        os.close(pidfd)


def test_clients_that_came_before_the_server_are_not_delayed_either(folder):
    """TCP_NODELAY is inherited from the listener, but those who queued there do without."""
    with bound("127.0.0.1", 0) as tcp:
        early = Client(tcp.getsockname()[1])
        with passed(folder, tcp) as process:
            assert "serving at" in process.stderr.readline().decode()
            with Client(tcp.getsockname()[1]) as late:
                for client in early, late:
                    assert client.get("/haw/" + HELD).status == 200
                    with descriptor_of(process.pid, client.socket) as its:
                        assert its.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        early.socket.close()


@pytest.mark.parametrize("how", [socket.SHUT_RD, socket.SHUT_RDWR])
def test_a_socket_that_another_program_shuts_down_is_given_up(folder, tmp_path, how):
    """Reported once, with many loops too; the others go on, and when none is left so it ends."""
    with bound("127.0.0.1", 0) as tcp, bound(str(tmp_path / "s")) as local, \
            passed(folder, tcp, local, words=("filters", "--threads", "2")) as process:
        for _ in range(2):
            assert "serving at" in process.stderr.readline().decode()
        port = tcp.getsockname()[1]
        timer = threading.Timer(240, process.kill)       # rather than wait for ever
        timer.daemon = True
        timer.start()
        with Client(port) as old:
            assert old.get("/haw/" + HELD).status == 200
            tcp.shutdown(how)
            said = process.stderr.readline().decode()
            assert said == "seen: 127.0.0.1:%d: another program has shut the socket down\n" % port
            before = worked(process.pid)
            time.sleep(1.2)             # more than a second: it is not said again
            assert worked(process.pid) - before < 0.3
            assert old.get("/haw/" + HELD).status == 200
            with UnixClient(str(tmp_path / "s")) as client:
                assert client.get("/haw/" + HELD).status == 200
        local.shutdown(how)
        rest = process.stderr.read().decode().splitlines()
        assert rest == ["seen: unix:%s: another program has shut the socket down" % (tmp_path / "s"),
                        "seen: serve: no socket is left to listen on"]
        assert process.wait(60) == 2


@pytest.mark.parametrize("how, why", [
    (dict(count="x"), "LISTEN_FDS=x is not a number of sockets"),
    (dict(count="-1"), "LISTEN_FDS=-1 is not a number of sockets"),
    (dict(count="33"), "LISTEN_FDS=33 is not a number of sockets"),
    (dict(count="99999999999999999999"), "is not a number of sockets"),
    (dict(count="2"), "descriptor 4 is not a socket"),
    (dict(pid="x"), "LISTEN_PID=x is not the number of a process"),
    (dict(names="a:b"), "is not a name for each of 1 sockets"),
    (dict(names=""), None), (dict(names="x y"), None)])
def test_nonsense_about_sockets_is_refused(folder, how, why):
    with bound("127.0.0.1", 0) as tcp, passed(folder, tcp, **how) as process:
        said = process.stderr.readline().decode()
        if why:
            assert why in said and process.wait(60) == 2
        else:
            assert "serving at" in said


def test_sockets_that_do_not_listen_are_refused(folder):
    with socket.socket() as idle, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        for one in idle, datagrams:
            with passed(folder, one) as process:
                assert "does not listen for streams" in process.stderr.readline().decode()
                assert process.wait(60) == 2


def test_sockets_for_another_process_are_left_alone(folder):
    with bound("127.0.0.1", 0) as tcp, \
            passed(folder, tcp, pid="1", words=("--listen", "0", "filters")) as process:
        said = process.stderr.readline().decode()
        assert "serving at" in said and str(tcp.getsockname()[1]) not in said


@pytest.mark.skipif(not shutil.which("systemd-socket-activate"), reason="no systemd")
def test_systemd_starts_the_server_with_its_first_client(folder):
    port = free_port()
    process = subprocess.Popen(["systemd-socket-activate", "-l", "127.0.0.1:%d" % port, SEEN,
                                "serve", "--host", "*", "filters"], cwd=folder,
                               stderr=subprocess.PIPE)
    try:
        until(lambda: b"Listening" in process.stderr.readline())
        with Client(port) as client:
            assert client.get("/haw/" + HELD).status == 200
    finally:
        process.terminate()
        assert process.wait(60) == 0
        process.stderr.close()


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_is_told_about_states(folder, tmp_path, abstract):
    name = "\0seen-%d" % os.getpid() if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(name)
        notify.settimeout(240)
        process = subprocess.Popen([SEEN, "serve", "--listen", "0", "filters"], cwd=folder,
                                   stderr=subprocess.DEVNULL,
                                   env={**os.environ, "NOTIFY_SOCKET": name.replace("\0", "@")})
        assert notify.recv(1000) == b"READY=1"
        process.send_signal(signal.SIGHUP)
        assert re.fullmatch(rb"RELOADING=1\nMONOTONIC_USEC=\d+", notify.recv(1000))
        assert notify.recv(1000) == b"READY=1"
        process.terminate()
        assert notify.recv(1000) == b"STOPPING=1"
        assert process.wait(60) == 0


@aside
def test_archives_that_clients_delete_are_not_trouble(folder, server, tmp_path):
    with Server(tmp_path, "-w", "--token", "none", ".", trouble=True) as one:
        with one.client() as client:
            for i in range(5):
                client.send("BF.RESERVE gone%d 0.01 100\r\n" % i)
                assert client.line() == b"+OK"
            time.sleep(1.2)     # the server has seen them
            client.send("DEL gone0 gone1 gone2 gone3 gone4\r\n")
            assert client.line() == b":5"
        time.sleep(3.2)         # three checks
        assert one.troubles == []


# --- signals and logs ---

def logs(folder, log, threads=2):
    return Server(folder, "--log", log, "--log-format", "json", "--threads", threads, "filters",
                  quiet=False)


@aside
def test_sighup_opens_the_log_again_and_reads_the_folder(folder, server, tmp_path):
    log, old = tmp_path / "log", tmp_path / "log.1"
    with logs(folder, log) as one:
        one.get("/haw/before")
        until(lambda: "/haw/before" in log.read_text())
        log.rename(old)
        os.kill(one.pid, signal.SIGHUP)
        until(lambda: "reloaded" in one.said)
        one.get("/haw/after")
        until(lambda: "/haw/after" in log.read_text())
        assert json.loads(log.read_text().splitlines()[-1])["status"] == 404
        assert "/haw/after" not in old.read_text()
        assert one.metrics()["seen_reloads_total"] == 1


@aside
def test_a_log_that_cannot_be_opened_goes_on_in_the_old_file(folder, server, tmp_path):
    """A folder, or a pipe that nobody reads: the server does not wait for it."""
    log, old = tmp_path / "log", tmp_path / "log.2"
    with logs(folder, log) as one:
        log.rename(old)
        for n, (make, end, why) in enumerate(((log.mkdir, log.rmdir, "Is a directory"),
                                              (lambda: os.mkfifo(log), log.unlink, "No such device or address"))):
            make()
            os.kill(one.pid, signal.SIGHUP)
            until(lambda: "cannot write to %s: %s; the log goes on in the old file" % (log, why)
                  in one.said)
            until(lambda: one.metrics()["seen_reloads_total"] == n + 1)     # else two are one
            end()
        one.get("/haw/during")
        until(lambda: "/haw/during" in old.read_text())
    assert "cannot write to" in fails(folder, "--log", ".", "--listen", "0", "filters")


@aside
def test_a_pipe_that_is_not_read_costs_the_log_only(folder, server, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "No such device" in fails(folder, "--log", pipe, "--listen", "0", "filters")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with logs(folder, pipe, threads=1) as one:     # a loop ends its own lines only
        with one.client() as client:
            client.send("".join("GET /haw/%d HTTP/1.1\r\nHost: a\r\n\r\n" % i
                                for i in range(2000)))
            assert all(client.read().status == 404 for _ in range(2000))
        until(lambda: "lines of the access log are lost" in one.said)
        said = os.read(reader, 1 << 16)

        def again():
            one.get("/haw/again")
            return "can be written again" in one.said
        until(again, every=0.05)
        said += os.read(reader, 1 << 16)
    assert said.count(b"/haw/again") and said.count(b"/haw/1\"")
    for line in said.split(b"\n"):      # one of which only a part was written is not continued
        assert line.count(b'{"time"') <= 1, line
    os.close(reader)


@aside
def test_a_log_that_cannot_be_written_is_reported_once(folder, server, tmp_path):
    with Server(folder, "--log", "/dev/full", "--threads", "2", "filters", quiet=False) as full:
        for _ in range(3):
            assert full.status("/haw/" + HELD) == 200
            time.sleep(0.4)
        until(lambda: "No space left on device" in full.said)
        health = json.loads(full.get("/healthz").text)
        assert health["status"] == "degraded"
        assert health["troubles"] == [{"name": "access log", "state": "lost",
                                       "why": "No space left on device"}]
        assert full.metrics()["seen_log_lost_total"] >= 1
    assert full.said.count("No space left") == 1


def test_no_request_fails_in_a_storm_of_reloads(folder, server):
    before, faults = server.metrics()["seen_reloads_total"], []
    began = time.monotonic()
    end = began + 1

    def ask():
        with server.client() as client:
            while time.monotonic() < end:
                if client.get("/haw/" + HELD).status != 200:
                    faults.append("a request")
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    while time.monotonic() < end:
        os.kill(server.pid, signal.SIGHUP)
        time.sleep(0.0002)
    for thread in threads:
        thread.join(60)
    assert not faults
    until(lambda: server.metrics()["seen_reloads_total"] - before >= 2)
    assert server.metrics()["seen_reloads_total"] - before < 20 + 10 * (time.monotonic() - began)   # ten per second


def test_a_terminal_that_is_closed_ends_the_server(folder):
    """Unless it was started by nohup. A SIGHUP that somebody sends does not."""
    for nohup in (), ("nohup",):
        port = free_port()
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(folder)
            os.execvp((nohup + (SEEN,))[0], [*nohup, SEEN, "serve", "--listen", str(port),
                                             "--host", "*", "filters"])

        def up():
            with contextlib.suppress(OSError):
                return Client(port)
        until(up).__exit__()
        os.kill(pid, signal.SIGHUP)
        with Client(port) as client:
            assert client.get("/metrics").status == 200
        os.kill(pid, signal.SIGHUP)     # while it is pending, the kernel sends no second one
        os.close(terminal)
        if nohup:
            time.sleep(0.3)
            with Client(port) as client:
                assert client.get("/haw/" + HELD).status == 200
            os.kill(pid, signal.SIGTERM)
        ended = until(lambda: [it for it in [os.waitpid(pid, os.WNOHANG)] if it[0]])
        assert os.waitstatus_to_exitcode(ended[0][1]) == 0
    with contextlib.suppress(FileNotFoundError):
        os.unlink(folder / "nohup.out")


@aside
def test_the_settings_of_logrotate(folder, server, tmp_path):
    if not os.path.exists("/usr/sbin/logrotate"):
        pytest.skip("no logrotate")
    with open(os.path.join(ROOT, "debian/seen.logrotate")) as file:
        settings = file.read()
    script = re.compile(r"if \[ -d.*?\bfi\n", re.S)
    assert "reload" in script.search(settings).group(0)
    with Server(folder, "--log", tmp_path / "access.log", "filters", quiet=False) as one:
        settings = settings.replace("/var/log/seen", str(tmp_path))
        settings = script.sub("kill -HUP %d\n" % one.pid, settings)
        (tmp_path / "settings").write_text(settings)
        os.chmod(tmp_path / "settings", 0o600)
        one.get("/haw/first")
        until(lambda: "/haw/first" in (tmp_path / "access.log").read_text())
        subprocess.run(["/usr/sbin/logrotate", "--force", "--state", tmp_path / "state",
                        tmp_path / "settings"], check=True, timeout=60)
        until(lambda: (tmp_path / "access.log").exists())
        one.get("/haw/last")
        until(lambda: "/haw/last" in (tmp_path / "access.log").read_text())
        assert "/haw/first" in (tmp_path / "access.log.1").read_text()


@aside
def test_the_log_is_json_whatever_is_asked(folder, server, tmp_path):
    with server.client() as client:
        client.get("/haw/http://json/\xff\xc3\x28\"\\\x80?x=\xe2\x80\xa8",
                   {"User-Agent": "a\"b\\\xff", "Referer": "\xc4\x8d"})
    line = logged(server, "http://json/")
    assert list(line) == ["time", "client", "proxy", "method", "target", "protocol", "other",
                          "status", "bytes", "referer", "user_agent"]
    assert line["method"] == "GET" and line["protocol"] == "HTTP/1.1" and line["proxy"] is None
    assert line["user_agent"] == "a\"b\\\ufffd" and line["client"] == "127.0.0.1"
    assert line["referer"] == "\u010d"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line["time"])
    with server.client() as client:
        client.send(b"\x16\x03\x01 tls \x00\xff\r\n")
        client.rest()
    line = logged(server, " tls ")
    assert line["method"] is line["target"] is line["protocol"] is None
    assert line["status"] == 400 and line["user_agent"] is line["referer"] is None


@aside
def test_the_client_of_a_trusted_proxy_is_in_the_log(folder, server, tmp_path):
    with server.client() as client:
        client.send("GET /haw/forwarded1 HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n"
                    "x-forwarded-for: 198.51.100.7, 203.0.113.9\r\nX-Forwarded-For: 127.0.0.1\r\n"
                    "\r\n")
        client.read()
    with UnixClient(folder / "http.sock") as client:
        client.get("/haw/forwarded2", {"X-Forwarded-For": "2001:db8::7"})
        client.get("/haw/forwarded3", {"Forwarded": "for=192.0.2.1"})
    line = logged(server, "/haw/forwarded1")
    assert (line["client"], line["proxy"]) == ("203.0.113.9", "127.0.0.1")
    line = logged(server, "/haw/forwarded2")
    assert (line["client"], line["proxy"]) == ("2001:db8::7", "unix:")
    assert logged(server, "/haw/forwarded3")["client"] == "unix:"


def test_a_proxy_need_not_read_while_it_sends(server):
    lines = b"http://list.example/\n" * 300000
    framed = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in
                      (lines[i:i + 100001] for i in range(0, len(lines), 100001)))
    head = b"POST /haw HTTP/1.1\r\nHost: a\r\n"
    with server.client() as client:
        for _ in range(2):
            client.send(head + b"Content-Length: %d\r\n\r\n" % len(lines) + lines)
            assert client.read().body == b"new\t" + lines[:-1].replace(b"\n", b"\nnew\t") + b"\n"
            client.send(head + b"Transfer-Encoding: chunked\r\n\r\n" + framed + b"0\r\n\r\n")
            assert client.read().body.count(b"\n") == 300000
        client.send(head + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcdeX")
        assert client.read().status == 400
    with server.client() as client:     # without its body
        client.send(head + b"Expect: 100-continue\r\nContent-Length: 16777217\r\n\r\n")
        assert client.read().status == 413
    with server.client() as client:
        client.send(head + b"Transfer-Encoding: chunked\r\n\r\n1100000\r\n")
        with contextlib.suppress(ConnectionError):
            client.send(bytes(17 << 20))
        assert client.read().status == 413


@aside
def test_nobody_is_a_proxy_unless_that_is_said(folder, server, tmp_path):
    with Server(folder, "--log", tmp_path / "plain", "--listen", ":0", "filters", quiet=False) as one:
        until(lambda: "serving at" in one.said)
        one.get("/haw/x", {"X-Forwarded-For": "203.0.113.9"})
        with Client(int(re.search(r":(\d+)/", one.said).group(1))) as client:
            client.get("/haw/y")        # IPv4 at a socket of IPv6
        until(lambda: (tmp_path / "plain").read_text().count("\n") == 2)
    for line in (tmp_path / "plain").read_text().splitlines():
        assert line.startswith("127.0.0.1 - - ["), line


# --- troubles, health and metrics ---

@aside
def test_troubles_are_reported_once_and_so_is_their_end(folder, server, tmp_path):
    for name in "a", "b":
        build(tmp_path / (name + ".seen"), [HELD])
    whole = (tmp_path / "a.seen").read_bytes()
    (tmp_path / "bad.seen").write_text("nonsense")
    with Server(tmp_path, ".", "--threads", "2", trouble=True) as one:
        assert len(one.troubles) == 1 and "bad.seen: " in one.troubles[0]
        assert one.troubles[0].endswith("; the archive bad does not answer")
        (tmp_path / "b.seen").unlink()
        (tmp_path / "next").write_bytes(whole[:-1])
        os.rename(tmp_path / "next", tmp_path / "a.seen")
        until(lambda: len(one.troubles) == 3)
        assert re.search("b.seen: the file is gone; the archive b is not served any more",
                         "\n".join(one.troubles))
        assert re.search("a.seen: .*cut short; the archive a does not answer",
                         "\n".join(one.troubles))
        health = one.get("/healthz")
        assert health.status == 503, "nothing answers"
        assert json.loads(health.text)["status"] == "failing"
        time.sleep(2.2)
        assert len(one.troubles) == 3, "they are not repeated"
        for name in "a", "b", "bad":
            (tmp_path / "next").write_bytes(whole)
            os.rename(tmp_path / "next", tmp_path / (name + ".seen"))
        until(lambda: len(one.troubles) == 6)
        assert all("answers again" in line for line in one.troubles[3:])
        assert json.loads(one.get("/healthz").text)["status"] == "ok"
        (tmp_path / "c.seen").write_bytes(whole)
        until(lambda: one.status("/c/" + HELD) == 200)


def test_many_troubles_are_not_told_one_by_one(tmp_path):
    for i in range(130):
        (tmp_path / ("%d.seen" % i)).write_text("nonsense")
    with Server(tmp_path, ".", warns=True, trouble=True) as server:
        assert len(server.troubles) == 100
        assert server.warned == ("seen: more than 100 messages; others are left out for a minute, "
                                 "and /healthz has what does not answer\n")
        health = json.loads(server.get("/healthz").text)
        assert health["withdrawn"] == 130 and len(health["troubles"]) == 100


def test_health_is_said_in_two_ways(server):
    answer = server.get("/healthz", {"Accept": "text/plain"})
    assert answer.status == 200 and answer["Content-Type"] == "text/plain"
    assert re.match(r"ok: \d+ ready, \d+ checking, 0 withdrawn, 0 away\n$", answer.text)
    answer = server.get("/healthz")
    assert answer["Content-Type"] == "application/json" and answer["Cache-Control"] == "no-store"
    assert json.loads(answer.text)["troubles"] == []
    head = server.ask("HEAD", "/healthz")
    assert head.status == 200 and head["Content-Length"] == str(len(answer.body))
    assert server.ask("POST", "/healthz").status == 405


def test_an_empty_server_is_well_only_if_it_can_be_filled(tmp_path):
    (tmp_path / "empty").mkdir()
    with Server(tmp_path, "empty") as server:
        answer = server.get("/healthz")
        assert answer.status == 503 and server.ask("HEAD", "/healthz").status == 503
    with Server(tmp_path, "-w", "--token", "none", "empty") as server:
        assert server.status("/healthz") == 200


PROMTOOL = shutil.which("promtool")


@pytest.mark.skipif(not PROMTOOL, reason="promtool is not installed")
def test_promtool_finds_nothing(folder, server, tmp_path):
    build(tmp_path / "g.seen", [HELD], "--kind", "growing/bloom")
    (tmp_path / "r\xe9\"\\.seen").write_text("nonsense")
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    with Server(tmp_path, ".", "--aggregate", "--crawls", str(crawl), trouble=True) as other:
        for one in server, other:
            text = one.get("/metrics").body
            done = subprocess.run([PROMTOOL, "check", "metrics"], input=text, timeout=60,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            assert done.returncode == 0 and not done.stdout, done.stdout.decode()
        assert b"seen_archive_room{archive=\"g\"} +Inf\n" in text
        names = set(re.findall(rb"^([a-z_]+)[{ ]", text, re.M))
    alerts = os.path.join(ROOT, "doc/examples/alerts.yml")
    subprocess.run([PROMTOOL, "check", "rules", alerts], check=True, stdout=subprocess.DEVNULL)
    with open(alerts, "rb") as file:
        for name in re.findall(rb"\b(?:seen|process)_[a-z_]+", file.read()):
            assert name in names, "there is no metric %s" % name.decode()


def test_what_to_watch_are_metrics(server):
    have = {name.split("{")[0] for name in server.metrics()}
    with open(os.path.join(ROOT, "doc/operations.md")) as file:
        named = set(re.findall(r"\b(?:seen|process)_[a-z_]+(?=[`{\[ )])", file.read()))
    assert named and named <= have, named - have


# --- writing without a token ---

def test_a_first_write_needs_no_token(tmp_path):
    with Server(tmp_path, "-w", "--token", "none", ".") as server:
        done = subprocess.run(["redis-cli", "-p", str(server.port), "BF.ADD", "x", "y"],
                              stdout=subprocess.PIPE, timeout=60)
        assert done.stdout == b"1\n"
        assert server.status("/x/y") == 200
        with server.client() as client:
            client.send("AUTH a\r\nRESET\r\nBF.ADD x z\r\n")
            assert client.line().startswith(b"-ERR AUTH <password> called without any password")
            assert client.line() == b"+RESET" and client.line() == b":1"
        for headers in {}, {"Authorization": "Bearer none"}, {"Authorization": "Bearer "}:
            answer = server.ask("PUT", "/x/http://b.example/", headers)
            assert answer.status == 403 and "Redis protocol" in answer.text
        assert server.ask("POST", "/add/x", body=HELD).status == 403


def test_http_needs_the_token_that_redis_does_not(server):
    with server.client() as client:
        client.send("BF.ADD both %s\r\n" % HELD)
        assert client.line() in (b":0", b":1")
    until(lambda: server.status("/both/" + HELD) == 200)
    assert server.ask("PUT", "/both/http://b.example/").status == 401
    assert server.ask("PUT", "/both/http://b.example/", TOKEN).status == 201


@pytest.mark.parametrize("words", [
    ("--listen", "0.0.0.0:0"), ("--listen", ":0"), ("--listen", "[::]:0"),
    ("--listen", "0", "--redis", "0.0.0.0:0"),
    ("--listen", "unix:s.sock", "--listen", "0.0.0.0:0")])
def test_no_token_is_for_this_machine_only(folder, words):
    said = fails(folder, "-w", "--token", "none", *words, "filters")
    assert "--token none: other machines can reach " in said
    assert not (folder / "s.sock").exists()


def test_sockets_of_systemd_are_looked_at_too(folder):
    with bound("0.0.0.0", 0) as tcp, \
            passed(folder, tcp, words=("-w", "--token", "none", "filters")) as process:
        assert "other machines can reach" in process.stderr.readline().decode()


def test_tokens_that_cannot_be(folder):
    assert "two files" in fails(folder, "-w", "--token", "token", "--token", "token", "filters")
    assert "--writable needs a token" in fails(folder, "-w", "filters")


# What web pages can make browsers send: a page that calls itself by the address of this server
# (DNS rebinding) chooses the method, too.
ATTACKS = [
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\nBF.ADD evil x\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60\r\n\r\n"
    b"*3\r\n$6\r\nBF.ADD\r\n$4\r\nevil\r\n$1\r\nx\r\n",
    b"BF.ADD /evil HTTP/1.1\r\nHost: a\r\n\r\n",
    b"SADD evil HTTP/1.1\r\nBF.ADD evil x\r\n",
    b"'BF.ADD evil' HTTP/1.1\r\nBF.ADD evil x\r\n",
    b"SHUTDOWN / HTTP/1.1\r\n\r\n",
    b"*1 / HTTP/1.1\r\nBF.ADD evil x\r\n",
    b"*3 /x HTTP/1.1\r\nHost: a\r\n\r\n$6\r\nBF.ADD\r\n$4\r\nevil\r\n$1\r\nx\r\n",
    b"GET /\r\nBF.ADD evil x\r\n",
    b"\x16\x03\x01\x02\x00\nBF.ADD evil x\r\n",
    b"nonsense\r\nBF.ADD evil x\r\n",
    b"PUT /evil/http://a/ HTTP/1.1\r\nHost: a\r\n\r\nBF.ADD evil x\r\n",
    b"GET /" + b"x" * 9000 + b"\r\nBF.ADD evil x\r\n",
]


@pytest.mark.parametrize("port", ["port", "redis"])
@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_a_request_of_http_never_runs_a_command(server, port, attack):
    for cut in 0, 3, attack.find(b"\n") + 1:
        with Client(getattr(server, port)) as client:
            client.send(attack[:cut])
            if cut:
                time.sleep(0.002)
            with contextlib.suppress(OSError):
                client.send(attack[cut:])
                client.socket.shutdown(socket.SHUT_WR)
            with contextlib.suppress(OSError):
                client.rest()
    with server.client() as client:
        client.send("EXISTS evil\r\nEXISTS /evil\r\n")
        assert client.line() == client.line() == b":0"
