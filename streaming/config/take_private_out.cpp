// Says which settings may be "private", and which placeholders replace them until they are measured.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "config/ranges.h"
#include "config/settings_tree.h"

namespace nustream::config {
namespace {

/// The placeholder for a value until it is measured; where it is empty, the key is removed.
struct Measurable {
  std::string_view key;
  std::optional<double> meanwhile;
};
// These numbers only have to pass the checks of reading. The measured ones take their places before anything is spent
// under the settings (measure/measure.h).
constexpr std::array<Measurable, 3> of_column{{{"center", 0.0}, {"scale", 1.0}, {"clamp", std::nullopt}}};
constexpr std::array<Measurable, 3> of_descent{{{"clip_norm", 1.0}, {"step_size", 0.5}, {"start", std::nullopt}}};
constexpr std::array<Measurable, 1> of_noise{{{"nu", 0.5}}};
constexpr std::array<Measurable, 3> of_moments{{{"row_norm", 1.0}, {"residual_bound", 1.0}, {"start", std::nullopt}}};

void take_out(toml::table* table, const std::string& path, std::span<const Measurable> measurable,
              std::vector<std::string>& keys) {
  if (table == nullptr) return;
  for (const auto& [key, meanwhile] : measurable) {
    // A number, or a text that is not "private", is left as it is; the reader of the key judges it.
    if ((*table)[key].value<std::string_view>() != private_value) continue;
    keys.push_back(path + '.' + std::string(key));
    if (meanwhile) {
      table->insert_or_assign(key, *meanwhile);
    } else {
      table->erase(key);
    }
  }
}

}  // namespace

std::vector<std::string> SettingsTree::take_private_out() {
  std::vector<std::string> keys;
  if (toml::array* features = (*table_)["features"].as_array()) {
    for (std::size_t i = 0; i < features->size(); ++i) {
      take_out((*features)[i].as_table(), "features." + std::to_string(i), of_column, keys);
    }
  }
  take_out((*table_)["target"].as_table(), "target", of_column, keys);
  take_out((*table_)["descent"].as_table(), "descent", of_descent, keys);
  take_out((*table_)["noise"].as_table(), "noise", of_noise, keys);
  take_out((*table_)["moments"].as_table(), "moments", of_moments, keys);
  return keys;
}

}  // namespace nustream::config
