"""Startup kits as far as they matter without FLARE: the server's address, and a certificate with a name."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def make_kit(folder: Path, *, kind: str = "client", name: str = "hospital-a", port: int = 8002) -> Path:
    """A kit of a `client`, a `server` or an `admin` in `folder`."""
    for part in ("startup", "local"):
        (folder / part).mkdir(parents=True)
    server = {"name": "wardround", "service": {"target": f"127.0.0.1:{port}", "scheme": "grpc"}}
    settings: dict[str, object] = {
        "client": {"servers": [server], "client": {"fqsn": name}},
        "server": {"servers": [{**server, "admin_server": name}]},
        "admin": {"admin": {"username": name, "host": "127.0.0.1", "port": port, "scheme": "grpc"}},
    }
    (folder / "startup" / f"fed_{kind}.json").write_text(json.dumps(settings[kind]), encoding="utf-8")
    (folder / "startup" / f"{'server' if kind == 'server' else 'client'}.crt").write_bytes(_certificate(name))
    default = {"format_version": 2, "client": {"retry_timeout": 30}, "allow_log_streaming": True}
    (folder / "local" / "resources.json.default").write_text(json.dumps(default), encoding="utf-8")
    return folder


def _certificate(name: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, name),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, name.replace("-", "_")),
        ]
    )
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)
