"""Client of a language model behind an OpenAI-compatible API. The only part of the answers that uses the network."""

import json
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from core.domain.errors import BadRequest, SynthesisFailed, SynthesisFailure

if TYPE_CHECKING:
    import httpx

__all__ = ["LanguageModelClient"]

_PATH = "/chat/completions"
_MOST_BYTES = 1_000_000  # per response. Chosen by hand.
_HINT = "Check the address, the model's name and the key of the language model, or go on without it."


@dataclass(frozen=True, slots=True)
class LanguageModelClient:
    """One model at one address, such as `LanguageModelClient("http://localhost:11434/v1", "llama3.2")`.

    url: with or without /chat/completions; proxies and other settings of the environment are ignored and redirects are
    not followed. key: "" for none; sent only in the request header, never part of a message or repr. timeout_seconds:
    for the whole response, and for each network operation. temperature: None leaves it to the model.

    Raises BadRequest for an invalid address or key.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout_seconds: float = 30.0
    temperature: float | None = 0.0

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # an invalid port or IPv6 address
            usable = False
        if not usable:
            hint = "It begins with https:// or http://."
            raise BadRequest("The language model's address is not a web address.", hint)
        if parts.username or parts.password or parts.query or parts.fragment:
            raise BadRequest("The language model's address holds more than a place.", "Give the key as the key.")
        if not all("!" <= letter <= "~" for letter in self.key):
            raise BadRequest("The language model's key holds a letter no key has.", "Copy it again, without blanks.")
        if not self.model.strip() or self.timeout_seconds <= 0:
            raise BadRequest("The language model needs a name and a time limit above 0.", _HINT)

    @property
    def name(self) -> str:
        """The model and where it runs, for display."""
        return f"{self.model} at {urlsplit(self.url).hostname}"

    def write(self, instruction: str, context: str) -> str:
        """The model's text. Raises SynthesisFailed, whose message never contains the key or the server's response."""
        import httpx

        body: dict[str, Any] = {"model": self.model, "stream": False}
        body["messages"] = [{"role": "system", "content": instruction}, {"role": "user", "content": context}]
        if self.temperature is not None:
            body["temperature"] = self.temperature
        try:
            with httpx.Client(timeout=self.timeout_seconds, trust_env=False) as client:
                return _text_of(self._sent(client, body), self.name)
        except httpx.TimeoutException:
            raise self._late() from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as failure:
            message = f"{self.name} could not be reached ({type(failure).__name__})."
            raise SynthesisFailed(SynthesisFailure.UNREACHABLE, message, _HINT) from None

    def _sent(self, client: "httpx.Client", payload: dict[str, Any]) -> bytes:
        """The reply's body, read until it ends, is too long, or takes too long."""
        url = self.url.rstrip("/")
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        started = perf_counter()
        with client.stream("POST", url if url.endswith(_PATH) else url + _PATH, json=payload, headers=headers) as reply:
            if reply.status_code != 200:
                message = f"{self.name} answered with status {reply.status_code}."
                raise SynthesisFailed(SynthesisFailure.REFUSED, message, _HINT)
            body = b""
            for piece in reply.iter_bytes():
                body += piece
                if perf_counter() - started > self.timeout_seconds:
                    raise self._late()
                if len(body) > _MOST_BYTES:
                    raise SynthesisFailed(
                        SynthesisFailure.UNREADABLE, f"{self.name} sent more than a text can be.", _HINT
                    )
        return body

    def _late(self) -> SynthesisFailed:
        return SynthesisFailed(
            SynthesisFailure.TIMEOUT, f"{self.name} did not answer within {self.timeout_seconds:g} s.", _HINT
        )


def _text_of(body: bytes, name: str) -> str:
    """The text of the first choice. Raises SynthesisFailed."""
    try:
        content = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise _unreadable(name) from None
    if content is not None and not isinstance(content, str):
        raise _unreadable(name)
    if not content or not content.strip():
        raise SynthesisFailed(SynthesisFailure.EMPTY, f"{name} sent an empty text.", _HINT)
    return content


def _unreadable(name: str) -> SynthesisFailed:
    return SynthesisFailed(SynthesisFailure.UNREADABLE, f"{name} sent something that is not a chat completion.", _HINT)
