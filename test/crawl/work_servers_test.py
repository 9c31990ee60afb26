"""Workers whose servers are restarted, cut off, full, or not to be trusted.

These tests stop servers, so they have a PostgreSQL and a RabbitMQ of their own.
"""
import json
import os
import subprocess
import time

import pytest

from working import SEEN, Hosts, Proxy, Team, until    # and the way to the next three

from authority import Authority
from postgres import LOCKED, Postgres
from rabbitmq import RabbitMQ

CONNECTIONS = 30


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("servers")
    authority = Authority(folder / "ca")
    settings = {"max_connections": CONNECTIONS, "superuser_reserved_connections": 3}
    with Postgres(folder / "postgres", tls=authority, settings=settings) as postgres, \
            RabbitMQ(folder / "rabbitmq", tls=authority) as rabbitmq:
        yield postgres, rabbitmq


@pytest.fixture
def team(servers, tmp_path):
    postgres, rabbitmq = servers
    return Team(tmp_path, queue=rabbitmq.url(), frontier=postgres.database(tmp_path.name[-20:]), name=tmp_path.name[-20:] + "-")


def check(team, web, delay):
    records, ends = team.records()
    assert sorted(one["_url"] for one in records) == web.all()
    assert [one["_records"] for one in ends] == [len(records)]
    web.assert_polite(delay)


def more(web, n, most):
    """Wait for n more requests. After the most the site holds its answers, so that the crawl does not end meanwhile."""
    before = len(web.log)
    web.hold(most, answered=True)
    web.wait_for(before + n)


def test_servers_that_are_restarted_in_mid_crawl(servers, team, tmp_path):
    postgres, rabbitmq = servers
    with Hosts(8, 80) as web:
        team.enqueue("--delay", "0.05", web.template(tmp_path))
        workers = [team.worker(), team.worker()]
        more(web, 30, 150)
        rabbitmq.stop()
        time.sleep(0.5)
        rabbitmq.start()
        more(web, 30, 150)
        postgres.restart("fast")
        more(web, 30, 150)
        postgres.restart("immediate")
        more(web, 30, 30)
        web.release()
        until(lambda: team.status()["visits"][0]["state"] == "ended", 120)
        pages = sum(one.end()["pages"] for one in workers)
    assert pages == 640
    check(team, web, 0.05)


def test_connections_that_are_cut_in_mid_commit(team, tmp_path):
    """Before the server has it, and after: when nobody knows whether it was done. The queue's are cut at any time."""
    with Hosts(6, 60) as web, Proxy.of(team.frontier) as frontier, Proxy.of(team.queue) as queue:
        team.enqueue("--delay", "0.02", web.template(tmp_path))
        other = Team(tmp_path, queue=queue.url, frontier=frontier.url, name=team.jobs[:-4], lease=5)
        web.hold(10, answered=True)
        worker = other.worker()
        web.wait_for(10)
        for n in range(8):
            frontier.cut_at(b"COMMIT", ("before", "after")[n % 2])
            more(web, 10, 40)
            until(lambda: frontier.cuts > n)
            if n % 3 == 0:
                queue.cut()
        web.release()
        until(lambda: team.status()["visits"][0]["state"] == "ended", 60)
        report = worker.end()
    assert report["pages"] == 360
    check(team, web, 0.02)


def test_a_server_short_of_memory_and_a_queue_that_is_deleted(servers, team, tmp_path):
    """Publishers wait until there is memory. A queue that somebody deleted is made again."""
    rabbitmq, team.lease = servers[1], 4
    with Hosts(4, 60) as web:
        team.enqueue("--delay", "0.05", web.template(tmp_path))
        def fetched():
            return team.status()["visits"][0]["fetched"]

        web.hold(30, answered=True)
        worker = team.worker()
        web.wait_for(30)
        until(lambda: fetched() == len(web.paths()))
        rabbitmq.ctl("set_vm_memory_high_watermark", "absolute", "1")
        committed = fetched()
        web.hold(60, answered=True)
        time.sleep(team.lease + 1)              # which is renewed
        assert fetched() == committed < len(web.paths())
        rabbitmq.ctl("set_vm_memory_high_watermark", "0.6")
        until(lambda: fetched() > committed)
        before = sorted(one["_url"] for one in team.records()[0])
        rabbitmq.ctl("delete_queue", team.pages + ".0")
        web.release()
        until(lambda: team.status()["visits"][0]["state"] == "ended", 60)
        report = worker.end()
    records, ends = team.records()
    assert report["pages"] == 240 and report["lost_leases"] == 0
    assert [one["_records"] for one in ends] == [240]
    assert set(before).isdisjoint(one["_url"] for one in records) and records
    web.assert_polite(0.05)


