"""`lacuner bench`: studies, run by run; their tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from lacuner.cli.bench_options import Only, filters, pairs
from lacuner.cli.bench_results import plot, table
from lacuner.cli.console import Json, Quiet, print_json, results, say, tell

app = typer.Typer(
    name="bench",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


@app.callback()
def bench() -> None:
    """Run studies: corpora × masking rates × recipes × encoders × seeds.

    A first one, which needs no data: lacuner bench run demo --out results
    """


StudyArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A name of 'lacuner bench list', or a TOML file.")
]
ProfileOption = Annotated[str, typer.Option("--profile", help="How large: cpu or full.")]


@app.command("list")
def list_studies(json: Json = False) -> None:
    """List the studies that ship, and how many runs their profiles have."""
    from lacuner.experiments.plan import plan_runs
    from lacuner.experiments.study_file import load_study, shipped_studies

    studies = [load_study(name) for name in shipped_studies()]
    runs = {
        study.name: {profile: len(plan_runs(study, profile)) for profile in study.profiles}
        for study in studies
    }
    if json:
        print_json([{"name": s.name, "title": s.title, "runs": runs[s.name]} for s in studies])
        return
    table = Table("study", "runs", "what it measures", box=None, header_style="bold")
    for study in studies:
        counts = ", ".join(f"{profile} {count}" for profile, count in runs[study.name].items())
        table.add_row(study.name, counts, study.title)
    results().print(table)


@app.command()
def run(
    study: StudyArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for STUDY.jsonl.")],
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Folder of the corpora.")
    ] = None,
    profile: ProfileOption = "cpu",
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Runs at once.")] = 1,
    runs: Annotated[
        Path | None,
        typer.Option("--runs", help="Folder for runs while they are made. (default: OUT/.runs)"),
    ] = None,
    keep_runs: Annotated[
        bool, typer.Option("--keep-runs", help="Leave the run folders, with their models.")
    ] = False,
    only: Only = None,
    encoder: Annotated[
        list[str] | None,
        typer.Option("--encoder", metavar="NAME=PLACE", help="Folder or name of an encoder."),
    ] = None,
    limit_minutes: Annotated[
        float | None,
        typer.Option("--limit-minutes", help="Save and stop after so long; go on another time."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the runs, make none.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make the runs of a study that have no row yet.

    Every run is a process of its own and a row of OUT/STUDY.jsonl. A bench that was stopped or
    killed goes on by the same command; a finished run is not repeated unless its settings or
    data changed. A failed run is reported, the others go on, and the exit code is 1.

    Example: lacuner bench run masked-conll --data corpora --out results --only masking=0.8
    """  # fmt: skip
    from lacuner.corpus.findings import Findings
    from lacuner.experiments.job import plan_jobs
    from lacuner.experiments.plan import plan_runs
    from lacuner.experiments.results import Results
    from lacuner.experiments.study_file import load_study

    described = load_study(study)
    plans = plan_runs(described, profile, encoders=pairs(encoder, "--encoder"), only=filters(only))
    rows = Results(out / f"{described.name}.jsonl")
    findings = Findings()
    all_jobs = plan_jobs(
        plans, rows, data=data, runs=runs or out / ".runs", keep=keep_runs, findings=findings
    )
    tell(findings, quiet=True)
    finished = rows.finished()
    wanted = [job for job in all_jobs if job.run not in finished]
    say(
        f"{described.name}, {profile}: {len(all_jobs)} runs, {len(all_jobs) - len(wanted)} "
        f"finished, {len(wanted)} to make",
        quiet=quiet or json,
    )
    if dry_run:
        _list_jobs(all_jobs, finished, json=json)
        return
    summary = {"study": described.name, "profile": profile, "results": str(rows.path)}
    code = _make(wanted, rows, summary, jobs, limit_minutes, quiet=quiet, json=json)
    if code:
        raise typer.Exit(code)


def _make(
    wanted: list[Any],
    rows: Any,
    summary: dict[str, Any],
    parallel: int,
    limit_minutes: float | None,
    *,
    quiet: bool,
    json: bool,
) -> int:
    from lacuner.cli.bench_progress import BenchProgress
    from lacuner.experiments.bench import Bench, Failed, Finished

    seconds = None if limit_minutes is None else 60 * limit_minutes
    bench = Bench(wanted, rows, parallel=parallel, seconds=seconds)
    made, failed, interrupted = 0, list[dict[str, str]](), False
    progress = BenchProgress(wanted, rows.rows(), parallel=parallel, quiet=quiet or json)
    with progress:
        try:
            for event in bench.run():
                progress(event)
                if isinstance(event, Failed):
                    failed.append({"run": event.job.title, "message": event.message})
                made += isinstance(event, Finished)
        except KeyboardInterrupt:
            interrupted = True
    left = len(wanted) - made - len(failed)
    if json:
        print_json({**summary, "made": made, "failed": failed, "left": left})
    if left:
        say(f"stopped, {_runs(left)} left; the same command goes on", quiet=quiet or json)
    if failed:
        say(f"{_runs(len(failed))} failed; the same command tries again", quiet=json)
    elif not left:
        say(
            f"{summary['results']}: complete. 'lacuner bench table' shows it.",
            quiet=quiet or json,
        )
    return 130 if interrupted else int(bool(failed))


def _list_jobs(jobs: list[Any], finished: set[str], *, json: bool) -> None:
    states = [
        {
            "run": job.run,
            "title": job.title,
            "state": "finished"
            if job.run in finished
            else ("begun" if Path(job.folder).exists() else "to make"),
        }
        for job in jobs
    ]
    if json:
        print_json(states)
        return
    table = Table("run", "state", "what", box=None, header_style="bold")
    for state in states:
        table.add_row(state["run"], state["state"], state["title"])
    results().print(table)


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


app.command()(table)
app.command()(plot)
