// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cudaops_fast/check_tensors.h>
