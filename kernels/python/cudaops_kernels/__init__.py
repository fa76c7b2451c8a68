# SPDX-License-Identifier: Apache-2.0
"""Fast kernels for PyTorch: torch.ops.cudaops, and functions named as in torch.nn.functional.

The ops work on CPU and CUDA tensors of float32, float16 and bfloat16, with gradients and under
torch.compile. Importing this module registers them.
"""

import types as _types

from torch.fx import wrap as _wrap

from . import _library  # noqa: F401  (first: it registers the ops)
from . import _autocast, _flops, optim  # noqa: F401
from ._attention import attention, attention_varlen
from ._attention_decode import attention_decode
from ._bias_gelu import bias_gelu
from ._cross_entropy import cross_entropy, cross_entropy_
from ._geglu import geglu, gelu_and_mul
from ._layer_norm import LayerNorm, layer_norm
from ._linear_cross_entropy import linear_cross_entropy
from ._optimizers import clip_grad_norm_
from ._patch import patch
from ._quantize import dequantize, quantize
from ._rms_norm import RMSNorm, fused_add_rms_norm, fused_add_rms_norm_, rms_norm
from ._rms_norm_quantize import rms_norm_quantize
from ._rope import apply_rotary_pos_emb, rope, rope_, rotary_cos_sin
from ._rope_append_kv import rope_append_kv_
from ._sdpa import SdpaPatch, sdpa_patch
from ._softmax import softmax
from ._swiglu import silu_and_mul, swiglu
from ._swiglu_quantize import swiglu_quantize
from ._transformers import register_attention
from ._transpose import transpose

__all__ = [
    "LayerNorm",
    "RMSNorm",
    "SdpaPatch",
    "apply_rotary_pos_emb",
    "attention",
    "attention_decode",
    "attention_varlen",
    "bias_gelu",
    "clip_grad_norm_",
    "cross_entropy",
    "cross_entropy_",
    "dequantize",
    "fused_add_rms_norm",
    "fused_add_rms_norm_",
    "geglu",
    "gelu_and_mul",
    "layer_norm",
    "linear_cross_entropy",
    "optim",
    "patch",
    "quantize",
    "register_attention",
    "rms_norm",
    "rms_norm_quantize",
    "rope",
    "rope_",
    "rope_append_kv_",
    "rotary_cos_sin",
    "sdpa_patch",
    "silu_and_mul",
    "softmax",
    "swiglu",
    "swiglu_quantize",
    "transpose",
]

# torch.fx.symbolic_trace keeps calls of these as they are, as those of torch's own functions.
for _name in __all__:
    if isinstance(globals()[_name], _types.FunctionType):
        _wrap(_name)
