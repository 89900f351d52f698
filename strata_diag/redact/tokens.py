"""Secrets that open something: tokens, keys, passwords, and addresses with such in them; mail addresses too.

Three ways to know one: by its own prefix (`hf_`, `sk-`, `ghp_`), by the name in front of it (`api_key=`, `--password`,
`Authorization:`), by its place in an address (`https://name:password@host`, `?token=`). Language models have tokens of
another kind: `token=` alone counts only with a long value of letters and digits, and numbers, placeholders (`<secret>`,
`$HF_TOKEN`, `KEY`) and words like `none` never do.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from strata_diag.redact.detector import Detector
from strata_diag.redact.standins import holds_stand_in

SHORTEST_PROSE = 20  # characters of a value behind a colon that count though it holds no digit
SHORTEST_BARE_TOKEN = 16  # of a value behind `token=`
_PLACEHOLDER = re.compile(
    r"(?:none|null|nil|true|false|yes|no|on|off|not|set|unset|missing|required|invalid|empty|undefined|default|str|string|"
    r"env|key|keys|api_?key|token|secret|password|value|file|path|name|bearer|basic|redacted|your[\w-]*|x{3,}|\*+|\.{3,}|-----.*|-+|"
    r"[01]|\$.*|%\w+%|.*token-\d.*)",  # the last: the rest of what is replaced already
    re.IGNORECASE,
)
# what may stand behind an `@` and a full stop, and is no domain: units of systemd, files
_ENDINGS = "service socket timer target slice scope mount device path swap so png jpg gif py js ts log json yaml gguf"
_NO_DOMAINS = frozenset(_ENDINGS.split())
_QUOTES = r"(?:\\{0,4}[\"'])?"
_QUOTED = r"\\{0,4}[\"'](?P<token>[^\"'\n\\\x00]++)"
_WORD = r"[^\s\"'`,;&<>(){}\[\]\\|\x00]++"
_KEYS = (
    r"(?:api[_-]?key|access[_-]?key(?:[_-]?id)?|secret(?:[_-]?access)?[_-]?key|client[_-]?secret|private[_-]?key|auth[_-]?key|"
    r"(?:auth|access|refresh|id|session|api|hft?|hub|bearer|github|gitlab|security|deploy|personal)[_-]?token|"
    r"passw(?:or)?d|passphrase|secret)"
)
_PREFIXED = (
    r"hf_[A-Za-z0-9]{20,}+|gh[opsur]_[A-Za-z0-9]{20,}+|github_pat_\w{20,}+|glpat-[\w-]{15,}+|xox[a-z]-[\w-]{10,}+|"
    r"(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}+|ya29\.[\w-]{20,}+|npm_[A-Za-z0-9]{30,}+|pypi-[\w-]{40,}+|dckr_pat_[\w-]{20,}+|"
    r"nvapi-[\w-]{20,}+|r8_[A-Za-z0-9]{30,}+|gsk_[A-Za-z0-9]{30,}+|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+|tskey-[\w-]{16,}+"
)
_PREFIXES = (
    *("hf_", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "xox", "akia", "asia", "aiza", "ya29.", "npm_"),
    *("pypi-", "dckr_pat_", "nvapi-", "r8_", "gsk_", "k_live_", "k_test_", "tskey-"),
)  # fmt: skip
_PARAMETERS = (
    r"(?:[\w-]{0,40}(?:token|signature|credential|secret|password)|(?:api[_-]?)?key|key-pair-id|sig|auth|code|session|policy|"
    r"jwt|ticket|hmac)"
)


def token_detectors() -> tuple[Detector, ...]:
    """What is known by its place first, since it may hold what is known by its prefix."""
    return (*_in_addresses(), *_by_prefix(), *_by_name(), _mail())


def _detector(
    pattern: str, *anchors: str, accepts: Callable[[re.Match[str]], bool] | None = None, flags: int = re.IGNORECASE
) -> Detector:
    return Detector(re.compile(pattern, flags), anchors, accepts=accepts or _is_value)


def _gated(
    pattern: str, gates: tuple[re.Pattern[str], ...], accepts: Callable[[re.Match[str]], bool] | None = None
) -> Detector:
    anchors = ("key", "token", "passw", "secret", "passphrase")
    return Detector(re.compile(pattern, re.IGNORECASE), anchors, gates, accepts or _is_value)


def _in_addresses() -> tuple[Detector, ...]:
    return (
        _detector(r"://(?!git@)(?P<token>[^\s/@\"'<>\x00]++)@", "://"),
        _detector(rf"[?&;](?:amp;)?{_PARAMETERS}=(?P<token>[^\s&\"'<>#;\\\x00]++)", "="),
        _detector(r"hooks\.slack\.com/services/(?P<token>[\w/]++)|/api/webhooks/(?P<token_b>\d+/[\w-]++)", "hooks"),
    )


def _by_prefix() -> tuple[Detector, ...]:
    return (
        _detector(rf"(?<![A-Za-z0-9])(?P<token>{_PREFIXED})", *_PREFIXES, flags=0),
        _detector(r"(?<![A-Za-z0-9])(?P<token>sk-[\w-]{20,}+)", "sk-", accepts=_is_sure, flags=0),
        _detector(r"(?<![\w-])(?P<token>eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){0,3})", "eyj", flags=0),
        _detector(r"(?P<token>AAAA[A-Za-z0-9+/]{40,}+={0,2})", "aaaa", flags=0),
    )


def _by_name() -> tuple[Detector, ...]:
    words = ("key", "id", "token", "passwo?r?d", "secret", "passphrase")
    named = tuple(re.compile(rf"{word}(?:\\{{0,4}}[\"'])?[ \t]{{0,8}}[=:]") for word in words)
    options = tuple(re.compile(rf"{word}\\{{0,4}}[\"']?,?[ \t]") for word in words)
    scheme = r"(?>(?:bearer|basic|token|digest|negotiate)[ \t]+)?+"
    equals = rf"{_QUOTES}[ \t]{{0,8}}[=:][ \t]{{0,8}}"
    cookie = r"(?P<token>[^\s\"'\\\x00][^\"'\n\\\x00]*+)"
    quoted = rf"(?=\\{{0,4}}[\"']){_QUOTED}"
    return (
        _detector(rf"authorization{equals}{_QUOTES}{scheme}(?P<token>{_WORD})", "authorization"),
        _detector(rf"\bbearer[ \t]+(?P<token>{_WORD})", "bearer", accepts=_is_sure),
        _detector(rf"\b(?:set-)?cookie{_QUOTES}:[ \t]*{_QUOTES}{cookie}", "cookie", accepts=_is_cookie),
        _gated(rf"(?<![A-Za-z0-9]){_KEYS}{equals}(?:{quoted}|{scheme}(?P<token_b>{_WORD}))", named, _is_named_value),
        _gated(rf"(?<![\w-])--?{_KEYS}\\{{0,4}}[\"']?,?[ \t]+(?:{quoted}|(?P<token_b>{_WORD}))", options),
        _gated(rf"(?<![A-Za-z0-9])token{equals}{_QUOTES}(?P<token>{_WORD})", named, _is_bare_token),
    )


def _mail() -> Detector:
    domain = r"[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]++)*\.[A-Za-z]{2,24}"
    pattern = rf"(?<![\w.+-])(?<!//)(?P<mail>[A-Za-z0-9][\w.+-]*+(?:@|%40){domain})(?![\w-]|\.\w)"
    return _detector(pattern, "@", "%40", accepts=_is_mail)


def _is_mail(match: re.Match[str]) -> bool:
    """Whether it is an address, and no unit of systemd (`user@1000.service`), file or account of a code host."""
    return match["mail"].rpartition(".")[2].lower() not in _NO_DOMAINS and not match["mail"].startswith("git@")


def _is_cookie(match: re.Match[str]) -> bool:
    return "=" in match["token"]


def _value(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return groups["token"] or groups.get("token_b") or ""


def _is_value(match: re.Match[str]) -> bool:
    return _PLACEHOLDER.fullmatch(_value(match)) is None


def _is_named_value(match: re.Match[str]) -> bool:
    """A value in quotes or behind `=` counts; behind a colon it may be a sentence (`password: authentication failed`)."""
    quoted = match["token"] is not None
    if quoted or "=" in match.string[match.start() : match.start("token_b")]:
        return _is_value(match)
    return _is_sure(match)


def _is_sure(match: re.Match[str]) -> bool:
    """A value that no sentence has; what holds a stand-in was looked at before, and would have no digit without it."""
    value = _value(match)
    return _is_value(match) and not holds_stand_in(value) and (_has_digit(value) or len(value) >= SHORTEST_PROSE)


def _is_bare_token(match: re.Match[str]) -> bool:
    value = _value(match)
    long = len(value) >= SHORTEST_BARE_TOKEN and not holds_stand_in(value)
    return long and _has_digit(value) and any(sign.isalpha() for sign in value)


def _has_digit(value: str) -> bool:
    return any(sign.isdigit() for sign in value)
