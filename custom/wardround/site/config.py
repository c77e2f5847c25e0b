"""site.yaml: what a hospital's admin decides about its site. A job cannot override any of it."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import Field, PrivateAttr, model_validator

from wardround.records.changed import changed
from wardround.records.declared import DeclaredData, declared_in
from wardround.records.disclosure import Disclosure
from wardround.records.reasons import Reason, WardroundError
from wardround.records.schema_faults import validated
from wardround.records.section import SAID_OR_LEFT_OUT, Section
from wardround.records.update import Nature
from wardround.records.yaml_text import read_settings
from wardround.site.windows import TrainingWindows

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PATH_KEYS = ("folder", "file")  # in a workload's section, these keys and `*_folder`, `*_file` hold paths
_TABLE_WORDS = ("codes", "rows")  # whose keys are the table's own words: any text or number, never a path's key


class SiteConfig(Section):
    """A whole site.yaml. Paths are absolute once loaded; `data` holds each workload's own section by its kind."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$", description="as in the certificate")
    role: Literal["train", "evaluate"] = Field("train", description="evaluate: only scored, never trained on")
    synthetic: bool = Field(False, description="generated data: pictures may go into a report, and any quorum will do")
    pseudo_site: bool = Field(False, description="a part of a public data set that stands for a hospital")
    public_data: bool = Field(
        False, description="a hospital's published data set: its patients need not be asked again"
    )
    device: str = Field("cpu", pattern=r"^(cpu|cuda(:\d+)?)$", description="where the network runs")
    threads: int | None = Field(None, ge=1, description="CPU threads; by default cores divided by sites on the machine")
    state_folder: Path = Field(Path("state"), description="what the site keeps: local entries, case scores, pictures")
    cache_folder: Path = Field(Path("cache"), description="prepared cases; safe to delete")
    disclosure: Disclosure = Disclosure()
    training_windows: Annotated[TrainingWindows | None, SAID_OR_LEFT_OUT] = Field(
        None, description="when the site trains; by default at any time"
    )
    data: dict[str, dict[str, Any]] = Field(
        min_length=1, description="workload kind, or a study's name where two share one kind, to its settings here"
    )

    _source: Path = PrivateAttr(default=Path("site.yaml"))

    @model_validator(mode="after")
    def _of_one_nature(self) -> Self:
        if self.synthetic and self.pseudo_site:
            raise ValueError(
                "synthetic and pseudo_site are both true: generated data is no part of a public data set; keep one"
            )
        if self.synthetic and self.public_data:
            raise ValueError(
                "synthetic and public_data are both true: generated data is no hospital's data set; keep one"
            )
        return self

    @property
    def source(self) -> Path:
        """The file that this was read from."""
        return self._source

    @property
    def nature(self) -> Nature:
        """What stands behind the site's data."""
        return "generated" if self.synthetic else "pseudo_site" if self.pseudo_site else "hospital"

    def section(self, kind: str, study: str = "") -> dict[str, Any]:
        """The settings for one study: its own where `data` names it, otherwise its workload's.

        Raises:
            WardroundError: this site has no data for that kind of workload.
        """
        key = self._key(kind, study)
        if key not in self.data:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{self.source}: data.{kind}: missing; the study needs it, the file has {', '.join(sorted(self.data))}",
            )
        return self.data[key]

    def section_name(self, kind: str, study: str = "") -> str:
        """Where `section` found the settings, such as `site.yaml: data.readmission`, for messages on them."""
        return f"{self.source.name}: data.{self._key(kind, study)}"

    def paths(self, kind: str, study: str = "") -> list[tuple[str, Path]]:
        """Keys and paths of the section for one study; see `section`."""
        return list(_paths_in(self.section(kind, study), f"data.{self._key(kind, study)}"))

    def declared(self, kind: str, study: str = "") -> DeclaredData:
        """What the section for one study declares of its data; see `section`."""
        return declared_in(self.section(kind, study))

    def _key(self, kind: str, study: str) -> str:
        return study if study in self.data else kind


