# SPDX-License-Identifier: Apache-2.0
"""The differential cases: functions that are compiled with torch's headers and with the fast ones, and called alike.

CPP: functions of tensors x, y (float tensors of one kind, see kinds.py), i (an integer tensor), and numbers. What a name
is for is said by what it calls; each name that the fast headers know is in one of them (test_names.py).
"""

import pathlib

# name: (what the parameters are, C++)
CPP = {
    # Facts of a tensor.
    "facts": (
        "x",
        """std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t, int64_t, int64_t, int64_t, bool, bool> facts(const torch::Tensor& x) {
          return {x.sizes().vec(), x.strides().vec(), x.dim(), x.ndimension(), x.numel(), x.storage_offset(), x.is_contiguous(), x.defined()};
        }""",
    ),
    "more_facts": (
        "x",
        """std::tuple<int64_t, int64_t, int64_t, int64_t, bool, bool, bool, bool, bool> more_facts(torch::Tensor x) {
          return {x.element_size(), (int64_t)x.itemsize(), (int64_t)x.nbytes(), x.get_device(), x.is_cuda(), x.is_cpu(), x.is_meta(), x.is_sparse(), x.has_storage()};
        }""",
    ),
    "kind_facts": (
        "x",
        """std::tuple<bool, bool, bool, bool, bool, bool, bool, bool, bool> kind_facts(torch::Tensor x) {
          return {x.is_floating_point(), x.is_complex(), x.is_signed(), x.is_conj(), x.is_neg(), x.is_inference(), x.is_leaf(), x.requires_grad(),
                  x.is_non_overlapping_and_dense()};
        }""",
    ),
    "format_facts": (
        "x",
        """std::tuple<bool, bool, bool> format_facts(torch::Tensor x) {
          return {x.is_contiguous(at::MemoryFormat::ChannelsLast), x.is_contiguous(torch::MemoryFormat::ChannelsLast3d), x.is_contiguous(c10::MemoryFormat::Contiguous)};
        }""",
    ),
    "size_of": ("xn", "int64_t size_of(torch::Tensor x, int64_t n) { return x.size(n); }"),
    "stride_of": ("xn", "int64_t stride_of(at::Tensor x, int64_t n) { return x.stride(n); }"),
    "use_counts": ("x", "int64_t use_counts(torch::Tensor x) { torch::Tensor y = x, z(y); return (int64_t)(y.use_count() - x.use_count()); }"),
    "holders": ("x", "int64_t holders(const torch::Tensor& x) { return (int64_t)x.use_count(); }"),
    "same": ("xy", "std::pair<bool, bool> same(torch::Tensor x, torch::Tensor y) { torch::Tensor z = x; return {x.is_same(z), x.is_same(y)}; }"),
    "undefined": ("x", "std::tuple<torch::Tensor, bool, bool> undefined(torch::Tensor x) { torch::Tensor u; x.reset(); return {u, u.defined(), x.defined()}; }"),
    "moved": ("x", "std::vector<bool> moved(torch::Tensor x) { torch::Tensor y = std::move(x); return {x.defined(), y.defined()}; }"),
    "dtype_of": ("x", "torch::Dtype dtype_of(torch::Tensor x) { return x.scalar_type(); }"),
    "dtype_names": (
        "x",
        """std::vector<std::string> dtype_names(torch::Tensor x) {
          return {c10::toString(x.scalar_type()), std::string(x.dtype().name()), std::to_string(x.dtype().itemsize()), std::to_string(c10::elementSize(x.scalar_type())),
                  std::to_string(x.dtype() == torch::kFloat32), std::to_string(at::kDouble != x.dtype()), std::to_string(c10::isIntegralType(x.scalar_type(), true)),
                  std::to_string(at::isComplexType(x.scalar_type())), c10::toString(c10::typeMetaToScalarType(x.options().dtype()))};
        }""",
    ),
    "device_of": ("x", "at::Device device_of(torch::Tensor x) { return x.device(); }"),
    "device_texts": (
        "",
        """std::vector<std::string> device_texts() {
          torch::Device cpu(torch::kCPU), gpu(at::DeviceType::CUDA, 1), text("cuda:2");
          at::DeviceIndex index = gpu.index();
          return {cpu.str(), gpu.str(), text.str(), std::to_string(index), std::to_string(cpu == torch::Device("cpu")), std::to_string(gpu.is_cuda()),
                  std::to_string(cpu.has_index()), std::to_string(torch::Device(c10::kMeta).is_meta()), std::to_string(torch::kCUDA == gpu.type())};
        }""",
    ),
    "bad_device": ("", 'at::Device bad_device() { return torch::Device("nowhere:1"); }'),
    "old_type": ("x", "std::pair<bool, torch::Dtype> old_type(torch::Tensor x) { return {x.type().is_cuda(), x.type().scalarType()}; }"),
    "old_type_as_options": (
        "x",
        """std::vector<std::string> old_type_as_options(torch::Tensor x) {
          torch::TensorOptions o = x.type();
          std::ostringstream stream;
          stream << o << x.type().options() << x.type().options(2) << at::empty({2}, x.type()).options() << (int)x.type().layout() << x.type().is_sparse() << (x.type() == x.type()) << (int)x.type().device_type() << x.type().typeMeta().name();
          return {stream.str()};
        }""",
    ),
    "options_asked": (
        "x",
        """std::vector<std::string> options_asked(torch::Tensor x) {
          std::vector<std::string> found;
          const auto all = x.options().requires_grad(true).pinned_memory(false).memory_format(at::MemoryFormat::ChannelsLast);
          const auto of_gpu = torch::dtype(torch::kHalf).layout(torch::kStrided).device(torch::kCUDA, 1);
          for (const torch::TensorOptions& o : {torch::TensorOptions(), x.options(), all, of_gpu, torch::TensorOptions(torch::kCPU), all.requires_grad(false), all.memory_format(c10::nullopt).dtype(at::kLong)}) {
            found.push_back(c10::str(o.has_requires_grad(), o.has_pinned_memory(), o.has_memory_format(), o.has_dtype(), o.has_device(), o.has_layout(), o.requires_grad_opt().value_or(false),
                                     o.pinned_memory_opt().value_or(true), (int)o.layout_opt().value_or(torch::kStrided), o.device_opt() ? o.device_opt()->str() : "none",
                                     o.dtype_opt() ? c10::toString(o.dtype_opt()->toScalarType()) : "none", (int)o.memory_format_opt().value_or(at::MemoryFormat::Preserve)));
          }
          return found;
        }""",
    ),
    "device_changed": (
        "n",
        """std::vector<std::string> device_changed(int64_t n) {
          torch::Device d(torch::kCUDA);
          d.set_index((at::DeviceIndex)n);
          return {d.str(), c10::str(d.is_mps(), d.is_xpu(), torch::Device(at::DeviceType::MPS).is_mps(), torch::Device(at::DeviceType::XPU).is_xpu())};
        }""",
    ),
    "scalar_numbers": (
        "n",
        """std::vector<double> scalar_numbers(const at::Scalar& n) {
          return {(double)n.toByte(), (double)n.toChar(), (double)n.toShort(), (double)n.toFloat()};
        }""",
    ),
    "optional_list": (
        "x",
        """std::vector<int64_t> optional_list(torch::Tensor x) {
          at::OptionalIntArrayRef none, some(x.sizes());
          std::vector<int64_t> found(some.value().cbegin(), some->cend());
          found.push_back(none.has_value());
          return found;
        }""",
    ),
    "suggested_formats": ("x", "std::vector<int64_t> suggested_formats(torch::Tensor x) { return {(int64_t)x.suggest_memory_format(), (int64_t)x.suggest_memory_format(true)}; }"),
    "optional_of_const": ("x", "int64_t optional_of_const(c10::optional<const at::Tensor>& x) { return x.has_value() ? x->dim() : -1; }"),
    "grad_mode": (
        "x",
        """std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> grad_mode(torch::Tensor x) {
          torch::Tensor a, b;
          { torch::NoGradGuard guard; a = x * 2; { at::AutoGradMode on(true); b = x * 3; } }
          return {a, b, x * 4};
        }""",
    ),
    "marks_gradient": ("x", "torch::Tensor marks_gradient(torch::Tensor x) { auto y = x.detach().clone(); y.requires_grad_(); y.set_requires_grad(true); return y; }"),
    "all_dtypes": (
        "",
        """std::vector<std::string> all_dtypes() {
          std::vector<std::string> found;
          for (auto type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat, at::kDouble, at::kComplexHalf, at::kComplexFloat, at::kComplexDouble, at::kBool, at::kBFloat16, at::kFloat8_e5m2, at::kFloat8_e4m3fn, at::kFloat8_e5m2fnuz, at::kFloat8_e4m3fnuz, at::kUInt16, at::kUInt32, at::kUInt64}) found.push_back(c10::str(type, " ", at::elementSize(type), c10::isIntegralType(type, false), c10::isComplexType(type)));
          for (auto type : {c10::ScalarType::Byte, c10::ScalarType::Char, c10::ScalarType::Short, c10::ScalarType::Int, c10::ScalarType::Long, c10::ScalarType::Half, c10::ScalarType::Float, c10::ScalarType::Double, c10::ScalarType::ComplexHalf, c10::ScalarType::ComplexFloat, c10::ScalarType::ComplexDouble, c10::ScalarType::Bool, c10::ScalarType::BFloat16, c10::ScalarType::Float8_e5m2, c10::ScalarType::Float8_e4m3fn, c10::ScalarType::Float8_e5m2fnuz, c10::ScalarType::Float8_e4m3fnuz, c10::ScalarType::UInt16, c10::ScalarType::UInt32, c10::ScalarType::UInt64}) found.push_back(at::toString(type));
          for (auto type : {torch::kUInt8, torch::kInt8, torch::kInt16, torch::kInt32, torch::kInt64, torch::kFloat16, torch::kFloat32, torch::kFloat64}) found.push_back(c10::toString(type));
          found.push_back(c10::toString(c10::CppTypeToScalarType<int64_t>::value));
          found.push_back(c10::toString(c10::CppTypeToScalarType<double>()));
          return found;
        }""",
    ),
    "all_enums": (
        "",
        """std::vector<std::string> all_enums() {
          using c10::str;
          return {str(at::Layout::Strided, at::Layout::Sparse, at::Layout::SparseCsr, at::Layout::Mkldnn, at::Layout::SparseCsc, at::Layout::SparseBsr, at::Layout::SparseBsc, at::Layout::Jagged),
                  str(at::MemoryFormat::Contiguous, at::MemoryFormat::Preserve, at::MemoryFormat::ChannelsLast, at::MemoryFormat::ChannelsLast3d),
                  str(at::DeviceType::CPU, at::DeviceType::CUDA, at::DeviceType::Meta, at::DeviceType::XPU, at::DeviceType::MPS, at::DeviceType::HPU, at::DeviceType::PrivateUse1),
                  str(torch::Device(at::DeviceType::XPU, 1), at::Device(c10::DeviceType::MPS)), str((int)at::Reduction::None, (int)at::Reduction::Mean, (int)at::Reduction::Sum)};
        }""",
    ),
    "small_names": (
        "n",
        """static C10_ALWAYS_INLINE C10_HOST_DEVICE int64_t twice(int64_t n) { return 2 * n; }
        static C10_HOST int64_t thrice(int64_t n) { C10_UNUSED int a = 0; return 3 * n; }
        int64_t small_names(int64_t n) {
          std::optional<int64_t> some = c10::make_optional(n), none = c10::nullopt_t(c10::nullopt);
          c10::string_view view = "view";
          if (C10_LIKELY(n > 1) || C10_UNLIKELY(n < -5)) return twice(n) + *some + none.has_value() + (int64_t)view.size();
          return thrice(n);
        }""",
    ),
    "accumulates": (
        "",
        """
        #include <ATen/AccumulateType.h>
        #include <ATen/OpMathType.h>
        template <typename T> std::string accumulates_in() {
          return std::string(typeid(at::acc_type<T, true>).name()) + typeid(at::acc_type<T, false>).name() + typeid(at::opmath_type<T>).name();
        }
        std::vector<std::string> accumulates() {
          return {accumulates_in<float>(), accumulates_in<double>(), accumulates_in<int8_t>(), accumulates_in<uint8_t>(), accumulates_in<char>(), accumulates_in<int16_t>(),
                  accumulates_in<int32_t>(), accumulates_in<int64_t>(), accumulates_in<bool>(), accumulates_in<at::Half>(), accumulates_in<at::BFloat16>()};
        }""",
    ),
    "moves_to_a_device": ("x", "torch::Tensor moves_to_a_device(torch::Tensor x) { return x.cuda(); }"),
    # Elements.
    "elements": (
        "x",
        """double elements(torch::Tensor x) {
          double sum = 0;
          const float* p = x.data_ptr<float>();
          for (int64_t k = 0; k < (x.is_contiguous() ? x.numel() : 0); ++k) sum += p[k] * (k % 3);
          return sum;
        }""",
    ),
    "pointers": (
        "x",
        """std::vector<int64_t> pointers(torch::Tensor x) {
          if (!x.numel()) return {x.data_ptr() == nullptr, x.data_ptr<float>() == nullptr};
          auto start = (const char*)x.const_data_ptr();
          return {(const char*)x.data_ptr() - start, (const char*)x.mutable_data_ptr() - start, (const char*)x.const_data_ptr<float>() - start,
                  (const char*)x.mutable_data_ptr<float>() - start, (const char*)x.data<float>() - start};
        }""",
    ),
    "pointer_of_another_dtype": ("x", "int64_t pointer_of_another_dtype(torch::Tensor x) { return x.data_ptr<int64_t>() != nullptr; }"),
    "accessors": (
        "x",
        """std::vector<double> accessors(torch::Tensor x) {
          auto a = x.accessor<float, 2>();
          double sum = 0;
          for (int64_t r = 0; r < a.size(0); ++r)
            for (int64_t c = 0; c < a.size(1); ++c) sum += a[r][c] * (1 + r) * (2 + c);
          return {sum, (double)a.stride(0), (double)a.stride(1), (double)a.sizes()[1]};
        }""",
    ),
    "packed": (
        "x",
        """std::vector<int64_t> packed(torch::Tensor x) {
          torch::PackedTensorAccessor32<float, 2> a = x.packed_accessor32<float, 2>();
          at::PackedTensorAccessor64<float, 2, torch::DefaultPtrTraits> b = x.packed_accessor64<float, 2>();
          torch::GenericPackedTensorAccessor<float, 2, at::DefaultPtrTraits, int32_t> c = x.generic_packed_accessor<float, 2, at::DefaultPtrTraits, int32_t>();
          torch::PackedTensorAccessor<float, 2> e = x.packed_accessor<float, 2>();
          at::TensorAccessor<float, 2> d = x.accessor<float, 2>();
          return {a.size(0), a.stride(1), b.size(1), b.stride(0), c.size(0), d.size(1), (int64_t)sizeof(c), e.stride(1), (const char*)a.data() - (const char*)b.data(), (int64_t)sizeof(a), (int64_t)sizeof(b)};
        }""",
    ),
    "item": ("x", "double item(torch::Tensor x) { return x.sum().item<double>() + x.sum().item().toDouble(); }"),
    "item_of_many": ("x", "int64_t item_of_many(torch::Tensor x) { return x.item<int64_t>(); }"),
    # Operators.
    "operators": (
        "xy",
        """std::vector<torch::Tensor> operators(torch::Tensor x, torch::Tensor y) {
          return {x + y, x - y, x * y, x / y, x % y, x < y, x <= y, x > y, x >= y, x == y, x != y, -x};
        }""",
    ),
    "operators_with_numbers": (
        "x",
        """std::vector<torch::Tensor> operators_with_numbers(torch::Tensor x) {
          return {x + 2, x - 2.5, x * 3, x / 2, x % 2, 1 + x, 1 - x, 2.0 * x, 1 / x, 5 % x, x < 1, x <= 1, x > 0.5, x >= 1, x == 1, x != 1, 1 < x, 1 <= x, 1 > x, 1 >= x, 1 == x, 1 != x};
        }""",
    ),
    "operators_of_integers": (
        "i",
        """std::vector<torch::Tensor> operators_of_integers(torch::Tensor i) {
          return {i & i, i | 3, i ^ 5, ~i, i / 2, i % 3, i * 1.5, i + true, i - 1, 7 & i, 1 - i};
        }""",
    ),
    "in_place": ("xy", "torch::Tensor in_place(torch::Tensor x, torch::Tensor y) { auto z = x.clone(); z += y; z -= 1; z *= 2.5; z /= y.abs() + 1; z.add_(y, 3).mul_(2).sub_(1); return z; }"),
    "changes_its_argument": ("x", "torch::Tensor& changes_its_argument(torch::Tensor& x) { return x.mul_(2).zero_().fill_(3); }"),
    "indexed": ("xn", "torch::Tensor indexed(torch::Tensor x, int64_t n) { return x[n]; }"),
    # Ops: each kind of parameter and of result.
    "sums": ("x", "std::vector<torch::Tensor> sums(torch::Tensor x) { return {x.sum(), x.sum(0), x.sum(at::IntArrayRef({0, 1})), x.sum(-1, true), x.sum(torch::kDouble), x.mean(), x.mean(1), at::sum(x, 0)}; }"),
    "shapes": (
        "x",
        """std::vector<torch::Tensor> shapes(torch::Tensor x) {
          return {x.reshape({-1}), x.t(), x.transpose(0, 1), x.permute({1, 0}), x.unsqueeze(0), x.unsqueeze(-1).squeeze(-1), x.flatten(), x.expand({2, x.size(0), x.size(1)}),
                  x.contiguous(), x.slice(0, 1), x.slice(1, 0, 3, 2), x.select(0, 0), x.narrow(1, 0, 2), x.repeat({2, 1}), x.expand_as(x), x.view(x.sizes())};
        }""",
    ),
    "contiguous_formats": ("x", "torch::Tensor contiguous_formats(torch::Tensor x) { return x.unsqueeze(0).unsqueeze(0).contiguous(at::MemoryFormat::ChannelsLast); }"),
    "conversions": (
        "x",
        """std::vector<torch::Tensor> conversions(torch::Tensor x) {
          return {x.to(torch::kFloat64), x.to(at::kInt), x.to(torch::kCPU), x.to(x.options().dtype(at::kHalf)), x.to(torch::Device("cpu"), torch::kBFloat16), x.toType(torch::kLong),
                  x.cpu(), x.to(x), x.to(at::kFloat, false, true), x.to(at::ScalarType::Bool)};
        }""",
    ),
    "functions": (
        "xy",
        """std::vector<torch::Tensor> functions(torch::Tensor x, torch::Tensor y) {
          return {at::relu(x), torch::exp(x), torch::matmul(x, y.t()), at::cat({x, y}), torch::stack({x, y}, 1), torch::where(x > y, x, y), at::clamp(x, -1, 1), torch::clamp(x, 0),
                  torch::softmax(x, 1), torch::softmax(x, -1, torch::kDouble), at::addmm(x.matmul(y.t()), x, y.t(), 2, 0.5), torch::maximum(x, y), at::add(x, y, 2), at::add(x, 1), torch::cumsum(x, 0),
                  torch::norm(x), torch::norm(x, 1), at::pow(x, 2), at::pow(2, x), torch::tril(x), torch::dropout(x, 0.5, false), at::layer_norm(x, {x.size(1)}), torch::mse_loss(x, y), at::mse_loss(x, y, at::Reduction::Sum)};
        }""",
    ),
    "several_results": (
        "x",
        """std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> several_results(torch::Tensor x) {
          auto [values, indices] = x.max(1);
          auto top = torch::topk(x, 2);
          return {values, indices, std::get<0>(top)};
        }""",
    ),
    "lists_of_results": ("x", "std::vector<torch::Tensor> lists_of_results(torch::Tensor x) { auto a = x.split(1, 0); auto b = at::chunk(x, 2, 1); a.insert(a.end(), b.begin(), b.end()); return a; }"),
    "results_that_are_no_tensors": (
        "xy",
        """std::tuple<bool, bool, int64_t, double, torch::Dtype> results_that_are_no_tensors(torch::Tensor x, torch::Tensor y) {
          return {torch::equal(x, y), at::allclose(x, x), x.numel(), 0.5, at::result_type(x, y)};
        }""",
    ),
    "out_variants": ("xy", "torch::Tensor out_variants(torch::Tensor x, torch::Tensor y) { auto out = torch::empty_like(x); at::add_out(out, x, y); torch::mul_outf(out, y, out); return out; }"),
    "optional_tensors": ("x", "torch::Tensor optional_tensors(torch::Tensor x) { return at::linear(x, x) + torch::bincount(at::ones({1}, at::kLong), {}, 0).sum(); }"),
    "texts_of_ops": ("xy", 'std::vector<torch::Tensor> texts_of_ops(torch::Tensor x, torch::Tensor y) { return {torch::div(x, y, "floor"), at::div(x, y, "trunc"), at::gelu(x, "tanh")}; }'),
    "numbers_of_ops": ("x", "std::vector<torch::Tensor> numbers_of_ops(torch::Tensor x) { return {at::quantile(x, 0.5), torch::std(x, 0, false), at::threshold(x, 0.5, 2), x.clamp_min(0.25), torch::histc(x, 4, 0, 1)}; }"),
    "more_kinds_of_ops": (
        "x",
        """std::vector<torch::Tensor> more_kinds_of_ops(torch::Tensor x) {
          at::sym_constrain_range(3, 1, 5);
          auto [u, s, v] = torch::svd(x);
          auto bag = at::embedding_bag(x, torch::zeros({2}, torch::kLong), torch::zeros({1}, torch::kLong));
          return {torch::nan_to_num(x, 1.5), at::nan_to_num(x, c10::nullopt, 2.0), s, std::get<0>(bag), std::get<3>(bag),
                  at::upsample_nearest2d(x.unsqueeze(0).unsqueeze(0), c10::nullopt, c10::ArrayRef<double>({2.0, 2.0}))};
        }""",
    ),
    "fails_in_an_op": ("xy", "torch::Tensor fails_in_an_op(torch::Tensor x, torch::Tensor y) { return torch::matmul(x, y); }"),
    "fails_with_a_dimension": ("x", "torch::Tensor fails_with_a_dimension(torch::Tensor x) { return x.sum(7); }"),
    "fails_with_a_view": ("x", "torch::Tensor fails_with_a_view(torch::Tensor x) { return x.view({-1, 7}); }"),
    "unqualified": ("xy", "torch::Tensor unqualified(torch::Tensor x, torch::Tensor y) { return mul(relu(x), y); }"),
    # Factories.
    "factories": (
        "x",
        """std::vector<torch::Tensor> factories(torch::Tensor x) {
          auto options = torch::TensorOptions().dtype(torch::kFloat64).device(torch::kCPU).requires_grad(true);
          return {torch::zeros({2, 3}), torch::ones({2}, torch::kInt64), torch::full({2}, 7), torch::full({2}, 1.5, at::kFloat), torch::arange(5), torch::arange(0, 1, 0.25),
                  torch::eye(3), torch::zeros({2}, options), torch::zeros_like(x), torch::full_like(x, 2), at::ones_like(x, at::kDouble), at::zeros({1}, x.options()),
                  torch::linspace(0, 1, 5), x.new_zeros({2, 2}), x.new_full({2}, 3), torch::zeros({}, at::dtype(at::kInt)), torch::ones(3, torch::device(torch::kCPU).dtype(at::kShort)),
                  torch::zeros({1}, torch::requires_grad()), torch::zeros({2, 2}, at::layout(torch::kStrided)), torch::zeros({1}, at::kBool)};
        }""",
    ),
    "empties": (
        "x",
        """std::vector<std::vector<int64_t>> empties(torch::Tensor x) {
          auto a = torch::empty({2, 3, 4, 5}, at::TensorOptions().memory_format(at::MemoryFormat::ChannelsLast)), b = at::empty({2, 3, 4, 5}, at::kFloat, at::MemoryFormat::ChannelsLast);
          auto c = torch::empty_like(x), d = at::empty_like(x, x.options(), at::MemoryFormat::Contiguous), e = at::empty_strided({2, 3}, {1, 2}), f = torch::empty({3}, at::memory_format(at::MemoryFormat::Contiguous));
          std::vector<std::vector<int64_t>> all;
          for (const auto& t : {a, b, c, d, e, f}) all.push_back(t.strides().vec());
          return all;
        }""",
    ),
    "at_factory_with_gradient": ("", "torch::Tensor at_factory_with_gradient() { return at::zeros({2}, torch::requires_grad()); }"),
    "random_numbers": ("s", "torch::Tensor random_numbers(double s) { auto r = torch::rand({4}) + torch::randn({4}, torch::kFloat32) + at::randint(5, {4}) + torch::randperm(4); r.uniform_(0, s); return r.normal_() + at::bernoulli(torch::full({4}, 0.5)); }"),
    "from_memory": (
        "",
        """torch::Tensor from_memory() {
          static float values[16] = {1, 2, 3, 4, 5, 6};
          return torch::from_blob(values, {2, 3}) + torch::from_blob(values, {2, 3}, {1, 2}, at::kFloat);
        }""",
    ),
    "from_memory_with_deleter": (
        "",
        """std::pair<torch::Tensor, int64_t> from_memory_with_deleter() {
          static int64_t freed = 0;
          auto* values = new int64_t[3]{1, 2, 3};
          { auto t = torch::from_blob(new int64_t[1], {1}, [](void* p) { ++freed; delete[] (int64_t*)p; }, torch::kInt64); }
          return {torch::from_blob(values, {3}, [](void* p) { delete[] (int64_t*)p; }, torch::TensorOptions().dtype(torch::kInt64)), freed};
        }""",
    ),
    "at_from_memory": (
        "n",
        """std::vector<torch::Tensor> at_from_memory(int64_t n) {
          static float values[16] = {1, 2, 3, 4, 5, 6};
          static int64_t freed = 0;
          auto count = [](void*) { ++freed; };
          switch (n) {
            case 0: return {at::from_blob(values, {2, 3}), at::from_blob(values, {2, 3}, {1, 2}), at::from_blob(values, {3}, at::TensorOptions().dtype(at::kInt))};
            case 1: return {at::from_blob(values, {2}, at::TensorOptions().requires_grad(true))};
            case 2: return {at::from_blob(values, {2}, at::TensorOptions().memory_format(at::MemoryFormat::Contiguous))};
            case 3: { at::from_blob(values, {6}, count); at::from_blob(values, {6}, {1}, count, at::kFloat); return {torch::full({1}, freed)}; }
            case 4: return {at::from_blob(values, {6}, count, at::kFloat, at::Device(at::kCPU)), at::from_blob(values, {6}, {1}, std::function<void(void*)>(), at::kInt)};
            case 5: return {at::from_blob(values, {6}, {-1})};
            case 6: return {at::from_blob(values, {-1})};
            default: return {torch::from_blob(values, {2}, at::TensorOptions().memory_format(at::MemoryFormat::Contiguous).requires_grad(true))};
          }
        }""",
    ),
    # Lists and options.
    "lists": (
        "x",
        """std::vector<int64_t> lists(torch::Tensor x) {
          at::IntArrayRef sizes = x.sizes();
          std::vector<int64_t> v = {4, 5};
          c10::ArrayRef<int64_t> list(v);
          c10::OptionalIntArrayRef none;
          at::TensorList tensors = {x, x};
          return {(int64_t)sizes.size(), sizes.empty(), list.front(), list.back(), list[1], list.at(0), list.slice(1).front(), (int64_t)list.slice(0, 1).size(), list.equals(v), list == at::IntArrayRef({4, 5}),
                  list != sizes, none.has_value(), (int64_t)tensors.size(), *std::max_element(list.begin(), list.end())};
        }""",
    ),
    "list_out_of_range": ("n", "int64_t list_out_of_range(int64_t n) { std::vector<int64_t> v = {1}; return at::IntArrayRef(v).at(n); }"),
    "options": (
        "x",
        """std::vector<std::string> options(torch::Tensor x) {
          torch::TensorOptions o = x.options(), p = torch::kInt, q = torch::Device("cuda:1"), r;
          auto say = [](const torch::TensorOptions& o) {
            return std::string(c10::toString(c10::typeMetaToScalarType(o.dtype()))) + o.device().str() + std::to_string(o.requires_grad()) + std::to_string(o.has_dtype()) + std::to_string(o.has_device()) +
                   std::to_string(o.pinned_memory()) + std::to_string(o.layout() == at::kStrided) + std::to_string(o.has_layout()) + std::to_string(o.has_memory_format());
          };
          return {say(o), say(p), say(q), say(r), say(o.dtype(at::kByte).device(at::kCUDA, 3).requires_grad(true)), say(r.device(c10::optional<torch::Device>()).dtype<double>())};
        }""",
    ),
    "printed": (
        "x",
        """std::string printed(torch::Tensor x) {
          std::ostringstream stream;
          stream << x.options() << torch::TensorOptions() << torch::dtype(torch::kInt).device(torch::kCUDA, 1).requires_grad(true).memory_format(at::MemoryFormat::ChannelsLast)
                 << x.sizes() << x.dtype() << x.scalar_type() << x.device() << at::kCUDA << x;
          return stream.str();
        }""",
    ),
    "numbers": (
        "s",
        """std::vector<double> numbers(double s) {
          at::Scalar a = 3, b = s, c = true, d = 2.5f;
          return {a.toDouble(), (double)b.toLong(), (double)c.toBool(), d.to<double>(), (double)a.isIntegral(false), (double)c.isIntegral(true), (double)b.isFloatingPoint(), (double)a.isComplex(), (double)c.isBoolean(),
                  (double)a.to<int>(), b.to<float>(), (double)(a.type() == at::kLong), (double)d.toInt()};
        }""",
    ),
    "number_that_overflows": ("s", "int64_t number_that_overflows(double s) { return c10::Scalar(s * 1e9).to<int8_t>(); }"),
    "ranges": ("n", "int64_t ranges(int64_t n) { int64_t sum = 0; for (auto k : c10::irange(n)) sum += k; for (const auto k : c10::irange(2, n)) sum += 10 * k; return sum; }"),
    "parallel": (
        "x",
        """std::pair<torch::Tensor, bool> parallel(torch::Tensor x) {
          auto y = torch::empty({1000}, torch::kFloat);
          auto* p = y.data_ptr<float>();
          at::parallel_for(0, 1000, 10, [&](int64_t begin, int64_t end) { for (int64_t k = begin; k < end; ++k) p[k] = k; });
          return {y, at::get_num_threads() >= 1 && at::get_thread_num() == 0};
        }""",
    ),
    # Dispatch.
    "dispatched": (
        "x",
        """std::string dispatched(torch::Tensor x) {
          std::string found;
          AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dispatched", [&] { found = std::to_string(sizeof(scalar_t)) + (std::is_same<scalar_t, float>::value ? "f" : "d"); });
          AT_DISPATCH_FLOATING_TYPES(x.type().scalarType(), "dispatched", ([&] { found += typeid(scalar_t).name(); }));
          return found;
        }""",
    ),
    "dispatched_sizes": (
        "i",
        """std::vector<int64_t> dispatched_sizes(torch::Tensor i) {
          std::vector<int64_t> sizes;
          auto each = [&](at::ScalarType type) {
            sizes.push_back(AT_DISPATCH_ALL_TYPES(type, "a", [&]() -> int64_t { return sizeof(scalar_t); }));
            sizes.push_back(AT_DISPATCH_INTEGRAL_TYPES(type, "b", [&]() -> int64_t { return sizeof(scalar_t); }));
            AT_DISPATCH_ALL_TYPES_AND(at::ScalarType::Bool, type, "c", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_INTEGRAL_TYPES_AND(at::ScalarType::Bool, type, "d", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_ALL_TYPES_AND2(at::kBool, at::kHalf, type, "e", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_ALL_TYPES_AND3(at::kBool, at::kHalf, at::kBFloat16, type, "f", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_ALL_TYPES_AND_COMPLEX(type, "g", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(at::kBool, at::kHalf, type, "h", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_SWITCH(type, "i", AT_DISPATCH_CASE(at::kLong, [&] { sizes.push_back(-1); }) AT_DISPATCH_CASE(at::kInt, [&] { sizes.push_back(-2); }));
          };
          each(i.scalar_type());
          return sizes;
        }""",
    ),
    "dispatched_floats": (
        "x",
        """std::vector<int64_t> dispatched_floats(torch::Tensor x) {
          std::vector<int64_t> sizes;
          for (auto type : {at::kDouble, at::kFloat, x.scalar_type()}) {
            AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, "a", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_FLOATING_TYPES_AND(at::ScalarType::BFloat16, type, "b", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, type, "c", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_FLOATING_TYPES_AND3(at::kHalf, at::kBFloat16, at::kInt, type, "d", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(type, "e", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(at::kHalf, type, "f", [&] { sizes.push_back(sizeof(scalar_t)); });
            AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(at::kHalf, at::kBFloat16, type, "g", [&] { sizes.push_back(sizeof(scalar_t)); });
          }
          AT_DISPATCH_REDUCED_FLOATING_TYPES(at::kBFloat16, "h", [&] { sizes.push_back(sizeof(scalar_t)); });
          AT_DISPATCH_COMPLEX_TYPES(at::kComplexFloat, "i", [&] { sizes.push_back(sizeof(scalar_t)); });
          return sizes;
        }""",
    ),
    "halves": (
        "x",
        """std::vector<torch::Tensor> halves(torch::Tensor x) {
          auto h = x.to(at::kHalf).contiguous(), b = x.to(at::kBFloat16).contiguous(), c = x.to(at::kComplexFloat).contiguous();
          for (int64_t k = 0; k < h.numel(); ++k) {
            h.data_ptr<at::Half>()[k] = h.data_ptr<c10::Half>()[k] * 2 + at::Half(1);
            b.data_ptr<at::BFloat16>()[k] += c10::BFloat16(0.5f);
            c.data_ptr<c10::complex<float>>()[k] *= c10::complex<float>(0, 1);
          }
          return {h, b, c};
        }""",
    ),
    "limits_of_numbers": (
        "",
        """
        #include <c10/util/complex.h>
        std::vector<double> limits_of_numbers() {
          c10::complex<double> z(1, 2), root = std::sqrt(z), e = std::exp(z);
          return {(double)std::numeric_limits<c10::complex<float>>::max(), (double)std::numeric_limits<at::Half>::max(), (double)std::numeric_limits<at::BFloat16>::lowest(),
                  (double)std::isnan(c10::complex<float>(NAN, 1)), std::abs(z), root.real(), root.imag(), e.real(), std::norm(z), (z * z / 3.0).imag()};
        }""",
    ),
    # Checks and exceptions.
    "checks": ("x", 'void checks(torch::Tensor x) { TORCH_CHECK(x.dim() == 1, "sizes ", x.sizes(), " dtype ", x.dtype(), " ", x.scalar_type(), " on ", x.device(), " ", 3, \' \', 2.5, true, std::string("s"), 1e10, 1.0f / 3, (size_t)7, at::kCPU, x.layout()); }'),
    "checks_without_text": ("x", "void checks_without_text(torch::Tensor x) { TORCH_CHECK(x.dim() == 1); }"),
    "checks_index": ("n", 'int64_t checks_index(int64_t n) { TORCH_CHECK_INDEX(n < 1, "index ", n); return n; }'),
    "checks_value": ("n", 'int64_t checks_value(int64_t n) { TORCH_CHECK_VALUE(n < 1, "value ", n); return n; }'),
    "checks_type": ("n", 'int64_t checks_type(int64_t n) { TORCH_CHECK_TYPE(n < 1, "type ", n); return n; }'),
    "checks_not_implemented": ("n", 'int64_t checks_not_implemented(int64_t n) { TORCH_CHECK_NOT_IMPLEMENTED(n < 1, "not ", n); return n; }'),
    "asserts": ("n", 'int64_t asserts(int64_t n) { TORCH_INTERNAL_ASSERT(n < 1); return n; }'),
    "asserts_with_text": ("n", 'int64_t asserts_with_text(int64_t n) { TORCH_INTERNAL_ASSERT(n < 1, "n is ", n); AT_ASSERT(n < 5); return n; }'),
    "errors": ("n", 'int64_t errors(int64_t n) { if (n > 0) { AT_ERROR("error ", n); } AT_ASSERTM(n == 0, "not ", n); return n; }'),
    "warns": ("n", 'int64_t warns(int64_t n) { TORCH_WARN("warned of ", n); return n; }'),
    "deterministic": ("", 'bool deterministic() { at::globalContext().alertNotDeterministic("deterministic"); return at::globalContext().deterministicAlgorithms(); }'),
    "catches": (
        "x",
        """std::string catches(torch::Tensor x) {
          std::string text;
          try { TORCH_CHECK(false, "inner ", 1); } catch (const std::exception& error) { text = std::string(error.what()).substr(0, 7); }
          try { x.sum(9); } catch (std::exception& error) { text += std::string(error.what()).substr(0, 22); }
          try { throw std::out_of_range("own"); } catch (const std::logic_error& error) { text += error.what(); }
          return text + c10::str(" str ", 2);
        }""",
    ),
    "checks_of_arguments": (
        "xyn",
        """
        #include <ATen/TensorUtils.h>
        int64_t checks_of_arguments(torch::Tensor x, torch::Tensor y, int64_t n) {
          at::TensorArg a{x, "x", 1}, b{y, "y", 2};
          torch::CheckedFrom c = "checks_of_arguments";
          torch::Tensor none;
          switch (n) {
            case 0: at::checkDim(c, a, 2); at::checkDim(c, b, 4); break;
            case 1: at::checkDim(c, x, "x", 1, 3); break;
            case 2: at::checkDimRange(c, a, 1, 2); break;
            case 3: at::checkSameDim(c, a, b); break;
            case 4: at::checkContiguous(c, a); break;
            case 5: at::checkAllContiguous(c, {a, b}); break;
            case 6: at::checkSize(c, a, x.sizes()); at::checkSize(c, b, {3, 4}); break;
            case 7: at::checkSize(c, a, 1, 4); break;
            case 8: at::checkNumel(c, a, 12); break;
            case 9: at::checkSameNumel(c, a, b); break;
            case 10: at::checkAllSameNumel(c, {a, b}); break;
            case 11: at::checkScalarType(c, a, at::kFloat); break;
            case 12: at::checkScalarTypes(c, a, {at::kFloat, at::kDouble}); break;
            case 13: at::checkSameGPU(c, a, b); break;
            case 14: at::checkAllSameGPU(c, {a, b}); break;
            case 15: at::checkSameType(c, a, b); break;
            case 16: at::checkAllSameType(c, {a, b}); break;
            case 17: at::checkSameSize(c, a, b); break;
            case 18: at::checkAllSameSize(c, {a, b}); break;
            case 19: at::checkDefined(c, a); at::checkDefined(c, at::TensorArg(none, "none", 3)); break;
            case 20: at::checkAllDefined(c, {a, b, {none, "none", 3}}); break;
            case 21: at::checkSameType(c, a, {none, "none", 3}); break;
            default: return a->dim() + (*b).dim() + a.pos;
          }
          return n;
        }""",
    ),
    "throws": (
        "n",
        """int64_t throws(int64_t n) {
          switch (n) {
            case 0: throw std::runtime_error("runtime");
            case 1: throw std::out_of_range("range");
            case 2: throw std::invalid_argument("argument");
            case 3: throw std::domain_error("domain");
            case 4: throw std::overflow_error("overflow");
            case 5: throw std::bad_alloc();
            case 6: throw 3;
            case 7: throw py::value_error("value");
            case 8: throw py::index_error("index");
            case 9: throw py::key_error("key");
            case 10: throw py::type_error("type");
            case 11: throw py::stop_iteration("stop");
            case 12: throw py::attribute_error("attribute");
            case 13: throw py::buffer_error("buffer");
            case 14: throw py::import_error("import");
            default: return n;
          }
        }""",
    ),
    # Arguments and results of Python.
    "integers": ("n", "std::tuple<int, int8_t, uint8_t, int16_t, uint16_t, uint32_t, uint64_t, long long> integers(int n) { return {n, (int8_t)n, (uint8_t)n, (int16_t)n, (uint16_t)n, (uint32_t)n, (uint64_t)n, n}; }"),
    "small_integer": ("n", "int small_integer(int8_t n) { return n; }"),
    "unsigned_integer": ("n", "uint64_t unsigned_integer(uint64_t n) { return n; }"),
    "number": ("n", "float number(float n) { return n; }"),
    "flag": ("n", "bool flag(bool n) { return n; }"),
    "text": ("n", 'std::string text(const std::string& n) { return n + "!"; }'),
    "optional_integer": ("n", "std::optional<int64_t> optional_integer(std::optional<int64_t> n) { return n; }"),
    "optional_tensor": ("n", "torch::Tensor optional_tensor(const torch::optional<torch::Tensor>& n) { return n.has_value() ? *n * 2 : torch::zeros({1}); }"),
    "optional_result": ("n", "c10::optional<torch::Tensor> optional_result(bool n) { if (n) return torch::ones({2}); return torch::nullopt; }"),
    "integer_list": ("n", "std::vector<int64_t> integer_list(std::vector<int64_t> n) { n.push_back(1); return n; }"),
    "number_list": ("n", "std::vector<double> number_list(const std::vector<double>& n) { return n; }"),
    "tensor_list": ("n", "torch::Tensor tensor_list(std::vector<torch::Tensor> n) { return torch::cat(n); }"),
    "nested_list": ("n", "std::vector<std::vector<int>> nested_list(std::vector<std::vector<int>> n) { return n; }"),
    "tuple": ("n", "std::tuple<int, std::string> tuple(std::tuple<int, std::string> n) { return n; }"),
    "pair": ("n", "std::pair<double, bool> pair(std::pair<double, bool> n) { return n; }"),
    "int_array_ref": ("n", "torch::Tensor int_array_ref(at::IntArrayRef n) { return torch::zeros(n); }"),
    "scalar": ("n", "torch::Tensor scalar(const at::Scalar& n) { return torch::full({2}, n); }"),
    "scalar_result": ("n", "at::Scalar scalar_result(at::Scalar n) { return n; }"),
    "dtype_argument": ("n", "torch::Tensor dtype_argument(torch::ScalarType n) { return torch::zeros({2}, n); }"),
    "device_argument": ("n", "std::string device_argument(torch::Device n) { return n.str(); }"),
    "nothing": ("", "void nothing() {}"),
    "gil": ("n", "int64_t gil(int64_t n) { py::gil_scoped_release release; { py::gil_scoped_acquire acquire; } return n; }"),
}

