// SPDX-License-Identifier: Apache-2.0

#include "nvcc_plan.h"

#include "files.h"

namespace cudaops {

namespace {

std::string between(const std::string& line, size_t from, const char* ends_at) {
  return line.substr(from, line.find_first_of(ends_at, from) - from);
}

bool is_upper(char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

Plan::Arch* Plan::arch(const std::string& name) {
  for (Arch& arch : archs) {
    if (arch.name == name) return &arch;
  }
  return nullptr;
}

bool Plan::parse(const std::string& text) {
  struct Step {
    std::string arch, line;
  };
  std::vector<Step> steps;
  for (std::string line : split(text, '\n')) {
    if (line.empty()) continue;
    if (!begins(line, "#$ ")) return false;
    line.erase(0, 3);
    // With several threads, nvcc collects what each command says.
    if (matches("* > *_stdout 2>*_stderr", line)) line.resize(line.rfind(" > "));
    bool variable = false;
    for (const char* name :
         {"PATH=", "LD_LIBRARY_PATH=", "CICC_PATH=", "NVVMIR_LIBRARY_DIR=", "TOP="}) {
      variable = variable || begins(line, name);
    }
    size_t equals = line.find('=');
    if (variable) {
      variables.push_back(line);
    } else if (equals != std::string::npos && is_upper(line[0])) {
      for (size_t i = 0; i < equals; ++i) {
        if (!is_upper(line[i])) return false;
      }
    } else if (begins(line, "-- Filter Dependencies --") || begins(line, "rm ")) {
    } else if (matches("cudafe++ * --gen_module_id_file --module_id_file_name *", line) ||
               matches("* -E * -o \"" CUDAOPS_PLAN_DIRECTORY "/*.cpp4.ii\"*", line)) {
      host.push_back(line);
    } else if (matches("* -E * -o \"" CUDAOPS_PLAN_DIRECTORY "/*.compute_*.cpp1.ii\"*", line)) {
      archs.push_back({"compute_" + between(line, line.rfind(".compute_") + 9, "."), line, {}});
    } else if (matches("\"$CICC_PATH/cicc\" * -arch compute_* --module_id_file_name *", line)) {
      steps.push_back({between(line, line.rfind(" -arch ") + 7, " "), line});
    } else if (matches("ptxas *\"" CUDAOPS_PLAN_DIRECTORY "/*.compute_*.ptx\"*", line)) {
      size_t at = line.rfind(".compute_", line.rfind(".ptx\"")) + 9;
      steps.push_back({"compute_" + line.substr(at, line.find(".ptx\"", at) - at), line});
    } else if (matches("fatbinary * --embedded-fatbin=*", line) ||
               matches("* -c -x c++ * \"" CUDAOPS_PLAN_DIRECTORY
                       "/*.compute_*.cudafe1.cpp\" -o \"*",
                       line)) {
      end.push_back(line);
    } else {
      return false;
    }
  }
  for (Step& step : steps) {
    Arch* found = arch(step.arch);
    if (!found) return false;
    found->commands.push_back(std::move(step.line));
  }
  if (host.size() != 2 || end.size() != 2 || archs.empty()) return false;
  Words words;
  for (const Words* lines : {&host, &end}) {
    for (const std::string& line : *lines) {
      if (!split_command(line, variables, words)) return false;
    }
  }
  for (const Arch& arch : archs) {
    bool compiled = false;
    if (!split_command(arch.before, variables, words)) return false;
    for (const std::string& line : arch.commands) {
      if (!split_command(line, variables, words)) return false;
      compiled = compiled || holds(line, " -arch " + arch.name + " ");
    }
    if (!compiled) return false;
  }
  return true;
}

bool split_command(const std::string& line, const Words& variables, Words& words) {
  words.clear();
  std::string word;
  bool in_word = false, quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    char next = i + 1 < line.size() ? line[i + 1] : 0;
    if (c == '`' || (!quoted && holds(";|&<>()'", std::string_view(&c, 1))) ||
        (c == '#' && !in_word))
      return false;
    if (c == '"') {
      quoted = !quoted;
      in_word = true;
    } else if (!quoted && (c == ' ' || c == '\t')) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else if (c == '\\' && (!quoted || holds("\"\\$`", std::string_view(&next, 1)))) {
      if (!next) return false;
      word += next;
      in_word = true;
      ++i;
    } else if (c == '$') {
      size_t end = i + 1;
      while (end < line.size() && is_word(line[end]) && (end > i + 1 || !is_digit(line[end]))) {
        ++end;
      }
      if (!quoted || end == i + 1) return false;
      std::string name = line.substr(i + 1, end - i - 1);
      std::string value = env_or_empty(name.c_str());
      for (const std::string& variable : variables) {
        if (begins(variable, name + "=")) value = variable.substr(name.size() + 1);
      }
      word += value;
      i = end - 1;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return !quoted && !words.empty();
}

}  // namespace cudaops
