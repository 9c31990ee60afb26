"""Long tests of the crawler, for `make soak`."""
import os

import pytest

import nginx
from killing import crawl_with_kills

pytestmark = pytest.mark.skipif("SEEN_SOAK" not in os.environ, reason="make soak runs it")


@pytest.mark.skipif(not nginx.PROGRAM, reason="nginx is not installed")
def test_twenty_kills_in_a_crawl_of_3000_pages(tmp_path, capsys):
    killed = crawl_with_kills(tmp_path, hosts=10, pages=300, kills=20, seed=int(os.environ.get("SEEN_SEED", 1)))
    with capsys.disabled():
        print("\n%d kills: %d requests, of which %d were repeated" % killed)
