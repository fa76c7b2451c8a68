// SPDX-License-Identifier: Apache-2.0
// attention_decode on CUDA devices: which kernel a call takes, and the launch of those on tensor
// cores (attention_decode.cuh, attention_few.cuh). attention_decode_plain.cu has the one for the
// rest.
#if !CUDAOPS_HIP
#include "../common/per_device.cuh"
#endif
#include "attention_decode.cuh"
#include "attention_decode.h"
#include "attention_decode_plain.cuh"
#include "attention_few.cuh"
#include "attention_few.h"

namespace cudaops_kernels {
namespace {

using namespace decode;

Plan plan_of(const AttentionDecode& call) {
  Plan plan{};
  plan.call = call;
  plan.group = static_cast<int>(call.num_heads / call.num_kv_heads);
  plan.num_rows = static_cast<int>(plan.group * call.q_length);
  plan.row_tiles = (plan.num_rows + kRows - 1) / kRows;
  plan.per_sequence = static_cast<int>(call.num_kv_heads) * plan.row_tiles;
  // Beyond all lengths it is none.
  const int64_t most = call.blocks_per_sequence * call.page_size;
  plan.most_keys = static_cast<int>(most < 0x7fffffff ? most : 0x7fffffff);
  if (call.window_left >= most || call.window_left > 0x7fffffff - 2 * kMostDecodeTokens) {
    plan.call.window_left = -1;
  }
  plan.unit_shift = 0;
  while ((1 << plan.unit_shift) < kTile) ++plan.unit_shift;
  plan.page_shift = -1;
  for (int shift = 0; shift < 31; ++shift) {
    if (call.page_size == int64_t{1} << shift) plan.page_shift = shift;
  }
  const int64_t size = call.has_float8_cache ? 1 : size_of(call.dtype);
  const auto bytes_of = [size](const PagedCache& cache) {
    return CacheBytes{static_cast<uint32_t>(cache.block_stride * size),
                      static_cast<uint32_t>(cache.token_stride * size)};
  };
  plan.k_bytes = bytes_of(call.k);
  plan.v_bytes = bytes_of(call.v);
  plan.output_strides = {call.q_length * call.num_heads * call.head_dim,
                         call.num_heads * call.head_dim, call.head_dim};
  plan.slots_of_block = 2;
  plan.slot_rows = plan.num_rows < kRows ? plan.num_rows : kRows;
  plan.scale_log2 = call.scale * kLog2e;
  plan.per_softcap = call.softcap > 0 ? kLn2 / call.softcap : 0;
  plan.by_group = detail::Divider(static_cast<uint32_t>(plan.group));
  plan.by_row_tiles = detail::Divider(static_cast<uint32_t>(plan.row_tiles));
  return plan;
}

#if !CUDAOPS_HIP

// Whether chunks of 16 bytes can be copied, of keys that have one page, which is no larger than
// CacheBytes can say.
bool has_chunks(const AttentionDecode& call) {
  const int64_t size = call.has_float8_cache ? 1 : size_of(call.dtype), per_chunk = 16 / size;
  constexpr int64_t kMostBytes = 0x7fffffff;
  const int64_t q_bits = call.q_batch_stride | call.q_token_stride | call.q_head_stride;
  if (q_bits % 8 != 0 || reinterpret_cast<uintptr_t>(call.q) % 16 != 0) return false;
  int64_t bits = call.head_dim;
  for (const PagedCache* cache : {&call.k, &call.v}) {
    bits |= cache->block_stride | cache->token_stride | cache->head_stride;
    if (reinterpret_cast<uintptr_t>(cache->data) % 16 != 0) return false;
    const int64_t block_stride = call.block_table == nullptr ? 0 : cache->block_stride;
    if (size * block_stride > kMostBytes || size * cache->token_stride > kMostBytes) return false;
  }
  // A tile of keys is within a page.
  const bool has_tiles = call.blocks_per_sequence == 1 || call.page_size % kTile == 0;
  return bits % per_chunk == 0 && has_tiles;
}

// What a device runs of a kernel: its blocks at a time, 0 where there is no code for it or too
// little shared memory; tiles of a warp. Found out once for each device. Share::kMany: as where
// items share keys; kWhole: a block on each multiprocessor.
struct Fit {
  int blocks, stages, unit_shift;
  bool has_clusters;
};

template <typename T, typename Cache, int kDim, bool kIsPaged>
auto kernel_of() {
  if constexpr (kIsPaged) {
    return decode_kernel<T, Cache, kDim>;
  } else {
    return few_kernel<T, kDim>;
  }
}

template <typename T, typename Cache, int kDim, bool kIsPaged, Share kShare>
Fit find_fit(int device) {
  using M = PartMemory<Cache, kDim>;
  const auto kernel = kernel_of<T, Cache, kDim, kIsPaged>();
  constexpr int kMore = kIsPaged ? 0 : bytes_of_running<kDim>(kRows);
  if (!is_compiled_for_mma()) return {0, 0, 0, false};
  int most = 0, multiprocessors = 0, blocks = 0;
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  CUDAOPS_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  int allowed = M::kStages;
  while (allowed >= M::kFewestStages && M::bytes_of_block(allowed) + kMore > most) --allowed;
  if (allowed < M::kFewestStages) return {0, 0, 0, false};
  CUDAOPS_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     M::bytes(allowed) + kMore));
  if (kShare == Share::kWhole) {
    return {allowed == M::kStages ? multiprocessors : 0, allowed, 0, false};
  }
  const int wanted = kShare == Share::kMany ? M::kFewerStages : M::kUsualStages;
  const int stages = allowed > wanted ? wanted : allowed;
  CUDAOPS_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, M::kThreads,
                                                              M::bytes(stages)));
  if (kShare == Share::kUsual && blocks > M::kBlocks) blocks = M::kBlocks;
  return {blocks * multiprocessors, stages, 0, false};
}

