# SPDX-License-Identifier: Apache-2.0
"""The kernels of a file with device code: a library, a program, an object file, a cubin or a code object."""

from ..problem import Problem
from . import code_object, cubin
from .elf import ET_REL, Elf, File, Memory, NotReadable
from .fatbin import cuda_images
from .hip_bundles import EM_AMDGPU, HIP_MACHINES, hip_images
from .unpack import OutOfReach, cuda_image

NOT_LINKED = "%s: not linked yet (%s)"
WANTED = "a library, a program or an object file with device code, or a .cubin"
AGAIN = "build or copy again what is damaged; what a newer compiler has built takes a newer CudaOps"


def read_library(path, notes, not_linked=None):
    """The kernels of a library's device code, or of a cubin or code object. Raises Problem.

    What has no figures is said in `notes`; what is to be linked yet in `not_linked`, by architecture, where that is given.
    """
    found, without, unread = [], {}, []
    elf = None
    try:
        with File(path) as file:
            elf = Elf(file)
            sections = list(elf.sections())
            if not sections:
                notes.append("its table of sections, by which device code is found, was stripped off")
            if elf.machine == cubin.EM_CUDA:
                if elf.type == ET_REL:
                    notes.append(NOT_LINKED % (cubin.arch_of(elf), "-dc"))
                elif sections:
                    found += cubin.read_kernels(elf, cubin.arch_of(elf))
            elif elf.machine == EM_AMDGPU:
                found += code_object.read_kernels(elf, HIP_MACHINES.get(elf.flags & 0xFF, "gfx?"))
            for image in cuda_images(elf, sections, None):
                if image.kind == "cubin" and not image.relocatable:
                    if image.has_code:
                        found += cubin.read_kernels(Elf(Memory(file.path, cuda_image(file, image))), image.name)
                # nvcc's link step adds PTX without a kernel for the architectures of the link line.
                elif image.kind != "ptx" or b".entry" in cuda_image(file, image):
                    without[_why_without(image)] = image
            for image in hip_images(elf, sections, unread, None, whole=True):
                if image.relocatable or image.place.read(0, min(4, image.size), "device code") != b"\x7fELF":
                    without[_why_without(image)] = image
                elif image.has_code:
                    found += code_object.read_kernels(Elf(image.place), image.name)
    except NotReadable as error:
        raise Problem("", str(error), (), [AGAIN] if elf else [WANTED]) from None
    except OutOfReach:
        raise Problem("", "%s has more compressed device code than can be unpacked." % path) from None
    # What was linked separately stays in the file beside what became of it.
    linked = {kernel.arch for kernel in found}
    for text, image in sorted(without.items()):
        if not image.relocatable:
            notes.append(text)
        elif image.name not in linked:
            if not_linked is None:
                notes.append(text)
            else:
                not_linked[image.name] = text
    notes += unread
    return found


def _why_without(image):
    if image.kind == "ptx":
        return "%s: PTX, which the driver compiles when the library is loaded" % image.name
    if image.kind == "lto":
        return "%s: compiled when it is linked (-dlto)" % image.name
    if image.kind == "hip" and not image.relocatable:
        return "%s: no code object, which the driver compiles when the library is loaded" % image.name
    return NOT_LINKED % (image.name, "-fgpu-rdc" if image.kind == "hip" else "-dc")
