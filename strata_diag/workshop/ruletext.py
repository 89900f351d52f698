"""Rules as styled lines: the text of `rules list`. Every word of a pack is harmless for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from strata_diag.render.escape import visible
from strata_diag.render.layout import Line, Span
from strata_diag.ruleset import PackInfo, Rule, RuleSet
from strata_diag.workshop.listing import packs_by_name


def list_lines(found: list[Rule], rules: RuleSet) -> Iterator[Line]:
    """The rules by pack, one line each, and their number."""
    packs = packs_by_name(rules)
    width = max((len(rule.id.partition("/")[2]) for rule in found), default=0)
    cause_width = max((len(rule.cause) for rule in found), default=0)
    last = ""
    for rule in found:
        if rule.pack != last:
            yield from _pack_head(packs[rule.pack])
            last = rule.pack
        name = visible(rule.id.partition("/")[2])
        text = f"  {name:<{width}}  {rule.role:<9}  {rule.priority:>3}  {visible(rule.cause or '-'):<{cause_width}}  "
        marks = [word for word in (rule.lifecycle, "silenced" if rule.silenced else "") if word not in ("", "stable")]
        mark = f" ({', '.join(marks)})" if marks else ""
        yield Line((Span(text), Span(visible(rule.title), "dim"), Span(mark, "yellow")), len(text))
    count = len(found)
    yield Line(())
    yield Line((Span(f"{count} rule{'' if count == 1 else 's'}", "bold"),))


def _pack_head(pack: PackInfo) -> Iterator[Line]:
    yield Line(())
    head = Span(visible(pack.name), "bold")
    yield Line((head, Span(f"  {visible(pack.about)} (version {pack.version}, {visible(pack.plugin)})", "dim")), 2)
