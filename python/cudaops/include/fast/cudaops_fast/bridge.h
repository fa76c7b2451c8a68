// SPDX-License-Identifier: Apache-2.0
// What a module with fast headers and the bridge say to each other. The bridge
// (include/bridge/bridge.cpp) is compiled once for each torch, with torch's own headers; a module
// reaches torch through this table of functions alone.
//
// The functions are C++: they throw what torch throws. An exception passes through a module's
// frames as it is, so that its type and its text are torch's own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudaops_fast {

// Changes with the layout of anything below.
constexpr int64_t bridge_version = 3;

// A tensor: the bits of an at::Tensor, which is one pointer (the bridge asserts it).
using Impl = void*;
using Ref = const Impl*;

enum Kind : int32_t {
  k_none,
  k_tensor,  // p: the tensor's bits
  k_int,
  k_uint,
  k_double,
  k_bool,
  k_complex,  // d, e
  k_string,   // p, n
  k_list,     // p: Values, n
  k_ints,     // p: int64_t, n
  k_doubles,  // p: double, n; arguments of ops only
  k_tensors,  // p: the bits of tensors, n; arguments of ops only
  k_dtype,
  k_layout,
  k_memory_format,
  k_device,  // i: type, n: index
};

// An argument (borrows what it points to) or a result (owns it: tensors are counted, arrays come
// from malloc()).
struct Value {
  Kind kind;
  union {
    int64_t i;
    double d;
    void* p;
  };
  union {
    int64_t n;
    double e;
  };
};

enum Query : int32_t {
  q_dim,
  q_numel,
  q_dtype,
  q_layout,
  q_device_type,
  q_device_index,
  q_storage_offset,
  q_element_size,
  q_requires_grad,
  q_is_leaf,
  q_is_sparse,
  q_has_storage,
  q_is_conj,
  q_is_neg,
  q_use_count,
  q_version,
  q_is_pinned,
  q_is_inference,
  q_is_non_overlapping_and_dense,
  q_get_device,
  q_is_cuda,
  q_is_cpu,
  q_is_meta,
  q_is_floating_point,
  q_is_signed,
  q_suggest_memory_format,
  q_suggest_memory_format_exactly,
  q_type,     // throws where Tensor::type() does
  q_options,  // dtype, layout, device's type and index, a byte each from the lowest one on
};

struct OptionsOfTensor {
  uint64_t bits;
};

enum Error : int32_t { e_error, e_index, e_value, e_type, e_not_implemented, e_assert };

// Thrown by pybind11's names: py::value_error and its like.
enum PyError : int32_t {
  p_value,
  p_index,
  p_key,
  p_type,
  p_stop_iteration,
  p_attribute,
  p_buffer,
  p_import,
  p_cast
};

// What from_blob() makes a tensor of.
struct Blob {
  void* data;
  const int64_t* sizes;
  int64_t count;
  const int64_t* strides;  // null: contiguous
  int64_t stride_count;
  const Value* options;                        // as to_values() has them
  Value target_device;                         // or none
  void (*deleter)(void* data, void* context);  // may be null
  void* context;
  bool is_variable;  // torch::from_blob(), not at::from_blob()
};

// at::check<Name>(), of ATen/TensorUtils.h.
enum Check : int32_t {
  c_dim,
  c_dim_of_tensor,
  c_dim_range,
  c_same_dim,
  c_contiguous,
  c_all_contiguous,
  c_size,
  c_size_of_dim,
  c_numel,
  c_same_numel,
  c_all_same_numel,
  c_scalar_type,
  c_scalar_types,
  c_same_gpu,
  c_all_same_gpu,
  c_same_type,
  c_all_same_type,
  c_same_size,
  c_all_same_size,
  c_defined,
  c_all_defined
};

// An at::TensorArg.
struct CheckedTensor {
  Impl tensor;
  const char* name;
  int32_t position;
};

// A function for Python or for the dispatcher. It owns nothing of args; what it leaves in result is
// owned by the caller.
using Invoke = void (*)(void* closure, Value* args, Value* result);

struct Argument {
  const char* name;  // may be null
  bool has_default, none, noconvert, is_keyword_only, is_positional_only;
  const char* description;  // of the default; may be null
  const char* code;         // of the default's own type
  Value value;
};

