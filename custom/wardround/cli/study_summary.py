"""What a hospital agrees to, in a few lines for whoever signs: a study's settings in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from wardround.records.study import Study


def summary_lines(study: Study, *, site: str, trains: bool = True) -> list[str]:
    """Seven lines: what is trained, on what, who must take part, what leaves, and when a model is released.

    Args:
        study: as it would be approved.
        site: the hospital's name.
        trains: False for a hospital that only scores.
    """
    return [f"{name:<12} {text}" for name, text in _facts(study, site, trains=trains)]


def _facts(study: Study, site: str, *, trains: bool) -> Iterator[tuple[str, str]]:
    training, evaluation = study.training, study.evaluation
    yield "study", f"{study.name}, on the data of {site} for {study.workload['kind']}"
    yield "contract", _contract(study.workload.get("contract"))
    number, unit = (training.local_steps, "step") if training.local_epochs is None else (training.local_epochs, "pass")
    length = f"{number} {unit}" if number == 1 else f"{number} {unit}{'es' if unit == 'pass' else 's'}"
    where = "over the training cases here" if trains else "at others; this site only scores"
    yield "training", f"{study.algorithm.kind}: {training.rounds} rounds of {length} {where}"
    yield "quorum", f"a round needs {study.federation.quorum} hospitals, and is a mean of theirs"
    leaves = "model updates, counts, sums and figures" if trains else "counts and figures"
    yield "leaves", f"{leaves}, as the rules of disclosure in site.yaml let them; no row and no picture of a patient"
    own = [
        *(["a model of its own alone"] if evaluation.compare_alone else []),
        *([f"{evaluation.personalise_steps} steps of fine-tuning"] if evaluation.personalise_steps else []),
        *(["a correction of the probabilities"] if evaluation.recalibrate else []),
    ]
    yield "own models", f"after the last round, to compare: {', '.join(own)}" if own else "none are trained"
    accepted = study.acceptance
    criteria = [
        *(f"{name} {limit:g} at the worst site" for name, limit in accepted.worst_site.items()),
        *(f"{name} at most {limit:g} worse than alone" for name, limit in accepted.worse_than_alone.items()),
    ]
    yield "release", f"if met: {'; '.join(criteria)}" if criteria else "never: the study has no criterion"


def _contract(contract: Any) -> str:
    """The outcome and the inputs of tables, the sequences of images; what has another form by its keys."""
    if not isinstance(contract, Mapping):
        return "the workload's own"
    outcome, columns = contract.get("outcome"), contract.get("columns")
    if isinstance(outcome, Mapping) and isinstance(columns, Mapping):
        return f"outcome {outcome.get('name')} ({outcome.get('meaning')}); inputs {', '.join(map(str, columns))}"
    return "; ".join(f"{key} {_word(value)}" for key, value in contract.items())


def _word(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
