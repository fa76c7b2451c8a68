// SPDX-License-Identifier: Apache-2.0
// Matrix products of a warpgroup (sm_90a only: not sm_90, nor later architectures). PTX ISA,
// "Asynchronous Warpgroup Level Matrix Instructions"; "Matrix Descriptor".
//
//   fence_wgmma();                              registers and memory as they are now
//   Wgmma<T, 128>::multiply(d, a, b, true);     D += A * B, any number of them
//   commit_wgmma();                             a group
//   wait_for_wgmma<0>();                        until at most 0 groups are in flight
//   keep(d);                                    D is read after this line, not before
//
// D is 64 x N in float32, A 64 x 16 in registers or shared memory, B 16 x N in shared memory.
// Between multiply() and the wait D and A belong to the tensor cores: the compiler (ptxas warns of
// "serialized") inserts waits where code in between touches them, indexes them at run time, is
// called and not inlined, or where registers do not suffice.
//
// Of D and of A in registers, lane l of warp w holds two rows, r = 16 * w + l / 4 and r + 8:
//   d[4j], d[4j + 1]      row r,      columns 8j + 2 * (l % 4) and the next
//   d[4j + 2], d[4j + 3]  row r + 8,  the same columns
// so that D of a product, rounded to 16 bits and packed in pairs, is A of the next one: the k-th 16
// columns of D are d[8k] to d[8k + 7].
#pragma once

#include <cudaops/gpu_compat.h>

#include <cstdint>

#include "../hopper.cuh"

#if !CUDAOPS_HIP && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define CUDAOPS_HAS_WGMMA 1
#else
#define CUDAOPS_HAS_WGMMA 0
#endif

