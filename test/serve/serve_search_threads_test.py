"""serve_search_threads_test.py - many clients search at once, and crawls come and go."""
import json
import shutil
import threading

from searching import crawls, many, target                      # noqa: F401
from serving import Server, build, until


def test_many_clients_at_once_hold_up_nobody(many, tmp_path):           # noqa: F811
    """Costly questions of 40 clients; meanwhile lookups and rare words are answered."""
    shutil.copytree(many, tmp_path / "many")
    build(tmp_path / "a.seen", ["http://a.example/"])
    with Server(tmp_path, "a.seen", "--threads", 1, "--search", "many", "--search", "gone=other") as server:
        answers = []
        costly = [threading.Thread(target=lambda: answers.append(server.get(target("common")))) for _ in range(40)]
        for one in costly:
            one.start()
        with server.client() as other:
            for _ in range(20):
                assert other.get("/a/http://a.example/").status == 200
                assert len(json.loads(other.get(target("rare")).body)["results"]) == 10
        for one in costly:
            one.join()
        assert {answer.status for answer in answers} == {200} and len(answers) == 40
        counts = server.metrics()
        assert counts["seen_search_questions_total"] == 60 and counts["seen_search_refused_total"] == 0


def test_a_crawl_may_go_and_come_back_while_it_is_asked(crawls, tmp_path):     # noqa: F811
    with Server(tmp_path, "--search", "site") as server:
        stop, statuses = threading.Event(), set()

        def ask():
            with server.client() as client:
                while not stop.is_set():
                    statuses.add(client.get(target("red roses")).status)
        clients = [threading.Thread(target=ask) for _ in range(8)]
        for one in clients:
            one.start()
        for _ in range(10):
            shutil.copytree(crawls / "garden", tmp_path / "site")
            until(lambda: server.status(target("red roses")) == 200)
            shutil.rmtree(tmp_path / "site")
            until(lambda: server.status(target("red roses")) == 503)
        stop.set()
        for one in clients:
            one.join()
        assert statuses == {200, 503}
