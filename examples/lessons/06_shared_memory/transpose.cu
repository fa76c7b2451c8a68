// SPDX-License-Identifier: Apache-2.0
// out[x][y] = input[y][x]. Read along a row and written along a column, or through a tile in shared
// memory, whose columns may lie in one bank or in 32.
#include <cudaops/benchmark.h>
#include <cudaops/check.h>

#include <cstring>

using namespace cudaops::benchmark;

constexpr int kWidth = 8192, kTile = 32, kRows = 8;
constexpr int kPeriod = 1021;

enum class Way { kDirect, kTile, kPaddedTile };

template <Way way>
__global__ void transpose(const float* input, float* out) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  if constexpr (way == Way::kDirect) {
    for (int row = 0; row < kTile; row += kRows) {
      out[x * kWidth + y + row] = input[(y + row) * kWidth + x];  // neighbours write 32 KiB apart
    }
  } else {
    // 32 banks of 4 bytes. In rows of 32 floats a column is one bank, in rows of 33 all of them.
    __shared__ float tile[kTile][way == Way::kPaddedTile ? kTile + 1 : kTile];
    for (int row = 0; row < kTile; row += kRows) {
      tile[threadIdx.y + row][threadIdx.x] = input[(y + row) * kWidth + x];
    }
    __syncthreads();
    const int out_x = blockIdx.y * kTile + threadIdx.x, out_y = blockIdx.x * kTile + threadIdx.y;
    for (int row = 0; row < kTile; row += kRows) {
      out[(out_y + row) * kWidth + out_x] = tile[threadIdx.x][threadIdx.y + row];
    }
  }
}

template <Way way>
void transposed(benchmark::State& state) {
  constexpr int64_t kSize = int64_t{kWidth} * kWidth;
  std::vector<float> values(kPeriod);
  for (int i = 0; i < kPeriod; ++i) values[i] = static_cast<float>(i);
  std::vector<char> pattern(kPeriod * sizeof(float));
  std::memcpy(pattern.data(), values.data(), pattern.size());
  const DeviceSets input(1, kSize * sizeof(float), pattern), out(1, kSize * sizeof(float));
  Case c;
  c.bytes = 2.0 * kSize * sizeof(float);
  c.launch = [&](int, cudaStream_t stream) {
    transpose<way><<<dim3(kWidth / kTile, kWidth / kTile), dim3(kTile, kRows), 0, stream>>>(
        static_cast<const float*>(input[0]), static_cast<float*>(out[0]));
    CUDAOPS_CHECK_LAUNCH();
  };
  c.verify = [&]() -> std::string {
    const std::vector<float> found = out.to_host<float>(0, kSize);
    for (int64_t x = 0; x < kWidth; ++x) {
      for (int64_t y = 0; y < kWidth; ++y) {
        if (found[x * kWidth + y] != values[(y * kWidth + x) % kPeriod]) {
          return "element " + std::to_string(x) + ", " + std::to_string(y);
        }
      }
    }
    return "";
  };
  run(state, c);
}
BENCHMARK(transposed<Way::kDirect>)->Apply(timed_on_gpu);
BENCHMARK(transposed<Way::kTile>)->Apply(timed_on_gpu);
BENCHMARK(transposed<Way::kPaddedTile>)->Apply(timed_on_gpu);

CUDAOPS_BENCHMARK_MAIN()
