"""Case pictures for a page, taken only from sites whose data is generated."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PictureSource:
    """Where a site keeps its pictures, and whether its data is generated (`synthetic: true` in its site.yaml)."""

    site: str
    folder: Path
    synthetic: bool


@dataclass(frozen=True)
class EmbeddedPicture:
    """A PNG as a data URI, with its caption."""

    site: str
    caption: str
    uri: str


def embed_pictures(sources: Sequence[PictureSource], *, per_site: int = 1) -> list[EmbeddedPicture]:
    """Reads up to `per_site` pictures a site. Pictures of patients are never opened, whatever the caller wants."""
    pictures = []
    for source in sources:
        if not source.synthetic:
            continue
        for file in sorted(source.folder.glob("*.png"))[:per_site]:
            data = base64.b64encode(file.read_bytes()).decode("ascii")
            pictures.append(EmbeddedPicture(source.site, file.stem, f"data:image/png;base64,{data}"))
    return pictures
