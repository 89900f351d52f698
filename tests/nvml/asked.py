"""Answers preflight again and again: a request as JSON on each line of standard input, the answer on standard output.

The rules are the causes and remedies alone, with one pack, since a rule set without rules is refused.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from strata_diag import load_rules
from strata_diag.tuner.preflight import preflight

RULES = Path(__file__).parent.parent.parent / "rules"


def main() -> None:
    """Answer until standard input ends."""
    rules = load_rules(
        [RULES / f"{name}.yaml" for name in ("causes", "remedies", "memory-guard")], builtin=False, discover=False
    )
    for line in sys.stdin:
        request = json.loads(line)
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        os.environ.update(request.pop("environment"))
        sys.stdout.write(json.dumps(preflight(rules=rules, **request).to_dict()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
