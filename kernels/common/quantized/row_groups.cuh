// SPDX-License-Identifier: Apache-2.0
// Rows quantised in one pass, with a scale a group of a row: ops of row.h over any source of rows.
#pragma once

#include "rows.cuh"

namespace cudaops_kernels {

// A scale for each `num_lanes` vectors, a power of two up to 32, of which a row has a
// whole number. Rows are whole.
template <typename T, typename Source>
struct QuantizeRowGroups {
  using Element = T;
  static constexpr int kNumTiles = Source::kNumTiles;
  static constexpr bool kReadsColumns = Source::kReadsColumns, kZeroPads = true;
  Source source;
  QuantizedRows result;
  int num_lanes;

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const auto x = source.load(row);
    const int log2_lanes = 31 - __clz(num_lanes), in_group = num_lanes - 1;
    float* const scales = kept_address(result.scale + result.places.row_at(row.index()));
    uint8_t* const output = row.first_byte(result.output);
    const auto store_scale = [&](int vector, float scale) {
      scales[result.places.strides.column * (vector >> log2_lanes)] = scale;
    };
    const auto write = [&](const auto& place, float reciprocal, QuantizedType type) {
      store_bytes_of_row(row, output, place, quantized_bytes(x.at(place) * reciprocal, type));
    };
    if constexpr (Row::kSlots == 0) {
      // Such rows have whole warps, and a group's lanes stay together.
      row.each([&](const auto& place) {
        AbsMax<T> of_thread[1];
        of_thread[0].add(x.packed(place));
        const float scale =
            scale_for(AbsMax<T>::reduce_lanes(of_thread, num_lanes, lanes_of_group(num_lanes))[0],
                      result.type, result.rule);
        const int vector = place.column / Row::kSize;
        if ((vector & in_group) == 0) store_scale(vector, scale);
        write(place, reciprocal_of_scale(scale), result.type);
      });
    } else {
      constexpr int kSlots = Row::kSlots;
      const int num_threads = static_cast<int>(blockDim.x);
      AbsMax<T> of_thread[kSlots];
      row.each([&](const auto& place) { of_thread[place.slot].add(x.packed(place)); });
      Floats<kSlots> reciprocals;
      if (num_lanes >= kSlots && num_threads >= num_lanes) {
        // Each lane of a group has the scale of one slot to work out.
        const int own = static_cast<int>(threadIdx.x) & (kSlots - 1);
        const float scale = scale_for(AbsMax<T>::reduce_scatter_lanes(of_thread, num_lanes),
                                      result.type, result.rule);
        const int vector = row.vector_at(own);
        if ((vector & in_group) == own && (vector - own) * Row::kSize < row.width() &&
            row.exists()) {
          store_scale(vector, scale);
        }
        const float reciprocal = reciprocal_of_scale(scale);
#pragma unroll
        for (int slot = 0; slot < kSlots; ++slot) {
          reciprocals[slot] = cudaops::shfl(reciprocal, slot, kSlots);
        }
      } else {
        Floats<kSlots> largest = AbsMax<T>::reduce_lanes(
            of_thread, num_threads < num_lanes ? num_threads : num_lanes, cudaops::kAllLanes);
        // Of rows that have less threads than a group has lanes, several slots are one group.
#pragma unroll
        for (int distance = 1; distance < kSlots; distance *= 2) {
          if (distance * num_threads >= num_lanes) break;
          const Floats<kSlots> own = largest;
#pragma unroll
          for (int slot = 0; slot < kSlots; ++slot) {
            largest[slot] = fmaxf(own[slot], own[slot ^ distance]);
          }
        }
        row.each([&](const auto& place) {
          const float scale = scale_for(largest[place.slot], result.type, result.rule);
          const int vector = place.column / Row::kSize;
          if ((vector & in_group) == 0 && place.exists()) store_scale(vector, scale);
          reciprocals[place.slot] = reciprocal_of_scale(scale);
        });
      }
      dispatch_type(result.type, [&](QuantizedType type) {
        row.each([&](const auto& place) { write(place, reciprocals[place.slot], type); });
      });
    }
  }
};

