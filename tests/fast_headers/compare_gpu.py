# SPDX-License-Identifier: Apache-2.0
"""compare.py on a GPU: streams, two at once, guards, device code, errors of launches, graphs. Prints the differences as JSON.

    python compare_gpu.py            the same calls with torch's headers (as few of them as the text names) and the fast ones
    python compare_gpu.py --fast     the calls with the fast ones alone, for compute-sanitizer; with PYTORCH_NO_CUDA_MEMORY_CACHING=1
                                     each tensor is an allocation of its own, and it sees what lies beyond one
"""

import json
import os
import sys
import threading
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")]

import torch  # noqa: E402
from compare import outcome, same_text  # noqa: E402

import cudaops  # noqa: E402

CPP = """
torch::Tensor scaled(torch::Tensor x, double factor);
torch::Tensor summed(torch::Tensor x);
torch::Tensor packed(torch::Tensor x);
torch::Tensor halves(torch::Tensor x);
std::vector<int64_t> stream_facts(torch::Tensor x);
std::vector<int64_t> device_facts(torch::Tensor x);
std::string device_name();
void wrong_launch(torch::Tensor x, int64_t threads);
int64_t wrong_call(int64_t device);
torch::Tensor spun(torch::Tensor x, int64_t cycles);
void same_gpu(torch::Tensor x, torch::Tensor y);
std::vector<torch::Tensor> moved(torch::Tensor x);
torch::Tensor of_memory(int64_t n);
int64_t set_device(int64_t device);
"""
CUDA = r"""
#include <ATen/TensorUtils.h>
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

template <typename T>
__global__ void scale(const T* x, T* out, double factor, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<T>(static_cast<double>(x[i]) * factor);
}
torch::Tensor scaled(torch::Tensor x, double factor) {
  const at::cuda::OptionalCUDAGuard guard(at::device_of(x));
  x = x.contiguous();
  auto out = torch::empty_like(x);
  const int64_t n = x.numel();
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "scaled", [&] {
    if (n) scale<scalar_t><<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), factor, n);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

template <typename T>
__global__ void sum(const T* x, T* out, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) gpuAtomicAdd(out, x[i]);
}
torch::Tensor summed(torch::Tensor x) {
  const c10::cuda::CUDAGuard guard(x.device());
  // Of four elements: gpuAtomicAdd() of a byte reads and writes the 4 bytes around it.
  auto out = torch::zeros({4}, x.options());
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "summed", [&] {
    sum<scalar_t><<<(x.numel() + 127) / 128, 128, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), x.numel());
  });
  AT_CUDA_CHECK(cudaGetLastError());
  return out;
}

__global__ void transpose(torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> x, torch::PackedTensorAccessor64<float, 2> out) {
  const int r = blockIdx.x, c = threadIdx.x;
  if (r < x.size(0) && c < x.size(1)) out[c][r] = x[r][c] + x.stride(0);
}
torch::Tensor packed(torch::Tensor x) {
  auto out = torch::zeros({x.size(1), x.size(0)}, x.options());
  transpose<<<x.size(0), x.size(1), 0, at::cuda::getCurrentCUDAStream()>>>(x.packed_accessor32<float, 2, torch::RestrictPtrTraits>(), out.packed_accessor64<float, 2>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

C10_DEVICE inline float square(at::Half x) { return static_cast<float>(x * x + at::Half(0.5f)); }
__global__ void half_kernel(const at::Half* x, c10::BFloat16* out, int64_t n) {
  const int64_t i = threadIdx.x;
  if (i < n && i < C10_WARP_SIZE) out[i] = static_cast<c10::BFloat16>(square(x[i]));
}
torch::Tensor halves(torch::Tensor x) {
  auto h = x.to(at::kHalf).flatten();
  auto out = torch::empty(h.sizes(), h.options().dtype(at::kBFloat16));
  half_kernel<<<1, 64, 0, at::cuda::getCurrentCUDAStream()>>>(h.data_ptr<at::Half>(), out.data_ptr<at::BFloat16>(), h.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

std::vector<int64_t> stream_facts(torch::Tensor x) {
  at::cuda::CUDAStream now = at::cuda::getCurrentCUDAStream(), of = c10::cuda::getCurrentCUDAStream(x.get_device());
  return {(int64_t)now.stream(), (int64_t)of.stream(), now.device_index(), now.id(), now == of, now != of, now.device().index(), (int64_t)(cudaStream_t)now};
}
std::vector<int64_t> device_facts(torch::Tensor x) {
  auto* now = at::cuda::getCurrentDeviceProperties();
  auto* of = at::cuda::getDeviceProperties(x.get_device());
  c10::DeviceGuard guard(x.device());
  const c10::OptionalDeviceGuard maybe(at::device_of(x));
  return {now->multiProcessorCount, of->major, of->minor, (int64_t)of->totalGlobalMem, now == of, at::cuda::warp_size(), c10::cuda::current_device(), x.is_cuda(), x.get_device(), x.device().index()};
}
std::string device_name() { return at::cuda::getCurrentDeviceProperties()->name; }

void wrong_launch(torch::Tensor x, int64_t threads) {
  scale<float><<<1, threads, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), x.data_ptr<float>(), 1, x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}
int64_t wrong_call(int64_t device) { C10_CUDA_CHECK(cudaSetDevice(device)); AT_CUDA_CHECK(cudaSetDevice(0)); return device; }

__global__ void spin(float* out, int64_t cycles) {
  const int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
  *out += 1;
}
torch::Tensor spun(torch::Tensor x, int64_t cycles) {
  spin<<<1, 1, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), cycles);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return x;
}
void same_gpu(torch::Tensor x, torch::Tensor y) {
  at::TensorArg a{x, "x", 1}, b{y, "y", 2};
  at::checkAllSameGPU("same_gpu", {a, b});
  at::checkSameGPU("same_gpu", a, b);
}
std::vector<torch::Tensor> moved(torch::Tensor x) {
  return {x.cpu(), x.cpu().cuda(), x.to(torch::kCPU), torch::ones({2}, torch::device(torch::kCUDA)), torch::zeros({2}, torch::TensorOptions().device(torch::kCUDA, 0).dtype(torch::kHalf)),
          at::empty({0}, x.options()), x.to(torch::Device("cuda:0"), torch::kDouble), torch::arange(3, x.device())};
}
torch::Tensor of_memory(int64_t n) {
  float* memory = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&memory, n * sizeof(float)));
  C10_CUDA_CHECK(cudaMemset(memory, 0, n * sizeof(float)));
  return torch::from_blob(memory, {n}, [](void* p) { cudaFree(p); }, torch::TensorOptions().device(torch::kCUDA));
}
int64_t set_device(int64_t device) { return (int64_t)c10::cuda::MaybeSetDevice((c10::DeviceIndex)device); }
"""
FUNCTIONS = [line.split("(")[0].split()[-1] for line in CPP.strip().split("\n")]


