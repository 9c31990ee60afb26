"""The experiments on the aggregation paper's classifier, at a small size."""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from spectral_test import by, run, table  # noqa: E402


def test_the_papers_rule_misnames_three_cases_and_ours_none_with_exact():
    rows = by(table(run("misnamed", 30), "misnamed"), "classifier", "case")
    assert len(rows) == 15
    for (way, case), row in rows.items():
        always = (way == "the paper's rule" and case in ("reverted", "copied", "redelivered")) or \
                 (way == "ours" and case == "reverted")
        assert float(row["measured"]) == (100 if always else 0), (way, case)
        assert row["vs theory"] == "agrees"


def test_the_changed_word_is_found_and_no_other_blamed():
    missed, blamed = table(run("changed-words", 200), "changed-words")
    assert float(missed["measured"]) <= 1.5 and missed["vs theory"] == "agrees"
    assert float(blamed["measured"]) == 0 and blamed["vs theory"] == "agrees"