struct Function {
  const char* name;
  const char* doc;            // may be null
  const char* signature;      // codes of the result and the arguments: binder.h
  const Argument* arguments;  // none, or as many as the signature has
  int64_t argument_count;
  Invoke invoke;
  void* closure;
  void (*free_closure)(void*);
  bool wrapped;  // as torch::wrap_pybind_function()
  bool release_gil;
};

// Bytes of an at::AutoDispatchBelowADInplaceOrView (the bridge asserts it).
constexpr size_t size_of_below = 16;

struct Bridge {
  int64_t version;
  Impl undefined;

  void (*retain)(Impl);
  void (*release)(Impl);
  const int64_t* (*sizes)(Ref, int64_t* count);
  const int64_t* (*strides)(Ref, int64_t* count);
  int64_t (*size)(Ref, int64_t dim);
  int64_t (*stride)(Ref, int64_t dim);
  int64_t (*query)(Ref, Query);
  bool (*is_contiguous)(Ref, int32_t memory_format);
  void* (*data)(Ref, int32_t dtype, bool is_const);  // dtype -1: any
  void (*set_requires_grad)(Ref, bool);
  Impl (*grad)(Ref);
  void (*make_variable)(Impl*, bool requires_grad);
  Impl (*from_blob)(const Blob&);
  char* (*print)(Ref, int64_t* length);
  char* (*print_options)(const Value* options, int64_t* length);

  const void* (*find_op)(const char* name, const char* overload);
  void (*call)(const void* op, const Value* args, int64_t count, Value* results,
               int64_t result_count);
  // An at::AutoDispatchBelowADInplaceOrView, made and ended in this memory.
  void (*enter_below)(void* place);
  void (*leave_below)(void* place);
  // The C++ default dtype, of torch.set_default_dtype().
  int32_t (*default_dtype)();
  const char* (*dtype_name)(int32_t dtype);
  const char* (*type_name)(int32_t dtype, int64_t* length);  // of its TypeMeta
  int64_t (*dtype_size)(int32_t dtype);
  const char* (*device_name)(int32_t device_type, bool lower_case);
  void (*convert)(const Value* scalar, int32_t dtype, Value* result);  // Scalar::to<T>()

  // These two don't return.
  void (*fail)(Error, const char* function, const char* file, uint32_t line, const char* condition,
               const char* text, size_t length);
  void (*fail_py)(PyError, const char* text);
  void (*check_tensors)(Check, const char* from, const CheckedTensor*, int64_t count,
                        const int64_t* numbers, int64_t number_count);
  void (*warn)(const char* function, const char* file, uint32_t line, const char* text,
               size_t length);

  void (*parallel_for)(int64_t begin, int64_t end, int64_t grain, void (*)(void*, int64_t, int64_t),
                       void* closure);
  int64_t (*threads)(int what);  // 0: get_num_threads, 1: get_thread_num

  // Of at::globalContext().
  void (*alert_not_deterministic)(const char* caller, size_t length);
  bool (*deterministic_algorithms)();

  bool (*grad_mode)(int set);  // -1: asks only; the mode before
  // The device is the current one until the guard is deleted; index -1: no other.
  void* (*new_guard)(int32_t device_type, int64_t device_index);
  void (*delete_guard)(void*);
  void (*current_stream)(int32_t device_type, int64_t device_index, int64_t* id, int64_t* index,
                         void** native);
  int64_t (*current_device)(int32_t device_type);
  int64_t (*device_count)(int32_t device_type);
  void (*check_cuda)(int32_t error, const char* file, const char* function, uint32_t line);
  // As at::cuda's: null in a torch without CUDA. -1: of the current device.
  const void* (*device_properties)(int64_t device_index);
  int32_t (*maybe_set_device)(int64_t device_index);
  void (*device_of_string)(const char* text, int64_t* type, int64_t* index);

  // PYBIND11_MODULE
  void* (*make_module)(const char* name, bool gil_not_used, void (*fill)(void* module));
  void (*add_function)(void* module, const Function*);
  void (*set_attribute)(void* module, const char* name, const char* code, const Value*);
  void (*set_doc)(void* module, const char* text);

  // TORCH_LIBRARY
  void* (*open_library)(int kind, const char* name, const char* key, const char* file,
                        uint32_t line);
  void (*define)(void* library, const char* schema);
  void (*define_with)(void* library, const char* schema, const char* signature, Invoke,
                      void* closure, void (*free_closure)(void*));
  void (*close_library)(void* library);
  void (*implement)(void* library, const char* name, const char* signature, Invoke, void* closure,
                    void (*free_closure)(void*));
};

}  // namespace cudaops_fast
