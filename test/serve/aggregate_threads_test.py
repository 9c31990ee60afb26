"""aggregate_threads_test.py - loops, the aggregator's thread and jobs at once."""
import threading
import time

from aggregating import ONE, TWO, archives, filters, folder, rested, serve    # noqa: F401
from serving import until


def test_lookups_do_not_wait_for_slow_archives_and_questions_are_shared(folder, archives):
    archives[0].silent = True
    with serve(folder, "--threads", "1", timeout="60s") as server:
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(server.get(
            "/timemap/link/" + ONE))) for _ in range(20)]
        for t in threads:
            t.start()
        until(lambda: server.metrics()["seen_memento_shared_total"] == 19)
        with server.client() as client:
            for _ in range(100):
                assert client.get("/archive01/" + ONE).status == 200
            assert client.get("/timemap/link/" + TWO).status == 200     # nor do other TimeMaps
        assert not answers
        archives[0].silent = False
        for t in threads:
            t.join()
        assert {a["X-Memento-Count"] for a in answers} == {"3"}
        assert len(archives[0].requests) == 1
        assert server.metrics()["seen_memento_shared_total"] == 19


def test_mementos_are_passed_on_by_many_loops_at_once(folder, archives):
    page = b"memento " * 4096

    def answer(target):
        return 200, {}, page if target.startswith("/web/") else archives[1].write(ONE)

    archives[1].answer = answer
    answers = []
    with serve(folder, "--threads", "2") as server:
        threads = [threading.Thread(target=lambda: answers.append(server.get(
            "/memento/proxy/2005/" + ONE))) for _ in range(40)]
        gone = server.client()                  # a client that does not wait
        gone.send("GET /memento/proxy/2005/%s HTTP/1.1\r\nHost: a\r\n\r\n" % ONE)
        for t in threads:
            t.start()
        gone.__exit__()
        for t in threads:
            t.join()
    assert [(a.status, a.body) for a in answers] == [(200, page)] * 40


def test_more_urls_than_are_gathered_at_a_time_wait_their_turn(tmp_path, archives):
    archives.list(tmp_path / "list.json")
    for i in range(100):
        archives[0].hold("http://many.example/%d" % i, "20010203040506")
    archives[0].delay = 0.1
    answers = []
    with serve(tmp_path, filters=False) as server:
        threads = [threading.Thread(target=lambda i=i: answers.append(server.get(
            "/timemap/link/http://many.example/%d" % i))) for i in range(100)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert [(a.status, a["X-Memento-Count"]) for a in answers] == [(200, "1")] * 100
    assert len(archives[0].requests) == 100


def test_a_silent_archive_does_not_hold_up_the_others(tmp_path, archives):
    archives.list(tmp_path / "list.json")
    for i in range(300):
        archives[0].hold("http://many.example/%d" % i, "20010203040506")
    archives[1].delay = 60
    answers = []

    def ask(begin, end):
        threads = [threading.Thread(target=lambda i=i: answers.append(server.get(
            "/timemap/json/http://many.example/%d" % i))) for i in range(begin, end)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    with serve(tmp_path, filters=False, timeout="4s") as server:
        ask(0, 60)                      # they wait for it, in vain
        before = len(archives[1].requests)
        ask(60, 260)
        assert len(archives[1].requests) - before < 50, "it is asked all the same"
        assert [(a.status, a["X-Memento-Count"], a["Seen-Failed"]) for a in answers] == \
            [(200, "1", "archive02")] * 260
        assert "times in a row" in answers[-1].text
        # Slow is not silent.
        archives[0].delay = 0.8
        ask(260, 263)
        archives[0].delay = 0
        ask(263, 264)
        assert [a["Seen-Failed"] for a in answers[260:]] == ["archive02"] * 4


def test_the_server_stops_while_archives_are_asked(folder, archives):
    archives[0].delay = 1
    with serve(folder, timeout="30s") as server:
        client = server.client()
        client.send("GET /timemap/link/%s HTTP/1.1\r\nHost: a\r\n\r\n" % ONE)
        until(lambda: archives[0].requests)
        gone = server.client()                  # a client that does not wait
        gone.send("GET /timemap/link/%s HTTP/1.1\r\nHost: a\r\n\r\n" % TWO)
        gone.socket.close()
        server.process.terminate()
        assert client.read().status == 200      # it is still answered
        client.socket.close()
