// SPDX-License-Identifier: Apache-2.0
// A device function for kernels of other files: each is compiled alone, and the device linker joins
// them.
__device__ float twice(float x) { return 2 * x; }