// The same as QuantizeRowGroups for rows that lie anywhere and whose last group may be smaller.
//
// A row's groups begin as far within a vector as the row does: the first vector of each has a few
// elements of the group before. Those vectors the threads write to shared memory, of the others the
// largest magnitude only; a thread a group makes the scale of that. Lanes needn't be those of one
// group for this, wherever the row's vectors are.
template <typename T, typename Source>
struct QuantizeAnyRowGroups {
  using Element = T;
  static constexpr int kNumTiles = Source::kNumTiles, kSize = Vector<T>::kSize;
  static constexpr bool kReadsColumns = Source::kReadsColumns, kZeroPads = true;
  // What every device has, beside the scratch of rows_kernel.
  static constexpr int64_t kMostStageBytes = 48 * 1024 - int64_t{sizeof(RowScratch)};
  Source source;
  QuantizedRows result;
  int log2_lanes;     // vectors a group
  int num_groups;     // of a row
  int stage_vectors;  // of shared memory, for a row

  QuantizeAnyRowGroups(const Source& rows, const QuantizedRows& to, int64_t width, int num_lanes)
      : source(rows),
        result(to),
        log2_lanes(detail::log2_of(num_lanes)),
        num_groups(static_cast<int>(num_groups_of(width, num_lanes))),
        stage_vectors(static_cast<int>(stage_vectors_of(width, num_lanes))) {}

  // Whether a block has registers and shared memory for a row.
  static bool fits_block(int64_t width, int num_lanes) {
    return detail::num_vectors<kSize>(width, false) <= 8 * detail::kMaxRowThreads &&
           stage_vectors_of(width, num_lanes) * int64_t{sizeof(Packed)} <= kMostStageBytes;
  }

  // What a block has in shared memory of each of its rows: of every group the vector that it shares
  // with the group before, the other vectors' largest, and its scale's reciprocal, between zeros.
  // The row's last elements may be in a vector that begins one more group.
  struct Stage {
    Packed* shared;
    uint32_t* largest;
    float* reciprocals;
  };
  size_t stage_bytes(int64_t rows) const {
    return static_cast<size_t>(rows * stage_vectors) * sizeof(Packed);
  }

  template <typename Row>
  __device__ __forceinline__ void operator()(Row& row) const {
    const Stage stage = stage_of_row();
    const auto x = source.load(row);
    const int in_group = (1 << log2_lanes) - 1;
    row.each([&](const auto& place) {
      const Packed vector = x.packed(place);
      AbsMax<T> largest;
      largest.add(vector);
      const int index = row.index_of(place);
      const bool is_shared = (index & in_group) == 0;
      if (place.exists()) stage.largest[largest_at(index)] = is_shared ? 0 : largest.word();
      if (place.exists() && is_shared) stage.shared[index >> log2_lanes] = vector;
    });
    const int num_threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    const int num_slots = (num_groups + 1) << log2_lanes;
#pragma unroll 1
    for (int i = row.num_vectors() + thread; i < num_slots; i += num_threads) {
      stage.largest[largest_at(i)] = 0;
      if ((i & in_group) == 0) stage.shared[i >> log2_lanes] = {0, 0, 0, 0};
    }
    __syncthreads();
    if (row.exists()) {
      float* const scales = result.scale + result.places.row_at(row.index());
#pragma unroll 1
      for (int group = thread; group < num_groups; group += num_threads) {
        const float largest = largest_of_group(stage, group, row.shift());
        const float scale = scale_for(largest, result.type, result.rule);
        scales[result.places.strides.column * group] = scale;
        stage.reciprocals[group + 1] = reciprocal_of_scale(scale);
      }
      if (thread == 0) stage.reciprocals[0] = stage.reciprocals[num_groups + 1] = 0;
    }
    __syncthreads();
    uint8_t* const output = row.first_byte(result.output);
    const int shift = row.shift();
    dispatch_type(result.type, [&](QuantizedType type) {
      row.each([&](const auto& place) {
        const int index = place.exists() ? row.index_of(place) : 0;
        const float* const reciprocals = stage.reciprocals + (index >> log2_lanes);
        const float own = reciprocals[1], first = (index & in_group) == 0 ? reciprocals[0] : own;
        auto y = x.at(place);
#pragma unroll
        for (int k = 0; k < kSize; ++k) y[k] *= k < shift ? first : own;
        store_bytes_of_row(row, output, place, quantized_bytes(y, type));
      });
    });
  }

