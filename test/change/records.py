"""records.py - page records, and runs of seen classify that are killed."""
import json
import os
import random
import subprocess
import time

SEEN = os.environ["SEEN"]


def record(url, text, visit="n@1", id=None, **more):
    one = {"_v": 1, "_id": id or "%s %s" % (visit, url), "_url": "http://a.example/" + url, "_visit": visit,
           "_status": 200, "_turn": 1, "Title": ["page " + url], "Text": [text]}
    one.update(more)
    return one


def visits(pages, visits, seed=1):
    """Visits of a site whose pages change, return to what they were, and vanish."""
    chance = random.Random(seed)
    words = ["w%d" % i for i in range(500)]
    texts = [[chance.choice(words) for _ in range(60)] for _ in range(pages)]
    first = [list(text) for text in texts]
    for visit in range(1, visits + 1):
        for i in range(pages):
            what = chance.random() if visit > 1 else 1
            if what < 0.1:
                texts[i][chance.randrange(60)] = "changed%d" % visit
            elif what < 0.15:
                texts[i] = list(first[i])
            elif what < 0.17:
                texts[i] = list(texts[i - 1])
            elif what < 0.19:
                yield {"_id": "%d-%d" % (visit, i), "_url": "http://a.example/%d" % i, "_visit": "n@%d" % visit,
                       "_status": 404}
                continue
            yield record(str(i), " ".join(texts[i]), "n@%d" % visit, "%d-%d" % (visit, i))


def write(path, records):
    with open(path, "w", encoding="utf-8") as file:
        for one in records:
            file.write(one if isinstance(one, str) else json.dumps(one))
            file.write("\n")
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def classify(*words, codes=(0,), given="", timeout=300):
    done = subprocess.run([SEEN, "classify", *map(str, words)], input=given.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout)
    assert done.returncode in codes, (words, done.returncode, done.stderr.decode())
    return done.stdout.decode()


def kill_runs(words, kills, seed, longest):
    """Start it again and again, and kill it at random moments; then let it end. How many kills hit it."""
    chance = random.Random(seed)
    hit = 0
    while hit < kills:
        run = subprocess.Popen([SEEN, "classify", *map(str, words)], stdout=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, longest))
        run.kill()
        hit += run.wait(60) == -9
        longest *= 1 if run.returncode == -9 else 0.7
    classify(*words)
    return hit


def compare(folder, pages, number, kills, options=(), longest=0.4):
    """A run with kills has the same results as one without: the same bytes after sorting, each line once."""
    pages = write(folder / "pages.jsonl", visits(pages, number))
    words = ["--batch", "50", "--quiet", *options, "-i", pages]
    classify("--state", folder / "calm", "-o", folder / "calm.jsonl", *words)
    kill_runs(["--state", folder / "killed", "-o", folder / "killed.jsonl", *words], kills, 7, longest)
    calm, killed = [sorted(open(folder / name, "rb")) for name in ("calm.jsonl", "killed.jsonl")]
    assert len(calm) == len(read(pages))
    assert killed == calm
