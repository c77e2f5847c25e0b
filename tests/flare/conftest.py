import logging
from collections.abc import Iterator

import pytest

from support.loopback import use_fake_workload


@pytest.fixture(autouse=True)
def _fake_workload(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    use_fake_workload(monkeypatch)
    logger = logging.getLogger("wardround")
    propagate, level = logger.propagate, logger.level
    yield
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.propagate, logger.level = propagate, level
