"""The crawler's parts of the tour end well: a sample site, two visits, traps, kills, a bad cache, workers."""
import os
import shutil
import subprocess

import pytest


@pytest.mark.skipif(not shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), reason="no nginx")
def test_the_tour_of_the_crawler():
    done = subprocess.run(["demo/crawl"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    assert done.returncode == 0, done.stdout.decode()
    assert b"covered       everything in scope that was found" in done.stdout
    assert b"lost before   http://127.0.0.1:" in done.stdout


@pytest.mark.skipif(not shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), reason="no nginx")
def test_the_tour_of_changes():
    done = subprocess.run(["demo/changes"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    assert done.returncode == 0, done.stdout.decode()
    assert b"[+Its owner has been" in done.stdout and b"dropped 6 pages" in done.stdout


@pytest.mark.skipif(not shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), reason="no nginx")
def test_the_tour_of_workers():
    done = subprocess.run(["demo/work"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    assert done.returncode == 0, done.stdout.decode()
