#!/usr/bin/env python3
"""Writes tests/cnn/data/torch.safetensors: PyTorch's gradients and losses, the reference of the cnn tests.

Trains small networks and a regression for 100 steps each, in fixed batches from stored weights, by several optimizers.
Run this script again only if the tests need other cases; the file is part of the tree.

    python3 bench/peers/cnn_vectors.py tests/cnn/data/torch.safetensors

Needs torch and safetensors.
"""
import json
import sys

import torch
from safetensors.torch import save_file
from torch import nn

ROWS, BATCH, EPOCHS = 400, 16, 4  # 100 steps

NETS = {
    "pool": ([{"type": "conv2d", "out_channels": 4, "kernel_size": 3, "stride": 1, "padding": 1, "bias": True},
              {"type": "relu"},
              {"type": "max_pool2d", "kernel_size": 2, "stride": 0, "padding": 0},
              {"type": "conv2d", "out_channels": 6, "kernel_size": 3, "stride": 1, "padding": 0, "bias": True},
              {"type": "relu"},
              {"type": "flatten"},
              {"type": "linear", "out_features": 10, "bias": True},
              {"type": "relu"},
              {"type": "linear", "out_features": 3, "bias": True},
              {"type": "log_softmax"}], (1, 8, 8)),
    # Has whole vectors of channels, so that CPUs use Winograd's transform.
    "square": ([{"type": "conv2d", "out_channels": 16, "kernel_size": 3, "stride": 1, "padding": 1, "bias": True},
                {"type": "relu"},
                {"type": "conv2d", "out_channels": 16, "kernel_size": 3, "stride": 1, "padding": 1, "bias": True},
                {"type": "relu"},
                {"type": "max_pool2d", "kernel_size": 2, "stride": 0, "padding": 0},
                {"type": "conv2d", "out_channels": 16, "kernel_size": 3, "stride": 1, "padding": 0, "bias": True},
                {"type": "relu"},
                {"type": "adaptive_avg_pool2d", "output_size": 1},
                {"type": "flatten"},
                {"type": "linear", "out_features": 3, "bias": True}], (1, 8, 8)),
    "average": ([{"type": "normalise", "mean": 0.1, "std": 0.8, "per_feature": False},
                 {"type": "conv2d", "out_channels": 6, "kernel_size": 3, "stride": 2, "padding": 1, "bias": False},
                 {"type": "relu"},
                 {"type": "adaptive_avg_pool2d", "output_size": 3},
                 {"type": "flatten"},
                 {"type": "linear", "out_features": 3, "bias": True}], (1, 8, 8)),
    # Has the form of the study. Weights of "linear" with 16 or more outputs take their steps in the backward pass.
    "study": ([{"type": "conv2d", "out_channels": 8, "kernel_size": 5, "stride": 1, "padding": 0, "bias": True},
               {"type": "relu"},
               {"type": "flatten"},
               {"type": "linear", "out_features": 33, "bias": True},
               {"type": "relu"},
               {"type": "linear", "out_features": 16, "bias": True},
               {"type": "relu"},
               {"type": "linear", "out_features": 3, "bias": True}], (1, 8, 8)),
    # Has convolutions with dilation, groups, depthwise, PyTorch's "same" and rectangular windows, and averages over a
    # window.
    "kinds": ([{"type": "conv2d", "out_channels": 8, "kernel_size": 3, "stride": 1, "padding": 1, "bias": True},
               {"type": "relu"},
               {"type": "conv2d", "out_channels": 8, "kernel_size": 4, "stride": 1, "padding": 0, "bias": True,
                "kernel_width": 3, "groups": 8, "same": True},
               {"type": "relu"},
               {"type": "conv2d", "out_channels": 12, "kernel_size": 1, "stride": 1, "padding": 0, "bias": True,
                "groups": 2},
               {"type": "relu"},
               {"type": "conv2d", "out_channels": 6, "kernel_size": 3, "stride": 1, "padding": 2, "bias": False,
                "kernel_width": 2, "stride_width": 2, "padding_width": 1, "dilation": 2},
               {"type": "relu"},
               {"type": "avg_pool2d", "kernel_size": 3, "kernel_width": 2, "stride": 2, "stride_width": 0, "padding": 1,
                "padding_width": 0, "ceil_mode": True, "count_include_pad": False},
               {"type": "flatten"},
               {"type": "linear", "out_features": 3, "bias": True}], (1, 8, 8)),
    # Has a transposed convolution with groups, and pools that extend beyond their padding.
    "transposed": ([{"type": "conv2d", "out_channels": 6, "kernel_size": 3, "stride": 2, "padding": 1, "bias": True},
                    {"type": "relu"},
                    {"type": "conv_transpose2d", "out_channels": 4, "kernel_size": 3, "kernel_width": 0, "stride": 2,
                     "stride_width": 0, "padding": 1, "padding_width": -1, "output_padding": 1, "dilation": 1,
                     "groups": 2, "bias": True},
                    {"type": "relu"},
                    {"type": "max_pool2d", "kernel_size": 3, "stride": 2, "padding": 0, "kernel_width": 2,
                     "stride_width": 3, "ceil_mode": True},
                    {"type": "conv_transpose2d", "out_channels": 2, "kernel_size": 2, "kernel_width": 3, "stride": 1,
                     "stride_width": 2, "padding": 0, "padding_width": 1, "output_padding": 0, "dilation": 2,
                     "groups": 1, "bias": False},
                    {"type": "avg_pool2d", "kernel_size": 3, "kernel_width": 0, "stride": 2, "stride_width": 0,
                     "padding": 1, "padding_width": -1, "ceil_mode": True, "count_include_pad": True},
                    {"type": "flatten"},
                    {"type": "linear", "out_features": 3, "bias": True}], (1, 8, 8)),
    "activations": ([{"type": "conv2d", "out_channels": 6, "kernel_size": 3, "stride": 1, "padding": 1, "bias": True},
                     {"type": "leaky_relu", "negative_slope": 0.1},
                     {"type": "conv2d", "out_channels": 6, "kernel_size": 3, "stride": 2, "padding": 0, "bias": True},
                     {"type": "gelu", "approximate": "tanh"},
                     {"type": "flatten"},
                     {"type": "linear", "out_features": 20, "bias": True},
                     {"type": "silu"},
                     {"type": "linear", "out_features": 3, "bias": True}], (1, 8, 8)),
    "mlp": ([{"type": "flatten"},
             {"type": "linear", "out_features": 24, "bias": True},
             {"type": "gelu", "approximate": "none"},
             {"type": "linear", "out_features": 20, "bias": True},
             {"type": "tanh"},
             {"type": "linear", "out_features": 16, "bias": True},
             {"type": "sigmoid"},
             {"type": "linear", "out_features": 3, "bias": True}], (1, 8, 8)),
    "norms": ([{"type": "conv2d", "out_channels": 6, "kernel_size": 3, "stride": 1, "padding": 1, "bias": False},
               {"type": "batch_norm", "eps": 1e-5, "momentum": 0.1},
               {"type": "relu"},
               {"type": "conv2d", "out_channels": 6, "kernel_size": 3, "stride": 2, "padding": 1, "bias": True},
               {"type": "group_norm", "num_groups": 3, "eps": 1e-5},
               {"type": "relu"},
               {"type": "layer_norm", "eps": 1e-5},
               {"type": "relu"},
               {"type": "flatten"},
               {"type": "linear", "out_features": 12, "bias": False},
               {"type": "batch_norm", "eps": 1e-4, "momentum": 0.3},
               {"type": "relu"},
               {"type": "linear", "out_features": 3, "bias": True}], (1, 8, 8)),
    # Has residual connections, one of them around a relu, and two branches that are joined.
    "residual": ([{"type": "conv2d", "out_channels": 8, "kernel_size": 3, "stride": 1, "padding": 1, "bias": False},
                  {"type": "batch_norm", "eps": 1e-5, "momentum": 0.1},
                  {"type": "relu", "name": "stem"},
                  {"type": "conv2d", "out_channels": 8, "kernel_size": 3, "stride": 1, "padding": 1, "bias": False},
                  {"type": "batch_norm", "eps": 1e-5, "momentum": 0.1},
                  {"type": "relu"},
                  {"type": "conv2d", "out_channels": 8, "kernel_size": 3, "stride": 1, "padding": 1, "bias": False},
                  {"type": "batch_norm", "eps": 1e-5, "momentum": 0.1, "name": "main"},
                  {"type": "add", "inputs": "main,stem"},
                  {"type": "relu", "name": "first"},
                  {"type": "conv2d", "out_channels": 12, "kernel_size": 3, "stride": 2, "padding": 1, "bias": False},
                  {"type": "batch_norm", "eps": 1e-5, "momentum": 0.1, "name": "down"},
                  {"type": "conv2d", "out_channels": 12, "kernel_size": 1, "stride": 2, "padding": 0, "bias": True,
                   "inputs": "first", "name": "shortcut"},
                  {"type": "add", "inputs": "down,shortcut", "name": "second"},
                  {"type": "relu", "name": "left"},
                  {"type": "max_pool2d", "kernel_size": 3, "stride": 1, "padding": 1, "inputs": "second",
                   "name": "right"},
                  {"type": "concat", "inputs": "left,right"},
                  {"type": "adaptive_avg_pool2d", "output_size": 1},
                  {"type": "flatten"},
                  {"type": "linear", "out_features": 3, "bias": True}], (1, 8, 8)),
    # Has padding of every mode, overlapping and disjoint cells, and softmax over channels and over features.
    "padded": ([{"type": "conv2d", "out_channels": 6, "kernel_size": 3, "stride": 1, "padding": 1, "bias": True,
                 "padding_mode": "reflect"},
                {"type": "relu"},
                {"type": "conv2d", "out_channels": 6, "kernel_size": 3, "stride": 1, "padding": 2, "bias": False,
                 "padding_mode": "replicate", "padding_width": 1},
                {"type": "relu"},
                {"type": "adaptive_max_pool2d", "output_size": 6},
                {"type": "conv2d", "out_channels": 8, "kernel_size": 4, "stride": 1, "padding": 0, "bias": True,
                 "padding_mode": "circular", "same": True},
                {"type": "softmax"},
                {"type": "adaptive_max_pool2d", "output_size": 3},
                {"type": "flatten"},
                {"type": "linear", "out_features": 12, "bias": True},
                {"type": "softmax"},
                {"type": "linear", "out_features": 3, "bias": True}], (1, 8, 8)),
    "regression": ([{"type": "linear", "out_features": 20, "bias": True},
                    {"type": "relu"},
                    {"type": "linear", "out_features": 1, "bias": True}], (64,)),
}

