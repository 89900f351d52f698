"""When a line was written, as far as its own text says it, and how far two such times lie apart.

Comes in: the text of a line. Goes out: a `Stamp`, or None. Logs leave out what their readers knew: the zone, the year, the date.
What is left out is never guessed: `gap` says how far two times are apart at the least, and by which zone they could be one.
Seconds since the start of the machine (the kernel, `journalctl -o short-monotonic`) can only be compared with one another.
"""

from __future__ import annotations

import datetime as dt

from strata_diag.lazy import later_regex
from strata_diag.record import NamedTuple

DAY_SECONDS = 86400
LONGEST_YEAR = 366 * DAY_SECONDS
LEAP_YEAR = 2000  # stands for a year that is not written; it holds every date
ZONE_STEP = 1800  # seconds: clocks of two zones differ by whole half hours
SMALLEST_SHIFT = 3600  # seconds: no zone is nearer to UTC
WIDEST_SHIFT = 14 * 3600  # seconds: no two clocks on one machine's logs are further apart than a zone from UTC
AGREEING_SECONDS = 120  # two logs that tell of one event: buffered lines, a dump of memory, a slow end
SEARCHED = 200  # characters of a line's beginning in which its time stands

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d):(?P<second>[0-5]\d|60)(?:[.,](?P<part>\d{1,9}))?"
_NO_DIGIT = r"(?<![\d.:/-])"
_MONTH = r"(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
# year first, with or without a zone; the journal's and syslog's short form; `date` and dmesg -T; its reverse; vLLM's; glog's
_NUMBERS = rf"(?P<year>\d{{4}})[-/](?P<month>\d\d)[-/](?P<day>\d\d)(?:[T_ ]| - ){_CLOCK} ?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?(?!\d)"
_DATED = (
    later_regex(_NO_DIGIT + _NUMBERS),
    later_regex(
        rf"\b{_MONTH} {{1,2}}(?P<day>\d{{1,2}}) {_CLOCK}(?: (?P<zone>UTC|[+-]\d{{4}}))?(?: (?P<year>\d{{4}})\b)?"
    ),
    later_regex(rf"\b(?P<day>\d{{1,2}}) {_MONTH} (?P<year>\d{{4}}),? {_CLOCK}(?: (?P<zone>UTC|[+-]\d{{4}}))?"),
    later_regex(rf"\b(?:INFO|WARNING|ERROR|DEBUG) (?P<month>\d\d)-(?P<day>\d\d) {_CLOCK}"),
    later_regex(rf"(?:^|\| )[IWEF](?P<month>\d\d)(?P<day>\d\d) {_CLOCK} "),
)
_TIME_OF_DAY = later_regex(rf"(?:^|\| )[\[(]?{_CLOCK}(?=[\]) ,]|$)")
_SINCE_BOOT = later_regex(r"^\s*(?:kern\s*:\w+\s*:\s*)?\[\s*(?P<seconds>\d{1,9}\.\d{1,9})\]")
_JOURNAL = later_regex(r"^\s*\[\s*\d{1,9}\.\d{3,9}\] \S+ [^\s\[]+(?:\[\d+\])?: ")


class Stamp(NamedTuple):
    """The time of a line.

    seconds: since 1970, since the start of a year (dated without `year`), of a day (without `dated`) or of the machine
    (`boot`), in the line's own zone where `zoned` is false, else in UTC; offset: seconds by which its zone is ahead of UTC.
    """

    seconds: float
    dated: bool = True
    year: bool = True
    zoned: bool = False
    boot: bool = False
    offset: int = 0


class Gap(NamedTuple):
    """How far one time lies behind another, in seconds (negative: before it), as the clocks stand.

    shift: seconds by which a clock of another zone would have to be ahead for the two to be one moment; 0 where no zone does.
    """

    seconds: float
    shift: int = 0

    @property
    def agrees(self) -> bool:
        """Whether the two may tell of one moment, as the clocks stand."""
        return abs(self.seconds) <= AGREEING_SECONDS

    @property
    def in_another_zone(self) -> Gap | None:
        """The same for clocks of two zones; None where no zone brings them together."""
        return Gap(self.seconds - self.shift) if self.shift else None


