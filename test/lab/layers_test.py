"""The experiments on the multi-layer paper, at a small size.

A rate outside of the band around theory is told by exit code 1, so run()
itself fails for it.
"""
import re

from running import column, refused, rising, run, table


def layered(row):
    """The name of the column or row that has the layers."""
    return next(name for name in row if re.fullmatch("layered:[0-9]+,published", name))


def test_figure_3_layers_follow_the_deepest_url_and_err_less_than_a_bloom_filter(tmp_path):
    found = run("layers-figure-3", 60000, "--runs", "2")
    rows = table(found, "layers-figure-3")
    assert len(rows) == 18
    layers = layered(column(rows, "structure"))
    assert any("the deepest URL has %s segments" % re.search("[0-9]+", layers)[0] in text
               for text in found["text"])
    for bloom, apart, tied in zip(rows[0::3], rows[1::3], rows[2::3]):
        assert tied["structure"] == layers
        # XOR can only take from what the layers say.
        assert tied["measured"] < apart["measured"]
        assert tied["measured"] < bloom["measured"]
        assert abs(bloom["theory"] - 5.027) < 0.01
    assert rows[-3]["rows"] == 60000
    assert set(column(rows, "published")) == {None}
    theirs = table(found, "layers-figure-3-repository")
    # Percent of all rows, doubled: half of them are asked for.
    assert column(theirs, "published") == [6.4886, 2.1038, 9.6868, 6.9418, 5.985, 2.0236]
    assert column(theirs, "vs published") == ["differs", "-"] * 3
    assert column(theirs, "vs theory") == ["agrees", "-"] * 3


