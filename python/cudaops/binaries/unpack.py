# SPDX-License-Identifier: Apache-2.0
"""Reads what is compressed in device code: bundles of HIP as far as their headers, images of CUDA as a whole.

zstd is Python's own from 3.14 on, before that the system's libzstd by ctypes. Builds run it in a Python without packages,
so the package zstandard could replace neither.
"""

import struct

from .elf import NotReadable, find_library
from .fatbin import FATBIN_LZ4, FATBIN_ZSTD, bad_fatbin

COMPRESSED_HEADERS = {1: struct.Struct("<8xIQ"), 2: struct.Struct("<8xIIQ"), 3: struct.Struct("<8xQQQ")}
MAX_BUNDLE_HEADER = 1 << 16
# How far into a compressed bundle code objects are looked into where only their headers matter, and what may be unpacked of a file beyond the headers.
MAX_REACH = 1 << 20
# Of one image; a damaged size field must not make us allocate what it says.
MAX_IMAGE = 1 << 30


def cuda_image(file, image):
    """The content of an image of CUDA: a cubin, or PTX. Raises NotReadable."""
    offset, size, original_size, flags = image.place
    data = file.read(offset, size, "device code")
    if not original_size:
        return data
    if original_size > MAX_IMAGE:
        raise _bad_packed(file.path, "its header claims %d bytes" % original_size)
    if flags & FATBIN_ZSTD:
        decoder = make_decoder(1)
        if decoder is None:
            raise NotReadable(
                "%s: its device code for %s is compressed with zstd, which takes Python 3.14 or libzstd.so.1 to read."
                % (file.path, image.name)
            )
        try:
            data = decoder.step(data, original_size)
        except Exception as error:  # each decoder has exceptions of its own
            raise _bad_packed(file.path, error) from None
    elif flags & FATBIN_LZ4:
        try:
            data = lz4_block(data)
        except IndexError:
            raise _bad_packed(file.path, "it ends too early") from None
    else:
        raise NotReadable(
            "%s: its device code for %s is packed in a way that isn't known (flags 0x%x), perhaps by a newer nvcc; "
            "-Xfatbin -no-compress leaves it plain." % (file.path, image.name, flags)
        )
    if len(data) != original_size:
        raise _bad_packed(file.path, "%d bytes come out where its header says %d" % (len(data), original_size))
    return data


