"""Detached signatures that plain OpenSSL makes and verifies: `openssl dgst -sha256 -verify KEY.pub -signature ...`."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from wardround.records.reasons import Reason, WardroundError

HOW_TO_MAKE_A_KEY = (
    "make one, once: openssl ecparam -genkey -noout -name prime256v1 -out release.key && "
    "openssl ec -in release.key -pubout -out release.pub; keep release.key to yourself and hand out release.pub"
)
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
    content = _read(file)
    try:
        try:
            key = serialization.load_pem_private_key(content, password=None)
        except TypeError:  # encrypted
            key = serialization.load_pem_private_key(content, password=password().encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _no_key(file, "a private key in PEM, and its password") from error
    if not isinstance(key, PrivateKey):
        raise _no_key(file, "an elliptic-curve or RSA private key")
    return key


def public_key(file: Path) -> PublicKey:
    """Reads a PEM file.

    Raises:
        WardroundError: no such file, or no such key.
    """
    try:
        key = serialization.load_pem_public_key(_read(file))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _no_key(file, "a public key in PEM") from error
    if not isinstance(key, PublicKey):
        raise _no_key(file, "an elliptic-curve or RSA public key")
    return key


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


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise WardroundError(
            Reason.CREDENTIALS_MISSING, f"{file}: {error.strerror or type(error).__name__}; {HOW_TO_MAKE_A_KEY}"
        ) from error


def _no_key(file: Path, expected: str) -> WardroundError:
    return WardroundError(Reason.CREDENTIALS_MISSING, f"{file}: expected {expected}; {HOW_TO_MAKE_A_KEY}")
