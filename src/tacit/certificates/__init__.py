"""Certificates: the best of all networks, and what given weights are, whatever made them."""

from tacit.certificates.certificate import (
    Certificate,
    Optimality,
    certificates_to_dict,
    certify,
    worst_of,
)
from tacit.certificates.kkt import KKT
from tacit.certificates.kkt_homogeneous import homogeneous_kkt
from tacit.certificates.kkt_two_layer import two_layer_kkt
from tacit.certificates.limit_proof import limit_proof_of
from tacit.certificates.optima import ClassOptimum, Optimum, optimum
from tacit.certificates.proof_file import proof_of
from tacit.certificates.proved_end import ProvedEnd, proved_end
from tacit.numerics.convex_program import OptimumStatus

__all__ = ["KKT", "Certificate", "ClassOptimum", "Optimality", "Optimum", "OptimumStatus"]
__all__ += ["certificates_to_dict", "certify", "homogeneous_kkt", "optimum", "proof_of"]
__all__ += ["ProvedEnd", "limit_proof_of", "proved_end", "two_layer_kkt", "worst_of"]
