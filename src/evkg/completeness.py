"""The command that shows how complete a data set is."""

from __future__ import annotations

import argparse
import os
import sys


def gaps(options: argparse.Namespace) -> int:
    """show which expected fields have a value, a reason for a gap, or nothing"""
    from evkg.gaps import count_gaps
    from evkg.gaps_text import gaps_csv, gaps_json, render_gaps

    counted = count_gaps(options.dataset)
    if options.format == "json":
        print(gaps_json(counted, options.by))
    elif options.format == "csv":
        print(gaps_csv(counted.rows(options.by), options.by), end="")
    else:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        print(render_gaps(counted, options.by, colour=colour))
    return 0
