"""The experiments on the archives report, at a small size.

Bands are those of the laboratory: a measurement outside of them is told by
exit code 1, so run() itself fails for any rate that theory does not give.
"""
import os
import re
import subprocess

from running import SEEN, column, refused, rising, run, table


def test_table_1_ingests_every_line_and_has_the_size_of_the_report():
    found = run("archives-table-1", 40000)
    rows = {r["measure"]: r for r in table(found, "archives-table-1")}
    for kind in "bloom:orestes", "blocked":
        assert rows["ingested entries"][kind] == 40000
        assert rows["URLs per second"][kind] > 1000
        assert rows["text per second, MB"][kind] > 0
        assert 0.3 < rows["false positives, %"][kind] < 1.1
    size, wrong = table(found, "archives-table-1-judged")
    assert size["published"] == 246
    assert abs(size["measured"] - 246.2) < 0.5
    assert abs(wrong["theory"] - 0.669) < 0.005
    # The four columns of the report stand as published.
    assert rows["time to ingest, s"]["Redis, HAW"] == 10759.2


def test_table_1_has_the_same_filter_in_redis_if_there_is_a_server():
    found = run("archives-table-1", 20000)
    rows = {r["measure"]: r for r in table(found, "archives-table-1")}
    for server in "Redis, no persistence", "Redis, AOF everysec":
        assert rows["ingested entries"][server] == 20000
        for measure in "URLs per second", "query response time, ms", "time to write as text, s":
            assert rows[measure][server] > 0
        for measure in "false positives, %", "size for all its entries, MB":
            assert rows[measure][server] == rows[measure]["blocked"]
    it = subprocess.run([SEEN, "lab", "archives-table-1", "--n", "1000"], capture_output=True, text=True,
                        env={**os.environ, "PATH": os.path.dirname(os.path.abspath(SEEN))})
    assert "There is no redis-server in PATH" in " ".join(it.stdout.split()), it.stderr
    assert "no persistence" not in it.stdout


def test_figure_3_which_k_is_best_depends_on_how_full_the_filter_is():
    found = run("archives-figure-3", 50000)
    best = {}
    for when in "held", "full":
        rows = table(found, "archives-figure-3-" + when)
        assert column(rows, "k") == list(range(1, 11))
        best[when] = min(rows, key=lambda r: r["theory"])["k"]
        least = min(rows, key=lambda r: r["measured"])["k"]
        assert abs(least - best[when]) <= 1
    assert best == {"held": 5, "full": 4}
    times = table(found, "archives-figure-3-time")
    # Hashing the text ten times takes longer than once, on any machine.
    assert times[9]["murmur3, held"] > 2 * times[0]["murmur3, held"]


def test_figure_3_is_the_same_with_any_number_of_threads():
    one = run("archives-figure-3", 5000, "--threads", "1")
    three = run("archives-figure-3", 5000, "--threads", "3")
    name = "archives-figure-3-full"
    assert table(one, name) == table(three, name)
    other = run("archives-figure-3", 5000, "--seed", "7")
    assert table(one, name) != table(other, name)


def test_figure_4_bad_hash_functions_are_found_out():
    rows = {r["hash function"]: r
            for r in table(run("archives-figure-4", 40000),
                           "archives-figure-4")}
    for good in "XXH3 (ours)", "Murmur3, salted", "Murmur3, as Orestes":
        assert rows[good]["vs theory"] == "agrees"
    assert rows["Adler-32, top bits"]["times theory"] > 5
    assert rows["Adler-32, modulo m"]["times theory"] > 1.05
    assert 0.9 < rows["FNV-1a, modulo m"]["times theory"] < 1.1


def test_figure_5_errors_of_an_array_add_up():
    rows = table(run("archives-figure-5", 4000), "archives-figure-5")
    assert column(rows, "filters") == list(range(1, 21))
    assert rising(column(rows, "theory"))
    assert rows[19]["measured"] > 10 * rows[0]["measured"]
    assert rows[19]["published"] == 18
    assert rows[19]["vs theory"] == rows[19]["vs published"] == "agrees"
    # `growing` has a planned rate of 1 %, whatever the number of URLs.
    assert max(column(rows, "growing")) < 1


def test_figure_6_sizes_follow_the_formula():
    found = run("archives-figure-6", 20000)
    rows = table(found, "archives-figure-6-size")
    assert rising(column(rows, "measured"))
    for r in rows:
        assert r["MB with it"] <= r["measured"] + 1e-3
    percent = {round(r["rate, %"], 1): r for r in rows}
    assert round(percent[1.0]["measured"]) == 246
    assert (percent[1.0]["best k"], percent[5.0]["best k"]) == (7, 4)


def test_figure_7_urls_are_spread_evenly():
    found = run("archives-figure-7", 50000)
    url, = table(found, "archives-figure-7-url")
    assert url["URL"] == "https://haw.nsk.hr/en"
    assert url["published"] == url["measured"] == 3
    rows = table(found, "archives-figure-7")
    assert "".join(column(rows, "filter")) == "0123456789abcdef"
    assert sum(column(rows, "by MD5")) == 50000
    assert sum(column(rows, "by the key")) == 50000
    assert column(rows, "by MD5") != column(rows, "by the key")


