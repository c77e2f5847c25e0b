"""site.yaml: what a hospital's admin decides about its site. A job cannot override any of it."""

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import validated
from wardround.records.yaml_text import read_settings

_PATH_KEYS = ("folder", "file")  # in a workload's section, these keys and `*_folder`, `*_file` hold paths


class SiteConfig(BaseModel):
    """A whole site.yaml. Paths are absolute once loaded; `data` holds each workload's own section by its kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$", description="as in the certificate")
    role: Literal["train", "evaluate"] = Field("train", description="evaluate: only scored, never trained on")
    synthetic: bool = Field(False, description="generated data: pictures may go into a report, and any quorum will do")
    device: str = Field("cpu", pattern=r"^(cpu|cuda(:\d+)?)$")
    threads: int | None = Field(None, ge=1, description="CPU threads; by default cores divided by sites on the machine")
    state_folder: Path = Field(Path("state"), description="what the site keeps: local entries, case scores, pictures")
    cache_folder: Path = Field(Path("cache"), description="prepared cases; safe to delete")
    data: dict[str, dict[str, Any]] = Field(min_length=1, description="workload kind to its settings at this site")

    _source: Path = PrivateAttr(default=Path("site.yaml"))

    @property
    def source(self) -> Path:
        """The file that this was read from."""
        return self._source

    def section(self, kind: str) -> dict[str, Any]:
        """The settings for one workload.

        Raises:
            WardroundError: this site has no data for that kind of workload.
        """
        if kind not in self.data:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{self.source}: data.{kind}: missing; the study needs it, the file has {', '.join(sorted(self.data))}",
            )
        return self.data[kind]


def load_site_config(file: Path) -> SiteConfig:
    """Reads a site.yaml; relative paths in it start from the file's own folder.

    Raises:
        WardroundError: with one line a fault, naming the file, the key, what was found and what is allowed.
    """
    file = Path(file).absolute()
    settings = read_settings(file, expected="a site.yaml")
    config = validated(SiteConfig, settings, str(file))
    config = config.model_copy(
        update={
            "state_folder": _absolute(config.state_folder, file, "state_folder"),
            "cache_folder": _absolute(config.cache_folder, file, "cache_folder"),
            "data": {kind: _with_absolute_paths(section, file, kind) for kind, section in config.data.items()},
        }
    )
    config._source = file
    return config


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
    """The configuration as YAML with absolute paths, to be read from any folder."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def _with_absolute_paths(section: dict[str, Any], file: Path, kind: str) -> dict[str, Any]:
    return {
        key: str(_absolute(Path(value), file, f"data.{kind}.{key}"))
        if isinstance(value, str) and _holds_path(key)
        else value
        for key, value in section.items()
    }


def _holds_path(key: str) -> bool:
    return key in _PATH_KEYS or key.endswith(tuple(f"_{suffix}" for suffix in _PATH_KEYS))


def _absolute(path: Path, file: Path, key: str) -> Path:
    try:
        return (file.parent / path.expanduser()).resolve()
    except (RuntimeError, ValueError, OSError) as error:  # ~nobody, a null byte, links that go round
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{file}: {key}: {str(path)!r} is no path here: {error}; write it in full"
        ) from error
