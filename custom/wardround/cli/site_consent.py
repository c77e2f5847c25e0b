"""`wardround site approve` and `revoke`: a hospital's consent to a study, and its end."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wardround.cli.console import progress, results
from wardround.cli.hospital import hospital
from wardround.cli.options import Overrides
from wardround.records.reasons import Reason, WardroundError

if TYPE_CHECKING:
    from wardround.flare.kit import Kit
    from wardround.records.consent import Subject

_SiteFile = Annotated[
    Path, typer.Option("--site", help="The hospital's startup kit, or its site.yaml.", metavar="KIT_OR_SITE_YAML")
]
_Person = Annotated[
    str,
    typer.Option(
        help="The person who answers for the decision at the hospital.", prompt="Who answers for it (--person)"
    ),
]


def approve(
    study: Annotated[
        Path, typer.Argument(help="The study's folder or job.yaml, or what a refused job asked for.", metavar="STUDY")
    ],
    site: _SiteFile,
    person: _Person,
    ethics: Annotated[
        str,
        typer.Option(
            help="Reference of the ethics board's decision.", prompt="The ethics board's reference (--ethics)"
        ),
    ],
    image: Annotated[
        str,
        typer.Option(
            help="Digest (sha256:...) of the image that this site's jobs run in; by default what the kit tells them."
        ),
    ] = "",
    overrides: Overrides = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before a study that changed, or was revoked, is approved.")
    ] = False,
) -> None:
    """Agree to a study at this hospital: no task of it is done before, and any change of it asks again.

    What is agreed to is told in a few lines. What was approved before is compared with what is approved now, and the
    difference is shown.
    """
    from wardround.cli.study_summary import summary_lines
    from wardround.records.consent import Approval, Revocation, differences
    from wardround.records.study import load_study
    from wardround.site.consent import needs_consent, subject_of
    from wardround.site.consent_file import ConsentFile, now_in_utc, told
    from wardround.workloads.registry import make_workload

    (config, kit), chosen = hospital(site), load_study(study, tuple(overrides or ()))
    if not config.section(str(chosen.workload["kind"]), chosen.name):
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{site}: the section for {chosen.name} is empty")
    subject = _with_image(subject_of(chosen), image or _installed_image(kit, chosen.name))
    person, ethics = _said(person, "--person"), _said(ethics, "--ethics")
    file = ConsentFile(config.state_folder, chosen.name)
    known = file.decisions()
    before = [one for one in known if isinstance(one, Approval)]
    for line in summary_lines(chosen, site=config.name, trains=config.role == "train"):
        results().print(line, soft_wrap=True, markup=False)
    changed = differences(before[-1].subject, subject) if before else []
    for line in changed:
        results().print(f"changed      {line}", soft_wrap=True, markup=False)
    asks = [f"{len(changed)} changes since {before[-1].person} approved it on {before[-1].time}"] if changed else []
    if known and isinstance(known[-1], Revocation):
        asks.insert(0, f"it was {told(known[-1])}")
    if asks and not yes:
        _ask("; ".join(asks))
    decision = Approval(
        time=now_in_utc(),
        person=person,
        ethics_reference=ethics,
        contract_sha256=make_workload(chosen).contract_digest(),
        subject=subject,
    )
    file.add(decision, knowing=known)
    for name, value in (
        ("approved", f"{chosen.name} at {config.name} by {decision.person}, {decision.ethics_reference}"),
        ("job", subject.study_sha256),
        ("contract", decision.contract_sha256),
        ("code", subject.package_sha256),
        ("image", subject.image_digest or "none told: jobs run as processes, or in an image that is named by a tag"),
        ("recorded", str(file.file)),
    ):
        results().print(f"{name:<12} {value}", soft_wrap=True, markup=False)
    if not needs_consent(config):
        progress().print(
            "note: by its site.yaml this data is generated or published, so nothing waits for an approval; "
            "a revocation is heeded all the same",
            soft_wrap=True,
        )


def revoke(
    study: Annotated[str, typer.Argument(help="The study's name.", metavar="STUDY")],
    site: _SiteFile,
    person: _Person,
    why: Annotated[str, typer.Option(help="The reason, for the record.", prompt="Why (--why)")],
) -> None:
    """Take a consent back: what runs of the study stops within seconds, and nothing more is done for it.

    So too at a site whose generated or published data needs no approval, where a study can be revoked that nobody
    approved. Models that this hospital helped to train keep what they learned.
    """
    from wardround.records.consent import Revocation
    from wardround.records.study import refuse_other_name
    from wardround.site.consent import needs_consent
    from wardround.site.consent_file import ConsentFile, now_in_utc

    refuse_other_name(study)
    config, _ = hospital(site)
    file = ConsentFile(config.state_folder, study)
    last = file.last()
    if isinstance(last, Revocation) or (last is None and needs_consent(config)):
        known = sorted(one.stem for one in file.file.parent.glob("*.jsonl"))
        raise WardroundError(
            Reason.CONSENT_MISSING,
            f"{study}: not approved at {config.name}, so there is nothing to revoke; decided on here: "
            f"{', '.join(known) or 'no study'}",
        )
    file.add(Revocation(time=now_in_utc(), person=_said(person, "--person"), why=_said(why, "--why")))
    results().print(f"revoked      {study} at {config.name}; recorded in {file.file}", soft_wrap=True, markup=False)
    if last is None:
        progress().print(f"note: nobody had approved a study of the name {study} here", soft_wrap=True, markup=False)


def _installed_image(kit: "Kit | None", study: str) -> str:
    if kit is None:
        return ""
    from wardround.flare.container_settings import installed_image_digest

    return installed_image_digest(kit, study) or ""


def _with_image(subject: "Subject", image: str) -> "Subject":
    from wardround.records.consent import Subject
    from wardround.records.schema_faults import validated

    settings = {**subject.model_dump(), **({"image_digest": image} if image else {})}
    return validated(Subject, settings, "--image")


def _said(text: str, option: str) -> str:
    if not text.strip() or len(text) > 200:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{option}: expected 1 to 200 characters, found {len(text.strip())}"
        )
    return text.strip()


def _ask(why: str) -> None:
    if not sys.stdin.isatty():
        raise WardroundError(
            Reason.CONSENT_CHANGED, f"not approved: {why}. No terminal to ask at; to approve all the same add --yes"
        )
    typer.confirm(f"{why}. Approve", abort=True)
