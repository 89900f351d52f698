"""Asking something that may never answer, such as the driver of a card that has fallen off the bus.

A call into a driver can't be interrupted, so it runs in a thread of its own and is waited for with a limit. What does not
answer is left behind: the thread is a daemon, so it holds up neither the caller nor the end of the program, and while it
is stuck nothing is asked under the same name, so that a tuner which asks again every few seconds piles up no threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

_stuck: dict[str, threading.Thread] = {}  # by what was asked: threads past their limit, all that outlives a call


class NoAnswerError(Exception):
    """The answer did not come within the limit, or an earlier question under this name is still unanswered."""


def within(seconds: float, name: str, task: Callable[[], Any]) -> Any:
    """What `task` returns, if it does so within `seconds`. name: what is asked; while it is stuck, it is not asked again.

    Raises NoAnswerError, and whatever `task` raises.
    """
    earlier = _stuck.get(name)
    if earlier is not None and earlier.is_alive():
        raise NoAnswerError(f"{name} has not answered an earlier question yet")
    answer: list[Any] = []
    failure: list[BaseException] = []

    def ask() -> None:
        try:
            answer.append(task())
        except BaseException as error:  # noqa: BLE001 - handed to the caller, whatever it is
            failure.append(error)

    thread = threading.Thread(target=ask, name=f"strata-diag: {name}", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        _stuck[name] = thread
        raise NoAnswerError(f"{name} did not answer within {seconds:g} s")
    if failure:
        raise failure[0]
    return answer[0]
