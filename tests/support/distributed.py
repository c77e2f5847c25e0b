"""FLARE's distributed provisioning, each party in a folder of its own, with only request and answer passed on."""

import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from support.provisioned import nvflare


class Consortium:
    """The authority that approves requests.

    Args:
        folder: holds `consortium/` and a folder for each participant.
        port: of the server, on localhost.
        more: further arguments of `nvflare cert init`.
    """

    def __init__(self, folder: Path, port: int, *more: str) -> None:
        self._folder, self.folder = folder, folder / "consortium"
        self.folder.mkdir(parents=True)
        self._profile, self._ca = self.folder / "profile.yml", self.folder / "ca"
        server = {"host": "localhost", "fed_learn_port": port}
        profile = {"name": "wardround", "scheme": "http", "connection_security": "mtls", "server": server}
        self._profile.write_text(yaml.safe_dump(profile))
        self._nvflare("cert", "init", "--profile", str(self._profile), "-o", str(self._ca), *more)

    def kit_of(self, name: str, **what: Any) -> Path:
        """The participant asks in its own folder, the consortium approves, the participant packages its kit."""
        own = self._folder / name
        own.mkdir()
        (own / "me.yml").write_text(yaml.safe_dump({"name": "wardround", "participants": [{"name": name, **what}]}))
        home, asked = own / "home", own / "request"
        nvflare(home, "cert", "request", "-p", str(own / "me.yml"), "--out", str(asked))
        request, signed = self.folder / f"{name}.request.zip", self.folder / f"{name}.signed.zip"
        shutil.copyfile(asked / request.name, request)
        approval = ("-c", str(self._ca), "--profile", str(self._profile), "--out", str(signed))
        self._nvflare("cert", "approve", str(request), *approval)
        shutil.copyfile(signed, own / signed.name)
        fingerprint = json.loads((self._ca / "ca.json").read_text())["rootCA_fingerprint"]
        assembly = ("-w", str(own / "kits"), "--request-dir", str(asked), "--fingerprint", fingerprint)
        nvflare(home, "package", str(own / signed.name), *assembly)
        return own / "kits" / "wardround" / "prod_00" / name

    def _nvflare(self, *arguments: str) -> None:
        nvflare(self._folder / "home", *arguments)
