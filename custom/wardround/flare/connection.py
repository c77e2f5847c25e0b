"""Whether a kit's server can be reached, is the consortium's, and tells the same time."""

import email.utils
import errno
import socket
import ssl
from datetime import UTC, datetime

from wardround.flare.kit import Kit
from wardround.site.check import Check, Status

_TIMEOUT_SECONDS = 5.0
_QUIET_SECONDS = 1.0  # a server that refuses a certificate says so by then
_CLOCK_SECONDS = 120  # a certificate made now is not valid yet for a clock that is further behind
_FOREIGN = "it is of another root than this kit: not the server of your consortium, or one that was provisioned anew"
_REASONS = {  # by OpenSSL's X509_V_ERR_..., for which Python has no names
    9: "its certificate is not valid yet by this machine's clock: set the clock",
    10: "its certificate has expired: tell the server's operator",
    18: _FOREIGN,
    19: _FOREIGN,
    20: _FOREIGN,
    62: "its certificate does not carry this name: the operator has to name it in host_names",
    64: "its certificate does not carry this address: the operator has to name it in host_names",
}


def check_connection(kit: Kit) -> list[Check]:
    """Lines `server` and `clock`: the name resolves, the port answers with TLS, both sides accept the other's
    certificate, and, where the server tells it, the difference of the clocks."""
    where = f"{kit.host}:{kit.port}"
    try:
        addresses = sorted({str(one[4][0]) for one in socket.getaddrinfo(kit.host, kit.port, type=socket.SOCK_STREAM)})
    except OSError as error:
        return [
            _server("failed", f"{kit.host}: this name does not resolve here ({error.strerror}); ask for its DNS entry")
        ]
    try:
        context = tls_context(kit)
    except OSError as error:
        return [_server("skipped", f"{where}: not tried: the kit's certificate cannot be used ({error})")]
    try:
        plain = socket.create_connection((kit.host, kit.port), timeout=_TIMEOUT_SECONDS)
    except OSError as error:
        cause = error.strerror or error
        return [
            _server(
                "failed",
                f"{where} ({', '.join(addresses)}): no answer ({cause}): the server is not running, or a firewall is "
                "between",
            )
        ]
    try:
        with plain:
            date = _date(context, plain, kit)
    except ssl.SSLCertVerificationError as error:
        return [_server("failed", f"{where}: {_REASONS.get(error.verify_code, error.verify_message)}")]
    except OSError as error:
        cause = getattr(error, "reason", None) or error.strerror or error
        return [_server("failed", f"{where}: answers, but refuses this kit's certificate or speaks no TLS ({cause})")]
    return [
        _server("ok", f"{where} ({', '.join(addresses)}) answers with a certificate of the same root"),
        _clock(date),
    ]


def tls_context(kit: Kit) -> ssl.SSLContext:
    """Shows the kit's certificate, and takes that of a server under the same root alone.

    Raises:
        OSError: a file of the kit cannot be used; `ssl.SSLError` is one.
    """
    context = ssl.create_default_context(cafile=str(kit.root))
    context.load_cert_chain(kit.certificate, kit.certificate.with_suffix(".key"))
    return context


def _date(context: ssl.SSLContext, plain: socket.socket, kit: Kit) -> datetime | None:
    """The server's Date header, where it speaks HTTP.

    Reading also brings to light that the server refuses our certificate: TLS 1.3 tells so after the handshake.

    Raises:
        OSError: it does.
    """
    speaks_http = kit.scheme == "http"
    with context.wrap_socket(plain, server_hostname=kit.host) as stream:
        stream.settimeout(_TIMEOUT_SECONDS if speaks_http else _QUIET_SECONDS)
        if speaks_http:
            stream.sendall(f"GET / HTTP/1.1\r\nHost: {kit.host}\r\nConnection: close\r\n\r\n".encode())
        try:
            answer = stream.recv(4096)
        except TimeoutError:
            return None
    if not answer:
        raise ConnectionAbortedError(errno.ECONNABORTED, "it closed the connection")
    for line in answer.split(b"\r\n"):
        if line.lower().startswith(b"date:"):
            return email.utils.parsedate_to_datetime(line[5:].decode("ascii", "replace").strip())
    return None


def _clock(date: datetime | None) -> Check:
    if date is None:
        return Check("clock", "skipped", "the server tells no time; only the certificates' own dates were looked at")
    seconds = (datetime.now(UTC) - date).total_seconds()
    if abs(seconds) > _CLOCK_SECONDS:
        side = "ahead of" if seconds > 0 else "behind"
        return Check("clock", "failed", f"{abs(seconds):.0f} s {side} the server's: set it, or use NTP")
    return Check("clock", "ok", f"within {abs(seconds):.0f} s of the server's")


def _server(status: Status, text: str) -> Check:
    return Check("server", status, text)
