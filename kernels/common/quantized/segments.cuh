// SPDX-License-Identifier: Apache-2.0
// Segments: a row's part of a block, of any alignment. A warp has several.
//
// Vectors lie where the bytes of the result have their multiples of kSize. The vectors of a segment
// that are whole are its lanes', slot after slot, 2^log2_lanes lanes a segment; those at its ends,
// of which it has only a part, are apart: one more vector of the warp's lanes 2p and 2p + 1 for
// segment p. What is known of a segment these two know, and the others ask them. So there is no
// look at a segment's ends but once a warp, and no byte is moved from one lane to another, except
// where two segments meet in a vector.
#pragma once

#include "../abs_max.cuh"
#include "scales.cuh"

namespace cudaops_kernels {

template <typename T>
class Segments {
 public:
  static constexpr int kSize = Vector<T>::kSize, kMost = 16;

  // The caller's own, and whether of its two lanes the caller is the first.
  __device__ __forceinline__ static int own_segment() { return lane() / 2; }
  __device__ __forceinline__ static bool is_first() { return lane() % 2 == 0; }
  // Of a warp.
  template <int kSlots>
  CUDAOPS_HOST_DEVICE static constexpr int num_segments(int log2_lanes) {
    return (kSlots << (5 - log2_lanes)) < kMost ? kSlots << (5 - log2_lanes) : kMost;
  }

  // `output`: the first of the `num` bytes of the caller's own segment, at most kSize <<
  // log2_lanes. num_segments: that the warp has at most.
  __device__ __forceinline__ Segments(int log2_lanes, uint8_t* output, int num,
                                      int num_segments = kMost)
      : log2_lanes_(log2_lanes), lane_(lane()), num_segments_(num_segments) {
    shift_ = static_cast<int>(reinterpret_cast<uintptr_t>(output) % kSize);
    end_ = shift_ + num;
    output_ = output - shift_;
  }

  // Elements of the own segment's first vector before the segment.
  __device__ __forceinline__ int shift() const { return shift_; }
  // Elements from there to the segment's end.
  __device__ __forceinline__ int end() const { return end_; }

  // body(slot) for the slots that the warp has segments in, perhaps for some more: not every slot
  // is worth a branch.
  template <int kSlots, typename Body>
  __device__ __forceinline__ void each_slot(const Body& body) const {
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      if (slot > 0 && (slot & (slot - 1)) == 0 && slot << (5 - log2_lanes_) >= num_segments_) break;
      body(slot);
    }
  }

  // A lane whose own is the segment that the caller has a vector of in a slot, and which vector.
  __device__ __forceinline__ int owner(int slot) const {
    return (lane_ >> log2_lanes_) * 2 + slot * (64 >> log2_lanes_);
  }
  __device__ __forceinline__ int vector() const { return lane_ & ((1 << log2_lanes_) - 1); }
  // Whether it is whole.
  __device__ __forceinline__ bool is_whole(int slot) const {
    const int place = cudaops::shfl(shift_ | end_ << 8, owner(slot), 32);
    const int first = vector() * kSize;
    return first >= (place & 0xff) && first + kSize <= place >> 8;
  }

  // The caller's vector at an end of its own segment, and what the segment has of it; perhaps
  // nothing.
  struct End {
    int vector;
    int begin, end;
  };
  __device__ __forceinline__ End own_end() const {
    const bool is_short = end_ < kSize;
    if ((lane_ & 1) == 0) {
      return {0, shift_, is_short ? end_ : (shift_ == 0 ? 0 : kSize)};
    }
    return {end_ / kSize, 0, is_short ? 0 : end_ % kSize};
  }

  // The largest magnitude of the own segment.
  template <int kSlots>
  __device__ __forceinline__ float largest(const AbsMax<T> (&of_slots)[kSlots],
                                           const AbsMax<T>& of_end) const {
    const Floats<kSlots> of_segments =
        AbsMax<T>::reduce_lanes(of_slots, 1 << log2_lanes_, cudaops::kAllLanes);
    // A lane of each segment takes one slot's to those who ask.
    float own = of_segments[0];
#pragma unroll
    for (int slot = 1; slot < kSlots; ++slot) own = vector() == slot ? of_segments[slot] : own;
    const int per_slot = 32 >> log2_lanes_, segment = lane_ / 2;
    own = cudaops::shfl(
        own, ((segment & (per_slot - 1)) << log2_lanes_) + (segment >> (5 - log2_lanes_)), 32);
    const float of_both = max_over_lanes(of_end.value(), 2);
    return fmaxf(own, of_both);
  }

  // Where the bytes of the caller's vector in a slot go, and those of own_end().
  __device__ __forceinline__ uint8_t* output(int slot) const {
    return address_of_lane(output_, owner(slot)) + vector() * kSize;
  }
  __device__ __forceinline__ uint8_t* output(const End& at) const {
    return output_ + at.vector * kSize;
  }
  // Bytes of own_end(); the others are 0.
  __device__ __forceinline__ void store_end(End at, Bytes<kSize> bytes) const {
    uint8_t* const data = output(at);
    // A segment's last bytes and the next one's first may be all of a vector.
    const uintptr_t address = reinterpret_cast<uintptr_t>(data);
    const uintptr_t next_address = cudaops::shfl_down(address, 1, 32);
    const int next_part = cudaops::shfl_down(at.begin | at.end << 8, 1, 32);
    const bool joins = (lane_ & 1) != 0 && at.end > 0 && next_address == address &&
                       next_part == (at.end | kSize << 8);
#pragma unroll
    for (int i = 0; i < Bytes<kSize>::kWords; ++i) {
      const uint32_t next = cudaops::shfl_down(bytes.words[i], 1, 32);
      if (joins) bytes.words[i] |= next;
    }
    const int last_joins = cudaops::shfl_up(joins ? 1 : 0, 1, 32);
    if (joins) at.end = kSize;
    if ((lane_ & 1) == 0 && last_joins != 0) at.end = at.begin;
    store_aligned(data, bytes, at.begin, at.end);
  }

