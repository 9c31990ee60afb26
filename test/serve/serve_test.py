"""serve_test.py - what seen serve promises, asked over real connections.

Figures are those of the report on Bloom filters for web archives (HAW, the
Internet Archive and the British Library), whose pilot answered so at
bloom.mementodepot.org.
"""
import concurrent.futures
import email.utils
import hashlib
import html.parser
import json
import os
import re
import socket
import subprocess
import xml.etree.ElementTree as xml

import pytest

from serving import SEEN, Client, Server, build, drip, run, until

ZAGREB = "https://www.zzzr.hr/Y/m/Europe/Europe/Zagreb"
BERLIN = "https://www.zzzr.hr/Y/m/Europe/Europe/Berlin"
ROBOTS = "https://wordpress.com/robots.txt"
KEYNES = "http://www.econ.yale.edu/smith/econ116a/keynes1.pdf"
ODD = "http://a.example//b//c?q=http://d.example/&e=%2F"
TOKEN = {"Authorization": "Bearer kruskovac"}
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The three archives of the report."""
    it = tmp_path_factory.mktemp("archives")
    build(it / "haw.seen", [ZAGREB, ROBOTS, ODD], "--meta", "title=Croatian Web Archive",
          "--meta", "as-of=2021-12-12", "--meta", "holder=NSK",
          "--meta", "timemap=https://haw.example/timemap/link/{url}")
    build(it / "ia.seen", [KEYNES, ROBOTS], "--rate", "0.1%",
          "--meta", "timemap=https://ia.example/timemap/link/",
          "--meta", "timegate=https://ia.example/timegate/")
    build(it / "ukwa.seen", [KEYNES, ROBOTS], "--profile", "whatwg",
          "--meta", "timegate=https://ukwa.example/{url}?from=seen")
    return it


@pytest.fixture(scope="module")
def server(folder):
    with Server(folder, ".", "--threads", "2") as it:
        yield it


# --- one URL ---

def test_figure_1_a_url_that_is_held_is_200(server):
    answer = server.ask("HEAD", "/haw/" + ZAGREB)
    assert answer.status == 200 and answer.raw.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer["Content-Length"] == "0"
    assert answer["Seen-Answer"] == "maybe" and answer["Seen-Archive"] == "haw"
    assert 0 <= float(answer["Seen-Rate"]) < 0.01
    assert answer["Seen-Profile"] == "surt" and answer["Seen-As-Of"] == "2021-12-12"
    assert email.utils.parsedate_to_datetime(answer["Date"])


def test_figure_2_a_url_that_is_not_held_is_404(server):
    answer = server.ask("HEAD", "/haw/" + BERLIN)
    assert answer.raw.startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert answer["Content-Length"] == "0" and answer["Seen-Answer"] == "no"
    assert answer["Seen-Archive"] == "haw"


def test_curl_sees_the_figures_too(server):
    done = subprocess.run(["curl", "-sI", "http://127.0.0.1:%d/haw/%s" % (server.port, ZAGREB)],
                          stdout=subprocess.PIPE, check=True)
    assert done.stdout.startswith(b"HTTP/1.1 200 OK\r\n")


def test_get_is_answered_like_head_and_has_no_body(server):
    for url, status in (ZAGREB, 200), (BERLIN, 404):
        answer = server.get("/haw/" + url)
        assert answer.status == status and answer.body == b""


def test_an_unknown_archive_is_not_taken_for_a_url_that_is_not_held(server):
    answer = server.get("/nsk/" + ZAGREB)
    assert answer.status == 404 and answer["Seen-Answer"] == "unknown-archive"
    assert "nsk" in json.loads(answer.text)["error"]


def test_what_is_no_url_is_400(server):
    for url in "", "http://", "http%3A%2F%2Fa.example%2":
        answer = server.get("/haw/" + url)
        assert answer.status == 400 and answer["Seen-Answer"] == "bad-url", url


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """An archive that takes URLs as bytes."""
    it = tmp_path_factory.mktemp("exact")
    build(it / "raw.seen", [ODD], "--profile", "raw")
    with Server(it, "raw=raw.seen") as server:
        yield server


def test_the_url_is_the_raw_rest_of_the_target(exact):
    assert exact.status("/raw/" + ODD) == 200
    for other in ODD.replace("//c", "/c"), ODD.replace("%2F", "/"), ODD.split("?")[0], \
            ODD + "#", "/" + ODD, ODD.replace("http", "HTTP"):
        assert exact.status("/raw/" + other) == 404, other


def test_an_encoded_url_is_decoded_once(exact):
    once = "".join("%%%02x" % ord(c) if not c.isalnum() else c for c in ODD)
    assert once.startswith("http%3a%2f%2f")
    assert exact.status("/raw/" + once) == 200
    assert exact.status("/raw/" + once.replace("http%3a", "HTTP%3A")) == 404
    assert exact.status("/raw/" + once.replace("http%3a", "http%3A")) == 200
    assert exact.status("/raw/" + once.replace("%", "%25")) == 404


def test_everything_can_be_put_under_a_path(folder):
    with Server(folder, ".", "--base", "/bloom") as server:
        assert server.status("/bloom/haw/" + ZAGREB) == 200
        assert server.status("/bloom/agg/" + ROBOTS) == 200
        assert server.status("/bloom/") == 200
        for target in "/haw/" + ZAGREB, "/bloomhaw/" + ZAGREB, "/", "/agg/" + ROBOTS:
            answer = server.get(target)
            assert answer.status == 404 and answer["Seen-Answer"] == ""
        assert "http://seen.example/bloom/sitemap.xml" in server.get("/bloom/robots.txt").text


def test_http_1_0_is_closed_after_the_answer_unless_it_wants_more(server):
    with server.client() as client:
        answer = client.ask("GET", "/haw/" + ZAGREB, version="1.0")
        assert answer.status == 200 and answer["Connection"] == "close"
        assert client.closed()
    with server.client() as client:
        for _ in range(3):
            answer = client.ask("GET", "/haw/" + ZAGREB, {"Connection": "keep-alive"},
                                version="1.0")
            assert answer.status == 200 and answer["Connection"] == "keep-alive"


def test_connection_close_is_kept_to(server):
    with server.client() as client:
        assert client.ask("GET", "/archives", {"Connection": "close"})["Connection"] == "close"
        assert client.closed()


def test_pipelined_requests_are_answered_in_order(server):
    asked = []
    for i in range(2000):
        asked += [("/haw/" + ZAGREB, 200), ("/haw/" + BERLIN, 404)]
        asked += {0: [("/ia/" + KEYNES, 200)], 1: [("/none/" + KEYNES, 404)],
                  2: [("/haw/http%3A%2F%2Fb.example%2F", 404)],
                  3: [("/haw/", 400)], 4: [("/healthz", 200)]}.get(i % 7, [])
    with server.client() as client:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            sent = pool.submit(client.send, "".join(
                "GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % target for target, _ in asked))
            for i, (target, status) in enumerate(asked):
                assert client.read().status == status, (i, target)
            sent.result()


def test_a_request_may_come_byte_by_byte(server):
    with server.client() as client:
        for byte in "GET /haw/%s HTTP/1.1\r\nHost: a\r\n\r\n" % ZAGREB:
            client.send(byte)
        assert client.read().status == 200


def test_a_client_that_sends_no_more_still_hears_the_answer(server):
    with server.client() as client:
        client.send("GET /archives HTTP/1.1\r\nHost: a\r\n\r\n" * 3)
        client.socket.shutdown(1)
        for _ in range(3):
            assert len(json.loads(client.read().text)["archives"]) == 3
        assert client.closed()


def test_other_methods_are_refused_with_those_that_are_allowed(server):
    for method, target in ("PATCH", "/haw/" + ZAGREB), ("POST", "/haw/" + ZAGREB), \
                          ("GET", "/haw"), ("PUT", "/agg/" + ZAGREB), ("DELETE", "/archives"):
        answer = server.ask(method, target)
        assert answer.status == 405 and method not in answer["Allow"], (method, target)


# --- one URL, every archive ---

def held(answer):
    return {a["name"]: a["seen"] for a in json.loads(answer.text)["archives"]}


def test_figure_8_a_url_is_held_by_three_of_three_archives(server):
    answer = server.get("/agg/" + ROBOTS)
    assert answer.status == 200 and answer["Content-Type"] == "application/json"
    assert held(answer) == {"haw": True, "ia": True, "ukwa": True}
    assert json.loads(answer.text)["held"] == 3 and json.loads(answer.text)["url"] == ROBOTS


def test_figure_9_a_url_is_held_by_two_of_three_archives(server):
    answer = server.get("/agg/" + KEYNES)
    assert held(answer) == {"haw": False, "ia": True, "ukwa": True}
    assert json.loads(answer.text)["held"] == 2


def test_a_url_that_nobody_holds_is_an_answer_too(server):
    answer = server.get("/agg/" + BERLIN)
    assert answer.status == 200 and not any(held(answer).values())


def test_agg_tells_rate_date_and_where_to_go(server):
    haw, ia, ukwa = json.loads(server.get("/agg/" + ROBOTS).text)["archives"]
    assert haw["title"] == "Croatian Web Archive" and haw["as_of"] == "2021-12-12"
    assert haw["timemap"] == "https://haw.example/timemap/link/" + ROBOTS
    assert ia["timegate"] == "https://ia.example/timegate/" + ROBOTS
    assert ukwa["timegate"] == "https://ukwa.example/%s?from=seen" % ROBOTS
    assert ukwa["timemap"] is None and 0 <= ia["rate"] <= 0.001


class Page(html.parser.HTMLParser):
    """What a browser would make of it: its text, its links, its elements."""

    def __init__(self, text):
        super().__init__()
        self.words, self.links, self.tags = "", [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [v for n, v in attrs if n in ("href", "src", "action")]
        assert not [n for n, _ in attrs if n.startswith("on")]

    def handle_data(self, data):
        self.words += data


def test_a_browser_is_shown_html(server):
    answer = server.get("/agg/" + KEYNES, {"Accept": BROWSER})
    assert answer["Content-Type"].startswith("text/html") and answer["Vary"] == "Accept"
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    page = Page(answer.text)
    assert "2 of 3 archives may hold it" in page.words and KEYNES in page.words
    assert "https://ia.example/timemap/link/" + KEYNES in page.links


def test_what_depends_on_accept_says_so(server):
    for accept in BROWSER, "application/json", "application/link-format":
        assert server.get("/agg/" + KEYNES, {"Accept": accept})["Vary"] == "Accept"
    assert server.get("/agg/" + KEYNES)["Vary"] == "Accept"


def test_the_form_of_the_page_asks_without_javascript(server):
    answer = server.get("/agg/?url=http%3A%2F%2Fwww.econ.yale.edu%2Fsmith%2Fecon116a%2Fkeynes1.pdf")
    assert json.loads(answer.text)["url"] == KEYNES and json.loads(answer.text)["held"] == 2


def links(text):
    """application/link-format, strictly (RFC 6690), as (URI, attributes)."""
    found, at = [], 0
    link = re.compile(r'\s*<([^<>"\s]*)>((?:\s*;\s*[a-z]+="[^"]*")*)\s*(,|$)')
    while at < len(text):
        m = link.match(text, at)
        assert m, text[at:]
        found.append((m[1], dict(re.findall(r'([a-z]+)="([^"]*)"', m[2]))))
        at = m.end()
    return found


@pytest.mark.parametrize("target, headers", [
    ("/timemap/link/", {}), ("/agg/", {"Accept": "application/link-format"})])
def test_an_index_timemap_lists_timemaps_and_no_mementos(server, target, headers):
    answer = server.get(target + KEYNES, headers)
    assert answer.status == 200 and answer["Content-Type"] == "application/link-format"
    found = links(answer.text)
    assert not answer.text.rstrip().endswith(",")
    by = {a["rel"]: uri for uri, a in found}
    assert set(by) == {"original", "timegate", "self", "timemap"}
    assert by["original"] == KEYNES
    assert by["self"] == "http://seen.example/timemap/link/" + KEYNES
    assert by["timegate"] == "http://seen.example/timegate/" + KEYNES
    assert [uri for uri, a in found if a["rel"] == "timemap"] == \
        ["https://ia.example/timemap/link/" + KEYNES]   # haw holds it not, ukwa has none
    assert all(a.get("type") == "application/link-format" for _, a in found
               if a["rel"] in ("self", "timemap"))
    assert "memento" not in answer.text


def test_the_address_of_a_server_can_be_told(folder):
    with Server(folder, ".", "--url", "https://bloom.example") as server:
        assert "<https://bloom.example/timegate/" in server.get("/timemap/link/" + KEYNES).text
        assert "<loc>https://bloom.example/files/haw.seen</loc>" in server.get("/sitemap.xml").text


def test_a_timemap_that_nobody_holds_is_404(server):
    for target, headers in ("/timemap/link/", {}), ("/agg/", {"Accept": "application/link-format"}):
        answer = server.get(target + BERLIN, headers)
        assert answer.status == 404 and answer["Seen-Answer"] == "no"


def test_an_archive_whose_profile_refuses_the_url_says_neither_yes_nor_no(server):
    odd = "what.is-this"        # a line of a CDX for surt, not a URL for whatwg
    assert [server.status("/%s/%s" % (name, odd)) for name in ("haw", "ukwa")] == [404, 400]
    answer = json.loads(server.get("/agg/" + odd).text)
    assert [a["seen"] for a in answer["archives"]] == [False, False, None]
    assert answer["unknown"] == 1 and "accept" in answer["archives"][2]["why"]
    assert "1 cannot answer" in Page(server.get("/agg/" + odd, {"Accept": BROWSER}).text).words
    assert lines(server.ask("POST", "/agg", body=odd)) == [("-", "ukwa", odd)]
    assert json.loads(server.ask("POST", "/agg", body=json.dumps([odd])).text) == [
        {"url": odd, "archives": [], "unknown": ["ukwa"]}]
    for path in "/timemap/link/", "/timegate/":     # for good: not a matter of time
        assert server.status(path + odd) == 404


def test_a_timegate_leads_to_the_archive_that_errs_least(server):
    answer = server.get("/timegate/" + ROBOTS, {"Accept-Datetime": "Sun, 12 Dec 2021 23:22:30 GMT"})
    assert answer.status == 302
    assert answer["Location"] in ("https://ia.example/timegate/" + ROBOTS,
                                  "https://ukwa.example/%s?from=seen" % ROBOTS)
    assert "accept-datetime" in answer["Vary"].lower()
    assert 'rel="original"' in answer["Link"] and ROBOTS in answer["Link"]
    assert server.status("/timegate/" + BERLIN) == 404
    assert server.status("/timegate/" + ZAGREB) == 404  # haw has no TimeGate


def test_hostile_metadata_and_urls_stay_text(tmp_path):
    url = "http://a.example/'\"<script>alert(1)</script>&amp;"
    build(tmp_path / "evil.seen", [url], "--meta", 'title=<script>alert("1")</script>',
          "--meta", "timemap=javascript:alert(1)//{url}",
          "--meta", 'timegate=https://a.example/"onclick="alert(1)/{url}')
    with Server(tmp_path, ".") as server:
        raw = server.get("/agg/?url=" + "".join("%%%02x" % ord(c) for c in url),
                         {"Accept": BROWSER})
        page = Page(raw.text)
        assert raw.status == 200 and "1 of 1 archives" in page.words
        assert "script" not in page.tags and "<script" not in raw.text
        assert '<script>alert("1")</script>' in page.words and url in page.words
        assert not [link for link in page.links if link.lower().startswith("javascript")]
        answer = json.loads(server.get("/agg/?url=" + "".join("%%%02x" % ord(c) for c in url)).text)
        assert answer["url"] == url and answer["archives"][0]["title"][:8] == "<script>"
        found = links(server.get("/timemap/link/" + url.replace("<", "%3C")
                                 .replace(">", "%3E").replace('"', "%22")).text)
        assert found[0][1] == {"rel": "original"}
        assert xml.fromstring(server.get("/sitemap.xml").text) is not None


# --- lists ---

def lines(answer):
    return [tuple(line.split("\t")) for line in answer.text.splitlines()]


LIST = [ZAGREB, BERLIN, "http://", ROBOTS]


def test_a_list_of_lines_is_answered_line_by_line(server):
    answer = server.ask("POST", "/haw", body="\n".join(LIST) + "\n")
    assert answer.status == 200
    assert answer["Content-Type"].startswith("text/tab-separated-values")
    assert lines(answer) == [("seen", ZAGREB), ("new", BERLIN), ("!", "http://"), ("seen", ROBOTS)]
    answer = server.ask("POST", "/agg", body="\r\n".join(LIST + [KEYNES]))
    assert [row[0] for row in lines(answer)] == ["haw", "-", "!", "haw,ia,ukwa", "ia,ukwa"]
    assert {row[1] for row in lines(answer)} == {"-"} and lines(answer)[1][2] == BERLIN


def test_a_list_of_json_is_answered_as_json(server):
    for body in json.dumps(LIST), json.dumps({"urls": LIST}), " \n" + json.dumps(LIST, indent=4):
        answer = server.ask("POST", "/haw", {"Content-Type": "application/json"}, body=body)
        assert answer["Content-Type"] == "application/json"
        assert json.loads(answer.text) == [
            {"url": ZAGREB, "seen": True}, {"url": BERLIN, "seen": False},
            {"url": "http://", "seen": None}, {"url": ROBOTS, "seen": True}]
    answer = json.loads(server.ask("POST", "/agg", body=json.dumps(LIST)).text)
    assert [a["archives"] for a in answer] == [["haw"], [], None, ["haw", "ia", "ukwa"]]
    assert [a["unknown"] for a in answer] == [[], [], None, []]


def test_lists_carry_rate_and_date_as_other_answers_do(server):
    one, answer = server.get("/haw/" + ZAGREB), server.ask("POST", "/haw", body=ZAGREB)
    for name in "Seen-Archive", "Seen-Rate", "Seen-Profile", "Seen-As-Of":
        assert one[name] and answer[name] == one[name], name
    answer = server.ask("POST", "/agg", body=ZAGREB)
    rates = dict(it.split("=") for it in answer["Seen-Rate"].split(", "))
    assert rates["haw"] == one["Seen-Rate"] and list(rates) == ["haw", "ia", "ukwa"]
    assert answer["Seen-As-Of"] == "haw=2021-12-12"


def test_accept_decides_over_what_was_sent(server):
    answer = server.ask("POST", "/haw", {"Accept": "application/json"}, body=ZAGREB)
    assert json.loads(answer.text) == [{"url": ZAGREB, "seen": True}]
    answer = server.ask("POST", "/haw", {"Accept": "text/tab-separated-values"},
                        body=json.dumps([ZAGREB]))
    assert lines(answer) == [("seen", ZAGREB)]


def test_strings_of_json_are_unescaped_and_come_back_as_they_were(server):
    url = 'http://a.example/"\\/\u010d\U0001f600\t'
    for body in json.dumps([url]), json.dumps([url], ensure_ascii=False):
        answer = server.ask("POST", "/haw", body=body)
        assert json.loads(answer.text)[0]["url"] == url


def test_every_string_of_json_has_one_answer(server):
    text = {"Accept": "text/tab-separated-values"}
    body = json.dumps([ZAGREB, "", BERLIN + "\nseen\thttp://forged.example/\r", ""])
    assert [a["seen"] for a in json.loads(server.ask("POST", "/haw", body=body).text)] == [
        True, None, False, None]
    assert lines(server.ask("POST", "/haw", text, body=body)) == [
        ("seen", ZAGREB), ("!", ""), ("new", BERLIN + "seenhttp://forged.example/"), ("!", "")]
    assert [row[0] for row in lines(server.ask("POST", "/agg", text, body=body))] == [
        "haw", "!", "-", "!"]


def test_a_body_may_come_in_chunks_of_any_size(server):
    for text in "\n".join(LIST).encode(), json.dumps(LIST).encode():
        for n in 1, 7, 1000:
            body = drip(text[i:i + n] for i in range(0, len(text), n))
            answer = server.ask("POST", "/haw", {"Transfer-Encoding": "chunked"}, body=body)
            assert answer.status == 200 and answer.text.count(BERLIN) == 1
            assert answer.text.count("!") + answer.text.count("null") == 1


def test_an_empty_list_has_an_empty_answer(server):
    assert server.ask("POST", "/haw", body="").text == ""
    assert server.ask("POST", "/haw", body="\n\n").text == ""
    assert json.loads(server.ask("POST", "/haw", body="[]").text) == []
    assert json.loads(server.ask("POST", "/agg", body='{"urls": []}').text) == []


def test_malformed_json_is_400(server):
    for body in '["http://a.example/"', '["http://a.exam', "[1, 2]", "[}nonsense", '{"urls": nul}':
        answer = server.ask("POST", "/haw", body=body)
        assert answer.status == 400 and "JSON" in json.loads(answer.text)["error"], body


def test_a_list_is_answered_to_http_1_0_too(server):
    with server.client() as client:
        answer = client.ask("POST", "/haw", body=ZAGREB, version="1.0")
        assert lines(answer) == [("seen", ZAGREB)] and answer["Connection"] == "close"


def test_who_waits_for_100_continue_is_told_so(server):
    with server.client() as client:
        head = "POST /haw HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
        client.send(head % len(ZAGREB))
        assert client.read().status == 100
        client.send(ZAGREB)
        assert lines(client.read()) == [("seen", ZAGREB)]
        client.send((head % len(ZAGREB)).replace("/haw", "/nobody"))
        assert client.read().status == 404      # and no 100 before it


def test_a_body_that_is_too_long_is_413(folder):
    with Server(folder, ".", "--body", "1000") as server:
        assert server.ask("POST", "/haw", body="x" * 1000).status == 200
        assert server.ask("POST", "/haw", body="x" * 1001).status == 413
        with server.client() as client:     # told before it is sent
            client.send("POST /agg HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                        "Content-Length: 999999\r\n\r\n")
            assert client.read().status == 413
        body = drip([b"http://a.example/\n"] * 100)
        with server.client() as client:
            answer = client.ask("POST", "/haw", {"Transfer-Encoding": "chunked"}, body=body)
            assert answer.status == 413


def test_a_million_urls_are_answered_as_seen_check_does(tmp_path):
    urls = ["http://h%d.example/%d?a=%d" % (i % 997, i, i * i % 1009) for i in range(1000000)]
    build(tmp_path / "even.seen", urls[::2], "--capacity", "500k", "--rate", "5%")
    text = "\n".join(urls) + "\n"
    want = run("check", tmp_path / "even.seen", stdin=text, codes=(1,))
    with Server(tmp_path, ".") as server, server.client(30) as client:
        before = server.resident()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            sent = pool.submit(client.send, ("POST /even HTTP/1.1\r\nHost: a\r\n"
                                             "Content-Length: %d\r\n\r\n" % len(text)) + text)
            answer = client.read()
            sent.result()
        assert answer.status == 200 and answer.text == want
        assert server.resident() - before < 40 << 20
        assert server.metrics()["seen_asked_total"] == 1000000


def test_an_answer_may_be_of_any_size(tmp_path):
    build(tmp_path / "one", [ZAGREB])
    names = ["%03d" % i + "x" * 197 for i in range(350)]
    for name in names:
        os.link(tmp_path / "one", tmp_path / (name + ".seen"))
    with Server(tmp_path, ".", "--threads", "1") as server:
        answer = server.ask("POST", "/agg", body=(ZAGREB + "\n") * 256)
        assert answer.text == (",".join(names) + "\t-\t" + ZAGREB + "\n") * 256
        assert len(answer.body) > 16 << 20      # and asked together, so in one chunk


# --- what is under a URL ---

def test_some_filters_tell_whether_anything_is_under_a_url(tmp_path, server):
    build(tmp_path / "deep.seen", ["http://a.example/b/c/d?e", "http://b.example/"],
          "--kind", "layered:4", "--profile", "surt")
    with Server(tmp_path, ".") as deep:
        for url, status in [("http://a.example/", 200), ("http://a.example/b/", 200),
                            ("http://a.example/b/c/", 200), ("http://c.example/", 404),
                            ("http://a.example/x/", 404), ("http://", 400)]:
            answer = deep.get("/prefix/deep/" + url)
            assert answer.status == status, url
            assert answer["Seen-Answer"] == {200: "maybe", 404: "no", 400: "bad-url"}[status]
            assert status == 400 or answer["Seen-Archive"] == "deep" and answer["Seen-Rate"]
    answer = server.get("/prefix/haw/http://a.example/")
    assert answer.status == 501 and answer["Seen-Answer"] == "unable"
    assert server.get("/prefix/none/http://a.example/")["Seen-Answer"] == "unknown-archive"
    assert server.status("/prefix/haw") == 404


# --- archives that cost much ---

@pytest.fixture(scope="module")
def costly(tmp_path_factory):
    """One that asks 256 filters with 64 probes each, and one that does not."""
    it = tmp_path_factory.mktemp("costly")
    build(it / "costly.seen", ["http://a.example/%d" % i for i in range(300)], "--kind",
          "dynamic:256/bloom:md5+sha1", "--probes", "64", "--capacity", "300",
          "--meta", "timegate=http://tg.example/")
    build(it / "fast.seen", [ZAGREB])
    return it


def test_an_expensive_archive_answers_as_others_do(costly):
    one, none = "http://a.example/1", "http://b.example/1"
    with Server(costly, ".", "--threads", "2") as server:
        for _ in range(3):
            assert server.status("/costly/" + one) == 200
            answer = server.ask("HEAD", "/costly/" + none)
            assert answer.status == 404 and answer["Seen-Answer"] == "no" and answer["Seen-Rate"]
        assert server.get("/costly/http%3A%2")["Seen-Answer"] == "bad-url"
        assert server.status("/prefix/costly/" + one) == 501
        assert held(server.get("/agg/" + one)) == {"costly": True, "fast": False}
        assert held(server.get("/agg/" + ZAGREB)) == {"costly": False, "fast": True}
        assert server.get("/timegate/" + one)["Location"] == "http://tg.example/" + one
        assert server.status("/timegate/" + none) == server.status("/timemap/link/" + none) == 404
        assert server.status("/agg/http://") == 400
        urls = ["http://a.example/%d" % i for i in range(280, 320)] * 20 + ["http://"]
        want = (["seen"] * 20 + ["new"] * 20) * 20 + ["!"]
        for body in "\n".join(urls), json.dumps(urls):
            answer = server.ask("POST", "/costly", {"Accept": "text/tab-separated-values"},
                                body=body)
            assert lines(answer) == list(zip(want, urls))
        answer = server.ask("POST", "/agg", body="\n".join(urls))
        assert lines(answer) == [({"seen": "costly", "new": "-"}.get(w, w), "-", u)
                                 for w, u in zip(want, urls)]
        with server.client() as client:     # and over the Redis protocol
            client.send("BF.EXISTS costly %s\r\nBF.EXISTS fast %s\r\nBF.EXISTS costly %s\r\n"
                        "BF.MEXISTS costly %s\r\nPING\r\n" % (one, ZAGREB, none, " ".join(urls[:600])))
            assert [client.line() for _ in range(3)] == [b":1", b":1", b":0"]
            assert client.line() == b"*600"
            assert [client.line() for _ in range(600)] == [
                {"seen": b":1", "new": b":0"}[w] for w in want[:600]]
            assert client.line() == b"+PONG"
        with server.client() as client:     # in order, beside others, and to the end
            client.send("".join("GET /%s/%s HTTP/1.1\r\nHost: a\r\n\r\n" % (name, one)
                                for name in ("costly", "fast") * 20))
            assert [client.read().status for _ in range(40)] == [200, 404] * 20
            answer = client.ask("GET", "/costly/" + one, {"Connection": "close"})
            assert answer.status == 200 and client.closed()


def test_a_long_list_for_an_expensive_archive_holds_up_nobody(costly):
    urls = "".join("http://c.example/%d\n" % i for i in range(10000))     # 1.4 s
    with Server(costly, ".", "--threads", "1") as server:
        with server.client(60) as slow, server.client(60) as other:
            for client in slow, other:
                client.send("POST /costly HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s"
                            % (len(urls), urls))
            slow.more()     # it is under way
            for _ in range(20):
                assert server.status("/fast/" + ZAGREB) == 200
            assert server.status("/costly/http://a.example/1") == 200
            assert server.metrics()["seen_asked_total"] < 19000
            assert all(client.read().text.count("\n") == 10000 for client in (slow, other))
        with server.client() as gone:       # the client goes while it is asked
            gone.send("POST /agg HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s"
                      % (len(urls), urls))


def test_an_archive_that_costs_too_much_is_not_served(costly):
    with Server(costly, ".", "--cost", "100k", trouble=True) as server:
        answer = server.get("/costly/http://a.example/1")
        assert answer.status == 503 and "--cost 100000" in json.loads(answer.text)["error"]
        assert held(server.get("/agg/" + ZAGREB)) == {"costly": None, "fast": True}
        assert lines(server.ask("POST", "/agg", body=BERLIN)) == [("-", "costly", BERLIN)]
        until(lambda: any("costly.seen: a lookup costs" in line for line in server.troubles))
    done = subprocess.run([SEEN, "serve", "--cost", "100k", "a=%s/costly.seen" % costly],
                          stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"--cost 100000" in done.stderr


# --- adding ---

def counters(folder):
    build(folder / "count.seen", [ZAGREB], "--kind", "counting:8")
    build(folder / "fuse.seen", [ZAGREB], "--kind", "fuse")
    build(folder / "full.seen", [], "--capacity", "10")
    (folder / "token").write_text("kruskovac\n")
    return folder


@pytest.fixture
def writable(tmp_path):
    with Server(counters(tmp_path), ".", "-w", "--token", "token", "--threads", "2") as it:
        yield it


def test_adds_need_the_token(writable):
    for method, target in ("PUT", "/count/" + BERLIN), ("DELETE", "/count/" + ZAGREB), \
                          ("POST", "/add/count"):
        for headers in {}, {"Authorization": "Bearer kruskovacc"}, \
                {"Authorization": "Bearer kruskova"}, {"Authorization": "Bearer "}, \
                {"Authorization": "Basic kruskovac"}, {"Authorization": "kruskovac"}:
            answer = writable.ask(method, target, headers, body=BERLIN if method == "POST" else None)
            assert answer.status == 401 and answer["WWW-Authenticate"] == "Bearer"
    assert writable.status("/count/" + BERLIN) == 404
    assert writable.status("/count/" + ZAGREB) == 200


def test_a_server_that_is_not_writable_takes_no_adds(folder):
    for method, target in ("PUT", "/haw/" + BERLIN), ("DELETE", "/haw/" + ZAGREB), \
                          ("POST", "/add/haw"):
        with Server(folder, ".") as server:
            assert server.ask(method, target, TOKEN).status == 403


def test_a_token_is_needed_to_be_writable(folder):
    done = subprocess.run([SEEN, "serve", "-w", str(folder)], stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"--token" in done.stderr


def test_what_is_asked_before_an_add_is_answered_before_it(writable):
    put = "PUT /count/%s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer kruskovac\r\n\r\n"
    get = "GET /count/%s HTTP/1.1\r\nHost: a\r\n\r\n"
    with writable.client() as client:
        for i in range(50):
            url = "http://a.example/%d" % i
            client.send(get % url + put % url + get % url + put % url)
            assert [client.read().status for _ in range(4)] == [404, 201, 200, 200]


def test_both_protocols_write_to_one_archive(writable):
    def by_http(i):
        return writable.ask("PUT", "/count/http://a.example/%d" % i, TOKEN).status == 201

    def by_redis(i):
        with writable.client() as client:
            client.send("AUTH kruskovac\r\nCF.ADDNX count http://a.example/%d\r\n" % i)
            return [client.line(), client.line()] == [b"+OK", b":1"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        done = [pool.submit(by, i) for i in range(40) for by in (by_http, by_redis)]
        fresh = [d.result() for d in done]
    assert all(a or b for a, b in zip(fresh[::2], fresh[1::2]))
    assert all(writable.status("/count/http://a.example/%d" % i) == 200 for i in range(40))


def test_put_adds_and_tells_what_was_new(writable):
    assert writable.status("/count/" + BERLIN) == 404
    answer = writable.ask("PUT", "/count/" + BERLIN, TOKEN)
    assert answer.status == 201 and answer["Seen-Answer"] == "new"
    assert writable.status("/count/" + BERLIN) == 200
    answer = writable.ask("PUT", "/count/" + BERLIN, TOKEN)
    assert answer.status == 200 and answer["Seen-Answer"] == "seen"


def test_delete_removes_from_a_filter_that_counts(writable):
    assert writable.ask("DELETE", "/count/" + ZAGREB, TOKEN).status == 204
    assert writable.status("/count/" + ZAGREB) == 404
    answer = writable.ask("DELETE", "/count/" + ZAGREB, TOKEN)
    assert answer.status == 404 and answer["Seen-Answer"] == "no"


def test_what_a_filter_cannot_do_is_409(writable):
    assert writable.ask("PUT", "/fuse/" + BERLIN, TOKEN).status == 409
    assert writable.ask("POST", "/add/fuse", TOKEN, body=BERLIN).status == 409
    assert writable.ask("DELETE", "/full/" + BERLIN, TOKEN).status == 409
    assert writable.status("/fuse/" + ZAGREB) == 200


def test_a_full_filter_is_507_and_still_answers(writable):
    urls = ["http://a.example/%d" % i for i in range(60)]
    answer = [writable.ask("PUT", "/full/" + url, TOKEN).status for url in urls]
    assert answer[0] == 201 and answer[-1] == 507
    assert writable.status("/full/" + urls[0]) == 200
    answer = writable.ask("POST", "/add/full", TOKEN,
                          body="\n".join("http://b.example/%d" % i for i in range(30000)))
    assert answer.status == 507


def test_a_list_is_added_and_counted(writable):
    answer = writable.ask("POST", "/add/count", TOKEN,
                          body="\n".join([BERLIN, ROBOTS, ZAGREB, "http://", BERLIN]))
    assert answer.status == 200
    assert json.loads(answer.text) == {"offered": 5, "new": 2, "bad": 1}
    answer = writable.ask("POST", "/add/count", TOKEN, body=json.dumps([KEYNES]))
    assert json.loads(answer.text) == {"offered": 1, "new": 1, "bad": 0}
    assert [who for who, _ in lines(writable.ask("POST", "/count", body="\n".join(
        [BERLIN, ROBOTS, KEYNES, ODD])))] == ["seen", "seen", "seen", "new"]


def test_bad_adds_are_400_and_unknown_archives_404(writable):
    assert writable.ask("PUT", "/count/http://", TOKEN).status == 400
    assert writable.ask("PUT", "/count/http%3A%2F%2Fa%2", TOKEN).status == 400
    assert writable.ask("PUT", "/nobody/" + BERLIN, TOKEN).status == 404
    assert writable.ask("POST", "/add/nobody", TOKEN, body=BERLIN).status == 404
    assert writable.ask("POST", "/add/count", TOKEN, body='["http://a.example/"').status == 400
    # The fault is at the end, when the URLs before it are being added.
    urls = ['"http://%d.a.example/"' % i for i in range(1000)]
    assert writable.ask("POST", "/add/count", TOKEN,
                        body="[%s, oops" % ", ".join(urls)).status == 400


def test_many_urls_are_added_in_one_list(tmp_path):
    counters(tmp_path)
    build(tmp_path / "big.seen", [], "--capacity", "200k")
    urls = ["http://a.example/%d" % i for i in range(100000)]
    with Server(tmp_path, ".", "-w", "--token", "token", "--sync", "no") as server:
        text = "\n".join(urls).encode()
        answer = server.ask("POST", "/add/big", TOKEN | {"Transfer-Encoding": "chunked"},
                            body=drip(text[i:i + 50000] for i in range(0, len(text), 50000)))
        assert json.loads(answer.text)["offered"] == 100000
        assert json.loads(answer.text)["new"] > 99000
        answer = server.ask("POST", "/big", body=text)
        assert answer.text.count("seen\t") == 100000
    assert run("check", "--only", "new", tmp_path / "big.seen", stdin=text) == ""


def test_what_was_acknowledged_is_there_after_kill_9(tmp_path):
    counters(tmp_path)
    for sync in "always", "everysec", "no":
        urls = ["http://%s.example/%d" % (sync, i) for i in range(50)]
        server = Server(tmp_path, ".", "-w", "--token", "token", "--sync", sync).__enter__()
        try:
            with server.client() as client:
                for url in urls:
                    assert client.ask("PUT", "/count/" + url, TOKEN).status in (200, 201)
        finally:
            server.kill()
        with Server(tmp_path, ".") as again:
            assert [again.status("/count/" + url) for url in urls] == [200] * 50


def test_an_add_is_seen_at_once_on_every_connection(tmp_path):
    counters(tmp_path)
    with Server(tmp_path, ".", "-w", "--token", "token", "--sync", "no",
                "--threads", "2") as server:
        clients = [server.client() for _ in range(12)]
        for i in range(150):
            url = "http://c.example/%d" % i
            writer, reader = clients[i % 12], clients[(i * 7 + 5) % 12]
            assert reader.get("/count/" + url).status == 404
            assert writer.ask("PUT", "/count/" + url, TOKEN).status == 201
            assert [c.get("/count/" + url).status for c in clients] == [200] * 12
            if i % 5 == 0:
                assert reader.ask("DELETE", "/count/" + url, TOKEN).status == 204
                assert [c.get("/count/" + url).status for c in clients] == [404] * 12
        for client in clients:
            client.socket.close()


# --- what there is ---

def test_archives_are_listed_and_described(server):
    answer = json.loads(server.get("/archives").text)
    assert [a["name"] for a in answer["archives"]] == ["haw", "ia", "ukwa"]
    haw = answer["archives"][0]
    assert haw["kind"] == "blocked" and haw["capacity"] == 1000 and haw["entries"] == 3
    assert haw["file"] == "files/haw.seen" and not haw["writable"]
    info = json.loads(server.get("/info/haw").text)
    assert info["meta"]["holder"] == "NSK" and info["name"] == "haw"
    assert server.status("/info/nobody") == 404


def test_the_page_is_at_the_root(server):
    answer = server.get("/")
    assert answer.status == 200 and answer["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    again = server.get("/", {"If-None-Match": answer["ETag"]})
    assert again.status == 304 and again["ETag"] == answer["ETag"]
    for link in Page(answer.text).links:
        if not link.startswith(("http:", "https:", "data:", "#")) and link not in ("agg/", "crawls", "search"):
            assert server.status("/" + link.split("?")[0].lstrip("./")) == 200, link


def test_health_and_metrics_move(server):
    assert json.loads(server.get("/healthz").text)["status"] == "ok"
    before = server.metrics()
    server.get("/haw/" + ZAGREB)
    server.get("/haw/" + BERLIN)
    after = server.metrics()
    moved = {name: after[name] - before[name] for name in after}
    assert moved["seen_asked_total"] == 2 and moved["seen_held_total"] == 1
    assert moved['seen_requests_total{status="4xx"}'] == 1
    assert moved['seen_requests_total{status="2xx"}'] == 2  # one was for the metrics
    assert moved["seen_connections_total"] == 3
    assert moved["seen_received_bytes_total"] > 100 and moved["seen_sent_bytes_total"] > 100
    assert after['seen_archive_up{archive="haw"}'] == 1
    assert after['seen_archive_entries{archive="haw"}'] == pytest.approx(3, abs=0.5)


def test_pages_of_other_sites_may_ask(server):
    for answer in server.get("/haw/" + ZAGREB), server.get("/haw/" + BERLIN), \
            server.get("/agg/" + ZAGREB), server.get("/none/x"), server.get("/archives"), \
            server.ask("POST", "/haw", body=ZAGREB):
        assert answer["Access-Control-Allow-Origin"] == "*"
        assert "Seen-Answer" in answer["Access-Control-Expose-Headers"]
    answer = server.ask("OPTIONS", "/haw", {"Origin": "https://a.example",
                                            "Access-Control-Request-Method": "POST",
                                            "Access-Control-Request-Headers": "content-type"})
    assert answer.status == 204 and "POST" in answer["Access-Control-Allow-Methods"]
    for name in "content-type", "accept-datetime":
        assert name in answer["Access-Control-Allow-Headers"].lower()
    assert "PUT" not in answer["Access-Control-Allow-Methods"]
    assert "authorization" not in answer["Access-Control-Allow-Headers"].lower()
    assert server.ask("OPTIONS", "*").status == 204


def test_the_access_log_is_combined_and_cannot_be_forged(folder, tmp_path):
    log = tmp_path / "access.log"
    with Server(folder, ".", "--log", log, "--threads", "1") as server:
        server.get("/haw/" + ZAGREB, {"User-Agent": "a\"b\\c\xff\t-", "Referer": "http://r.example/"})
        server.get("/haw/" + BERLIN + "\xe9\"")
        server.ask("POST", "/agg", body="\n".join(LIST))
        server.get("/archives")
        for request in "GET /haw/\x01 HTTP/1.1\r\n\r\n", "nonsense \"here\r\n\r\n", \
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET /%s" % ("x" * 9000):
            with server.client() as client:     # refused requests are there, too
                client.send(request)
                assert client.read().status in (400, 414)
        server.ask("POST", "/haw", {"Transfer-Encoding": "chunked"}, body=b"x\r\n")
    found = log.read_text().splitlines()
    combined = re.compile(r'127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] '
                          r'"((?:[^"\\]|\\x[0-9A-F]{2})*)" (\d{3}) (\d+|-) '
                          r'"((?:[^"\\]|\\x[0-9A-F]{2})*)" "((?:[^"\\]|\\x[0-9A-F]{2})*)"')
    rows = [combined.fullmatch(line) for line in found]
    assert all(rows) and len(rows) == 9, found
    assert [(row[1][:20], row[2]) for row in rows[4:]] == [
        (r"GET /haw/\x01 HTTP/1.1"[:20], "400"), (r"nonsense \x22here", "400"),
        ("GET / HTTP/1.1", "400"), ("GET /" + "x" * 15, "414"), ("POST /haw HTTP/1.1", "400")]
    assert rows[0].groups() == ("GET /haw/%s HTTP/1.1" % ZAGREB, "200", "0", "http://r.example/",
                                r"a\x22b\x5Cc\xFF\x09-")
    assert rows[1][1].endswith(r"\xE9\x22 HTTP/1.1") and rows[1][2] == "404"
    assert [row[2] for row in rows[2:4]] == ["200", "200"] and int(rows[3][3]) > 100


def test_the_access_log_tells_each_request_its_own_status(folder, tmp_path):
    log = tmp_path / "access.log"
    build(tmp_path / "large.seen", [ZAGREB], "--capacity", "20M")
    with Server(folder, ".", "large=%s" % (tmp_path / "large.seen"), "--log", log,
                "--threads", "1") as server:
        size = (tmp_path / "large.seen").stat().st_size
        with server.client() as slow, server.client() as sized, server.client() as other:
            slow.send("GET /files/large.seen HTTP/1.1\r\nHost: a\r\n\r\n")
            assert slow.line() == b"HTTP/1.1 200 OK"
            body = (BERLIN + "\n") * 1000
            sized.send("POST /haw HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
                       % (len(body) + 1) + body)
            assert sized.line() == b"HTTP/1.1 200 OK"
            assert other.get("/haw/" + BERLIN).status == 404
            sized.send("\n")
            while not sized.left.endswith(b"\r\n0\r\n\r\n"):
                sized.more()
            assert other.get("/haw/" + BERLIN).status == 404
            until(lambda: slow.line() == b"")
            slow.take(size)
    rows = [line.split('"')[1:3] for line in log.read_text().splitlines()]
    assert sorted(rows) == sorted([
        ["GET /haw/%s HTTP/1.1" % BERLIN, " 404 0 "], ["GET /haw/%s HTTP/1.1" % BERLIN, " 404 0 "],
        ["POST /haw HTTP/1.1", " 200 0 "], ["GET /files/large.seen HTTP/1.1", " 200 %d " % size]])


# --- the filters themselves ---

@pytest.fixture(scope="module")
def large(tmp_path_factory):
    it = tmp_path_factory.mktemp("large")
    build(it / "large.seen", ["http://a.example/%d" % i for i in range(1000)],
          "--capacity", "20M")
    with Server(it, ".", "--threads", "2") as server:
        yield server, (it / "large.seen").read_bytes()


def test_a_file_is_sent_byte_for_byte(large):
    server, want = large
    assert len(want) > 10 << 20
    with server.client() as client:
        for _ in range(2):      # and the connection can be used again
            answer = client.get("/files/large.seen")
            assert answer.status == 200 and answer.body == want
            assert answer["Content-Type"] == "application/vnd.seen"
            assert answer["Accept-Ranges"] == "bytes"
        assert client.get("/healthz").status == 200
        head = client.ask("HEAD", "/files/large.seen")
        assert head["Content-Length"] == str(len(want)) and head["ETag"] == answer["ETag"]
        assert client.get("/healthz").status == 200
    with server.client() as client:
        answer = client.ask("GET", "/files/large.seen", version="1.0")
        assert answer.body == want and client.closed()


def test_ranges_of_a_file(large):
    server, want = large
    size = len(want)
    with server.client() as client:
        for asked, status, first, last in [
                ("0-0", 206, 0, 0), ("0-99", 206, 0, 99), ("1000-", 206, 1000, size - 1),
                ("%d-%d" % (size - 1, size - 1), 206, size - 1, size - 1),
                ("%d-%d" % (size - 5, size + 5), 206, size - 5, size - 1),
                ("-1", 206, size - 1, size - 1), ("-100", 206, size - 100, size - 1),
                ("-%d" % (2 * size), 206, 0, size - 1),
                ("%d-" % size, 416, 0, 0), ("%d-%d" % (size, size + 1), 416, 0, 0),
                ("-0", 416, 0, 0), ("18446744073709551615-", 200, 0, size - 1),
                ("5-2", 200, 0, size - 1), ("0-1,5-6", 200, 0, size - 1),
                ("x-1", 200, 0, size - 1)]:
            answer = client.get("/files/large.seen", {"Range": "bytes=" + asked})
            assert answer.status == status or (status, answer.status) == (200, 416), asked
            if answer.status == 416:
                assert answer["Content-Range"] == "bytes */%d" % size and not answer.body
                continue
            assert answer.body == want[first:last + 1], asked
            if status == 206:
                assert answer["Content-Range"] == "bytes %d-%d/%d" % (first, last, size)


def test_a_file_that_did_not_change_is_not_sent_again(large):
    server, want = large
    with server.client() as client:
        head = client.ask("HEAD", "/files/large.seen")
        tag, when = head["ETag"], head["Last-Modified"]
        for headers in {"If-None-Match": tag}, {"If-None-Match": '"x", ' + tag}, \
                {"If-None-Match": "W/" + tag}, {"If-None-Match": "*"}, {"If-Modified-Since": when}, \
                {"If-None-Match": tag, "If-Modified-Since": "Mon, 01 Jan 1990 00:00:00 GMT"}:
            answer = client.get("/files/large.seen", headers)
            assert answer.status == 304 and answer["ETag"] == tag, headers
        few = {"Range": "bytes=0-9"}
        for headers, status in [
                ({"If-None-Match": '"x"'}, 206),
                ({"If-Modified-Since": "Mon, 01 Jan 1990 00:00:00 GMT"}, 206),
                ({"If-None-Match": '"x"', "If-Modified-Since": when}, 206),
                ({"If-Range": tag}, 206), ({"If-Range": when}, 206),
                ({"If-Range": '"x"'}, 200),
                ({"If-Range": "Mon, 01 Jan 1990 00:00:00 GMT"}, 200)]:
            answer = client.get("/files/large.seen", headers | few)
            assert answer.status == status, headers
            assert answer.body == (want[:10] if status == 206 else want)


def test_files_that_are_none_and_those_that_are_not_offered(folder, server):
    for path in "nobody.seen", "haw", "", "../haw.seen", "..%2fhaw.seen", "haw.seen.lock", \
            "%2e%2e/%2e%2e/etc/passwd", "haw.seen%00", ".seen":
        assert server.status("/files/" + path) == 404, path
    with Server(folder, ".", "--no-files") as closed:
        assert closed.status("/files/haw.seen") == 404
        assert "<loc>" not in closed.get("/sitemap.xml").text
        assert json.loads(closed.get("/info/haw").text)["file"] is None


NAMES = {"": "http://www.sitemaps.org/schemas/sitemap/0.9",
         "rs": "http://www.openarchives.org/rs/terms/",
         "dc": "http://purl.org/dc/elements/1.1/"}


def test_a_sitemap_lists_the_files(server, folder):
    answer = server.get("/sitemap.xml")
    assert answer["Content-Type"] == "application/xml"
    root = xml.fromstring(answer.text)
    assert root.tag == "{%s}urlset" % NAMES[""]
    assert root.find("rs:md", NAMES).get("capability") == "resourcelist"
    urls = root.findall("url", NAMES)
    assert [u.find("loc", NAMES).text for u in urls] == \
        ["http://seen.example/files/%s.seen" % name for name in ("haw", "ia", "ukwa")]
    assert urls[0].find("dc:title", NAMES).text == "Croatian Web Archive"
    assert urls[0].find("dc:publisher", NAMES).text == "NSK"
    assert urls[0].find("rs:md", NAMES).get("length") == str((folder / "haw.seen").stat().st_size)
    for u in urls:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", u.find("lastmod", NAMES).text)
        assert server.status(u.find("loc", NAMES).text) == 200
    assert server.get("/files/haw.seen")["Content-Type"] == "application/vnd.seen"


def test_a_sitemap_has_the_hashes_that_are_known(server, folder):
    def hashes():
        root = xml.fromstring(server.get("/sitemap.xml").text)
        return [u.get("hash") for u in root.findall("url/rs:md", NAMES)
                if u.get("type") == "application/vnd.seen"]

    wanted = ["sha-256:" + hashlib.sha256((folder / (name + ".seen")).read_bytes()).hexdigest()
              for name in ("haw", "ia", "ukwa")]
    assert until(lambda: hashes() == wanted)


def test_a_file_that_is_written_to_has_no_hash(tmp_path):
    build(tmp_path / "a.seen", [ZAGREB], "--capacity", "1000")

    def md(server):
        root = xml.fromstring(server.get("/sitemap.xml").text)
        return root.find("url/rs:md", NAMES)

    (tmp_path / "token").write_text("verysecret")
    with Server(tmp_path, ".", "--writable", "--token", "token") as server:
        assert until(lambda: md(server).get("hash"))
        assert server.ask("PUT", "/a/" + BERLIN, {"Authorization": "Bearer verysecret"}).status == 201
        assert md(server).get("hash") is None


def test_resourcesync_leads_from_the_source_to_the_list(server):
    at, capability = "http://seen.example/.well-known/resourcesync", "description"
    for _ in range(3):
        root = xml.fromstring(server.get(at).text)
        assert root.find("rs:md", NAMES).get("capability") == capability
        if capability == "resourcelist":
            break
        at = root.find("url/loc", NAMES).text
        capability = root.find("url/rs:md", NAMES).get("capability")
    assert at == "http://seen.example/sitemap.xml"


def test_robots_are_told_of_the_sitemap(server):
    answer = server.get("/robots.txt").text
    assert "Sitemap: http://seen.example/sitemap.xml\n" in answer
    assert "Disallow: /agg/\n" in answer


# --- coming and going ---

def test_a_filter_of_a_gigabyte_is_served_at_once(tmp_path):
    build(tmp_path / "huge.seen", [ZAGREB], "--capacity", "800M")
    assert (tmp_path / "huge.seen").stat().st_size > 900 << 20
    with Server(tmp_path, ".") as server:
        assert server.took < 10
        assert server.status("/huge/" + ZAGREB) == 200
        assert server.resident() < 200 << 20
    (tmp_path / "huge.seen").unlink()   # pytest keeps folders for a while


def test_sigterm_waits_for_requests_under_way(folder):
    with Server(folder, ".", "--threads", "2") as server:
        clients = [server.client() for _ in range(4)]
        for client in clients[:3]:
            client.send("POST /haw HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(ZAGREB))
            client.send(ZAGREB[:5])
        until(lambda: server.metrics()["seen_connections"] == 5)
        server.process.terminate()
        until(clients[3].closed)    # idle, so it is let go
        for client in clients[:3]:
            client.send(ZAGREB[5:])
            assert lines(client.read()) == [("seen", ZAGREB)]
            client.socket.close()
        assert server.process.wait(60) == 0


def test_a_name_that_cannot_be_one_is_refused(folder):
    for name in "agg", "files", ".well-known", "a\tb", "":
        done = subprocess.run([SEEN, "serve", "--listen", "127.0.0.1:0",
                               "%s=%s/haw.seen" % (name, folder)], stderr=subprocess.PIPE)
        assert done.returncode == 2 and done.stderr, name
    done = subprocess.run([SEEN, "serve", "a=%s/none.seen" % folder], stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"none.seen" in done.stderr


def test_names_of_archives_are_decoded_in_paths_and_odd_files_reported(tmp_path):
    names = ["\u010dit", "a/b", "100%", "x%41", "a b"]
    (tmp_path / "other").mkdir()
    for name, file in zip(names, ("\u010dit", "a%2Fb", "100%", "x%2541", "a b")):
        build(tmp_path / (file + ".seen"), [ZAGREB])
    for odd in "agg", "a\tb", "other/100%":
        os.link(tmp_path / "x%2541.seen", tmp_path / (odd + ".seen"))
    os.chmod(counters(tmp_path) / "token", 0o640)
    with Server(tmp_path, ".", "other", "-w", "--token", "token", warns=True) as server:
        assert sorted(a["name"] for a in json.loads(server.get("/archives").text)["archives"]) == \
            sorted(names + ["count", "full", "fuse"])
        for name in "%C4%8Dit", "a%2fb", "100%", "100%25", "x%2541", "a%20b":
            assert server.status("/%s/%s" % (name, ZAGREB)) == 200, name
            assert server.status("/info/" + name) == 200
            assert server.ask("POST", "/" + name, body=ZAGREB).text.startswith("seen")
            assert server.ask("PUT", "/%s/%s" % (name, BERLIN), TOKEN).status in (200, 201)
        assert server.get("/x%41/" + ZAGREB)["Seen-Answer"] == "unknown-archive"
        warned = server.warned.splitlines()
    assert warned.pop(0) == "seen: token: others can read this token; chmod 600 token"
    assert len(warned) == 3 and all("not served" in line for line in warned), warned
    for file, why in ("agg", "reserved"), ("b", "control bytes"), ("other/100%", "same name"):
        assert any("%s.seen: " % file in line and why in line for line in warned), file


def test_several_addresses_and_a_filter_without_a_name(folder):
    with Server(folder, "haw.seen", "--listen", "127.0.0.1:0", quiet=False) as server:
        until(lambda: server.said.startswith("seen: serving at http://127.0.0.1:"))
        other = int(server.said.split(":")[3].split("/")[0])
        assert other != server.port
        for port in server.port, other:
            with Client(port) as client:
                assert client.get("/haw/" + ZAGREB).status == 200
    for address in "nonsense", "127.0.0.1:http", "127.0.0.1:99999", "127.0.0.1":
        done = subprocess.run([SEEN, "serve", "--listen", address, "haw.seen"], cwd=folder,
                              stderr=subprocess.PIPE)
        assert done.returncode == 2
        assert done.stderr.decode() == ("seen: serve: %s is not ADDRESS:PORT, such as 127.0.0.1:8080, "
                                        "[::1]:8080, :8080 or unix:/PATH\n" % address)


def test_pages_of_other_names_cannot_read_a_server_on_a_loopback_address(folder):
    """Their name may lead to 127.0.0.1 now (DNS rebinding), but it is still their name."""
    def status(client, host, target="/healthz", more="", version="1.1"):
        client.send("GET %s HTTP/%s\r\n%s%s\r\n" % (
            target, version, "Host: %s\r\n" % host if host is not None else "", more))
        answer = client.read()
        assert answer.status != 421 or "--host" in answer.text, answer.text
        return answer.status

    with Server(folder, "--host", "archive.example", "--listen", "unix:s.sock", "haw.seen", host=None,
                quiet=False) as server:
        with server.client() as client:
            for host in ("127.0.0.1:%d" % server.port, "localhost", "LocalHost:1", "[::1]:80",
                         "10.0.0.1", "archive.example", "Archive.Example:8080"):
                assert status(client, host) == 200, host
            for host in ("evil.example", "evil.example:%d" % server.port, "127.0.0.1.evil.example",
                         "localhost.evil.example", "archive.example.evil.example", "0.0.0.0=5000"):
                for target in "/healthz", "/haw/" + ZAGREB, "/metrics", "/crawls.json", "/":
                    assert status(client, host, target) == 421, (host, target)
            # The name of a target in absolute form is the one that counts.
            assert status(client, "127.0.0.1", "http://evil.example/healthz") == 421
            assert status(client, "evil.example", "http://127.0.0.1/healthz") == 200
            for method in "POST", "PUT", "DELETE", "OPTIONS":
                answer = client.ask(method, "/haw/" + ZAGREB, {"Host": "evil.example"}, "x")
                assert answer.status == 421
                assert answer["Connection"] != "close" or client.closed()
                if answer["Connection"] == "close":
                    client.__init__(server.port)
        with server.client() as client:     # no browser speaks so
            client.send("GET /healthz HTTP/1.0\r\n\r\n")
            assert client.read().status == 200
        with server.client() as client:
            assert status(client, "evil.example", version="1.0") == 421
        with socket.socket(socket.AF_UNIX) as local:    # no browser reaches it
            local.connect(str(folder / "s.sock"))
            local.sendall(b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            assert local.recv(100).startswith(b"HTTP/1.1 200 ")
    with Server(folder, "--listen", "0.0.0.0:0", "haw.seen", host=None, quiet=False) as server:
        port = int(until(lambda: re.search(r"0\.0\.0\.0:(\d+)", server.said)).group(1))
        with Client(port) as public, server.client() as client:
            assert status(public, "any.example") == 200 and status(client, "any.example") == 421
    for name in "a:80", "http://a.example", "*.example", "":
        done = subprocess.run([SEEN, "serve", "--host", name, "haw.seen"], cwd=folder,
                              stderr=subprocess.PIPE)
        assert done.returncode == 2 and b"--host: " in done.stderr


def test_two_servers_do_not_share_a_port(folder, server):
    done = subprocess.run([SEEN, "serve", "--listen", "127.0.0.1:%d" % server.port, str(folder)],
                          stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"cannot listen on" in done.stderr


@pytest.mark.parametrize("version, headers", [("1.1", {"Connection": "close"}), ("1.0", {})])
def test_a_list_of_a_client_that_closes_is_answered_to_its_end(folder, version, headers):
    urls = ["http://list.example/%d" % i for i in range(20000)]
    body = "".join(url + "\n" for url in urls).encode()
    with Server(folder, ".") as server, server.client() as client:
        client.send(("POST /agg HTTP/%s\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n"
                     % (version, len(body),
                        "".join("%s: %s\r\n" % it for it in headers.items()))).encode())
        client.send(body)
        answer = client.rest()
        assert answer.count(b"http://list.example/") == len(urls)
        assert b"Connection: close" in answer
