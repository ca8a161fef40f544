"""A network of somebody else's, in PyTorch or JAX: what the theory says of it, measured."""

from tacit.probing.along_training import Probe
from tacit.probing.differentiable import DenseLayer, Differentiable
from tacit.probing.homogeneity import Homogeneity, ParameterGroup
from tacit.probing.layers import LayerMeasures
from tacit.probing.measuring import probe
from tacit.probing.probed import Probed
from tacit.probing.stationarity import Support

__all__ = ["DenseLayer", "Differentiable", "Homogeneity", "LayerMeasures", "ParameterGroup"]
__all__ += ["Probe", "Probed", "Support", "probe"]