def stamp_of(text: str, *, kernel: bool = False) -> Stamp | None:
    """The time that stands at the beginning of a line.

    kernel: the line is from a kernel's log, so that seconds in brackets count from the start of the machine. In another log
    only the journal's own form says as much; an engine's seconds count from its own start, and nobody knows when that was.
    """
    head = text[:SEARCHED]
    for pattern in _DATED:
        if (found := pattern.search(head)) is not None and (stamp := _dated(found.groupdict())) is not None:
            return stamp
    if (boot := _SINCE_BOOT.match(head)) is not None:
        return Stamp(float(boot["seconds"]), boot=True) if kernel or _JOURNAL.match(head) else None
    if (clock := _TIME_OF_DAY.search(head)) is not None:
        return Stamp(_of_day(clock.groupdict()), dated=False, year=False)
    return None


def gap(earlier: Stamp, later: Stamp) -> Gap | None:
    """How far `later` lies behind `earlier`; None where the two clocks have nothing in common."""
    if earlier.boot or later.boot:
        return Gap(later.seconds - earlier.seconds) if earlier.boot and later.boot else None
    seconds = _apart(earlier, later)
    if earlier.zoned and later.zoned:
        return Gap(seconds)
    if (
        earlier.zoned or later.zoned
    ):  # a clock without a zone beside one with it: most likely they hang on the same wall
        on_one_wall = _apart(_on_the_wall(earlier), _on_the_wall(later))
        seconds = on_one_wall if abs(on_one_wall) <= AGREEING_SECONDS else seconds
    if abs(seconds) <= AGREEING_SECONDS or abs(seconds) > WIDEST_SHIFT + AGREEING_SECONDS:
        return Gap(seconds)
    shift = round(seconds / ZONE_STEP) * ZONE_STEP
    fits = abs(shift) >= SMALLEST_SHIFT and abs(seconds - shift) <= AGREEING_SECONDS
    return Gap(seconds, shift if fits else 0)


def _apart(earlier: Stamp, later: Stamp) -> float:
    """Seconds between two stamps of clocks, over what both of them tell: year, day or time of day."""
    if not (earlier.dated and later.dated):
        return _nearest(later.seconds % DAY_SECONDS - earlier.seconds % DAY_SECONDS, DAY_SECONDS)
    if not (earlier.year and later.year):
        return _nearest(_in_year(later) - _in_year(earlier), LONGEST_YEAR)
    return later.seconds - earlier.seconds


def _on_the_wall(stamp: Stamp) -> Stamp:
    """The stamp as a clock in its own zone showed it."""
    return stamp._replace(seconds=stamp.seconds + stamp.offset, offset=0)


def _nearest(seconds: float, circle: int) -> float:
    """The shortest way round a clock or a calendar that begins anew."""
    return (seconds + circle / 2) % circle - circle / 2


def _in_year(stamp: Stamp) -> float:
    if not stamp.year:
        return stamp.seconds
    moment = dt.datetime.fromtimestamp(stamp.seconds, dt.UTC)
    return _epoch(moment.replace(year=LEAP_YEAR)) - _epoch(dt.datetime(LEAP_YEAR, 1, 1, tzinfo=dt.UTC))


def _epoch(moment: dt.datetime) -> float:
    return moment.timestamp()


def _of_day(parts: dict[str, str | None]) -> float:
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    return hour * 3600 + minute * 60 + second + float(f"0.{parts['part'] or 0}")


def _dated(parts: dict[str, str | None]) -> Stamp | None:
    """The stamp of a date and a time; None for a date that no calendar has."""
    written = (parts["month"] or "").lower()
    month = _MONTHS.index(written) + 1 if written in _MONTHS else int(written)
    year = parts.get("year")
    try:
        day = dt.datetime(int(year or LEAP_YEAR), month, int(parts["day"] or 0), tzinfo=dt.UTC)
    except ValueError:
        return None
    start = 0.0 if year else _epoch(dt.datetime(LEAP_YEAR, 1, 1, tzinfo=dt.UTC))
    offset = _offset(parts.get("zone"))
    seconds = _epoch(day) - start + _of_day(parts) - (offset or 0)
    return Stamp(seconds, year=bool(year), zoned=offset is not None, offset=offset or 0)


def _offset(zone: str | None) -> int | None:
    """Seconds by which a zone is ahead of UTC; None where no zone is written."""
    if not zone:
        return None
    if zone in {"Z", "UTC"}:
        return 0
    digits = zone[1:].replace(":", "")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if zone.startswith("-") else seconds