def base(*shape):
    return (torch.arange(torch.Size(shape).numel(), device="cuda", dtype=torch.float32).reshape(shape) - 3) / 4


def within_stream(function):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        found = function()
        named = torch.cuda.current_stream().cuda_stream
    stream.synchronize()
    return found, named


def beside(module):
    """What a kernel on one stream does while another one is busy: it doesn't wait, and it doesn't disturb."""
    busy, free = torch.cuda.Stream(), torch.cuda.Stream()
    x, y = torch.zeros(1, device="cuda"), torch.zeros(1, device="cuda")
    module.spun(torch.zeros(1, device="cuda"), 1)
    torch.cuda.synchronize()
    with torch.cuda.stream(busy):
        module.spun(x, 400_000_000)
    with torch.cuda.stream(free):
        module.spun(y, 1)
        done = torch.cuda.Event()
        done.record()
    started = time.perf_counter()
    done.synchronize()
    early = time.perf_counter() - started < 0.1 and not busy.query()
    torch.cuda.synchronize()
    return [early, x.item(), y.item()]


def in_threads(module):
    """Four threads with a stream each."""
    found = [None] * 4

    def work(number):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            x = torch.full((1000,), float(number), device="cuda")
            for _ in range(50):
                x = module.scaled(x, 2.0) / 2
            found[number] = [x.sum().item(), module.stream_facts(x)[0] == stream.cuda_stream]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return found


