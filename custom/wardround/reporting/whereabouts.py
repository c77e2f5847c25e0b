"""Where the data was while the run read it: said as it is, for a simulation too."""

from wardround.records.arms import is_baseline
from wardround.reporting.model import SiteFacts, Summary
from wardround.reporting.words import Words

_ON_ONE_MACHINE = {
    "sim": "All hospitals were simulated on one machine, which held the data of all.",
    "poc": "All hospitals ran as separate processes on one machine (FLARE POC), which held the data of all.",
}


def where_the_data_was(summary: Summary, *, generated: bool) -> str:
    """One to three sentences.

    Args:
        summary: of the run.
        generated: every site says in its site.yaml that its data is generated.
    """
    noun = summary.sites_are()
    sentences = ["Generated data, no patient."] if generated else []
    pseudo = [site.name for site in summary.sites if site.nature == "pseudo_site"]
    if pseudo:
        who = (
            "No hospital took part: the sites are"
            if noun == "pseudo-site"
            else f"No hospitals: {', '.join(pseudo)}, which are"
        )
        sentences.append(f"{who} pseudo-sites, parts of a public data set that stand for hospitals.")
    elsewhere = f"{summary.words.vocabulary.what_stays} stayed at each {noun}; see what left below."
    sentences.append(_ON_ONE_MACHINE.get(summary.study.environment, elsewhere).replace("hospital", noun))
    if any(is_baseline(row.arm) and not row.at_home for row in summary.table):  # at home it may have been trained there
        sentences.append(f"The rows alone and pooled, made for comparison, read all {noun}s' data in one place.")
    return " ".join(sentences)


def common_figures(sites: list[SiteFacts], words: Words) -> tuple[str, str]:
    """Figures and sums for pooling that every site sent, in few words, to be listed once."""
    return words.listed_by_family(_common([site.figures_sent for site in sites])), words.listed_by_family(
        _common([site.sums_sent for site in sites])
    )


def own_figures(site: SiteFacts, sites: list[SiteFacts], words: Words) -> str:
    """What this site sent beyond what every site did; empty where nothing."""
    everyone = {*_common([each.figures_sent for each in sites])}, {*_common([each.sums_sent for each in sites])}
    figures = words.listed_by_family([name for name in site.figures_sent if name not in everyone[0]])
    sums = words.listed_by_family([name for name in site.sums_sent if name not in everyone[1]])
    return "; ".join(text for text in (figures, f"sums for pooling: {sums}" if sums else "") if text)


def counts_in_words(site: SiteFacts) -> str:
    """`train patients 6, test cases 8`. An outside hospital trains nothing: it lends unlabelled cases only."""
    counts = dict(site.counts)
    if site.role != "train":
        counts.pop("train_patients", None)
        lent = [counts.pop("train_cases", 0), counts.pop("unlabelled_cases", 0)]
        exact = [count for count in lent if isinstance(count, int)]
        # of a range no sum can be told
        counts["unlabelled cases for statistics"] = sum(exact) if len(exact) == len(lent) else "some"
    return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items() if count)


def _common(lists: list[list[str]]) -> list[str]:
    return [name for name in lists[0] if all(name in other for other in lists)] if lists else []
