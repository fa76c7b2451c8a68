# SPDX-License-Identifier: Apache-2.0
# Of an editable install, whose place scikit-build-core takes for CudaOps_ROOT; a wheel has the whole package here, in cmake/.
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/CudaOpsConfig.cmake")