template <typename T, typename Cache, int kDim, bool kIsPaged, Share kShare>
Fit fit() {
  static int known[64];
  const int value = known_for_device(known, [](int device) {
    const Fit found = find_fit<T, Cache, kDim, kIsPaged, kShare>(device);
    return found.blocks * 8 + found.stages;
  });
  int unit_shift = 0;
  while ((1 << unit_shift) < PartMemory<Cache, kDim>::kUnit) ++unit_shift;
  static int compiled[64];
  const bool has_clusters =
      kIsPaged && is_compiled_for_hopper(kernel_of<T, Cache, kDim, kIsPaged>(), compiled);
  return {value / 8, value % 8, unit_shift, has_clusters};
}

// The most units that there can be.
int64_t most_units(const Plan& plan) {
  if (plan.call.lengths == nullptr) {
    return int64_t{units_of(plan, plan.most_keys)} * plan.per_sequence * plan.call.num_batches;
  }
  const int64_t most_keys = plan.call.blocks_per_sequence * plan.call.page_size;
  const int64_t units = ((most_keys - 1) >> plan.unit_shift) + 2;
  return units * plan.per_sequence * plan.call.num_batches;
}

// Items that are read side by side: as many as leave hardly a block without work.
int side_by_side_of(const Plan& plan, int slots) {
  for (int count = kMostSideBySide; count > 1; --count) {
    if (plan.per_sequence % count == 0 && slots % count * 50 <= slots) return count;
  }
  return 1;
}

// Keys of a part, of sequences of one length. One sequence is to keep many multiprocessors busy;
// for more of them longer parts are better, as each one starts its loads anew. What comes with a
// sequence must not matter.
int keys_of_part(const Plan& plan) {
  constexpr int kBlocksOfSequence = 128, kMostParts = 64;
  const int fewest = plan.row_tiles > 1 || plan.call.head_dim > 128 ? 512 : 256;
  const int blocks = kBlocksOfSequence / plan.per_sequence;
  const int parts = blocks < 1 ? 1 : blocks > kMostParts ? kMostParts : blocks;
  const int keys = (plan.most_keys + parts - 1) / parts;
  return keys < fewest ? fewest : keys;
}

