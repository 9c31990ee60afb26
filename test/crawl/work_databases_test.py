"""Workers of a frontier over several databases."""
import json
import subprocess

from work_kill_test import DELAY, check
from working import Hosts, Proxy, Team, shared_postgres, until


def test_a_worker_of_two_that_dies_costs_only_time(tmp_path):
    """With WARC files, and links from each page to all hosts: half of them travel."""
    files = ",".join("sqlite:%s/%s.db" % (tmp_path, name) for name in "ab")
    with Hosts(8, 15) as web:
        web.links = [web.url(host, "/p%d" % (1 + host)) for host in range(8)]
        team = Team(tmp_path, frontier=files, lease=1)
        team.enqueue("--delay", DELAY, web.template(tmp_path))
        first, second = team.worker("--into", tmp_path / "out"), team.worker("--into", tmp_path / "out")
        web.wait_for(40)
        first.kill()
        web.wait_for(80)
        second.end()
        team.work("--into", tmp_path / "out")
    check(team, web, tmp_path / "out")


def test_a_database_that_is_away_delays_its_hosts_only(tmp_path):
    server = shared_postgres()
    home, other = server.database("home"), server.database("other")
    with Hosts(16, 12) as web, Proxy.of(other) as proxy:
        team = Team(tmp_path, frontier=home + "," + proxy.url, lease=2)
        team.enqueue("--delay", DELAY, web.template(tmp_path))

        def hosts(database):
            return server.sql("SELECT name FROM hosts WHERE name NOT LIKE '%://%'", database).split()

        web.hold(16, answered=True)
        worker = team.worker()
        web.wait_for(1)
        until(lambda: len(hosts(home)) + len(hosts(other)) == 16)
        here, away = hosts(home), hosts(other)
        assert here and away
        proxy.refuse = True
        proxy.cut()
        web.release()

        def missing(names):
            asked = {(one.host.split(":")[0], one.path) for one in web.log}
            return [url for url in web.all() if url.split("/")[2].split(":")[0] in names
                    and (url.split("/")[2].split(":")[0], "/" + url.split("/", 3)[3]) not in asked]

        until(lambda: not missing(here))
        assert missing(away)
        told = subprocess.run([team.command()[0], "work", "status", "--frontier", team.frontier, "--json"],
                              capture_output=True, text=True, check=True, timeout=60)
        assert "not counted" in told.stderr and str(proxy.port) in told.stderr
        visit, = json.loads(told.stdout)["visits"]
        assert visit["state"] == "running"          # for as long as the other is away
        proxy.refuse = False
        until(lambda: team.status()["visits"][0]["state"] == "ended")
        worker.end()
        check(team, web)
