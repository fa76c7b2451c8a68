# SPDX-License-Identifier: Apache-2.0
"""Fast kernels for PyTorch: torch.ops.cudaops, and functions named as in torch.nn.functional.

The ops work on CPU and CUDA tensors of float32, float16 and bfloat16, with gradients and under
torch.compile. Importing this module registers them.
"""

from . import _library  # noqa: F401  (first: it registers the ops)
from . import _autocast, _batching, optim  # noqa: F401
from ._bias_gelu import bias_gelu
from ._cross_entropy import cross_entropy, cross_entropy_
from ._geglu import geglu
from ._layer_norm import LayerNorm, layer_norm
from ._quantize import dequantize, quantize
from ._rms_norm import RMSNorm, fused_add_rms_norm, fused_add_rms_norm_, rms_norm
from ._rms_norm_quantize import rms_norm_quantize
from ._rope import rope, rope_
from ._softmax import softmax
from ._swiglu import swiglu
from ._swiglu_quantize import swiglu_quantize
from ._transpose import transpose

__all__ = [
    "LayerNorm",
    "RMSNorm",
    "bias_gelu",
    "cross_entropy",
    "cross_entropy_",
    "dequantize",
    "fused_add_rms_norm",
    "fused_add_rms_norm_",
    "geglu",
    "layer_norm",
    "optim",
    "quantize",
    "rms_norm",
    "rms_norm_quantize",
    "rope",
    "rope_",
    "softmax",
    "swiglu",
    "swiglu_quantize",
    "transpose",
]
