"""seen serve NAME=rediss://...: an archive whose cells are in a Redis server that is reached by TLS."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "remote"), os.path.join(HERE, "..", "servers"), os.path.join(HERE, "..")]
from authority import Authority
from ports import free_port
from redis_server import Redis, run
from serving import Server, until

HELD = ["http://host%d.example/page/%d" % (i % 100, i) for i in range(2000)]
TOKEN = "sesame-sesame"
ALLOWED = {"Authorization": "Bearer " + TOKEN}


def test_an_archive_behind_tls_answers_and_takes_adds(tmp_path):
    """With another authority, or by another name than that of the certificate, nothing is served, and Redis gets no
    password."""
    authority, other = Authority(tmp_path / "ca"), Authority(tmp_path / "other")
    (tmp_path / "files").mkdir()
    certificate, key = authority.issue("localhost", tmp_path / "files")
    port = free_port()
    (tmp_path / "token").write_text(TOKEN + "\n")
    (tmp_path / "password").write_text("pw\n")
    for name in "token", "password":
        (tmp_path / name).chmod(0o600)
    own = Redis(tmp_path / "r", "--tls-port", str(port), "--tls-cert-file", certificate, "--tls-key-file", key,
                "--tls-ca-cert-file", authority.certificate, "--tls-auth-clients", "no", password="pw")

    def url(host="localhost", ca=authority):
        return "rediss://%s:%d/haw?password-file=%s&cacert=%s&timeout=20" % (host, port, tmp_path / "password", ca.certificate)

    def asked():
        return own.client().info("commandstats").get("cmdstat_auth", {}).get("calls", 0)

    with own:
        run("build", "--quiet", "-o", url(), "--capacity", "100000", "-", stdin="\n".join(HELD[:1000]))
        with Server(tmp_path, "haw=" + url(), "--writable", "--token", str(tmp_path / "token"), warns=True, quiet=False) as server:
            assert server.get("/haw/" + HELD[0]).status == 200
            assert server.get("/haw/" + HELD[1500]).status == 404
            lines = server.ask("POST", "/haw", {}, "\n".join(HELD).encode()).text.splitlines()
            assert lines[:1000] == ["seen\t" + one for one in HELD[:1000]] and len(lines) == 2000
            added = server.ask("POST", "/add/haw", ALLOWED, (HELD[1500] + "\n").encode())
            assert added.status == 200, added.text
            assert server.get("/haw/" + HELD[1500]).status == 200
            own.stop()
            until(lambda: server.get("/haw/" + HELD[0]).status == 503)
            own.start()
            run("build", "--quiet", "-o", url(), "--capacity", "100000", "-", stdin="\n".join(HELD[:1000]))
            until(lambda: server.get("/haw/" + HELD[0]).status == 200)
        before = asked()
        for address in url(ca=other), url(host="127.0.0.1"):
            refused = run("serve", "--listen", "127.0.0.1:0", "haw=" + address, code=2)
            assert "its certificate is refused" in refused.stderr, refused.stderr
        assert asked() == before + 1, "the password went to nobody but this client"
