"""``egm signature``: the keyed signature of each component, as GAT returns it, on a terminal."""

from pathlib import Path

import click

from egm.config.cabinet_file import load_cabinet
from egm.errors import LocalError, OperatorError
from egm.verify.digest import SignatureAlgorithm, compute_signatures, read_seed
from egm.verify.own_files import find_software_scope
from egm.verify.software_files import PATH_PREFIXES_BY_COMPONENT, list_software_files
from tools.cli.tables import Column, OutputFormat, Table, add_format_options, show


@click.command()
@click.option("--cabinet", type=click.Path(path_type=Path, dir_okay=False), help="The cabinet file.")
@click.option("--seed", default="", metavar="HEX", help="The HMAC key given by the inspector.")
@click.option(
    "--algorithm",
    type=click.Choice([algorithm.value for algorithm in SignatureAlgorithm]),
    default=SignatureAlgorithm.SHA1_HMAC.value,
    show_default=True,
    help="An HMAC with the seed as key, or a plain digest.",
)
@click.option(
    "--component",
    "component_names",
    type=click.Choice(sorted(PATH_PREFIXES_BY_COMPONENT)),
    multiple=True,
    help="Only this component; repeat for more.",
)
@add_format_options
def command(
    *,
    cabinet: Path | None,
    seed: str,
    algorithm: str,
    component_names: tuple[str, ...],
    output_format: OutputFormat,
) -> None:
    """Sign each component of the software installed here, as GAT does; no machine is queried.

    `egm gat sign` queries a running machine; with the same software and seed, both print the same.

    The signed content of a component is: its files in the order of their names, each as one line "<size>
    <name>" followed by its bytes. So anybody can compute the signature.
    """
    try:
        software_scope = find_software_scope(load_cabinet(cabinet))
        signatures = compute_signatures(
            list_software_files(software_scope),
            SignatureAlgorithm(algorithm),
            read_seed(seed),
            component_names,
        )
    except (OperatorError, LocalError) as error:
        raise click.ClickException(str(error)) from error
    document = {"algorithm": algorithm, "seed": seed, "components": signatures}
    show(
        output_format,
        Table(("component", Column(algorithm, "signature")), signatures.items()),
        document=document,
    )
