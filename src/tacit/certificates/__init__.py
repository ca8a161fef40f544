"""Certificates: the best of all networks, and what given weights are, whatever made them."""

from tacit.certificates.homogeneous import homogeneous_kkt
from tacit.certificates.kkt import KKT
from tacit.certificates.optimum import Best, optimum
from tacit.certificates.proof import proof_of
from tacit.certificates.two_layer import two_layer_kkt
from tacit.certificates.verdict import Certificate, certify

__all__ = ["KKT", "Best", "Certificate", "certify", "homogeneous_kkt", "optimum"]
__all__ += ["proof_of", "two_layer_kkt"]