def lz4_block(data):
    """https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md"""
    out = bytearray()
    at, end = 0, len(data)

    def length_of(bits):
        nonlocal at
        length, more = bits, 255 * (bits == 15)
        while more == 255:
            more = data[at]
            at += 1
            length += more
        return length

    while True:
        token = data[at]
        at += 1
        length = length_of(token >> 4)
        out += data[at : at + length]
        at += length
        if at >= end:
            return bytes(out)
        distance = data[at] | data[at + 1] << 8
        at += 2
        length = length_of(token & 15) + 4
        if not 0 < distance <= len(out):
            raise IndexError
        begin = len(out) - distance
        if length <= distance:
            out += out[begin : begin + length]
        else:
            out += (out[begin:] * (length // distance + 1))[:length]


class Budget:
    def __init__(self, left):
        self.left = left


class OutOfReach(Exception):
    """A place in compressed code that isn't worth unpacking all that stands before it."""


def unpack(file, at, end, budget, unread, reach=MAX_REACH):
    """(reader of a compressed bundle, where the next one begins); None each where that can't be known."""
    if end - at < 8:
        raise bad_fatbin(file)
    version, method = struct.unpack("<4xHH", file.read(at, 8, "device code"))
    header = COMPRESSED_HEADERS.get(version)
    if header is None:
        unread.append("its HIP device code is compressed in a form that isn't known (version %d)" % version)
        return None, None
    if end - at < header.size:
        raise bad_fatbin(file)
    fields = header.unpack(file.read(at, header.size, "device code"))
    following = None
    if version > 1:
        if not header.size <= fields[0] <= end - at:
            raise bad_fatbin(file)
        following = end = at + fields[0]
    decoder = make_decoder(method)
    if decoder is None:
        known = {1: "zstd, which takes Python 3.14 or libzstd.so.1 to read"}
        text = "its HIP device code is compressed with " + known.get(method, "a method that isn't known (%d)" % method)
        if text not in unread:
            unread.append(text)
        return None, following
    return _Unpacked(file, at + header.size, end, fields[-2], decoder, budget, reach), following


class _Unpacked:
    """Reads at positions of what a compressed bundle holds, for as long as they are near its beginning."""

    def __init__(self, file, at, end, size, decoder, budget, reach):
        self.path = file.path
        self.size = size
        self._file = file
        self._at = at
        self._end = end
        self._decoder = decoder
        self._budget = budget
        self._reach = reach
        self._data = bytearray()
        self._step = 4096

    def read(self, offset, size, what):
        last = offset + size
        if last > self.size:
            raise NotReadable("%s is damaged: its %s lies beyond its end." % (self.path, what))
        if last > max(len(self._data), MAX_BUNDLE_HEADER):
            if last > self._reach or self._budget.left <= 0:
                raise OutOfReach
            self._budget.left -= last - len(self._data)
        while len(self._data) < last:
            self._data += self._more()
        return bytes(self._data[offset:last])

    def find_end(self):
        """Where the compressed data ends in the file; None where that would take too long."""
        done = len(self._data)
        while not self._decoder.eof:
            if self._budget.left <= 0:
                return None
            part = len(self._more())
            self._budget.left -= part
            done += part
            if done > self.size:
                raise _bad_packed(self.path, "there is more than its header says")
        return self._at - len(self._decoder.rest)

    def _more(self):
        if self._decoder.eof:
            raise _bad_packed(self.path, "it ends too early")
        block = b""
        if not self._decoder.rest:
            block = self._file.read(self._at, min(self._step, self._end - self._at), "device code")
            self._at += len(block)
            self._step = min(2 * self._step, 65536)
        try:
            result = self._decoder.step(block, 16384)
        except Exception as error:  # each decoder has exceptions of its own
            raise _bad_packed(self.path, error) from None
        if not result and not block and not self._decoder.eof:
            raise _bad_packed(self.path, "it ends too early")
        return result


def _bad_packed(path, why):
    return NotReadable("%s is damaged: its compressed device code can't be unpacked (%s)." % (path, why))


def make_decoder(method):
    """Takes compressed bytes piece by piece: step(bytes, most bytes to give back), rest (not yet used), eof."""
    if method == 0:
        return _Zlib()
    if method == 1:
        try:
            from compression import zstd
        except ImportError:
            return system_zstd()
        return _Zstd(zstd)
    return None


class _Zlib:
    def __init__(self):
        import zlib

        self._object = zlib.decompressobj()
        self.rest = b""
        self.eof = False

    def step(self, block, most):
        result = self._object.decompress(self.rest + block, most)
        self.eof = self._object.eof
        self.rest = self._object.unused_data if self.eof else self._object.unconsumed_tail
        return result


class _Zstd:
    """Python's own, since 3.14."""

    def __init__(self, module):
        self._object = module.ZstdDecompressor()
        self.rest = b""
        self.eof = False

    def step(self, block, most):
        result = self._object.decompress(block, most)
        self.eof = self._object.eof
        # What it keeps for the next call is its own affair; that there is something is ours.
        self.rest = self._object.unused_data if self.eof else b"" if self._object.needs_input else b"?"
        return result


def system_zstd():
    """A decoder by the library that nearly every Linux has; None where it isn't there."""
    try:
        import ctypes

        # The copy that other libraries of this Python's environment would load: it stays in the process.
        library = ctypes.CDLL(find_library("libzstd.so.1", "", "") or "libzstd.so.1")

        class Buffer(ctypes.Structure):
            _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]

        library.ZSTD_createDStream.restype = ctypes.c_void_p
        library.ZSTD_freeDStream.argtypes = [ctypes.c_void_p]
        library.ZSTD_decompressStream.restype = ctypes.c_size_t
        library.ZSTD_decompressStream.argtypes = [ctypes.c_void_p, ctypes.POINTER(Buffer), ctypes.POINTER(Buffer)]
        library.ZSTD_isError.argtypes = [ctypes.c_size_t]
        library.ZSTD_getErrorName.argtypes = [ctypes.c_size_t]
        library.ZSTD_getErrorName.restype = ctypes.c_char_p
    except (ImportError, OSError, AttributeError):
        return None

    class Decoder:
        def __init__(self):
            self._stream = library.ZSTD_createDStream()
            if not self._stream:
                raise MemoryError
            self.rest = b""
            self.eof = False

        def __del__(self):
            library.ZSTD_freeDStream(self._stream)

        def step(self, block, most):
            taken = self.rest + block
            given = ctypes.create_string_buffer(most)
            source = Buffer(ctypes.cast(ctypes.c_char_p(taken), ctypes.c_void_p), len(taken), 0)
            target = Buffer(ctypes.cast(given, ctypes.c_void_p), most, 0)
            code = library.ZSTD_decompressStream(self._stream, ctypes.byref(target), ctypes.byref(source))
            if library.ZSTD_isError(code):
                raise ValueError(library.ZSTD_getErrorName(code).decode())
            self.eof = code == 0
            self.rest = taken[source.at :]
            return given.raw[: target.at]

    return Decoder()
