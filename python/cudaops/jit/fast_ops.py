# SPDX-License-Identifier: Apache-2.0
"""Declarations of ATen's ops for the fast headers, from the headers of the torch that is there.

torch's own are one line each that hands its arguments to the dispatcher: `return at::_ops::add_Tensor::call(self, other,
alpha);` below a comment with the op's schema. What is written here keeps their signatures, default values and order of
arguments, and hands them to the bridge. An overload whose line is another one, or has types that the fast headers don't
know, is left out: a text that needs it doesn't compile and gets torch's headers.
"""

import os
import re

_DEFINITION = re.compile(
    r"^// aten::(?P<name>\w+)(?:\.(?P<overload>\w+))?\([^\n]*\n"
    r"inline (?P<result>[^\n()]+?) (?P<method>Tensor::)?(?P<function>\w+)\((?P<parameters>[^\n]*)\)(?: const)? \{\n"
    r"\s*(?:return )?at::_ops::\w+::call\((?P<arguments>[^\n]*)\);\n\}",
    re.MULTILINE,
)
_DECLARATION = re.compile(r"^  [\w:<> ,&]+? (?P<function>\w+)\((?P<parameters>[^\n]*)\) const;$", re.MULTILINE)
_FACTORY = re.compile(
    r"^inline at::Tensor (?P<function>\w+)\((?P<parameters>[^\n]*)\) \{\n"
    r"  at::AutoDispatchBelowADInplaceOrView guard;\n"
    r"  return autograd::make_variable\(at::(?P<op>\w+)\((?P<arguments>[^\n]*)\), /\*requires_grad=\*/options\.requires_grad\(\)\);\n\}",
    re.MULTILINE,
)
_OPTIONAL = re.compile(r"^(?:const )?::std::optional<(.*)>(?: &)?$")
_PLAIN = frozenset(
    (
        "at::Tensor,at::Scalar,int64_t,double,bool,at::ScalarType,at::Layout,at::Device,at::MemoryFormat,at::IntArrayRef,"
        "at::OptionalIntArrayRef,c10::string_view,::std::string_view,at::ArrayRef<double>,at::TensorList,at::ITensorListRef,"
        "at::TensorOptions"
    ).split(",")
)
_RESULTS = re.compile(
    r"^(at::Tensor|at::Scalar|bool|int64_t|double|void|at::ScalarType|::std::vector<at::Tensor>|::std::tuple<(at::Tensor,?)+>)$"
)
# Of the arguments in torch's line, what is another way to write a parameter.
_SIZES = re.compile(r"^c10::fromIntArrayRefSlow\((\w+)\)$")
_OPTIONAL_SIZES = re.compile(r"^(\w+)\.has_value\(\) \? ::std::make_optional\(c10::fromIntArrayRefSlow\(\*\1\)\) : ::std::nullopt$")
_OPTIONAL_SIZE = re.compile(r"^(\w+)\.has_value\(\) \? ::std::make_optional\(c10::SymInt\(\*\1\)\) : ::std::nullopt$")
_OPTIONS = re.compile(
    r"^(c10::optTypeMetaToScalarType\(options\.dtype_opt\(\)\)|options\.(layout|device|pinned_memory)_opt\(\)|"
    r"c10::impl::check_tensor_options_and_extract_memory_format\(options, memory_format\))$"
)
# Members that tensor.h has of its own.
_OWN_METHODS = frozenset("item data contiguous requires_grad_ size stride is_floating_point is_complex is_signed is_conj is_neg is_inference is_leaf get_device".split())

METHODS = "ATen/core/TensorBody.h"
FACTORIES = "torch/csrc/autograd/generated/variable_factories.h"


def split(text):
    """At the commas that are in no bracket."""
    parts, depth, part = [], 0, ""
    for character in text:
        if character in "(<{[":
            depth += 1
        elif character in ")>}]":
            depth -= 1
        if character == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += character
    return [*parts, part.strip()] if part.strip() or parts else []


def _parameter(text):
    """("const at::Tensor &", "other", "=default" or "")"""
    text, equals, default = text.partition("=")
    kind, _, name = text.strip().rpartition(" ")
    return kind.strip(), name, equals and "=" + default.strip()


def knows(kind):
    """Whether a parameter of this type can be handed on."""
    optional = _OPTIONAL.match(kind)
    if optional:
        return optional.group(1) == "at::Generator" or optional.group(1) in _PLAIN - {"at::TensorOptions", "at::OptionalIntArrayRef"}
    bare = re.sub(r"^const | &$", "", kind)
    return bare in _PLAIN and (not kind.endswith(" &") or kind.startswith("const ") or bare == "at::Tensor")


