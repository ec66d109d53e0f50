"""`retrace key`: what opens the gateway to a client."""

from __future__ import annotations

import typer
from rich.console import Console

app = typer.Typer()


@app.command()
def key() -> None:
    """Make an API key. It is shown once; only its hash goes into tiers.yaml.

    Until there is one, the gateway serves this machine alone.
    """
    from gateway import keys

    made = keys.new_key()
    told = (
        f"key   {made}   (give it to the client; it can't be shown again)",
        f"hash  {keys.hashed(made)}",
        "In rules/tiers.yaml:",
        f"  keys:\n    - hash: {keys.hashed(made)}\n      tenant: my-team",
    )
    Console().print(*told, sep="\n", highlight=False)
