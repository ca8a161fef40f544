"""Certificates: the best of all networks, and what given weights are, whatever made them."""

from tacit.certify.homogeneous import homogeneous_kkt
from tacit.certify.kkt import KKT
from tacit.certify.optimum import Best, optimum
from tacit.certify.proof import proof_of
from tacit.certify.two_layer import two_layer_kkt
from tacit.certify.verdict import Certificate, certify

__all__ = ["KKT", "Best", "Certificate", "certify", "homogeneous_kkt", "optimum"]
__all__ += ["proof_of", "two_layer_kkt"]
