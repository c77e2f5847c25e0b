"""A server on this machine that greets with a startup kit's certificate, and asks for the caller's."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def tls_server(kit: Path, answer: bytes) -> Iterator[int]:
    """Yields its port; each caller whose certificate is of the kit's root is sent `answer`."""
    context = server_context(kit)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener, context, answer))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def server_context(kit: Path) -> ssl.SSLContext:
    """Of a server's kit; callers need a certificate of its root."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(kit / "startup" / "rootCA.pem"))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(kit / "startup" / "server.crt", kit / "startup" / "server.key")
    return context


def _serve(listener: socket.socket, context: ssl.SSLContext, answer: bytes) -> None:
    while True:
        try:
            plain, _ = listener.accept()
        except OSError:
            return
        try:
            with plain, context.wrap_socket(plain, server_side=True) as stream:
                stream.recv(4096)
                stream.sendall(answer)
        except OSError:
            continue
