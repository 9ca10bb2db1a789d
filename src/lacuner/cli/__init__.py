"""The command line: thin commands over library functions, one file each."""

from __future__ import annotations

import gc
import sys
from typing import Annotated

import typer

from lacuner.cli import bench
from lacuner.cli.adapt import adapt
from lacuner.cli.augment import augment
from lacuner.cli.catalogue import encoders, recipes
from lacuner.cli.console import messages
from lacuner.cli.convert import convert
from lacuner.cli.demo import demo
from lacuner.cli.evaluate import evaluate
from lacuner.cli.formats import formats
from lacuner.cli.label import label
from lacuner.cli.mask import mask
from lacuner.cli.names import names
from lacuner.cli.predict import predict
from lacuner.cli.refill import refill
from lacuner.cli.show_removed import show_removed
from lacuner.cli.split import split
from lacuner.cli.stats import stats
from lacuner.cli.train import train
from lacuner.errors import LacunerError

app = typer.Typer(
    name="lacuner",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from lacuner import __version__

        typer.echo(f"lacuner {__version__}")
        raise typer.Exit()


@app.callback()
def describe(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """Train named-entity recognisers from labels with gaps.

    A dictionary matched on raw text, a corpus tagged only in part, a noisy knowledge base: in all
    of them a missing label does not mean "no entity". Lacuner keeps that difference from the
    first file it reads.

    A first tour:

    - `lacuner demo`: the embedded corpus, its dictionary, and the gaps

    - `lacuner label news.txt --names PER=people.txt --names places.csv -o news.jsonl`

    - `lacuner train news.jsonl --dev dev.conll -o run`

    - `lacuner predict run more.txt -o found.jsonl`

    - `lacuner evaluate found.jsonl --gold gold.conll`

    Files are recognised by themselves ('lacuner formats' lists them). Exit code 0 is success,
    1 bad data, 2 wrong use.
    """


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns its exit code: no traceback for what a person can mend."""
    # Corpora are very many small objects without cycles: look for cycles less often. It saves a
    # third of the time of commands that stream.
    gc.set_threshold(100_000, 20, 100)
    try:
        app(arguments, standalone_mode=True)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except LacunerError as error:
        messages().print(f"error: {error}", markup=False, soft_wrap=True)
        return error.exit_code
    except KeyboardInterrupt:
        messages().print("stopped")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        messages().print(f"error: {place}{error.strerror or error}", markup=False, soft_wrap=True)
        return 1
    return 0


COMMANDS = (
    demo,
    names,
    label,
    train,
    predict,
    evaluate,
    convert,
    stats,
    mask,
    split,
    adapt,
    augment,
    refill,
    show_removed,
    recipes,
    encoders,
    formats,
)

for command in COMMANDS:
    app.command()(command)
app.add_typer(bench.app)
