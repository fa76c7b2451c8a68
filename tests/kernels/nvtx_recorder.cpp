// SPDX-License-Identifier: Apache-2.0
// What profilers are to NVTX: a library that NVTX_INJECTION64_PATH names and that gets the calls.
// It keeps them as text: "square(" where a range begins, ")" where it ends.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <string>

namespace {

std::string& recorded() {
  static std::string text;
  return text;
}

int push(const char* name) {
  recorded() += std::string(name) + "(";
  return 0;
}

int pop() {
  recorded() += ")";
  return 0;
}

}  // namespace

extern "C" {

// What was recorded since the call before.
const char* nvtx_recorder_take() {
  static std::string taken;
  taken.swap(recorded());
  recorded().clear();
  return taken.c_str();
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr ||
      !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) {
    return 0;
  }
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}

}  // extern "C"
