"""template_test.py - the schema of templates, the checker and the guide agree."""
import hashlib
import http.server
import json
import os
import re
import subprocess
import threading

import pytest

from schema import DOC, load, valid

SEEN = os.environ["SEEN"]
SCHEMA = load("template.schema.json")


def check(folder, text):
    path = folder / "t.json"
    path.write_text(text, encoding="utf-8")
    return subprocess.run([SEEN, "template", "check", str(path)],
                          capture_output=True, text=True, check=False)


START = {"start": "http://a.example/"}
FIELDS = {"pages": {"p": {"fields": {}}}}

GOOD = [
    {},
    {"start": ["http://a.example/[1-50]", "https://b.example/"]},
    {"$schema": "x", "description": "", "name": "a.b-c_1"},
    {"domains": "a.example"}, {"domains": ["a.example", "b.example"]},
    {"interval": 0}, {"interval": "1d"}, {"interval": 3600},
    {"follow": []}, {"follow": [{}]},
    {"follow": [{"css": "a", "allow": "x", "deny": ["y"], "revisit": "30m",
                 "priority": -1000}]},
    {"follow": [{"allow": ["^/([a-z]+/)+[0-9]+[.]html?$", "[]+{9}]{2,5}", "(a|b)*c{3}"]}]},
    {"follow": [{"allow": "a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+u+v+w+"}]},
    {"follow": [{"xpath": "//a", "type": "p", "from": "p"}], "pages": {"p": {}}},
    {"pages": {}}, {"pages": {"p": {"url": "x", "revisit": "1d"}}},
    {"pages": {"p": {"fields": {"a": "h1::text", "b": "//h1"}}}},
    {"pages": {"p": {"fields": {"a": {
        "css": "p", "regex": "(x)", "type": "number", "many": True,
        "required": False, "ignore": ["a", "b"], "change": "off"}}}}},
    {"clean": {}}, {"clean": {"strip": ["utm_*"]}},
    {"politeness": {"delay": "500ms", "per_host": 1, "per_address": 4}},
    {"limits": {"pages": 1, "bytes": 1, "depth": 1, "time": "1h", "host_pages": 9}},
]

BAD = [
    {"start": []}, {"start": ""}, {"start": 1}, {"start": [1]}, {"start": None},
    {"strat": "http://a.example/"}, {"name": ""}, {"name": "-a"}, {"name": "a b"},
    {"name": "a" * 65}, {"description": 1}, {"domains": []}, {"domains": {}},
    {"interval": -1}, {"interval": "1w"}, {"interval": "d"}, {"interval": 1.5},
    {"interval": "1.5h"}, {"interval": True},
    {"follow": {}}, {"follow": ["a"]}, {"follow": [{"css": "a", "xpath": "//a"}]},
    {"follow": [{"css": ""}]}, {"follow": [{"allow": []}]}, {"follow": [{"alow": "x"}]},
    {"follow": [{"priority": 1001}]}, {"follow": [{"priority": "1"}]},
    {"follow": [{"from": []}]},
    {"pages": []}, {"pages": {"": {}}}, {"pages": {"p": 1}}, {"pages": {"p": {"x": 1}}},
    {"pages": {"p": {"fields": []}}}, {"pages": {"p": {"fields": {"_a": "p"}}}},
    {"pages": {"p": {"fields": {"": "p"}}}}, {"pages": {"p": {"fields": {"a": 1}}}},
    {"pages": {"p": {"fields": {"a": {}}}}},
    {"pages": {"p": {"fields": {"a": {"css": "p", "xpath": "//p"}}}}},
    {"pages": {"p": {"fields": {"a": {"css": "p", "type": "word"}}}}},
    {"pages": {"p": {"fields": {"a": {"css": "p", "many": 1}}}}},
    {"pages": {"p": {"fields": {"a": {"css": "p", "change": False}}}}},
    {"pages": {"p": {"fields": {"a": {"css": "p", "regex": ""}}}}},
    {"clean": {"strp": "x"}}, {"clean": {"strip": []}},
    {"politeness": {"robots": False}}, {"politeness": {"delay": "soon"}},
    {"politeness": {"per_host": 0}}, {"limits": {"pages": 0}},
    {"limits": {"pages": "1"}}, {"limits": {"depth": 1.5}},
]

