"""`wardround site init`: the folder with all that a hospital's admin decides, from a few answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from nvflare.apis.job_def import SERVER_SITE_NAME
from nvflare.apis.utils.format_check import name_check

from wardround.flare import site_files
from wardround.records.files import write_whole
from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import load_site_config
from wardround.site.new_config import site_section, site_yaml

_LONGEST_NAME = 63  # of a label in a host name
PROJECT = "wardround"


@dataclass(frozen=True)
class NewSite:
    """The answers.

    Attributes:
        name: of the site, as it will be in its certificate.
        org: the hospital, as the consortium calls it in its project; `hospital_d` for `hospital-d`.
        data: kind of workload to the folder or file with its data, seen from the site's folder.
        role: train, or evaluate for one that is only scored.
        device: cpu, cuda or cuda:N.
        gpus, gpu_memory: offered to jobs; memory in GiB, 0 where it is not counted.
        images: kind of workload to the image of its job containers, where not this version's own.
        parent_image: of the standing process, where not this version's own.
        state, cache: folders.
        generated: no patient is in the data.
    """

    name: str
    org: str
    data: Mapping[str, str]
    role: str = "train"
    device: str = "cpu"
    gpus: int = 0
    gpu_memory: int = 0
    images: Mapping[str, str] = field(default_factory=dict)
    parent_image: str = ""
    state: str = "state"
    cache: str = "cache"
    generated: bool = False


def new_site_texts(site: NewSite) -> dict[str, str]:
    """Each file's name and text.

    Raises:
        WardroundError: a kind of data has no section to start with.
    """
    return {
        "site.yaml": site_yaml(
            site.name,
            role=site.role,
            device=site.device,
            state=site.state,
            cache=site.cache,
            data=site.data,
            generated=site.generated,
        ),
        "resources.json": site_files.site_resources(site.gpus, site.gpu_memory),
        "authorization.json": site_files.authorization(),
        "privacy.json": site_files.privacy(),
        "study_runtime.yaml": site_files.study_runtime({kind: _mounts(site, kind) for kind in site.data}),
        "docker.yaml": site_files.docker(site.parent_image or site_files.default_image("parent")),
        "participant.yml": _participant(site),
    }


def write_new_site(folder: Path, site: NewSite, *, force: bool = False) -> list[Path]:
    """Writes the folder; what is there already is not replaced unless forced.

    Raises:
        WardroundError: a file is there, or what would be written is not valid; nothing is written then.
    """
    _refuse_unfit(site)
    texts = new_site_texts(site)
    present = [name for name in texts if (folder / name).exists()]
    if present and not force:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{folder}: {', '.join(present)}: there already, and may hold what an admin decided; name another folder, "
            "or replace with --force",
        )
    _check(texts["site.yaml"], folder / "site.yaml")
    for name, text in texts.items():
        write_whole(folder / name, text.encode())
    return [folder / name for name in texts]


def _check(text: str, file: Path) -> None:
    """Reads the text as the file's, which is not there yet."""
    with TemporaryDirectory() as elsewhere:
        draft = Path(elsewhere) / "site.yaml"
        draft.write_text(text, encoding="utf-8")
        try:
            load_site_config(draft)
        except WardroundError as error:
            raise WardroundError(error.code, str(error).replace(str(draft), str(file))) from error


def _refuse_unfit(site: NewSite) -> None:
    """What site.yaml's own rules do not see."""
    for key, text, kind, characters in (
        ("name", site.name, "client", "letters, digits, - and _"),
        ("org", site.org, "org", "letters, digits and _"),
    ):
        if name_check(text, kind)[0] or text.lower() == SERVER_SITE_NAME or len(text) > _LONGEST_NAME:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{key}: {text[:80]!r}: expected {characters}, at most {_LONGEST_NAME} of them, and not "
                f"{SERVER_SITE_NAME!r}; FLARE's certificates take no others",
            )
    unused = sorted(set(site.images) - set(site.data))
    if unused:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"image: {unused[0]}: the site has no data of that kind, it has {', '.join(site.data)}; leave it out",
        )
    if site.gpu_memory and not site.gpus:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"gpu_memory: {site.gpu_memory} GiB of no GPU: say how many with gpus, or leave it out",
        )
    for key, text in (("state", site.state), ("cache", site.cache)):
        if not text.strip():
            raise WardroundError(Reason.CONFIGURATION_INVALID, f"{key}: empty; name a folder, such as {key}")


def _mounts(site: NewSite, kind: str) -> site_files.Mounts:
    section = site_section(kind)
    image = site.images.get(kind) or site_files.default_image(section.IMAGE)
    return site_files.Mounts(image, section.folder_of(site.data[kind]), site.state, site.cache)


def _participant(site: NewSite) -> str:
    head = (
        "# For: nvflare cert request -p participant.yml, which makes the site's key here and asks for its certificate\n"
    )
    entry = {"name": site.name, "type": "client", "org": site.org}
    return head + yaml.safe_dump({"name": PROJECT, "participants": [entry]}, sort_keys=False)