def newton_schulz(grad, coefficients, steps, eps):
    """Computes in float32 what torch.optim.Muon computes in bfloat16."""
    a, b, c = coefficients
    x = grad.T if grad.size(0) > grad.size(1) else grad
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if grad.size(0) > grad.size(1) else x


torch.optim._muon._zeropower_via_newtonschulz = newton_schulz


class MuonAndAdamW(torch.optim.Optimizer):
    """Applies Muon to all weights but the last, flattened to matrices, and AdamW to the other parameters."""

    def __init__(self, parameters, muon, adamw):
        parameters = list(parameters)
        self.weights = [p for p in parameters if p.dim() in (2, 4)][:-1]  # weights of layer_norm have three
        self.flat = [nn.Parameter(p.detach().view(len(p), -1)) for p in self.weights]
        self.inner = [torch.optim.Muon(self.flat, **muon),
                      torch.optim.AdamW([p for p in parameters if all(p is not w for w in self.weights)], **adamw)]
        super().__init__(parameters, {"lr": muon["lr"]})
        self.param_groups = [group for one in self.inner for group in one.param_groups]

    def zero_grad(self):
        self.inner[1].zero_grad()
        for weight in self.weights:
            weight.grad = None

    def step(self):
        for flat, weight in zip(self.flat, self.weights):
            flat.grad = weight.grad.view(len(weight), -1)
        for one in self.inner:
            one.step()


