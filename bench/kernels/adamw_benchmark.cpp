// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>

#include "adamw/adamw.h"
#include "op_benchmark.h"

#if defined(CUDAOPS_BENCH_WITH_CUDA)

namespace {

using namespace op_benchmark;
using namespace cudaops_kernels;
using cudaops::benchmark::DeviceSets;
using cudaops::testing::exact;

// Of an element, read and written: float32 has no master, 16-bit params are not read.
constexpr double kBytes = 28;

constexpr float kStep = 3;

// A list of `count` tensors of `size` elements, which lie one behind the other: odd sizes give
// every alignment.
template <typename T>
class List {
 public:
  static constexpr bool kMaster = sizeof(T) == 2;

  List(int64_t count, int64_t size, int num_sets)
      : count_(count),
        size_(size),
        params_(values<T>(0)),
        grads_(values<T>(1)),
        exp_avgs_(values<float>(2)),
        exp_avg_sqs_(squares()),
        masters_(values<float>(0)),
        param_(num_sets, bytes(sizeof(T)), as_pattern(params_)),
        grad_(num_sets, bytes(sizeof(T)), as_pattern(grads_)),
        exp_avg_(num_sets, bytes(sizeof(float)), as_pattern(exp_avgs_)),
        exp_avg_sq_(num_sets, bytes(sizeof(float)), as_pattern(exp_avg_sqs_)),
        master_(num_sets, kMaster ? bytes(sizeof(float)) : 0, as_pattern(masters_)),
        step_(num_sets, static_cast<size_t>(count) * sizeof(float),
              as_pattern(std::vector<float>(static_cast<size_t>(count), kStep))),
        memory_(num_sets, static_cast<size_t>(adamw_table_bytes(count))) {}

  int64_t num_elements() const { return count_ * size_; }
  int64_t count() const { return count_; }
  void* memory(int set) const { return memory_[set]; }

  std::vector<AdamWTensor> tensors(int set) const {
    std::vector<AdamWTensor> result;
    for (int64_t i = 0; i < count_; ++i) {
      const int64_t first = i * size_;
      float* const master = kMaster ? static_cast<float*>(master_[set]) + first : nullptr;
      result.push_back({static_cast<T*>(param_[set]) + first, static_cast<T*>(grad_[set]) + first,
                        static_cast<float*>(exp_avg_[set]) + first,
                        static_cast<float*>(exp_avg_sq_[set]) + first, master,
                        static_cast<float*>(step_[set]) + i, size_});
    }
    return result;
  }

  static AdamW call() {
    AdamW result{};
    result.dtype = kDType<T>;
    result.has_master = kMaster;
    result.lr = 1e-3;
    result.beta1 = 0.9;
    result.beta2 = 0.999;
    result.weight_decay = 0.01;
    result.eps = 1e-8;
    return result;
  }

  // After one step of set 0.
  std::string wrong() const {
    const AdamW c = call();
    const auto moments = [&](int64_t i) {
      const double g = exact(grads_[static_cast<size_t>(i)]);
      return std::pair<double, double>{
          c.beta1 * exp_avgs_[static_cast<size_t>(i)] + (1 - c.beta1) * g,
          c.beta2 * exp_avg_sqs_[static_cast<size_t>(i)] + (1 - c.beta2) * g * g};
    };
    const auto param = [&](int64_t i) {
      const size_t at = static_cast<size_t>(i);
      const double before = kMaster ? static_cast<double>(masters_[at]) : exact(params_[at]);
      const auto [exp_avg, exp_avg_sq] = moments(i);
      return before - c.lr * c.weight_decay * before -
             c.lr / (1 - std::pow(c.beta1, kStep)) * exp_avg /
                 (std::sqrt(exp_avg_sq / (1 - std::pow(c.beta2, kStep))) + c.eps);
    };
    const int64_t n = num_elements();
    std::string text = wrong_elements<T>(param_, n, param);
    if (text.empty() && kMaster) text = wrong_elements<float>(master_, n, param);
    if (text.empty()) {
      text = wrong_elements<float>(exp_avg_sq_, n, [&](int64_t i) { return moments(i).second; });
    }
    return text;
  }

 private:
  static std::vector<float> squares() {
    std::vector<float> result = values<float>(3);
    for (float& value : result) value = value * value + 0.1f;
    return result;
  }
  size_t bytes(size_t element) const { return static_cast<size_t>(num_elements()) * element; }

