"""Columns of text in which some signs are twice as wide."""

from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len

from strata_diag.render.cells import padded, width
from strata_diag.render.layout import Line, Span
from strata_diag.render.terminal import print_lines

TEXTS = ["", "clear", "正常", "显存 VRAM", "（注意）", "日本語ｶﾅ", "한국어", "…", "第 7 行：x"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_as_wide_as_rich_says(text: str) -> None:
    """Our own columns stand under those of rich."""
    assert width(text) == cell_len(text)


@pytest.mark.parametrize("text", TEXTS)
def test_a_padded_text_fills_its_columns(text: str) -> None:
    """Short texts get blanks, long ones stay whole."""
    assert cell_len(padded(text, 20)) == 20
    assert padded(text, 1).rstrip() == text


def test_chinese_is_wrapped_by_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal no line is wider than the window, though each sign takes two columns."""
    monkeypatch.setenv("COLUMNS", "40")
    stream = io.StringIO()
    text = "卸载或停止正在提供服务的模型（以及任何图像编码器、调优或第二个引擎）：它们不能共用一块显卡。"
    print_lines([Line((Span("  1. ", "bold"), Span(text)), 5)], stream, colour=True)
    lines = [line for line in _bare(stream.getvalue()).splitlines() if line.strip()]
    assert len(lines) > 2
    assert max(map(cell_len, lines)) <= 40
    assert "".join(line.strip() for line in lines).removeprefix("1.").strip() == text


def _bare(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