OPTIMIZERS = {
    "amsgrad": ({"type": "adam", "lr": 0.005, "beta1": 0.9, "beta2": 0.9, "eps": 1e-8, "weight_decay": 0.01,
                 "amsgrad": True},
                lambda p: torch.optim.Adam(p, lr=0.005, betas=(0.9, 0.9), weight_decay=0.01, amsgrad=True)),
    "amsgradw": ({"type": "adamw", "lr": 0.005, "beta1": 0.8, "beta2": 0.9, "eps": 1e-8, "weight_decay": 0.05,
                  "amsgrad": True},
                 lambda p: torch.optim.AdamW(p, lr=0.005, betas=(0.8, 0.9), weight_decay=0.05, amsgrad=True)),
    "muon": ({"type": "muon", "lr": 0.02, "momentum": 0.95, "nesterov": True, "ns_steps": 5, "weight_decay": 0.1,
              "adjust_lr_fn": "original", "adamw_lr": 0.003, "adamw_beta1": 0.9, "adamw_beta2": 0.999,
              "adamw_eps": 1e-8, "adamw_weight_decay": 0.01},
             lambda p: MuonAndAdamW(p, {"lr": 0.02}, {"lr": 0.003})),
    "muon_rms": ({"type": "muon", "lr": 0.01, "momentum": 0.9, "nesterov": False, "ns_steps": 3, "weight_decay": 0.0,
                  "adjust_lr_fn": "match_rms_adamw", "adamw_lr": 0.002, "adamw_beta1": 0.8, "adamw_beta2": 0.99,
                  "adamw_eps": 1e-7, "adamw_weight_decay": 0.1},
                 lambda p: MuonAndAdamW(p, {"lr": 0.01, "momentum": 0.9, "nesterov": False, "ns_steps": 3,
                                            "weight_decay": 0.0, "adjust_lr_fn": "match_rms_adamw"},
                                        {"lr": 0.002, "betas": (0.8, 0.99), "eps": 1e-7, "weight_decay": 0.1})),
    "sgd": ({"type": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 0.001},
            lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.001)),
    "study": ({"type": "sgd", "lr": 0.02, "momentum": 0.1, "weight_decay": 0.0},
              lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.1)),
    "plain": ({"type": "sgd", "lr": 0.1, "momentum": 0.0, "weight_decay": 0.0}, lambda p: torch.optim.SGD(p, lr=0.1)),
    "nesterov": ({"type": "sgd", "lr": 0.02, "momentum": 0.9, "weight_decay": 0.001, "nesterov": True},
                 lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=0.001, nesterov=True)),
    "dampening": ({"type": "sgd", "lr": 0.2, "momentum": 0.8, "weight_decay": 0.0, "dampening": 0.5},
                  lambda p: torch.optim.SGD(p, lr=0.2, momentum=0.8, dampening=0.5)),
    "adamw": ({"type": "adamw", "lr": 0.003, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.05},
              lambda p: torch.optim.AdamW(p, lr=0.003, weight_decay=0.05)),
    "adam": ({"type": "adam", "lr": 0.002, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0},
             lambda p: torch.optim.Adam(p, lr=0.002)),
    "rmsprop": ({"type": "rmsprop", "lr": 0.001, "alpha": 0.99, "eps": 1e-8, "momentum": 0.5, "weight_decay": 0.0},
                lambda p: torch.optim.RMSprop(p, lr=0.001, momentum=0.5)),
    "adadelta": ({"type": "adadelta", "lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0.0},
                 lambda p: torch.optim.Adadelta(p, lr=1.0)),
}

