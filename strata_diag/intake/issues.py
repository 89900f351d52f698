"""Issues of GitHub as its API, `gh issue view --json` and `gh api` write them: the logs in their bodies and comments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from strata_diag.intake.documents import logs_in_document
from strata_diag.intake.records import Attachment, Notes, skipped

DEEPEST_WRAPPER = 10  # objects and lists around an issue
_WRAPPERS = (
    "data", "repository", "search", "items", "issues", "issue", "pullRequests", "pullRequest", "comments", "edges", "node",
    "nodes",
)  # fmt: skip
_BESIDE_A_BODY = frozenset({"title", "number", "comments", "user", "author", "html_url", "createdAt", "created_at"})


def is_issue(fields: Mapping[str, Any]) -> bool:
    """Whether an object is an issue, a pull request or a comment."""
    if isinstance(fields.get("body", 0), str | None) and not _BESIDE_A_BODY.isdisjoint(fields):
        return True
    return any("body" in comment for comment in _comments(fields))


def issues_in(value: object, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The issues in a value, whatever wraps them."""
    if depth > DEEPEST_WRAPPER:
        return
    if isinstance(value, dict):
        if is_issue(value):
            yield value
            return
        value = [value[key] for key in _WRAPPERS if key in value]
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict | list):
            yield from issues_in(item, depth + 1)


def logs_of_issues(name: str, found: Iterable[Mapping[str, Any]]) -> Iterator[Attachment]:
    """The logs of issues, body first, then the comments in order. One without any log is a skipped attachment."""
    several = list(found)
    for position, issue in enumerate(several, 1):
        number = issue.get("number")
        label = f"#{number}" if isinstance(number, int) and not isinstance(number, bool) else ""
        label = label or (f"entry {position}" if len(several) > 1 else "")
        texts = [("body", issue.get("body")), *_comment_texts(issue)]
        logs = [log for place, text in texts for log in _logs(", ".join([name, f"{label} {place}".strip()]), text)]
        if logs:
            yield from logs
        else:
            notes = Notes()
            notes.add("left-out", f"no log was found in the body or in the {len(texts) - 1} comments")
            yield skipped(f"{name}, {label}" if label else name, notes)


def _logs(name: str, text: object) -> Iterator[Attachment]:
    if isinstance(text, str):
        yield from (log for log in logs_in_document(name, text.replace("\r\n", "\n")) if not log.skipped)


def _comment_texts(issue: Mapping[str, Any]) -> list[tuple[str, object]]:
    return [(f"comment {number}", comment.get("body")) for number, comment in enumerate(_comments(issue), 1)]


def _comments(issue: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    comments = issue.get("comments")
    if isinstance(comments, dict):  # GraphQL
        comments = comments.get("nodes")
    return [one for one in comments if isinstance(one, dict)] if isinstance(comments, list) else []
