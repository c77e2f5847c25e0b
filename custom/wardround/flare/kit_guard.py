"""The component that a server or a site starts with: what must hold before it connects, and what it will not answer."""

from pathlib import Path

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.fl_exception import UnsafeComponentError
from nvflare.apis.workspace import Workspace
from nvflare.private.defs import InfoCollectorTopic, SysCommandTopic, TrainingTopic
from nvflare.private.fed.client.client_req_processors import ClientRequestProcessors

from wardround.flare.installation import startup_faults

# All that a server needs of a site to schedule, deploy, start, watch, and end jobs, and what `view` and `operate` ask.
ANSWERED = frozenset(
    {
        TrainingTopic.ABORT,
        TrainingTopic.ABORT_TASK,
        TrainingTopic.CANCEL_RESOURCE,
        TrainingTopic.CHECK_RESOURCE,
        TrainingTopic.CHECK_STATUS,
        TrainingTopic.DELETE_RUN,
        TrainingTopic.DEPLOY,
        TrainingTopic.GET_SCOPES,
        TrainingTopic.NOTIFY_JOB_STATUS,
        TrainingTopic.RESTART,
        TrainingTopic.SHUTDOWN,
        TrainingTopic.START_JOB,
        InfoCollectorTopic.RESET_ERRORS,
        InfoCollectorTopic.SHOW_ERRORS,
        InfoCollectorTopic.SHOW_STATS,
        SysCommandTopic.REPORT_RESOURCES,
        SysCommandTopic.REPORT_VERSION,
        SysCommandTopic.SYS_INFO,
    }
)


class KitGuard(FLComponent):
    """Refuses to start an edited kit, and takes away a site's answers to all commands but those in `ANSWERED`.

    `resources.json` names it, so it is the site's own and no job can leave it out. It acts in the standing process
    before that registers with the server:

    - A startup file that is not as it was when the kit was installed, or a path with a space, at which FLARE would
      split the command line of every job: the process ends with one line that says so.
    - A site authorises a command only where the server's message asks it to, by the name and role that the same
      message states. Against a server that was tampered with, authorization.json is therefore worth nothing: FLARE's
      `cat`, `tail`, `head`, `grep` and `ls` would give it any file that the process may read. Without the shell
      processor there is nothing to authorise. Commands that change or report a site's logs and folders go too, and
      so would a command that a later FLARE adds.

    It does not stop a tampered server from what it may do anyway: send jobs signed by a person of the consortium,
    abort them, stop or restart the site's process, or ask for its memory and GPUs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.register_event_handler(EventType.SYSTEM_BOOTSTRAP, self._before_connecting)

    def _before_connecting(self, _event: str, fl_ctx: FLContext) -> None:
        withhold_processors()
        workspace: Workspace = fl_ctx.get_prop(FLContextKey.WORKSPACE_OBJECT)
        try:
            faults = startup_faults(Path(workspace.get_root_dir()))
        except Exception as error:  # whatever it is: FLARE would log it and start the kit
            faults = [str(error)]
        if faults:
            # of all exceptions in a handler only this one ends the process
            raise UnsafeComponentError(f"not started: {'; '.join(faults)}")


def withhold_processors() -> list[str]:
    """Takes every processor out of FLARE's list that answers more than `ANSWERED`, and returns the topics withheld.

    FLARE hands this list to the site's command agent right after the start.
    """
    processors = ClientRequestProcessors.request_processors
    withheld = [one for one in processors if not ANSWERED.issuperset(one.get_topics())]
    processors[:] = [one for one in processors if one not in withheld]
    return sorted(topic for one in withheld for topic in one.get_topics())
