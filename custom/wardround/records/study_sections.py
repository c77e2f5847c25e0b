"""The sections of job.yaml that every kind of workload has."""

from typing import Literal, Self

from pydantic import Field, model_validator

from wardround.records.section import Section


class Algorithm(Section):
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


class Training(Section):
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


class Aggregation(Section):
    """How the server weighs and checks contributions."""

    weighting: Literal["patients", "equal", "steps"] = Field(
        "patients", description="a site's weight: its training patients, equal, or its steps"
    )
    norm_limit: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="an update with a larger L2 norm is rejected"
    )
    norm_ratio_limit: float | None = Field(
        100.0,
        gt=1,
        allow_inf_nan=False,
        description="so is one whose norm is so many times the median of the round's; null: never",
    )


class Evaluation(Section):
    """When models are scored and which figure chooses the best one."""

    key_metric: str = Field(description="chooses the best round, from validation cases of all training sites")
    key_metric_mode: Literal["max", "min"] = Field("max", description="as the metric means it: min for brier, say")
    evaluate_every: int = Field(1, ge=1, description="rounds between validations; the last model is always scored")
    personalise_steps: int = Field(0, ge=0, description="local fine-tuning steps after the last round; 0 turns it off")
    compare_alone: bool = Field(
        False,
        description="after the last round each training site trains a model of its own as well, which takes it as long "
        "as all rounds, and says how the best one compares; where data cannot be pooled, unlike --baselines",
    )
    recalibrate: bool = Field(
        False, description="correct each site's probabilities on its validation cases, if that helps"
    )


class Federation(Section):
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
