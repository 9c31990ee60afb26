"""Sitemaps, registries and robots.txt that mean harm; see stage.py."""
import gzip
import os
import sys
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__)]
from hostile import MAP, bomb, index, page, redirect, status, stream, url, urlset  # noqa: E402
from stage import SPELLINGS, Cases, filters, spelled, stage  # noqa: E402, F401

cases = Cases()


# --- lists -------------------------------------------------------------------

def xml(text):
    return page(text if isinstance(text, bytes) else text.encode(), "application/xml")


def doc(prolog, inside=""):
    return "<?xml version='1.0'?>" + prolog + "<urlset " + MAP + ">" + inside + "</urlset>"


@cases.add("DOCTYPE")
def a_doctype(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE urlset>", s.entry("x", 2)))


@cases.add("DOCTYPE")
def an_entity(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE urlset [<!ENTITY x 'y'>]>", s.entry("x", 2)))


@cases.add("DOCTYPE")
def a_billion_laughs(s):
    laughs = "".join("<!ENTITY l%d '%s'>" % (i + 1, ("&l%d;" % i) * 10) for i in range(10))
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE urlset [<!ENTITY l0 'ha'>%s]>" % laughs,
                                    "<url><loc>&l10;</loc></url>"))


@cases.add("DOCTYPE")
def quadratic_laughs(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE urlset [<!ENTITY a '%s'>]>" % ("a" * 60000),
                                    "<url><loc>%s</loc></url>" % ("&a;" * 10000)))


@cases.add("DOCTYPE")
def a_dtd_elsewhere(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE urlset SYSTEM 'http://%s/x.dtd'>" % s.trap))


@cases.add("DOCTYPE")
def a_file_as_an_entity(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>]>",
                                    "<url><loc>http://%s/&f;</loc></url>" % s.trap))


@cases.add("DOCTYPE")
def a_parameter_entity_elsewhere(s):
    s.web["/hostile.xml"] = xml(doc("<!DOCTYPE x [<!ENTITY %% p SYSTEM 'http://%s/'> %%p;]>" % s.trap))


@cases.add("well-formed")
def an_entity_that_nobody_declared(s):
    s.web["/hostile.xml"] = xml(doc("", "<url><loc>&x;</loc></url>"))


@cases.add("", recovers=True)
def includes_and_style_sheets_elsewhere(s):
    s.web["/hostile.xml"] = xml(doc(
        "<?xml-stylesheet href='http://%s/x.xsl'?>" % s.trap,
        "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='http://%s/'/>" % s.trap +
        s.entry("x", 2)))


@cases.add("deep")
def elements_in_elements(s):
    s.web["/hostile.xml"] = xml("<urlset %s>" % MAP + "<a>" * 100000)


@cases.add("without end")
def a_tag_without_end(s):
    s.web["/hostile.xml"] = stream(b"x" * 65536, b"<urlset " + MAP.encode() + b"><")


@cases.add("without end")
def an_attribute_without_end(s):
    s.web["/hostile.xml"] = stream(b"x" * 65536, b"<urlset " + MAP.encode() + b"><url a='")


@cases.add("without end")
def a_comment_without_end(s):
    s.web["/hostile.xml"] = stream(b"x<y>" * 16384, b"<urlset " + MAP.encode() + b"><!--")


@cases.add("longer than 52428800")
def a_text_without_end(s):
    s.web["/hostile.xml"] = stream(b"x" * 65536, b"<urlset " + MAP.encode() + b"><url><loc>")


@cases.add("attributes|without end")
def attributes_without_end(s):
    def answer(talk):
        talk.head(200)
        talk.send(b"<urlset " + MAP.encode() + b"><url ")
        for i in range(10000000):
            talk.send(b"a%d='' " % i)
    s.web["/hostile.xml"] = answer


@cases.add("more different names")
def names_without_end(s):
    s.web["/hostile.xml"] = xml("<urlset %s>" % MAP + "".join("<n%d/>" % i for i in range(300000)))


@cases.add("more than 500,000 entries")
def entries_without_end(s):
    s.web["/hostile.xml"] = stream(url("http://a.example/").encode() * 1000,
                                   b"<urlset " + MAP.encode() + b">")


@cases.add("fits into memory")
def a_million_filters(s):
    s.words = ["--dry-run"]
    s.web["/hostile.xml"] = xml(urlset(*(url("http://a.example/%s/%d.seen" % ("x" * 50, i))
                                         for i in range(200000))))