SCHEDULES = {
    "constant": ({"type": "constant"}, None),
    "step": ({"type": "step", "gamma": 0.7, "step_size": 1},
             lambda o: torch.optim.lr_scheduler.StepLR(o, 1, gamma=0.7)),
    "exponential": ({"type": "exponential", "gamma": 0.8},
                    lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.8)),
    "cosine": ({"type": "cosine", "eta_min": 0.0001},
               lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, EPOCHS, 0.0001)),
    "cosine_restarts": ({"type": "cosine_restarts", "T_0": 1, "T_mult": 2, "eta_min": 0.001},
                        lambda o: torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 1, 2, 0.001)),
    "linear": ({"type": "linear", "start_factor": 0.5, "end_factor": 0.1, "total_iters": 3},
               lambda o: torch.optim.lr_scheduler.LinearLR(o, 0.5, 0.1, 3)),
    "polynomial": ({"type": "polynomial", "total_iters": 4, "power": 2.0},
                   lambda o: torch.optim.lr_scheduler.PolynomialLR(o, 4, 2.0)),
    "reduce_on_plateau": ({"type": "reduce_on_plateau", "factor": 0.2, "patience": 0, "threshold": 0.5,
                           "threshold_mode": "rel", "cooldown": 1, "min_lr": 0.001, "eps": 1e-8},
                          lambda o: torch.optim.lr_scheduler.ReduceLROnPlateau(o, factor=0.2, patience=0, threshold=0.5,
                                                                               cooldown=1, min_lr=0.001)),
    # Warms up by step for one epoch, and then follows the cosine over the remaining epochs.
    "warmup": ({"type": "cosine", "eta_min": 0.0001, "warmup_epochs": 1, "warmup_factor": 0.25},
               lambda o: torch.optim.lr_scheduler.LinearLR(o, 0.25, total_iters=ROWS // BATCH)),
    "one_cycle": ({"type": "one_cycle", "max_lr": 0.1, "pct_start": 0.3, "div_factor": 25.0, "final_div_factor": 1e4},
                  lambda o, steps=100: torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=steps,
                                                                           cycle_momentum=False)),
}

