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

/// The intervals of running sums, by the number that the text has for them.
inline constexpr const char* kind_of_sums = "intervals.kind of running sums";

/// The values of each setting by the name that it has in the file, in the order in which the names first come.
struct SettingsByName {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> values;

  void add(const std::string& name, std::string value) {
    std::vector<std::string>& all = values[name];
    if (all.empty()) names.push_back(name);
    all.push_back(std::move(value));
  }
  /// Gives the setting these values alone, at least one.
  void set(const std::string& name, std::vector<std::string> all) {
    std::vector<std::string>& present = values[name];
    if (present.empty()) names.push_back(name);
    present = std::move(all);
  }
  /// Takes the setting out, where it is there.
  void erase(const std::string& name) {
    if (values.erase(name) > 0) std::erase(names, name);
  }
  /// The first value of `name`; "" where there is none.
  [[nodiscard]] std::string first(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second.front();
  }
};

/// The settings of a text of settings_text(). `text` may be any bytes: reading ends at the first bytes that are no
/// line of such a text.
[[nodiscard]] SettingsByName by_name(std::string_view text);

}  // namespace nustream::config
