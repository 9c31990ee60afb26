"""aggregating.py - an aggregator to test, with four archives on the loopback.

The fixtures are those of aggregate_test.py and aggregate_threads_test.py.
"""
import shutil

import pytest
from federation import Archives
from serving import Server, build

ONE, TWO, NONE = "http://one.example/", "http://two.example/a?b=c,d;e", "http://none.example/"
NO_CACHE = "--cache", "1"      # nothing fits into one byte


@pytest.fixture(scope="module")
def archives():
    with Archives(4) as them:
        yield them


@pytest.fixture(autouse=True)
def rested(archives):
    for a in archives:
        a.requests.clear()
        a.held.clear()
        a.answer, a.delay, a.silent = None, 0, False


HOLDINGS = [{ONE: ("20010203040506", "20100101000000")},
            {ONE: ("20050607080910",), TWO: ("19990101000000",)}, {}, {}]


@pytest.fixture(scope="module")
def filters(tmp_path_factory, archives):
    it = tmp_path_factory.mktemp("filters")
    for a, held in zip(archives, HOLDINGS):
        build(it / (a.name + ".seen"), held, "--rate", "1e-6", "--kind", "bloom")
    return it


@pytest.fixture
def folder(tmp_path, archives, filters):
    for a, held in zip(archives, HOLDINGS):
        for url in held:
            a.hold(url, *held[url])
    shutil.copytree(filters, tmp_path / "filters")
    archives.list(tmp_path / "list.json")
    return tmp_path


def serve(folder, *words, archives="list.json", timeout="10s", filters=True, private=True,
          **how):
    return Server(folder, "--aggregate", "--archives", archives, "--timeout", timeout,
                  *(["--allow-private"] if private else []), *words,
                  *(["filters"] if filters else []), **how)
