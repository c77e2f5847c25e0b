"""Detached signatures that plain OpenSSL makes and verifies: `openssl dgst -sha256 -verify KEY.pub -signature ...`."""

import hashlib
import shlex
from collections.abc import Callable
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from wardround.records.reasons import Reason, WardroundError

_LEAST_BITS = {ec.EllipticCurvePublicKey: 256, rsa.RSAPublicKey: 2048}  # NIST SP 800-131A: 112 bits of security
_OTHER = "name another file with --key; this one was not touched"
_ASK = "ask whoever signs releases for their public key"
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
PublicKey = ec.EllipticCurvePublicKey | rsa.RSAPublicKey


def private_key(file: Path, password: Callable[[], str]) -> PrivateKey:
    """Reads a PEM file.

    Args:
        file: of an elliptic-curve or RSA key; `openssl dgst` takes no others.
        password: asked for one where the file is encrypted.

    Raises:
        WardroundError: no such file, no such key, or a wrong password.
    """
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise WardroundError(Reason.CREDENTIALS_MISSING, f"{file}: no such file; {how_to_make_a_key(file)}") from None
    except OSError as error:
        raise _no_key(file, "a private key in PEM", error.strerror or type(error).__name__, _OTHER) from error
    try:
        try:
            key = serialization.load_pem_private_key(content, password=None)
        except TypeError:  # encrypted
            key = serialization.load_pem_private_key(content, password=password().encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _no_key(file, "a private key in PEM, and its password", "none that can be read", _OTHER) from error
    if not isinstance(key, PrivateKey):
        raise _no_key(file, "an elliptic-curve or RSA private key", "one of another kind", _OTHER)
    _refuse_short(file, key.public_key(), _OTHER)
    return key


def public_key(file: Path) -> PublicKey:
    """Reads a PEM file.

    Raises:
        WardroundError: no such file, or no such key.
    """
    try:
        content = file.read_bytes()
        key = serialization.load_pem_public_key(content)
    except OSError as error:
        raise _no_key(file, "a public key in PEM", error.strerror or type(error).__name__, _ASK) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        found = "a private one" if b"PRIVATE KEY-----" in content else "none that can be read"
        raise _no_key(file, "a public key in PEM", found, _ASK) from error
    if not isinstance(key, PublicKey):
        raise _no_key(file, "an elliptic-curve or RSA public key", "one of another kind", _ASK)
    _refuse_short(file, key, _ASK)
    return key


def how_to_make_a_key(file: Path) -> str:
    """For whoever signs releases and has no key yet; the commands would write over a key that is there."""
    public = file.with_suffix(".pub")
    there = [str(one) for one in (file, public) if one.exists()]
    if there:
        return f"{' and '.join(there)} may be of a key that you have: name its private half with --key"
    names = shlex.quote(str(file)), shlex.quote(str(public))
    return (
        f"make one, once: openssl ecparam -genkey -noout -name prime256v1 -out {names[0]} && "
        f"openssl ec -in {names[0]} -pubout -out {names[1]}; keep {file} to yourself and hand out {public}"
    )


def sign(content: bytes, key: PrivateKey) -> bytes:
    """A signature over SHA-256 of the content."""
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(content, padding.PKCS1v15(), hashes.SHA256())
    return key.sign(content, ec.ECDSA(hashes.SHA256()))


def is_signed(content: bytes, signature: bytes, key: PublicKey) -> bool:
    """Whether the private key to this public one signed exactly this content."""
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, content, padding.PKCS1v15(), hashes.SHA256())
        else:
            key.verify(signature, content, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def fingerprint(key: PublicKey) -> str:
    """SHA-256 of a public key, as `openssl pkey -pubin -in KEY.pub -outform DER | sha256sum` gives it."""
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()


def _refuse_short(file: Path, key: PublicKey, advice: str) -> None:
    least = next(bits for kind, bits in _LEAST_BITS.items() if isinstance(key, kind))
    if key.key_size < least:
        raise _no_key(
            file, f"a key of at least {least:,} bits", f"one of {key.key_size:,}, which can be forged", advice
        )


def _no_key(file: Path, expected: str, found: str, advice: str) -> WardroundError:
    return WardroundError(Reason.CREDENTIALS_MISSING, f"{file}: expected {expected}, found {found}; {advice}")
