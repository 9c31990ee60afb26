"""kill -9 and full disks: nothing is lost and nothing is stored twice. soak_test.py kills more often."""
import os
import subprocess

import pytest

import nginx
from crawling import Crawl, Site, page
from killing import check_files, crawl_with_kills


@pytest.mark.skipif(not nginx.PROGRAM, reason="nginx is not installed")
def test_kills_lose_nothing_and_store_nothing_twice(tmp_path):
    print(crawl_with_kills(tmp_path, hosts=6, pages=50, kills=5, seed=7, longest=0.15))


@pytest.fixture
def full(tmp_path):
    """A folder on a disk of 3 MB, if we may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)],
                          stderr=subprocess.DEVNULL)
    if done.returncode:
        pytest.skip("tmpfs cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_stops_it_with_a_message_and_it_goes_on(full):
    """The same command ends with the same words while the disk is full, and goes on when it is not."""
    n = 60
    pages = {"/%d" % i: page("/%d" % ((i + 1) % n), "/%d" % ((i * 3) % n), text=os.urandom(20000).hex())
             for i in range(n)}
    with Site(pages) as site:
        crawl = Crawl(full / "c", site.url("/0"))
        crawl.run("--quiet", codes=(2,), timeout=60)
        assert "No space left" in crawl.err or "no room on the disk" in crawl.err, crawl.err
        crawl.run("--quiet", codes=(2,), timeout=60)
        assert "No space left" in crawl.err or "no room on the disk" in crawl.err, crawl.err
        subprocess.run(["mount", "-o", "remount,size=40m", str(full)], check=True)
        crawl.run()
        check_files(crawl, map(site.url, pages))
