"""What stands before a message and says nothing about it: times, hosts, containers, log levels, places in the program."""

from __future__ import annotations

import re
from typing import NamedTuple

_DATE = r"\d{4}[-/]\d\d[-/]\d\d"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_ZONE = r"(?:Z|[+-]\d\d:?\d\d)?"
LEVELS = "TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL|SEVERE"
MOST_PREFIXES = 6  # one behind the other: container, journal, time, level

_PREFIXES = tuple(
    re.compile(pattern)
    for pattern in (
        r"[\w.-]+\s{1,40}\| ",  # docker compose
        rf"{_DATE}T{_CLOCK}{_ZONE} (?:stdout|stderr) [FP] ",  # Kubernetes
        rf"[A-Z][a-z]{{2}} [ \d]\d {_CLOCK} \S+ [\w./@-]+(?:\[\d+\])?: ",  # journal and syslog
        rf"[IWEF]\d{{4}} {_CLOCK}\s+\d+ [\w./-]+:\d+\] ",  # glog
        r"\[\s*\d+\.\d{6}\] ",  # kernel
        r"\([\w-]+(?: [\w-]+)? pid=\d+\) ",  # workers of vLLM and Ray
        rf"(?P<level>{LEVELS}) \d\d-\d\d {_CLOCK} (?:\[[\w./-]+:\d+\] )?",  # vLLM
        rf"\[?{_DATE}[T ]{_CLOCK}{_ZONE}\]?[ :|-]*",
        rf"\[?{_CLOCK}\]?[ :|-]+",
        rf"[\[(<]?(?P<level>{LEVELS})[\])>]?(?:[ :|-]+|\t)",
        r"\[[\w.-]+(?:/[\w.-]+)*(?::\d+)?\] (?=\S)",  # logger or file
    )
)
_LEVEL_PREFIX = 9  # the place of a bare level, which is a part of the message unless a time stands before it
_LOGGER_PREFIX = 10


class Message(NamedTuple):
    """A line without its prefix. level: the word of its log level, empty where it has none."""

    text: str
    level: str


def message_of(line: str) -> Message:
    """The message in a line. A level or a logger's name is taken off only behind a time, else it is the program's own text."""
    text, level = line.strip(), ""
    timed = False
    for _ in range(MOST_PREFIXES):
        for place, prefix in enumerate(_PREFIXES):
            hit = None if place in (_LEVEL_PREFIX, _LOGGER_PREFIX) and not timed else prefix.match(text)
            if hit and text[hit.end() :].strip():
                level = hit.groupdict().get("level") or level
                text, timed = text[hit.end() :].strip(), True
                break
        else:
            break
    if not level:
        bare = re.match(rf"[\[(<]?({LEVELS})\b", text)
        level = bare.group(1) if bare else ""
    return Message(text, level.upper())
