"""A table in, a table of risks out."""

import logging
from pathlib import Path

import polars as pl
import torch
from torch import nn

from wardround.records.changed import changed
from wardround.records.files import whole_file
from wardround.records.finding_groups import group_findings
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.encode import encode
from wardround.workloads.clinical_risk.inference import probabilities_of
from wardround.workloads.clinical_risk.open_site import open_site_data
from wardround.workloads.clinical_risk.settings import (
    ClinicalRiskSettings,
    ClinicalRiskSiteSettings,
    CsvSource,
    ParquetSource,
    SqlSource,
)
from wardround.workloads.clinical_risk.table import read_table

_log = logging.getLogger(__name__)


def predict_table(
    network: nn.Module, path: Path, file: Path, settings: ClinicalRiskSettings, site: ClinicalRiskSiteSettings
) -> dict[str, float]:
    """Predicts each row of a table and writes `number`, `row`, `patient` and `risk` (a probability) as CSV.

    `number` counts the table's rows from 1. A row that is no part of the study or cannot be read keeps its place, with
    its number and nothing else, and the log says why, as `wardround site inspect` does of the site's own table.

    Under `normalisation: site` the site's own table is read too, for its mean and scale; see `own_mean_and_scale`.

    Args:
        network: complete and in evaluation mode, on any device.
        path: a table in the site's own format, .csv or .parquet; it needs no outcome.
        file: the CSV to write.
        settings: the study's, as the checkpoint holds them.
        site: how this hospital names its columns, units and codes.

    Returns:
        Rows with a risk and without one, and the mean of the risks.

    Raises:
        WardroundError: the table cannot be read or breaks the contract, the output would overwrite an input, or the
            network gave values that are not finite.
    """
    _refuse_overwriting(file, path, site)
    # which of the source's rows are this site's is no question here: all of them are asked about
    asked = changed(site, source=_source(path, site), rows={}, split_column=None)
    table = read_table(settings.contract, asked, labelled=False)
    inputs = torch.from_numpy(encode(table.frame, settings.contract))
    if settings.normalisation == "site" and (own := open_site_data(settings, site).own_scale) is not None:
        mean, scale = own
        inputs = (inputs - mean) / scale
    risks = probabilities_of(network, inputs)
    told = pl.DataFrame({"number": table.rows, "row": table.row_ids, "patient": table.patients, "risk": risks})
    every = pl.DataFrame({"number": range(1, table.source_rows + 1)}, schema={"number": pl.Int64})
    with whole_file(file, private=True) as unfinished:
        every.join(told, on="number", how="left", maintain_order="left").write_csv(unfinished)
    for group in group_findings(table.findings):
        for line in group.first_lines():
            _log.warning("%s: %s", group.kind, line)
    without = table.source_rows - len(risks)
    return {"rows": float(len(risks)), "without_risk": float(without), "mean_risk": float(risks.mean())}


def _source(path: Path, site: ClinicalRiskSiteSettings) -> CsvSource | ParquetSource:
    if path.suffix.lower() == ".parquet":
        return ParquetSource(kind="parquet", file=path)
    if isinstance(site.source, CsvSource):
        return changed(site.source, file=path)
    return CsvSource(kind="csv", file=path)


def _refuse_overwriting(file: Path, path: Path, site: ClinicalRiskSiteSettings) -> None:
    inputs = [path] if isinstance(site.source, SqlSource) else [path, site.source.file]
    if file.resolve() in {one.resolve() for one in inputs}:  # through links, which lead a write to what they name
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{file}: is the table itself; write predictions to another file"
        )
