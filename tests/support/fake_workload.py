"""A workload of a few hundred numbers: bright pixels are to be found in small noisy images."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from wardround.records.alerts import AlertRow
from wardround.records.declared import DeclaredData
from wardround.records.disclosure import DEFAULT_RULES, Disclosure
from wardround.records.faults import fault
from wardround.records.inspection import Finding, Findings, Severity
from wardround.records.metric_record import MetricRecord, undefined
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import CaseScore, Cohort, Scores, Tally
from wardround.records.study import Study
from wardround.workloads.progress import Progress, unseen
from wardround.workloads.site_data import Batch, SiteData
from wardround.workloads.words import Words
from wardround.workloads.workload import Workload

SIDE = 8


def make_study(**changes: Any) -> Study:
    """A study; `training__rounds=4` changes training.rounds."""
    settings: dict[str, Any] = {
        "name": "fake_study",
        "workload": {"kind": "fake"},
        "algorithm": {"kind": "fedavg"},
        "training": {"rounds": 3, "local_steps": 4, "learning_rate": 0.05},
        "evaluation": {"key_metric": "accuracy"},
    }
    for key, value in changes.items():
        section, _, name = key.partition("__")
        if name:
            settings[section][name] = value
        else:
            settings[section] = value
    return Study.model_validate(settings)


class Scaling(nn.Module):
    """(x - mean) / scale, with both from the sites' sums."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))
        self.register_buffer("scale", torch.ones(1))

    def forward(self, inputs: Tensor) -> Tensor:
        return (inputs - self.mean) / self.scale


class Shifted(nn.Module):
    """A network with its logits moved: the fake recalibration."""

    def __init__(self, network: nn.Module, shift: float) -> None:
        super().__init__()
        self.network, self.shift = network, shift

    def forward(self, inputs: Tensor) -> Tensor:
        return self.network(inputs) + self.shift