 private:
  static constexpr int kApart = 2;  // words between groups

  static int64_t num_groups_of(int64_t width, int num_lanes) {
    const int64_t columns = num_lanes * int64_t{kSize};
    return (width + columns - 1) / columns;
  }
  static int64_t stage_vectors_of(int64_t width, int num_lanes) {
    constexpr int64_t kVector = sizeof(Packed), kWord = sizeof(uint32_t);
    const int64_t groups = num_groups_of(width, num_lanes) + 1;
    const int64_t bytes = groups * (kVector + (num_lanes + kApart) * kWord) + (groups + 1) * kWord;
    return (bytes + kVector - 1) / kVector;
  }

  // Of Stage::largest: the threads that each read a group's find them in different banks.
  __device__ __forceinline__ int largest_at(int vector) const {
    return vector + kApart * (vector >> log2_lanes);
  }

  __device__ __forceinline__ Stage stage_of_row() const {
    extern __shared__ Packed stash[];
    Stage stage;
    stage.shared = stash + static_cast<int>(threadIdx.y) * stage_vectors;
    stage.largest = reinterpret_cast<uint32_t*>(stage.shared + num_groups + 1);
    stage.reciprocals =
        reinterpret_cast<float*>(stage.largest + largest_at((num_groups + 1) << log2_lanes));
    return stage;
  }

  // shift: elements of a group's first vector that belong to the group before.
  __device__ __forceinline__ float largest_of_group(const Stage& stage, int group,
                                                    int shift) const {
    const Packed first = stage.shared[group], next = stage.shared[group + 1];
    const uint32_t own[4] = {first.x, first.y, first.z, first.w};
    const uint32_t after[4] = {next.x, next.y, next.z, next.w};
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // As many bits of the word are the group's before.
      const int others = shift * 8 * static_cast<int>(sizeof(T)) - 32 * i;
      const uint32_t mask = others >= 32 ? 0 : 0xffffffffu << (others > 0 ? others : 0);
      words[i] = (own[i] & mask) | (after[i] & ~mask);
    }
    AbsMax<T> largest;
    largest.add({words[0], words[1], words[2], words[3]});
    const uint2* const others =
        reinterpret_cast<const uint2*>(stage.largest + largest_at(group << log2_lanes));
#pragma unroll 8
    for (int i = 0; i < 1 << (log2_lanes - 1); ++i) {
      largest.add_word(others[i].x);
      largest.add_word(others[i].y);
    }
    return largest.value();
  }
};

// A scale for each num_lanes vectors of rows whose source needs all of a row. are_whole: everything
// is aligned, and rows have whole groups; else QuantizeAnyRowGroups::fits_block().
template <typename T, typename Source>
void launch_row_group_quantize(const Source& source, const QuantizedRows& result, int64_t num_rows,
                               int64_t width, int num_lanes, bool are_whole, cudaStream_t stream) {
  if (are_whole) {
    launch_rows<true>(QuantizeRowGroups<T, Source>{source, result, num_lanes},
                      RowGrid{num_rows, width, Rows{nullptr, 0}}, true, stream);
    return;
  }
  const bool aligned = source.template is_aligned<T>(num_rows) &&
                       bytes_are_aligned<T>(result.output.data, result.output.stride);
  launch_rows(QuantizeAnyRowGroups<T, Source>(source, result, width, num_lanes),
              RowGrid{num_rows, width, anchor_for_bytes<T>(result.output)}, aligned, stream);
}

}  // namespace cudaops_kernels
