"""The report's first sentences: what each hospital gained over its own data alone, and what an outside one would."""

from wardround.records.arms import site_of
from wardround.reporting.headline import Gain, gains
from wardround.reporting.model import Comparison, Summary
from wardround.reporting.words import Words

NOT_COMPARED = "not compared with own data alone; run with --baselines, or with evaluation.compare_alone"
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def answer(summary: Summary) -> str:
    """A few plain sentences: the training hospitals by verdict, then each outside hospital."""
    found = gains(summary)
    training = [gain for gain in found if gain.role == "train"]
    if not any(gain.federated for gain in training):
        return f"No training {summary.sites_are()} has been scored."
    noun, words = summary.sites_are(), summary.words
    sentences = [
        _same_verdict(verdict, training, noun, words)
        for verdict in ("better", "worse", "not_shown", "too_few", "unknown")
    ]
    sentences += [_outside(gain, words) for gain in found if gain.role != "train" and gain.others]
    if summary.study.key_metric_mode == "min" and any(
        row.verdict in ("better", "worse") for row in summary.comparisons
    ):
        sentences.append(f"{words.measure(summary.study.key_metric).title}: lower is better.")
    if any(site.nature == "pseudo_site" for site in summary.sites):
        sentences.append("A pseudo-site is a part of a public data set that stands for a hospital, and is none.")
    return " ".join(sentence for sentence in sentences if sentence)


def _same_verdict(verdict: str, training: list[Gain], noun: str, words: Words) -> str:
    same = [gain for gain in training if gain.verdict == verdict]
    if not same:
        return ""
    names, one = _listed([_label(gain) for gain in same]), len(same) == 1
    its, everyone = "its" if one else "their", len(same) == len(training)
    if verdict == "unknown":
        return f"{_upper_first(NOT_COMPARED)}." if everyone else f"{names}: not compared with {its} own data alone."
    if verdict == "too_few":
        return f"{names}: too few test cases to tell the federated model from {its} own."
    if verdict == "not_shown":
        includes = "the interval includes 0" if one else "every interval includes 0"
        if everyone and not one:
            who = f"None of the {_number(len(same))} {noun}s shows a gain over its own model"
        else:
            who = f"{names} {'shows' if one else 'show'} no gain over {its} own model"
        return f"{who} ({_cases(same)}; {includes})."
    figures = ", ".join(words.with_interval(gain.comparison.difference) for gain in same if gain.comparison)
    does = "does" if one else "do"
    return f"{names} {does} {verdict} with the federated model than with {its} own: {figures} ({_cases(same)})."


def _outside(gain: Gain, words: Words) -> str:
    """The federated model against each hospital's own, at a hospital that none of them has seen."""
    parts = []
    for verdict, wording in (
        ("better", "is better than {own}"),
        ("worse", "is worse than {own}"),
        ("not_shown", "shows no difference from {own}"),
        ("too_few", "cannot be told from {own}, on too few cases"),
    ):
        own = [_own_model(row, words) for row in gain.others if row.verdict == verdict]
        if own:
            parts.append(wording.format(own=_listed(own)))
    cases = max(row.difference.n for row in gain.others)
    return (
        f"At {_label(gain)}, which never trained, on {cases} test cases the federated model {'; it '.join(parts)}."
        if parts
        else ""
    )


def _own_model(row: Comparison, words: Words) -> str:
    return f"{site_of(row.reference)}'s own ({words.with_interval(row.difference)})"


def _label(gain: Gain) -> str:
    """Marked where it stands for a hospital: these sentences are read and quoted on their own."""
    return f"{gain.site} ({gain.mark})" if gain.mark == "pseudo-site" else gain.site


def _cases(same: list[Gain]) -> str:
    counts = sorted({gain.comparison.difference.n for gain in same if gain.comparison})
    each = " each" if len(same) > 1 else ""
    return f"{counts[0]} test cases{each}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} test cases{each}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _number(count: int) -> str:
    return _SMALL[count] if count < len(_SMALL) else str(count)


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]
