# SPDX-License-Identifier: Apache-2.0
"""The two files as a package's setup.py builds them."""

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="my_ops",
    ext_modules=[CUDAExtension("my_ops", ["binding.cpp", "add.cu"])],
    cmdclass={"build_ext": BuildExtension.with_options(no_python_abi_suffix=True)},
)
