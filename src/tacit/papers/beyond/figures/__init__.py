"""Pictures that no paper could make: they need the exact limit, a certified optimum or a probe.

The settings are those of the papers' own experiments. Where a claim is ours and not a paper's, its
`paper` value is what the theorem that it rests on says.
"""

from tacit.reproduction.artefact import Paper

# `global` is a keyword of Python, so it cannot be written as the others.
PAPER = Paper(
    "beyond",
    exact="exact",
    phase="phase",
    **{"global": "global_margin"},
    hinted="hinted",
    principal="principal",
    depth="depth",
)
