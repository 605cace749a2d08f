#!/usr/bin/env python3
"""Writes the networks that the tests of `mokume import` read: NAME.onnx, as PyTorch exports them, with a few rows and
the predictions of ONNX Runtime for these rows. Needs torch, onnx and onnxruntime.

    python3 tests/cli/imported/make.py
"""
import pathlib

import numpy
import onnx
import onnxruntime
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
        same = inputs == outputs and stride == 1
        self.skip = nn.Sequential() if same else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                                               nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x))))) + self.skip(x))


class ResNet8(nn.Module):
    def __init__(self, width=2):
        super().__init__()
        self.stem, self.bn = nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        self.layer1, self.layer2 = Residual(width, width, 1), Residual(width, 2 * width, 2)
        self.layer3, self.pool = Residual(2 * width, 2 * width, 2), nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(2 * width, 4)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(torch.relu(self.bn(self.stem(x))))))
        return self.fc(torch.flatten(self.pool(x), 1))


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.gn, self.ln = nn.Conv2d(2, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.LayerNorm([4, 5, 4])
        self.inn, self.fc1, self.ln2 = nn.InstanceNorm2d(4, affine=True), nn.Linear(80, 5), nn.LayerNorm(5)
        self.fc2 = nn.Linear(5, 1)

    def forward(self, x):
        x = nn.functional.gelu(self.gn(self.conv(x)))
        x = self.inn(nn.functional.gelu(self.ln(x), approximate="tanh"))
        return self.fc2(torch.sigmoid(self.ln2(self.fc1(x.view(x.size(0), -1)))))


class Joined(nn.Module):
    """Combines branches, windows of every kind, functions of two operands, and constants around layers."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(2, 3, 3, padding=2, dilation=2), nn.Conv2d(2, 2, (2, 4), padding="same")
        self.up, self.bn = nn.ConvTranspose2d(5, 4, 3, 2, 1, 1, groups=1), nn.BatchNorm2d(4)
        self.most, self.mean = nn.MaxPool2d(3, 2, 1, ceil_mode=True), nn.AvgPool2d((2, 3), 2, (1, 0), count_include_pad=False)
        self.fc1, self.fc2 = nn.Linear(32, 6), nn.Linear(6, 3)
        self.register_buffer("shift", torch.randn(4, 1, 1))

    def forward(self, x):
        x = x * 0.5 - 0.1
        x = torch.cat([torch.tanh(self.a(x)), nn.functional.silu(self.b(x))], 1)
        x = self.mean(self.most(self.bn(self.up(x)) * 2 + self.shift))
        x = self.fc1(x.flatten(1))
        x = x + 0.5 * nn.functional.leaky_relu(x, 0.2)
        return torch.softmax(self.fc2((x * 2 - 1) / 3), 1)


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.scale = nn.Parameter(torch.randn(5)), nn.Parameter(torch.rand(5) + 0.5)
        self.weight, self.bias, self.last = nn.Parameter(torch.randn(5, 4)), nn.Parameter(torch.randn(4)), nn.Linear(4, 1)

    def forward(self, x):
        return self.last(torch.sigmoid((x - self.mean) / self.scale @ self.weight + self.bias)) * 3 + 10


class Excited(nn.Module):
    """Has the parts of MobileNetV3 and ShuffleNet. Linear layers compute the factors of its last block."""

    def __init__(self):
        super().__init__()
        self.stem, self.bn = nn.Conv2d(3, 6, 3, 2, 1, bias=False), nn.BatchNorm2d(6)
        self.grouped, self.depthwise = nn.Conv2d(6, 6, 1, groups=3), nn.Conv2d(6, 6, 3, padding=1, groups=6)
        self.squeeze, self.excite = nn.Conv2d(6, 2, 1), nn.Conv2d(2, 6, 1)
        self.fc1, self.fc2, self.last = nn.Linear(6, 2), nn.Linear(2, 6), nn.Linear(6, 3)

    def forward(self, x):
        x = nn.functional.hardswish(self.bn(self.stem(x)))
        rows, c, h, w = x.shape
        x = self.grouped(x).view(rows, 3, c // 3, h, w).transpose(1, 2).reshape(rows, c, h, w)
        x = nn.functional.hardswish(self.depthwise(x)) + x
        y = torch.relu(self.squeeze(nn.functional.adaptive_avg_pool2d(x, 1)))
        x = x * nn.functional.hardsigmoid(self.excite(y))
        y = self.fc2(torch.relu(self.fc1(nn.functional.adaptive_avg_pool2d(x, 1).view(rows, c))))
        x = torch.sigmoid(y).view(rows, c, 1, 1) * x
        return self.last(x.mean([2, 3]))


def networks():
    lenet = nn.Sequential(nn.Conv2d(1, 2, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(2, 3, 3), nn.Tanh(),
                          nn.AvgPool2d(2), nn.Flatten(), nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 6), nn.Tanh(),
                          nn.Linear(6, 5), nn.LogSoftmax(1))
    mobile = nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1, bias=False), nn.BatchNorm2d(4), nn.ReLU(),
                           nn.Conv2d(4, 4, 3, 1, 1, groups=4, bias=False), nn.BatchNorm2d(4), nn.SiLU(),
                           nn.Conv2d(4, 8, 1, bias=False), nn.BatchNorm2d(8), nn.LeakyReLU(0.1), nn.AdaptiveAvgPool2d(1),
                           nn.Flatten(), nn.Linear(8, 3), nn.Softmax(1))
    softplus = nn.Sequential(nn.Linear(3, 2), nn.Softplus(), nn.Linear(2, 2))
    return {"lenet": (lenet, (1, 12, 12), {}), "resnet8": (ResNet8(), (3, 8, 8), {}), "mobile": (mobile, (3, 8, 8), {}),
            "norms": (Norms(), (2, 5, 4), {}), "joined": (Joined(), (2, 5, 4), {}), "rows": (Rows(), (5,), {}),
            # Exporters spell activations differently. This export also keeps batch_norm.
            "spelt": (ResNet8(1), (3, 8, 8), {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False,
                                              "opset_version": 13}),
            "spelt-norms": (Norms(), (2, 5, 4), {"opset_version": 17}), "softplus": (softplus, (3,), {}),
            "excited": (Excited(), (3, 12, 12), {})}


def main():
    torch.manual_seed(1)
    for name, (net, shape, options) in networks().items():
        for layer in net.modules():
            if isinstance(layer, (nn.BatchNorm2d, nn.GroupNorm, nn.LayerNorm, nn.InstanceNorm2d)):
                layer.weight.data.uniform_(0.5, 2)
                layer.bias.data.normal_()
            if isinstance(layer, nn.BatchNorm2d):
                layer.running_mean.normal_()
                layer.running_var.uniform_(0.5, 2)
        net.eval()
        x = torch.randn(6, *shape)
        path = HERE / f"{name}.onnx"
        torch.onnx.export(net, (x[:2],), str(path), dynamo=False, input_names=["x"], output_names=["y"],
                          dynamic_axes={"x": {0: "rows"}}, **options)
        expected = onnxruntime.InferenceSession(str(path)).run(["y"], {"x": x.numpy()})[0]
        if name == "softplus":
            continue
        if expected.shape[1] > 1 and not numpy.allclose(expected.sum(1), 1, atol=1e-3):
            expected = numpy.exp(expected)
            expected /= expected.sum(1, keepdims=True)
        rows = x.numpy().transpose(0, 2, 3, 1) if x.ndim == 4 else x.numpy()
        numpy.save(HERE / f"{name}-rows.npy", rows)
        labels = numpy.arange(6) % expected.shape[1] if expected.shape[1] > 1 else numpy.arange(6) * 0.37
        numpy.save(HERE / f"{name}-labels.npy", labels)
        lines = "\n".join(" ".join(f"{v:.9g}" for v in row) for row in expected)
        (HERE / f"{name}.txt").write_text(lines + "\n")
    model = onnx.load(HERE / "mobile.onnx")
    onnx.save_model(model, HERE / "outside.onnx", save_as_external_data=True, location="outside.data", size_threshold=64)


if __name__ == "__main__":
    main()
