"""aggregate_test.py - seen serve --aggregate, with archives on the loopback."""
import json
import re
import socket
import time

from aggregating import (NO_CACHE, NONE, ONE, TWO, archives, filters, folder, rested,  # noqa: F401
                         serve)
from federation import compare, http_date
from serving import Server, build, until

LINK = re.compile(r'<([^>]*)>((?:; *[a-z]+="[^"]*")*)')


def links(text):
    """(URL, {parameter: value}) of each link."""
    return [(url, dict(re.findall(r'([a-z]+)="([^"]*)"', rest)))
            for url, rest in LINK.findall(text)]


def failed(answer):
    return {a["name"]: a["error"] for a in json.loads(answer.text)["seen"]["archives"]
            if a["error"]}


def test_only_archives_whose_filter_says_yes_are_asked_and_merged_in_order(folder, archives):
    with serve(folder, "--contact", "https://me.example") as server:
        answer = server.get("/timemap/link/" + ONE)
        assert answer.status == 200 and answer["Content-Type"] == "application/link-format"
        assert answer["X-Memento-Count"] == "3" and answer["Seen-Asked"] == "2"
        assert answer["Seen-Spared"] == "2" and not answer["Seen-Failed"]
        assert [len(a.requests) for a in archives] == [1, 1, 0, 0]
        assert archives[0].agents == {a for a in archives[0].agents if "(+https://me.example)" in a}
        found = links(answer.text)
        mementos = [(url, p) for url, p in found if "memento" in p["rel"]]
        assert [url for url, _ in mementos] == [
            archives[0].memento(ONE, "20010203040506"), archives[1].memento(ONE, "20050607080910"),
            archives[0].memento(ONE, "20100101000000")]
        assert [p["rel"] for _, p in mementos] == ["first memento", "memento", "last memento"]
        assert mementos[1][1]["datetime"] == http_date("20050607080910")
        assert ("http://seen.example/timegate/" + ONE, {"rel": "timegate"}) in found
        assert found[0] == (ONE, {"rel": "original"})

        # The same as JSON and CDXJ, from the cache.
        answer = server.get("/timemap/json/" + ONE)
        data = json.loads(answer.text)
        assert data["original_uri"] == ONE and answer["Age"] == "0"
        assert [m["uri"] for m in data["mementos"]["list"]] == [url for url, _ in mementos]
        assert data["mementos"]["first"]["datetime"] == "2001-02-03T04:05:06Z"
        assert data["timemap_uri"]["cdxj_format"] == "http://seen.example/timemap/cdxj/" + ONE
        assert data["seen"]["asked"] == 2 and data["seen"]["partial"] is False
        lines = server.get("/timemap/cdxj/" + ONE).text.splitlines()
        assert [line[:14] for line in lines if line[0] != "!"] == [
            "20010203040506", "20050607080910", "20100101000000"]
        assert json.loads(lines[-1][15:])["uri"] == mementos[2][0]
        assert archives.asked() == 2
        head = server.ask("HEAD", "/timemap/link/" + ONE)
        assert head.status == 200 and head["X-Memento-Count"] == "3" and not head.body

        # Commas and semicolons; a URL without its scheme; one that is encoded.
        assert server.get("/timemap/link/" + TWO)["X-Memento-Count"] == "1"
        assert server.get("/timemap/link/one.example/")["X-Memento-Count"] == "3"
        assert server.get("/timemap/link/http%3A%2F%2Fone.example%2F")["X-Memento-Count"] == "3"

        # Nobody holds it: nobody is asked.
        asked = archives.asked()
        for path in "/timemap/link/", "/timemap/json/", "/timegate/", "/memento/2001/":
            answer = server.get(path + NONE)
            assert answer.status == 404 and answer["X-Memento-Count"] == "0", path
        assert archives.asked() == asked
        assert "Disallow: /timemap/\n" in server.get("/robots.txt").text
        metrics = server.metrics()
        assert metrics["seen_memento_requests_total"] == asked
        assert metrics["seen_memento_cached_total"] >= 5


