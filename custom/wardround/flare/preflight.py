"""`wardround site preflight`: everything that can be known of a site before it is started, in one line each."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from wardround.flare.certificates import check_certificate
from wardround.flare.connection import check_connection
from wardround.flare.installation import Installation, path_fault, read_installation
from wardround.flare.kit import Kit, read_kit
from wardround.flare.kit_files import check_files, check_policy
from wardround.flare.resources_file import read_resources
from wardround.flare.server_port import check_port
from wardround.flare.versions import check_images, check_versions
from wardround.records.reasons import Reason, WardroundError
from wardround.records.site_status import counts_in_words
from wardround.records.study import load_study
from wardround.site.check import Check
from wardround.site.config import SiteConfig, load_site_config
from wardround.site.machine import check_disk, check_gpu, check_memory, check_shared_memory
from wardround.site.processes import available_cores
from wardround.site.shipped_studies import shipped_studies
from wardround.workloads.progress import Progress, unseen

_SHOWN = 3


def preflight(
    kit_folder: Path, studies: Sequence[Path] | None = None, *, progress: Progress = unseen
) -> Iterator[Check]:
    """Looks at certificate, files, policy, versions, images, server, clock, machine and data of a site's kit; of a
    server's, at its port in place of server, GPU and data. Each is given as soon as it is known: data last.

    Args:
        kit_folder: a startup kit.
        studies: whose data to inspect here, each a folder with its job.yaml; by default those below `jobs/`, in the
            folder where this is asked, that are named as the data in site.yaml.
        progress: is told how far reading the data has come.

    Raises:
        WardroundError: the folder is no kit of a server or site, or a study cannot be read.
    """
    kit = read_kit(kit_folder)
    if kit.role == "admin":
        raise WardroundError(Reason.ENVIRONMENT_INVALID, f"{kit_folder}: an admin's kit; expected a site's or server's")
    installation = read_installation(kit.folder)
    yield check_certificate(kit)
    yield check_files(kit, installation)
    if installation:
        yield check_policy(kit)
    yield check_versions(installation)
    yield check_images(kit, installation)
    yield _check_path(kit)
    if kit.role == "server":
        yield check_port(kit)
        yield check_disk(kit.folder)
        yield check_memory()
        return
    yield from check_connection(kit)
    config = _config(kit, installation)
    if isinstance(config, SiteConfig):
        yield check_disk(config.state_folder)
    yield check_memory()
    yield check_shared_memory()
    if isinstance(config, Check):
        yield config
        return
    yield check_gpu(config.device, _gpus(kit))
    yield from _check_data(config, shipped_studies(config) if studies is None else studies, progress)


def host_config(kit: Kit, installation: Installation | None) -> SiteConfig:
    """The site's settings with paths of this machine; a kit for containers has those of its job containers.

    Raises:
        WardroundError: there is none, or it is not valid.
    """
    if kit.in_docker and installation and installation.source:
        return load_site_config(installation.source / "site.yaml")
    return load_site_config(kit.folder / "local" / "site.yaml")


def _config(kit: Kit, installation: Installation | None) -> SiteConfig | Check:
    try:
        return host_config(kit, installation)
    except WardroundError as error:
        return Check("data", "failed", f"site.yaml: {error.code}: {error}")


def _check_path(kit: Kit) -> Check:
    folder = kit.folder.resolve()
    fault = None if kit.in_docker else path_fault(folder)  # in a container it has another path
    return Check("path", "failed", f"{fault}; then install it again") if fault else Check("path", "ok", str(folder))


def _gpus(kit: Kit) -> int:
    try:
        resources = read_resources(kit.folder / "local" / "resources.json")
    except WardroundError:  # the line on the policy tells
        return 0
    return next((one.args.get("num_of_gpus", 0) for one in resources.components if one.id == "resource_manager"), 0)


def _check_data(config: SiteConfig, studies: Sequence[Path], progress: Progress) -> Iterator[Check]:
    from wardround.site.inspection import inspect_site  # loads torch, which a parent's image has not

    if not studies:
        yield Check("data", "skipped", "no study named to inspect it for: --study")
    for folder in studies:
        study = load_study(folder)
        name = f"data for {study.name}"
        try:
            record = inspect_site(study, config, progress=progress, threads=available_cores()).record
        except WardroundError as error:
            yield Check(name, "failed", f"{error.code}: {error}")
            continue
        text = counts_in_words(record.counts, record.left_out)
        if errors := record.found.errors:
            told = [f"{one.kind}: {one.text}" for one in errors[:_SHOWN]]
            more = len(errors) - _SHOWN
            told += [f"{more} more errors"] if more > 0 else []
            text = "; ".join([text, *told]) if record.counts else "; ".join(told)
            yield Check(name, "failed", f"{text}; wardround site inspect tells all")
        else:
            yield Check(name, "warning" if record.found.warnings else "ok", text)
