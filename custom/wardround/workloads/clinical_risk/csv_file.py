"""Text tables: CSV and its kin, on their own or as the one file in a .zip."""

import csv
import io
import zipfile
from collections.abc import Iterator, Set
from contextlib import contextmanager
from itertools import islice

import polars as pl

from wardround.records.faults import Fault, fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.settings import CsvSource
from wardround.workloads.plain_file import refuse_no_file
from wardround.workloads.progress import Progress, unseen

_CHUNK = 20_000  # rows at a time: of a large table, only the wanted columns are ever held as a whole
_BLOCK = 1 << 20
_START = 4096  # bytes in which another format shows
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_OTHER_FORMATS = {
    b"PAR1": ("a Parquet file", "use source.kind: parquet"),
    b"PK\x03\x04": ("an Excel workbook or a zip archive", "export the sheet as CSV, or name the archive .zip"),
    b"\x1f\x8b": ("compressed with gzip", "unpack it, or pack it as .zip"),
    b"SQLite format 3": ("an SQLite database", "use source.kind: sql"),
    b"%PDF": ("a PDF", "export the table as CSV"),
}


def read_csv(source: CsvSource, wanted: Set[str], progress: Progress = unseen) -> tuple[pl.DataFrame, list[str]]:
    """Reads a text table; every value stays text, with spaces around it removed.

    Returns:
        The wanted columns that are there, and the names of all.

    Raises:
        WardroundError: no such file, empty, another format, encoding or separator, or a row with too many or too few
            fields, which is named.
    """
    with _records(source) as reader:
        return _read(reader, source, wanted, progress)


def csv_names(source: CsvSource) -> list[str]:
    """The names of all columns, from no more than the header.

    Raises:
        WardroundError: as `read_csv`, for the file and its header.
    """
    with _records(source) as reader:
        return [name.strip() for name in _header(reader, source)]


@contextmanager
def _records(source: CsvSource) -> Iterator[Iterator[list[str]]]:
    """Lines as lists of fields, with what goes wrong on the way told as what it is."""
    with _opened(source) as stream:
        # `strict` refuses a quote that is never closed, which would swallow the rest of the file as one value.
        reader = csv.reader(stream, delimiter=source.separator, strict=True)
        try:
            yield reader
        except UnicodeError as error:
            raise WardroundError(Reason.DATA_UNREADABLE, _wrong_encoding(source, error)) from error
        except csv.Error as error:
            raise WardroundError(
                Reason.DATA_UNREADABLE,
                fault(
                    f"line {reader.line_num} is not readable as a text table: {error}",
                    file=source.file,
                    advice="check its quotes",
                ),
            ) from error


def _read(
    reader: Iterator[list[str]], source: CsvSource, wanted: Set[str], progress: Progress
) -> tuple[pl.DataFrame, list[str]]:
    names = [name.strip() for name in _header(reader, source)]
    kept = [index for index, name in enumerate(names) if name in wanted] or [0]
    chunks: list[pl.DataFrame] = []
    before, lines = 0, _lines(source) - (source.header is True)
    while chunk := list(islice(reader, _CHUNK)):
        if set(map(len, chunk)) != {len(names)}:
            chunk = _without_blank_lines(chunk, len(names), source, before)
        fields = list(zip(*chunk, strict=True))
        if fields:
            columns = {str(index): pl.Series(fields[index], dtype=pl.String) for index in kept}
            chunks.append(pl.DataFrame(columns).select(pl.all().str.strip_chars()))
        before += len(chunk)
        progress("rows", before, max(before, lines))
    if not chunks:
        return pl.DataFrame(), names
    frame = pl.concat(chunks)
    frame.columns = [names[index] for index in kept] if len({names[i] for i in kept}) == len(kept) else frame.columns
    return frame, names


def _lines(source: CsvSource) -> int:
    """Ends of lines in the file: its rows, but for lines without anything and ends inside quotes. 0 for an archive."""
    if source.file.suffix.lower() == ".zip":
        return 0
    with source.file.open("rb") as raw:
        return sum(block.count(b"\n") for block in iter(lambda: raw.read(_BLOCK), b""))