namespace cudaops_kernels {

constexpr int kWarpgroupSize = 128;

#if CUDAOPS_HAS_WGMMA

// Gives registers back, or waits for them; all warps of a warpgroup, in a kernel with
// __launch_bounds__(threads, 1). PTX ISA, "setmaxnreg".
template <int kRegisters>
__device__ __forceinline__ void give_registers_back() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// Named barriers, 1 to 15 (0 is that of __syncthreads()), for `threads` of a block together.
// PTX ISA, "barrier{.cta}".
__device__ __forceinline__ void wait_at_barrier(int name, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}
__device__ __forceinline__ void arrive_at_barrier(int name, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

__device__ __forceinline__ void fence_wgmma() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
// After ordinary writes to shared memory that products or the copy engine read next, by each thread
// that wrote; a barrier follows. PTX ISA, "Async proxy".
__device__ __forceinline__ void fence_for_wgmma() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void commit_wgmma() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// The compiler moves no use of these registers across.
template <int kSize>
__device__ __forceinline__ void keep(float (&registers)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}
// Waits, and keeps the registers of the products that are then done.
template <int kGroups, int... kSizes>
__device__ __forceinline__ void wait_for_wgmma(float (&... registers)[kSizes]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
  (keep(registers), ...);
}

// Where a matrix lies in shared memory, in chunks of 64 elements (128 bytes) a row with 128-byte
// swizzle, each at a multiple of 1024 bytes: `chunk_bytes` apart, 8 rows every 1024 bytes.
//
// K-major (rows are those of A, or columns of B; the 64 elements run along k): the chunk distance
// is not used, the next 16 of k are 32 bytes on. MN-major (rows run along k, the 64 elements along
// the columns of B): the next 16 of k are 2048 bytes on.
__device__ __forceinline__ uint64_t matrix_descriptor(const void* shared, uint32_t chunk_bytes) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  constexpr uint64_t kStrideBytes = uint64_t{1024 / 16} << 32;
  return kSwizzle128 | kStrideBytes | uint64_t{chunk_bytes / 16} << 16 |
         (shared_address(shared) & 0x3FFFF) / 16;
}

// `multiply` with A in shared memory takes its descriptor, with A in registers four of them. B is
// K-major in the first and MN-major in the second: a product of rows by rows, and of weights by
// rows. `multiply_by_columns`: A in shared memory and K-major, B MN-major. `multiply_transposed`:
// A^T * B, both MN-major. `accumulate`: false for D = A * B.
template <typename T, int kColumns>
struct Wgmma;

// The instructions' texts: eight registers of D each, and D of N columns as N / 2 registers.
#define CUDAOPS_TEXT_0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define CUDAOPS_TEXT_1 "%8, %9, %10, %11, %12, %13, %14, %15"
#define CUDAOPS_TEXT_2 "%16, %17, %18, %19, %20, %21, %22, %23"
#define CUDAOPS_TEXT_3 "%24, %25, %26, %27, %28, %29, %30, %31"
#define CUDAOPS_TEXT_4 "%32, %33, %34, %35, %36, %37, %38, %39"
#define CUDAOPS_TEXT_5 "%40, %41, %42, %43, %44, %45, %46, %47"
#define CUDAOPS_TEXT_6 "%48, %49, %50, %51, %52, %53, %54, %55"
#define CUDAOPS_TEXT_7 "%56, %57, %58, %59, %60, %61, %62, %63"
#define CUDAOPS_TEXT_8 "%64, %65, %66, %67, %68, %69, %70, %71"
#define CUDAOPS_TEXT_9 "%72, %73, %74, %75, %76, %77, %78, %79"
#define CUDAOPS_TEXT_10 "%80, %81, %82, %83, %84, %85, %86, %87"
#define CUDAOPS_TEXT_11 "%88, %89, %90, %91, %92, %93, %94, %95"
#define CUDAOPS_TEXT_12 "%96, %97, %98, %99, %100, %101, %102, %103"
#define CUDAOPS_TEXT_13 "%104, %105, %106, %107, %108, %109, %110, %111"
#define CUDAOPS_TEXT_14 "%112, %113, %114, %115, %116, %117, %118, %119"
#define CUDAOPS_TEXT_15 "%120, %121, %122, %123, %124, %125, %126, %127"
#define CUDAOPS_D8(i)                                                                         \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define CUDAOPS_TEXTS_16 CUDAOPS_TEXT_0
#define CUDAOPS_D_16 CUDAOPS_D8(0)
#define CUDAOPS_TEXTS_32 CUDAOPS_TEXTS_16 ", " CUDAOPS_TEXT_1
#define CUDAOPS_D_32 CUDAOPS_D_16, CUDAOPS_D8(8)
#define CUDAOPS_TEXTS_48 CUDAOPS_TEXTS_32 ", " CUDAOPS_TEXT_2
#define CUDAOPS_D_48 CUDAOPS_D_32, CUDAOPS_D8(16)
#define CUDAOPS_TEXTS_64 CUDAOPS_TEXTS_48 ", " CUDAOPS_TEXT_3
#define CUDAOPS_D_64 CUDAOPS_D_48, CUDAOPS_D8(24)
#define CUDAOPS_TEXTS_80 CUDAOPS_TEXTS_64 ", " CUDAOPS_TEXT_4
#define CUDAOPS_D_80 CUDAOPS_D_64, CUDAOPS_D8(32)
#define CUDAOPS_TEXTS_96 CUDAOPS_TEXTS_80 ", " CUDAOPS_TEXT_5
#define CUDAOPS_D_96 CUDAOPS_D_80, CUDAOPS_D8(40)
#define CUDAOPS_TEXTS_112 CUDAOPS_TEXTS_96 ", " CUDAOPS_TEXT_6
#define CUDAOPS_D_112 CUDAOPS_D_96, CUDAOPS_D8(48)
#define CUDAOPS_TEXTS_128 CUDAOPS_TEXTS_112 ", " CUDAOPS_TEXT_7
#define CUDAOPS_D_128 CUDAOPS_D_112, CUDAOPS_D8(56)
#define CUDAOPS_TEXTS_144 CUDAOPS_TEXTS_128 ", " CUDAOPS_TEXT_8
#define CUDAOPS_D_144 CUDAOPS_D_128, CUDAOPS_D8(64)
#define CUDAOPS_TEXTS_160 CUDAOPS_TEXTS_144 ", " CUDAOPS_TEXT_9
#define CUDAOPS_D_160 CUDAOPS_D_144, CUDAOPS_D8(72)
#define CUDAOPS_TEXTS_176 CUDAOPS_TEXTS_160 ", " CUDAOPS_TEXT_10
#define CUDAOPS_D_176 CUDAOPS_D_160, CUDAOPS_D8(80)
#define CUDAOPS_TEXTS_192 CUDAOPS_TEXTS_176 ", " CUDAOPS_TEXT_11
#define CUDAOPS_D_192 CUDAOPS_D_176, CUDAOPS_D8(88)
#define CUDAOPS_TEXTS_208 CUDAOPS_TEXTS_192 ", " CUDAOPS_TEXT_12
#define CUDAOPS_D_208 CUDAOPS_D_192, CUDAOPS_D8(96)
#define CUDAOPS_TEXTS_224 CUDAOPS_TEXTS_208 ", " CUDAOPS_TEXT_13
#define CUDAOPS_D_224 CUDAOPS_D_208, CUDAOPS_D8(104)
#define CUDAOPS_TEXTS_240 CUDAOPS_TEXTS_224 ", " CUDAOPS_TEXT_14
#define CUDAOPS_D_240 CUDAOPS_D_224, CUDAOPS_D8(112)
#define CUDAOPS_TEXTS_256 CUDAOPS_TEXTS_240 ", " CUDAOPS_TEXT_15
#define CUDAOPS_D_256 CUDAOPS_D_240, CUDAOPS_D8(120)

// Operands in shared memory; SIZE: K and the types; a, b, c: the numbers of the operands behind D;
// TRANSPOSES: ", " and whether A and B are, where the types let them be.
#define CUDAOPS_WGMMA_SHARED(SIZE, FUNCTION, N, a, b, c, TRANSPOSES)                         \
  static __device__ __forceinline__ void FUNCTION(float(&d)[N / 2], uint64_t a_descriptor,   \
                                                  uint64_t b_descriptor, bool accumulate) {  \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #c                                     \
                 ", 0;\n"                                                                    \
                 "wgmma.mma_async.sync.aligned.m64n" #N SIZE " {" CUDAOPS_TEXTS_##N          \
                 "}, %" #a ", %" #b ", p, 1, 1" TRANSPOSES ";\n}\n"                          \
                 : CUDAOPS_D_##N                                                             \
                 : "l"(a_descriptor), "l"(b_descriptor), "r"(static_cast<int>(accumulate))); \
  }
