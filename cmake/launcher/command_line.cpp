// SPDX-License-Identifier: Apache-2.0

#include "command_line.h"

#include "files.h"

namespace cudaops {

namespace {

#define INCBIN "*[iI][nN][cC][bB][iI][nN]*"

// What makes another output than one object, or more than one, or takes input that no dependency
// file names.
const char refused[] =
    "- @* -M* -E -S -dc -dw -dlink -lto* -cubin -ptx -fatbin -optix-ir -ltoir -lib -link -run "
    "--generate-*dependencies* --device-[cw] --device-link --cubin --ptx --fatbin --optix-ir "
    "--ltoir --lib --link --run --preprocess -dryrun --dryrun -clean --clean-targets -n -### "
    "-keep* --keep* -time --time -time=* --time=* *save-temps* *time-trace* -odir* "
    "--output-directory* -ldir* --libdevice-directory* -target-dir* --target-directory* "
    "-use-local-env --use-local-env -noprof --dont-use-profile *-optf* *-options-file* *fprofile* "
    "*auto-profile* *-coverage* *ftest-coverage* *-fplugin* *-specs* *-wrapper* *-fdump-* "
    "*-fstack-usage* *-fcallgraph* *-gsplit-dwarf* *-fmodule* *-fopt-info* *-fsave-optimization* "
    "*-fsanitize-*list* -B* *[=,]-B* *[=,]@* *[=,]-M* *[=,]-o* *-aux-info* *-fcompare-debug* "
    "*-Wa,-a* *-Wp,* *-fembed-bitcode* *-idirafter* *-iprefix* *-iwithprefix* "
    "*link-builtin-bitcode* *vfsoverlay* --config* --ptxas-options*dump* -Xptxas*dump*";
// A source can have the word from there.
const char with_incbin[] =
    "-D" INCBIN " --define-macro" INCBIN " -Xcompiler" INCBIN " --compiler-options" INCBIN;
const char debug_options[] =
    "-g -g[0-9]* -gdb* -ggdb* -gdwarf* -gline* -gcolumn* -gstrict* -G --debug --device-debug "
    "-lineinfo --generate-line-info -src-in-ptx --source-in-ptx *[=,]-g *[=,]-g[0-9d]*";
const char native_options[] = "-march=* -mtune=* -mcpu=* -Xcompiler* --compiler-options*";
const char refused_flags[] =
    "-optf* --options-file* -ccbin* --compiler-bindir* *native* -M* --generate-*dep* -o "
    "--output-* -keep* --keep* *-save-temps* *time* -dc --device-c -ldir* --libdevice-directory* "
    "*plugin* *specs* *profile* *coverage* @* *[=,]@* -B* *[=,]-B* *-Wp,* *-idirafter* *-iprefix* "
    "*-iwithprefix* " INCBIN;
const char debug_flags[] =
    "-g -G --debug --device-debug -lineinfo --generate-line-info *,-g* *=-g*";
// Options with a value that is never made relative.
const char kept_values[] =
    "-D --define-macro -MT -MQ --dependency-target-name -ccbin --compiler-bindir";
const char path_options[] =
    "-isystem=/* --include-path=/* --system-include=/* -include=/* --pre-include=/* "
    "--output-file=/* --dependency-output=/*";
const char map_options[] = "-fmacro-prefix-map=/* -ffile-prefix-map=/* -fdebug-prefix-map=/*";
const char rocm_options[] =
    "--rocm-path=* --rocm-device-lib-path=* --hip-device-lib-path=* --hip-path=*";

const char levels_of_optimisation[] = "-O[0-3sgz]";
// Where these stand before or behind a level counts for clang; the level of -O may be the next
// word.
const char level_may_reach[] = "-O -Ofast -f*vectorize";
// What CMake puts before a build type's flags.
const char before_flags[] = "-D* -I* -isystem* -iquote* -ccbin=* -forward-unknown-to-host-compiler";
const char with_a_value[] =
    "-X* -D -U -I -o -MF -MT -MQ -mllvm -include -isystem -iquote --param -*-options "
    "--define-macro --undefine-macro";

bool is_one_of(const std::string& word, std::initializer_list<const char*> others) {
  for (const char* other : others) {
    if (word == other) return true;
  }
  return false;
}

std::string value_of(const std::string& word) { return word.substr(word.find('=') + 1); }

}  // namespace

std::string why_not_flags(const std::string& flags, bool& debug) {
  // In quotes they are no words of a shell's.
  if (flags.find_first_of("\"'\\") != std::string::npos) {
    for (const char* pattern : {"*-I*", "*include*", "*isystem*", "*-iquote*", "*@*"}) {
      if (matches(pattern, flags))
        return "quoted places in NVCC_PREPEND_FLAGS or NVCC_APPEND_FLAGS";
    }
  }
  for (const std::string& word : split_blanks(flags)) {
    if (matches_any(refused_flags, word)) return word + " in the environment";
    if (matches_any(debug_flags, word)) debug = true;
  }
  return "";
}

static bool read_option_file(const std::string& path, Words& words) {
  std::string text;
  if (!read_file(path, text)) return false;
  std::string word;
  bool in_word = false, quoted = false;
  for (char c : text) {
    // All that a shell would see more in than a letter; letters outside ASCII are none of it.
    if (holds("#$&'()*;<>?\\^`{|}~!", std::string_view(&c, 1)) ||
        (static_cast<unsigned char>(c) < ' ' && c != '\n') || c == 127) {
      return false;
    }
    if (c == '"') {
      quoted = !quoted;
      in_word = true;
    } else if ((c == ' ' || c == '\n') && !quoted) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c == '\n' ? ' ' : c;
      in_word = true;
    }
  }
  if (quoted) return false;
  if (in_word) words.push_back(std::move(word));
  return !holds(text, "-optf") && !holds(text, "-options-file");
}

