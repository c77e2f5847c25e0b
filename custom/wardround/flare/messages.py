"""How orders and replies travel in FLARE: as FLModel.meta, and a reply's figures once more as FLARE's own floats."""

from typing import Any

from wardround.records import orders
from wardround.records.metric_record import MetricRecord
from wardround.records.orders import Order, Reply

PREPARE, TRAIN, VALIDATE = orders.TASKS
TASKS = list(orders.TASKS)

KEY = "wardround"  # where an `Order` or a `Reply` lies in FLModel.meta


def meta(message: Order | Reply) -> dict[str, Any]:
    """As FLModel.meta: built-in types alone, which every FLARE decomposer carries."""
    return {KEY: message.model_dump(mode="json")}


def metrics(records: list[MetricRecord]) -> dict[str, float]:
    """FLARE's floats, from the records; what is undefined or suppressed is left out, never 0."""
    return {record.name: record.value for record in records if record.value is not None}
