"""What the certificates of a startup kit say, and whether they hold."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509.oid import NameOID

from wardround.flare.kit import Kit
from wardround.site.check import Check

_RENEW_DAYS = 30
_NAME = "certificate"


@dataclass(frozen=True)
class Certificate:
    """What is read from one PEM file.

    Attributes:
        name: the common name: a server's, a site's or a person's.
        organisation: the hospital's, as the consortium calls it; empty where there is none.
        first, last: when it is valid.
    """

    name: str
    organisation: str
    first: datetime
    last: datetime

    def days_left(self, now: datetime) -> int:
        """Whole days until it expires; negative after that."""
        return (self.last - now).days


def read_certificate(file: Path) -> Certificate:
    """Reads one.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    return _described(x509.load_pem_x509_certificate(file.read_bytes()))


def check_certificate(kit: Kit, now: datetime | None = None) -> Check:
    """One line on subject, time left, root, and whether the private key belongs to it."""
    now = now or datetime.now(UTC)
    try:
        own = x509.load_pem_x509_certificate(kit.certificate.read_bytes())
        root = x509.load_pem_x509_certificate(kit.root.read_bytes())
        key = load_pem_private_key(kit.certificate.with_suffix(".key").read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        return _failed(f"{kit.certificate.parent}: cannot be read: {error}; ask for the kit again")
    found, authority = _described(own), _described(root)
    subject = f"{found.name} of {found.organisation or 'no organisation'}"
    if kit.role != "admin" and found.name != kit.name:
        return _failed(f"{subject}: expected {kit.name}, which the kit is for; ask for the kit again")
    try:
        own.verify_directly_issued_by(root)
    except (ValueError, TypeError, InvalidSignature):
        return _failed(
            f"{subject}: not signed by the kit's root {authority.name!r} (issuer {_issuer(own)!r}): certificate and "
            "rootCA.pem are of different consortia, or the root was made with an organisation in its name; ask for "
            "the kit again"
        )
    spki = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if key.public_key().public_bytes(*spki) != own.public_key().public_bytes(*spki):
        return _failed(f"{subject}: its private key belongs to another certificate; package the kit again")
    return _in_time(found, authority, subject, now)


def _in_time(found: Certificate, authority: Certificate, subject: str, now: datetime) -> Check:
    for what, one in ((subject, found), (f"root {authority.name}", authority)):
        if now < one.first:
            return _failed(
                f"{what}: not valid before {_day(one.first)}, and this machine's clock says {_day(now)}: set the clock"
            )
        if now > one.last:
            return _failed(f"{what}: expired on {_day(one.last)}; ask the consortium for a new one")
    days = found.days_left(now)
    text = f"{subject}, root {authority.name}, expires in {days} days ({found.last:%Y-%m-%d})"
    if days < _RENEW_DAYS:
        return Check(_NAME, "warning", f"{text}: renew it now")
    return Check(_NAME, "ok", text)


def _described(certificate: x509.Certificate) -> Certificate:
    return Certificate(
        _attribute(certificate.subject, NameOID.COMMON_NAME),
        _attribute(certificate.subject, NameOID.ORGANIZATION_NAME),
        certificate.not_valid_before_utc,
        certificate.not_valid_after_utc,
    )


def _issuer(certificate: x509.Certificate) -> str:
    return _attribute(certificate.issuer, NameOID.COMMON_NAME)


def _attribute(name: x509.Name, kind: x509.ObjectIdentifier) -> str:
    found = name.get_attributes_for_oid(kind)
    return str(found[0].value) if found else ""


def _day(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"


def _failed(text: str) -> Check:
    return Check(_NAME, "failed", text)
