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

/// Where the value stands. A place of --set is told by its key alone.
std::string place_of(const toml::node& node) {
  const auto& source = node.source();
  if (!source.path) return {};
  if (source.path->starts_with("--set")) return source.path->substr(0, source.path->find('='));
  return *source.path + ":" + std::to_string(source.begin.line) + ":" + std::to_string(source.begin.column);
}

void take_out(toml::table* table, const std::string& path, std::span<const Measurable> measurable,
              SettingsTree::Private& taken) {
  if (table == nullptr) return;
  for (const auto& [key, meanwhile] : measurable) {
    // A number, or a text that is not "private", is left as it is; the reader of the key judges it.
    if ((*table)[key].value<std::string_view>() != private_value) continue;
    if (taken.keys.empty()) taken.place = place_of(*table->get(key));
    taken.keys.push_back(path + '.' + std::string(key));
    if (meanwhile) {
      table->insert_or_assign(key, *meanwhile);
    } else {
      table->erase(key);
    }
  }
}

}  // namespace

SettingsTree::Private SettingsTree::take_private_out() {
  Private taken;
  if (toml::array* features = (*table_)["features"].as_array()) {
    for (std::size_t i = 0; i < features->size(); ++i) {
      take_out((*features)[i].as_table(), "features." + std::to_string(i), of_column, taken);
    }
  }
  take_out((*table_)["target"].as_table(), "target", of_column, taken);
  take_out((*table_)["descent"].as_table(), "descent", of_descent, taken);
  take_out((*table_)["noise"].as_table(), "noise", of_noise, taken);
  take_out((*table_)["moments"].as_table(), "moments", of_moments, taken);
  return taken;
}

}  // namespace nustream::config
