"""From a diagnosis to what a person or a program reads. The only place that knows formats."""

from __future__ import annotations
