"""Long tests of workers, for `make soak`."""
import os
import time

import pytest

from work_kill_test import EVERYWHERE, crawl_with_kills
import working    # noqa: F401: so that ctest finds which servers it needs
from postgres import Postgres

pytestmark = pytest.mark.skipif("SEEN_SOAK" not in os.environ, reason="make soak runs it")


@EVERYWHERE
def test_fifty_kills_in_a_crawl_of_2000_pages(tmp_path, where, capsys):
    again = crawl_with_kills(tmp_path, where, hosts=40, pages=50, kills=50, seed=int(os.environ.get("SEEN_SEED", 1)))
    with capsys.disabled():
        print("\n%s: 50 kills in 2,000 pages; %d were asked again" % (where.__name__, again))


def test_fifty_kills_and_restarts_of_either_of_two_databases(tmp_path, capsys):
    """A frontier over two servers. Every fifth kill one of them is restarted, in turns, well or as after kill -9; or it
    is away for longer than a lease."""
    with Postgres(tmp_path / "a") as a, Postgres(tmp_path / "b") as b:
        frontier = a.database("x") + "," + b.database("y")
        restarts = []

        def restart(n):
            if n % 5 != 2:
                return
            server, mode = (a, b)[n // 5 % 2], ("fast", "immediate")[n // 10 % 2]
            server.stop(mode)
            if n % 15 == 2:
                time.sleep(2)
            server.start()
            restarts.append(mode)

        again = crawl_with_kills(tmp_path, lambda folder: {"frontier": frontier}, hosts=40, pages=50, kills=50,
                                 seed=int(os.environ.get("SEEN_SEED", 1)), between=restart, crossing=True)
        left = [server.sql("SELECT count(*) FROM outbox", url)
                for server, url in zip((a, b), frontier.split(","))]
    assert left == ["0", "0"]
    with capsys.disabled():
        print("\ntwo databases: 50 kills and %d restarts in 2,000 pages; %d were asked again" % (len(restarts), again))