def test_a_timegate_leads_to_the_closest_memento(folder, archives):
    first, middle, last = (archives[0].memento(ONE, "20010203040506"),
                           archives[1].memento(ONE, "20050607080910"),
                           archives[0].memento(ONE, "20100101000000"))
    with serve(folder) as server:
        for date, to in (("Thu, 31 May 1990 20:35:00 GMT", first), (None, last),
                         ("Sun, 05 Jun 2005 00:00:00 GMT", middle),
                         ("Thu, 31 May 2040 20:35:00 GMT", last)):
            answer = server.get("/timegate/" + ONE, {"Accept-Datetime": date} if date else {})
            assert answer.status == 302 and answer["Location"] == to
            assert answer["Vary"] == "accept-datetime"
            found = links(answer["Link"])
            assert (ONE, {"rel": "original"}) in found
            assert "http://seen.example/timemap/link/" + ONE in dict(found)
            assert "memento" in dict(found)[to]["rel"]
        for bad in "yesterday", "2001-02-03", "Thu, 31 May 2007 20:35:00 CET":
            answer = server.get("/timegate/" + ONE, {"Accept-Datetime": bad})
            assert answer.status == 400 and "Accept-Datetime" in answer.text
        assert server.get("/timegate/" + NONE)["Vary"] == "accept-datetime"

        with server.client() as old:            # without a Host it is the address
            old.send("GET /timegate/%s HTTP/1.0\r\n\r\n" % ONE)
            assert "http://%s/timemap/link/%s" % ("127.0.0.1:%d" % server.port, ONE) in \
                dict(links(old.read()["Link"]))

        # The same by the path, as MemGator has it.
        for date, to in (("1990", first), ("200506", middle), ("20050605000000", middle),
                         ("2040", last)):
            answer = server.get("/memento/%s/%s" % (date, ONE))
            assert answer.status == 302 and answer["Location"] == to
        for path in "/memento/json/20050605/", "/api/json/20050605/":
            data = json.loads(server.get(path + ONE).text)
            assert "list" not in data["mementos"]
            assert {name: m["uri"] for name, m in data["mementos"].items()} == {
                "first": first, "prev": first, "closest": middle, "next": last, "last": last}
        text = server.get("/memento/link/2040/" + ONE).text
        assert [p["rel"] for _, p in links(text) if "memento" in p["rel"]] == [
            "first memento", "prev memento", "last memento"]
        assert server.get("/memento/cdxj/2040/" + ONE).text.count("closest") == 1
        for path in ("/memento/20051301/", "/memento/xml/2005/", "/memento/", "/memento/2005",
                     "/timemap/xml/", "/timemap/", "/memento/json/"):
            assert server.get(path + ONE).status == 400, path
        for path in "/timemap/link/", "/timegate/", "/memento/2005/":
            assert server.get(path + "http://").status == 400
            assert server.get(path + "http%3A%2F%2Fa.example%2").status == 400
            assert server.get(path + "ftp://one.example/").status == 400
            assert server.get(path + "one.example/?a=ftp://b.example/").status == 404
            assert server.get(path + "one.example/").status in (200, 302)


def test_proxy_passes_the_closest_memento_on(folder, archives):
    middle = archives[1].memento(ONE, "20050607080910")
    page = bytes(range(256)) * 40
    statuses = {"first": 200}

    def answer(target):
        if target.startswith("/timemap"):
            return 200, {}, archives[1].write(ONE)
        assert target == "/web/20050607080910id_/" + ONE
        return statuses["first"], {"Content-Type": "Text/HTML; charset=koi8-r"}, page

    archives[1].answer = answer
    with serve(folder) as server:
        reply = server.get("/memento/proxy/2005/" + ONE)
        assert reply.status == 200 and reply.body == page
        assert reply["Content-Type"] == "Text/HTML; charset=koi8-r"
        assert reply["Memento-Datetime"] == http_date("20050607080910")
        assert reply["Content-Location"] == middle.replace("0910/", "0910id_/")
        assert reply["Content-Security-Policy"].startswith("sandbox")
        assert "allow-same-origin" not in reply["Content-Security-Policy"]
        assert "memento" in dict(links(reply["Link"]))[middle]["rel"]
        reply = server.ask("HEAD", "/memento/proxy/2005/" + ONE)
        assert reply.status == 200 and not reply.body
        assert reply["Content-Length"] == str(len(page))

        # More than may wait, taken at once: what was sent behind it is answered, too.
        large = b"x" * 400000
        archives[1].answer = lambda target: (200, {}, large)
        with server.client() as client:
            client.send(2 * ("GET /memento/proxy/2005/%s HTTP/1.1\r\nHost: a\r\n\r\n" % ONE))
            assert client.read().body == client.read().body == large
        archives[1].answer = answer

        statuses["first"] = 404
        reply = server.get("/memento/proxy/2005/" + ONE)
        assert reply.status == 502 and "status 404" in reply.text
        assert middle.replace("0910/", "0910id_/") in reply.text
        archives[1].answer = lambda target: (200, {}, (b"x" * 65536 for _ in range(300)))
        reply = server.get("/memento/proxy/2005/" + ONE)
        assert reply.status == 502
        archives[1].answer = lambda target: (
            302, {"Location": "file:///etc/passwd"}, b"")
        assert server.get("/memento/proxy/2005/" + ONE).status == 502
        assert server.get("/memento/proxy/2005/" + NONE).status == 404
        for path in "/memento/proxy/", "/memento/proxy/2005", "/memento/proxy/x/":
            assert server.get(path + ONE).status == 400, path
        assert server.get("/timemap/link/" + ONE).status == 200      # it goes on

    with serve(folder, "--cache", "1", timeout="1s") as server:
        archives[1].answer = answer
        archives[1].delay = lambda: 3 if archives[1].requests[-1].startswith("/web") else 0
        assert server.get("/memento/proxy/2005/" + ONE).status == 502
        pending = server.client()
        pending.send("GET /memento/proxy/2005/%s HTTP/1.1\r\nHost: a\r\n\r\n" % ONE)
        until(lambda: archives[1].requests[-1].startswith("/web"))
    # Stopped while a memento was on its way.


