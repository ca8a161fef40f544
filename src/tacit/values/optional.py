"""Libraries that only one method needs."""

from importlib import import_module
from typing import Any

from tacit.messages import BadInput


def optional_import(name: str, what: str) -> Any:
    """The module; one line says what to install where it is missing."""
    try:
        return import_module(name)
    except ImportError:
        raise BadInput(f"{what} needs {name}; install it with: pip install {name}") from None
