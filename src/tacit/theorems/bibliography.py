"""How to cite the papers, by the key that theorem ids begin with."""

from functools import cache
from importlib import import_module

from tacit.values.discovery import paper_keys


@cache
def bibtex() -> dict[str, str]:
    """The BibTeX entry of every published paper."""
    modules = {key: import_module(f"tacit.papers.{key}") for key in paper_keys()}
    return {key: module.BIBTEX for key, module in modules.items() if hasattr(module, "BIBTEX")}
