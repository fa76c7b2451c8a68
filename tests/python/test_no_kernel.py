# SPDX-License-Identifier: Apache-2.0
"""An op that is given tensors of a device that it has no kernel for: one sentence, and nothing else is different."""

import re
import warnings

import pytest
from jit_store import jit, op  # noqa: F401

import cudaops
from cudaops import no_kernel

torch = pytest.importorskip("torch")
CPU_TO_CUDA_OP = (
    'cudaops: %s was given cpu tensors and has kernels for cuda tensors only: move them with .to("cuda"), '
    'or add a kernel with torch.library.register_kernel("%s", "cpu").'
)


def cuda_only(namespace):
    return op(namespace).replace(", CPU, m)", ", CUDA, m)")


def refusal(call, *arguments):
    with pytest.raises(NotImplementedError) as raised:
        call(*arguments)
    return str(raised.value)


@pytest.mark.parametrize("way", ["load", "load_inline", "OpLibrary", "load_library"])
def test_cpu_tensor_given_to_an_op_for_cuda(jit, way):  # noqa: F811
    name = "no_kernel_" + way.lower()
    text = cuda_only(name)
    if way == "load_inline":
        jit.load("ops", text, inline=True)
    else:
        path = jit.write("ops.cpp", text)
        if way == "load":
            jit.load("ops", path, is_python_module=False)
        else:
            request = cudaops.jit.api.Request("ops", "library")
            request.set_flags(None, None, None, None)
            request.set_paths(path)
            built = cudaops.jit.api.obtain(request)[0].path
            if way == "load_library":
                cudaops.load_library(built)
            else:
                place = jit.directory / "package"
                place.mkdir()
                (place / "libops.so").symlink_to(built)
                assert cudaops.OpLibrary(place, "ops").state == "PREBUILT"
    full = name + "::twice"
    call = getattr(torch.ops, name).twice
    for tensor in (torch.ones(1), torch.ones(1, requires_grad=True)):
        for form in (call, call.default):
            assert refusal(form, tensor) == CPU_TO_CUDA_OP % (full, full)


@pytest.fixture
def defined(request):
    """Defines ops, as a library that is loaded does; (name, Library)."""
    namespace = "no_kernel_" + re.sub(r"\W", "_", request.node.name)[:50]
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define("f(Tensor a) -> Tensor")
    library.impl("f", lambda a: a + 1, "CUDA")
    no_kernel.explain(torch, [namespace + "::f"])
    yield namespace + "::f", library
    library._destroy()


def overload(name):
    namespace, _, short = name.partition("::")
    return getattr(getattr(torch.ops, namespace), short).default


@pytest.mark.parametrize("key", ["CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd"])
def test_kernel_that_is_registered_later_serves_its_device_without_a_word(defined, key):
    name, _ = defined
    refusal(overload(name), torch.ones(1))
    with warnings.catch_warnings(), torch.library._scoped_library(name.partition("::")[0], "IMPL") as later:
        warnings.simplefilter("error")
        later.impl("f", lambda a: a * 5, key)
        assert overload(name)(torch.ones(1)).item() == 5
    assert refusal(overload(name), torch.ones(1)) == CPU_TO_CUDA_OP % (name, name)


def test_cure_in_the_sentence_works(defined):
    name, _ = defined
    refusal(overload(name), torch.ones(1))
    torch.library.register_kernel(name, "cpu")(lambda a: a * 7)
    assert overload(name)(torch.ones(1)).item() == 7


def test_compile_and_opcheck_see_the_op_as_before(defined):
    name, library = defined
    assert "fake impl" in refusal(overload(name), torch.ones(1, device="meta"))
    library.impl("f", lambda a: a * 7, "CPU")
    torch.library.register_fake(name, torch.empty_like, lib=library)
    torch.library.opcheck(overload(name), (torch.ones(3),))
    compiled = torch.compile(lambda a: overload(name)(a) * 2, fullgraph=True, backend="aot_eager")
    assert compiled(torch.ones(1)).item() == 14


def test_compiled_call_says_the_same(defined):
    name, library = defined
    torch.library.register_fake(name, torch.empty_like, lib=library)
    compiled = torch.compile(lambda a: overload(name)(a), fullgraph=True, backend="aot_eager")
    assert refusal(compiled, torch.ones(1)) == CPU_TO_CUDA_OP % (name, name)


def test_layouts_are_told_apart(defined):
    name, library = defined
    library.impl("f", lambda a: a, "CPU")
    said = "cudaops: %s was given sparse cpu tensors and has kernels for cpu tensors and cuda tensors only: convert them with "
    assert refusal(overload(name), torch.ones(1).to_sparse()) == said % name + ".to_dense()."


def test_op_without_any_kernel_and_op_without_a_tensor(defined):
    name, library = defined
    library.define("g.scalar(int a) -> Tensor")
    namespace = name.partition("::")[0]
    no_kernel.explain(torch, [namespace + "::"])
    call = getattr(torch.ops, namespace).g.scalar
    added = 'or add one with torch.library.register_kernel("%s::g.scalar", "cpu").' % namespace
    said = "cudaops: %s::g is defined and has no kernel: load the library that has them, " % namespace
    assert refusal(call, 1) == said + added
    library.impl("g.scalar", lambda a: a, "CUDA")
    said = "cudaops: %s::g was called without a tensor and has kernels for cuda tensors only: give it a tensor of these."
    assert refusal(call, 1) == said % namespace
