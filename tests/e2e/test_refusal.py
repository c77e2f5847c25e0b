"""A job that would call something that our modules merely import never runs: a prefix would let it."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import tiny_study
from wardround.flare.environments import run_study
from wardround.flare.recipe import StudyRecipe
from wardround.records.reasons import WardroundError

pytestmark = pytest.mark.e2e


def test_a_job_that_names_a_re_exported_function_is_refused(
    hospitals: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = "wardround.flare.executor.load_study"  # a function that the module imports
    export = StudyRecipe.export

    def tamper(self: StudyRecipe, folder: str, **options: Any) -> None:
        export(self, folder, **options)
        for file in Path(folder).rglob("config_fed_client.json"):
            config = json.loads(file.read_text())
            smuggled = {"id": "smuggled", "path": called, "args": {"path": "job.yaml"}}
            file.write_text(json.dumps({**config, "components": [*config.get("components", []), smuggled]}))

    monkeypatch.setattr(StudyRecipe, "export", tamper)
    with pytest.raises(WardroundError) as caught:
        run_study(
            Path("study"),
            tiny_study(),
            environment="sim",
            sites=hospitals,
            out=tmp_path / "out",
            on_line=lambda _: None,
        )
    assert f"'{called}'" in str(caught.value)
    assert "not in allow_list" in str(caught.value)
