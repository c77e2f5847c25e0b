"""A hospital's brain-tumor cases: found, checked, prepared once, split by patient."""

import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Scores
from wardround.workloads.brain_tumor.augment import plain_batch
from wardround.workloads.brain_tumor.batches import training_batches
from wardround.workloads.brain_tumor.case_cache import CaseCache
from wardround.workloads.brain_tumor.declaration import refuse_other_images
from wardround.workloads.brain_tumor.layouts import CaseFiles, find_cases
from wardround.workloads.brain_tumor.prepared import PreparedCase
from wardround.workloads.brain_tumor.preprocess import prepare
from wardround.workloads.brain_tumor.scoring import score_cases
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.brain_tumor.split import split_patients
from wardround.workloads.split import SPLITS
from wardround.workloads.workload import Batch, SiteData

UNLABELLED_CROPS = 8  # crops of each volume in one pass: BatchNorm statistics settle within some dozens of crops

_log = logging.getLogger(__name__)
_PROGRESS_SECONDS = 5.0


class BrainTumorSiteData(SiteData):
    """Cases of one site.

    Args:
        settings: the study's.
        cases: labelled cases by split.
        unlabelled: training volumes that have no label.
        problems: what was left out.
        unlisted: patients that the site's explicit lists leave out.
    """

    def __init__(
        self,
        settings: BrainTumorSettings,
        cases: dict[str, list[PreparedCase]],
        *,
        unlabelled: Sequence[PreparedCase] = (),
        problems: Sequence[WardroundError] = (),
        unlisted: int = 0,
    ) -> None:
        self.settings = settings
        self.unlabelled_cases = list(unlabelled)
        self._cases = {split: list(cases.get(split, ())) for split in SPLITS}
        self._problems = list(problems)
        self._unlisted = unlisted

    def cases(self, split: str) -> Sequence[PreparedCase]:
        """The labelled cases of `train`, `validation` or `test`."""
        return self._cases[split]

    @property
    def counts(self) -> dict[str, int]:
        """Patients and cases by split, cases without a label or with a missing sequence, files left out."""
        counts: dict[str, int] = {}
        for split, cases in self._cases.items():
            counts[f"{split}_patients"] = len({case.patient for case in cases})
            counts[f"{split}_cases"] = len(cases)
        used = [case for cases in self._cases.values() for case in cases] + self.unlabelled_cases
        counts["unlabelled_cases"] = len(self.unlabelled_cases)
        counts["unlisted_patients"] = self._unlisted
        counts["cases_with_missing_sequence"] = sum(bool(case.missing) for case in used)
        counts["left_out"] = len(self._problems)
        return counts

    @property
    def problems(self) -> list[WardroundError]:
        """One for each case left out, naming the file."""
        return list(self._problems)

    @property
    def doubts(self) -> list[WardroundError]:
        """A split in which no label marks a tumor: nothing can be learned there, or no figure is defined."""
        return [
            WardroundError(
                Reason.MASK_INVALID,
                f"{split}: all of its {len(cases)} labels are empty, so there is no tumor to find; "
                "check what the annotators exported",
            )
            for split, cases in self._cases.items()
            if cases and not any(len(case.foreground) for case in cases)
        ]

    def steps_per_epoch(self, batch_size: int) -> int:
        """Batches that visit each training case once."""
        return -(-len(self._training_cases()) // batch_size)

    def batches(self, batch_size: int, generator: torch.Generator) -> Iterator[Batch]:
        """Endless augmented crops, a function of the generator's seed alone."""
        cases = self._training_cases()
        yield from training_batches(cases, self.settings.patch, self.settings.augmentation, batch_size, generator)

    def unlabelled(self, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
        """Crops of images, labels left alone: `UNLABELLED_CROPS` of each volume.

        Of the train split and of cases without a label; of all cases where a site has neither, as an outside hospital
        whose cases are all for testing: it sees how its scanner images look, and nothing of what is asked for.
        """
        volumes = self._unscored() or [case for cases in self._cases.values() for case in cases]
        if not volumes:
            raise WardroundError(Reason.TOO_FEW_CASES, "no volume to re-measure statistics on; see `split`")
        for _ in range(UNLABELLED_CROPS):
            order = torch.randperm(len(volumes), generator=generator).tolist()
            for first in range(0, len(order), batch_size):
                chosen = [volumes[index] for index in order[first : first + batch_size]]
                yield plain_batch(chosen, self.settings.patch.size, generator)

    @property
    def has_unlabelled(self) -> bool:
        """Whether there are images that no score is about."""
        return bool(self._unscored())

    def score(self, network: nn.Module, split: str, *, detail: bool = False) -> Scores:
        """Scores a network on the cases of `validation` or `test`; without a case, every figure is undefined."""
        return score_cases(network, self._cases[split], split, self.settings, detail=detail)

    def recalibrate(self, network: nn.Module) -> nn.Module | None:
        """One slope and offset a region, fitted on validation voxels; None where that helps nowhere."""
        from wardround.workloads.brain_tumor.recalibrate import recalibrate  # loads scikit-learn, which few runs need

        return recalibrate(network, self._cases["validation"], self.settings)

    def draw(self, network: nn.Module, split: str, folder: Path, *, count: int = 1) -> list[Path]:
        """Sequences, label and prediction of `count` cases of a split, as PNG files."""
        from wardround.workloads.brain_tumor.pictures import draw_cases

        return draw_cases(network, self._cases[split], self.settings, folder, count=count)

    def _unscored(self) -> list[PreparedCase]:
        return [*self._cases["train"], *self.unlabelled_cases]

    def _training_cases(self) -> list[PreparedCase]:
        if not self._cases["train"]:
            raise WardroundError(Reason.TOO_FEW_CASES, "the train split has no labelled case; see `split`")
        return self._cases["train"]


class PooledSiteData(BrainTumorSiteData):
    """All sites' training cases as one, for the pooled baseline. It does not score: each site scores its own."""

    def __init__(self, sites: Sequence[SiteData]) -> None:
        opened = [site for site in sites if isinstance(site, BrainTumorSiteData)]
        if not opened or len(opened) < len(sites):
            raise WardroundError(Reason.CONFIGURATION_INVALID, "pooling needs sites, all opened by this workload")
        super().__init__(
            opened[0].settings,
            {"train": [case for site in opened for case in site.cases("train")]},
            unlabelled=[case for site in opened for case in site.unlabelled_cases],
            problems=[problem for site in opened for problem in site.problems],
        )
        # Two hospitals may use the same patient id; they are still two patients.
        self._patients = sum(site.counts["train_patients"] for site in opened)

    @property
    def counts(self) -> dict[str, int]:
        """As for one site, with patients counted by site."""
        return super().counts | {"train_patients": self._patients}

    def score(self, network: nn.Module, split: str, *, detail: bool = False) -> Scores:  # noqa: ARG002
        """Always raises: a pooled figure would hide which site it is about."""
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"pooled data has no {split} split: score at each site")


def open_site_data(settings: BrainTumorSettings, site: BrainTumorSiteSettings, *, cache: Path) -> BrainTumorSiteData:
    """Finds, checks and prepares a site's cases; what is prepared already comes from the cache.

    A case that cannot be used is left out and told in `problems`; its patient keeps its place in the split, so that
    one broken file does not move others between splits.

    Raises:
        WardroundError: the settings contradict themselves, or no case at all is usable.
    """
    started = time.monotonic()
    refuse_other_images(settings.contract, site)
    store = CaseCache(cache / "brain_tumor")
    found = find_cases(site, settings.contract.sequences, exclude=store.folder)
    labelled = {files.patient for files in found.cases if files.label}
    splits = split_patients(labelled | found.left_out_patients, site.split)
    prepared, problems = _prepare_all(found.cases, settings, site, store)
    problems = [*found.problems, *problems]
    if not prepared:
        told = "\n".join(f"  {problem}" for problem in problems[:10])
        codes = Counter(problem.code.value for problem in problems)
        count = ", ".join(f"{code} {number}" for code, number in codes.items())
        raise WardroundError(
            problems[0].code if len(codes) == 1 else Reason.DATA_MISSING,
            f"folder {site.folder}: none of {len(problems)} cases is usable ({count}):\n{told}",
        )
    by_split: dict[str, list[PreparedCase]] = {split: [] for split in SPLITS}
    unlabelled = []
    unlisted = set()
    for case in prepared:
        if case.patient not in labelled:
            unlabelled.append(case)
        elif case.patient not in splits:
            unlisted.add(case.patient)
        elif case.label is not None:
            by_split[splits[case.patient]].append(case)
        elif splits[case.patient] == "train":
            unlabelled.append(case)
    data = BrainTumorSiteData(settings, by_split, unlabelled=unlabelled, problems=problems, unlisted=len(unlisted))
    for problem in problems:
        _log.info("left out: %s", problem)  # whoever opened the site tells them: see `problems`
    counts = ", ".join(f"{name} {count}" for name, count in data.counts.items() if count)
    _log.info("%s: ready after %.1f s: %s", site.folder, time.monotonic() - started, counts)
    return data


def _prepare_all(
    cases: Sequence[CaseFiles], settings: BrainTumorSettings, site: BrainTumorSiteSettings, store: CaseCache
) -> tuple[list[PreparedCase], list[WardroundError]]:
    prepared: list[PreparedCase] = []
    problems: list[WardroundError] = []
    first_with: dict[str, CaseFiles] = {}
    last = time.monotonic()
    _log.info("%s: checking %d cases", site.folder, len(cases))
    for number, files in enumerate(cases, 1):
        try:
            prepared.append(_prepare_one(files, settings, site, store, first_with))
        except WardroundError as error:
            problems.append(error)
        except Exception as error:  # one file that nobody foresaw must not take the hospital's other cases along
            _log.info("%s: cannot be prepared", files.case, exc_info=True)
            problems.append(_unforeseen(files.case, error))
        if time.monotonic() - last > _PROGRESS_SECONDS:
            last = time.monotonic()
            _log.info("prepared %d of %d cases", number, len(cases))
    store.hashes.save()
    return prepared, problems


def _unforeseen(case: str, error: Exception) -> WardroundError:
    # torch has no class of its own for a CPU that is out of memory
    starved = isinstance(error, MemoryError) or "allocate" in str(error)
    code = Reason.OUT_OF_MEMORY if starved else Reason.DATA_UNREADABLE
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return WardroundError(code, f"{case}: cannot be prepared ({what}); look at its files, or leave the case out")


def _prepare_one(
    files: CaseFiles,
    settings: BrainTumorSettings,
    site: BrainTumorSiteSettings,
    store: CaseCache,
    first_with: dict[str, CaseFiles],
) -> PreparedCase:
    contract = settings.contract
    try:
        key, images = store.key(files, contract, site), store.images(files)
    except OSError as error:
        raise WardroundError(
            Reason.DATA_UNREADABLE, f"{error.filename}: {error.strerror}; check the file and its permissions"
        ) from error
    _refuse_copy(files, first_with.get(images))
    preparation = store.get(key, lambda: prepare(files, contract, site))
    first_with[images] = files
    return PreparedCase.of(files.case, files.patient, preparation, settings.patch.size, contract.spacing_mm)


def _refuse_copy(files: CaseFiles, other: CaseFiles | None) -> None:
    """Two ids for one patient would put the same images on both sides of the split."""
    if other is not None and other.patient != files.patient:
        raise WardroundError(
            Reason.CASE_DUPLICATED,
            f"{files.case}: its images are those of {other.case}, another patient's; only the first is used: "
            "remove the one that is wrong",
        )
