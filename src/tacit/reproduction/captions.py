"""Claims in words: the caption of a picture, the paper's number beside ours."""

from typing import Any


def caption(about: dict[str, Any]) -> str:
    """The caption of a picture: its claims, and whether they hold."""
    lines = [f"{about['id']} ({about['place']})"]
    lines += [f"{'✓' if c['holds'] else '✗'} {c['text']}: {compared(c)}" for c in about["claims"]]
    return "\n".join(lines)


def compared(claim: dict[str, Any]) -> str:
    """Our number and the paper's, in a few words."""
    said = f"{number(claim['ours'])}, paper: {number(claim['paper'])}"
    said += f", judged by {claim['criterion']}" if claim.get("criterion") else ""
    if claim["interval"] is not None:
        low, high = claim["interval"]
        said += f" (99% interval {number(low)} … {number(high)})"
    return said


def number(value: float | str | None) -> str:
    """Four digits, and more where these would hide that it is not 1."""
    if value is None:
        return "unbounded"
    if isinstance(value, str):
        return value
    return f"{value:.7g}" if 0 < abs(value - 1) < 1e-3 else f"{value:.4g}"