@cases.add("zero byte")
def gigabytes_of_zeros(s):
    s.web["/hostile.xml"] = stream(bytes(1 << 16))


@cases.add("longer than 52428800")
def a_gzip_bomb_as_a_sitemap(s):
    packed = bomb(b"<urlset " + MAP.encode() + b">", b" ")
    s.web["/hostile.xml"] = lambda talk: talk.answer(packed, Content_Encoding="gzip")


@cases.add("longer than 52428800")
def a_gzip_bomb_as_a_file_of_a_sitemap(s):
    packed = bomb(b"<urlset " + MAP.encode() + b"><url><loc>", b"x")
    s.web["/hostile.xml"] = page(packed, "application/gzip")


@cases.add("zero byte")
def a_gzip_bomb_in_a_gzip_bomb(s):
    packed = gzip.compress(bomb())
    s.web["/hostile.xml"] = lambda talk: talk.answer(packed, Content_Encoding="gzip")


@cases.add("not a public address")
def a_gzip_bomb_that_redirects(s):
    packed = bomb()
    s.web["/hostile.xml"] = lambda talk: talk.answer(packed, 301, Content_Encoding="gzip",
                                                     Location="http://%s/" % s.trap)


@cases.add("the lists of this publisher have more than 256 MB")
def a_gigabyte_in_many_lists(s):
    packed = gzip.compress(b"<urlset " + MAP.encode() + b">" + b" " * (49 << 20) + b"</urlset>", 1)
    s.web["/hostile.xml"] = xml(index(*(s.web("/%d.xml" % i) for i in range(25))))
    for i in range(25):
        s.web["/%d.xml" % i] = page(packed, "application/gzip")


@cases.add("gzip data is cut short")
def gzip_that_is_cut(s):
    packed = gzip.compress(urlset(s.entry("x", 2)) * 50)[:100]
    s.web["/hostile.xml"] = lambda talk: talk.answer(packed, Content_Encoding="gzip")


@cases.add("index inside an index")
def an_index_of_indices(s):
    s.web["/hostile.xml"] = xml(index(s.web("/1.xml")))
    s.web["/1.xml"] = xml(index(s.web("/2.xml")))
    s.web["/2.xml"] = xml(urlset(s.entry("x", 2)))


@cases.add("", recovers=True)
def an_index_that_names_itself(s):
    s.web["/hostile.xml"] = xml(index(s.web("/hostile.xml"), s.web("/1.xml"), s.web("/hostile.xml")))
    s.web["/1.xml"] = xml(urlset(s.entry("x", 2)))


@cases.add("index inside an index")
def indices_that_name_each_other(s):
    s.web["/hostile.xml"] = xml(index(s.web("/1.xml")))
    s.web["/1.xml"] = xml(index(s.web("/hostile.xml")))


@cases.add("more than 500 lists")
def an_index_of_thousands(s):
    s.web["/hostile.xml"] = xml(index(*(s.web("/%d.xml" % i) for i in range(3000))))
    for i in range(3000):
        s.web["/%d.xml" % i] = xml(urlset())


@cases.add("too deep")
def capability_lists_in_a_chain(s):
    for i in range(20):
        s.web["/hostile.xml" if not i else "/%d.xml" % i] = xml(urlset(
            url(s.web("/%d.xml" % (i + 1)), capability="resourcelist"), capability="capabilitylist"))


@cases.add("", recovers=True)
def capability_lists_in_a_circle(s):
    s.web["/hostile.xml"] = xml(urlset(
        url(s.web("/hostile.xml"), capability="capabilitylist"),
        url(s.web("/1.xml"), capability="capabilitylist"), capability="description"))
    s.web["/1.xml"] = xml(urlset(
        url(s.web("/hostile.xml"), capability="resourcelist"),
        url(s.web("/2.xml"), capability="resourcelist"), capability="capabilitylist"))
    s.web["/2.xml"] = xml(urlset(s.entry("x", 2), up=s.web("/1.xml")))


@cases.add("not a public address")
def a_list_somewhere_forbidden(s):
    s.web["/hostile.xml"] = xml(index("http://%s/s.xml" % s.trap))


@cases.add("not a public address")
def a_list_that_redirects_somewhere_forbidden(s):
    s.web["/hostile.xml"] = redirect("http://%s/s.xml" % s.trap)


@cases.add("well-formed")
def a_list_that_is_cut_but_says_it_is_whole(s):
    s.web["/hostile.xml"] = xml(urlset(s.entry("x", 1))[:-12])


