"""job.yaml: everything that a person decides about a study."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wardround.records.acceptance import Acceptance
from wardround.records.reasons import Reason, WardroundError
from wardround.records.schema_faults import schema_fault
from wardround.records.yaml_text import read_settings, yaml_value

Model = TypeVar("Model", bound=BaseModel)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Algorithm(_Section):
    """How sites train toward one model (`mu` is the correction) and what they share of it (`keep_local`)."""

    kind: Literal["fedavg", "fedprox", "fedbn", "fedprox_fedbn", "local_head"] = Field(
        "fedavg", description="fedprox adds the proximal term; fedbn, local_head: BatchNorm, the last layers stay home"
    )
    mu: float = Field(
        0.0, ge=0, allow_inf_nan=False, description="strength of the proximal term mu/2 ||w - w_global||^2"
    )
    keep_local: Literal["batchnorm", "silobn"] = Field(
        "batchnorm", description="FedBN: BatchNorm layers whole, or only their running statistics"
    )

    @property
    def proximal(self) -> bool:
        """Whether the proximal term is on."""
        return "fedprox" in self.kind

    @property
    def keeps_batchnorm(self) -> bool:
        """Whether BatchNorm entries stay at the site."""
        return "fedbn" in self.kind

    @property
    def keeps_entries(self) -> bool:
        """Whether any entries stay at the site."""
        return self.keeps_batchnorm or self.kind == "local_head"

    @model_validator(mode="after")
    def _mu_does_something(self) -> Self:
        if self.proximal and self.mu == 0:
            raise ValueError(f"algorithm.kind {self.kind} with mu 0 is the same without the proximal term: set mu > 0")
        if not self.proximal and self.mu > 0:
            raise ValueError(f"algorithm.mu {self.mu} does nothing with kind {self.kind}: use fedprox or fedprox_fedbn")
        if self.keep_local != "batchnorm" and not self.keeps_batchnorm:
            raise ValueError(
                f"algorithm.keep_local {self.keep_local} does nothing with kind {self.kind}: use fedbn or fedprox_fedbn"
            )
        return self


class Training(_Section):
    """One site's local training in a round."""

    rounds: int = Field(ge=1, description="of training at the sites and combining at the server")
    local_steps: int | None = Field(None, ge=1, description="optimizer steps a round; or give local_epochs")
    local_epochs: int | None = Field(None, ge=1, description="passes over the training cases a round")
    batch_size: int = Field(2, ge=1, description="cases or rows a step")
    optimizer: Literal["adamw", "sgd"] = Field("adamw", description="made afresh in each round")
    learning_rate: float = Field(gt=0, allow_inf_nan=False, description="in the first round")
    weight_decay: float = Field(0.0, ge=0, allow_inf_nan=False, description="of the optimizer")
    schedule: Literal["cosine", "constant"] = Field("cosine", description="over rounds, to final_fraction of the start")
    final_fraction: float = Field(0.1, gt=0, le=1, description="of the learning rate, in the last round")
    clip_norm: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="a larger gradient is scaled down to this L2 norm; null: never"
    )
    mixed_precision: bool = Field(False, description="autocast on CUDA; slower on a CPU, so ignored there")
    bad_steps_limit: int = Field(5, ge=1, description="non-finite losses in a row that end the site's round")

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if (self.local_steps is None) == (self.local_epochs is None):
            raise ValueError("training: give exactly one of local_steps and local_epochs")
        return self

    def idle(self, device: str) -> list[str]:
        """Settings that do nothing beside the others on this kind of device, one sentence each."""
        found = []
        if self.mixed_precision and device != "cuda":
            found.append(f"training.mixed_precision does nothing on {device}: it is for CUDA")
        if self.schedule == "constant" and self.final_fraction != type(self).model_fields["final_fraction"].default:
            found.append(
                f"training.final_fraction {self.final_fraction} does nothing with schedule constant: use cosine"
            )
        if self.local_steps is not None and self.bad_steps_limit > self.local_steps:
            found.append(
                f"training.bad_steps_limit {self.bad_steps_limit} is never reached in {self.local_steps} local_steps: "
                "a round fails where all of its steps are bad"
            )
        return found


class Aggregation(_Section):
    """How the server weighs and checks contributions."""

    weighting: Literal["patients", "equal", "steps"] = Field(
        "patients", description="a site's weight: its training patients, equal, or its steps"
    )
    norm_limit: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="an update with a larger L2 norm is rejected"
    )


class Evaluation(_Section):
    """When models are scored and which figure chooses the best one."""

    key_metric: str = Field(description="chooses the best round, from validation cases of all training sites")
    key_metric_mode: Literal["max", "min"] = Field("max", description="as the metric means it: min for brier, say")
    evaluate_every: int = Field(1, ge=1, description="rounds between validations; the last model is always scored")
    personalise_steps: int = Field(0, ge=0, description="local fine-tuning steps after the last round; 0 turns it off")
    recalibrate: bool = Field(
        False, description="correct each site's probabilities on its validation cases, if that helps"
    )


class Federation(_Section):
    """Who must answer, and by when (whole seconds: FLARE takes no fractions)."""

    quorum: int = Field(3, ge=1, description="accepted contributions that a round needs")
    round_deadline_seconds: int = Field(3600, ge=1, description="an answer of a round that takes longer is left out")
    grace_period_seconds: int = Field(30, ge=0, description="wait for stragglers once the quorum has answered")
    prepare_deadline_seconds: int = Field(600, ge=1, description="for inspecting the data, before the first round")
    gpus: int = Field(
        0, ge=0, description="GPUs that each site must set aside for the job; 0: whatever its site.yaml says"
    )

    @model_validator(mode="after")
    def _grace_ends_first(self) -> Self:
        grace, deadline = self.grace_period_seconds, self.round_deadline_seconds
        if grace >= deadline:
            raise ValueError(
                f"federation.grace_period_seconds {grace} does nothing with round_deadline_seconds {deadline}, "
                "which comes first: make it shorter, such as 0"
            )
        return self


class Study(_Section):
    """A whole job.yaml. `workload` holds `kind` and that workload's own settings, which it validates itself."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{1,40}$", description="the study's, in records, reports and FLARE")
    seed: int = Field(0, ge=0, description="another one is another replicate; the same repeats the run")
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
        return _digest(self.model_dump(mode="json"))

    def lasting_digest(self) -> str:
        """SHA-256 of what a run keeps for its whole life: all but `federation`, which says who must answer by when."""
        return _digest(self.model_dump(mode="json", exclude={"federation"}))


def _digest(settings: dict[str, Any]) -> str:
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
    return validated(Study, settings, str(file))


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


def validated(model: type[Model], settings: Any, where: str) -> Model:
    """Builds `model` from parsed YAML, with pydantic's faults told one a line under the file's name."""
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        faults = [schema_fault(model, one, where) for one in error.errors()]
        raise WardroundError(Reason.CONFIGURATION_INVALID, *faults) from error


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
