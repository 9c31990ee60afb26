"""What warc/ writes is read by others: by a reader that was written from the
standard, and by seen's own reader of archives."""
import glob
import json
import os
import re
import subprocess

import pytest
from warc_reader import records

SEEN = os.environ["SEEN"]
WRITE = os.path.join(os.environ["SEEN_BUILD"], "test", "test-warc-write")


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crawl")
    subprocess.run([WRITE, folder], check=True)
    return folder


def seen(*words, codes=(0,), stdin=None):
    done = subprocess.run([SEEN, *map(str, words)], capture_output=True,
                          text=True, input=stdin)
    assert done.returncode in codes, done.stderr + done.stdout
    return done.stdout


def files(crawl):
    return sorted(glob.glob(f"{crawl}/warc/*"))


def read(path):
    with open(path, "rb") as file:
        return list(records(file.read()))


def test_every_file_begins_with_warcinfo(crawl):
    names = [os.path.basename(path) for path in files(crawl)]
    assert len(names) > 1
    assert names == [f"crawl-{i + 1:05}.warc.gz" for i in range(len(names))]
    for path in files(crawl):
        first, *others = read(path)
        assert first.type == "warcinfo"
        assert first.headers["WARC-Filename"] == os.path.basename(path)
        assert first.headers["Content-Type"] == "application/warc-fields"
        facts = dict(line.split(": ", 1)
                     for line in first.block.decode().splitlines())
        assert facts["software"] == "seen/test" and facts["robots"] == "obey"
        assert facts["format"] == "WARC file version 1.1"
        assert "conformsTo" in facts and "hostname" not in facts
        assert all(it.type != "warcinfo" for it in others)


def test_records_name_each_other(crawl):
    everything = [it for path in files(crawl) for it in read(path)]
    by_id = {it.headers["WARC-Record-ID"]: it for it in everything}
    assert len(by_id) == len(everything)
    for it in everything:
        for other in it.concurrent:
            assert by_id[other].headers["WARC-Date"] == it.headers["WARC-Date"]
            assert by_id[other].url == it.url
        assert bool(it.concurrent) == (it.type != "warcinfo")


def test_revisits_lead_to_the_record_with_the_payload(crawl):
    everything = [it for path in files(crawl) for it in read(path)]
    stored = {(it.url, it.headers["WARC-Date"]): it for it in everything
              if it.type == "response"}
    profiles = set()
    for it in everything:
        if it.type != "revisit":
            continue
        target = stored[it.headers["WARC-Refers-To-Target-URI"],
                        it.headers["WARC-Refers-To-Date"]]
        assert it.headers["WARC-Payload-Digest"] == \
            target.headers["WARC-Payload-Digest"]
        profile = it.headers["WARC-Profile"].rpartition("/")[2]
        profiles.add(profile)
        status, _, body = it.http()
        assert body == b""
        if profile == "identical-payload-digest":
            assert it.headers["WARC-Truncated"] == "length"
        else:
            assert status.split()[1] == "304"
            assert "WARC-Truncated" not in it.headers
    assert profiles == {"identical-payload-digest", "server-not-modified"}


def test_the_index_leads_to_every_capture(crawl):
    found = {}
    for path in files(crawl):
        for it in read(path):
            if it.type in ("response", "revisit"):
                found[os.path.basename(path), it.offset] = it
    with open(f"{crawl}/index.cdxj", encoding="ascii") as file:
        lines = file.read().splitlines()
    assert len(lines) == len(found)
    for line in lines:
        key, stamp, text = line.split(" ", 2)
        entry = json.loads(text)
        it = found.pop((entry["filename"], int(entry["offset"])))
        assert all(isinstance(value, str) for value in entry.values())
        assert list(entry) == ["url", "mime", "status", "digest", "length",
                               "offset", "filename"]
        assert entry["url"] == it.url
        assert int(entry["length"]) == it.length
        assert "sha1:" + entry["digest"] == it.headers["WARC-Payload-Digest"]
        assert stamp == re.sub(r"\D", "", it.headers["WARC-Date"])[:14]
        assert key.startswith("example,a)/page/")
        status, fields, _ = it.http()
        assert entry["status"] == status.split()[1]
        assert entry["mime"] == ("warc/revisit" if it.type == "revisit" else
                                 entry["mime"])
        if it.type == "response" and "content-type" in fields:
            assert entry["mime"] == fields["content-type"]
    assert not found


def test_seen_builds_filters_of_both(crawl, tmp_path):
    urls = {it.url for path in files(crawl) for it in read(path)
            if it.type in ("response", "revisit")}
    text = "".join(f"{url}\n" for url in sorted(urls))
    for number, what in enumerate([crawl, f"{crawl}/warc",
                                   f"{crawl}/index.cdxj"]):
        filter = tmp_path / f"{number}.seen"
        report = json.loads(seen("build", "--json", "-o", filter, what))
        assert not report.get("rejects")
        assert seen("check", "--only", "new", filter, stdin=text,
                    codes=(0, 1)) == ""


def test_seen_finds_no_fault(crawl):
    out = seen("warc", "check", "--json", "--strict", "--index",
               f"{crawl}/index.cdxj", *files(crawl))
    said = [json.loads(line) for line in out.splitlines()]
    assert all(it["faults"] == 0 and it["notes"] == 0 for it in said)
    assert said[-1]["lines"] == sum(it["types"].get("response", 0) +
                                    it["types"].get("revisit", 0)
                                    for it in said[:-1])