// Each item by itself, into parts that the length decides, for blocks with some of them each: as
// many as all run at once, but one for each item.
void cut_items(Plan* plan, int slots) {
  const auto divide_up = [](int64_t a, int64_t b) { return static_cast<int>((a + b - 1) / b); };
  const int units = units_of(*plan, plan->most_keys);
  plan->units_of_part = divide_up(keys_of_part(*plan), int64_t{1} << plan->unit_shift);
  plan->parts_of_item = divide_up(units, plan->units_of_part);
  const int64_t items = plan->per_sequence * plan->call.num_batches;
  const int64_t blocks_of_item = slots > items ? slots / items : 1;
  plan->parts_of_block = divide_up(plan->parts_of_item, blocks_of_item);
  plan->groups = divide_up(plan->parts_of_item, plan->parts_of_block);
  plan->by_groups = detail::Divider(static_cast<uint32_t>(plan->groups));
  plan->slots_of_block = 1;
  plan->parts = static_cast<int>(plan->parts_of_item * plan->columns * plan->call.num_batches);
}
int64_t num_blocks_of_few(const Plan& plan) {
  return plan.per_sequence * plan.call.num_batches * plan.groups;
}

// Up to so many keys of few sequences a cluster puts a result together sooner than a second kernel;
// of more keys its eight blocks would have too many each.
constexpr int kMostKeysOfCluster = 2048;

// Each item for a cluster, where they all run at once.
bool cut_for_clusters(Plan* plan, const Fit& fit) {
  const int64_t blocks = plan->per_sequence * plan->call.num_batches * kMaxClusterSize;
  if (!fit.has_clusters || plan->row_tiles > 1 || plan->most_keys > kMostKeysOfCluster ||
      2 * blocks > fit.blocks) {
    return false;
  }
  plan->is_in_cluster = true;
  plan->side_by_side = 1;
  plan->columns = plan->per_sequence;
  plan->parts_of_item = kMaxClusterSize;
  plan->by_parts_of_item = detail::Divider(kMaxClusterSize);
  plan->parts = static_cast<int>(blocks);
  return true;
}

// Of the units, for the blocks that run at a time.
void cut(Plan* plan, const Fit& fit) {
  const int slots = fit.blocks;
  plan->unit_shift = fit.unit_shift;
  plan->side_by_side = side_by_side_of(*plan, slots);
  plan->columns = plan->per_sequence / plan->side_by_side;
  if (plan->call.lengths == nullptr) return cut_items(plan, slots);
  if (cut_for_clusters(plan, fit)) return;
  const int64_t units = most_units(*plan) / plan->side_by_side;
  const int most = slots / plan->side_by_side;
  plan->parts = static_cast<int>(units < most ? units : most);
  plan->by_parts = detail::Divider(static_cast<uint32_t>(plan->parts));
  plan->merge_items = units <= most && plan->call.num_batches <= 32;
}

// Of few queries: where blocks of few keys come in several rounds, more of them on a multiprocessor
// hide that they begin, with fewer loads in flight each.
bool has_short_blocks(Plan plan, const Fit& fit) {
  cut(&plan, fit);
  const int most_keys = plan.call.head_dim <= 64 ? 1024 : 512;
  return plan.call.head_dim <= 128 && num_blocks_of_few(plan) > fit.blocks &&
         plan.parts_of_block * plan.units_of_part << plan.unit_shift <= most_keys;
}

