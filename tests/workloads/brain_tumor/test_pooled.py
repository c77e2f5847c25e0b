import pytest
import torch

from support.made_cases import LISTS, made_hospital, opened
from wardround.records.reasons import WardroundError
from wardround.workloads.brain_tumor.pooled import PooledSiteData


def test_pooled_data_is_the_union_and_does_not_score(tmp_path):
    sites = [opened(made_hospital(tmp_path / name / "data"), split=LISTS) for name in ("a", "b")]
    pooled = PooledSiteData(sites)
    assert len(pooled.cases("train")) == 4
    assert pooled.counts["train_patients"] == 4
    assert pooled.steps_per_epoch(2) == 2
    assert next(pooled.batches(4, torch.Generator().manual_seed(0)))[0].shape[0] == 4
    with pytest.raises(WardroundError, match="score at each site"):
        pooled.score(torch.nn.Identity(), "test")
    with pytest.raises(WardroundError, match="pooling needs sites"):
        PooledSiteData([])
