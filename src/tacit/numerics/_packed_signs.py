"""Sign vectors as words of 64 bits: a small fraction of the memory, sorted and compared fast."""

from collections.abc import Iterable

import numpy as np

WAIT = 2**18
"""Words that may wait before they are sorted in with the others."""


def pack(signs: np.ndarray, zeros: bool) -> np.ndarray:
    """Words that sort as the rows do: one bit for each sign ±1, two if there are zeros as well."""
    bits = signs > 0
    if zeros:
        bits = np.stack([bits, signs >= 0], axis=2).reshape(len(signs), 2 * signs.shape[1])
    octets = np.packbits(bits, axis=1)
    padded = np.zeros((len(signs), 8 * words_for(signs.shape[1], zeros)), dtype=np.uint8)
    padded[:, : octets.shape[1]] = octets
    # Big-endian words compare as their bytes do, so sorting them sorts the rows.
    return padded.view(">u8").astype(np.uint64)


def unpack(words: np.ndarray, n: int, zeros: bool) -> np.ndarray:
    """The signs of n rows that `pack` has packed."""
    octets = words.astype(">u8").view(np.uint8)
    bits = np.unpackbits(octets, axis=1, count=n * (1 + zeros)).view(np.int8)
    return bits[:, ::2] + bits[:, 1::2] - np.int8(1) if zeros else 2 * bits - np.int8(1)


def words_for(n: int, zeros: bool) -> int:
    """The 64-bit words that n signs take, one bit each, or two where a sign may be 0."""
    return -(-n * (1 + zeros) // 64)


def gather(blocks: Iterable[np.ndarray], n: int, zeros: bool) -> np.ndarray:
    """The distinct sign vectors of all blocks, packed and in lexicographic order."""
    words = np.empty((0, words_for(n, zeros)), dtype=np.uint64)
    waiting: list[np.ndarray] = []
    size = 0
    for block in blocks:
        waiting.append(pack(block, zeros))
        size += waiting[-1].size
        # Merging only when as much waits as is sorted already keeps the total work near linear.
        if size > max(words.size, WAIT):
            words = _distinct(np.concatenate([words, *waiting]))
            waiting, size = [], 0
    return _distinct(np.concatenate([words, *waiting]))


def _distinct(words: np.ndarray) -> np.ndarray:
    """The rows in order, each once."""
    if words.shape[1] == 1:
        words.sort(axis=0)
    else:
        words = words[np.lexsort(words.T[::-1])]
    new = np.ones(len(words), dtype=bool)
    new[1:] = (words[1:] != words[:-1]).any(axis=1)
    return words if new.all() else words[new]
