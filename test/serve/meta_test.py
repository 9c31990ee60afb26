"""meta_test.py - metadata of a served folder: its date, and archives.json."""
import datetime
import json
import os
import subprocess

from serving import SEEN, Server, build, run, until

URL, MORE = "http://a.example/", "http://b.example/"


def today():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")


def put(folder, overlay):
    """Replace archives.json as editors do."""
    text = overlay if isinstance(overlay, str) else json.dumps(overlay)
    (folder / "new").write_text(text)
    os.rename(folder / "new", folder / "archives.json")


def test_the_date_follows_adds_while_the_server_runs(tmp_path):
    (tmp_path / "token").write_text("kruskovac\n")
    path = build(tmp_path / "haw.seen", [URL], "--meta", "as-of=2020-06-01", "--meta", "title=HAW")
    build(tmp_path / "none.seen", [URL])
    with Server(tmp_path, ".", "--writable", "--token", "token", "--threads", "2") as server:
        assert server.get("/haw/" + URL)["Seen-As-Of"] == "2020-06-01"
        for name in "haw", "none":
            answer = server.ask("POST", "/add/%s" % name, body=MORE + "\n",
                                headers={"Authorization": "Bearer kruskovac"})
            assert answer.status == 200, answer.raw
        clients = [server.client() for _ in range(4)]
        for client in clients:
            until(lambda: client.get("/haw/" + URL)["Seen-As-Of"] == today())
            assert client.get("/none/" + MORE)["Seen-As-Of"] == ""
            assert client.get("/haw/" + MORE).status == 200
            client.socket.close()
        # The file has it, too, and a copy of it is complete.
        assert run("meta", path, "as-of", "title") == today() + "\nHAW\n"
        assert run("check", path, URL, MORE) == "seen\t%s\nseen\t%s\n" % (URL, MORE)
        done = subprocess.run([SEEN, "meta", "--wait", "0", path, "title=no"],
                              stderr=subprocess.PIPE, check=False)
        assert done.returncode == 2 and b"another writer" in done.stderr
    assert run("meta", path) == "as-of=%s\ntitle=HAW\n" % today()


def test_a_file_is_written_anew_for_its_date_once_a_day(tmp_path):
    (tmp_path / "token").write_text("kruskovac\n")
    path = build(tmp_path / "haw.seen", [URL], "--kind", "counting", "--meta", "as-of=2020-06-01")
    replaced = []
    for n in range(2):                  # the server is restarted
        with Server(tmp_path, ".", "--writable", "--token", "token") as server:
            before = os.stat(path).st_ino
            for i in range(3):
                assert server.ask("PUT", "/haw/%s%d/%d" % (URL, n, i),
                                  headers={"Authorization": "Bearer kruskovac"}).status == 201
            replaced.append(os.stat(path).st_ino != before)
    if run("meta", path, "as-of") == today() + "\n":    # not at midnight
        assert replaced == [True, False]


def test_metadata_that_another_process_changes_is_followed(tmp_path):
    path = build(tmp_path / "haw.seen", [URL], "--meta", "title=Before")
    with Server(tmp_path, ".", "--threads", "2") as server:
        def titles():
            return [a["title"] for a in json.loads(server.get("/agg/" + URL).body)["archives"]]
        assert titles() == ["Before"]
        run("meta", path, "title=After")
        until(lambda: titles() == ["After"])


def names(server):
    return [a["name"] for a in json.loads(server.get("/agg/" + URL).body)["archives"]]


def archive(server, name):
    found = json.loads(server.get("/agg/" + URL).body)["archives"]
    return [a for a in found if a["name"] == name][0]


def test_the_overlay_gives_titles_links_and_order_and_is_reread(tmp_path):
    for name in "a", "b", "c":
        build(tmp_path / (name + ".seen"), [URL], "--meta", "title=its own " + name,
              "--meta", "timegate=http://%s.example/own/{url}" % name)
    put(tmp_path, {"c": {"title": "Tse", "timemap": "http://c.example/tm/{url}", "order": 1},
                   "b": {"order": 2, "timegate": "http://b.example/tg/{url}"},
                   "absent": {"order": 3}})
    errors = ("archives.json, line 2: titel: no such field; did you mean title?; "
              "what it said before is still used")
    with Server(tmp_path, ".", "--threads", "2", quiet=False) as server:
        assert names(server) == ["c", "b", "a"]
        c = archive(server, "c")
        assert (c["title"], c["timemap"]) == ("Tse", "http://c.example/tm/" + URL)
        assert archive(server, "b")["title"] == "its own b"
        assert archive(server, "b")["timegate"] == "http://b.example/tg/" + URL
        assert archive(server, "a")["timegate"] == "http://a.example/own/" + URL
        assert server.get("/timegate/" + URL)["Location"] == "http://c.example/own/" + URL
        assert server.get("/c/" + URL).status == 200    # names are found as before
        first, second, third = server.ask("POST", "/agg", body=URL).text.split("\t")
        assert (first, second) == ("c,b,a", "-")

        put(tmp_path, {"a": {"order": 0, "title": "Ah"}})
        until(lambda: names(server) == ["a", "b", "c"])
        assert archive(server, "a")["title"] == "Ah"
        assert archive(server, "c")["title"] == "its own c"
        assert server.get("/timegate/" + URL)["Location"] == "http://a.example/own/" + URL

        put(tmp_path, '{"a": {\n"titel": "Oh"}}')     # reported once; the old one stays
        until(lambda: errors in server.said)
        assert archive(server, "a")["title"] == "Ah"
        (tmp_path / "archives.json").unlink()
        until(lambda: archive(server, "a")["title"] == "its own a")
    assert server.said.count("\n") == 1, server.said       # though there are two loops


def test_a_wrong_overlay_is_refused_at_the_start(tmp_path):
    build(tmp_path / "a.seen", [URL])
    put(tmp_path, '{"a": {"order": "1"}}')
    done = subprocess.run([SEEN, "serve", tmp_path, "--listen", "127.0.0.1:0"],
                          stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 2
    assert b"archives.json, line 1: order: is not a whole number" in done.stderr
