"""Writes tiny wheels: wheels.py <dir> <name>==<version> ..."""

import sys
import zipfile

TOOLKIT = ["bin/nvcc", "bin/ptxas", "nvvm/bin/cicc", "include/cuda_runtime.h", "lib/libcudart_static.a"]


def write(directory, name, version, files, requires=()):
    info = "%s-%s.dist-info" % (name, version)
    with zipfile.ZipFile("%s/%s-%s-py3-none-any.whl" % (directory, name, version), "w") as wheel:
        for path, text in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o100755 << 16
            wheel.writestr(entry, text)
        metadata = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version)
        metadata += "".join("Requires-Dist: %s\nProvides-Extra: %s\n" % pair for pair in requires)
        wheel.writestr(info + "/METADATA", metadata)
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        if name == "torch":
            wheel.writestr(info + "/entry_points.txt", "[console_scripts]\ntool = torch.version:tool\n")
        wheel.writestr(info + "/RECORD", "")


directory = sys.argv[1]
for name, version in (argument.split("==") for argument in sys.argv[2:]):
    if name == "torch":
        text = "__version__ = '%s+cu132'\ndef tool(): print('tool of', __version__)\n" % version
        write(directory, name, version, {"torch/__init__.py": "", "torch/version.py": text})
    elif name == "cuda_toolkit":
        requires = [("nvidia-cuda-%s; extra == '%s'" % (piece, extra), extra)
                    for piece, extra in (("nvcc", "nvcc"), ("cccl", "cccl"), ("runtime", "cudart"))]
        write(directory, name, version, {}, requires)
    elif name == "nvidia_cuda_nvcc":
        write(directory, name, version, {"nvidia/cu13/" + path: "#!/bin/sh\n" for path in TOOLKIT})
    else:
        write(directory, name, version, {name + "/__init__.py": ""})