// Where a block on each multiprocessor is better than two that share it. Of few queries' long keys
// that is where hardly a multiprocessor is without an item, as nothing is left to add then; else
// where there are few keys in all: half as many parts to add, and all tiles of a warp in flight.
bool has_whole_multiprocessors(Plan plan, const Fit& fit) {
  const int64_t multiprocessors = num_multiprocessors();
  if (plan.slot_rows > 8) return false;
  cut(&plan, fit);
  if (plan.call.lengths == nullptr) {
    constexpr int kLongKeys = 2048;
    const int64_t items = plan.per_sequence * plan.call.num_batches;
    return plan.most_keys >= kLongKeys && items <= multiprocessors &&
           20 * items >= 19 * multiprocessors;
  }
  constexpr int kMostUnits = 5;
  const int64_t units = most_units(plan);
  return !plan.is_in_cluster && units > 2 * multiprocessors &&
         units <= kMostUnits * multiprocessors;
}

int64_t num_blocks(const Plan& plan) { return int64_t{plan.parts} * plan.side_by_side; }
int64_t num_slots(const Plan& plan) { return plan.slots_of_block * num_blocks(plan); }

// Of the second kernel: as many as run at a time of the first one.
dim3 merge_grid(const Plan& plan, int slots) {
  if (!plan.merge_items) return dim3(static_cast<unsigned int>(num_blocks(plan)));
  const int items = static_cast<int>(plan.per_sequence * plan.call.num_batches);
  const int rows = plan.slot_rows, each = slots / items;
  return dim3(static_cast<unsigned int>(items),
              static_cast<unsigned int>(rows < each ? rows : each));
}
dim3 few_merge_grid(const Plan& plan, int dim) {
  const int rows = few_rows_at_once(plan.parts_of_item, dim);
  return dim3(static_cast<unsigned int>(plan.per_sequence * plan.call.num_batches),
              static_cast<unsigned int>((plan.slot_rows + rows - 1) / rows));
}

bool has_second_kernel(const Plan& plan) {
  return !plan.is_in_cluster &&
         (plan.parts_of_item == 0 || plan.parts_of_block < plan.parts_of_item);
}
int64_t workspace_bytes(const Plan& plan) {
  if (!has_second_kernel(plan)) return 0;
  return num_slots(plan) * plan.slot_rows * (plan.call.head_dim + 2) * 4;
}

template <typename Kernel>
void launch_clusters(Kernel* kernel, dim3 grid, dim3 block, int shared_bytes, cudaStream_t stream,
                     const Plan& plan) {
  OverlappingCluster cluster(kMaxClusterSize);
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
  config.stream = stream;
  config.attrs = cluster.of;
  config.numAttrs = cluster.number;
  CUDAOPS_CHECK(cudaLaunchKernelEx(&config, kernel, plan));
}

template <typename T, typename Cache, int kDim, bool kIsPaged>
void launch_of(Plan plan, const Fit& fit, void* workspace, cudaStream_t stream) {
  using M = PartMemory<Cache, kDim>;
  cut(&plan, fit);
  plan.stages = fit.stages;
  plan.slot_stride = plan.slots_of_block * plan.side_by_side;
  plan.sums = static_cast<float*>(workspace);
  plan.states = plan.sums + num_slots(plan) * plan.slot_rows * plan.call.head_dim;
  const auto kernel = kernel_of<T, Cache, kDim, kIsPaged>();
  const dim3 block(M::kThreads);
  dim3 grid(static_cast<unsigned int>(num_blocks(plan)));
  int bytes = M::bytes(fit.stages);
  if (!kIsPaged) {
    grid.x = static_cast<unsigned int>(num_blocks_of_few(plan));
    if (!has_second_kernel(plan)) bytes += bytes_of_running<kDim>(plan.slot_rows);
  } else if (plan.is_in_cluster) {
    return launch_clusters(kernel, grid, block, bytes, stream, plan);
  }
  launch_overlapping_with(kernel, grid, block, bytes, stream, plan);
  if (!has_second_kernel(plan)) return;
  const dim3 merge_block(32 * kMergeWarps);
  if constexpr (kIsPaged) {
    launch_overlapping(merge_kernel<T, kDim>, merge_grid(plan, fit.blocks), merge_block, stream,
                       plan);
  } else {
    launch_overlapping(few_merge_kernel<T, kDim>, few_merge_grid(plan, kDim), merge_block, stream,
                       plan);
  }
}