def _argument(text, names):
    """As it is handed to the bridge; None where the line does something that isn't known."""
    if text == "const_cast<Tensor&>(*this)":
        return "*this"
    for pattern in (_SIZES, _OPTIONAL_SIZES, _OPTIONAL_SIZE):
        found = pattern.match(text)
        if found:
            text = found.group(1)
    return text if text in names or _OPTIONS.match(text) else None


def translate(found, parameters):
    """(declaration, definition) of one function of torch's, handed to the bridge; None where that isn't known to be the same."""
    split_parameters = [_parameter(part) for part in parameters]
    if not all(knows(kind) for kind, _, _ in split_parameters):
        return None
    names = {name for _, name, _ in split_parameters}
    arguments = [_argument(part, names) for part in split(found.group("arguments"))]
    result = found.group("result")
    if None in arguments:
        return None
    call = "cudaops_fast::call<%%s>(op%s)" % "".join(", " + argument for argument in arguments)
    if result in ("at::Tensor &", "const at::Tensor &"):
        changed = [name for kind, name, _ in split_parameters if kind == "at::Tensor &"]
        if result.startswith("const "):
            changed = [name for kind, name, _ in split_parameters if kind == "const at::Tensor &"][:1]
        answer = "const_cast<at::Tensor&>(*this)" if found.group("method") else changed[0] if len(changed) == 1 else None
        if answer is None:
            return None
        body = "%s; return %s;" % (call % "void", answer)
    elif _RESULTS.match(result):
        body = "return %s;" % (call % result)
    else:
        return None
    constant = " const" if found.group("method") else ""
    head = "%s %s(%s)%s;" % (result, found.group("function"), ", ".join("%s %s%s" % part for part in split_parameters), constant)
    name = (found.group("method") or "") + found.group("function")
    op = 'static Op op{"aten::%s", "%s", nullptr};' % (found.group("name"), found.group("overload") or "")
    plain = ", ".join("%s %s" % part[:2] for part in split_parameters)
    return head, "inline %s %s(%s)%s { %s %s }" % (result, name, plain, constant, op, body)


class Ops:
    """Of the torch whose headers are in this directory."""

    def __init__(self, include):
        self.include = include
        self._texts = {}

    def _read(self, name):
        if name not in self._texts:
            try:
                with open(os.path.join(self.include, name), encoding="utf-8") as file:
                    self._texts[name] = file.read()
            except OSError:
                self._texts[name] = ""
        return self._texts[name]

    def header_of(self, function):
        """ATen/ops/add.h for add, add_ and add_out; None where there is no such op."""
        for name in (function, re.sub("_outf?$|_$", "", function)):
            header = "ATen/ops/%s.h" % name
            if os.path.isfile(os.path.join(self.include, header)):
                return header
        return None

    def functions(self, name):
        """[(declaration, definition)] of at::name, all overloads that can be had."""
        header = self.header_of(name)
        return [
            made
            for found in _DEFINITION.finditer(self._read(header) if header else "")
            if found.group("function") == name and not found.group("method")
            for made in [translate(found, split(found.group("parameters")))]
            if made
        ]

    def method_names(self):
        return set(re.findall(r"^inline [^\n()]* Tensor::(\w+)\(", self._read(METHODS), re.MULTILINE)) - _OWN_METHODS

    def methods(self, names):
        """[(declaration, definition)] of members of at::Tensor; torch has their default values in its class, what they do below it."""
        text = self._read(METHODS)
        wanted = set(names) - _OWN_METHODS
        declared = {}
        for found in _DECLARATION.finditer(text):
            if found.group("function") in wanted:
                parameters = split(found.group("parameters"))
                plain = tuple(_parameter(part)[:2] for part in parameters)
                declared[found.group("function"), plain] = parameters
        made = []
        for found in _DEFINITION.finditer(text):
            if found.group("method") and found.group("function") in wanted:
                plain = tuple(_parameter(part)[:2] for part in split(found.group("parameters")))
                parameters = declared.get((found.group("function"), plain))
                pair = translate(found, parameters) if parameters is not None else None
                if pair:
                    made.append(pair)
        return made

    def factories(self, name):
        """torch::name, where it isn't at::name: what makes variables."""
        made = []
        for found in _FACTORY.finditer(self._read(FACTORIES)):
            if found.group("function") == name and all(knows(_parameter(part)[0]) for part in split(found.group("parameters"))):
                made.append(found.group(0))
        return made

    def factory_names(self):
        return set(re.findall(r"^inline [\w:<>, ]*?\b(\w+)\(", self._read(FACTORIES), re.MULTILINE)) | {"tensor"}
