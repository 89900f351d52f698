"""Everything that people attach: from folders, archives, issues, journals and histories to the logs in them.

Comes in: a path or a stream. Goes out: every log in it, as a name and a stream of bytes that `diagnose` can read, with notices
about whatever was cut, left out or bounded on the way. A plain log passes through with nothing but a look at its head.

    for file in files_in(["reports/", "*.zip"]):
        for attachment in logs_in(file.path, rules.extensions):
            diagnose(attachment.stream, rules=rules)
"""

from __future__ import annotations

from strata_diag.intake.files import files_in
from strata_diag.intake.records import Attachment, Found, Reader
from strata_diag.intake.walk import logs_in, logs_in_stream

__all__ = ["Attachment", "Found", "Reader", "files_in", "logs_in", "logs_in_stream"]