template <typename T, typename Cache, int kDim, bool kIsPaged>
Fit fit_of(const Plan& plan) {
  if (plan.row_tiles > 1) return fit<T, Cache, kDim, kIsPaged, Share::kMany>();
  const Fit usual = fit<T, Cache, kDim, kIsPaged, Share::kUsual>();
  if (usual.blocks == 0) return usual;
  if (!kIsPaged && has_short_blocks(plan, usual)) {
    return fit<T, Cache, kDim, kIsPaged, Share::kMany>();
  }
  if constexpr (PartMemory<Cache, kDim>::kHasWhole) {
    if (has_whole_multiprocessors(plan, usual)) {
      const Fit whole = fit<T, Cache, kDim, kIsPaged, Share::kWhole>();
      if (whole.blocks > 0) return whole;
    }
  }
  return usual;
}

// body(Fit, launch) of the tensor cores' kernel that takes this call; false where none does.
template <typename T, typename Cache, int kDim, bool kIsPaged, typename Body>
bool with_kernel_of(const Plan& plan, const Body& body) {
  const Fit fit = fit_of<T, Cache, kDim, kIsPaged>(plan);
  if (fit.blocks == 0) return false;
  body(fit, launch_of<T, Cache, kDim, kIsPaged>);
  return true;
}
template <typename T, typename Cache, int kDim, typename Body>
bool with_kernel_of(const Plan& plan, const Body& body) {
  if constexpr (sizeof(Cache) != 1) {
    if (plan.call.lengths == nullptr) return with_kernel_of<T, Cache, kDim, false>(plan, body);
  }
  return with_kernel_of<T, Cache, kDim, true>(plan, body);
}
template <typename T, typename Cache, typename Body>
bool with_kernel_of_width(const Plan& plan, const Body& body) {
  if (plan.call.head_dim <= 64) return with_kernel_of<T, Cache, 64>(plan, body);
  if (plan.call.head_dim <= 128) return with_kernel_of<T, Cache, 128>(plan, body);
  return with_kernel_of<T, Cache, 256>(plan, body);
}
template <typename Body>
bool with_kernel(const Plan& plan, const Body& body) {
  const AttentionDecode& call = plan.call;
  if (call.dtype == DType::kFloat32 || !has_chunks(call)) return false;
  if (most_units(plan) > 0x7fffffff) return false;
  if (call.dtype == DType::kFloat16) {
    if (call.has_float8_cache) return with_kernel_of_width<__half, Float8>(plan, body);
    return with_kernel_of_width<__half, __half>(plan, body);
  }
  if (call.has_float8_cache) return with_kernel_of_width<bfloat16, Float8>(plan, body);
  return with_kernel_of_width<bfloat16, bfloat16>(plan, body);
}

#endif

bool is_empty(const AttentionDecode& call) {
  return call.num_batches == 0 || call.q_length == 0 || call.num_heads == 0;
}

#if !CUDAOPS_HIP

// Strides of dimensions of one are any.
int64_t stride_of(int64_t stride, int64_t size) { return size > 1 ? stride : 0; }

PagedCache cache_of(const Attention& call, const AttentionTensor& tensor) {
  PagedCache cache{};
  cache.data = tensor.data;
  cache.block_stride = stride_of(tensor.batch_stride, call.batch);
  cache.token_stride = stride_of(tensor.seq_stride, call.seq_k);
  cache.head_stride = stride_of(tensor.head_stride, call.kv_heads);
  return cache;
}

