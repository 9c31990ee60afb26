"""What is kept of a robots.txt, and what its rules take."""
from crawling import Answer, Crawl, Site, page


def test_the_line_that_the_limit_cuts_does_not_count_later_either(tmp_path):
    limit = 500 << 10
    rules = "User-agent: *\nDisallow: /private\n"
    rules += "#" * (limit - len(rules) - len("\nDisallow: /")) + "\nDisallow: /elsewhere\n"
    with Site({"/": page("/a", "/b"), "/a": page(), "/b": page(), "/robots.txt": Answer(rules, type="text/plain")}) as site:
        crawl = Crawl(tmp_path / "c", site.url())
        crawl.run("--pages", 1)
        crawl.run("--pages", 10)
        assert site.paths() == ["/", "/a", "/b"]
        assert [one.path for one in site.log].count("/robots.txt") == 1