 private:
  // Of 32, on GPUs with warps of 64 too.
  __device__ __forceinline__ static int lane() { return cudaops::lane_id() % 32; }

  int log2_lanes_;
  int lane_;
  int num_segments_;
  int shift_, end_;
  uint8_t* output_;
};

// The vectors of a warp's segments, from their loads to their bytes. kSameAlignment: vectors of all
// inputs are aligned to 16 bytes where those of the bytes are aligned to their number.
// The source makes 0 of zeros.
template <typename T, int kSlots, bool kSameAlignment>
class LoadedSegments {
  static constexpr int kSize = Vector<T>::kSize;

 public:
  // The own segment begins at `column` of `row`, if it exists.
  template <typename Source>
  __device__ __forceinline__ LoadedSegments(const Segments<T>& segments, const Source& source,
                                            int64_t row, int64_t column, bool exists,
                                            int64_t num_rows, int64_t width)
      : at_(segments.own_end()) {
    using Windows = typename Source::template Windows<T>;
    const auto inputs = source.template inputs<T>(row, column - segments.shift());
    const auto bounds = source.template bounds<T>(num_rows, width);
    // All loads are issued before the first is waited for.
    Windows windows[kSlots] = {}, of_end = {};
    const auto load_slots = [&](const auto& load) {
      segments.template each_slot<kSlots>([&](int slot) {
        const auto vectors =
            inputs.address_of_lane(segments.owner(slot)) + segments.vector() * kSize;
        if (segments.is_whole(slot)) {
          whole_ |= 1u << slot;
          windows[slot] = load(vectors);
        }
      });
    };
    if (kSameAlignment ||
        cudaops::all(!exists || inputs.are_between(bounds, segments.end() + kSize))) {
      load_slots([](const auto& vectors) { return vectors.template load<kSameAlignment>(); });
    } else {
      load_slots([&](const auto& vectors) { return vectors.load(bounds, 0, kSize); });
    }
    if (at_.begin < at_.end) {
      of_end = (inputs + at_.vector * kSize).load(bounds, at_.begin, at_.end);
    }
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      x_[slot] = Source::template packed<T, kSameAlignment>(windows[slot]);
    }
    end_ = masked<T>(Source::template packed<T, kSameAlignment>(of_end), at_.begin, at_.end);
  }

  // The largest magnitude of the own segment.
  __device__ __forceinline__ float max_of_segments(const Segments<T>& segments) const {
    AbsMax<T> of_slots[kSlots], of_end;
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) of_slots[slot].add(x_[slot]);
    of_end.add(end_);
    return segments.largest(of_slots, of_end);
  }
  // The same of the caller's vectors.
  __device__ __forceinline__ float max_of_lane() const {
    AbsMax<T> largest;
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) largest.add(x_[slot]);
    largest.add(end_);
    return largest.value();
  }

  // reciprocal: of the own segment's scale.
  template <typename Rounding = ToNearest>
  __device__ __forceinline__ void store(const Segments<T>& segments, QuantizedType type,
                                        float reciprocal, const Rounding& rounding = {}) const {
    const auto bytes_of = [&](const Packed& packed, float factor, const uint8_t* output) {
      return rounding(unpack<T>(kept_packed<T>(packed)) * factor, type,
                      rounding.template vector_at<kSize>(output));
    };
    const auto store_slot = [&](int slot, const Packed& packed) {
      const float factor = cudaops::shfl(reciprocal, segments.owner(slot), 32);
      uint8_t* const output = segments.output(slot);
      const Bytes<kSize> bytes = bytes_of(packed, factor, output);
      if ((whole_ >> slot & 1) != 0) store_aligned(output, bytes);
    };
    if constexpr (std::is_same<Rounding, ToNearest>::value) {
      segments.template each_slot<kSlots>([&](int slot) { store_slot(slot, x_[slot]); });
    } else {
      // Caches have no room for so long a code for each slot: vectors move up in a loop.
      constexpr int kAtOnce = 2;
      Packed left[kSlots];
#pragma unroll
      for (int i = 0; i < kSlots; ++i) left[i] = x_[i];
#pragma unroll 1
      for (int slot = 0; slot < kSlots; slot += kAtOnce) {
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) store_slot(slot + i, left[i]);
#pragma unroll
        for (int i = 0; i + kAtOnce < kSlots; ++i) left[i] = left[i + kAtOnce];
      }
    }
    segments.store_end(at_, bytes_of(end_, reciprocal, segments.output(at_)));
  }

 private:
  typename Segments<T>::End at_;
  uint32_t whole_ = 0;  // a bit a slot
  Packed x_[kSlots], end_;
};

}  // namespace cudaops_kernels