RUNS = [("pool", "sgd", "constant"), ("pool", "adam", "constant"), ("pool", "adadelta", "step"),
        ("average", "plain", "exponential"), ("average", "rmsprop", "cosine"), ("average", "sgd", "one_cycle"),
        ("square", "sgd", "constant"), ("square", "adam", "constant"), ("regression", "adam", "constant"),
        ("study", "study", "constant"), ("study", "sgd", "step"), ("study", "plain", "cosine"),
        ("regression", "plain", "constant"), ("regression", "study", "cosine"), ("kinds", "study", "constant"),
        ("kinds", "adam", "constant"), ("transposed", "study", "constant"), ("transposed", "adam", "step"),
        ("norms", "study", "constant"), ("norms", "adam", "constant"), ("residual", "study", "constant"),
        ("residual", "sgd", "cosine"), ("activations", "adamw", "warmup"), ("activations", "nesterov", "cosine_restarts"),
        ("mlp", "dampening", "linear"), ("mlp", "adamw", "polynomial"), ("mlp", "sgd", "reduce_on_plateau"),
        ("study", "nesterov", "constant"), ("regression", "adamw", "warmup"),
        ("study", "study", "constant", {"label_smoothing": 0.2}), ("pool", "adam", "constant", {"loss": "focal"}),
        ("mlp", "adam", "constant", {"class_weight": [0.5, 3.0, 1.5]}),
        ("pool", "sgd", "constant", {"weights": True, "class_weight": [2.0, 1.0, 0.25]}),
        ("study", "sgd", "constant", {"clip_grad_norm": 0.5}), ("regression", "adam", "constant", {"loss": "huber"}),
        ("regression", "adam", "constant", {"loss": "l1"}), ("regression", "sgd", "constant", {"loss": "smooth_l1"}),
        ("regression", "adam", "constant", {"weights": True, "loss": "mse"}),
        ("activations", "adam", "constant", {"ema_decay": 0.9, "clip_grad_norm": 1.0}),
        # An epoch has 25 batches, so the last step has only one.
        ("norms", "study", "step", {"gradient_accumulation_steps": 3}),
        ("study", "sgd", "constant", {"gradient_accumulation_steps": 4, "clip_grad_norm": 0.5, "weights": True}),
        ("mlp", "plain", "one_cycle", {"gradient_accumulation_steps": 2}),
        ("padded", "study", "constant"), ("padded", "adam", "step"),
        ("pool", "amsgrad", "constant"), ("mlp", "amsgradw", "cosine"), ("study", "muon", "constant"),
        ("square", "muon", "cosine"), ("norms", "muon_rms", "warmup"), ("mlp", "muon_rms", "step"),
        ("transposed", "muon", "constant", {"clip_grad_norm": 0.5, "gradient_accumulation_steps": 2})]

# Runs use these values of huber_delta, smooth_l1_beta and focal_gamma in place of the defaults.
DELTA, BETA, GAMMA = 0.7, 0.3, 2.0


class Normalise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean, self.std = mean, std

    def forward(self, x):
        return (x - self.mean) / self.std


