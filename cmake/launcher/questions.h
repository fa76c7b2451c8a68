// SPDX-License-Identifier: Apache-2.0
// What a compile depends on and no dependency file names: files that the assembler reads by itself,
// and files that
// __has_include was asked for in vain.

#pragma once

#include "header_search.h"

namespace cudaops {

// Why an object must not be kept; empty where it may. <present> are headers that the compiler
// itself has. Of one that it lacks the launcher sees where a file of that name has come
// (HeaderSearch::shadows), and the toolkit's is found where it was read. Any other mention of
// __has_include counts, however the question is put: a macro's name, a comment or a line's end may
// stand in it.
std::string why_unfit(const HeaderSearch& search, const Words& absent, const Words& present);

// The line without the questions that have the same answer everywhere; what is left of them counts.
std::string without_known_questions(std::string line, const Words& names);

// Whether the text makes the assembler read a file.
bool reads_by_assembler(std::string_view text);

}  // namespace cudaops
