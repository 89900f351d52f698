"""A client of yaml-language-server, as an editor is one: it opens a file, and reads complaints, completions and hints."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from conftest import ROOT

NAME = "yaml-language-server"
PLACES = (ROOT / ".tools" / "node_modules" / ".bin",)  # beside PATH; `npm install --prefix .tools yaml-language-server`
SETTINGS = {"yaml": {"schemaStore": {"enable": False}, "validate": True, "completion": True, "hover": True}}


def command() -> str | None:
    """The server, where it is installed; None where it or node is missing."""
    if shutil.which("node") is None:
        return None
    return shutil.which(NAME, path=os.pathsep.join([*map(str, PLACES), os.environ.get("PATH", "")]))


class LanguageServer:
    """A server on a folder; leaving the `with` block ends it."""

    def __init__(self, server: str, folder: Path) -> None:
        self._process = subprocess.Popen(
            [server, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder
        )
        self._requests = 0
        capabilities = {"workspace": {"configuration": True}, "textDocument": {"completion": {}}}
        self._ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": capabilities})
        self._tell("initialized", {})
        self._tell("workspace/didChangeConfiguration", {"settings": SETTINGS})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.communicate(timeout=10)

    def complaints(self, file: Path) -> list[tuple[int, str]]:
        """Open a file: (1-based line, message) of what the server has against it."""
        text = file.read_text("utf-8")
        document = {"uri": file.as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        said = self._wait(
            lambda one: (
                one.get("method") == "textDocument/publishDiagnostics" and one["params"]["uri"] == document["uri"]
            )
        )
        return [(one["range"]["start"]["line"] + 1, one["message"]) for one in said["params"]["diagnostics"]]

    def completions(self, file: Path, line: int, column: int) -> dict[str, str]:
        """What the server offers at a 1-based place of an open file: documentation by label."""
        found = self._ask("textDocument/completion", _place(file, line, column))
        items = found["items"] if isinstance(found, dict) else found
        return {item["label"]: _text(item.get("documentation", "")) for item in items}

    def hint(self, file: Path, line: int, column: int) -> str:
        """What the server shows about a 1-based place of an open file."""
        found = self._ask("textDocument/hover", _place(file, line, column))
        return _text(found["contents"]) if found else ""

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._requests += 1
        number = self._requests
        self._send({"id": number, "method": method, "params": params})
        return self._wait(lambda one: one.get("id") == number and "method" not in one)["result"]

    def _tell(self, method: str, params: dict[str, Any]) -> None:
        self._send({"method": method, "params": params})

    def _send(self, content: dict[str, Any]) -> None:
        assert self._process.stdin
        body = json.dumps({"jsonrpc": "2.0", **content}).encode("utf-8")
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _wait(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read until the wanted message comes; what the server asks meanwhile is answered."""
        while True:
            message = self._read()
            if "id" in message and "method" in message:
                items = message.get("params", {}).get("items")
                self._send({"id": message["id"], "result": None if items is None else [_section(one) for one in items]})
            elif wanted(message):
                return message

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        size = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        assert size, "the language server ended"
        message: dict[str, Any] = json.loads(self._process.stdout.read(size))
        return message


def _section(item: dict[str, Any]) -> Any:
    return SETTINGS.get(item.get("section", ""), {})


def _place(file: Path, line: int, column: int) -> dict[str, Any]:
    return {"textDocument": {"uri": file.as_uri()}, "position": {"line": line - 1, "character": column - 1}}


def _text(content: Any) -> str:
    return str(content["value"] if isinstance(content, dict) else content)