def load_site_config(file: Path) -> SiteConfig:
    """Reads a site.yaml; relative paths in it start from the file's own folder.

    Raises:
        WardroundError: with one line a fault, naming the file, the key, what was found and what is allowed.
    """
    file = Path(file).absolute()
    settings = read_settings(file, expected="a site.yaml")
    config = validated(SiteConfig, settings, str(file))
    config = changed(
        config,
        state_folder=_resolved(str(config.state_folder), file, "state_folder"),
        cache_folder=_resolved(str(config.cache_folder), file, "cache_folder"),
        data={kind: _with_absolute_paths(section, file, f"data.{kind}") for kind, section in config.data.items()},
    )
    config._source = file
    if config.state_folder == config.cache_folder or config.cache_folder in config.state_folder.parents:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{file}: state_folder: {config.state_folder} lies in cache_folder {config.cache_folder}, which is safe to "
            "delete, while the site's own network entries are not: keep them apart",
        )
    _keep_apart_from_data(config)
    return config


def _keep_apart_from_data(config: SiteConfig) -> None:
    """The cache is there to be deleted, so it holds nothing of the hospital's; the state is no part of its data.

    Raises:
        WardroundError: a folder is a folder of data, or the cache holds one, or this very file.
    """
    own = [("this file", config.source), *_paths_in(config.data, "data")]
    for key, path in own:
        if config.cache_folder == path or config.cache_folder in path.parents:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{config.source}: cache_folder: {config.cache_folder} holds {key} {path}, while a cache is safe to "
                "delete: name a folder of its own",
            )
        if config.state_folder == path:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{config.source}: state_folder: {config.state_folder} is {key} too: name a folder of its own",
            )


def _paths_in(section: Mapping[Any, Any], where: str) -> Iterator[tuple[str, Path]]:
    """Paths of a section and of the sections in it, with their keys; see `_with_absolute_paths`."""
    for key, value in section.items():
        if isinstance(value, dict) and key not in _TABLE_WORDS:
            yield from _paths_in(value, f"{where}.{key}")
        elif isinstance(value, str) and _holds_path(key):
            yield f"{where}.{key}", Path(value)


def find_site_config(local_folder: Path, site_name: str) -> Path:
    """The site's file in a FLARE workspace's `local/` folder.

    `site.<name>.yaml` comes first, because FLARE's simulator gives every site the same `local/`; then `site.yaml`.

    Raises:
        WardroundError: neither exists.
    """
    candidates = [local_folder / f"site.{site_name}.yaml", local_folder / "site.yaml"]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise WardroundError(
        Reason.CONFIGURATION_INVALID,
        f"{local_folder}: found neither {candidates[0].name} nor {candidates[1].name}; "
        "put the site's configuration there",
    )


def resolved_yaml(config: SiteConfig) -> str:
    """The configuration as YAML with absolute paths, to be read from any folder; what it does not say stays unsaid."""
    said = config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return yaml.safe_dump(said, sort_keys=False, allow_unicode=True)


def _with_absolute_paths(section: dict[Any, Any], file: Path, where: str) -> dict[Any, Any]:
    """Paths of a section and of the sections in it; `${NAME}` in one stands for an environment variable."""
    resolved: dict[Any, Any] = {}
    for key, value in section.items():
        if isinstance(value, dict) and key not in _TABLE_WORDS:
            resolved[key] = _with_absolute_paths(value, file, f"{where}.{key}")
        elif isinstance(value, str) and _holds_path(key):
            resolved[key] = str(_resolved(value, file, f"{where}.{key}"))
        else:
            resolved[key] = value
    return resolved


def _resolved(value: str, file: Path, key: str) -> Path:
    return _absolute(Path(_expanded(value, file, key)), file, key)


def _expanded(value: str, file: Path, key: str) -> str:
    unset = [name for name in _VARIABLE.findall(value) if name not in os.environ]
    if unset:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{file}: {key}: {value!r} needs the environment variable {unset[0]}, which is not set; "
            "set it, or write the path in full",
        )
    return _VARIABLE.sub(lambda match: os.environ[match.group(1)], value)


def _holds_path(key: object) -> bool:
    if not isinstance(key, str):  # YAML reads an unquoted 1, no or 2024-01-01 as another type
        return False
    return key in _PATH_KEYS or key.endswith(tuple(f"_{suffix}" for suffix in _PATH_KEYS))


def _absolute(path: Path, file: Path, key: str) -> Path:
    try:
        return (file.parent / path.expanduser()).resolve()
    except (RuntimeError, ValueError, OSError) as error:  # ~nobody, a null byte, links that go round
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{file}: {key}: {str(path)!r} is no path here: {error}; write it in full"
        ) from error
