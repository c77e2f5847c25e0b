"""What can be known of a site's section before a row is read, all of it told at once."""

from wardround.records.inspection import Finding, Findings, Severity
from wardround.records.reasons import WardroundError
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.mapping import misfits, missing_columns, wanted_columns
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.sources import source_columns


def refuse_unfit(contract: Contract, site: ClinicalRiskSiteSettings, *, labelled: bool = True) -> None:
    """Compares site.yaml with the contract and, where the two do not fit, with the source's header too.

    An admin who has put one layer right should not be told of the next one only then. Where they fit, the source is
    read as a whole next, and is not asked for its header here: a query may take long.

    Args:
        contract: the study's.
        site: the section of site.yaml.
        labelled: whether the outcome's column is needed.

    Raises:
        WardroundError: with all that is wrong and the first one's code; a file that is not there, or columns that
            the source does not have, come first.
    """
    told = misfits(contract, site)
    if told:
        Findings([*_of_source(site, labelled=labelled), *told]).refuse()


def _of_source(site: ClinicalRiskSiteSettings, *, labelled: bool) -> list[Finding]:
    try:
        name, columns = source_columns(site.source)
    except WardroundError as error:
        return list(Findings.of_errors([error], Severity.ERROR))
    return missing_columns(wanted_columns(site, labelled=labelled), columns, name)
