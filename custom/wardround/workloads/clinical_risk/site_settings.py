"""A hospital's section for clinical risk, checked, with paths from its own folder."""

from pathlib import Path
from typing import Any

from wardround.records.study import validated
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings, SqlSource


def site_settings(data: dict[str, Any], folder: Path, where: str = "") -> ClinicalRiskSiteSettings:
    """The section of site.yaml; relative paths in it start from `folder`, and messages name it by `where`.

    Raises:
        WardroundError: a key is unknown or a value does not fit, one line a fault.
    """
    site = validated(ClinicalRiskSiteSettings, data, where or "site.yaml: data.clinical_risk")
    source = site.source
    if not isinstance(source, SqlSource):
        source = source.model_copy(update={"file": folder / source.file})
    elif source.url_file is not None:
        source = source.model_copy(update={"url_file": folder / source.url_file})
    contract_file = None if site.contract_file is None else folder / site.contract_file
    return site.model_copy(update={"source": source, "contract_file": contract_file})
