// SPDX-License-Identifier: Apache-2.0
//
// Private: the body of the source that is added to every op. It writes the provenance of the
// library into an ELF note, and prints a message when a second copy of the same op is loaded into
// the process. What torch does then depends on the headers that the op was built with: with 2.10's
// the second copy replaces the first without a message, with later ones the process ends.
//
// The including source defines
//   CUDAOPS_NOTE_BYTES       the JSON text as operands of .byte, so that no quoting can go wrong
//   CUDAOPS_NOTE_SIZE        its number of bytes
//   CUDAOPS_NOTE_KEY_SIZE    number of bytes of the part with project and op, at its beginning
//   CUDAOPS_NOTE_OP          name of the op, as a string

#if defined(__ELF__) && defined(__linux__)

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// An allocated SHT_NOTE section gets a PT_NOTE segment and is no candidate for --gc-sections.
#define CUDAOPS_NOTE_STRING(x) #x
#define CUDAOPS_NOTE_NUMBER(x) CUDAOPS_NOTE_STRING(x)
__asm__(
    ".pushsection .note.cudaops,\"a\",%note\n"
    ".balign 4\n"
    ".4byte 8\n"
    ".4byte " CUDAOPS_NOTE_NUMBER(CUDAOPS_NOTE_SIZE) "\n"
    ".4byte 1\n"
    ".asciz \"CudaOps\"\n"
    ".byte " CUDAOPS_NOTE_BYTES "\n"
    ".balign 4\n"
    ".popsection\n");

namespace {

struct Note {
  const char* text;
  size_t size;
};

// True where [begin, begin + size) is mapped and readable: objcopy can leave a PT_NOTE that no
// PT_LOAD covers.
bool is_mapped(const dl_phdr_info& object, uintptr_t begin, size_t size) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const uintptr_t first = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 && begin >= first &&
        size <= segment.p_memsz && begin - first <= segment.p_memsz - size) {
      return true;
    }
  }
  return false;
}

Note find_note(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_NOTE || !is_mapped(object, begin, segment.p_memsz)) {
      continue;
    }
    const char* const base = reinterpret_cast<const char*>(begin);
    const size_t align = segment.p_align == 8 ? 8 : 4;
    size_t at = 0;
    while (segment.p_memsz - at >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) head;
      memcpy(&head, base + at, sizeof(head));
      const size_t text = (at + sizeof(head) + head.n_namesz + align - 1) / align * align;
      const size_t next = (text + head.n_descsz + align - 1) / align * align;
      if (text + head.n_descsz > segment.p_memsz) {
        break;
      }
      if (head.n_type == 1 && head.n_namesz == 8 &&
          memcmp(base + at + sizeof(head), "CudaOps", 8) == 0) {
        return Note{base + text, head.n_descsz};
      }
      if (next > segment.p_memsz) {
        break;
      }
      at = next;
    }
  }
  return Note{nullptr, 0};
}

struct Search {
  Note own;
  const char* own_file;
  const char* first_file;
};

int find_own(dl_phdr_info* object, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  // This object is the one whose mapping holds this function.
  if (!is_mapped(*object, reinterpret_cast<uintptr_t>(&find_own), 1)) {
    return 0;
  }
  search.own = find_note(*object);
  search.own_file = object->dlpi_name;
  return 1;
}

// Objects come in the order in which they were loaded, so only the later copy complains.
int find_first(dl_phdr_info* object, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  const Note note = find_note(*object);
  if (note.text == search.own.text) {
    return 1;
  }
  if (note.size >= CUDAOPS_NOTE_KEY_SIZE &&
      memcmp(note.text, search.own.text, CUDAOPS_NOTE_KEY_SIZE) == 0) {
    search.first_file = object->dlpi_name;
    return 1;
  }
  return 0;
}

// Before the static objects of this library, in which torch registers the operators.
__attribute__((constructor(101))) void refuse_second_copy() {
  Search search = {{nullptr, 0}, nullptr, nullptr};
  dl_iterate_phdr(find_own, &search);
  if (search.own.text == nullptr || search.own.size < CUDAOPS_NOTE_KEY_SIZE) {
    return;  // The note was stripped from the file.
  }
  dl_iterate_phdr(find_first, &search);
  if (search.first_file != nullptr) {
    fprintf(stderr,
            "CudaOps: op " CUDAOPS_NOTE_OP
            " is loaded already from %s, and its second copy %s registers the same operators "
            "again, which replaces them or ends the process: load only one of the two.\n",
            search.first_file[0] == '\0' ? "the program itself" : search.first_file,
            search.own_file[0] == '\0' ? "in the program itself" : search.own_file);
  }
}

}  // namespace

#endif
