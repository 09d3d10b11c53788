// Reads the canonical text of settings back, under the names that a file of settings has for them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nustream::config {

/// Stands for the rows of a correlation that is kept as a matrix: the text has a hash of the rows, and they follow
/// from the kind and its numbers.
inline constexpr const char* rows_of_correlation = "rows of noise.correlation";

/// The values of each setting by the name that it has in the file, in the order in which the names first come.
struct SettingsByName {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> values;

  void add(const std::string& name, std::string value) {
    std::vector<std::string>& all = values[name];
    if (all.empty()) names.push_back(name);
    all.push_back(std::move(value));
  }
};

/// The settings of a text of settings_text(). `text` may be any bytes: reading ends at the first bytes that are no
/// line of such a text.
[[nodiscard]] SettingsByName by_name(std::string_view text);

}  // namespace nustream::config
