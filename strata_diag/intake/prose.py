"""How a line of a log is told from what a person wrote around it. Simple on purpose; each rule is one line below.

- A line is a *log line* if it begins as programs begin their lines: with a time, a level, a bracket, a lower-case prefix and
  a colon, a place in a file, a traceback's words, a JSON object, a container's name and a bar.
- A line is *prose* if it is no log line, is not indented, and reads as a sentence: several plain words, closed by a full
  stop or longer than a label.
- Everything else (a table, a blank line, an indented line, a label) belongs to whatever stands around it.
- Text in backticks is quoted by a person: it never begins a log line.
"""

from __future__ import annotations

import re

LOOKED_AT = 300  # characters of a line; patterns on lines of a megabyte would take minutes
# A person's labels in lower case, which a prefix of a program is not
_LABELS = (
    "note|edit|update|hint|example|workaround|https?|ps|title|fix|tldr|see|also|and|but|so|os|gpu|cpu|ram|vram|cuda|driver|version"
    "|model|system|platform|memory|context|settings|environment|expected|actual|steps"
)
_LOG_LINE = re.compile(
    r"""\s*(?:
    \[(?![ xX]\])(?=[a-z\d\s!]|[A-Z]{2}|Error|Warn|Info)[^\]\n]{1,80}\](?![(\[:])\s*\S    # [strata] ..., [12.3] ..., [!] ...
    |<?\d{4}[-/]\d\d[-/]\d\d[T\ ]\d\d:\d\d             # 2026-10-21 03:32:12
    |\d\d:\d\d:\d\d\b                                  # 03:32:12
    |[A-Z][a-z]{2}\ [\d\ ]\d\ \d\d:\d\d:\d\d           # Oct 21 03:32:12
    |\d[\d.:,/-]{5,}\s+[IWEDF]\s                      # 1.06.520.077 E
    |[IWEF]\d{4}\ \d\d:\d\d                            # I1021 03:32:12
    |(?:\(\w+\ pid=\d+\)|time=|ts=|level=)
    |(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL|ERR)(?:\ \d\d-\d\d|\s*[:|\]\[(]|\ +[a-z_]+[.:])
    |Traceback\ \(most\ recent
    |File\ "[^"\n]+",\ line\ \d
    |(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning)\b(?::\ |$)    # torch.OutOfMemoryError: ...
    |[A-Z]{2,}\w*\ (?:error|failed|failure)\b          # CUDA error: ...
    |(?!(?:"""
    + _LABELS
    + r""")\b)
     [a-z_][\w.<>~+/-]*(?:\ [a-z_][\w.-]*)?(?:\([^)\n]*\))?:\ (?=.*\w.*\w)    # strata generate: ..., load_hparams: ...
    |(?:[A-Za-z]:)?[\w.+-]*[/\\][^\s:()]*[:(](?:\d+|\+?0x[0-9a-f]+)\b    # /src/ggml.c:188: ..., lib.so(+0x2a1ca)
    |\#\d+\s+0x[0-9a-f]+
    |[a-z][\w.-]*-?\d*\ +\|\ \S                        # strata-1  | ...
    |\{\s*"\w+"\s*:
    )""",
    re.VERBOSE,
)
_SENTENCE = re.compile(r"[A-Za-z'’]+(?:[,;:]?\ [(\"“*_`]*[A-Za-z'’]+[)\"”*_`]*){4,}")  # five plain words in a row
_CLOSED = re.compile(r"[.!?][)\"”*_`]*\s*$|^[^a-z].*:[*_]*\s*$")  # a label that begins small is a program's
LABEL_CHARACTERS = 60  # a line without a full stop that is longer is no label
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_CHINESE_STOPS = re.compile(r"[，。？！；：、]")
CHINESE_CHARACTERS = 8  # of a sentence, with two stops among them: a system's own messages have one
_PERSON = re.compile(r"\b(?:I|I'm|I've|my|we|our|[Hh]i|[Hh]ello|[Tt]hanks?|[Pp]lease help)\b|我|请问|谢谢|大家好|求助")
_MARKER = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+")  # of a list
_COMMAND = re.compile(
    r"""\s*(?:[\w.@~:/-]*[$\#>]\s|PS\ [A-Z]:\\[^>]*>|[A-Z]:\\[^>]*>)?\s*(?:sudo\ |\.{0,2}/|\\|[A-Z]:\\)?
    (?:[\w./\\-]*\.(?:sh|bat|ps1|exe|py)|cd|ls|pip3?|uv|conda|docker|podman|kubectl|git|python3?|py|export|set|apt(?:-get)?|brew
    |cmake|make|curl|wget|nvidia-smi|journalctl|systemctl|ollama|vllm|llama-\w+|strata(?:-\w+)?|echo|cat|chmod|source|winget)
    (?:\s|$)""",
    re.VERBOSE,
)
_FAILURE = re.compile(
    "error|fail|exception|abort|killed|denied|cannot|unable|refused|memory|not found|time.?out|timed out|panic|segmentation"
    "|no such|invalid|unsupported|traceback",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"""\s*(?:[\#/]{1,2}(?:\s|!|$)|/\*|\*/|<!--|</?\w+[^>]*>\s*$|@\w+                      # comments, tags, decorators
    |(?:def|class|import|from|return|if|elif|else|for|while|with|try|except|finally|raise|static|void|int|const|let|var|function)\b
    |(?:-\s+)?["']?[\w.\ -]+["']?\s*[:=](?:\s|$)|-\s|--?\w|\[[\w.\ -]+\]\s*$   # settings, lists, options, sections
    |[\[\]{}(),;]+\s*$|\w[\w.]*\(.*\)\s*;?$|.*[{;\\]\s*$)""",
    re.VERBOSE,
)


def is_log_line(line: str) -> bool:
    """Whether a program begins its lines like this one."""
    return _LOG_LINE.match(line[:LOOKED_AT]) is not None


def is_prose(line: str) -> bool:
    """Whether a person wrote this line, as far as one line can tell."""
    line = line[:LOOKED_AT]
    if not line or line[0].isspace() or is_log_line(line):
        return False
    if len(_CHINESE.findall(line)) >= CHINESE_CHARACTERS:
        return len(_CHINESE_STOPS.findall(line)) > 1
    text = line[marker.end() :] if (marker := _MARKER.match(line)) else line
    return _SENTENCE.search(text) is not None and (len(text) > LABEL_CHARACTERS or _CLOSED.search(text) is not None)


def is_personal(line: str) -> bool:
    """Whether a person speaks of themself in this line, as no program does."""
    line = line[:LOOKED_AT]
    return not line[:1].isspace() and not is_log_line(line) and _PERSON.search(line) is not None


def is_code(line: str) -> bool:
    """Whether a line is a command, a setting or a line of a program, rather than what a program prints."""
    line = line[:LOOKED_AT]
    if _COMMAND.match(line):
        return True
    return _CODE.match(line) is not None and _FAILURE.search(line) is None
