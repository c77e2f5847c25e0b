import os
import zipfile
from datetime import time, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import polars as pl
import pytest
import sqlalchemy
from pydantic import TypeAdapter, ValidationError

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.settings import Source
from wardround.workloads.clinical_risk.sources import SourceRows, read_source
from wardround.workloads.clinical_risk.sql_query import _series


def _read(wanted: set[str], **source: Any) -> SourceRows:
    return read_source(TypeAdapter(Source).validate_python(source), wanted)


def _csv(folder: Path, content: bytes | str, name: str = "t.csv", **source: Any) -> SourceRows:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return _read({"a", "b"}, kind="csv", file=file, **source)


def test_values_of_a_text_file_stay_text(tmp_path: Path) -> None:
    read = _csv(tmp_path, 'a,c,b\n01, x,"1,5"\n\n2,y,\n')
    assert read.names == ["a", "c", "b"]
    assert read.frame.to_dict(as_series=False) == {"a": ["01", "2"], "b": ["1,5", ""]}


def test_names_stand_in_for_a_header(tmp_path: Path) -> None:
    assert _csv(tmp_path, "1,2\n3,4\n", header=["b", "a"]).frame["a"].to_list() == ["2", "4"]
    with pytest.raises(WardroundError, match=r"row 1: found 2 fields, expected 3 as in source\.header"):
        _csv(tmp_path, "1,2\n3,4\n", header=["b", "a", "c"])
    with pytest.raises(WardroundError, match=r"source\.header: false"):
        _csv(tmp_path, "1,2\n", header=False)


def test_a_zip_with_one_file(tmp_path: Path) -> None:
    packed = tmp_path / "t.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("data/t.csv", "a,b\n1,2\n")
    assert _read({"a"}, kind="csv", file=packed).frame["a"].to_list() == ["1"]
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("other.csv", "a,b\n1,2\n")
    with pytest.raises(WardroundError, match="holds 2 files, expected one"):
        _read({"a"}, kind="csv", file=packed)
    packed.write_bytes(packed.read_bytes()[:60])
    with pytest.raises(WardroundError, match="not readable as a zip archive"):
        _read({"a"}, kind="csv", file=packed)


@pytest.mark.parametrize(
    ("at", "value", "told"), [(6, 1, "password required"), (8, 99, "compression method is not supported")]
)
def test_a_zip_that_cannot_be_unpacked(tmp_path: Path, at: int, value: int, told: str) -> None:
    packed = tmp_path / "t.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("t.csv", "a,b\n1,2\n")
    content = bytearray(packed.read_bytes())
    content[at] = content[content.index(b"PK\x01\x02") + at + 2] = value  # in the file's own header and in the list
    packed.write_bytes(content)
    with pytest.raises(WardroundError, match=f"not readable as a zip archive: .*{told}"):
        _read({"a"}, kind="csv", file=packed)


@pytest.mark.parametrize(
    ("content", "code", "told"),
    [
        (b"", Reason.DATA_MISSING, "the file is empty"),
        (b"\n\n", Reason.DATA_MISSING, "the file is empty"),
        (b"a,b\n", Reason.DATA_MISSING, "has columns, but no row"),
        (b"a;b\n1;2\n", Reason.DATA_UNREADABLE, r"one column found with source\.separator ','.*semicolon"),
        (b"a\tb\n1\t2\n", Reason.DATA_UNREADABLE, r"its header has the sign tab"),
        (b"a,b\n1,2\n3,4,5\n", Reason.DATA_UNREADABLE, "row 2: found 3 fields, expected 2 as in the header"),
        (b"a,b,c\n1,2,3\n\n4,5\n", Reason.DATA_UNREADABLE, "row 2: found 2 fields, expected 3 as in the header"),
        (b'a,b\n1,"2\n3,4\n', Reason.DATA_UNREADABLE, "check its quotes"),
        (b"a,b\n1,J\xfcrgen\n", Reason.DATA_UNREADABLE, r"source\.encoding utf-8 \(byte 0xfc\)"),
        ("a,b\n1,2\n".encode("utf-16"), Reason.DATA_UNREADABLE, "set source.encoding to utf-16"),
        (b"PAR1....", Reason.DATA_UNREADABLE, r"source\.kind: parquet"),
        (b"PK\x03\x04xxxx", Reason.DATA_UNREADABLE, "an Excel workbook"),
        (b"\x00\x01\x02,\x00\n\x00,\x00\n", Reason.DATA_UNREADABLE, "no text table"),
    ],
)
def test_a_text_file_that_is_not_one(tmp_path: Path, content: bytes, code: Reason, told: str) -> None:
    with pytest.raises(WardroundError, match=told) as caught:
        _csv(tmp_path, content)
    assert caught.value.code == code
    assert "t.csv" in str(caught.value)


