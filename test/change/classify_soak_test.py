"""100 times kill -9 in 10,000 records: the results are those of an undisturbed run."""
import os

import pytest

from records import compare


@pytest.mark.skipif("SEEN_SOAK" not in os.environ, reason="SEEN_SOAK is not set")
@pytest.mark.parametrize("options", [[], ["--exact"]])
def test_a_hundred_kills_change_nothing(tmp_path, options):
    compare(tmp_path, 2500, 4, 100, options, longest=0.6)
