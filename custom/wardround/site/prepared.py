"""What a site answers to `prepare`: its data is fit, and this is what there is of it."""

from wardround.learners.learner import Learner
from wardround.records.changed import changed
from wardround.records.study import Study
from wardround.records.update import SiteManifest
from wardround.site.config import SiteConfig
from wardround.site.inspection import inspect_data
from wardround.site.shared_look import shared_look
from wardround.workloads.input_cells import input_tally


def prepared(study: Study, config: SiteConfig, learner: Learner, *, first_round: int) -> SiteManifest:
    """Inspects the opened data, and says what the site has; the look at a released model that its admin shared too.

    Args:
        study, config: what is learned, and where.
        learner: with the site's data.
        first_round: that the site can be part of.

    Raises:
        WardroundError: the inspection has an error: the site takes no part.
    """
    data = learner.data
    inspect_data(study, config, data).found.refuse()
    # an outside hospital's sums would make what it is scored with; a latecomer's would leave for nothing
    wanted = config.role == "train" and first_round == 0
    least = config.disclosure.minimum_cell
    manifest = learner.manifest(
        config.role,
        nature=config.nature,
        declared=config.declared(str(study.workload["kind"]), study.name),
        statistics=data.statistics() if wanted else (),
        inputs=[input_tally(column, counts, minimum_cell=least) for column, counts in data.inputs("train")]
        if wanted
        else (),
    )
    return changed(manifest, monitoring=shared_look(config.state_folder, study.name))