def test_the_encoding_is_what_the_site_says(tmp_path: Path) -> None:
    assert _csv(tmp_path, b"a,b\n1,J\xfcrgen\n", encoding="latin-1").frame["b"].to_list() == ["Jürgen"]
    assert _csv(tmp_path, "a,b\n1,2\n".encode("utf-16"), encoding="utf-16").frame["a"].to_list() == ["1"]


@pytest.mark.parametrize("encoding", ["utf-ate", "utf\0", "undefined", "hex", "", "\ud800"])
def test_an_encoding_that_nobody_knows_is_refused_by_its_key(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(WardroundError, match=r"t\.csv: source\.encoding of site\.yaml: .* expected") as caught:
        _csv(tmp_path, "a,b\n1,2\n", encoding=encoding)
    assert caught.value.code == Reason.CONFIGURATION_INVALID


@pytest.mark.parametrize("separator", ["\n", "\r", '"', "\0"])
def test_a_separator_that_cannot_separate_is_refused(tmp_path: Path, separator: str) -> None:
    with pytest.raises(ValidationError, match="separator"):
        _csv(tmp_path, "a,b\n1,2\n", separator=separator)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_is_not_there(tmp_path: Path, kind: str) -> None:
    with pytest.raises(WardroundError, match="no such file") as caught:
        _read({"a"}, kind=kind, file=tmp_path / "none")
    assert caught.value.code == Reason.DATA_MISSING


def test_a_large_file_is_read_whole_across_chunks(tmp_path: Path) -> None:
    count = 45_000
    read = _csv(tmp_path, "a,b\n" + "".join(f"{row},x\n" for row in range(count)))
    assert read.frame["a"].to_list() == [str(row) for row in range(count)]
    with pytest.raises(WardroundError, match=f"row {count + 1}: found 3 fields, expected 2"):
        _csv(tmp_path, "a,b\n" + "".join(f"{row},x\n" for row in range(count)) + "1,2,3\n")


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    pl.DataFrame({"b": [1.5, None], "c": ["x", "y"], "a": [1, 2]}).write_parquet(file)
    read = _read({"a", "b"}, kind="parquet", file=file)
    assert read.frame.to_dict(as_series=False) == {"b": [1.5, None], "a": [1, 2]}
    file.write_text("a,b\n1,2\n")
    with pytest.raises(WardroundError, match=r"not readable as Parquet.*source\.kind"):
        _read({"a"}, kind="parquet", file=file)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([timedelta(days=3)], "Duration"),
        ([time(14, 30)], "Time"),
        ([b"x"], "Binary"),
        ([[1, 2]], "List"),
        ([{"low": 1}], "Struct"),
    ],
)
def test_a_column_of_a_type_that_no_rule_reads_is_refused_by_its_name(
    tmp_path: Path, values: list[Any], kind: str
) -> None:
    file = tmp_path / "t.parquet"
    pl.DataFrame({"a": values, "b": [1], "c": values}).write_parquet(file)
    with pytest.raises(
        WardroundError, match=rf"^t\.parquet, column a: holds {kind}.*, expected numbers, text.*$"
    ) as told:
        _read({"a", "b"}, kind="parquet", file=file)
    assert told.value.code == Reason.DATA_UNREADABLE
    assert _read({"b"}, kind="parquet", file=file).frame["b"].to_list() == [1]  # what nobody asks for may hold anything


