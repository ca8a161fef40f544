"""Hypotheses about the classes, the network and how it is trained."""

from tacit.models import model_text
from tacit.models.losses import Exponential, Logistic
from tacit.theorems.case import Case
from tacit.theorems.hypotheses.checks import yes_or_no
from tacit.values import Check


def two_classes(case: Case, place: str) -> Check:
    """The labels are ±1; K classes are asked one against the rest."""
    note = "" if case.data.binary else f"there are {len(case.data.classes)} classes"
    return yes_or_no("two_classes", case.data.binary, place, note)


def two_layer(case: Case, place: str) -> Check:
    """The network has two layers, and no convolution."""
    note = f"the network is {model_text(case.setting.model)}"
    return yes_or_no("two_layer", case.setting.two_layer, place, note)


def relu(case: Case, place: str) -> Check:
    """The activation is ReLU: α = 0."""
    return yes_or_no("relu", case.alpha == 0, place, f"the activation is {case.setting.activation}")


def leaky(case: Case, place: str) -> Check:
    """0 < α < 1."""
    holds = 0 < case.alpha < 1
    return yes_or_no("leaky", holds, place, f"the activation is {case.setting.activation}")


def both_layers(case: Case, place: str) -> Check:
    """Both layers are trained."""
    return yes_or_no("both_layers", case.both, place, "" if case.both else "the first only")


def first_layer(case: Case, place: str) -> Check:
    """The output weights stay as they are."""
    return yes_or_no("first_layer", not case.both, place, "both layers" if case.both else "")


def exponential_tail(case: Case, place: str) -> Check:
    """The loss is logistic or exponential."""
    loss = case.setting.loss
    holds = isinstance(loss, Logistic | Exponential)
    return yes_or_no("exponential_tail", holds, place, f"the loss is {loss}")


def logistic(case: Case, place: str) -> Check:
    """The loss is logistic."""
    loss = case.setting.loss
    return yes_or_no("logistic", isinstance(loss, Logistic), place, f"the loss is {loss}")


def flow(case: Case, place: str) -> Check:
    """The rule is gradient flow, not a discrete one."""
    rule = case.setting.rule
    return yes_or_no("gradient_flow", rule == "flow", place, f"the rule is {rule}")
