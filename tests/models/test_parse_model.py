"""Models by name, and sizes that do not fit."""

import pytest

from tacit.models import ConvMaxPool, ImageCNN, Model, Residual, SixConv, TwoLayer, parse_model
from tacit.values import BadInput


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("two_layer", TwoLayer()),
        ("conv_max_pool", ConvMaxPool()),
        ("conv_max_pool:3", ConvMaxPool(patch=3)),
        ("residual", Residual(4)),
        ("residual:6", Residual(6)),
        ("image_cnn", ImageCNN()),
        ("image_cnn:7", ImageCNN(filter=7)),
        ("image_cnn:3:8:5", ImageCNN(filter=3, side=8, classes=5)),
        ("six_conv", SixConv()),
        ("six_conv:8", SixConv(side=8)),
    ],
)
def test_parse(text: str, model: Model) -> None:
    assert parse_model(text) == model
    assert hash(parse_model(text)) == hash(model)


def test_parse_passes_slope_and_layers_on() -> None:
    assert parse_model("two_layer", 0.3, "first") == TwoLayer(0.3, "first")
    assert parse_model("conv_max_pool:2", 0.3, "first") == ConvMaxPool(2, 0.3)
    assert parse_model("residual:3", 0.3, "both") == Residual(3, 0.3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("two_layers",), "did you mean 'two_layer'"),
        (("conv_maxpool:2",), "did you mean 'conv_max_pool'"),
        (("xyz",), "there are: two_layer, conv"),
        (("two_layer:3",), "'two_layer:3': write two_layer$"),
        (("residual:four",), r"write residual\[:DEPTH\] with whole numbers"),
        (("residual:-2",), "write residual"),
        (("residual:",), "write residual"),
        (("residual:1",), "between 2 and"),
        (("residual:999999999",), "between 2 and"),
        (("conv_max_pool:0",), "at least 1"),
        (("image_cnn:30",), "must be 1 … 28"),
        (("two_layer", 1.0), "must be in"),
        (("six_conv", 0.3), "ReLU"),
        (("two_layer", 0.0, "frist"), "did you mean 'first'"),
        (("conv_max_pool", 0.0, "both"), "always trains 'first'"),
        (("residual", 0.0, "first"), "always trains 'both'"),
    ],
)
def test_parse_says_what_is_wrong(arguments: tuple, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        parse_model(*arguments)


@pytest.mark.parametrize(
    ("model", "d", "width", "message"),
    [
        (ConvMaxPool(), 5, 4, "patches of 2"),
        (ConvMaxPool(), 4, 3, "even"),
        (ImageCNN(), 783, 4, "28×28"),
        (SixConv(), 64, 4, "28×28"),
    ],
    ids=str,
)
def test_sizes_that_do_not_fit_are_refused(model: Model, d: int, width: int, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        model.shapes(d, width)