# Of each kind of name one or two, with few ops: torch's own headers take g++ seconds for these.
SLICE = (
    "facts size_of undefined dtype_names device_texts old_type_as_options grad_mode elements accessors operators in_place lists "
    "options checks_index throws text optional_tensor nested_list scalar"
).split()

# Ops, and calls of them (o) with x, a tensor.
OPS = (pathlib.Path(__file__).parent / "ops.cpp").read_text(encoding="utf-8")
OP_CALLS = """
o.scaled(x, 2.5)
o.scaled(x, 2, n=3)
o.scaled(x, 2, -1)
o.scaled(x, 2, 9)
o.scaled(x.to("meta"), 2)
o.scaled(x.requires_grad_(), 2)
o.both(x, None)
o.both(x, x * 2)
o.both(x)
o.joined([x, x], "abc", [1, 2])
o.joined([], "", [])
(o.grow(x), x)
o.count(x)
o.count("a")
o.count(x.to("meta"))
o.extra(x)
o.extra(x.clone().requires_grad_())
torch.func.vmap(o.extra)(torch.ones(2, 3))
o.parts(x, 2)
o.parts(x, 1.5, torch.float64)
o.parts(x, True, None, False)
(lambda y: torch.autograd.grad(o.extra(y).sum() + o.both(y, y)[1].sum(), y))(torch.ones(3, requires_grad=True))
""".strip().split("\n")
