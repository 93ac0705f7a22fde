"""Who may ask the page: those who have its link, from a page of its own, by a name it knows.

Others share a login node and can reach its ports. So the link has a token in its path, without
which nothing is answered. A foreign page that is open in the same browser does not know the token
either; that the names of host and origin are checked as well keeps out those who make a name of
theirs point to this machine.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

#: The browser itself refuses whatever is not of this server; Dash's own inline script is named by
#: its hash.
SECURITY = (
    "default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def new_token() -> str:
    """Return a token that nobody guesses."""
    return secrets.token_urlsafe(24)


class Guard:
    """Answers only those who may ask.

    Parameters
    ----------
    application
        What answers them, as WSGI has it; it sees paths that begin with the token.
    token
        The first part of every path.
    hosts
        The names by which the page is reached; with or without a port.
    prefix
        What stands before the token where a proxy (Open OnDemand) forwards its own path, ``/`` at
        both ends. A proxy may also take it away.
    """

    def __init__(
        self,
        application: Callable[[Any, Any], Iterable[bytes]],
        *,
        token: str,
        hosts: Iterable[str],
        prefix: str = "/",
    ) -> None:
        self._application, self._token = application, token
        self._hosts = frozenset(host.lower() for host in hosts)
        self._prefix = prefix

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        """Answer one request."""
        complaint = self._complaint(environ)
        if complaint is None:
            return self._application(environ, start_response)
        body = f"{complaint}\n".encode()
        heads = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
        start_response("403 Forbidden", heads)
        return [body]

    def _complaint(self, environ: Any) -> str | None:
        if not self._is_ours(environ.get("HTTP_HOST", "")):
            return (
                "This page does not go by the name in the address. Use the link that the command "
                "printed, or start it with --allow-host."
            )
        origin = environ.get("HTTP_ORIGIN")
        if origin is not None and not self._is_ours(urlsplit(origin).netloc):
            return "Another page asks, and that is not answered."
        if (
            environ.get("HTTP_SEC_FETCH_SITE") == "cross-site"
            and environ["REQUEST_METHOD"] != "GET"
        ):
            return "Another page asks, and that is not answered."
        path = environ.get("PATH_INFO", "")
        if path.startswith(self._prefix):
            path = path[len(self._prefix) - 1 :]
        first = path.split("/", 2)[1] if path.startswith("/") else ""
        if not hmac.compare_digest(first.encode(), self._token.encode()):
            return "The token is missing or wrong. Use the whole link that the command printed."
        environ["PATH_INFO"] = path
        return None

    def _is_ours(self, netloc: str) -> bool:
        name = netloc.lower().rsplit("@", 1)[-1]
        without_port = name if name.endswith("]") else name.rsplit(":", 1)[0]
        return name in self._hosts or without_port in self._hosts


def security_heads(hashes: Iterable[str]) -> dict[str, str]:
    """Return what every answer says about what a browser may do with it."""
    return {
        "Content-Security-Policy": SECURITY.format(hashes=" ".join(hashes)),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
