"""Weights from .safetensors and PyTorch files: the same network, and nothing is ever executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import refused, safetensors, spoil
from tacit import Network
from tacit.cli import main
from tacit.files import read_safetensors, read_weights
from tacit.values import BadInput

W = np.array([[1.0, 2.0], [-1.0, 0.5], [0.25, -3.0]])
a = np.array([[1.0, -2.0, 0.5]])
KINDS = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64}


def layers(kind: str = "F64") -> dict[str, tuple[str, np.ndarray]]:
    dtype = KINDS[kind]
    return {"fc1.weight": (kind, W.astype(dtype)), "fc2.weight": (kind, a.astype(dtype))}


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_come_as_they_were_written(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(layers(kind)))
    arrays = read_safetensors(path)
    for name, (_, array) in layers(kind).items():
        np.testing.assert_array_equal(arrays[name], array)
    np.testing.assert_array_equal(Network.load(path).a, a[0].astype(KINDS[kind]))


def test_bfloat16_is_half_of_a_float32(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    bits = (W.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    path.write_bytes(safetensors({"x": ("BF16", bits)}))
    np.testing.assert_array_equal(read_weights(path)["x"], W)  # these numbers have few digits


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dtype": "F8_E4M3"}, "holds F8_E4M3"),
        ({"shape": [3, 3]}, "cut off or altered"),
        ({"shape": [10**12, 10**12]}, "cut off or altered"),
        ({"shape": [-3, -2]}, "cut off or altered"),
        ({"data_offsets": [0, 10**15]}, "cut off or altered"),
        ({"data_offsets": [-8, 40]}, "cut off or altered"),
        ({"data_offsets": [0]}, "broken"),
        ({"shape": "3"}, "cut off or altered"),
    ],
)
def test_headers_that_lie_are_refused(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(layers(), **change))
    refused(lambda: Network.load(path), str(path), words)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("1,2,1\n")
    refused(lambda: Network.load(tmp_path / "points.csv"), "no file of weights", ".safetensors")
    refused(lambda: Network.load(tmp_path / "point.csv"), "no such file", "points.csv")
    path = tmp_path / "model.safetensors"
    for data in (b"", b"\xff" * 8, b"\x02" + b"\0" * 7 + b"[]", b"\x05" + b"\0" * 7 + b'{"a"'):
        path.write_bytes(data)
        refused(lambda: Network.load(path), str(path))
    path.write_bytes(b"\x02" + b"\0" * 7 + b"[]")
    refused(lambda: Network.load(path), "names no arrays")
    three = {f"fc{k}.weight": ("F64", np.ones((2, 2))) for k in range(3)}
    path.write_bytes(safetensors(three))
    refused(lambda: Network.load(path), "no two layers", "`layers=fc1,fc2`")
    twice = b'{"x": 1, "x": 1}'
    path.write_bytes(len(twice).to_bytes(8, "little") + twice)
    refused(lambda: Network.load(path), "twice")


@pytest.mark.parametrize("seed", range(40))
def test_spoiled_files_are_refused_or_harmless(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(layers()))
    spoil(path, seed, ("flip", "cut", "insert", "remove")[seed % 4])
    try:
        network = Network.load(path)
    except BadInput as error:
        assert "\n" not in str(error)
    else:
        assert network.width == 3


def test_layers_are_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    more = {"head.weight": ("F64", np.ones((5, 5))), "step": ("I64", np.array([3]))}
    path.write_bytes(safetensors({**more, **layers()}))
    refused(lambda: Network.load(path), "head")
    np.testing.assert_array_equal(Network.load(path, layers=("fc1", "fc2")).W, W)
    refused(lambda: Network.load(path, layers=("fc1", "fc3")), "no layer 'fc3'", "did you mean")
    refused(lambda: Network.load(path, layers=("fc1",)), "`layers=fc1` names 1")


def test_certify_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, data = tmp_path / "model.safetensors", tmp_path / "points.csv"
    more = {"head.weight": ("F64", np.ones((5, 5)))}
    path.write_bytes(safetensors({**more, **layers()}))
    data.write_text("1,0,1\n0,1,-1\n")
    words = ["certify", str(path), "--data", str(data), "--seconds", "5"]
    assert main(words) == 2 and "head" in capsys.readouterr().err
    assert main([*words, "--layers", "fc1,fc2"]) in (0, 1)
    assert "layers fc1 and fc2" in capsys.readouterr().out


class Evil:
    """Unpickling it would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


@pytest.mark.long
def test_pytorch_files(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    state = {"fc1.weight": torch.tensor(W), "fc2.weight": torch.tensor(a).bfloat16()}
    save_file(state, tmp_path / "model.safetensors")
    torch.save(state, tmp_path / "model.pt")
    torch.save({"state_dict": state, "epoch": 3}, tmp_path / "checkpoint.pth")
    torch.save(state, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    for name in ("model.safetensors", "model.pt", "checkpoint.pth", "old.pt"):
        network = Network.load(tmp_path / name)
        np.testing.assert_array_equal(network.W, W)
        np.testing.assert_array_equal(network.a, a[0])


@pytest.mark.long
def test_pytorch_files_that_run_code_are_refused(tmp_path: Path) -> None:
    import pickle

    import torch

    path, made = tmp_path / "model.pt", tmp_path / "made"
    for zipped in (True, False):
        torch.save({"fc1.weight": Evil(made)}, path, _use_new_zipfile_serialization=zipped)
        refused(lambda: Network.load(path), "may run code")
    path.write_bytes(pickle.dumps(Evil(made)))
    refused(lambda: Network.load(path), "may run code")
    made.unlink(missing_ok=True)  # torch.save itself may have called open
    torch.save(torch.nn.Linear(2, 1), path)
    refused(lambda: Network.load(path), "save model.state_dict()")
    torch.save({"fc1.weight": torch.zeros(1).expand(10**6, 10**6)}, path)
    refused(lambda: Network.load(path), "too large")
    torch.save([1, 2], path)
    refused(lambda: Network.load(path), "holds a list")
    path.write_bytes(b"PK\x03\x04 nothing")
    refused(lambda: Network.load(path), str(path))
    assert not made.exists()
