"""Every way to train one study, on one seed: pooled, alone, federated by algorithm, and logistic regression."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from federation import federate, pooled
from study_sites import changed
from wardround.records.arms import BEST, PERSONALISED, RECALIBRATED
from wardround.records.metric_record import find, firm_value_of, value_of
from wardround.records.scores import Scores
from wardround.records.study import Study
from wardround.workloads.registry import make_workload
from wardround.workloads.site_data import SiteData

ALONE = "each alone"
FEDAVG = "FedAvg"
TUNED = "FedAvg, fine-tuned"
RECALIBRATED_TOO = "FedAvg, fine-tuned, recalibrated"
OWN_REGRESSION = "logistic regression, own"
POOLED_REGRESSION = "logistic regression, pooled"
FEDERATED = (FEDAVG, "FedProx", "FedBN", "local head", TUNED, RECALIBRATED_TOO, "logistic regression, FedAvg")
METRICS = {"AUROC": "auroc", "AUPRC": "auprc", "Brier": "brier", "accuracy": "accuracy"}
LOWER_IS_BETTER = ("Brier",)
_PLAIN = {"kind": "fedavg", "mu": 0.0}


@dataclass(frozen=True)
class Figures:
    """One arm at one hospital: each metric's value where it is defined on enough cases, and what it rests on."""

    values: dict[str, float | None]
    n: int
    n_positive: int


def all_arms(
    study: Study, sites: Mapping[str, SiteData], *, mu: float, tuned: bool = True
) -> Iterator[tuple[str, dict[str, Figures]]]:
    """Trains and scores every arm on each site's test rows.

    FedBN needs BatchNorm: where the study's network has none, it gets it for this arm, and FedAvg with BatchNorm stands
    beside it.

    Args:
        study: with algorithm fedavg; its network and training serve every arm.
        sites: opened with this study's data settings.
        mu: FedProx's.
        tuned: whether fine-tuning and recalibration are asked for too; both need validation rows.
    """
    workload = make_workload(study)
    yield "pooled", _figures(pooled(study, workload, sites, run="pooled").test[BEST])
    alone = {name: _federated(study, {name: data}, (BEST,))[BEST][name] for name, data in sites.items()}
    yield ALONE, alone
    wanted = (BEST, PERSONALISED, RECALIBRATED) if tuned else (BEST,)
    fedavg = _federated(study, sites, wanted)
    yield from ((name, fedavg[arm]) for name, arm in zip((FEDAVG, TUNED, RECALIBRATED_TOO), wanted, strict=False))
    yield "FedProx", _federated(_with(study, {"kind": "fedprox", "mu": mu}), sites, (BEST,))[BEST]
    if study.workload["network"]["norm"] != "batch":
        yield "FedAvg, BatchNorm", _federated(_with(study, _PLAIN, norm="batch"), sites, (BEST,))[BEST]
    yield "FedBN", _federated(_with(study, {"kind": "fedbn"}, norm="batch"), sites, (BEST,))[BEST]
    yield "local head", _federated(_with(study, {"kind": "local_head"}), sites, (BEST,))[BEST]
    yield from regressions(study, sites)


def regressions(study: Study, sites: Mapping[str, SiteData]) -> Iterator[tuple[str, dict[str, Figures]]]:
    """Logistic regression: scikit-learn's on each site's own rows and on all, and the federation's."""
    workload = make_workload(study)
    own = {name: (data, workload.reference(data)) for name, data in sites.items()}
    yield (
        OWN_REGRESSION,
        _figures({name: data.score(model, "test") for name, (data, model) in own.items() if model is not None}),
    )
    together = workload.reference(workload.pool(list(sites.values())))
    if together is not None:
        yield POOLED_REGRESSION, _figures({name: data.score(together, "test") for name, data in sites.items()})
    federated = _with(study, _PLAIN, hidden=[], norm="none", dropout=0.0)
    yield "logistic regression, FedAvg", _federated(federated, sites, (BEST,))[BEST]


def _federated(study: Study, sites: Mapping[str, SiteData], arms: Sequence[str]) -> dict[str, dict[str, Figures]]:
    result = federate(study, make_workload(study), sites, run=study.algorithm.kind, arms=arms)
    return {arm: _figures(scores) for arm, scores in result.test.items()}


def _with(study: Study, algorithm: Mapping[str, object], **network: object) -> Study:
    return changed(study, seed=study.seed, workload={"network": network}, algorithm=algorithm)


def _figures(scores: Mapping[str, Scores]) -> dict[str, Figures]:
    return {site: _of(found) for site, found in scores.items()}


def _of(scores: Scores) -> Figures:
    values = {title: firm_value_of(scores.records, name) for title, name in METRICS.items()}
    values["Brier"] = value_of(scores.records, "brier")  # has a value on any rows
    rows = [(case.values["probability"], case.values["label"]) for case in scores.cases]
    if rows:  # of the detailed figures, which take long with their intervals, the only one that is asked for here
        values["accuracy"] = sum(((p or 0.0) >= 0.5) == bool(y) for p, y in rows) / len(rows)
    record = find(scores.records, "brier")
    return Figures(values, record.n if record else 0, (record.n_positive or 0) if record else 0)