def window(one):
    """Returns the size, step and padding of a layer's window, each as (height, width)."""
    height, step = one["kernel_size"], one["stride"]
    width = one.get("kernel_width") or height
    right = one.get("stride_width") or step or width
    padding = one["padding"]
    side = one.get("padding_width", -1)
    return (height, width), (step or height, right), (padding, padding if side < 0 else side)


class Add(nn.Module):
    def forward(self, *xs):
        return sum(xs)


class Concat(nn.Module):
    def forward(self, *xs):
        return torch.cat(xs, 1)


def module_of(one, size):
    """Returns the layer for inputs of this size."""
    kind = one["type"]
    if kind == "conv2d":
        kernel, stride, padding = window(one)
        return nn.Conv2d(size[1], one["out_channels"], kernel, stride, "same" if one.get("same") else padding,
                         dilation=one.get("dilation", 1), groups=one.get("groups", 1), bias=one["bias"],
                         padding_mode=one.get("padding_mode", "zeros"))
    if kind == "conv_transpose2d":
        return nn.ConvTranspose2d(size[1], one["out_channels"], *window(one), output_padding=one["output_padding"],
                                  groups=one["groups"], bias=one["bias"], dilation=one["dilation"])
    if kind == "max_pool2d":
        return nn.MaxPool2d(*window(one), ceil_mode=one.get("ceil_mode", False))
    if kind == "avg_pool2d":
        return nn.AvgPool2d(*window(one), ceil_mode=one["ceil_mode"], count_include_pad=one["count_include_pad"])
    if kind == "batch_norm":
        norm = nn.BatchNorm1d if len(size) == 2 else nn.BatchNorm2d
        return norm(size[1], eps=one["eps"], momentum=one["momentum"])
    return {"linear": lambda: nn.Linear(size[1], one["out_features"], bias=one["bias"]),
            "adaptive_avg_pool2d": lambda: nn.AdaptiveAvgPool2d(one["output_size"]),
            "adaptive_max_pool2d": lambda: nn.AdaptiveMaxPool2d(one["output_size"]), "softmax": lambda: nn.Softmax(1),
            "normalise": lambda: Normalise(one["mean"], one["std"]),
            "group_norm": lambda: nn.GroupNorm(one["num_groups"], size[1], eps=one["eps"]),
            "layer_norm": lambda: nn.LayerNorm(list(size[1:]), eps=one["eps"]),
            "leaky_relu": lambda: nn.LeakyReLU(one["negative_slope"]),
            "gelu": lambda: nn.GELU(approximate=one["approximate"]), "silu": nn.SiLU, "tanh": nn.Tanh,
            "sigmoid": nn.Sigmoid, "relu": nn.ReLU, "flatten": nn.Flatten, "log_softmax": lambda: nn.LogSoftmax(1),
            "add": Add, "concat": Concat}[kind]()


class Network(nn.Module):
    """Holds layers by name, or by number, which read the layer before them or those named in their inputs."""

    def __init__(self, layers, shape):
        super().__init__()
        self.reads = []
        values = {"input": torch.zeros(2, *shape)}
        for number, one in enumerate(layers):
            before = list(values)[-1]
            self.reads.append(one["inputs"].split(",") if "inputs" in one else [before])
            name = one.get("name", str(number))
            module = module_of(one, values[self.reads[-1][0]].shape)
            self.add_module(name, module.eval())
            values[name] = module(*[values[r] for r in self.reads[-1]])
            module.train()

    def forward(self, x):
        values = {"input": x}
        for (name, module), reads in zip(self.named_children(), self.reads):
            values[name] = module(*[values[r] for r in reads])
        return values[name]


