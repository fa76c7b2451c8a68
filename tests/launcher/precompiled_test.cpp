// SPDX-License-Identifier: Apache-2.0

#include "precompiled.h"

#include <gtest/gtest.h>

namespace cudaops {
namespace {

TEST(PythonFirst, and_torch_next) {
  const std::string torch = "#include <torch/csrc/stable/library.h>\n";
  EXPECT_TRUE(python_first("#include <Python.h>\n" + torch));
  EXPECT_TRUE(python_first("// x\n/* a\n b */ # include \"Python.h\" // y\r\n\n/* c */" + torch +
                           "int x;"));
  EXPECT_FALSE(python_first(torch));
  EXPECT_FALSE(python_first(""));
  EXPECT_FALSE(python_first("#include <Python.h>\n"));
  EXPECT_FALSE(python_first("#include <Python.h>\nint x;\n" + torch));
  EXPECT_FALSE(python_first("#define X\n#include <Python.h>\n" + torch));
  EXPECT_FALSE(python_first("// goes on \\\n#include <Python.h>\n" + torch));
  EXPECT_FALSE(python_first("/* #include <Python.h>\n" + torch));
  EXPECT_FALSE(python_first("#include <Python.h> int x;\n" + torch));
  EXPECT_FALSE(python_first("#include <Python.hpp>\n" + torch));
}

}  // namespace
}  // namespace cudaops