class FakeNetwork(nn.Module):
    def __init__(self, norm: str = "batch", dropout: float = 0.0, scaled: bool = False) -> None:
        super().__init__()
        self.scaling: nn.Module = Scaling() if scaled else nn.Identity()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.norm: nn.Module = nn.BatchNorm2d(4) if norm == "batch" else nn.Identity()
        self.drop = nn.Dropout(dropout)
        self.last = nn.Conv2d(4, 1, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.last(self.drop(torch.relu(self.norm(self.first(self.scaling(inputs))))))


class FakeData(SiteData):
    """`gain` and `offset` stand for a scanner. Step numbers in `bad` give inputs that are NaN.

    With `one_class` no pixel is bright, and `balance` is undefined. A `shift` is what recalibration adds to logits.
    """

    def __init__(
        self,
        seed: int,
        *,
        cases: int = 6,
        gain: float = 1.0,
        offset: float = 0.0,
        one_class: bool = False,
        shift: float | None = None,
    ) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.bad: set[int] = set()
        self.shift = shift
        self.patients = f"{seed}-"
        self.splits = {}
        for split in ("train", "validation", "test"):
            labels = (torch.rand(cases, 1, SIDE, SIDE, generator=generator) < (0.0 if one_class else 0.3)).float()
            images = gain * (labels + 0.4 * torch.randn(labels.shape, generator=generator)) + offset
            self.splits[split] = (images, labels)

    @property
    def counts(self) -> dict[str, int]:
        cases = {f"{split}_cases": len(images) for split, (images, _) in self.splits.items()}
        return {"train_patients": len(self.splits["train"][0]), **cases}

    def _cases_by_split(self) -> Iterator[tuple[str, str, str]]:
        for split, (images, _) in self.splits.items():
            yield from ((split, f"{self.patients}{i}", f"{split}-{i}") for i in range(len(images)))

    @property
    def findings(self) -> Findings:
        told = fault("empty", file="one.nii.gz", advice="left out: copy it again")
        return Findings([Finding.of(Severity.WARNING, Reason.DATA_UNREADABLE, told)])

    def steps_per_epoch(self, batch_size: int) -> int:
        return -(-len(self.splits["train"][0]) // batch_size)

    def batches(self, batch_size: int, generator: torch.Generator) -> Iterator[Batch]:
        images, labels = self.splits["train"]
        step = 0
        while True:
            chosen = torch.randint(len(images), (batch_size,), generator=generator)
            step += 1
            yield images[chosen] * (float("nan") if step in self.bad else 1.0), labels[chosen]

    def unlabelled(self, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
        yield from self.splits["train"][0].split(batch_size)

    def statistics(self) -> list[Tally]:
        images = self.splits["train"][0]
        counts = {"sum": float(images.sum()), "sum_of_squares": float(images.square().sum()), "pixels": images.numel()}
        return [Tally(name="pixels", counts=counts, n=len(images), support=len(images))]

    def recalibrate(self, network: nn.Module) -> nn.Module | None:
        return None if self.shift is None else Shifted(network, self.shift)

    def score(self, network: nn.Module, split: str, *, detail: bool = False) -> Scores:
        images, labels = self.splits[split]
        network.eval()
        with torch.no_grad():
            right = ((network(images) > 0) == labels.bool()).flatten(1).float().mean(1).tolist()
        cases = [CaseScore(case=f"{split}-{i}", patient=f"p{i}", values={"accuracy": v}) for i, v in enumerate(right)]
        record = MetricRecord(name="accuracy", value=sum(right) / len(right), n=len(right), support=len(right))
        records = [record]
        if detail:
            spread = float(labels.mean() * (1 - labels.mean()))
            records.append(
                MetricRecord(name="balance", value=spread, n=len(right), support=len(right))
                if spread
                else undefined("balance", "one_class")
            )
        alerts = [AlertRow(goal="ppv", target=0.5, threshold=0.5, records=[record])]
        cohort = Cohort(name="sex", value="female", records=[record])
        return Scores(split=split, records=records, cases=cases, cohorts=[cohort], alerts=alerts)


class PooledFakeData(FakeData):
    def __init__(self, sites: Sequence[SiteData]) -> None:
        self.bad = set()
        self.shift = None
        self.patients = "pooled-"
        parts = [site.splits["train"] for site in sites if isinstance(site, FakeData)]
        self.splits = {"train": (torch.cat([i for i, _ in parts]), torch.cat([labels for _, labels in parts]))}

    def score(self, network: nn.Module, split: str, *, detail: bool = False) -> Scores:
        raise AssertionError("pooled data is not scored")


WORDS = Words(
    figures=frozenset({"accuracy", "balance", "brier"}),
    sums={"pixels": "sum|sum_of_squares|pixels"},
    cohorts={"sex": frozenset({"female", "male"})},
)


class FakeWorkload(Workload):
    def __init__(
        self, norm: str = "batch", dropout: float = 0.0, *, scaled: bool = False, has_reference: bool = False
    ) -> None:
        self.norm, self.dropout, self.scaled, self.has_reference = norm, dropout, scaled, has_reference

    def network(self) -> nn.Module:
        return FakeNetwork(self.norm, self.dropout, self.scaled)

    def head(self, network: nn.Module) -> tuple[str, ...]:
        return ("last.weight", "last.bias")

    def initial_entries(self, statistics: Sequence[Tally]) -> dict[str, Tensor]:
        if not self.scaled or not statistics:
            return {}
        counts = statistics[0].counts
        mean = counts["sum"] / counts["pixels"]
        scale = (counts["sum_of_squares"] / counts["pixels"] - mean**2) ** 0.5
        return {"scaling.mean": torch.tensor([mean]), "scaling.scale": torch.tensor([scale])}

    def check_statistics(self, tallies: Sequence[Tally], counts: Mapping[str, int]) -> None:
        for tally in tallies:
            if tally.name != "pixels" or set(tally.counts) != {"sum", "sum_of_squares", "pixels"}:
                raise WardroundError(Reason.COUNT_INVALID, f"statistics: {tally.name} is no sum over pixels")
            if tally.counts["pixels"] != SIDE * SIDE * counts["train_cases"]:
                raise WardroundError(Reason.COUNT_INVALID, f"statistics: {tally.name} is over too many or few")

    def reference(self, data: SiteData) -> nn.Module | None:
        """Bright where above the mean; None where training cases are of one class."""
        assert isinstance(data, FakeData)
        images, labels = data.splits["train"]
        if not labels.any():
            return None
        simple = nn.Conv2d(1, 1, 1)
        nn.init.ones_(simple.weight)
        nn.init.constant_(simple.bias, -float(images.mean()))
        return simple

    def loss(self) -> nn.Module:
        return nn.BCEWithLogitsLoss()

    def metric_names(self) -> tuple[str, ...]:
        return ("accuracy",)

    def contract_digest(self) -> str:
        return "fake"

    def open_site(
        self,
        data: dict[str, Any],
        *,
        cache: Path,
        disclosure: Disclosure = DEFAULT_RULES,
        where: str = "",
        progress: Progress = unseen,
        threads: int = 1,
    ) -> SiteData:
        settings = dict(data)
        if settings.pop("contract", "fake") != "fake":
            raise WardroundError(Reason.CONTRACT_MISMATCH, "contract_file: column age has another unit")
        for declared in DeclaredData.model_fields:
            settings.pop(declared, None)
        return FakeData(**settings)

    def last_metric_names(self) -> tuple[str, ...]:
        return ("balance",)

    def pool(self, sites: Sequence[SiteData]) -> SiteData:
        return PooledFakeData(sites)