def test_a_parquet_columns_name_is_no_pattern(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    pl.DataFrame({"age": [1], "^a.*$": [2], "*": [3]}).write_parquet(file)
    assert _read({"^a.*$"}, kind="parquet", file=file).frame.to_dict(as_series=False) == {"^a.*$": [2]}
    assert _read({"*"}, kind="parquet", file=file).frame.to_dict(as_series=False) == {"*": [3]}


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "hospital.db"
    monkeypatch.setenv("HOSPITAL_DB", f"sqlite:///{file}")
    engine = sqlalchemy.create_engine(os.environ["HOSPITAL_DB"])
    with engine.begin() as connection:
        connection.exec_driver_sql("create table t (a int, b)")
        connection.exec_driver_sql("insert into t values (1, 1.5), (2, 'x'), (3, null)")
    engine.dispose()
    return file


def test_a_query_is_run_as_it_stands(database: Path) -> None:
    query = "select b, a as c, a from t where ':x' <> '%' order by a"
    read = _read({"a", "b"}, kind="sql", query=query, url_variable="HOSPITAL_DB")
    assert read.names == ["b", "c", "a"]
    assert read.frame.to_dict(as_series=False) == {"b": ["1.5", "x", None], "a": [1, 2, 3]}


def test_what_a_driver_has_a_type_of_its_own_for_is_text() -> None:
    number = UUID(int=7)
    assert _series("a", (number, None)).to_list() == [str(number), None]


def test_the_url_may_stand_in_a_mounted_file(database: Path, tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text(os.environ["HOSPITAL_DB"] + "\n")
    assert _read({"a"}, kind="sql", query="select a from t", url_file=secret).frame.height == 3
    with pytest.raises(WardroundError, match=r"url_file .*none: FileNotFoundError") as caught:
        _read({"a"}, kind="sql", query="select a from t", url_file=tmp_path / "none")
    assert caught.value.code == Reason.CREDENTIALS_MISSING


def test_site_yaml_has_no_place_for_a_url() -> None:
    with pytest.raises(ValidationError, match="url"):
        TypeAdapter(Source).validate_python({"kind": "sql", "query": "select 1", "url": "postgresql://u:p@h/d"})
    for places in ({}, {"url_variable": "A", "url_file": "b"}):
        with pytest.raises(ValidationError, match="exactly one of url_variable and url_file"):
            TypeAdapter(Source).validate_python({"kind": "sql", "query": "select 1", **places})


def test_a_query_that_fails_or_finds_nothing_says_why(database: Path) -> None:
    with pytest.raises(WardroundError, match="no such column: nowhere") as caught:
        _read({"a"}, kind="sql", query="select nowhere from t", url_variable="HOSPITAL_DB")
    assert caught.value.code == Reason.DATA_UNREADABLE
    with pytest.raises(WardroundError, match="no row"):
        _read({"a"}, kind="sql", query="select a from t where a > 9", url_variable="HOSPITAL_DB")


@pytest.mark.parametrize("query", ["delete from t", "drop table t"])
def test_a_query_changes_nothing(database: Path, query: str) -> None:
    with pytest.raises(WardroundError, match="readonly"):
        _read({"a"}, kind="sql", query=query, url_variable="HOSPITAL_DB")
    assert _read({"a"}, kind="sql", query="select a from t", url_variable="HOSPITAL_DB").frame.height == 3


@pytest.mark.parametrize(
    "url",
    [
        "oddbase://nurse:S3cret-word@db.ward.example/patients",
        "postgresql+nodriver://nurse:S3cret-word@db.ward.example/patients",
        "postgresql://nurse:S3cret-word@db.ward.example:notaport/patients",
        "nurse S3cret-word",
        "sqlite:////nowhere/S3cret-word/patients.db",
    ],
)
def test_no_message_holds_a_part_of_the_url(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("HOSPITAL_DB", url)
    with pytest.raises(WardroundError) as caught:
        _read({"a"}, kind="sql", query="select 1 as a", url_variable="HOSPITAL_DB")
    error: BaseException | None = caught.value
    while error is not None:  # a traceback shows the chain
        assert "S3cret-word" not in str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("value", [None, "", "  "])
def test_no_url_where_it_should_be(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("HOSPITAL_DB", raising=False)
    if value is not None:
        monkeypatch.setenv("HOSPITAL_DB", value)
    with pytest.raises(WardroundError, match="url_variable HOSPITAL_DB: not set or empty") as caught:
        _read({"a"}, kind="sql", query="select 1 as a", url_variable="HOSPITAL_DB")
    assert caught.value.code == Reason.CREDENTIALS_MISSING
