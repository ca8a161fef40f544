"""`tacit list`."""

from typing import Any, Literal

from tacit.cli._app import Unused, command, print_json, warn


@command("tacit list theorems", data=None, name="list")
def list_(
    what: Literal["data", "properties", "theorems", "figures", "measures", "initialisations"],
    /,
    *,
    seed: Unused = 0,
    json: bool = False,
) -> int:
    """What there is: generators of data, properties, theorems, figures, measures, initialisations.

    Parameters
    ----------
    what
        Which list.
    seed
        Accepted by every command; nothing here is random.
    json
        One JSON object on standard output.
    """
    items = _items(what)
    if json:
        print_json({"items": items})
    else:
        _print_items(items)
    return 0


def _items(what: str) -> list[dict[str, Any]]:
    """The entries of `tacit list`."""
    if what == "data":
        from tacit.data import GENERATORS

        return [
            {"name": g.name, "parameters": g.parameters, "place": g.place, "summary": g.summary}
            for g in GENERATORS.values()
        ]
    if what == "properties":
        from tacit.geometry import predicates

        return [
            {"name": p.name, "place": p.place, "summary": p.summary} for p in predicates().values()
        ]
    if what == "theorems":
        from tacit.theorems import theorems

        return [
            {"name": t.id, "place": " ".join(t.source), "needs": t.needs, "summary": t.summary}
            for t in theorems().values()
        ]
    if what == "figures":
        from tacit.reproduction import catalogue

        figures, unreadable = catalogue()
        for reason in unreadable.values():
            warn(reason)
        return [
            {"name": one.id, "place": one.place, "summary": one.title} for one in figures.values()
        ]
    if what == "measures":
        from tacit.measures import MEASURES

        return [
            {"name": name, "summary": (compute.__doc__ or "").partition("\n")[0]}
            for name, compute in MEASURES.items()
        ]
    from tacit.models.initialisations import INITIALISATIONS

    return [
        {"name": kind.form, "summary": (kind.__doc__ or "").partition("\n")[0]}
        for kind in INITIALISATIONS.values()
    ]


def _print_items(entries: list[dict[str, Any]]) -> None:
    from rich.markup import escape

    from tacit.cli.terminal import console, print_hanging

    out = console()
    for entry in entries:
        place = f"[dim]{escape(entry['place'])}[/]" if "place" in entry else " "
        print_hanging(out, f"[bold]{escape(entry['name'])}[/]  ", place)
        print_hanging(out, "    ", escape(entry["summary"]))
        if entry.get("parameters"):
            given = ", ".join(f"{k}={v}" for k, v in entry["parameters"].items())
            print_hanging(out, "    ", escape(given), style="dim")
