"""Sites that were not ready in time: asked again without waiting for them, so that they join a later round."""

import threading
import time
from typing import TYPE_CHECKING

from nvflare.app_common.abstract.fl_model import FLModel
from torch import Tensor

from wardround.flare import messages
from wardround.flare.enrolment import Enrolled, read_manifest, verify
from wardround.records.reasons import Reason, WardroundError
from wardround.records.update import SiteManifest

if TYPE_CHECKING:
    from wardround.flare.controller import RoundController


class Latecomers:
    """Invites the sites that `prepare` missed, at the start of each round, and admits those that have answered.

    Preparing every case for the first time can take longer than the others wish to wait. Whoever joins late trains
    from then on; the choice of the best model stays with the sites that were there from the start, and so do the sums
    that the initial model rests on.

    Why a site cannot prepare is in the record, once a reason. It is asked again, since a table can be corrected, but
    not where it holds the study's contract to be another than it agreed to: only people can settle that.
    """

    def __init__(self, controller: "RoundController") -> None:
        self._controller = controller
        self._lock = threading.Lock()
        self._invited: dict[str, float] = {}  # until when an answer can come
        self._arrived: dict[str, SiteManifest] = {}
        self._refused: set[str] = set()

    def admit(self, shared: dict[str, Tensor]) -> None:
        """Enrols those that have answered and fit; who does not fit is named once and not asked again."""
        controller = self._controller
        with self._lock:
            arrived, self._arrived = self._arrived, {}
        for site, manifest in sorted(arrived.items()):
            try:
                verify({site: manifest}, controller.study, shared)
            except WardroundError as error:
                controller.record.incomplete(str(error))
                self._refused.add(site)
                continue
            manifests = {**controller.enrolled.manifests, site: manifest}
            missing = {name: why for name, why in controller.enrolled.missing.items() if name != site}
            controller.enrolled = Enrolled(manifests, missing)
            controller.record.join(manifest, controller.current_round)

    def invite(self) -> None:
        """Asks those that are connected now; does not wait."""
        controller, now = self._controller, time.monotonic()
        connected = set(controller.connected())
        deadline = controller.study.federation.prepare_deadline_seconds
        for site in sorted((set(controller.enrolled.missing) & connected) - self._refused):
            if self._invited.get(site, 0.0) > now:
                continue
            self._invited[site] = now + deadline
            # the first round that it can be part of: above 0, so that it sends no sums for a model that is made
            order = controller.order(controller.current_round + 1, 0)
            controller.send(
                FLModel(metrics={}, current_round=order.round, meta=messages.meta(order)),
                messages.PREPARE,
                targets=[site],
                timeout=deadline,
                callback=self._on_answer,
            )

    def _on_answer(self, answer: FLModel) -> None:
        site, reply = read_manifest(answer, self._controller.study)
        if reply.manifest is not None:
            with self._lock:
                self._arrived[site] = reply.manifest
            return
        reason = reply.error or Reason.REPLY_INVALID
        self._controller.record.incomplete(f"{site}: {reason}")
        if reason is Reason.CONTRACT_MISMATCH:
            self._refused.add(site)
