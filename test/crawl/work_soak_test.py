"""Long tests of workers, for `make soak`."""
import os

import pytest

from work_kill_test import EVERYWHERE, crawl_with_kills
import working    # noqa: F401: so that ctest finds which servers it needs

pytestmark = pytest.mark.skipif("SEEN_SOAK" not in os.environ, reason="make soak runs it")


@EVERYWHERE
def test_fifty_kills_in_a_crawl_of_2000_pages(tmp_path, where, capsys):
    again = crawl_with_kills(tmp_path, where, hosts=40, pages=50, kills=50, seed=int(os.environ.get("SEEN_SEED", 1)))
    with capsys.disabled():
        print("\n%s: 50 kills in 2,000 pages; %d were asked again" % (where.__name__, again))
