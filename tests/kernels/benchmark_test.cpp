// SPDX-License-Identifier: Apache-2.0
// The clock checked: cudaops/benchmark.h against a kernel whose time is known, and its rules that
// need no GPU.
#include <cudaops/benchmark.h>
#include <cudaops/testing.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "spin.h"

namespace {

namespace timing = cudaops::benchmark;

TEST(Median, IsTheMiddleOne) {
  EXPECT_EQ(timing::median({3}), 3);
  EXPECT_EQ(timing::median({9, 1, 2}), 2);
  EXPECT_EQ(timing::median({1, 100, 3, 2}), 2.5);
}

TEST(ColdSets, ExceedTheCacheOrAskForAFlush) {
  const double l2_bytes = 60e6;
  EXPECT_EQ(timing::cold_sets(1e9, l2_bytes), 1);
  EXPECT_EQ(timing::cold_sets(240e6, l2_bytes), 1);
  EXPECT_EQ(timing::cold_sets(100e6, l2_bytes), 3);
  EXPECT_FALSE(timing::needs_flush(100e6, 3, l2_bytes));
  EXPECT_EQ(timing::cold_sets(1e3, l2_bytes), timing::kMostSets);
  EXPECT_TRUE(timing::needs_flush(1e3, timing::kMostSets, l2_bytes));
  EXPECT_EQ(timing::cold_sets(0, l2_bytes), timing::kMostSets);
}

TEST(BatchSize, MakesABatchLongEnoughForEvents) {
  EXPECT_EQ(timing::batch_size(1, 1, false), 1);
  EXPECT_EQ(timing::batch_size(1e-3, 1, false), 2);
  EXPECT_EQ(timing::batch_size(1e-6, 1, false), timing::kMostLaunches);
  EXPECT_EQ(timing::batch_size(0, 1, false), timing::kMostLaunches);
  EXPECT_EQ(timing::batch_size(1e-6, 3, true), 3);
}

TEST(Main, IsSkippedWhereNothingCanBeTimed) {
  if (timing::no_gpu_reason().empty()) GTEST_SKIP() << "there is a GPU";
  std::string name = "benchmark";
  char* argv[] = {&name[0], nullptr};
  unsetenv("CUDAOPS_REQUIRE_GPU");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(timing::main(1, argv), 0);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "SKIPPED: no GPU can be used here: " + timing::no_gpu_reason() + "\n");
  setenv("CUDAOPS_REQUIRE_GPU", "1", 1);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(timing::main(1, argv), 1);
  ::testing::internal::GetCapturedStdout();
  unsetenv("CUDAOPS_REQUIRE_GPU");
}

#if defined(CUDAOPS_TESTS_WITH_CUDA)

void spin(int, cudaStream_t stream) { cudaops_tests::launch_spin(1000000, stream); }

TEST(MeasureGpu, ReportsAMillisecondAsOne) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  const timing::Measurement measured = timing::measure(spin);
  EXPECT_NEAR(measured.median_s, 1e-3, 5e-5);
  EXPECT_LE(measured.min_s, measured.median_s);
  EXPECT_GE(measured.max_s, measured.median_s);
}

// Far shorter than a launch from the CPU takes, if each were waited for.
TEST(MeasureGpu, SeesShortKernelsWithoutGaps) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  const timing::Measurement measured =
      timing::measure([](int, cudaStream_t stream) { cudaops_tests::launch_spin(20000, stream); });
  EXPECT_NEAR(measured.median_s, 20e-6, 4e-6);
}

TEST(MeasureGpu, UsesEverySet) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  std::vector<int> uses(5);
  timing::measure(
      [&](int set, cudaStream_t stream) {
        ++uses.at(set);
        cudaops_tests::launch_spin(1000, stream);
      },
      5, 1e3);
  for (const int count : uses) EXPECT_GT(count, 10);
}

// What Google Benchmark would print, kept.
class Reporter : public ::benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) all.push_back(run);
  }
  std::vector<Run> all;
};

// Google Benchmark 1.8 renamed the field.
template <typename Run>
auto failed(const Run& run, int) -> decltype(run.error_occurred) {
  return run.error_occurred;
}
template <typename Run>
auto failed(const Run& run, long) -> decltype(run.skipped, bool()) {
  return run.skipped != decltype(run.skipped){};
}

TEST(RunGpu, ReportsTimeAndBandwidthOfARightResultOnly) {
  CUDAOPS_SKIP_WITHOUT_GPU();
  std::string wrong;
  ::benchmark::RegisterBenchmark("spin", [&](::benchmark::State& state) {
    timing::Case spin_case;
    spin_case.launch = spin;
    spin_case.verify = [&] { return wrong; };
    spin_case.bytes = 1e9;
    spin_case.flops = 2e9;
    timing::run(state, spin_case);
  })->Apply(timing::timed_on_gpu);

  Reporter right;
  ::benchmark::RunSpecifiedBenchmarks(&right);
  ASSERT_EQ(right.all.size(), 1u);
  EXPECT_FALSE(failed(right.all[0], 0));
  EXPECT_NEAR(right.all[0].GetAdjustedRealTime(), 1000, 50);  // microseconds
  EXPECT_NEAR(right.all[0].counters.at("TB/s"), 1, 0.05);
  EXPECT_NEAR(right.all[0].counters.at("TFLOP/s"), 2, 0.1);
  EXPECT_NEAR(right.all[0].counters.at("of_copy"), 1 / right.all[0].counters.at("copy_TB/s"), 0.05);

  wrong = "5 is not 4";
  Reporter refused;
  ::benchmark::RunSpecifiedBenchmarks(&refused);
  ASSERT_EQ(refused.all.size(), 1u);
  EXPECT_TRUE(failed(refused.all[0], 0));
  EXPECT_EQ(refused.all[0].counters.count("TB/s"), 0u);
  EXPECT_EQ(timing::detail::num_failed(), 1);
}

#else

TEST(MeasureGpu, NeedsCuda) { GTEST_SKIP() << "built without CUDA"; }

#endif

}  // namespace
