"""One chat request through the gateway, shown as it went over the wire."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from deploy.setup.say import SetupError, tell

SHOWN_HEADERS = "x-retrace-"
LINE = 96


@dataclass(frozen=True)
class Exchange:
    """What was asked and what came back."""

    url: str
    asked: dict[str, Any]
    status: int
    headers: dict[str, str]
    body: Any


def chat(base: str, model: str, text: str, max_tokens: int = 96) -> Exchange:
    """POST one user message to `base`/v1/chat/completions. An error status is an answer, no exception."""
    asked = {
        "model": model,
        "messages": [{"role": "user", "content": text}],
        "max_tokens": max_tokens,
        "temperature": 0,
    }
    url = f"{base}/v1/chat/completions"
    request = urllib.request.Request(url, json.dumps(asked).encode(), {"content-type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=120) as answer:
            return _exchange(url, asked, answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as e:
        with e:
            return _exchange(url, asked, e.code, e.headers, e.read())
    except OSError as e:
        raise SetupError(f"POST {url} failed: {e}", "look into .run/gateway.log and .run/engine.log.") from None


def _exchange(url: str, asked: dict[str, Any], status: int, headers: Any, body: bytes) -> Exchange:
    kept = {k.lower(): v for k, v in headers.items() if k.lower().startswith(SHOWN_HEADERS)}
    try:
        return Exchange(url, asked, status, kept, json.loads(body))
    except ValueError:
        return Exchange(url, asked, status, kept, body.decode(errors="replace"))


def show(title: str, it: Exchange) -> None:
    """Print the exchange: > sent, < received. The many null fields an engine answers with are left out."""
    tell(f"\n  {title}\n")
    tell(f"    > POST {it.url}")
    tell(_signed(it.asked, "> "))
    tell(f"    < HTTP {it.status}")
    for name, value in it.headers.items():
        tell(f"    < {name}: {value}")
    tell(_signed(_slim(it.body), "< "))


def _signed(value: Any, sign: str) -> str:
    return "\n".join(f"    {sign}{line}" for line in _layout(value).splitlines())


def _layout(value: Any, indent: str = "") -> str:
    """JSON for reading: what fits on a line stays on one, the rest is opened a level further."""
    line = value if isinstance(value, str) and not indent else json.dumps(value, ensure_ascii=False)
    if len(line) + len(indent) <= LINE or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + "  "
    if isinstance(value, list):
        parts = [inner + _layout(v, inner) for v in value]
        return "[\n" + ",\n".join(parts) + f"\n{indent}]"
    parts = [f"{inner}{json.dumps(k)}: {_layout(v, inner)}" for k, v in value.items()]
    return "{\n" + ",\n".join(parts) + f"\n{indent}}}"


def _slim(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _slim(v) for k, v in value.items() if v is not None}
    return [_slim(v) for v in value] if isinstance(value, list) else value
