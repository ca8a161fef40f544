"""Handwritten digits: MNIST from its original files, and scikit-learn's small ones offline."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from tacit.data._openml import fetch_mnist
from tacit.data.generators import generator
from tacit.data.idx import inside, read_idx
from tacit.messages import require
from tacit.values import BadInput, Dataset

CHECKSUMS = {
    "train-images-idx3-ubyte": (
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    ),
    "train-labels-idx1-ubyte": (
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    "t10k-images-idx3-ubyte": (
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    ),
    "t10k-labels-idx1-ubyte": (
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
}
"""SHA-256 of each original .gz file, and of what it unzips to."""

PARTS = {"train": "train", "test": "t10k"}


@generator("sarussi2021 Fig. 2, 6; phuong2021 Fig. 3, 4; brutzkus2019 Fig. 4, 7, 8")
def mnist(
    classes: str = "", n: int | None = None, seed: int = 0, split: str = "train", test: int = 0
) -> Dataset:
    """MNIST, or some of its digits: `mnist:classes=3/5,n=1000`.

    `classes` lists digits: of two, the first becomes +1 and the second −1; one alone becomes +1;
    three or more are as many classes, in that order; empty means all ten. `n` points are drawn
    without replacement (none: all of them, in the order of the files) from the `split` `train` or
    `test`, and `test` points of the other split become the test set. Pixels lie in [0, 1], row by
    row (the scale is ours).
    """
    require(split in PARTS, f"mnist: split={split} must be train or test")
    wanted = _digits("mnist", classes)
    points, labels = _mnist_files(PARTS[split])
    rows = _drawn("mnist", "n", labels, wanted, n, [seed, 0])
    data = _dataset(points[rows] / 255.0, labels[rows], wanted)
    if not test:
        return data
    other = "test" if split == "train" else "train"
    points, labels = _mnist_files(PARTS[other])
    rows = _drawn("mnist", "test", labels, wanted, test, [seed, 1])
    return replace(data, test=_dataset(points[rows] / 255.0, labels[rows], wanted))


@generator("the stand-in for MNIST that needs no download")
def digits(classes: str = "", n: int | None = None, seed: int = 0, test: int = 0) -> Dataset:
    """The 1,797 digits of 8 × 8 pixels that come with scikit-learn: `digits:classes=3/5`.

    `classes` and `n` are as for `mnist`; `test` of the points not drawn become the test set (with
    no `n`, all others are for training). Pixels lie in [0, 1] (the scale is ours).
    """
    from sklearn.datasets import load_digits

    points, labels = load_digits(return_X_y=True)
    wanted = _digits("digits", classes)
    there = int(np.isin(labels, wanted).sum())
    require(
        (n or 1) + test <= there,
        f"digits: n={n or 1} and test={test} are more than the {there} points there are",
    )
    drawn = n + test if n else (there if test else None)
    rows = _drawn("digits", "n", labels, wanted, drawn, [seed, 0])
    rows, kept = rows[: len(rows) - test], rows[len(rows) - test :]
    data = _dataset(points[rows] / 16.0, labels[rows], wanted)
    if not test:
        return data
    return replace(data, test=_dataset(points[kept] / 16.0, labels[kept], wanted))


def _digits(name: str, classes: str) -> list[int]:
    if not classes:
        return list(range(10))
    parts = classes.split("/")
    fine = all(len(part) == 1 and part in "0123456789" for part in parts)
    require(
        fine and len(set(parts)) == len(parts),
        f"{name}: classes={classes} must be different digits, such as 3/5",
    )
    return [int(part) for part in parts]


def _drawn(
    name: str, key: str, labels: np.ndarray, wanted: list[int], n: int | None, seed: list[int]
) -> np.ndarray:
    """Which rows: all of the wanted digits in their order, or n of them at random."""
    rows = np.flatnonzero(np.isin(labels, wanted))
    if n is None:
        return rows
    require(n <= len(rows), f"{name}: {key}={n} is more than the {len(rows)} points there are")
    return np.random.default_rng(seed).permutation(rows)[:n]


def _dataset(X: np.ndarray, labels: np.ndarray, wanted: list[int]) -> Dataset:
    said = {"n": len(X)}
    if len(wanted) <= 2:
        names = dict(zip((1, -1), map(str, wanted), strict=False))
        return Dataset(X, np.where(labels == wanted[0], 1, -1), parameters=said, names=names)
    number = np.zeros(10, dtype=np.int64)
    number[wanted] = np.arange(len(wanted))
    return Dataset(X, number[labels], classes=tuple(map(str, wanted)), parameters=said)


def _mnist_files(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Points (n × 784 bytes) and digits of `train` or `t10k`."""
    images = _mnist_file(f"{part}-images-idx3-ubyte")
    return images.reshape(len(images), -1), _mnist_file(f"{part}-labels-idx1-ubyte")


def _mnist_file(name: str) -> np.ndarray:
    named = os.environ.get("TACIT_DATA")
    folder = Path(named) if named else _cache()
    reason = "TACIT_DATA names this folder, so nothing is fetched"
    if not named and _found(folder, name) is None:
        try:
            fetch_mnist(folder, {name: raw for name, (_, raw) in CHECKSUMS.items()})
        except Exception as error:  # no network, a proxy, a changed server, a full disk, …
            reason = f"fetching it failed: {' '.join(str(error).split()) or type(error).__name__}"
    path = _found(folder, name)
    if path is None:
        raise BadInput(
            f"MNIST is not here: {folder / name}.gz is missing ({reason}); put the four original "
            "files (train-… and t10k-…, …-images-idx3-ubyte.gz and …-labels-idx1-ubyte.gz) there "
            "or set TACIT_DATA to their folder; the data set 'digits' needs no files"
        )
    zipped, raw = CHECKSUMS[name]
    return read_idx(path, zipped if path.suffix == ".gz" else raw)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "tacit" / "mnist"


def _found(folder: Path, name: str) -> Path | None:
    for full in (f"{name}.gz", name):
        if os.path.lexists(folder / full):
            return inside(folder, full)
    return None