def in_a_graph(module):
    x = base(4, 5)
    module.scaled(x, 3.0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = module.scaled(x, 3.0)
    results = []
    for _ in range(2):
        x.add_(1)
        graph.replay()
        torch.cuda.synchronize()
        results.append(y.clone())
    return results


def freed(module):
    t = module.of_memory(1000)
    total = t.sum().item()
    del t
    return total


CALLS = [
    *("scaled %s" % dtype for dtype in ("float32", "float64", "float16", "bfloat16", "int32")),
    *("summed %s" % dtype for dtype in ("float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "bool")),
]


def calls():
    """[(label, function of a module)]"""
    made = []
    for call in CALLS:
        name, dtype = call.split()
        # Whole numbers, so that the order of atomic sums doesn't matter.
        values = [] if name == "summed" else [1.5]
        made.append((call, lambda m, n=name, d=dtype, v=values: getattr(m, n)(torch.arange(40, device="cuda").reshape(5, 8).to(getattr(torch, d)), *v)))
    made += [
        ("scaled, not contiguous", lambda m: m.scaled(base(4, 6).t(), 2.0)),
        ("scaled, empty", lambda m: m.scaled(base(0, 6), 2.0)),
        ("packed", lambda m: m.packed(base(5, 7))),
        ("packed, strided", lambda m: m.packed(base(7, 5).t())),
        ("packed, of three dimensions", lambda m: m.packed(base(2, 3, 4))),
        ("halves", lambda m: m.halves(base(4, 4))),
        ("stream", lambda m: m.stream_facts(base(2))),
        ("another stream", lambda m: (lambda found: [found[0][0] == found[1], found[0][2:3], found[0][4:7]])(within_stream(lambda: m.stream_facts(base(2))))),
        ("device", lambda m: m.device_facts(base(2))),
        ("name", lambda m: m.device_name()),
        ("wrong launch", lambda m: m.wrong_launch(base(2), 2048)),
        ("right after it", lambda m: m.scaled(base(2), 2.0)),
        ("wrong device", lambda m: m.wrong_call(1000)),
        ("no wrong device", lambda m: m.wrong_call(0)),
        ("same GPU", lambda m: m.same_gpu(base(2), base(3))),
        ("not the same GPU", lambda m: m.same_gpu(base(2), torch.ones(2))),
        ("moved", lambda m: m.moved(base(3))),
        ("of memory", freed),
        ("set device", lambda m: m.set_device(0)),
        ("two streams", beside),
        ("threads", in_threads),
        ("a graph", in_a_graph),
        ("inference", lambda m: torch.inference_mode()(lambda: m.scaled(base(3), 2.0))()),
        ("gradient", lambda m: m.scaled(base(3).requires_grad_(), 2.0)),
        ("other dtype", lambda m: m.packed(base(2, 3).double())),
    ]
    return made


def built(headers):
    module = cudaops.load_inline("gpu_cases", [CPP], [CUDA], functions=FUNCTIONS, headers=headers)
    if headers == "fast":
        assert module.__cudaops__["headers"] == "fast", module.__cudaops__
    return module


def main():
    if sys.argv[1:2] == ["--build"]:
        built(sys.argv[2])
        return
    fast = built("fast")
    if sys.argv[1:2] == ["--fast"]:
        # The sanitizer reports errors of CUDA that are meant, and four threads don't come to an end in it; an allocation
        # can't be captured.
        without = ("wrong", "threads", *(["a graph"] if os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING") else []))
        made = [outcome(call, (fast,)) for label, call in calls() if not label.startswith(without)]
        torch.cuda.synchronize()
        print(len(made), "calls")
        return
    real = built("slim")
    differences, texts, number = [], [], 0
    for label, call in calls():
        number += 1
        found = [outcome(lambda call=call, module=module: call(module), ()) for module in (real, fast)]
        if found[0][0] != found[1][0]:
            differences.append([label, *found])
        elif not same_text(found[0][1], found[1][1]):
            texts.append([label, found[0][1], found[1][1]])
        if label in ("two streams", "threads") and "False" in repr(found[1][0]):
            differences.append([label, "expected", found[1][0]])
    json.dump({"calls": number, "device": torch.cuda.get_device_name(), "torch": torch.__version__, "differences": differences, "texts": texts}, sys.stdout)
    print()
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
