"""job.yaml: everything that a person decides about a study."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from wardround.records.acceptance import Acceptance
from wardround.records.reasons import Reason, WardroundError
from wardround.records.schema_faults import validated
from wardround.records.section import Section
from wardround.records.study_sections import Aggregation, Algorithm, Evaluation, Federation, Training
from wardround.records.yaml_text import read_settings, yaml_value

STUDY_NAME = r"^[a-z][a-z0-9_]{1,40}$"


class Study(Section):
    """A whole job.yaml. `workload` holds `kind` and that workload's own settings, which it validates itself."""

    name: str = Field(pattern=STUDY_NAME, description="the study's, in records, reports and FLARE")
    seed: int = Field(
        0, ge=0, description="another one is another replicate; the same repeats the run of a study of this name"
    )
    workload: dict[str, Any] = Field(description="kind, such as brain_tumor, and that kind's own keys")
    algorithm: Algorithm = Algorithm()
    training: Training
    aggregation: Aggregation = Aggregation()
    evaluation: Evaluation
    federation: Federation = Federation()
    acceptance: Acceptance = Acceptance()

    @model_validator(mode="after")
    def _names_a_workload(self) -> Self:
        if not isinstance(self.workload.get("kind"), str):
            raise ValueError("workload.kind: name the workload, such as brain_tumor")
        return self

    def digest(self) -> str:
        """SHA-256 of the settings: equal for equal studies, whatever the order of keys in the file."""
        return settings_digest(self.model_dump(mode="json"))

    def lasting_digest(self) -> str:
        """SHA-256 of what a run keeps for its whole life: all but `federation`, which says who must answer by when."""
        return settings_digest(self.model_dump(mode="json", exclude={"federation"}))


def refuse_other_name(study: str) -> None:
    """Refuses what can be no study's name, before a path is made of it.

    Raises:
        WardroundError: with what a name is made of.
    """
    if not re.fullmatch(STUDY_NAME, study) or study.endswith("\n"):
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{study!r}: expected a study's name as in its job.yaml: a lower-case letter, then 1 to 40 lower-case "
            "letters, digits and '_'",
        )


def settings_digest(settings: dict[str, Any]) -> str:
    """SHA-256 of a study's settings as a record, a checkpoint or a manifest holds them; see `Study.digest`."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def check_key_metric(study: Study, names: Sequence[str], who: str, *, last: Sequence[str] = ()) -> None:
    """Refuses a key metric that will never be reported, before anything is trained.

    Args:
        names: the metrics that there are.
        who: reports them.
        last: the metrics that are measured after the last round alone, which cannot choose among rounds.

    Raises:
        WardroundError: with these names.
    """
    key = study.evaluation.key_metric
    if key in names:
        return
    if (late := key if key in last else _late_family(key, names, last)) is not None:
        raise WardroundError(
            Reason.METRIC_UNKNOWN,
            f"evaluation.key_metric {key!r}: {late} is computed only after the last round, being too slow for each, "
            f"so it cannot choose the best; choose one of {', '.join(names)}",
        )
    raise WardroundError(
        Reason.METRIC_UNKNOWN,
        f"evaluation.key_metric {key!r} is not reported by {who}, which reports: {', '.join(names)}",
    )


def _late_family(key: str, names: Sequence[str], last: Sequence[str]) -> str | None:
    """`hd95` for hd95 or hd95_mean, where the late metrics hold hd95_wt; never a family that rounds report too."""
    families = {name.rpartition("_")[0] for name in last} - {""}
    alike = [f for f in families if not any(name == f or name.startswith(f"{f}_") for name in names)]
    return next((family for family in sorted(alike) if key == family or key.startswith(f"{family}_")), None)


def load_study(path: Path, overrides: tuple[str, ...] = ()) -> Study:
    """Reads job.yaml (a file, or a folder that holds one) and applies `key.path=value` overrides.

    Raises:
        WardroundError: with one line a fault, naming the key, what was found and what is allowed.
    """
    file = path / "job.yaml" if path.is_dir() else path
    settings = read_settings(file, expected="a folder with a job.yaml")
    for override in overrides:
        _apply(settings, override)
    _read_named_files(settings, file)
    given = " ".join(f"--set {one}" for one in overrides)
    return validated(Study, settings, f"{file} with {given}" if given else str(file))


def override(study: Study, overrides: tuple[str, ...]) -> Study:
    """A study with `key.path=value` overrides applied.

    Raises:
        WardroundError: as `load_study`.
    """
    settings = study.model_dump(mode="json")
    for one in overrides:
        _apply(settings, one)
    return validated(Study, settings, "--set")


def _read_named_files(settings: dict[str, Any], file: Path) -> None:
    """A setting of the workload that ends in .yaml names a file beside job.yaml; its content takes the name's place.

    So a study is one thing, whose digest covers its data contract, say, wherever it is sent.
    """
    workload = settings.get("workload")
    if not isinstance(workload, dict):
        return
    for key, name in workload.items():
        if isinstance(name, str) and name.endswith((".yaml", ".yml")):
            if Path(name).name != name:  # a job that comes from a server must not choose among a site's files
                raise WardroundError(
                    Reason.CONFIGURATION_INVALID,
                    f"{file}: workload.{key}: {name}: expected the bare name of a file beside job.yaml, found a path",
                )
            workload[key] = read_settings(file.parent / name, expected=f"workload.{key}, a file beside job.yaml")


def _apply(settings: dict[str, Any], override: str) -> None:
    path, separator, text = override.partition("=")
    *parents, key = path.strip().split(".")
    if not separator or not key:
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"--set {override}: expected key.path=value")
    section = settings
    for parent in parents:
        section = section.setdefault(parent, {})
        if not isinstance(section, dict):
            raise WardroundError(Reason.CONFIGURATION_INVALID, f"--set {override}: {parent} is a value, not a section")
    section[key] = yaml_value(text, f"--set {override}")