// Neither table nor lengths: a sequence's keys are a page of its own.
Plan plan_of(const Attention& call) {
  AttentionDecode decode{};
  decode.num_batches = call.batch;
  decode.q_length = call.seq_q;
  decode.num_heads = call.heads;
  decode.num_kv_heads = call.kv_heads;
  decode.head_dim = call.head_dim;
  decode.num_blocks = decode.blocks_per_sequence = 1;
  decode.page_size = (call.seq_k + kTile - 1) / kTile * kTile;
  decode.dtype = call.dtype;
  decode.q = call.q.data;
  decode.q_batch_stride = stride_of(call.q.batch_stride, call.batch);
  decode.q_token_stride = stride_of(call.q.seq_stride, call.seq_q);
  decode.q_head_stride = stride_of(call.q.head_stride, call.heads);
  decode.k = cache_of(call, call.k);
  decode.v = cache_of(call, call.v);
  decode.sinks = static_cast<const float*>(call.sinks);
  decode.scale = static_cast<float>(call.scale);
  decode.softcap = static_cast<float>(call.softcap);
  decode.window_left = call.window_left;
  decode.output = call.output.data;
  decode.lse = static_cast<float*>(call.lse);
  Plan plan = plan_of(decode);
  plan.most_keys = static_cast<int>(call.seq_k);
  // The first query sees as many keys behind its position as there are queries behind it.
  const bool sees_all = call.window_right < 0 || call.window_right >= call.seq_q - 1;
  plan.window_right = sees_all ? -1 : static_cast<int>(call.window_right);
  plan.output_strides = {call.output.batch_stride, call.output.seq_stride, call.output.head_stride};
  return plan;
}

#endif

// Of the tensor cores' kernel that takes a call: its workspace, and its launch. 0 and false where
// none does.
int64_t bytes_for_tensor_cores(Plan plan) {
  int64_t bytes = 0;
#if !CUDAOPS_HIP
  with_kernel(plan, [&](const Fit& fit, auto) {
    cut(&plan, fit);
    bytes = workspace_bytes(plan);
  });
#else
  (void)plan;
#endif
  return bytes;
}

bool launch_for_tensor_cores(const Plan& plan, void* workspace, void* stream) {
#if CUDAOPS_HIP
  (void)plan, (void)workspace, (void)stream;
  return false;
#else
  return with_kernel(plan, [&](const Fit& fit, auto launch) {
    launch(plan, fit, workspace, static_cast<cudaStream_t>(stream));
  });
#endif
}

}  // namespace

int64_t attention_decode_workspace_bytes(const AttentionDecode& call) {
  return is_empty(call) ? 0 : bytes_for_tensor_cores(plan_of(call));
}

void launch_attention_decode(const AttentionDecode& call, void* workspace, void* stream) {
  if (is_empty(call)) return;
  const Plan plan = plan_of(call);
  if (launch_for_tensor_cores(plan, workspace, stream)) return;
  launch_plain_decode(plan, static_cast<cudaStream_t>(stream));
}

#if CUDAOPS_HIP  // no mma.sync

bool attention_few_serves(const Attention&) { return false; }
int64_t attention_few_workspace_bytes(const Attention&) { return 0; }
void launch_attention_few(const Attention&, void*, void*) {}

#else

bool attention_few_serves(const Attention& call) {
  constexpr int64_t kMostQueries = 8, kMostRows = 32, kMostKeys = int64_t{1} << 29;
  constexpr int64_t kMostAllRows = int64_t{1} << 23;  // times their parts are int
  if (call.cu_seqlens_q != nullptr || call.bias != nullptr || call.alibi_slopes != nullptr ||
      call.dropout_p > 0 || call.is_double || call.head_dim != call.head_dim_v || call.seq_k == 0 ||
      call.seq_k > kMostKeys || call.seq_q > kMostQueries ||
      call.seq_q * (call.heads / call.kv_heads) > kMostRows ||
      call.batch * call.heads * call.seq_q > kMostAllRows) {
    return false;
  }
  return with_kernel(plan_of(call), [](const Fit&, auto) {});
}

int64_t attention_few_workspace_bytes(const Attention& call) {
  return bytes_for_tensor_cores(plan_of(call));
}

void launch_attention_few(const Attention& call, void* workspace, void* stream) {
  launch_for_tensor_cores(plan_of(call), workspace, stream);
}

#endif

}  // namespace cudaops_kernels