# Only the checker knows these.
WORSE = [
    ({"start": "ftp://a.example/"}, "start: a start URL begins with http"),
    ({"start": "http://a.example/[9-1]"}, "start: the range at byte 18"),
    ({"start": "http://a.example/[1-2000000]"}, "stand for more than 1000000"),
    ({"domains": "http://a.example/"}, "domains: expected the name of a host"),
    ({"follow": [{"css": "a >"}]}, "follow[0].css: byte 4: expected a selector"),
    ({"follow": [{"allow": ["x", "("]}]}, "follow[0].allow[1]: not an extended"),
    ({"follow": [{"deny": "(a)\\1"}]}, "back reference"),
    ({"follow": [{"deny": "((a{1,200}){1,200}){2}"}]}, "repeats too much"),
    ({"follow": [{"deny": "a" + 40 * "+"}]}, "repeats too much"),
    ({"follow": [{"deny": 20 * "(" + "a" + 20 * ")+"}]}, "repeats too much"),
    ({"follow": [{"deny": 100 * "(" + "a" + 100 * ")"}]}, "repeats too much"),
    ({"follow": [{"type": "x"}]}, "follow[0].type: pages has no type x"),
    ({"follow": [{"from": "x"}]}, "follow[0].from: pages has no type x"),
    ({"pages": {"p": {"fields": {"a": "//p["}}}}, "pages.p.fields.a: byte 5"),
    ({"clean": {"strip": "a=b"}}, "clean.strip: expected the name of a parameter"),
    ({"interval": "4000d"}, "more than ten years"),
]


@pytest.mark.parametrize("more", GOOD)
def test_schema_and_checker_accept(tmp_path, more):
    template = {**START, **more}
    assert valid(SCHEMA, template)
    done = check(tmp_path, json.dumps(template))
    assert (done.returncode, done.stderr) == (0, "")
    canonical = json.dumps(template, sort_keys=True, separators=(",", ":"),
                           ensure_ascii=False).encode()
    assert done.stdout.endswith("template %s\n" % hashlib.sha1(canonical).hexdigest())


@pytest.mark.parametrize("more", BAD)
def test_schema_and_checker_refuse(tmp_path, more):
    template = {**START, **more}
    assert not valid(SCHEMA, template)
    done = check(tmp_path, json.dumps(template))
    assert done.returncode == 2 and done.stdout == ""
    name = next(iter(more))
    assert done.stderr.startswith("seen: %s: line 1: %s" % (tmp_path / "t.json", name))


@pytest.mark.parametrize("more,text", WORSE)
def test_the_checker_knows_more_than_the_schema(tmp_path, more, text):
    template = {**START, **more}
    assert valid(SCHEMA, template)
    done = check(tmp_path, json.dumps(template))
    assert done.returncode == 2 and text in done.stderr


def test_start_is_required(tmp_path):
    assert not valid(SCHEMA, {})
    assert "line 1: start is missing" in check(tmp_path, "{}").stderr


def test_mistakes_have_their_lines(tmp_path):
    text = '{\n"start": "http://a.example/",\n"pages": {\n "p": {"fields":\n{"a\\u0062":\n"p >"}}}\n}'
    assert "line 6: pages.p.fields.ab: byte 4" in check(tmp_path, text).stderr


def test_mistakes_in_xml_have_their_lines(tmp_path):
    text = """<template bogus="1">
<start>http://a.example/</start>
<start>ftp://a.example/</start>
<follow><allow>a</allow></follow>
<follow>
 <deny>b</deny>
 <deny>(</deny>
 <type>x</type>
</follow>
<pages>
 <page name="p"><fields>
  <field name="a">h1</field>
  <field name="b" type="int">h1</field>
  <field name="c" many="true">
   <css>p &gt;</css></field>
 </fields></page>
</pages>
<limits
 pages="ten"/>
<follow allow="["><allow>[</allow>
</follow>
</template>
"""
    lines = [line.split(": ", 2)[2] for line in check(tmp_path, text).stderr.splitlines()]
    assert [line[:line.index(": ", line.index(": ") + 2)] for line in lines] == [
        "line 1: bogus", "line 3: start[1]", "line 7: follow[1].deny[1]", "line 20: follow[2].allow[0]",
        "line 20: follow[2].allow[1]", "line 13: pages.p.fields.b.type", "line 15: pages.p.fields.c.css",
        "line 19: limits.pages", "line 8: follow[1].type"]


def test_what_is_not_json_is_refused(tmp_path):
    for text, line in (("", 1), ("{", 1), ('{"a": 1,\n"a": 2}', 2), ("[]", 1),
                       ("[" * 100000, 1), ('{"start": "\\u0000"}', 1)):
        done = check(tmp_path, text)
        assert done.returncode == 2
        assert "t.json: line %d: " % line in done.stderr, (text[:20], done.stderr)