bool expand_option_files(const Words& words, Words& expanded) {
  std::string option;
  for (const std::string& word : words) {
    if (option.empty() && (word == "-optf" || word == "--options-file")) {
      option = word;
    } else if (!option.empty() || begins(word, "-optf=") || begins(word, "--options-file=")) {
      if (!read_option_file(option.empty() ? value_of(word) : word, expanded)) return false;
      option.clear();
    } else {
      expanded.push_back(word);
    }
  }
  return option.empty();
}

Compile read_command(const Words& given) {
  Compile compile;
  bool files = false;
  for (const std::string& word : given) {
    files = files || holds(word, "-optf") || holds(word, "--options-file");
  }
  compile.words = given;
  if (files) {
    compile.words.clear();
    compile.why_not = "an option file";
    if (!expand_option_files(given, compile.words)) return compile;
  }
  bool compiles = false, with_depfile = false;
  std::string previous;
  for (const std::string& word : compile.words) {
    if (is_one_of(previous, {"-D", "--define-macro", "-U", "--undefine-macro", "-MT", "-MQ",
                             "--dependency-target-name"})) {
      if ((previous[1] == 'D' || previous[1] == '-') && matches(INCBIN, word)) {
        compile.why_not = previous + " " + word;
        return compile;
      }
      previous.clear();
      continue;
    }
    if (previous == "-o" || previous == "--output-file") compile.object = word;
    if (previous == "-MF" || previous == "--dependency-output") compile.depfile = word;
    if (previous == "-ccbin" || previous == "--compiler-bindir") compile.host = word;
    std::string before = previous;
    previous = word;
    if (word == "-c" || word == "--compile") {
      compiles = true;
    } else if (matches_any(with_incbin, word)) {
      compile.why_not = word;
      return compile;
    } else if (begins(word, "-D") || begins(word, "--define-macro") || begins(word, "-I") ||
               begins(word, "--include-path")) {
    } else if (matches_any(rocm_options, word)) {
      compile.rocm += "|" + word;
    } else if (word == "-MD" || word == "--generate-dependencies-with-compile") {
      with_depfile = true;
    } else if (is_one_of(word, {"-MP", "-MT", "-MQ", "-MF", "--dependency-output",
                                "--dependency-target-name", "--generate-dependency-targets"})) {
    } else if (begins(word, "--output-file=")) {
      compile.object = value_of(word);
    } else if (begins(word, "--dependency-output=")) {
      compile.depfile = value_of(word);
    } else if (begins(word, "-ccbin=") || begins(word, "--compiler-bindir=")) {
      compile.host = value_of(word);
    } else if (matches_any(refused, word)) {
      compile.why_not = word;
      return compile;
    } else if (word == "-g0") {
    } else if (matches_any(debug_options, word)) {
      compile.debug = true;
    } else if (matches("*[=,]native*", word)) {
      if (!matches_any(native_options, word)) {
        compile.why_not = word;
        return compile;
      }
      compile.native = true;
    } else if (word == "native") {
      compile.why_not = before + " " + word;
      return compile;
    }
  }
  compile.why_not.clear();
  if (!compiles || !with_depfile || compile.object.empty() || compile.depfile.empty()) {
    compile.why_not = "not a compile of one object with its dependency file";
  }
  return compile;
}

