"""What may be handed on of a look at a released model passes the gate."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from wardround.records.acceptance_outcome import CriterionOutcome, check_at_site
from wardround.records.metric_record import MetricRecord
from wardround.records.monitoring import CellShift, InputShift, Monitoring
from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import SiteConfig, load_site_config
from wardround.site.guarded_monitoring import guard_monitoring
from wardround.workloads.words import Words

WORDS = Words(figures=frozenset({"auroc", "brier"}))


def _config(folder: Path, **disclosure: Any) -> SiteConfig:
    file = folder / "site.yaml"
    settings = {"name": "hospital-a", "disclosure": disclosure, "data": {"clinical_risk": {}}}
    file.write_text(yaml.safe_dump(settings))
    return load_site_config(file)


def _found(*, support: int = 40, patients: int = 40) -> Monitoring:
    figures = [
        MetricRecord(name="brier", value=0.1, n=50, interval=(0.05, 0.15), support=patients),
        MetricRecord(name="auroc", value=0.8, n=50, interval=(0.7, 0.9), support=support),
    ]
    criteria = [
        CriterionOutcome(
            kind="worst_site",
            metric=record.name,
            better=better,
            limit=limit,
            sites=[check_at_site("hospital-a", record, limit, higher=better == "higher")],
        )
        for record, better, limit in zip(figures, ("lower", "higher"), (0.2, 0.75), strict=True)
    ]
    cells = [CellShift(label="40 to 55 years", expected=0.5, found=0.5)]
    moved = InputShift(name="age", index=0.3, chance=0.1, judged="large", rows=50, cells=cells)
    return Monitoring(
        site="hospital-a", study="s", version="v1", time="t", signature="verified", cases=53, patients=patients,
        left_out=0, criteria=criteria, figures=figures, inputs=[moved],
    )  # fmt: skip


def test_counts_by_flag_leave_and_nothing_else(tmp_path: Path) -> None:
    shared = guard_monitoring(_found(), _config(tmp_path), WORDS)
    assert shared.fit is False
    assert {name: count for name, count in shared.flags.items() if count} == {
        "criterion_met": 1,
        "criterion_not_met": 1,
        "input_large": 1,
    }
    text = json.dumps(shared.model_dump(mode="json"))
    assert "age" not in text
    assert "0.1" not in text


@pytest.mark.parametrize(("support", "disclosure"), [(2, {}), (40, {"allowed": ["brier"]})])
def test_a_criterion_whose_figure_is_held_back_is_neither_met_nor_missed(
    tmp_path: Path, support: int, disclosure: dict[str, Any]
) -> None:
    shared = guard_monitoring(_found(support=support), _config(tmp_path, **disclosure), WORDS)
    assert shared.fit is None
    assert (shared.flags["criterion_met"], shared.flags["criterion_suppressed"]) == (1, 1)
    assert shared.flags["criterion_not_met"] == 0


def test_nothing_is_told_of_fewer_patients_than_the_minimum(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="nothing may be handed on of so few") as raised:
        guard_monitoring(_found(), _config(tmp_path, minimum_patients=41, minimum_cell=41), WORDS)
    assert raised.value.code is Reason.TOO_FEW_PATIENTS


def test_a_figure_of_another_name_is_not_told_of(tmp_path: Path) -> None:
    shared = guard_monitoring(_found(), _config(tmp_path), Words(figures=frozenset({"brier"})))
    assert shared.flags["criterion_suppressed"] == 1
