"""The hospital's word on its images against the study's contract."""

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.settings import BrainTumorSiteSettings, ImageContract, ImageDeclaration


def refuse_other_images(contract: ImageContract, site: BrainTumorSiteSettings) -> None:
    """Compares what no file tells: registration space, annotation protocol, surgical status.

    Raises:
        WardroundError: nothing is declared, or something else than the study asks for; all differences are told.
    """
    asked = {name: getattr(contract, name) for name in ImageDeclaration.model_fields}
    if site.declares is None:
        wanted = ", ".join(f"{name}: {value}" for name, value in asked.items())
        raise WardroundError(
            Reason.CONTRACT_MISMATCH,
            fault(
                "declares is missing beside the images' folder",
                file="site.yaml",
                advice=f"the study's images are {{{wanted}}}: write down what this hospital's images are",
            ),
        )
    declared = site.declares.model_dump()
    differing = [
        f"{name} is {declared[name]!r}, the study asks for {asked[name]!r}"
        for name in asked
        if declared[name] != asked[name]
    ]
    if differing:
        raise WardroundError(
            Reason.CONTRACT_MISMATCH,
            *(
                fault(one, file="site.yaml", key="declares", advice="prepare the images as the study asks")
                for one in differing
            ),
        )
