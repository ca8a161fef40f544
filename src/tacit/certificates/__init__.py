"""Certificates: the best of all networks, and what given weights are, whatever made them."""

from tacit.certificates.certificate import Certificate, certify
from tacit.certificates.kkt import KKT
from tacit.certificates.kkt_homogeneous import homogeneous_kkt
from tacit.certificates.kkt_two_layer import two_layer_kkt
from tacit.certificates.optima import Best, optimum
from tacit.certificates.proof_file import proof_of

__all__ = ["KKT", "Best", "Certificate", "certify", "homogeneous_kkt", "optimum"]
__all__ += ["proof_of", "two_layer_kkt"]
