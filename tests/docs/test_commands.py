"""The commands that the README and docs/commands.md show are understood."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from helpers import rest_long, safetensors
from tacit.cli import main
from tacit.cli._app import app

ROOT = Path(__file__).parents[2]
TEXT = "".join((ROOT / page).read_text("utf-8") for page in ("README.md", "docs/commands.md"))


COMMANDS = dict.fromkeys(
    line.split("#")[0].strip()
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.S | re.M)
    for line in block.splitlines()
    if not language and line.startswith("tacit ") and "--help" not in line
)


def test_there_are_commands():
    assert len(COMMANDS) >= 30


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_exists(command):
    """Of the long ones too; nothing is run."""
    app.parse_args(shlex.split(command)[1:], exit_on_error=False, print_error=False)


LONG = (
    "lyu2021:fig3",
    "n=200,d=50",
    "--table",
    "--plot",
    "explain gaussians",
    "explain symmetric",
    "explain points.csv",
    "--out end",
    "phuong2021:fig1",
    "log10_loss:-1000",
    "n=40,d=5",
    "n=500,d=20",
)
"""In commands that take seconds, and of whose kind there are others."""


@pytest.mark.parametrize(
    "command",
    rest_long(COMMANDS, [one for one in COMMANDS if not any(word in one for word in LONG)]),
)
def test_the_commands_are_understood(command, tmp_path, monkeypatch, capsys):
    """With the files they speak of, and fewer epochs where the README does not say how many.

    These weights are no KKT point, and `certify` says so with exit code 1.
    """
    monkeypatch.chdir(tmp_path)
    Path("points.csv").write_text("x1,x2,y\n1,2,1\n2,1,1\n-1,-2,-1\n")
    Path("examples").symlink_to(ROOT / "examples")
    Path("iris.csv").write_text("5.1,3.5,setosa\n7.0,3.2,versicolor\n6.3,3.3,virginica\n")
    if "--resume run" in command or "certify run" in command:
        assert main(shlex.split("train orthogonal:n=10,d=2 --epochs 5 --out run")) == 0
    if "best.proof" in command and "verify" in command:
        assert main(shlex.split("optimum xor --proof best.proof")) == 0
    np.savez("weights.npz", W=np.eye(2), a=np.ones(2))
    torch = {"fc1.weight": np.eye(2), "fc1.bias": np.ones(2), "fc2.weight": np.ones((1, 2))}
    np.savez("torch.npz", **torch)
    del torch["fc1.bias"]
    weights = {name: ("F64", array.astype(float)) for name, array in torch.items()}
    Path("model.safetensors").write_bytes(safetensors(weights))
    (plan,) = re.findall(r"```toml\n(.*?)```", TEXT, re.S)
    Path("grid.toml").write_text(
        "epochs = 5\n" + plan.replace("19", "1").replace("log = 9", "log = 2")
    )
    words = shlex.split(command)[1:]
    if words[0] == "train" and "--epochs" not in words and "--stop" not in words:
        words += ["--epochs", "5"]
    assert main(words) == int(words[0] == "certify"), capsys.readouterr().err
