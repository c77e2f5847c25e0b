"""What a hospital says of its data that no file tells: only its own admin can know it."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from wardround.records.codes import Code, Version
from wardround.records.section import Section


def _text(value: Any) -> Any:
    """YAML reads 2024.10 as the number 2024.1 and 2024-03-01 as a date: neither is what was written."""
    if value is not None and not isinstance(value, str):
        raise ValueError('put it in quotes, such as "2024.10": without them YAML reads a number or a date')
    return value


class DeclaredData(Section):
    """Part of a workload's section of site.yaml. It goes to the server with the site's counts, as it is written."""

    data_version: Annotated[Version | None, BeforeValidator(_text)] = Field(
        None, description='of the extract, such as "2026-03"; leaves the hospital and stands in the run\'s manifest'
    )
    label_definition: Annotated[Code | None, BeforeValidator(_text)] = Field(
        None, description="who or what set labels or outcomes, such as two_readers; leaves the hospital as well"
    )


NOTHING_DECLARED = DeclaredData()


def declared_in(section: dict[str, Any]) -> DeclaredData:
    """What a workload's section of site.yaml declares, whatever else is in it.

    Raises:
        ValueError: pydantic's own; a workload that reads the section says where.
    """
    return DeclaredData.model_validate({name: section.get(name) for name in DeclaredData.model_fields})
