"""The experiments on the notes on spectral filters, at a small size.

Bands are those of the laboratory: a measurement outside of them is told by
exit code 1, so run() itself fails for any rate that theory does not give.
"""
from running import column, rising, run, table

WIDTHS = [4, 8, 16, 32]


def by(rows, *names):
    """Rows by some of their columns."""
    return {tuple(r[n] for n in names): r for r in rows}


def test_counters_err_on_the_urls_on_which_bits_err_and_take_w_times_the_room():
    found = run("spectral-equal", 10000, "--runs", "2")
    rows = table(found, "spectral-equal-rates")
    assert set(column(rows, "other answers")) == {0}
    assert set(column(rows, "answers")) == {40000}
    rates = {r["k"]: r["theory"] for r in rows}
    assert abs(rates[7] - 0.8194) < 0.001       # (1 - e^-0.7)^7
    assert min(rates, key=rates.get) == 7       # round(10 ln 2)
    assert rates[16] > 3 * rates[7]             # more probes, more errors
    widths = by(table(found, "spectral-equal-widths"), "W", "of")
    for w in WIDTHS:
        error, size = widths[w, "false positives"], widths[w, "bytes"]
        assert error["published"] == 1 and error["measured"] == 1
        assert error["bloom"] == error["counting"] > 100
        assert abs(size["measured"] / w - 1) < 0.01


def test_what_was_removed_is_gone_and_nothing_else_is():
    found = run("spectral-remove", 10000, "--runs", "2")
    rows = by(table(found, "spectral-remove-stages"), "W", "removed")
    assert set(rows) == {(w, n) for w in WIDTHS for n in (2500, 5000, 7500, 10000)}
    for row in rows.values():
        assert row["lost"] == 0 and row["other answers"] == 0
        assert (row["not 0"] == 0) == (row["removed"] == 10000)
    others = table(found, "spectral-remove-others")
    assert rising(column(others, "theory")[::-1])
    assert others[0]["measured"] > 0.5 and others[4]["measured"] == 0
    strangers, = table(found, "spectral-remove-strangers")
    assert strangers["found by chance, and removed"] > 5
    assert strangers["lost"] > strangers["found by chance, and removed"]


def test_counters_overflow_by_their_width_and_are_then_stuck():
    found = run("spectral-overflow", 1000, "--runs", "1")
    stuck = by(table(found, "spectral-overflow-stuck"), "stream", "W", "visits")
    visits = sorted({key[2] for key in stuck})
    for stream in "alike", "Zipf":
        for v in visits:
            shares = [stuck[stream, w, v]["measured"] for w in WIDTHS]
            assert shares == sorted(shares, reverse=True)
            assert shares[3] == 0
    assert stuck["alike", 4, 1]["measured"] == 0
    # A Zipf stream fills some counters from the first visits on.
    assert stuck["Zipf", 4, 1]["measured"] > 0
    # At 300 visits each every counter in use is past 15, and none at 65535.
    assert 45 < stuck["alike", 4, 300]["measured"] < 55
    assert stuck["alike", 16, 300]["measured"] == 0
    left = by(table(found, "spectral-overflow-left"), "stream", "W", "of")
    for (stream, w, of), row in left.items():
        if of == "counters":
            assert row["measured"] == stuck[stream, w, 300]["measured"]
        elif w == 4:
            assert row["measured"] == 100       # found for good
        elif w == 32:
            assert row["measured"] == 0


def test_counters_vary_as_much_as_their_band_says():
    """A band is 4.417 deviations and half a counter; over seeds the deviation
    itself is seen, to 11 % with 40 of them. Rows that vary by ten counters
    at least: of fewer the band is Poisson's, and wider."""
    seeds, n, square = 40, 400, {}
    for seed in range(1, seeds + 1):
        found = run("spectral-overflow", n, "--runs", "1", "--seed", str(seed))
        stuck = next(t for t in found["tables"]
                     if t["name"] == "spectral-overflow-stuck")
        for f in stuck["findings"]:
            counters = 10 * n / 100
            sd = ((f["high"] - f["theory"]) * counters - 0.5) / 4.417
            if sd > 10:
                z = (f["measured"] - f["theory"]) * counters / sd
                square.setdefault(f["row"], []).append(z * z)
    ratios = [(sum(z) / len(z)) ** 0.5 for z in square.values()
              if len(z) == seeds]
    assert len(ratios) >= 5
    assert 0.7 < min(ratios) and max(ratios) < 1.3, ratios


def test_counts_are_wrong_as_often_as_a_filter_and_never_too_low():
    found = run("spectral-counts", 5000, "--runs", "2")
    theory = by(table(found, "spectral-counts-theory"), "exponent",
                "counters per URL", "of")
    # All 5000 came, but for e^-10 of them: (1 - e^(-6/8))^6.
    assert abs(theory[0, 8, "wrong"]["theory"] - 2.157) < 0.005
    wrong = [theory[1, c, "wrong"]["theory"] for c in (16, 12, 10, 8, 6, 4)]
    assert rising(wrong)
    ways = by(table(found, "spectral-counts-ways"), "exponent",
              "counters per URL", "way")
    assert {row["below"] for row in ways.values()} == {0}
    for (exponent, cells, way), row in ways.items():
        if way == "minimal increase":
            other = ways[exponent, cells, "minimum selection"]
            assert row["wrong"] <= other["wrong"]
            assert row["error"] <= other["error"]
            assert row["largest"] <= other["largest"]
    few, all_ = (ways[1, 4, way] for way in ("minimal increase", "minimum selection"))
    assert few["error"] < 0.8 * all_["error"]
    assert "0 of its counts are above" in found["text"][-1]


def test_counts_do_not_depend_on_threads_and_do_on_the_seed():
    name = "spectral-counts-ways"
    one, two, other = (table(run("spectral-counts", 1000, "--runs", "2", *more), name)
                       for more in (("--threads", "1"), ("--threads", "3"), ("--seed", "9")))
    assert one == two
    assert one != other


def test_a_filter_pays_for_urls_and_not_against_short_sorted_keys():
    found = run("spectral-pays", 10000)
    lists = by(table(found, "spectral-pays-lists"), "bytes of a key")
    for row in lists.values():
        assert row["wrong answers"] == 0
        assert row["rule"] < row["array"] < row["rule"] + 48
    assert abs(lists[4,]["rule"] - 32 - 13.29) < 0.01        # log2 of 10000
    # b - log2 n + log2 e is the least, Rice codes are half a bit from it.
    for length in 4, 8:
        least = 8 * length - 13.29 + 1.44
        assert least < lists[length,]["gaps"] < least + 1.5
    ratios = by(table(found, "spectral-pays-ratios"), "bytes of a key")
    assert ratios["URLs",]["1 %"] > 30
    for row in ratios.values():
        assert row["10 %"] > row["1 %"] > row["0.1 %"] > row["0.0001 %"] > 1
    filters = by(table(found, "spectral-pays-filters"), "planned", "of")
    assert abs(filters[1, "bits"]["measured"] - 9.6) < 0.1
    assert "agree in 40 of 40 cases" in found["text"][-1]


def test_a_list_of_ones_own_is_enough(tmp_path):
    urls = tmp_path / "urls"
    urls.write_text("".join(f"http://a.example/{i % 3000}\n" for i in range(4000)))
    found = run("spectral-equal", 100000, "--urls", str(urls), "--runs", "1")
    assert set(column(table(found, "spectral-equal-rates"), "answers")) == {3000}
