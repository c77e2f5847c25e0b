"""A line between a hospital and the server that can be cut: a relay of what passes, which reads none of it."""

import contextlib
import socket
import struct
import threading

_RESET = struct.pack("ii", 1, 0)  # close at once and without a farewell, as after a line that broke


class CutLink:
    """Relays connections to `port` of this machine to `to`, until it is cut and after it is mended."""

    def __init__(self, port: int, to: int) -> None:
        self._port, self._to = port, to
        self._ends: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._cut_at: int | None = None
        self.mend()

    def cut_at(self, size: int) -> None:
        """Cuts once the hospital sends `size` bytes or more in one go, and loses them."""
        self._cut_at = size

    @property
    def is_cut(self) -> bool:
        """Whether nothing passes."""
        return self._listener is None

    def cut(self) -> None:
        """Drops every connection and refuses new ones."""
        with self._lock:
            listener, self._listener = self._listener, None
            ends, self._ends = self._ends, set()
        if listener is not None:
            listener.shutdown(socket.SHUT_RDWR)  # else a thread that waits in accept keeps it open
            listener.close()
        for end in ends:
            _reset(end)

    def mend(self) -> None:
        """Takes connections again."""
        listener = socket.create_server(("127.0.0.1", self._port))
        with self._lock:
            self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the link is cut
            while True:
                near, _ = listener.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self._to), timeout=5)
                except OSError:  # no server there
                    _reset(near)
                    continue
                far.settimeout(None)
                with self._lock:
                    whole = self._listener is listener
                    if whole:
                        self._ends |= {near, far}
                if not whole:
                    _reset(near)
                    _reset(far)
                    return
                for source, target in ((near, far), (far, near)):
                    options = {"sends": source is near}
                    threading.Thread(target=self._pass_on, args=(source, target), kwargs=options, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, *, sends: bool) -> None:
        """`sends`: the hospital does."""
        with contextlib.suppress(OSError):
            while received := source.recv(1 << 16):
                if sends and self._cut_at is not None and len(received) >= self._cut_at:
                    self._cut_at = None
                    self.cut()
                    return
                target.sendall(received)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)
        with self._lock:
            self._ends.discard(source)


def _reset(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        end.shutdown(socket.SHUT_RDWR)
    end.close()
