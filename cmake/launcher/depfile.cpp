// SPDX-License-Identifier: Apache-2.0

#include "depfile.h"

#include "files.h"

namespace cudaops {

bool Depfile::read(const std::string& path) {
  std::string text;
  return read_file(path, text) && parse(std::move(text));
}

bool Depfile::parse(std::string text) {
  text_ = std::move(text);
  places_.clear();
  names_.clear();
  // The target ends at a colon with a blank behind it: a blank in its name has a backslash before
  // it.
  size_t at = 0;
  while (true) {
    at = text_.find(':', at);
    if (at == std::string::npos) return false;
    ++at;
    if (at == text_.size() || text_[at] == ' ' || text_[at] == '\t' || text_[at] == '\n') break;
  }
  while (at < text_.size()) {
    char c = text_[at];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
      continue;
    }
    if (c == '\\' && at + 1 < text_.size() && (text_[at + 1] == '\n' || text_[at + 1] == '\r')) {
      at += text_[at + 1] == '\r' ? 3 : 2;
      continue;
    }
    if (c == '\n') break;
    Word place = {at, at};
    std::string name;
    for (; at < text_.size(); ++at) {
      c = text_[at];
      char next = at + 1 < text_.size() ? text_[at + 1] : '\n';
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') break;
      if (c == '\\' && (next == ' ' || next == '#')) {
        c = text_[++at];
      } else if (c == '\\' && (next == '\n' || next == '\r')) {
        break;
      } else if (c == '$' && next == '$') {
        ++at;
      }
      name += c;
    }
    place.end = at;
    places_.push_back(place);
    names_.push_back(std::move(name));
  }
  rule_end_ = at;
  return true;
}

std::string Depfile::escaped(const std::string& name) {
  std::string text;
  for (char c : name) {
    if (c == '$') {
      text += '$';
    } else if (c == '#' || c == ' ') {
      text += '\\';
    }
    text += c;
  }
  return text;
}

std::string Depfile::renamed(const std::string& from, const std::string& to) const {
  std::string text;
  std::string name = escaped(to);
  size_t copied = 0;
  for (const Word& place : places_) {
    if (text_.compare(place.begin, from.size(), from) != 0) continue;
    text.append(text_, copied, place.begin - copied).append(name);
    copied = place.begin + from.size();
  }
  if (copied) text.append(text_, copied, std::string::npos);
  return text;
}

std::string Depfile::with(const Words& more) const {
  std::string rest = rule_end_ < text_.size() ? text_.substr(rule_end_ + 1) : "";
  std::string text = text_.substr(0, rule_end_);
  std::string empty_rules;
  Words known = names_;
  for (const std::string& name : more) {
    if (is_in(known, name)) continue;
    known.push_back(name);
    text += " \\\n  " + escaped(name);
    if (!rest.empty()) empty_rules += escaped(name) + ":\n";
  }
  text += '\n';
  if (!rest.empty() && rest.back() != '\n') rest += '\n';
  return text + rest + empty_rules;
}

}  // namespace cudaops