@cases.add("cut short")
def a_list_that_is_cut(s):
    def answer(talk):
        whole = urlset(s.entry("x", 1))
        talk.head(200, Content_Length=len(whole))
        talk.send(whole[:-12])
    s.web["/hostile.xml"] = answer


@cases.add("comes too slowly\n")
def a_list_that_drips(s):
    def answer(talk):
        talk.head(200, Content_Type="application/xml")
        talk.send(b"<urlset " + MAP.encode() + b">")
        for _ in range(200):
            talk.send(b"   ")
            time.sleep(0.05)
    s.web["/hostile.xml"] = answer


@cases.add("zero byte")
def utf16(s):
    s.web["/hostile.xml"] = xml(urlset(s.entry("x", 2)).decode().encode("utf-16"))


@cases.add("another element")
def another_kind_of_xml(s):
    s.web["/hostile.xml"] = xml("<rss version='2.0'><channel/></rss>")


@cases.add("neither a sitemap nor")
def an_empty_list(s):
    s.web["/hostile.xml"] = xml("")


@cases.add("fault of the server")
def a_list_with_a_fault_of_its_server(s):
    s.web["/hostile.xml"] = status(500)


@cases.add("not found")
def a_list_that_is_gone(s):
    s.web["/hostile.xml"] = status(404)


# --- sites and registries ----------------------------------------------------

@cases.add("announces no filters")
def a_page_of_a_site_without_filters(s):
    s.web["/hostile.xml"] = page(b"<!DOCTYPE html><title>Hello</title>")


@cases.add("announces no filters")
def a_robots_txt_of_a_gigabyte(s):
    s.web["/hostile.xml"] = page(b"<!DOCTYPE html><title>Hello</title>")
    s.web["/robots.txt"] = stream(b"Disallow: /\n" * 1000, most=1 << 30, Content_Type="text/plain")


@cases.add("robots.txt: line 1: is not an http")
def a_robots_txt_that_leads_astray(s):
    s.web["/hostile.xml"] = page(b"<!DOCTYPE html><title>Hello</title>")
    s.web["/robots.txt"] = page(("Sitemap: file:///etc/passwd\nSitemap: http://%s/s.xml\n"
                                 "Sitemap: ../x\n" % s.trap).encode(), "text/plain")


@cases.add("not an http or https URL")
def a_registry_of_files(s):
    s.web["/hostile.xml"] = page(b"file:///etc/passwd\n\x1b[31mred\n/etc/passwd\n", "text/plain")


@cases.add("is not a list of URLs")
def a_registry_of_nonsense(s):
    s.web["/hostile.xml"] = page(b"Lorem ipsum\n" * 1000, "text/plain")


@cases.add("", recovers=True)
def a_registry_that_names_itself(s):
    s.web["/hostile.xml"] = page(("%s\n%s\n%s\n" % (s.web("/hostile.xml"), s.web("/1.xml"),
                                                    s.web("/hostile.xml"))).encode(), "text/plain")
    s.web["/1.xml"] = xml(urlset(s.entry("x", 2)))


@cases.add("too deep")
def registries_in_a_chain(s):
    for i in range(20):
        s.web["/hostile.xml" if not i else "/%d.txt" % i] = page(
            s.web("/%d.txt" % (i + 1)).encode() + b"\n", "text/plain")


@cases.add("more than 1000 sources")
def a_registry_of_100000_lines(s):
    s.web["/hostile.xml"] = page("".join("http://%s/%d\n" % (s.trap, i)
                                         for i in range(100000)).encode(), "text/plain")


@cases.add("too long")
def a_registry_with_a_line_without_end(s):
    s.web["/hostile.xml"] = page(s.web("/" + "x" * (1 << 20)).encode() + b"\n", "text/plain")


@cases.add("zero")
def a_registry_of_zeros(s):
    s.web["/hostile.xml"] = page(b"http://a.example.invalid/\n" + bytes(1 << 20), "text/plain")


@cases.add("not a public address")
def a_registry_of_private_addresses(s):
    s.web["/hostile.xml"] = page("".join(spelled(s, name) + "\n" for name in SPELLINGS
                                         if name != "full_width").encode(), "text/plain")


@pytest.mark.parametrize("case", cases)
def test_a_hostile_list_is_refused_and_the_rest_goes_on(stage, case):      # noqa: F811
    cases.play(stage, case, False)


def test_these_are_many_cases():
    assert len(cases) >= 50