def test_memory_of_16_filters_contradicts_the_report_at_5_percent():
    found = run("archives-memory-16", 100000)
    one, five = table(found, "archives-memory-16")
    assert (one["published"], one["vs published"]) == (3.8, "agrees")
    assert (five["published"], five["vs published"]) == (1.6, "differs")
    assert round(five["theory"], 2) == 2.49
    assert any("cannot be right" in text for text in found["text"])


def test_seven_hash_functions_are_best_for_1_percent():
    found = run("archives-choice-of-k", 50000)
    rows = table(found, "archives-choice-of-k-size")
    assert min(rows, key=lambda r: r["measured"])["k"] == 7
    assert rows[4]["published"] == 246
    said = " ".join(found["text"])
    # The source of the library rounds (m/n) ln 2 up.
    assert "k = 7 for 1 % and 5 for the 5 % of Figures 3 and 4" in said
    assert "239.6 MB" in said
    # With 100,000 asked, noise cannot tell which k is best.
    assert re.search(r"the lowest is 0\.\d+ % with k = \d, but between k = \d and \d+ there is "
                     "no difference beyond the noise of these runs", said)
    full = table(found, "archives-choice-of-k-rate")
    held = table(found, "archives-choice-of-k-held")
    assert abs(full[4]["theory"] - 1) < 0.01
    for a, b in zip(held, full):
        assert a["measured"] < b["measured"]


def test_ten_years_of_growth():
    found = run("archives-ten-years", 8000)
    rows = table(found, "archives-ten-years")
    by = {w: [r for r in rows if r["structure"] == w]
          for w in ("one", "routed", "dynamic", "growing")}
    for way in by.values():
        assert column(way, "year") == list(range(11))
        assert way[10]["URLs, millions"] == 2800
    for way in "one", "routed", "growing":
        assert max(column(by[way], "measured")) < 1
    assert by["dynamic"][10]["measured"] > 8
    assert rising(column(by["dynamic"], "GB"))
    assert by["one"][0]["GB"] == by["one"][10]["GB"]
    assert abs(by["one"][0]["GB"] - 3.84) < 0.02
    # Five deviations of 200 million URLs are 0.035 %, whatever size is run.
    assert "What routing costs at this size is 0.035 % of memory" in " ".join(found["text"])
    assert abs(by["routed"][0]["GB"] / by["one"][0]["GB"] - 1) < 0.0005


def test_truncated_urls_save_bytes_and_cost_answers():
    found = run("archives-truncated", 30000)
    rows = table(found, "archives-truncated")
    sizes = table(found, "archives-truncated-size")
    assert rising(column(sizes, "distinct"))
    assert rising(column(sizes, "profile"))
    for r, size in zip(rows, sizes):
        # What the profile knows, the filter knows; and it errs beyond it.
        assert r["measured"] > r["profile"]
        assert size["filter"] < size["profile, by zstd"] < size["profile"]
    assert rows[4]["kept"] == "all"
    assert rows[4]["profile"] == 0
    assert sizes[4]["distinct"] == 30000
    assert rising([-r["profile"] for r in rows])


def test_a_list_that_is_too_short_is_told(tmp_path):
    few = tmp_path / "few.txt"
    few.write_text("".join(f"http://h{i % 50}.example/{i}\n"
                           for i in range(4000)))
    found = run("archives-truncated", 10000, "--urls", str(few))
    assert any("has 4000" in text for text in found["text"])
    rows = table(found, "archives-truncated")
    assert rows[0]["profile"] == 100    # every host is known
    # Lines that no index can have are left out, and asked for by nobody.
    few.write_text("".join(f"http://h.example/{i}\nno URL {i}\n"
                           for i in range(4000)))
    found = run("archives-table-1", 4000, "--urls", str(few))
    rows = {r["measure"]: r for r in table(found, "archives-table-1")}
    assert rows["ingested entries"]["bloom:orestes"] == 2000
    assert rows["ingested entries"]["blocked"] == 2000
    tiny = tmp_path / "tiny.txt"
    tiny.write_text("http://a.example/\nhttp://b.example/\n")
    done = subprocess.run(
        [SEEN, "lab", "archives-truncated", "--urls", str(tiny)],
        capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "2 URLs" in done.stderr


def test_table_1_the_rate_of_the_report_is_not_that_of_theory():
    judged = table(run("archives-table-1", 20000), "archives-table-1-judged")
    size, rate = judged
    assert size["vs theory"] == size["vs published"] == "agrees"
    # 0.66, where 0.669 would be written 0.67.
    assert rate["published"] == 0.66
    assert rate["vs theory"] == "agrees" and rate["vs published"] == "differs"


def test_figure_4_says_why_of_those_that_fail_only():
    for n in 3000, 40000:
        text = " ".join(run("archives-figure-4", n)["text"])
        good, bad = re.search("within the band: (.*?)[.] Not so: (.*?)[.] ",
                              text).groups()
        assert "XXH3" in good and "XXH3" not in bad
        assert ("Why a function fails" in text) == (bad != "none")
        assert ("A CRC is linear" in text) == ("CRC-32" in bad)
        assert ("A sum (Adler-32)" in text) == ("Adler-32" in bad)
        assert ("none differs from a perfect one" in text) == (bad == "none")


def test_too_few_and_too_many_urls_are_refused_at_once():
    for name in "archives-table-1", "archives-figure-3", "archives-figure-7":
        for n in 1, 99:
            assert f"{n} URLs are too few" in refused(name, n)
    assert "no memory" in refused("archives-truncated", 10**13)
