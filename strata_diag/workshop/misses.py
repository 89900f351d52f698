"""Why a pattern doesn't match a line: how much of it does."""

from __future__ import annotations

LONGEST_PATTERN = 1000  # characters; of a longer one only so much is tried
SHORTEST_BEGINNING = 4  # characters; fewer match somewhere in nearly every line
TIMEOUT_SECONDS = 0.25  # of one attempt; one that takes longer ends the search


def matching_part(pattern: str, line: str) -> tuple[str, str]:
    """(what matches somewhere in the line, the rest of the pattern): the longest beginning of a pattern that does."""
    import regex  # noqa: PLC0415 - only where something failed

    from strata_diag.ruleset import compile_pattern  # noqa: PLC0415

    for length in range(min(len(pattern), LONGEST_PATTERN), SHORTEST_BEGINNING - 1, -1):
        try:
            if compile_pattern(pattern[:length]).search(line, timeout=TIMEOUT_SECONDS):
                return pattern[:length], pattern[length:]
        except regex.error:
            continue  # cut inside a group or an escape: no pattern by itself
        except TimeoutError:
            break
    return "", pattern
