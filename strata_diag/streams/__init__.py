"""Several files of one failure together: an engine's log beside the kernel's, a container's or a service manager's.

    found = diagnose_together(Path("engine.log"), [Path("dmesg.txt"), Path("compose.log")])

Comes in: a log and files beside it. Goes out: the log's diagnosis, in which what the other files tell of its runs takes part as
findings of its own; the law that lets one of them win is the same as in one log. What does not belong to it stays out, and where
other files say nothing of it, the diagnosis is that of the log alone.
"""

from __future__ import annotations

from strata_diag.streams.groups import Group, companions
from strata_diag.streams.reading import read_companion, read_log
from strata_diag.streams.records import Stream
from strata_diag.streams.together import diagnose_together, join

__all__ = ["Group", "Stream", "companions", "diagnose_together", "join", "read_companion", "read_log"]