  int64_t count_, size_;
  std::vector<T> params_, grads_;
  std::vector<float> exp_avgs_, exp_avg_sqs_, masters_;
  DeviceSets param_, grad_, exp_avg_, exp_avg_sq_, master_, step_, memory_;
};

// With a table that is on the device already, or from a list on the host.
template <typename T, bool kPrepared>
void time_adamw(benchmark::State& state) {
  const int64_t count = state.range(0), size = state.range(1);
  cudaops::benchmark::Case c;
  c.bytes = kBytes * static_cast<double>(count * size);
  c.num_sets = cudaops::benchmark::cold_sets(c.bytes);
  const List<T> list(count, size, c.num_sets);
  std::vector<std::vector<AdamWTensor>> tensors;
  std::vector<AdamWTable> tables;
  for (int set = 0; set < c.num_sets; ++set) {
    tensors.push_back(list.tensors(set));
    tables.push_back(
        write_adamw_table(kDType<T>, tensors.back().data(), count, list.memory(set), nullptr));
  }
  CUDAOPS_GPU_CALL(DeviceSynchronize);
  const AdamW call = List<T>::call();
  c.launch = [&](int set, cudaStream_t stream) {
    const size_t at = static_cast<size_t>(set);
    if (kPrepared) return launch_adamw(call, tables[at], stream);
    launch_adamw(call, tensors[at].data(), count, list.memory(set), stream);
  };
  c.verify = [&] { return list.wrong(); };
  cudaops::benchmark::run(state, c);
}

template <typename T>
void adamw(benchmark::State& state) {
  time_adamw<T, true>(state);
}
template <typename T>
void adamw_list(benchmark::State& state) {
  time_adamw<T, false>(state);
}

// From the call to the end of the kernel, as a program sees it that waits for it.
template <typename T>
void adamw_submit(benchmark::State& state) {
  try {
    const int64_t count = state.range(0), size = state.range(1);
    const List<T> list(count, size, 1);
    const std::vector<AdamWTensor> tensors = list.tensors(0);
    const AdamW call = List<T>::call();
    const cudaops::benchmark::detail::Stream stream;
    const auto step = [&] {
      launch_adamw(call, tensors.data(), count, list.memory(0), stream);
      CUDAOPS_GPU_CALL(StreamSynchronize, stream);
    };
    step();
    const std::string wrong = list.wrong();
    if (!wrong.empty()) throw std::runtime_error("wrong result: " + wrong);
    std::vector<double> seconds;
    for (int i = 0; i < 100; ++i) {
      const auto start = std::chrono::steady_clock::now();
      step();
      const auto end = std::chrono::steady_clock::now();
      seconds.push_back(std::chrono::duration<double>(end - start).count());
    }
    for (auto iteration : state) {
      (void)iteration;
      state.SetIterationTime(cudaops::benchmark::median(seconds));
    }
  } catch (const std::exception& error) {
    ++cudaops::benchmark::detail::num_failed();
    state.SkipWithError(error.what());
  }
}

void lists(cudaops::benchmark::Registered registered) {
  cudaops::benchmark::timed_on_gpu(registered);
  registered->ArgNames({"tensors", "elements"});
  registered->Args({1, int64_t{1} << 29});
  registered->Args({1000, 524288})->Args({1000, 524287});
  registered->Args({1000, 4096})->Args({1000, 4095});
}

void short_lists(cudaops::benchmark::Registered registered) {
  cudaops::benchmark::timed_on_gpu(registered);
  registered->ArgNames({"tensors", "elements"});
  registered->Args({1, 65536})->Args({32, 4096})->Args({1000, 4096});
}

BENCHMARK(adamw<float>)->Apply(lists);
BENCHMARK(adamw<BFloat16>)->Apply(lists);
BENCHMARK(adamw<Float16>)->Apply(lists);
BENCHMARK(adamw_list<float>)->Apply(short_lists);
BENCHMARK(adamw_list<BFloat16>)->Apply(short_lists);
BENCHMARK(adamw_submit<float>)->Apply(short_lists);
BENCHMARK(adamw_submit<BFloat16>)->Apply(short_lists);

}  // namespace

#endif

CUDAOPS_BENCHMARK_MAIN()