def _header(reader: Iterator[list[str]], source: CsvSource) -> list[str]:
    if source.header is not True:
        if source.header is False:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                fault(
                    "false leaves the columns without names",
                    file="site.yaml",
                    key="source.header",
                    advice="list their names there instead",
                ),
            )
        return list(source.header)
    names = next((record for record in reader if record), None)
    if names is None:
        told = fault("the file is empty", file=source.file, advice="export the table again")
        raise WardroundError(Reason.DATA_MISSING, told)
    if len(names) == 1:
        found = [f"{name} ({sign!r})" for sign, name in _SEPARATORS.items() if sign in names[0]]
        if found:
            raise WardroundError(
                Reason.DATA_UNREADABLE,
                fault(
                    f"one column found with source.separator {source.separator!r}",
                    file=source.file,
                    advice=f"its header has the sign {' and '.join(found)}: name that one",
                ),
            )
    return names


def _without_blank_lines(chunk: list[list[str]], expected: int, source: CsvSource, before: int) -> list[list[str]]:
    """The chunk's rows, if all that differ in length are lines without anything."""
    rows = [record for record in chunk if record]
    number = before
    for record in rows:
        number += 1
        if len(record) == expected:
            continue
        if len(record) == 1 and expected > 1:
            hint = "check source.separator"
        elif source.decimal == source.separator or len(record) > expected:
            hint = "quote values that hold the separator, and check source.separator"
        else:
            hint = "fill the row up with empty fields"
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            fault(
                f"found {len(record)} fields",
                file=source.file,
                row=number,
                expected=f"{expected} as in {'the header' if source.header is True else 'source.header'}",
                advice=hint,
            ),
        )
    return rows


@contextmanager
def _opened(source: CsvSource) -> Iterator[io.TextIOWrapper]:
    file = source.file
    refuse_no_file(file, expected="a table", advice="name it at source.file of site.yaml")
    encoding = "utf-8-sig" if source.encoding.lower().replace("_", "-") in ("utf-8", "utf8") else source.encoding
    try:
        "".encode(encoding)
    except (LookupError, ValueError):  # ValueError: a null character, or a codec that refuses all text
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            fault(
                f"source.encoding of site.yaml: {source.encoding!r:.80} is not known here",
                file=file,
                expected="the one that the file was exported in, such as utf-8, latin-1, cp1252 or utf-16",
            ),
        ) from None
    if file.suffix.lower() != ".zip":
        with file.open("rb") as raw:
            _refuse_other_formats(source, raw.read(_START))
            raw.seek(0)
            yield io.TextIOWrapper(raw, encoding=encoding, newline="")
        return
    try:
        with zipfile.ZipFile(file) as archive:
            members = [
                one for one in archive.infolist() if not one.is_dir() and not one.filename.startswith("__MACOSX")
            ]
            if len(members) != 1:
                raise WardroundError(
                    Reason.DATA_UNREADABLE,
                    fault(f"holds {len(members)} files", file=file, expected="one", advice="unpack it and name one"),
                )
            with archive.open(members[0]) as raw:
                yield io.TextIOWrapper(raw, encoding=encoding, newline="")
    # zipfile raises RuntimeError where a password is asked for, and a kind of it on a compression that it lacks
    except (zipfile.BadZipFile, RuntimeError, EOFError) as error:
        told = fault(f"not readable as a zip archive: {error}", file=file, advice="copy it again")
        raise WardroundError(Reason.DATA_UNREADABLE, told) from error


def _refuse_other_formats(source: CsvSource, start: bytes) -> None:
    for magic, (what, advice) in _OTHER_FORMATS.items():
        if start.startswith(magic):
            raise WardroundError(
                Reason.DATA_UNREADABLE, fault(f"no text table but {what}", file=source.file, advice=advice)
            )
    if "16" in source.encoding or "32" in source.encoding:
        return
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        told = fault("written in utf-16", file=source.file, advice="set source.encoding to utf-16")
        raise WardroundError(Reason.DATA_UNREADABLE, told)
    if b"\0" in start:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            fault("no text table: it holds binary data", file=source.file, advice="export the table as CSV"),
        )


def _wrong_encoding(source: CsvSource, error: UnicodeError) -> Fault:
    where = ""
    if isinstance(error, UnicodeDecodeError):
        where = f" (byte 0x{error.object[error.start]:02x})"
    return fault(
        f"not readable in source.encoding {source.encoding}{where}",
        file=source.file,
        advice="name the encoding that it was exported in, often cp1252 or latin-1",
    )