def test_figure_3_what_is_in_both_halves_counts_as_the_authors_count_it(tmp_path):
    # 8,000 rows of a CSV file, one site: 300 of the first half come again in
    # the second; one URL is six segments deep.
    first = ["https://site.example/wiki/Page_%d,_x" % i for i in range(3998)]
    second = ["https://site.example/wiki/Other_%d" % i for i in range(3700)] + first[:300]
    lines = ["Year,Page", "1901,https://site.example/a/b/c/d/e"]
    lines += ["19%02d,%s" % (i % 100, u) for i, u in enumerate(first + second)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    found = run("layers-figure-3", 8000, "--runs", "3", "--urls", str(tmp_path / "rows.csv"))
    bloom, tied, by_hand = table(found, "layers-figure-3-rows")
    assert tied["structure"] == "layered:6,published"
    assert by_hand["structure"] == "6 layers, positions XORed"
    for row in bloom, tied, by_hand:
        assert row["in both halves"] == 300
        assert row["claimed"] >= 300
        assert row["published"] is None and row["vs published"] == "-"
    assert abs(bloom["theory"] - (7.5 + 92.5 * 0.05027)) < 0.05
    # Siblings that meet in a layer often meet in the XOR as well: more than
    # the product of both rates, 0.05^2, would give.
    assert tied["theory"] > 7.5 + 92.5 * 0.0025 * 1.3
    assert by_hand["measured"] < bloom["measured"]


def test_figure_3_every_run_has_urls_of_its_own():
    one = run("layers-figure-3", 12000, "--runs", "1")
    two = run("layers-figure-3", 12000, "--runs", "2")
    name = "layers-figure-3"
    assert column(table(one, name), "measured") != \
        column(table(two, name), "measured")
    again = run("layers-figure-3", 12000, "--runs", "1", "--threads", "1")
    assert table(one, name) == table(again, name)


def test_figure_4_linear_search_is_slow():
    rows = table(run("layers-figure-4", 40000), "layers-figure-4")
    assert rising(column(rows, "URLs"))
    last = rows[-1]
    assert last["URLs"] == 40000
    # It looks at 30,000 URLs on average: no machine does that in the time of
    # ten probes.
    for other in "binary search", "hash set", "bloom", layered(last):
        assert last["linear search"] > 5 * last[other] > 0
    assert last["linear search"] > 4 * rows[0]["linear search"]


def test_figure_5_sorted_arrays_are_slow_to_insert_into():
    found = run("layers-figure-5", 40000)
    rows = table(found, "layers-figure-5")
    theirs = table(found, "layers-figure-5-repository")
    assert [round(r["times"], 2) for r in theirs] == [3.08, 3.51, 3.58]
    for other in "hash set", "bloom", layered(rows[0]), "linear search":
        assert rows[-1]["binary search"] > 3 * rows[-1][other] > 0
    assert rows[-1]["binary search"] > 2 * rows[0]["binary search"]


def test_memory_of_layers_is_that_of_as_many_filters_and_one_more():
    rows = table(run("layers-memory", 32000), "layers-memory")
    by = {r["structure"]: r["measured"] for r in rows[-6:]}
    layers = int(re.search("[0-9]+", layered(by))[0])
    assert abs(by[layered(by)] / by["bloom"] / (layers + 1) - 1) < 0.04
    assert by["hash set"] > by["linear search"] > 20 * by["bloom"]
    assert by["linear search"] == by["binary search"]


def test_equal_memory_a_bloom_filter_is_better():
    rows = table(run("layers-equal-memory", 10000), "layers-equal-memory")
    assert len(rows) == 30
    for i in range(0, 30, 6):
        bloom, crossed, layers, layers_crossed, sized, _ = rows[i:i + 6]
        assert abs(bloom["theory"] / crossed["theory"] - 1) < 1e-9
        assert bloom["theory"] < sized["theory"] < layers["theory"]
        # Of a crossing all segments are known.
        assert layers_crossed["theory"] > 5 * layers["theory"]
        assert layers_crossed["measured"] > layers["measured"]
    assert rising(column(rows[0::6], "bits per URL"))


def test_formula_holds_only_without_segments_in_common():
    rows = table(run("layers-formula", 40000), "layers-formula")
    ratio = {(r["URLs"], r["layers"], r["XOR"]): r["measured / formula"]
             for r in rows}
    for layers in 2, 3, 4:
        assert 0.7 < ratio["no segment in common", layers, "without"] < 1.3
        assert ratio["no segment in common", layers, "with"] < 0.5
        assert ratio["of sites", layers, "without"] > 1.5
    assert ratio["of sites", 4, "with"] > 2


def test_crossing_xor_forgets_order_and_repetition():
    rows = table(run("layers-crossing", 10000), "layers-crossing")
    wrong = {(r["URLs"], r["structure"]): r["measured"] for r in rows}
    for sort in "crossing", "swapped", "repeated", "day and month":
        assert wrong[sort, "layers without XOR"] == 100
        assert 2 < wrong[sort, "layered:4,mixed"] < 8
    assert 2 < wrong["crossing", "layered:4,published"] < 8
    assert wrong["swapped", "layered:4,published"] == 100
    assert wrong["repeated", "layered:4,published"] == 100
    assert wrong["day and month", "layered:4,published"] == 100
    assert wrong["unknown", "layered:4,published"] < 0.1


def test_the_least_urls_are_told_and_are_enough():
    for name in ("layers-figure-3", "layers-figure-4", "layers-figure-5",
                 "layers-memory", "layers-equal-memory", "layers-formula",
                 "layers-crossing"):
        told = [re.search("; it takes ([0-9,]+)\n", refused(name, n))
                for n in (1, 10, 16)]
        least = int(told[0][1].replace(",", ""))
        assert {t[1] for t in told} == {told[0][1]}
        assert "are too few" in refused(name, least - 1)
        run(name, least, "--quick")


def test_home_pages_have_one_segment_and_their_xor_is_that(tmp_path):
    home = [f"http://h{i}.example\n" for i in range(12000)]
    page = [f"http://s{i // 20}.example/p{i}\n" for i in range(12000)]
    urls = tmp_path / "urls.txt"
    for lines in home, [x for two in zip(home, page) for x in two]:
        urls.write_text("".join(lines))
        for name in ("layers-figure-3", "layers-equal-memory",
                     "layers-formula"):
            # Exit code 1 would tell that theory is wrong.
            run(name, len(lines), "--quick", "--urls", str(urls))