def test_templates_of_the_reference_are_right(tmp_path):
    with open(os.path.join(DOC, "web.md"), encoding="utf-8") as file:
        reference = file.read()
    blocks = re.findall(r"^```(json|xml)\n(.*?)^```", reference, flags=re.M | re.S)
    templates = [(kind, text) for kind, text in blocks
                 if '"start"' in text or "<template" in text]
    assert len(templates) >= 2
    for kind, text in templates:
        if kind == "json":
            assert valid(SCHEMA, json.loads(text)), text
        done = check(tmp_path, text)
        assert done.returncode == 0, done.stderr


def test_the_two_forms_of_the_reference_are_the_same_template(tmp_path):
    with open(os.path.join(DOC, "web.md"), encoding="utf-8") as file:
        reference = file.read()
    xml = re.search(r"^```xml\n(<template.*?)^```", reference, flags=re.M | re.S)[1]
    made = re.findall(r"^```json\n(.*?)^```", reference, flags=re.M | re.S)
    (tmp_path / "t.xml").write_text(xml, encoding="utf-8")
    done = subprocess.run([SEEN, "template", "convert", str(tmp_path / "t.xml"), "-o",
                           str(tmp_path / "t.json")], check=False)
    assert done.returncode == 0
    converted = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert converted in [json.loads(text) for text in made]


# --- the example of S. Nadaraj, "Distributed Content Aggregation", section 3 ---

PAGE = """<html><head><title>java - TimeZone abbreviation</title></head><body>
<div id="question-header"><h1><a href="/questions/35145570/timezone">TimeZone
abbreviation not working after updating to java 8
</a></h1></div>
<table id="qinfo"><tr><td>asked</td><td class="asked">today</td></tr>
<tr><td>viewed</td><td class="viewed">219times</td></tr></table>
<div class="vote"><span>favorite</span></div>
<div class="post-text"><p>Im using the following code to get the abbreviated(3
letters) time zone in java7.</p><pre>String timeZoneString = US/Arizona;</pre></div>
<div class="related"><a href="/questions/2">2</a><a href="/users/1">u</a>
<a href="http://meta.example/">m</a></div></body></html>
"""

TEMPLATE = {
    "name": "stackoverflow",
    "start": ["http://stackoverflow.com/questions?page=[1-50]"],
    "domains": ["stackoverflow.com"],
    "follow": [{"css": ".related", "allow": ["/questions/[0-9]+"]}],
    "pages": {"default": {"fields": {
        "Asked": "#qinfo > tbody > tr:nth-child(1) > td.asked::text",
        "Description": ".post-text",
        "View": "td.viewed::text",
        "Title": "h1 a"}}},
}
URL = ("http://stackoverflow.com/questions/35145570/timezone-abbreviation-not-"
       "working-after-updating-to-java-8")


def test_the_paper_s_page_gives_the_paper_s_record(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(TEMPLATE), encoding="utf-8")
    (tmp_path / "p.html").write_text(PAGE, encoding="utf-8")
    done = subprocess.run([SEEN, "template", "try", str(tmp_path / "t.json"),
                           str(tmp_path / "p.html"), "--base", URL, "--json"],
                          capture_output=True, text=True, check=True)
    got = json.loads(done.stdout)
    assert got["url"] == URL
    assert got["type"] == "default"
    assert re.fullmatch("[0-9a-f]{40}", got["template"])
    assert got["fields"] == {
        "Asked": ["today"],
        "Description": ["Im using the following code to get the abbreviated(3 letters) "
                        "time zone in java7.String timeZoneString = US/Arizona;"],
        "View": ["219times"],
        "Title": ["TimeZone abbreviation not working after updating to java 8"]}
    assert [(link["url"], link["follow"]) for link in got["links"]] == [
        ("http://stackoverflow.com/questions/35145570/timezone", False),
        ("http://stackoverflow.com/questions/2", True),
        ("http://stackoverflow.com/users/1", False),
        ("http://meta.example/", False)]


def test_a_page_of_the_web_is_tried_if_its_address_is_allowed(tmp_path):
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/" else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<h1>From the web</h1>")

        def log_message(self, *words):
            pass

    (tmp_path / "t.json").write_text(json.dumps(
        {**START, "pages": {"default": {"fields": {"Title": "h1"}}}}), encoding="utf-8")
    server = http.server.HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d/" % server.server_port

    def attempt(*words):
        return subprocess.run([SEEN, "template", "try", str(tmp_path / "t.json"), *words],
                              capture_output=True, text=True, check=False)

    try:
        done = attempt(url, "--allow-private")
        assert (done.returncode, done.stdout) == (
            0, "page type: default\nTitle: From the web\n")
        refused = attempt(url)
        assert refused.returncode == 2 and "--allow-private" in refused.stderr
        missing = attempt(url + "x", "--allow", "127.0.0.1:%d" % server.server_port)
        assert missing.returncode == 2 and "status 404" in missing.stderr
    finally:
        server.shutdown()
        server.server_close()
