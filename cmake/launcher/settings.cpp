// SPDX-License-Identifier: Apache-2.0

#include "settings.h"

#include "files.h"

namespace cudaops {

std::string Settings::escaped(const std::string& value) {
  std::string text;
  for (char c : value) {
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\\') {
      text += "\\\\";
    } else {
      text += c;
    }
  }
  return text;
}

bool Settings::read(const std::string& file) {
  std::string text;
  if (!read_file(file, text)) return false;
  size_t from = lines_.size();
  parse(text);
  for (size_t i = from; i < lines_.size(); ++i) {
    if (lines_[i].first != "include") continue;
    Settings other;
    if (!other.read(lines_[i].second)) return false;
    lines_.erase(lines_.begin() + i);
    lines_.insert(lines_.begin() + i, other.lines_.begin(), other.lines_.end());
    i += other.lines_.size();
    --i;
  }
  return true;
}

void Settings::parse(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    size_t tab = line.find('\t');
    if (line.empty() || line[0] == '#' || tab == std::string_view::npos) continue;
    std::string value;
    value.reserve(line.size() - tab);
    for (size_t i = tab + 1; i < line.size(); ++i) {
      if (line[i] == '\\' && i + 1 < line.size()) {
        ++i;
        value += line[i] == 'n' ? '\n' : line[i];
      } else {
        value += line[i];
      }
    }
    lines_.emplace_back(std::string(line.substr(0, tab)), std::move(value));
  }
}

bool Settings::has(std::string_view key) const {
  for (const auto& line : lines_) {
    if (line.first == key) return true;
  }
  return false;
}

const std::string& Settings::get(std::string_view key) const {
  static const std::string none;
  for (size_t i = lines_.size(); i-- > 0;) {
    if (lines_[i].first == key) return lines_[i].second;
  }
  return none;
}

Words Settings::all(std::string_view key) const {
  Words values;
  for (const auto& line : lines_) {
    if (line.first == key) values.push_back(line.second);
  }
  return values;
}

void Settings::add(std::string key, std::string value) {
  lines_.emplace_back(std::move(key), std::move(value));
}

std::string Settings::text() const {
  std::string text;
  for (const auto& line : lines_) text += line.first + '\t' + escaped(line.second) + '\n';
  return text;
}

}  // namespace cudaops
