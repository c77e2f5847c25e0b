"""FLARE's server as its operator could change it: it asks no site to authorise, and refuses nobody anything itself.

python -m support.tampered_server, with the arguments of FLARE's own module
"""

import runpy
from typing import Any

from nvflare.fuel.sec.authz import AuthorizationService
from nvflare.private.admin_defs import Message
from nvflare.private.defs import RequestHeader
from nvflare.private.fed.server import shell_cmd
from nvflare.private.fed.server.admin import new_message


def _asks_for_nothing(*arguments: Any, **options: Any) -> Message:
    message = new_message(*arguments, **options)
    message.set_header(RequestHeader.REQUIRE_AUTHZ, "false")
    return message


def main() -> None:
    """Starts the server."""
    AuthorizationService.authorize = staticmethod(lambda *_: (True, ""))
    shell_cmd.new_message = _asks_for_nothing
    for executor in vars(shell_cmd).values():
        if isinstance(executor, type) and hasattr(executor, "validate_shell_command"):
            executor.validate_shell_command = lambda *_: ""
    runpy.run_module("nvflare.private.fed.app.server.server_train", run_name="__main__")


if __name__ == "__main__":
    main()
