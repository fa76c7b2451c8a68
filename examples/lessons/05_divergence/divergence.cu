// SPDX-License-Identifier: Apache-2.0
// A warp executes one instruction at a time: where its threads take different paths, it takes the
// paths one after the other. And where its threads exchange data, it has to be told to meet.
#include <cudaops/benchmark.h>
#include <cudaops/check.h>

using namespace cudaops::benchmark;

constexpr int kNumThreads = 1 << 22, kBlockSize = 256, kSteps = 1000, kRounds = 100;

// Each thread takes one of `num_paths` paths, and does as much work whatever their number.
__global__ void take_paths(float* out, int num_paths) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = 0;
  for (int path = 0; path < num_paths; ++path) {
    if (i % num_paths == path) {
      for (int step = 0; step < kSteps; ++step) x = fmaf(x, 0.5f, path + 1.0f);
    }
  }
  out[i] = x;  // 2 (path + 1)
}

enum class Way { kSyncthreads, kSyncwarp, kShuffle };

// Each thread takes the value of its right neighbour in the warp, kRounds times.
template <Way way>
__global__ void rotate(float* out) {
  __shared__ float values[kBlockSize];
  const int lane = threadIdx.x % 32, neighbour = threadIdx.x - lane + (lane + 1) % 32;
  const auto meet = [] { way == Way::kSyncthreads ? __syncthreads() : __syncwarp(); };
  float x = lane;
  for (int round = 0; round < kRounds; ++round) {
    if (way == Way::kShuffle) {
      x = __shfl_sync(0xffffffff, x, lane + 1);  // modulo 32
    } else {
      values[threadIdx.x] = x;
      meet();  // not read before all have written
      x = values[neighbour];
      meet();  // not written before all have read
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

template <typename Launch, typename Expected>
void time_kernel(benchmark::State& state, Launch launch, Expected expected) {
  const DeviceSets out(1, kNumThreads * sizeof(float));
  Case c;
  c.launch = [&](int, cudaStream_t stream) {
    launch(kNumThreads / kBlockSize, stream, static_cast<float*>(out[0]));
    CUDAOPS_CHECK_LAUNCH();
  };
  c.verify = [&]() -> std::string {
    const std::vector<float> found = out.to_host<float>(0, kNumThreads);
    for (int i = 0; i < kNumThreads; ++i) {
      if (found[i] != expected(i)) return "thread " + std::to_string(i);
    }
    return "";
  };
  run(state, c);
}

void paths(benchmark::State& state) {
  const int num_paths = static_cast<int>(state.range(0));
  time_kernel(
      state,
      [=](int grid, cudaStream_t stream, float* out) {
        take_paths<<<grid, kBlockSize, 0, stream>>>(out, num_paths);
      },
      [=](int i) { return 2.0f * (i % num_paths + 1); });
}
BENCHMARK(paths)->Apply(timed_on_gpu)->RangeMultiplier(2)->Range(1, 32);

template <Way way>
void exchange(benchmark::State& state) {
  time_kernel(
      state,
      [](int grid, cudaStream_t stream, float* out) {
        rotate<way><<<grid, kBlockSize, 0, stream>>>(out);
      },
      [](int i) { return static_cast<float>((i + kRounds) % 32); });
}
BENCHMARK(exchange<Way::kSyncthreads>)->Apply(timed_on_gpu);
BENCHMARK(exchange<Way::kSyncwarp>)->Apply(timed_on_gpu);
BENCHMARK(exchange<Way::kShuffle>)->Apply(timed_on_gpu);

CUDAOPS_BENCHMARK_MAIN()
