"""A workload of a few hundred numbers: bright pixels are to be found in small noisy images."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from wardround.records.disclosure import DEFAULT_RULES, Disclosure
from wardround.records.metric_record import MetricRecord
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import CaseScore, Scores
from wardround.records.study import Study
from wardround.workloads.workload import Batch, SiteData, Workload

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


class FakeNetwork(nn.Module):
    def __init__(self, norm: str = "batch", dropout: float = 0.0) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.norm: nn.Module = nn.BatchNorm2d(4) if norm == "batch" else nn.Identity()
        self.drop = nn.Dropout(dropout)
        self.last = nn.Conv2d(4, 1, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.last(self.drop(torch.relu(self.norm(self.first(inputs)))))


class FakeData(SiteData):
    """`gain` and `offset` stand for a scanner. Step numbers in `bad` give inputs that are NaN."""

    def __init__(self, seed: int, *, cases: int = 6, gain: float = 1.0, offset: float = 0.0) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.bad: set[int] = set()
        self.splits = {}
        for split in ("train", "validation", "test"):
            labels = (torch.rand(cases, 1, SIDE, SIDE, generator=generator) < 0.3).float()
            images = gain * (labels + 0.4 * torch.randn(labels.shape, generator=generator)) + offset
            self.splits[split] = (images, labels)

    @property
    def counts(self) -> dict[str, int]:
        cases = {f"{split}_cases": len(images) for split, (images, _) in self.splits.items()}
        return {"train_patients": len(self.splits["train"][0]), **cases}

    @property
    def problems(self) -> list[WardroundError]:
        return [WardroundError(Reason.DATA_UNREADABLE, "one.nii.gz: empty")]

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

    def score(self, network: nn.Module, split: str, *, detail: bool = False) -> Scores:
        images, labels = self.splits[split]
        network.eval()
        with torch.no_grad():
            right = ((network(images) > 0) == labels.bool()).flatten(1).float().mean(1).tolist()
        cases = [CaseScore(case=f"{split}-{i}", patient=f"p{i}", values={"accuracy": v}) for i, v in enumerate(right)]
        record = MetricRecord(name="accuracy", value=sum(right) / len(right), n=len(right))
        return Scores(split=split, records=[record], cases=cases)


class PooledFakeData(FakeData):
    def __init__(self, sites: Sequence[SiteData]) -> None:
        self.bad = set()
        parts = [site.splits["train"] for site in sites if isinstance(site, FakeData)]
        self.splits = {"train": (torch.cat([i for i, _ in parts]), torch.cat([labels for _, labels in parts]))}

    def score(self, network: nn.Module, split: str, *, detail: bool = False) -> Scores:
        raise AssertionError("pooled data is not scored")


class FakeWorkload(Workload):
    def __init__(self, norm: str = "batch", dropout: float = 0.0) -> None:
        self.norm, self.dropout = norm, dropout

    def network(self) -> nn.Module:
        return FakeNetwork(self.norm, self.dropout)

    def loss(self) -> nn.Module:
        return nn.BCEWithLogitsLoss()

    def metric_names(self) -> tuple[str, ...]:
        return ("accuracy",)

    def contract_digest(self) -> str:
        return "fake"

    def open_site(
        self, data: dict[str, Any], *, folder: Path, cache: Path, disclosure: Disclosure = DEFAULT_RULES
    ) -> SiteData:
        return FakeData(**data)

    def pool(self, sites: Sequence[SiteData]) -> SiteData:
        return PooledFakeData(sites)
