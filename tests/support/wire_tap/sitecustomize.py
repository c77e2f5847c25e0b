"""Python runs this at the start of each of FLARE's processes that a test starts with this folder on its path.

It notes what arrives at the server after transport, and what a site's job process hands to its connections, byte by
byte. Both are FLARE's own functions: none of what is measured has a part in it.
"""

import os
import pickle
import sys
import uuid
from pathlib import Path

_FOLDER = os.environ.get("WARDROUND_TEST_WIRE")
_ARGUMENTS = " ".join(getattr(sys, "orig_argv", []))


def _note_what_arrives(folder: Path) -> None:
    from nvflare.private.fed.server.server_commands import SubmitUpdateCommand

    process = SubmitUpdateCommand.process

    def noted(self, data, fl_ctx):
        peer = data.get_peer_context()
        message = {
            "site": peer.get_identity_name(),
            "public": dict(peer.get_all_public_props()),
            "headers": {key: str(value) for key, value in data["__headers__"].items()},
            "content": {key: value for key, value in data.items() if key != "__headers__"},
        }
        unfinished = folder / f"{uuid.uuid4().hex}.part"
        unfinished.write_bytes(pickle.dumps(message))
        unfinished.rename(unfinished.with_suffix(".received"))
        return process(self, data, fl_ctx)

    SubmitUpdateCommand.process = noted


def _note_what_is_sent(folder: Path) -> None:
    from nvflare.fuel.f3.sfm.sfm_conn import SfmConnection

    send = SfmConnection.send_frame
    file = (folder / f"{os.getpid()}.sent").open("ab", buffering=0)

    def noted(self, prefix, headers, payload):
        file.write(b"".join((self.headers_to_bytes(headers) or b"", bytes(payload or b""), b"\n")))
        return send(self, prefix, headers, payload)

    SfmConnection.send_frame = noted


if _FOLDER and "simulator_worker" in _ARGUMENTS:
    _note_what_is_sent(Path(_FOLDER))
elif _FOLDER and "nvflare.private.fed.app.simulator" in _ARGUMENTS:
    _note_what_arrives(Path(_FOLDER))