def loss_of(layers, net, more):
    """Returns a function that computes the losses of rows."""
    none, kind = {"reduction": "none"}, more.get("loss", "mse" if net == "regression" else "cross_entropy")
    numbers = {"mse": nn.MSELoss(**none), "l1": nn.L1Loss(**none), "huber": nn.HuberLoss(delta=DELTA, **none),
               "smooth_l1": nn.SmoothL1Loss(beta=BETA, **none)}
    if kind in numbers:
        return lambda out, _, target: numbers[kind](out.squeeze(1), target)
    if layers[-1]["type"] == "log_softmax":
        plain = nn.NLLLoss(**none)
    else:
        plain = nn.CrossEntropyLoss(label_smoothing=more.get("label_smoothing", 0.0), **none)

    def each(out, label, _):
        loss = plain(out, label)
        return (1 - torch.exp(-loss)) ** GAMMA * loss if kind == "focal" else loss
    return each


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x = torch.randn(ROWS, 64)
    teacher = torch.randn(64, 3)
    labels = ((x + 0.3 * x * x) @ teacher).argmax(1)
    targets = (x[:, :8].sum(1) + x[:, 8] * x[:, 9]) / 3
    weights = torch.rand(ROWS) * 2
    tensors = {"x": x, "labels": labels.to(torch.int32), "targets": targets, "weights": weights}
    runs = []
    for net, optimizer, schedule, *rest in RUNS:
        more = rest[0] if rest else {}
        layers, shape = NETS[net]
        torch.manual_seed(2)
        model = Network(layers, shape)
        losses_of = loss_of(layers, net, more)
        cost = weights.clone() if more.get("weights") else torch.ones(ROWS)
        if "class_weight" in more:
            cost *= torch.tensor(more["class_weight"])[labels]
        average = None
        step = OPTIMIZERS[optimizer][1](model.parameters())
        together = more.get("gradient_accumulation_steps", 1)
        batches = ROWS // BATCH
        if schedule == "one_cycle":
            scheduler = SCHEDULES[schedule][1](step, EPOCHS * -(-batches // together))
        else:
            scheduler = SCHEDULES[schedule][1](step) if SCHEDULES[schedule][1] else None
        for name, value in model.state_dict().items():
            if value.dtype == torch.float32:
                tensors[f"{net}/initial/{name}"] = value.clone()
        losses = []
        for epoch in range(EPOCHS):
            for batch in range(batches):
                rows = slice(batch * BATCH, batch * BATCH + BATCH)
                if batch % together == 0:
                    step.zero_grad()
                out = model(x[rows].reshape(-1, *shape))
                loss = (losses_of(out, labels[rows], targets[rows]) * cost[rows]).sum() / cost[rows].sum()
                (loss / min(together, batches - batch // together * together)).backward()
                if not losses and not more:
                    for name, value in model.named_parameters():
                        tensors[f"{net}/gradient/{name}"] = value.grad.clone()
                losses.append(loss.item())
                if (batch + 1) % together != 0 and batch + 1 < batches:
                    continue
                if "clip_grad_norm" in more:
                    nn.utils.clip_grad_norm_(model.parameters(), more["clip_grad_norm"])
                step.step()
                if "ema_decay" in more:
                    average = average or torch.optim.swa_utils.AveragedModel(
                        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(more["ema_decay"]))
                    average.update_parameters(model)
                if schedule == "one_cycle" or (schedule == "warmup" and epoch == 0):
                    scheduler.step()
            if schedule == "reduce_on_plateau":
                scheduler.step(sum(losses[-(ROWS // BATCH):]) / (ROWS // BATCH))
            elif schedule == "warmup" and epoch == 0:
                scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(step, EPOCHS - 1, 0.0001)
            elif scheduler and schedule != "one_cycle":
                scheduler.step()
        name = "-".join([net, optimizer, schedule, *more])
        if "loss" in more:
            name += "-" + more["loss"]
        if average is not None:
            for key, value in average.module.named_parameters():
                tensors[f"average/{name}/{key}"] = value.detach().clone()
        for key, value in model.named_buffers():
            if value.dtype == torch.float32:
                tensors[f"running/{name}/{key}"] = value.clone()
        tensors[f"losses/{name}"] = torch.tensor(losses, dtype=torch.float32)
        runs.append({"name": name, "net": net, "shape": shape, "layers": layers,
                     "optimizer": OPTIMIZERS[optimizer][0], "scheduler": SCHEDULES[schedule][0], "more": more})
        print(f"{name}: {losses[0]:.4f} -> {losses[-1]:.4f}")
    save_file(tensors, sys.argv[1], {"runs": json.dumps(runs), "torch": torch.__version__})


if __name__ == "__main__":
    main()