def test_proxy_follows_no_redirect_to_an_address_that_is_not_allowed(folder, archives):
    """The archives may be asked; port of archive 3, as any other of the loopback, may not."""
    inside = "http://127.0.0.1:%d/secret" % archives[2].port
    archives[1].answer = lambda target: (
        (200, {}, archives[1].write(ONE)) if target.startswith("/timemap") else
        (302, {"Location": inside}, b""))
    allowed = ",".join("127.0.0.1:%d" % a.port for a in archives[:2])
    with Server(folder, "--aggregate", "--archives", "list.json", "--allow", allowed,
                "filters") as server:
        answer = server.get("/memento/proxy/2005/" + ONE)
        assert answer.status == 502 and "secret" not in answer.text
    assert not archives[2].requests


def test_without_aggregate_nothing_is_fetched(folder, archives):
    with Server(folder, "filters") as server:
        assert server.get("/memento/2005/" + ONE).status == 404
        assert "/timemap/" not in server.get("/robots.txt").text
        assert server.get("/timemap/json/" + ONE).status == 404
    assert not archives.asked()


def test_archives_that_fail_are_named_and_the_others_answer(folder, archives):
    answers = {
        "status 503": lambda target: (503, {}, b""),
        "not a TimeMap": lambda target: (200, {}, b"<html>\n<p>Sorry</p>\n"),
        "ends within a link": lambda target: (200, {}, archives[1].write(ONE)[:-3]),
        "redirect": lambda target: (302, {"Location": target}, b""),
    }
    with serve(folder, *NO_CACHE, timeout="60s") as server:
        for words, archives[1].answer in answers.items():
            answer = server.get("/timemap/json/" + ONE)
            assert answer.status == 200 and answer["X-Memento-Count"] in ("2", "3"), words
            assert answer["Seen-Failed"] == "archive02"
            assert words in failed(answer)["archive02"]
            text = server.get("/timemap/cdxj/" + ONE).text
            assert '!meta {"failed": {"archive02": "' in text
            assert server.get("/timegate/" + ONE)["Seen-Failed"] == "archive02"
        archives[1].answer = None

    # One that is late. The other one's mementos are there at the deadline.
    with serve(folder, *NO_CACHE, timeout="3s") as server:
        archives[1].silent = True

        def the_others():
            began = time.monotonic()
            answer = server.get("/timemap/json/" + ONE)
            assert time.monotonic() - began > 2.9 and "within 3 s" in failed(answer)["archive02"]
            return answer["X-Memento-Count"] == "2"
        until(the_others)

        # With nothing from the others, that is not a "no".
        answer = server.get("/timemap/link/" + TWO)
        assert answer.status == 503 and "archive02" in json.loads(answer.text)["failed"]
        archives[1].silent = False
        until(lambda: server.get("/timemap/link/" + TWO).status == 200, every=0.2)

        # 404 and an empty TimeMap are answers.
        for archives[1].answer in (lambda target: (404, {}, b"none")), \
                (lambda target: (200, {}, b"\n")):
            answer = server.get("/timemap/link/" + TWO)
            assert answer.status == 404 and not answer["Seen-Failed"]


