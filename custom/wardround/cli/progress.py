"""What `wardround run` shows while it works: a line a round, and what is going on now."""

from statistics import median
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from wardround.cli.tables import figure
from wardround.records.arms import is_baseline
from wardround.records.metric_record import find
from wardround.records.run_lines import (
    BaselineRoundLine,
    EndLine,
    JoinLine,
    ResumeLine,
    RoundLine,
    RunLine,
    ScoreLine,
    StartLine,
)
from wardround.records.study import Study
from wardround.records.task_answers import TaskAnswers
from wardround.records.update import SiteManifest
from wardround.reporting.shared_monitoring import look_in_words
from wardround.reporting.words import Words, words_of

_WAITED_FOR = {"prepare": "hospitals open their data", "train": "round {round} is training"}


class RunProgress:
    """Prints lines that stay, and on a terminal one live line below them.

    Args:
        console: where to.
        study: whose key metric each round's line shows by site.
        test_scores: whether to show scores on test cases; not where one is to choose between runs.
    """

    def __init__(self, console: Console, study: Study, *, test_scores: bool = True) -> None:
        self._rounds = study.training.rounds
        self._console, self._key, self._test_scores = console, study.evaluation.key_metric, test_scores
        self._words = words_of(study.workload["kind"])
        self._status: Status | None = console.status("") if console.is_terminal else None
        self._started = monotonic()
        self._seconds: list[float] = []
        self._last = monotonic()
        self._sites = 0
        self._scores: dict[tuple[str, str], dict[str, str]] = {}
        self.rounds_done = 0

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._status:
            self._status.stop()

    def phase(self, text: str) -> None:
        """A new phase begins."""
        self._end_arms()
        self._say(f"[bold]{self._clock()}[/]  {escape(text)}")
        self._now(text)

    def trouble(self, text: str) -> None:
        """Something that someone should look into."""
        self._say(f"[yellow]        {escape(text)}[/]")

    def on_line(self, line: RunLine) -> None:
        """Shows one line of the record."""
        if not isinstance(line, ScoreLine | BaselineRoundLine):
            self._end_arms()
        if isinstance(line, StartLine):
            self._on_start(line)
        elif isinstance(line, ResumeLine):
            self._on_resume(line)
        elif isinstance(line, JoinLine):
            self._sites += 1
            self._say(f"        {escape(line.manifest.site)} is ready and joins in round {line.round + 1}")
            self._released_model([line.manifest])
        elif isinstance(line, RoundLine):
            self._on_round(line)
        elif isinstance(line, ScoreLine):
            self._on_score(line)
        elif isinstance(line, BaselineRoundLine):
            self._on_baseline(line)
        elif isinstance(line, EndLine):
            self._now("federation finished")

    def on_answers(self, told: TaskAnswers) -> None:
        """Shows who has answered an order so far: on a terminal in the live line, elsewhere in lines up to the first
        round's, since later ones are told often enough by their own."""
        preparing = told.task == "prepare"
        if told.task not in _WAITED_FOR or (self._sites if preparing else told.round < self.rounds_done):
            return  # the record's own line came first
        what = _WAITED_FOR[told.task].format(round=told.round + 1)
        count = [f"{len(told.answered)} of {len(told.asked)} have answered"] if told.answered else []
        waiting = [f"waiting for {', '.join(told.awaited)}"] if told.awaited else []
        text = f"{what}: {', '.join([*count, *waiting])}"
        if self._status:
            self._now(text)
        elif preparing or not self._seconds:
            self._say(f"        [dim]{escape(text)}[/]")

    def _on_start(self, line: StartLine) -> None:
        self._last = monotonic()
        self._sites = len(line.sites)
        parts = []
        for site in line.sites:
            cases = site.counts.get("train_patients", 0)
            parts.append(f"{site.site} ({f'{cases} to train on' if site.role == 'train' else 'only scored'})")
        self._say(f"        agreed: {escape(', '.join(parts))}")
        kept = next((site for site in line.sites if site.kept_local), None)
        if kept:
            self._say(f"        each hospital keeps {len(kept.kept_local)} tensors of normalization layers to itself")
        if line.missing:
            self._say(f"[yellow]        not there yet: {escape(', '.join(line.missing))}[/]")
        self._released_model(line.sites)
        self._say(f"        figures: {self._words.measure(self._key).title}; a round's: of the model it began with")
        self._now("round 1 is training")

    def _on_resume(self, line: ResumeLine) -> None:
        self._last = monotonic()
        self._sites = len(line.sites)
        self.rounds_done = line.round
        self._released_model(line.sites)
        more = line.round < self._rounds
        what = f"round {line.round + 1} of {self._rounds}" if more else "the scoring"
        self._say(f"        goes on with {what}: {escape(', '.join(site.site for site in line.sites))}")
        if line.missing:
            self._say(f"[yellow]        not there yet: {escape(', '.join(line.missing))}[/]")
        self._now(f"round {line.round + 1} is training" if more else "scoring the last model, then every arm")

    def _released_model(self, sites: list[SiteManifest]) -> None:
        """Where a hospital found that a released model does worse now, or that its patients are others."""
        for site in sites:
            if site.monitoring and site.monitoring.stands_out:
                told = look_in_words(site.monitoring, self._words.title)
                self.trouble(f"{site.site}: released model {told}")

    def _on_round(self, line: RoundLine) -> None:
        now = monotonic()
        self._seconds.append(line.seconds.get("total", now - self._last))
        self._last = now
        self.rounds_done = line.round + 1
        left = median(self._seconds) * (line.rounds - self.rounds_done)
        scores = {site: find(entry.records, self._key) for site, entry in line.sites.items()}
        shown = in_few_words({site: figure(record, self._words) for site, record in scores.items() if record})
        text = f"round {self.rounds_done}/{line.rounds} done"
        if shown:
            text += f"; began with {shown}"
        text += f"  [dim]{self._seconds[-1]:.0f} s[/]"
        self._say(f"[bold]{self._clock()}[/]  {text}")
        for problem in _problems(line, self._words):
            self._say(f"[yellow]        {escape(problem)}[/]")
        if not line.round and left:
            self._say(f"        [dim]about {_duration(left)} of rounds left[/]")
        more = self.rounds_done < line.rounds
        self._now(
            f"round {self.rounds_done + 1} of {line.rounds} is training, about {_duration(left)} of rounds left"
            if more
            else "scoring the last model, then every arm on the test cases"
        )

    def _on_score(self, line: ScoreLine) -> None:
        """One line an arm: scores come in site by site, and from several baselines at once."""
        if line.split == "test" and not self._test_scores:
            return
        arm = (line.arm, line.split)
        if arm not in self._scores and not is_baseline(line.arm):
            self._end_arms()
        for flag in line.flags:
            self.trouble(self._words.reason_in_words(f"{line.site}: {flag}"))
        self._scores.setdefault(arm, {})[line.site] = figure(find(line.records, self._key), self._words)
        self._now(f"scoring {self._words.short_arm(line.arm)} on {line.split} cases")
        if len(self._scores[arm]) == self._sites:
            self._end_arm(arm)

    def _end_arm(self, arm: tuple[str, str]) -> None:
        self._say(f"        {self._words.short_arm(arm[0])}, {arm[1]}: {in_few_words(self._scores.pop(arm))}")

    def _end_arms(self) -> None:
        for arm in list(self._scores):
            self._end_arm(arm)

    def _on_baseline(self, line: BaselineRoundLine) -> None:
        shown = in_few_words(
            {site: figure(find(records, self._key), self._words) for site, records in line.sites.items()}
        )
        self._say(f"        {self._words.short_arm(line.arm)} after {line.round}: {shown}")
        self._now(f"baseline {self._words.short_arm(line.arm)}, {line.round} rounds' worth done")

    def _say(self, text: str) -> None:
        self._console.print(text, soft_wrap=True)

    def _now(self, text: str) -> None:
        if self._status:
            self._status.update(escape(text))

    def _clock(self) -> str:
        return _duration(monotonic() - self._started).rjust(6)


def in_few_words(figures: dict[str, str]) -> str:
    """`hospital-a 0.910  -b 0.691  -c 0.888`: the part before the last dash is said once where it is the same."""
    told = []
    before = None
    for site, text in figures.items():
        stem, _, last = site.rpartition("-")
        told.append(f"-{last} {text}" if stem and stem == before else f"{site} {text}")
        before = stem
    return "  ".join(told)


def _problems(line: RoundLine, words: Words) -> list[str]:
    found = [f"{site} rejected: {words.in_words(reason)}" for site, reason in line.rejected.items()]
    found += [f"{site} failed: {words.in_words(reason)}" for site, reason in line.failed.items()]
    found += [f"{site} is late" for site in line.late]
    return found + [words.reason_in_words(alarm) for alarm in line.alarms]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes else f"{rest} s"
