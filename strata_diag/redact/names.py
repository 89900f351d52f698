r"""Names of users and hosts: where a log shows them for what they are.

Users: `/home/x` and its like on every system (also with doubled or encoded separators: `C:\\Users\\x`, `%2Fhome%2Fx`,
`/mnt/c/Users/x`, `\\?\C:\Users\x`), prompts, `USER=x`, sudo and PAM, `ls -l`, `ps aux`. Whatever follows `/home/` counts,
in a web address too: a page's name replaced costs nothing, a user's name left does.

Hosts: the prefix of syslog and the journal, prompts, `hostname=x`, `uname -a`, NCCL's prefix, UNC paths, names that systems
make up (`DESKTOP-XXXXXXX`, `Janes-MacBook-Pro`, `ip-10-0-0-1`), names in domains that exist only inside a house (`.local`,
`.lan`, `.internal`).

A name that was found so is *learnt*: it is replaced wherever else it stands as a whole word, if it is long and rare enough
for that (`may_be_learnt`).
"""

from __future__ import annotations

import re

from strata_diag.redact.detector import Detector
from strata_diag.redact.words import COMMON_WORDS, KEPT_HOSTS, KEPT_USERS

SHORTEST_LEARNT = 4  # characters of a name that is replaced wherever it stands; shorter ones are words by chance
SHORTEST_LEARNT_FOREIGN = 2  # of a name in other letters than ASCII: Chinese names have two or three

_END = r"(?<![.\-])"  # a full stop behind a name ends the sentence
_NOT_ENCODED_SEPARATOR = r"(?!%(?:2[Ff]|5[Cc]))"
_NAME = rf"\w(?:{_NOT_ENCODED_SEPARATOR}[^\s/\\\"'`:;,<>|()\[\]{{}}$&=*?!\x00])*{_END}"
_NAME_IN_JSON = rf"(?:\\u[0-9a-fA-F]{{4}}|{_NOT_ENCODED_SEPARATOR}[^\s/\\\"'`:;,<>|()\[\]{{}}$&=*?!\x00])+"
_WITH_BLANKS = r"\w[^\s/\\\"'`:;,<>|*?\x00]{0,64}+"
_NAME_WITH_BLANKS = (
    rf"{_WITH_BLANKS}(?:(?: [^\W\d_][\w.'-]{{0,64}}+){{1,3}}(?=\\)|(?: [A-Z][\w.-]{{0,64}}+){{1,3}}(?=[/\"']))"
)
_SEPARATOR = r"(?:[\\/]{1,8}+|(?:%5[Cc]|%2[Ff]){1,4}+)"
_HOMES = (
    rf"(?:{_SEPARATOR}(?:homes?\d?|Users|USERS|Documents\ and\ Settings)"
    rf"|(?<![A-Za-z])(?:[A-Za-z](?::|%3[Aa])|/[A-Za-z]){_SEPARATOR}(?i:users)|/run/media)"
)
_ACCOUNT = r"[A-Za-z_][\w.-]{0,63}"
_HOST = r"[A-Za-z0-9][\w.-]*(?<![.\-])"
_PROMPT_START = r"(?<![\w.@/+%-])"
_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)"
_WINDOWS_HOSTS = ("desktop-", "laptop-", "win-")
_QUOTES = r"(?:\\{0,4}[\"'])?"


def is_name(kind: str, text: str) -> bool:
    """Whether what stands where a user's or host's name does can be one."""
    name = text.casefold()
    if kind == "user":
        return name not in KEPT_USERS and not name.isdigit()
    return name not in KEPT_HOSTS and not name.replace(".", "").isdigit()


def may_be_learnt(name: str, keep: frozenset[str]) -> bool:
    """Whether a name is replaced wherever it stands as a whole word.

    It must have four characters (two where they are no ASCII), a letter among them, and be neither one of `COMMON_WORDS` nor in
    `keep`: the words of the rules, so that no name can take a word out of a message.
    """
    if not any(character.isalpha() for character in name):
        return False
    shortest = SHORTEST_LEARNT if name.isascii() else SHORTEST_LEARNT_FOREIGN
    return len(name) >= shortest and name not in COMMON_WORDS and name not in keep


def _detector(pattern: str, *anchors: str, flags: int = 0) -> Detector:
    return Detector(re.compile(pattern, flags | re.MULTILINE), anchors)


def name_detectors() -> tuple[Detector, ...]:
    """Every place where a name is proved to be one, the surest first."""
    return (
        *_home_paths(),
        *_prompts(),
        *_stamped_hosts(),
        *_named_users(),
        *_listed_users(),
        *_named_hosts(),
        *_made_up_hosts(),
    )


def _home_paths() -> tuple[Detector, ...]:
    name = (
        rf"(?:{_SEPARATOR}(?P<user>{_NAME_WITH_BLANKS})"
        rf"|\\\\(?P<user_b>(?=[^\\]*\\u){_NAME_IN_JSON})"
        rf"|{_SEPARATOR}(?P<user_c>{_NAME}))"
    )
    return (
        _detector(rf"{_HOMES}{name}", "home", "users", "documents and settings", "/run/media/"),
        _detector(rf"\b(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{{7,11}}\\{{1,2}}(?P<user>{_NAME})", *_WINDOWS_HOSTS),
    )


def _prompts() -> tuple[Detector, ...]:
    """`name@host:~$` in its many dresses, and `ssh name@host`."""
    pair = rf"(?P<user>{_ACCOUNT})@(?P<host>{_HOST})"
    folder = r"(?=[ \x00]+(?:MINGW|(?:[~/][^\s$#%>]{0,200}|[^\s\]]{1,100}\]) ?[$#%>]))"
    return (
        _detector(rf"{_PROMPT_START}{pair}\x00{{0,32}}:\x00{{0,32}}(?=[~/])", "@"),
        _detector(rf"{_PROMPT_START}{pair}{folder}", "@"),
        _detector(rf"\b(?:ssh|scp|sftp|rsync)[ \t]+(?:[^\s@]{{1,80}}+[ \t]+){{0,6}}+{pair}", "@"),
    )


