"""timegate_test.py - the closest memento, from TimeGates and from TimeMaps of any length.

What an archive was asked is counted; no test looks at the clock.
"""
import json

from aggregating import NO_CACHE, ONE, archives, rested     # noqa: F401
from aggregating import serve as serve_filters
from federation import http_date
from serving import until

DAYS, PER_DAY = 400, 1000       # from the first of January 2008 on
LINE = '<%s>;rel="memento";datetime="# 00:%02d:%02d GMT",\n'
ELSEWHERE = "http://elsewhere.example/"


def serve(folder, *words, **how):
    return serve_filters(folder, *words, filters=False, **how)


def day(number):
    """"20080101" and "Tue, 01 Jan 2008"."""
    from datetime import date, timedelta
    then = date(2008, 1, 1) + timedelta(number)
    return then.strftime("%Y%m%d"), then.strftime("%a, %d %b %Y")


def large(archive, breaks="\n", days=range(DAYS)):
    """A TimeMap of 1,000 mementos per day, a day at a time."""
    block = "".join(LINE % (archive.memento(ONE, "@%06d" % (i // 60 * 100 + i % 60)), i // 60,
                            i % 60) for i in range(PER_DAY)).replace("\n", breaks).encode()
    for number in days:
        stamp, date = day(number)
        yield block.replace(b"@", stamp.encode()).replace(b"#", date.encode())


def test_archives_of_any_size_lead_to_the_right_memento(tmp_path, archives):
    """Two archives of 400,000 mementos, one with a TimeGate, and two small ones."""
    gated, small, streamed, slow = archives

    def answer(target):
        if target.startswith("/timegate/"):
            gated.held = {ONE: ["20080101000000", "20080615000459", "20080615000501",
                                "20090202001639"]}
            return (*gated.chosen(ONE), b"")
        return 200, {}, large(gated)

    gated.answer = answer
    small.hold(ONE, "19990101000000", "20120101000000")
    slow.hold(ONE, "19980101000000")
    slow.answer = lambda target: (
        (*slow.chosen(ONE), b"") if target.startswith("/timegate/") else
        until(lambda: False, 1000))      # its TimeMap must not be asked for
    days = range(1, 2 * DAYS, 2)
    streamed.answer = lambda target: (200, {}, large(streamed, days=days))
    archives.list(tmp_path / "list.json", [gated, small, slow])
    with serve(tmp_path, "--memory", "20M", timeout="60s") as server:
        before = server.resident()
        for stamp, to in (("20081231001000", streamed.memento(ONE, "20081231001000")),
                          ("20080615000500", gated.memento(ONE, "20080615000501")),
                          ("20030101000000", small.memento(ONE, "19990101000000")),
                          ("19980301000000", slow.memento(ONE, "19980101000000")),
                          ("20100701000000", streamed.memento(ONE, "20090203001639"))):
            for a in archives:
                a.requests.clear()
            date = {"Accept-Datetime": http_date(stamp)}
            reply = server.get("/timegate/" + ONE, date)
            assert reply.status == 302 and reply["Location"] == to, (stamp, reply.raw)
            assert not reply["Seen-Failed"] and not reply.body and not reply["X-Memento-Count"]
            assert reply["Vary"] == "accept-datetime"
            assert [a.requests for a in archives] == [
                ["/%s/%s" % ("timemap/link" if a is streamed else "timegate", ONE)]
                for a in archives]
            assert server.get("/memento/%s/%s" % (stamp, ONE))["Location"] == to   # the same
            assert archives.asked() == 4
            assert server.resident() - before < 64 << 20
            days = [1, 167, 365, 399]       # the same in short

        # Those beside it are right, too, whoever has them.
        it = json.loads(server.get("/memento/json/20080615000500/" + ONE).text)
        assert {name: m["uri"] for name, m in it["mementos"].items()} == {
            "first": slow.memento(ONE, "19980101000000"),
            "prev": gated.memento(ONE, "20080615000459"),
            "closest": gated.memento(ONE, "20080615000501"),
            "next": streamed.memento(ONE, "20080616000000"),
            "last": small.memento(ONE, "20120101000000")}
        assert [a["timegate"] for a in it["seen"]["archives"]] == [True, True, False, True]
        assert it["seen"]["archives"][2]["mementos"] == 4 * PER_DAY


def test_timemaps_have_no_limit_but_memory(tmp_path, archives):
    archives[0].answer = lambda target: (200, {}, large(archives[0], days=range(101)))
    archives.list(tmp_path / "list.json")
    with serve(tmp_path, timeout="60s") as server:
        reply = server.ask("HEAD", "/timemap/link/" + ONE)
        assert reply["X-Memento-Count"] == "101000" and not reply["Seen-Failed"]


def test_an_endless_timemap_does_not_take_the_memory_of_others(tmp_path, archives):
    me, other = archives[:2]

    def endless():
        try:
            while True:
                yield from large(me)
        finally:
            other.silent = False        # it was cut, and holds what it has

    other.silent = True
    me.answer = lambda target: (200, {}, endless())
    other.answer = lambda target: (200, {}, large(other, days=range(3)))
    archives.list(tmp_path / "list.json")
    with serve(tmp_path, "--memory", "8M", timeout="60s") as server:
        assert "busy" in server.get("/timemap/link/" + ONE).text    # to write it
        assert server.metrics()["seen_memento_failed_total"] == 1


# --- what TimeGates answer -----------------------------------------------------

WANTED = "20050601000000"
FAR, NEAR, NEXT = "20010101000000", "20050501000000", "20050801000000"


def link(url, rel, stamp=None):
    return '<%s>; rel="%s"' % (url, rel) + ('; datetime="%s"' % http_date(stamp) if stamp else "")


def ask(server, archives, stamp=WANTED):
    for a in archives:
        a.requests.clear()
    return server.get("/timegate/" + ONE, {"Accept-Datetime": http_date(stamp)})


def test_all_ways_to_answer_are_understood(tmp_path, archives):
    me, other = archives[:2]
    near, far, after = (me.memento(ONE, s) for s in (NEAR, FAR, NEXT))
    original, web = link(ONE, "original"), "/web/%s/%s" % (NEAR, ONE)
    dated = {"Memento-Datetime": http_date(NEAR), "Link": original}
    elsewhere = "http://127.0.0.1:%d/m" % other.port
    # Answers by path, where it leads to, and how many requests that takes.
    cases = {
        "a link has the date": (
            {"gate": (302, {"Location": near, "Link": link(near, "memento", NEAR)})}, near, 1),
        "the memento has the date": (
            {"gate": (302, {"Location": near}), "web": (200, dated)}, near, 2),
        "a relative Location": ({"gate": (302, {"Location": web}), "web": (200, dated)}, near, 2),
        "303": ({"gate": (303, {"Location": web}), "web": (200, dated)}, near, 2),
        "a page that was an error": (
            {"gate": (302, {"Location": near}), "web": (404, dated)}, near, 2),
        "a page that was a redirect": (
            {"gate": (302, {"Location": near}), "web": (301, {**dated, "Location": far})}, near, 2),
        "a TimeGate of a TimeGate": (
            {"gate": (302, {"Location": "/more", "Vary": "accept-datetime"}),
             "more": (302, {"Location": web, "Vary": "negotiate, Accept-Datetime",
                            "Link": original + ", " + link(near, "first memento", NEAR)})},
            near, 2),
        "200 with Content-Location": (
            {"gate": (200, {**dated, "Vary": "accept-datetime", "Content-Location": web})}, near,
            1),
        "200 with a link": (
            {"gate": (200, {**dated, "Link": link(near, "memento", NEAR)})}, near, 1),
        "another host that names the original": (
            {"gate": (302, {"Location": elsewhere}),
             "m": (200, {**dated, "Link": link("https://www.one.example:443/", "original")})},
            elsewhere, 2),
        "a closer one beside it": (
            {"gate": (302, {"Location": after, "Link": ", ".join(
                (original, link(after, "memento", NEXT), link(near, "prev memento", NEAR)))})},
            near, 1),
    }
    table = {}
    me.answer = other.answer = lambda target: (*table[target.split("/")[1].replace(
        "timegate", "gate")], b"")
    archives.list(tmp_path / "list.json", archives)
    with serve(tmp_path, *NO_CACHE, timeout="60s") as server:
        for name, (table, to, requests) in cases.items():
            archives[1].hold(ELSEWHERE)
            table.setdefault("gate", None)
            other.answer = lambda target: (404, {}, b"") if "gate" in target else me.answer(target)
            reply = ask(server, archives)
            assert reply.status == 302 and reply["Location"] == to, (name, reply.raw)
            assert not reply["Seen-Failed"], (name, reply.text)
            assert archives.asked() == requests + 3, name
            assert http_date(NEAR) in reply["Link"]

        # It names a closer one, and so does not choose the closest: there may be more.
        table = {"gate": (302, {"Location": far, "Link": ", ".join(
            (original, link(far, "first memento", FAR), link(near, "last memento", NEAR)))})}
        reply = ask(server, archives)
        assert reply["Location"] == near and reply["Seen-Failed"] == me.name
        assert json.loads(reply.text)["failed"] == {
            me.name: "its TimeGate has not chosen the closest memento that it names"}
        # What it does not say of the others is not made up.
        table = {"gate": (302, {"Location": near, "Link": link(near, "memento", NEAR)})}
        reply = ask(server, archives)
        assert 'rel="memento"' in reply["Link"]
        for word in "first", "last", "prev", "next":
            assert word not in reply["Link"]


def test_what_is_not_the_answer_of_a_timegate_is_looked_for_in_the_timemap(tmp_path, archives):
    me, other = archives[:2]
    near, far = me.memento(ONE, NEAR), me.memento(ONE, FAR)
    original = link(ONE, "original")
    unknown = "http://127.0.0.1:%d/secret" % archives[3].port
    exact = {"Memento-Datetime": http_date(WANTED), "Link": original}
    me.hold(ONE, FAR, NEAR)
    cases = {
        "a page": (200, {}),
        "a status": (400, {}),
        "another original": (302, {"Location": far, "Link": link(ELSEWHERE, "original") + ", " +
                                   link(far, "memento", WANTED)}),
        "no URL of its own": (200, exact),
        "a date that is none": (200, {**exact, "Memento-Datetime": "soon",
                                      "Content-Location": far}),
        "the future": (200, {**exact, "Memento-Datetime": "Fri, 31 Dec 9999 23:59:59 GMT",
                             "Content-Location": far}),
        "the page itself": (302, {"Location": "https://www.one.example/"}),
        "another scheme": (302, {"Location": "file:///etc/passwd"}),
        "an address that is not allowed": (302, {"Location": unknown}),
        "another host": (302, {"Location": "http://127.0.0.1:%d/plain" % other.port}),
        "a circle": (302, {"Location": "/timegate/" + ONE}),
        "long": (302, {"Location": far, "Link": "x" * (1 << 20)}),
        "no HTTP header": (302, {"Location": far, "Link": "\nHTTP/1.1 200 OK\n\n"}),
        "nowhere": (302, {"Location": "/gone"}),
    }
    requests = {"another host": 1, "a circle": 6, "nowhere": 2}
    found = (302, {})
    plain = {"Memento-Datetime": http_date(WANTED)}
    me.answer = lambda target: ((200, {}, me.write(ONE)) if target.startswith("/timemap") else
                                (404, {}, b"") if target == "/gone" else (*found, b""))
    other.answer = lambda target: (200, plain, b"") if target == "/plain" else (404, {}, b"")
    archives.list(tmp_path / "list.json", [me])
    allowed = ",".join("127.0.0.1:%d" % a.port for a in archives[:3])
    with serve(tmp_path, *NO_CACHE, "--allow", allowed, timeout="60s", private=False) as server:
        for name, found in cases.items():
            reply = ask(server, archives)
            assert reply.status == 302 and reply["Location"] == near, (name, reply.raw)
            assert reply["Seen-Failed"] in ("", "archive04"), (name, reply.text)
            assert len(me.requests) == requests.get(name, 1) + 1, (name, me.requests)
            assert not archives[3].requests

        # One that is overloaded is not asked for more; one that has none is believed.
        for status, failed in (503, True), (429, True), (404, False), (410, False):
            found = status, {}
            reply = ask(server, archives)
            assert reply.status == 503 and (me.name in reply["Seen-Failed"]) == failed
            assert len(me.requests) == 1


def test_a_whole_timemap_answers_for_all_dates(tmp_path, archives):
    me, other = archives[:2]
    me.hold(ONE, FAR, NEAR)
    other.hold(ELSEWHERE, FAR, NEAR)
    archives.list(tmp_path / "list.json", [me])
    with serve(tmp_path) as server:
        assert server.get("/timemap/link/" + ONE)["X-Memento-Count"] == "2"
        asked = archives.asked()
        for stamp, to in ("2040", NEAR), ("1990", FAR), ("20050502", NEAR):
            reply = server.get("/memento/%s/%s" % (stamp, ONE))
            assert reply["Location"] == me.memento(ONE, to) and reply["X-Memento-Count"] == "2"
        assert archives.asked() == asked
        assert all("timemap" in r for r in me.requests)
        # TimeGates know one date; now and later are one, too.
        for path in "/timegate/", "/memento/2040/", "/memento/2050/", "/memento/2005/":
            assert server.get(path + ELSEWHERE).status == 302
        assert [r.split("/")[1] for r in me.requests] == ["timemap", "timegate", "timegate"]
        assert len(other.requests) == 3
    archives.list(tmp_path / "list.json")       # nobody has a TimeGate
    with serve(tmp_path) as server:
        for path in "/memento/2005/", "/memento/2006/", "/timemap/link/":
            asked = archives.asked()
            assert server.get(path + ONE)["X-Memento-Count"] == "2"
            assert archives.asked() - asked == (4 if "2005" in path else 0)
        # A TimeMap that is not whole answers for no date.
        me.answer = lambda target: (200, {}, me.write(ELSEWHERE, [NEAR])[:-3])
        assert server.get("/timemap/link/" + ELSEWHERE)["Seen-Failed"] == me.name
        asked = archives.asked()
        assert server.get("/memento/2005/" + ELSEWHERE)["Seen-Failed"] == me.name
        assert archives.asked() == asked + 4


def test_hostile_archives_harm_only_their_own_answers(tmp_path, archives):
    me, other = archives[:2]
    other.hold(ONE, FAR)
    archives.list(tmp_path / "list.json", [other])

    def endless(target):
        def pieces():
            yield large(me).__next__()
            while True:
                yield b"<" + b"x" * 65535
        return 200, {}, pieces()

    with serve(tmp_path, *NO_CACHE, timeout="60s") as server:
        # One line, in no order.
        me.answer = lambda target: (200, {}, large(me, "", [
            365, 399, *range(40, 0, -1), 364, 300]))
        reply = server.get("/memento/json/20081231001000/" + ONE)
        assert not reply["Seen-Failed"]
        assert {name: m["uri"] for name, m in json.loads(reply.text)["mementos"].items()} == {
            "first": other.memento(ONE, FAR), "prev": me.memento(ONE, "20081231000959"),
            "closest": me.memento(ONE, "20081231001000"),
            "next": me.memento(ONE, "20081231001001"), "last": me.memento(ONE, "20090203001639")}
    with serve(tmp_path, *NO_CACHE, timeout="1s") as server:
        me.answer = endless
        before = server.resident()
        reply = until(lambda: (r := ask(server, archives, FAR))["Seen-Failed"] == me.name and r)
        assert reply["Location"] == other.memento(ONE, FAR)
        assert "within 1 s" in json.loads(reply.text)["failed"][me.name]
        assert server.resident() - before < 64 << 20
        # Silent, and silent behind the head.
        archives.list(tmp_path / "list.json", [me, other])
    with serve(tmp_path, *NO_CACHE, timeout="1s") as server:
        near = me.memento(ONE, NEAR)
        me.answer = lambda target: (302, {"Location": near, "Content-Length": 9,
                                          "Link": link(near, "memento", NEAR)}, iter(()))
        reply = until(lambda: not (r := ask(server, archives))["Seen-Failed"] and r)
        assert reply["Location"] == near
        me.silent = True
        reply = until(lambda: (r := ask(server, archives))["Seen-Failed"] == me.name and r)
        assert reply["Location"] == other.memento(ONE, FAR) and "closer" in reply.text
        me.silent = False


def test_proxy_asks_for_the_page_as_it_was_archived(tmp_path, archives):
    me = archives[0]
    archives.list(tmp_path / "list.json", [me])
    host = "http://127.0.0.1:%d" % me.port
    with serve(tmp_path, *NO_CACHE) as server:
        for path, raw in (("/web/20050501000000/" + ONE, "/web/20050501000000id_/" + ONE),
                          ("/web/20050501000000im_/" + ONE, None), ("/m/1/" + ONE, None)):
            me.answer = lambda target: (
                (302, {"Location": host + path, "Link": link(host + path, "memento", NEAR)}, b"")
                if target.startswith("/timegate/") else (200, {}, b"page"))
            me.requests.clear()
            reply = server.get("/memento/proxy/2005/" + ONE)
            assert reply.status == 200 and reply.body == b"page"
            assert me.requests[-1] == (raw or path)
            assert reply["Content-Location"] == host + (raw or path)
            assert reply["Memento-Datetime"] == http_date(NEAR)
            assert "<%s>" % (host + path) in reply["Link"]
