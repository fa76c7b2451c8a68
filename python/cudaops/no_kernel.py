# SPDX-License-Identifier: Apache-2.0
"""One sentence where an op gets tensors of a device that it has no kernel for; torch's own text is a page.

The dispatcher asks for it when it has found no kernel. Nothing is registered: calls that find a kernel cost what they did,
and a kernel that is registered later serves its device.
"""

from functools import partial

# Dispatch keys are a layout and a device: "SparseCsrCUDA".
_LAYOUTS = {"": "", "Quantized": "quantized ", "SparseCsr": "compressed sparse ", "Sparse": "sparse ", "NestedTensor": "nested "}
_DEVICES = "CPU CUDA HIP XPU MPS HPU MTIA MAIA XLA IPU VE Lazy PrivateUse1 PrivateUse2".split()


def explain(torch, ops):
    """ops: names; "namespace::" for all that a namespace has."""
    names = set()
    for op in ops:
        if op.endswith("::"):
            names |= {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names() if name.startswith(op)}
        else:
            names.add(op)
    for name in names:
        for schema in torch._C._jit_get_schemas_for_operator(name):
            handle = torch._C._dispatch_find_schema_or_throw(name, schema.overload_name)
            full = name + ("." + schema.overload_name if schema.overload_name else "")
            torch._C._dispatch_set_report_error_callback(handle, partial(_report, torch, name, full))


def _report(torch, name, full, key):
    raise NotImplementedError("cudaops: %s %s." % (name, _problem(torch, full, key)))


def _problem(torch, full, missing):
    """full: the name with its overload; missing: the dispatch key that has no kernel."""
    known = {layout + device: (layout, device) for layout in _LAYOUTS for device in _DEVICES}
    keys = [key for key in known if _has(torch, full, key)]
    layout, device = known.get(missing, ("", missing))
    add = 'torch.library.register_kernel("%s", "%s")' % (full, "cpu" if missing == "Undefined" else _device(torch, device))
    if not keys:
        return "is defined and has no kernel: load the library that has them, or add one with " + add
    has = " and ".join(_tensors(torch, *known[key]) for key in keys)
    if missing == "Undefined":
        return "was called without a tensor and has kernels for %s only: give it a tensor of these" % has
    text = "was given %s and has kernels for %s only" % (_tensors(torch, layout, device), has)
    if device in keys:
        return "%s: convert them with %s" % (text, ".dequantize()" if layout == "Quantized" else ".to_dense()")
    return '%s: move them with .to("%s"), or add a kernel with %s' % (text, _device(torch, known[keys[0]][1]), add)


def _has(torch, full, key):
    try:
        return torch._C._dispatch_has_kernel_for_dispatch_key(full, key)
    except RuntimeError:  # not every layout exists for every device
        return False


def _tensors(torch, layout, device):
    return "%s%s tensors" % (_LAYOUTS[layout], _device(torch, device))


def _device(torch, name):
    if name == "PrivateUse1":
        return torch._C._get_privateuse1_backend_name()
    return "cuda" if name == "HIP" else name.lower()