def _stamped_hosts() -> tuple[Detector, ...]:
    """Syslog in three forms, NCCL, `uname -a`, and torchrun's report."""
    clock = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"
    short = rf"{clock} (?P<host>{_HOST}) (?=[\w./@()-]{{1,64}}(?:\[\d+\])?:)"
    long = rf"{_STAMP} (?P<host_b>{_HOST}) (?=(?:kernel|[\w./@-]{{1,64}}\[\d+\]):)"
    return (
        _detector(rf"^(?:<\d{{1,3}}>)?(?:{short}|{long})"),
        _detector(rf"^<\d{{1,3}}>1 {_STAMP} (?P<host>{_HOST}) ", ">1 "),
        _detector(rf"(?<![\w.:-])(?P<host>{_HOST}):\d+:\d+ \[\d+\] (?=.{{0,80}}NCCL )", "nccl"),
        _detector(rf"\bLinux (?P<host>{_HOST}) \d+\.\d+[\w.+-]* #", "linux "),
        _detector(rf"^[ \t]*(?:\[[^\]\n]*\])?[ \t]*host[ \t]+: (?P<host>{_HOST})$", "host "),
    )


def _named_users() -> tuple[Detector, ...]:
    """`USER=x`, `"user": "x"`, and what PAM, sudo and sshd write."""
    variable = r"(?<![A-Za-z0-9])(?:user(?:_?name)?|logname|login_?name|sudo_user|ruser|remote_user)"
    key = r"[\"']user(?:_?name)?\\{0,4}[\"'][ \t]?:[ \t]?\\{0,4}[\"']"
    session = rf"\bfor user (?P<user>{_ACCOUNT})(?:\(uid=\d+\))?(?: by (?P<user_b>{_ACCOUNT})\(uid|$)"
    return (
        _detector(
            rf"{variable}{_QUOTES}=[ \t]?{_QUOTES}(?P<user>{_NAME})", "user", "logname", "login", flags=re.IGNORECASE
        ),
        _detector(rf"{key}(?P<user>{_NAME})\\{{0,4}}[\"']", "user", flags=re.IGNORECASE),
        _detector(rf"\b[ug]id=\d+\((?P<user>{_ACCOUNT})\)", "id="),
        _detector(session, "for user "),
        _detector(rf"\bsudo:[ \t]+(?P<user>{_ACCOUNT}) : ", "sudo:"),
        _detector(rf"\bAccepted [\w/-]+ for (?P<user>{_ACCOUNT}) from ", "accepted "),
    )


def _listed_users() -> tuple[Detector, ...]:
    """Owner and group in `ls -l`, the first column of `ps aux`."""
    mode = r"^[dlcbps-][rwxsStT-]{9}[.+@]?[ \t]+\d+[ \t]+"
    numbers = r"[ \t]+\d+[ \t]+\d+\.\d[ \t]+\d+\.\d[ \t]+\d+[ \t]+\d+[ \t]"
    return (
        _detector(rf"{mode}(?P<user>{_ACCOUNT})[ \t]+(?P<user_b>{_ACCOUNT})[ \t]+\d", "rw-", "r-x", "rwx"),
        _detector(rf"^(?P<user>{_ACCOUNT})\+?{numbers}", " ? ", "pts/", "tty"),
    )


def _named_hosts() -> tuple[Detector, ...]:
    keys = r"(?<![A-Za-z0-9])(?:_?host_?name|computer_?name|machine_?name|node_?name|server_?name)"
    return (
        _detector(
            rf"{keys}{_QUOTES}[ \t]{{0,8}}[=:][ \t]{{0,8}}{_QUOTES}(?P<host>{_HOST})",
            "name",
            flags=re.IGNORECASE,
        ),
        _detector(r"(?<![\w:.\\/])\\\\(?![?.])(?P<host>[A-Za-z][\w-]+)\\(?=[\w$])", "\\\\"),
        _detector(rf"Successfully assigned [^\s]+ to (?P<host>{_HOST})", "successfully assigned"),
    )


def _made_up_hosts() -> tuple[Detector, ...]:
    """Names that Windows, macOS and clouds make up, and those of domains that exist only inside a house."""
    mac = r"\w[\w-]*-(?:MacBook(?:-Pro|-Air)?|iMac|Mac-mini|Mac-Studio|Mac-Pro)(?:-\d+)?(?:\.\w+)?"
    domains = (".local", ".lan", ".internal", ".corp", ".intranet", ".localdomain", ".home.arpa", ".ts.net")
    inside = "|".join(re.escape(domain) for domain in domains)
    return (
        _detector(r"(?<![\w-])(?P<host>(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{7,11})(?![\w-])", *_WINDOWS_HOSTS),
        _detector(rf"(?<![\w-])(?P<host>{mac})(?![\w-])", "-macbook", "-imac", "-mac-"),
        _detector(r"(?<![\w-])(?P<host>(?:ip|ec2)(?:-\d{1,3}){4}(?:\.[\w-]+)*)", "ip-", "ec2-"),
        _detector(
            rf"(?:(?<=//)|(?<![\w.@/\\%-])(?<!::))(?P<host>[A-Za-z0-9][\w-]*(?:\.[\w-]+)*(?:{inside}))(?![\w(-]|\.\w)",
            *domains,
        ),
    )
