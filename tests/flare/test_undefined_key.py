"""Where no round can be chosen, the run says at which site, why, and what would have done."""

from wardround.flare.undefined_key import UndefinedKey
from wardround.records.metric_record import MetricRecord, undefined


def _value(name: str) -> MetricRecord:
    return MetricRecord(name=name, value=0.1, n=9)


def test_it_names_sites_reasons_and_what_is_defined_at_all_of_them() -> None:
    key = UndefinedKey("auroc")
    key.look("b", [undefined("auroc", "one_class"), _value("brier"), _value("auprc")])
    key.look("a", [undefined("auroc", "no_rows"), undefined("auprc", "no_rows"), _value("brier"), _value("log_loss")])
    key.look("c", [_value("auroc"), _value("accuracy")])
    assert key.explanation() == (
        "; auroc is undefined at a: no_rows, b: one_class; choose an evaluation.key_metric that is defined there, "
        "such as brier"
    )


def test_it_advises_nothing_where_nothing_is_defined_and_says_nothing_where_all_is() -> None:
    key = UndefinedKey("auroc")
    assert key.explanation() == ""
    key.look("a", [_value("auroc")])
    assert key.explanation() == ""
    key.look("b", [undefined("auroc", "no_rows")])
    assert key.explanation() == "; auroc is undefined at b: no_rows"