Words with_build_type_in_place(const Words& words) {
  std::string level, previous;
  Words rest;
  int levels = 0, definitions = 0;
  for (const std::string& word : words) {
    const bool is_level = matches_any(levels_of_optimisation, word);
    const bool is_definition = word == "-DNDEBUG";
    const bool is_other =
        (!is_definition && holds(word, "NDEBUG")) || matches_any(level_may_reach, word);
    if (is_other || ((is_level || is_definition) && matches_any(with_a_value, previous)))
      return words;
    previous = word;
    levels += is_level;
    definitions += is_definition;
    if (is_level) level = word;
    if (!is_level && !is_definition) rest.push_back(word);
  }
  if (levels != 1 || definitions != 1) return words;
  // Behind the definitions and the include directories.
  size_t place = 0;
  while (place < rest.size() && matches_any(before_flags, rest[place])) {
    place += is_one_of(rest[place], {"-D", "-I", "-isystem", "-iquote"}) ? 2 : 1;
  }
  rest.insert(rest.begin() + (place < rest.size() ? place : rest.size()), {level, "-DNDEBUG"});
  return rest;
}

bool Places::relative(const std::string& path, std::string& name) const {
  for (const Place& place : places) {
    if (!begins(path, place.directory)) continue;
    if (path.size() == place.directory.size()) {
      name = up + place.name;
      if (place.name.empty() && up.empty()) name = ".";
      return true;
    }
    if (path[place.directory.size()] != '/') continue;
    name = up + place.name + path.substr(place.directory.size() + (place.name.empty() ? 1 : 0));
    return true;
  }
  return false;
}

Words Places::relative_words(const Words& words, std::string& key) const {
  Words result;
  std::string previous, name;
  for (const std::string& word : words) {
    std::string now = word;
    // The option, if its value may be a path to make relative.
    const char* joined = nullptr;
    if (begins(word, "/")) {
      if (!matches_any(kept_values, previous)) joined = "";
    } else if (begins(word, "-I/")) {
      joined = "-I";
    } else if (begins(word, "-isystem/")) {
      joined = "-isystem";
    } else if (begins(word, "-iquote/")) {
      joined = "-iquote";
    }
    if (joined) {
      if (relative(word.substr(std::string_view(joined).size()), name)) now = joined + name;
    } else if (matches_any(path_options, word)) {
      if (relative(value_of(word), name)) now = word.substr(0, word.find('=') + 1) + name;
    } else if (matches_any(map_options, word)) {
      std::string map = value_of(word);
      if (relative(map.substr(0, map.find('=')), name)) {
        // Nothing is left of the directory itself; an empty name would match everything.
        if (name.empty()) continue;
        now = word.substr(0, word.find('=') + 1) + name + "=" + value_of(map);
      }
      key += "|" + now;
    }
    previous = now;
    result.push_back(std::move(now));
  }
  return result;
}

}  // namespace cudaops
