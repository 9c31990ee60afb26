"""fault_test.py - a sample of the faults that `make fault-test` makes."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import injected     # noqa: E402
import sweep        # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(injected.SHIM), reason="inject.c was not built")


def test_no_fault_loses_what_was_acknowledged_or_crashes_a_command():
    with sweep.scratch() as base:
        found = sweep.sweep(list(sweep.ALL), True, base)
        assert not found, "\n".join(found)