def test_an_archive_whose_filter_cannot_answer_is_asked(folder, archives):
    path = folder / "filters" / "archive03.seen"
    path.write_bytes(path.read_bytes()[:100])
    archives[2].hold(NONE, "20200101000000")
    with serve(folder, filters=False) as server:    # no filter: all are asked
        assert server.get("/timemap/link/" + NONE)["Seen-Asked"] == "4"
    for a in archives:
        a.requests.clear()
    with serve(folder, trouble=True) as server:
        answer = server.get("/timemap/link/" + NONE)
        assert answer.status == 200 and answer["X-Memento-Count"] == "1"
        assert [len(a.requests) for a in archives] == [0, 0, 1, 0]
    # Without a TimeMap there is nobody to ask, and that is said.
    with open(folder / "list.json") as file:
        entries = json.load(file)
    with open(folder / "other.json", "w") as file:
        json.dump([e for e in entries if e["id"] != "archive03"], file)
    with serve(folder, archives="other.json", trouble=True) as server:
        answer = server.get("/timemap/link/" + NONE)
        assert answer.status == 503 and answer["Seen-Failed"] == "archive03"
        assert server.get("/timemap/link/" + ONE).status == 200


def test_templates_of_filters_are_used_and_ignored_archives_are_not_asked(tmp_path, archives):
    archives[0].hold(ONE, "20010203040506")
    archives[1].hold(ONE, "20020203040506")
    build(tmp_path / "x.seen", [ONE], "--meta", "timemap=" + archives[0].timemap + "{url}")
    build(tmp_path / "y.seen", [ONE], "--meta", "timemap=" + archives[1].timemap)
    with open(tmp_path / "list.json", "w") as file:
        json.dump([{"id": "other", "filter": "y", "timemap": archives[1].timemap,
                    "ignore": True}], file)
    with Server(tmp_path, "--aggregate", "--allow",
                ",".join("127.0.0.1:%d" % a.port for a in archives), ".") as server:
        assert server.get("/timemap/link/" + ONE)["X-Memento-Count"] == "2"
    with Server(tmp_path, "--aggregate", "--allow-private", "--archives", "list.json",
                ".") as server:
        assert server.get("/timemap/link/" + ONE)["X-Memento-Count"] == "1"
        assert server.get("/timemap/link/" + ONE)["Seen-Asked"] == "1"


def test_private_addresses_are_refused(folder, archives):
    archives[1].answer = lambda target: (302, {"Location": "http://127.0.0.1:%d%s" % (
        archives[2].port, target)}, b"")
    archives[2].hold(ONE, "20200101000000")
    with Server(folder, "--aggregate", "--archives", "list.json", "filters") as server:
        answer = server.get("/timemap/link/" + ONE)
        assert answer.status == 503 and answer["Seen-Failed"] == "archive01, archive02"
        assert "127.0.0.1" in answer.text and not archives.asked()
    allowed = ",".join("127.0.0.1:%d" % a.port for a in archives[:2])
    with Server(folder, "--aggregate", "--archives", "list.json", "--allow", allowed,
                "filters") as server:
        answer = server.get("/timemap/json/" + ONE)     # the redirect leads out of it
        assert answer["X-Memento-Count"] == "2" and "127.0.0.1" in failed(answer)["archive02"]
        assert not archives[2].requests


def test_pages_are_followed_within_bounds(folder, archives):
    me, other = archives[0], archives[2]

    def pages(target):
        number = int(target.split("?page=")[1]) if "?" in target else 1
        more = ['<%s%s?page=%d>; rel="timemap"; type="application/link-format"' %
                (me.timemap, ONE, n) for n in (1, 2, 3, number)]
        more += ['</timemap/link/%s?page=4>; rel="timemap"' % ONE,
                 '<%s%s>; rel="timemap"' % (other.timemap, ONE),
                 '<%s%s>; rel="timemap"; type="application/json"' % (me.timemap, ONE)]
        return 200, {}, me.write(ONE, ["2001010%d000000" % number, "20000101000000"], more)

    me.answer = pages
    with serve(folder, *NO_CACHE) as server:
        answer = server.get("/timemap/json/" + ONE)
        assert answer["X-Memento-Count"] == "6" and not answer["Seen-Failed"], answer.text
        report = json.loads(answer.text)["seen"]["archives"][0]
        assert report["mementos"] == 5 and report["skipped"]    # the page of another host
        assert len(me.requests) == len(set(me.requests)) == 5 and not other.requests
        me.requests.clear()
        me.answer = lambda target: (200, {}, b'<%s%s?%d>; rel="timemap"' % (
            me.timemap.encode(), ONE.encode(), len(me.requests)))   # without end
        answer = server.get("/timemap/json/" + ONE)
        assert "32 pages" in failed(answer)["archive01"] and len(me.requests) == 32
        me.answer = lambda target: (200, {}, b'<%s%s>; rel="timemap"' % (
            other.timemap.encode(), ONE.encode()))
        assert "other hosts" in failed(server.get("/timemap/json/" + ONE))["archive01"]


