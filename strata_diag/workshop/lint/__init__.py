"""Lint for rule packs: what is wrong with them, in which line and column, and what to do about it.

Comes in: folders, files or plugins with packs, and a corpus. Goes out: violations, each with a code that has a page in
`docs/lint`. The checks ask the program itself: patterns are compiled and matched, samples and logs diagnosed as a user's are.
"""

from __future__ import annotations
