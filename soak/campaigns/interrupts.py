"""Ctrl-C at a random moment of every command: exit code 130, and one line that says what is kept.

A command that ends before it comes ends as always. A moment is a CPU time, so that it does not
depend on how busy the machine is.
"""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np

from soak.case import Case
from soak.processes import AWAKE, Command

PLAN = """
record = ["train_error", "limit"]
epochs = 2000
seed = { from = 0, to = 30 }
[data]
name = "gaussians"
n = 40
[setting]
width = 20
"""
COMMANDS: dict[str, tuple[float, tuple[object, ...]]] = {
    "check": (1.5, ("check", "gaussians:n=20000,d=50")),
    "predict": (2.0, ("predict", "gaussians:n=300,d=8")),
    "explain": (4.0, ("explain", "--out", "why")),
    "optimum": (2.0, ("optimum", "gaussians:n=60,d=6", "--proof", "proof.json")),
    "limit": (3.0, ("limit", "gaussians:n=40,d=4", "--out", "limit")),
    "train": (3.0, ("train", "gaussians:n=200,d=20", "--epochs", 2_000_000, "--out", "run")),
    "certify": (2.5, ("certify", "weights.npz", "--data", "gaussians:n=60,d=6")),
    "sweep": (2.0, ("sweep", "plan.toml", "--out", "swept", "--workers", 1)),
    "reproduce": (4.0, ("reproduce", "lyu2021:fig1", "--quick", "--out", "figures")),
    "list": (0.6, ("list", "theorems")),
}
"""Each with the latest moment, in CPU seconds, at which it is interrupted."""


def attack(case: Case) -> None:
    name = str(case.pick(*COMMANDS))
    latest, words = COMMANDS[name]
    Path("plan.toml").write_text(PLAN)
    W = np.random.default_rng(0).normal(size=(20, 6))
    np.savez("weights.npz", W=W, a=np.tile([1.0, -1.0], 10))
    command = Command(case, words)
    moment = float(case.rng.uniform(AWAKE, latest))
    case.commands.append(f"# Ctrl-C after {moment:.3f} s of CPU time")
    command.wait_for(moment, seconds=60)
    command.signal(signal.SIGINT, group=True)
    answer = command.end()
    done = 1 if name == "certify" else 0  # these weights are no KKT point
    case.judge(answer, codes=(done, 130))
    if answer.code == 130:
        lines = answer.err.strip().splitlines()
        said = bool(lines) and lines[-1].startswith("tacit: ") and "interrupt" in lines[-1]
        case.need(said, f"interrupted without a word: {answer.err[-300:]!r}")