def test_hostile_timemaps_are_bounded_skipped_and_reported(folder, archives):
    me = archives[0]

    def endless(piece):
        def body(target):
            def pieces():
                while True:
                    yield piece
            return 200, {}, pieces()
        return body

    def million(target):
        def pieces():
            for year in range(1900, 2000):
                for block in range(10):
                    yield b"".join(
                        b'<http://m.example/%d/%d/%d/>;rel="memento";datetime="Mon, 01 Jan %d '
                        b'00:%02d:%02d GMT",\n' % (year, block, i, year, i // 60 % 60, i % 60)
                        for i in range(1000))
        return 200, {}, pieces()

    date = b'; rel="memento"; datetime="' + http_date("20010203040506").encode() + b'"'
    bad = b",\n".join([
        b'<http://m.example/good>' + date, b'<http://m.example/\xe9>' + date,
        b'<http://m.example/1>; rel="memento"; datetime="Fri, 31 Dec 9999 23:59:59 GMT"',
        b'<http://m.example/2>; rel="memento"; datetime="soon"', b'<javascript:alert(1)>' + date,
        b'<http://m.example/x\r\nSet-Cookie: a>' + date, b'</relative>' + date,
        b'<ftp://m.example/>' + date, b'<http://m.example/"q">' + date])
    with serve(folder, *NO_CACHE, "--mementos", "100000", timeout="60s") as server:
        before = server.resident()
        for words, me.answer in (("33665536 bytes", endless(b"x" * 65536)),
                                 ("33665536 bytes", endless(b"<" + b"x" * 65535)),
                                 ("33665536 bytes", endless(b"\n" * 65536)),
                                 ("100000 mementos", million)):
            answer = server.get("/timemap/json/" + ONE)
            assert re.search(words, failed(answer)["archive01"]), failed(answer)
        assert answer["X-Memento-Count"] == "100001"    # and the other archive's
        times = [m["datetime"] for m in json.loads(answer.text)["mementos"]["list"]]
        assert times == sorted(times)
        assert server.resident() - before < 400 << 20
        me.answer = lambda target: (200, {}, bad)
        answer = server.get("/timemap/json/" + ONE)
        data = json.loads(answer.text)
        uris = [m["uri"] for m in data["mementos"]["list"]]
        assert sorted(u for u in uris if "m.example" in u) == [
            "http://m.example/%22q%22", "http://m.example/%E9", "http://m.example/good"]
        assert "http://127.0.0.1:%d/relative" % me.port in uris and len(uris) == 5
        report = data["seen"]["archives"][0]
        assert report["future"] == 1 and report["skipped"] >= 4
        assert answer["Seen-Skipped"] == str(report["future"] + report["skipped"])
        text = bad.split(b",\n")[0].decode()
        for charset in "utf-16", "utf-8-sig":
            me.answer = lambda target: (200, {}, text.encode(charset))
            assert "http://m.example/good" in server.get("/timemap/link/" + ONE).text



def test_an_archive_that_is_gone_rests(tmp_path, archives):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))       # and does not listen
        archives[0].hold(ONE, "20010203040506")
        with open(tmp_path / "list.json", "w") as file:
            json.dump([{"id": "gone", "timemap": "http://127.0.0.1:%d/" % closed.getsockname()[1]},
                       {"id": "there", "timemap": archives[0].timemap}], file)
        with serve(tmp_path, filters=False) as server:
            assert "gone" in failed(server.get("/timemap/json/" + ONE))
            why = [json.loads(server.get("/timemap/json/%s?%d" % (ONE, i)).text)["failed"]["gone"]
                   for i in range(4)]
            assert ["in a row" in w for w in why] == [False, False, True, True]