def test_a_database_without_a_free_connection_is_waited_for(servers, team, tmp_path):
    """By a worker that has lost its own. One that begins says what is wrong."""
    postgres = servers[0]
    with Hosts(2, 40) as web, Proxy.of(team.frontier) as proxy:
        team.enqueue("--delay", "0.02", web.template(tmp_path))
        other = Team(tmp_path, queue=team.queue, frontier=proxy.url, name=team.jobs[:-4])
        web.hold(20, answered=True)
        worker = other.worker()
        web.wait_for(20)
        takers = []

        def take():
            takers.append(subprocess.Popen(["psql", "-Xqd", postgres.url()], stdin=subprocess.PIPE,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

        def full():
            """Does the server refuse? If not, there is one client more."""
            take()
            return "too many clients" in subprocess.run(["psql", "-XAtqd", postgres.url(), "-c", "SELECT 1"], text=True,
                                                        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL).stderr

        try:
            proxy.refuse = True     # else it may be quicker than those who take its place
            proxy.cut()
            for _ in range(CONNECTIONS):
                take()
            until(lambda: all(full() for _ in range(3)))
            proxy.refuse = False
            web.release()
            time.sleep(1)
            late = subprocess.run(team.command(), text=True, capture_output=True, timeout=30)
            assert late.returncode == 2 and "too many clients" in late.stderr
            assert "127.0.0.1:%d" % postgres.port in late.stderr
        finally:
            for one in takers:
                one.stdin.close()
                one.wait(60)
        until(lambda: team.status()["visits"][0]["state"] == "ended", 60)
        assert worker.end()["pages"] == 80
    check(team, web, 0.02)


# --- TLS and passwords ---

def test_tls_to_both_servers_and_no_other_authority(servers, tmp_path):
    postgres, rabbitmq = servers
    wrong = Authority(tmp_path / "wrong").certificate

    name = postgres.database("tls").split("/")[3].split("?")[0]

    def places(amqp, sql):
        return {"queue": rabbitmq.tls_url() + "?cacert=" + amqp, "name": "tls-",
                "frontier": postgres.url(name, host="localhost", sslmode="verify-full", sslrootcert=sql)}

    with Hosts(2, 5) as web:
        good = Team(tmp_path, **places(rabbitmq.authority, postgres.authority))
        good.enqueue("--delay", "0", web.template(tmp_path))
        for amqp, sql in ((wrong, postgres.authority), (rabbitmq.authority, wrong)):
            done = subprocess.run(Team(tmp_path, **places(amqp, sql)).command("--drain"), capture_output=True,
                                  text=True, timeout=60)
            assert done.returncode == 2 and "certificate" in done.stderr and "localhost" in done.stderr
        assert not web.log
        assert good.work()["pages"] == 10
        check(good, web, 0)


def test_passwords_are_shown_nowhere(servers, tmp_path):
    """Not by a command, right or wrong; not in a log of a worker, and not in the list of processes if they come from
    the environment or a file."""
    postgres, rabbitmq = servers
    hidden, file = "Xyzzy42", tmp_path / "password"
    file.write_text(hidden + "\n", encoding="ascii")
    file.chmod(0o600)
    postgres.sql("ALTER ROLE %s SUPERUSER PASSWORD '%s'" % (LOCKED, hidden))
    rabbitmq.ctl("add_user", "worker", hidden)
    rabbitmq.ctl("set_permissions", "worker", ".*", ".*", ".*")
    database = postgres.database("secret")
    plain = {"queue": rabbitmq.url(user="worker"), "frontier": database.replace("postgres@", LOCKED + "@", 1)}
    shown = {"queue": rabbitmq.url(user="worker:" + hidden),
             "frontier": database.replace("postgres@", "%s:%s@" % (LOCKED, hidden), 1)}
    wrong = {name: url.replace(hidden, "Plugh77") for name, url in shown.items()}
    gone = {"queue": shown["queue"].replace(":%d/" % rabbitmq.port, ":1/"),
            "frontier": shown["frontier"].replace(":%d/" % postgres.port, ":1/")}
    said = []

    def run(*words, codes=(0,), given="", **more):
        done = subprocess.run([SEEN, *map(str, words)], capture_output=True, text=True, input=given, timeout=60,
                              env=dict(os.environ, **more))
        assert done.returncode in codes, (words, done.stderr)
        said.append(done.stdout + done.stderr)

    names = ("--jobs", "secret-jobs")
    with Hosts(1, 60) as web:
        path = web.template(tmp_path)
        run("enqueue", "--queue", shown["queue"], *names, "--delay", "0.05", path)
        team = Team(tmp_path, **plain, name="secret-")
        web.hold(5, answered=True)
        for more, options in (({"PGPASSWORD": hidden, "SEEN_AMQP_PASSWORD": hidden}, ()),
                              ({}, ("--password-file", file))):
            before = web.asked
            worker = subprocess.Popen(team.command(*options), env=dict(os.environ, **more), text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            until(lambda: web.asked > before)
            with open("/proc/%d/cmdline" % worker.pid, encoding="utf-8") as cmdline:
                said.append(cmdline.read())
            worker.terminate()
            said += worker.communicate(timeout=30)
            assert worker.returncode == 0
        web.release()
        run("work", "--queue", shown["queue"], "--frontier", shown["frontier"], *names, "--pages", "secret-pages",
            "--allow-private", "--drain")
    for queue, codes in ((shown["queue"], (0, 1)), (wrong["queue"], (2,)), (gone["queue"], (2,)),
                         (shown["frontier"], (0, 1, 2)), (wrong["frontier"], (2,)), (gone["frontier"], (2,)),
                         (shown["queue"] + "?nonsense=1", (2,)), (shown["queue"].replace("amqp:", "ampq:"), (2,)),
                         (shown["frontier"] + "&nonsense=1", (2,))):
        run("queue", "stats", "--queue", queue, codes=codes)
        run("queue", "dead", "jobs", "--json", "--queue", queue, codes=codes)
    for frontier in (shown["frontier"], wrong["frontier"], gone["frontier"]):
        for options in ((), ("--json",)):
            run("work", "status", "--frontier", frontier, *options, codes=(0, 2))
    for place in (wrong, gone):
        run("enqueue", "--queue", place["queue"], path, codes=(2,))
        run("work", "--queue", place["queue"], "--frontier", shown["frontier"], "--drain", codes=(2,))
        run("work", "--queue", shown["queue"], "--frontier", place["frontier"], "--drain", *names, codes=(2,))
    for text in said:
        assert hidden not in text and "Plugh77" not in text, text
    # What the servers store has none either.
    assert hidden not in postgres.sql("SELECT string_agg(name, ' ') FROM workers", database)


def test_operators_see_the_queues_of_rabbitmq(team, tmp_path):
    team.put("bad", "no job")
    team.put("bad too", "no job")
    assert team.work()["bad_jobs"] == 2
    on = ("--queue", team.queue, team.jobs)
    found, = json.loads(team.seen("queue", "stats", *on, "--json"))
    assert (found["queue"], found["ready"], found["dead"], found["waiting"]) == (team.jobs, 0, 2, 0)
    assert set(team.dead()) == {"bad", "bad too"}
    assert "1 dead letter" in team.seen("queue", "drop", *on, "bad")
    assert "1 dead letter" in team.seen("queue", "retry", *on, "bad too")
    assert team.work()["bad_jobs"] == 1
    assert json.loads(team.seen("work", "status", "--frontier", team.frontier, "--json"))["visits"] == []
