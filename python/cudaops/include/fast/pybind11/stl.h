// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cudaops_fast/python.h>
#include <cudaops_fast/torch.h>
#include <math.h>
#include <stdlib.h>