def test_bad_lists_and_options_are_refused(tmp_path):
    import subprocess
    from serving import SEEN

    def refused(*words):
        done = subprocess.run([SEEN, "serve", "--listen", "127.0.0.1:0", *words], cwd=tmp_path,
                              stderr=subprocess.PIPE, timeout=30)
        assert done.returncode == 2
        return done.stderr.decode()

    for text in "", "{}", '[{"id": "a"}]', '[{"id": "a", "timemap": "gopher://a/"}]':
        (tmp_path / "bad.json").write_text(text)
        assert "bad.json: " in refused("--aggregate", "--archives", "bad.json")
    assert "gone.json" in refused("--aggregate", "--archives", "gone.json")
    assert "--aggregate" in refused("--archives", "bad.json")
    assert "--allow" in refused("--aggregate", "--allow", "nowhere", "x.seen")
    assert "usage" in refused("--aggregate")


def test_mementos_are_cut_off_where_it_is_asked(folder, archives):
    archives[0].hold(ONE, *("2012%02d%02d%02d0000" % (m, d, h) for m in range(1, 13)
                       for d in range(1, 29) for h in range(4)))    # longer than 64 KiB
    with serve(folder, "--mementos", "1") as server:
        answer = server.get("/timemap/json/" + ONE)
        assert answer["X-Memento-Count"] == "2"     # one of each
        assert "more than 1 mementos" in failed(answer)["archive01"] and len(failed(answer)) == 1


def test_expensive_filters_are_asked_off_the_loop(folder, archives):
    held = [TWO, *map("http://c.example/{}".format, range(299))]
    build(folder / "filters" / "costly.seen", held, "--kind", "dynamic:256/bloom:md5+sha1",
          "--probes", "64", "--capacity", "300", "--meta", "timemap=" + archives[3].timemap)
    archives[3].hold(TWO, "20200101000000")
    with serve(folder) as server:
        assert server.get("/timemap/link/" + ONE)["X-Memento-Count"] == "3"
        assert server.get("/timemap/link/" + ONE)["Seen-Asked"] == "2"
        assert server.get("/timegate/" + TWO)["Location"] == archives[3].memento(
            TWO, "20200101000000")
        assert server.get("/timemap/link/" + NONE).status == 404


def test_timemaps_take_no_more_memory_than_allowed(folder, archives):
    line = '<http://m.example/%%d/%s>;rel="memento";datetime="%s"' % (
        "x" * 200, http_date("20010203040506"))
    archives[0].answer = lambda target: (200, {}, ",\n".join(
        line % i for i in range(20000)).encode())
    with serve(folder, "--memory", "2M") as server:
        answer = server.get("/timegate/" + ONE)     # needs the memory of a few mementos
        assert answer.status == 302 and not answer["Seen-Failed"]
        answer = server.get("/timemap/link/" + ONE)
        assert answer.status == 200 and answer["Seen-Failed"] == "archive01"
        assert 0 < int(answer["X-Memento-Count"]) < 10000


def test_filters_save_most_requests_and_miss_nothing(tmp_path):
    """The comparison of federation.py, shorter."""
    everyone, filters, stale = compare(str(tmp_path), n=20, urls=30, clients=4, stale=0.3, pace=0.2)
    assert everyone["requests"] == 20 * 30
    assert everyone["missed"] == filters["missed"] == 0
    assert everyone["wrong"] == filters["wrong"] == stale["wrong"] == 0
    assert everyone["mementos"] == filters["mementos"] > 0
    assert stale["missed"] > 0      # by filters that are older than the archive, and only so
    held = filters["held_by"] * 30
    assert held <= filters["requests"] <= held + 25     # 1 % of 570 are 5.7
    assert filters["requests"] + filters["spared"] == 20 * 30


def test_the_cache_forgets_and_a_filter_that_changes_is_followed(folder, archives):
    with serve(folder, "--cache-time", "1s") as server:
        for _ in range(3):
            server.get("/timemap/link/" + TWO)
        assert len(archives[1].requests) == 1
        archives[1].hold(TWO, "20300101000000", "20210101000000")  # one is of the future
        answer = until(lambda: (a := server.get("/timemap/json/" + TWO))["X-Memento-Count"] == "2"
                       and a, 5, 0.1)
        assert answer["Seen-Skipped"] == "1" and len(archives[1].requests) == 2
        # Another answer of the filter is another question.
        from serving import run
        run("add", folder / "filters" / "archive03.seen", TWO)
        archives[2].hold(TWO, "20220101000000")
        assert server.get("/timemap/link/" + TWO)["X-Memento-Count"] == "3"
