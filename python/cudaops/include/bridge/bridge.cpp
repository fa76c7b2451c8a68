// SPDX-License-Identifier: Apache-2.0
// The bridge between modules with fast headers and torch, compiled with torch's and pybind11's own
// headers, once for each torch. What a module asks for is done here by the code that torch's
// headers would have brought into the module itself: type casters, overloads, translation of
// exceptions, dispatch.
#define AT_PER_OPERATOR_HEADERS

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>

#include <map>
#include <mutex>

#include "constants.h"
#include "devices.h"
#include "errors.h"
#include "functions.h"
#include "library.h"
#include "operators.h"
#include "tensors.h"

namespace {

Bridge table() {
  Bridge made{};
  made.version = bridge_version;
  made.undefined = owned(at::Tensor());
  made.retain = [](Impl bits) { owned(tensor(&bits)); };
  made.release = [](Impl bits) { take(bits); };
  made.sizes = [](Ref ref, int64_t* count) {
    const auto found = tensor(ref).sizes();
    *count = static_cast<int64_t>(found.size());
    return found.data();
  };
  made.strides = [](Ref ref, int64_t* count) {
    const auto found = tensor(ref).strides();
    *count = static_cast<int64_t>(found.size());
    return found.data();
  };
  made.size = [](Ref ref, int64_t dim) { return tensor(ref).size(dim); };
  made.stride = [](Ref ref, int64_t dim) { return tensor(ref).stride(dim); };
  made.query = query;
  made.is_contiguous = [](Ref ref, int32_t format) {
    return tensor(ref).is_contiguous(static_cast<at::MemoryFormat>(format));
  };
  made.data = data;
  made.set_requires_grad = [](Ref ref, bool value) { tensor(ref).set_requires_grad(value); };
  made.grad = [](Ref ref) { return owned(tensor(ref).grad()); };
  made.make_variable = [](Impl* bits, bool requires_grad) {
    *bits = owned(torch::autograd::make_variable(take(*bits), requires_grad));
  };
  made.from_blob = from_blob;
  made.print = [](Ref ref, int64_t* length) { return printed(tensor(ref), length); };
  made.print_options = [](const Value* options, int64_t* length) {
    return printed(options_of(options), length);
  };
  made.find_op = find_op;
  made.call = call_op;
  made.default_dtype = [] {
    return static_cast<int32_t>(c10::typeMetaToScalarType(c10::get_default_dtype()));
  };
  made.dtype_name = [](int32_t type) { return c10::toString(static_cast<c10::ScalarType>(type)); };
  made.type_name = [](int32_t type, int64_t* length) {
    const auto name = c10::scalarTypeToTypeMeta(static_cast<c10::ScalarType>(type)).name();
    *length = static_cast<int64_t>(name.size());
    return name.data();
  };
  made.dtype_size = [](int32_t type) {
    return static_cast<int64_t>(c10::elementSize(static_cast<c10::ScalarType>(type)));
  };
  made.device_name = [](int32_t type, bool lower) {
    // As many as there are device types, kept.
    static auto& names = *new std::map<std::pair<int32_t, bool>, std::string>();
    static auto& mutex = *new std::mutex();
    const std::lock_guard<std::mutex> lock(mutex);
    auto& name = names[{type, lower}];
    if (name.empty()) name = c10::DeviceTypeName(static_cast<c10::DeviceType>(type), lower);
    return name.c_str();
  };
  made.convert = convert;
  using Below = at::AutoDispatchBelowADInplaceOrView;
  static_assert(sizeof(Below) <= size_of_below && alignof(Below) <= alignof(void*));
  made.enter_below = [](void* place) { new (place) Below(); };
  made.leave_below = [](void* place) { static_cast<Below*>(place)->~Below(); };
  made.fail = fail;
  made.fail_py = fail_py;
  made.check_tensors = check_tensors;
  made.warn = [](const char* function, const char* file, uint32_t line, const char* text,
                 size_t length) {
    c10::warn(
        c10::Warning(c10::UserWarning(), {function, file, line}, std::string(text, length), false));
  };
  made.parallel_for = [](int64_t begin, int64_t end, int64_t grain,
                         void (*body)(void*, int64_t, int64_t), void* closure) {
    at::parallel_for(begin, end, grain, [&](int64_t from, int64_t to) { body(closure, from, to); });
  };
  made.threads = [](int what) -> int64_t {
    return what ? at::get_thread_num() : at::get_num_threads();
  };
  made.alert_not_deterministic = [](const char* caller, size_t length) {
    at::globalContext().alertNotDeterministic(c10::string_view(caller, length));
  };
  made.deterministic_algorithms = [] { return at::globalContext().deterministicAlgorithms(); };
  made.grad_mode = [](int set) {
    const bool before = c10::GradMode::is_enabled();
    if (set >= 0) c10::GradMode::set_enabled(set != 0);
    return before;
  };
  made.new_guard = [](int32_t type, int64_t index) -> void* {
    return new Guard(static_cast<c10::DeviceType>(type), index);
  };
  made.check_cuda = check_cuda;
  made.delete_guard = [](void* guard) { delete static_cast<Guard*>(guard); };
  made.current_stream = current_stream;
  made.device_properties = device_properties;
  made.maybe_set_device = maybe_set_device;
  made.current_device = [](int32_t type) -> int64_t {
    return c10::impl::VirtualGuardImpl(static_cast<c10::DeviceType>(type)).getDevice().index();
  };
  made.device_count = [](int32_t type) -> int64_t {
    return c10::impl::hasDeviceGuardImpl(static_cast<c10::DeviceType>(type))
               ? c10::impl::VirtualGuardImpl(static_cast<c10::DeviceType>(type)).deviceCount()
               : 0;
  };
  made.device_of_string = [](const char* text, int64_t* type, int64_t* index) {
    const c10::Device found{std::string(text)};
    *type = static_cast<int64_t>(found.type());
    *index = found.index();
  };
  made.make_module = make_module;
  made.add_function = add_function;
  made.set_attribute = set_attribute;
  made.set_doc = [](void* module, const char* text) {
    static_cast<py::module_*>(module)->doc() = text;
  };
  made.open_library = open_library;
  made.define = [](void* library, const char* schema) {
    check_whole(schema);
    static_cast<torch::Library*>(library)->def(schema);
  };
  made.define_with = define_with;
  made.close_library = [](void* library) { delete static_cast<torch::Library*>(library); };
  made.implement = implement;
  return made;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  static Bridge bridge = table();
  m.attr("table") = py::capsule(&bridge, "cudaops._fast_bridge.table");
}
