"""How a run's training inputs were distributed, from what its sites told before the first round."""

from wardround.records.input_statistics import InputStatistics
from wardround.records.run_lines import StartLine, read_lines
from wardround.releases.candidate import RECORD, Candidate
from wardround.workloads.input_cells import pooled_shares
from wardround.workloads.registry import workload_of


def input_statistics(chosen: Candidate) -> InputStatistics | None:
    """Shares by column or sequence over all training sites; None where no site told any."""
    start = next(line for line in read_lines(chosen.folder / RECORD) if isinstance(line, StartLine))
    tallies = [tally for site in start.sites for tally in site.inputs]
    if not tallies:
        return None
    inputs = pooled_shares(workload_of(chosen.checkpoint.card.workload).input_columns(), tallies)
    return InputStatistics(study=chosen.manifest.study, contract_sha256=chosen.manifest.contract_sha256, inputs=inputs)