// A in registers; a, b, c, e, f, g: likewise.
#define CUDAOPS_WGMMA_REGISTERS(SIZE, N, a, b, c, e, f, g, TRANSPOSES)                           \
  static __device__ __forceinline__ void multiply(float(&d)[N / 2], const uint32_t* weights,     \
                                                  uint64_t b_descriptor, bool accumulate) {      \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #g                                         \
                 ", 0;\n"                                                                        \
                 "wgmma.mma_async.sync.aligned.m64n" #N SIZE " {" CUDAOPS_TEXTS_##N              \
                 "}, {%" #a ", %" #b ", %" #c ", %" #e "}, %" #f ", p, 1, 1" TRANSPOSES ";\n}\n" \
                 : CUDAOPS_D_##N                                                                 \
                 : "r"(weights[0]), "r"(weights[1]), "r"(weights[2]), "r"(weights[3]),           \
                   "l"(b_descriptor), "r"(static_cast<int>(accumulate)));                        \
  }
#define CUDAOPS_WGMMA(TYPE, NAME, N, a, b, c, e, f, g)                                        \
  template <>                                                                                 \
  struct Wgmma<TYPE, N> {                                                                     \
    CUDAOPS_WGMMA_SHARED("k16.f32." NAME "." NAME, multiply, N, a, b, c, ", 0, 0")            \
    CUDAOPS_WGMMA_SHARED("k16.f32." NAME "." NAME, multiply_by_columns, N, a, b, c, ", 0, 1") \
    CUDAOPS_WGMMA_SHARED("k16.f32." NAME "." NAME, multiply_transposed, N, a, b, c, ", 1, 1") \
    CUDAOPS_WGMMA_REGISTERS("k16.f32." NAME "." NAME, N, a, b, c, e, f, g, ", 1")             \
  };
#define CUDAOPS_WGMMA_TYPES(N, a, b, c, e, f, g)    \
  CUDAOPS_WGMMA(__half, "f16", N, a, b, c, e, f, g) \
  CUDAOPS_WGMMA(cudaops::bfloat16, "bf16", N, a, b, c, e, f, g)
CUDAOPS_WGMMA_TYPES(64, 32, 33, 34, 35, 36, 37)
CUDAOPS_WGMMA_TYPES(80, 40, 41, 42, 43, 44, 45)
CUDAOPS_WGMMA_TYPES(96, 48, 49, 50, 51, 52, 53)
CUDAOPS_WGMMA_TYPES(112, 56, 57, 58, 59, 60, 61)
CUDAOPS_WGMMA_TYPES(128, 64, 65, 66, 67, 68, 69)
CUDAOPS_WGMMA_TYPES(176, 88, 89, 90, 91, 92, 93)
CUDAOPS_WGMMA_TYPES(192, 96, 97, 98, 99, 100, 101)
CUDAOPS_WGMMA_TYPES(256, 128, 129, 130, 131, 132, 133)
#undef CUDAOPS_WGMMA_TYPES
#undef CUDAOPS_WGMMA

// Of float8 e4m3fn: A is 64 x 32, B 32 x N and K-major in both forms, 32 bytes as 16 elements of 16
// bits are. Of A in registers word 2 * u + half holds row 16 * w + l / 4 + 8 * half, columns
// 16 * u + 4 * (l % 4) to the third next. Sums have fewer bits than float32.
struct E4m3 {};

#define CUDAOPS_WGMMA_E4M3(N, a, b, c, e, f, g)                           \
  template <>                                                             \
  struct Wgmma<E4m3, N> {                                                 \
    CUDAOPS_WGMMA_SHARED("k32.f32.e4m3.e4m3", multiply, N, a, b, c, "")   \
    CUDAOPS_WGMMA_REGISTERS("k32.f32.e4m3.e4m3", N, a, b, c, e, f, g, "") \
  };
CUDAOPS_WGMMA_E4M3(64, 32, 33, 34, 35, 36, 37)
CUDAOPS_WGMMA_E4M3(96, 48, 49, 50, 51, 52, 53)
CUDAOPS_WGMMA_E4M3(128, 64, 65, 66, 67, 68, 69)
CUDAOPS_WGMMA_E4M3(160, 80, 81, 82, 83, 84, 85)
CUDAOPS_WGMMA_E4M3(192, 96, 97, 98, 99, 100, 101)
CUDAOPS_WGMMA_E4M3(224, 112, 113, 114, 115, 116, 117)
CUDAOPS_WGMMA_E4M3(256, 128, 129, 130, 131, 132, 133)
#undef CUDAOPS_WGMMA_E4M3
#undef CUDAOPS_WGMMA_REGISTERS
#undef CUDAOPS_WGMMA_SHARED

#endif

}  // namespace cudaops_kernels
