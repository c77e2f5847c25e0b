"""Whether a release is what its approver signed, and nothing else."""

from pathlib import Path

from wardround.records.reasons import Reason, WardroundError
from wardround.releases.checksums import LIST, SIGNATURE, differences
from wardround.releases.facts import other_names, read_facts
from wardround.releases.signature import PublicKey, is_signed


def faults(folder: Path, key: PublicKey) -> list[str]:
    """What is wrong with a release, one line each; empty where its list is signed and every file is as listed.

    Args:
        folder: of the release.
        key: the public key of whoever signs releases, got from them and not from the folder.

    Raises:
        WardroundError: there is no such folder.
    """
    if not folder.is_dir():
        raise WardroundError(
            Reason.DATA_MISSING, f"{folder}: no such folder; name a release, such as releases/STUDY/v1"
        )
    found = []
    listed, signature = folder / LIST, folder / SIGNATURE
    if not signature.is_file():
        found.append(f"{SIGNATURE}: missing, so nobody answers for this folder")
    elif listed.is_file() and not is_signed(listed.read_bytes(), signature.read_bytes(), key):
        found.append(f"{SIGNATURE}: not a signature of {LIST} by this key: another key's, or the list was changed")
    found += differences(folder)
    return found or other_names(folder, read_facts(folder))
