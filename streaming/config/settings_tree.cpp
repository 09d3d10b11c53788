// The document of settings over toml++: the typed questions that readers of sections ask. The messages for people are
// made here, so that each names file, line, key and what is allowed.
#include "config/settings_tree.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include <toml++/toml.h>

#include "config/nearest.h"
#include "config/settings_document.h"

namespace nustream::config {

// What was asked for, by all copies of one section. finish() compares it with what stands in the file.
struct Section::Asked {
  std::set<std::string, std::less<>> keys;
  std::vector<Section> children;
};

namespace {

/// A value as a message quotes it: on one line, and cut where it is long.
std::string shown(const toml::node& node) {
  std::ostringstream text;
  if (const toml::table* table = node.as_table()) {
    // A section is printed over several lines, and would lose its breaks.
    toml::table in_a_line = *table;
    in_a_line.is_inline(true);
    text << in_a_line;
  } else {
    node.visit([&](const auto& value) { text << value; });
  }
  std::string line = text.str();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line.size() > 60 ? line.substr(0, 57) + "..." : line;
}

/// Whether `name` is most likely meant to be `key`. Keys of one section may look alike, so the limit is tight.
bool is_misspelt(std::string_view name, std::string_view key) {
  // For example "clip" for clip_norm: far away by edits, and yet most likely meant.
  const bool is_shortened = name.size() >= 3 && key.substr(0, name.size()) == name;
  return is_shortened || edit_distance(name, key) <= std::max<std::size_t>(1, key.size() / 3);
}

}  // namespace

Section::Section(const toml::table* table, std::string path, std::string file)
    : table_(table), path_(std::move(path)), file_(std::move(file)), asked_(std::make_shared<Asked>()) {}

const toml::node* Section::find(std::string_view key) const {
  asked_->keys.emplace(key);
  return table_ == nullptr ? nullptr : table_->get(key);
}

// For example "features.0.center".
std::string Section::dotted(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

// For example "stream.toml:12:1", or the override itself: "--set descent.clip_norm=2".
std::string Section::where(const toml::node* node) const {
  if (node == nullptr || !node->source().path) return file_;
  const auto& source = node->source();
  const std::string& name = *source.path;
  // An override has no line in a file. Its own text says where it stands.
  if (name.rfind("--set", 0) == 0) return name;
  return name + ":" + std::to_string(source.begin.line) + ":" + std::to_string(source.begin.column);
}

std::string Section::place_of(std::string_view key) const {
  // TOML quotes a name that has a dot in it.
  const bool is_plain = key.find('.') == std::string_view::npos;
  const std::string name = dotted(is_plain ? std::string(key) : "\"" + std::string(key) + "\"");
  return is_override(key) ? "--set " + name : where(find(key)) + ": " + name;
}

std::string Section::place() const {
  return path_ + " at " + where(table_);
}

// The key is looked up without find(): a refusal does not make a key known.
void Section::refuse(std::string_view key, std::string_view allowed) const {
  const toml::node* node = table_ == nullptr ? nullptr : table_->get(key);
  const std::string value = node == nullptr ? "" : " = " + shown(*node);
  // A key that is not there has the place of its section; the whole file has none.
  const toml::node* const at = node != nullptr || path_.empty() ? node : table_;
  refuse_line(where(at) + ": " + dotted(key) + value + ": allowed is " + std::string(allowed));
}

void Section::refuse_choice(std::string_view key, const std::string& value,
                            const std::vector<std::string>& names) const {
  std::string allowed;
  for (const std::string& name : names) allowed += (allowed.empty() ? "one of " : ", ") + name;
  refuse(key, allowed + did_you_mean(value, names));
}

// Throws that the key is missing. A key that stands in its place and that nobody knows is most likely meant for it.
void Section::missing(std::string_view key) const {
  std::string hint = "set it in the file or with --set " + dotted(key) + "=…";
  if (table_ != nullptr) {
    for (const auto& [name, node] : *table_) {
      // Only a key that nobody asked for can be a misspelt one.
      const bool is_stranger = asked_->keys.count(std::string_view(name.str())) == 0;
      if (is_stranger && is_misspelt(name.str(), key)) {
        hint = "is '" + std::string(name.str()) + "' (" + where(&node) + ") meant for it?";
      }
    }
  }
  refuse_line(where(table_) + ": " + dotted(key) + " is missing; " + hint);
}

bool Section::is_empty() const noexcept {
  return table_ == nullptr || table_->empty();
}

bool Section::has(std::string_view key) const {
  return find(key) != nullptr;
}

std::optional<double> Section::number(std::string_view key) const {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  const std::optional<double> value = node->value<double>();
  if (!node->is_number() || !value) refuse(key, "a number");
  // TOML has inf and nan. Only number_or_numbers() lets inf through, for bounds that may be open.
  if (!std::isfinite(*value)) refuse(key, "a finite number");
  return value;
}

std::optional<std::uint64_t> Section::count(std::string_view key, std::string_view allowed) const {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  // Exactly a whole number: 1e6 is a number of TOML with a fraction, and may not stand for a count.
  const std::optional<std::int64_t> value = node->value_exact<std::int64_t>();
  if (!value || *value < 0) refuse(key, allowed);
  return static_cast<std::uint64_t>(*value);
}

std::optional<std::string> Section::text(std::string_view key) const {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  // Nothing is converted: a number without quotation marks is not taken for a text.
  std::optional<std::string> value = node->value_exact<std::string>();
  if (!value) refuse(key, "a string");
  return value;
}

std::optional<bool> Section::flag(std::string_view key) const {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  const std::optional<bool> value = node->value_exact<bool>();
  if (!value) refuse(key, "true or false");
  return value;
}

std::vector<double> Section::numbers(std::string_view key) const {
  const toml::node* node = find(key);
  constexpr const char* allowed = "an array of numbers";
  if (node != nullptr && !node->is_array()) refuse(key, allowed);
  std::vector<double> values = number_or_numbers(key, allowed);
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })) {
    refuse(key, "an array of finite numbers");
  }
  return values;
}

std::vector<double> Section::number_or_numbers(std::string_view key, std::string_view allowed) const {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  std::vector<double> values;
  const auto take = [&](const toml::node& entry) {
    const std::optional<double> value = entry.value<double>();
    if (!entry.is_number() || !value || std::isnan(*value)) refuse(key, allowed);
    values.push_back(*value);
  };
  if (!node->is_array()) {
    take(*node);
  } else {
    for (const toml::node& entry : *node->as_array()) take(entry);
  }
  return values;
}

std::vector<std::string> Section::texts(std::string_view key) const {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  if (node->is_string()) return {*text(key)};
  const toml::array* array = node->as_array();
  if (array == nullptr) refuse(key, "a string or an array of strings");
  std::vector<std::string> values;
  for (const toml::node& entry : *array) {
    std::optional<std::string> value = entry.value_exact<std::string>();
    if (!value) refuse(key, "a string or an array of strings");
    values.push_back(std::move(*value));
  }
  return values;
}

std::vector<Section> Section::tables(std::string_view key) const {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  const toml::array* array = node->as_array();
  // [features] instead of [[features]] is a common slip, which has a message of its own.
  if (array == nullptr && node->is_table()) {
    refuse_line(where(node) + ": [" + dotted(key) + "] is one of several: write [[" + dotted(key) + "]] above each");
  }
  if (array == nullptr) refuse(key, "an array of tables, written [[" + dotted(key) + "]]");
  std::vector<Section> sections;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const toml::table* table = array->get(i)->as_table();
    if (table == nullptr) refuse(key, "an array of tables, written [[" + dotted(key) + "]]");
    // Sections of an array are named by their places, as --set names them: features.0.
    sections.push_back(child(table, dotted(key) + "." + std::to_string(i)));
  }
  return sections;
}

// A child that is kept here is looked at by finish(), even where the caller throws the section away.
Section Section::child(const toml::table* table, const std::string& path) const {
  for (const Section& kept : asked_->children) {
    // The copies share their list of keys that were asked for.
    if (kept.path_ == path) return kept;
  }
  return asked_->children.emplace_back(table, path, file_);
}

Section Section::section(std::string_view key) const {
  const toml::node* node = find(key);
  const toml::table* table = node == nullptr ? nullptr : node->as_table();
  if (node != nullptr && table == nullptr) refuse(key, "a section, written [" + dotted(key) + "]");
  return child(table, dotted(key));
}

bool Section::is_override(std::string_view key) const {
  const toml::node* node = find(key);
  // apply_override() parses values under a name that begins so.
  return node != nullptr && node->source().path && node->source().path->starts_with("--set");
}

bool Section::is_count(std::string_view key) const {
  const toml::node* node = find(key);
  return node != nullptr && node->is_integer();
}

bool Section::is_text(std::string_view key) const {
  const toml::node* node = find(key);
  return node != nullptr && node->is_string();
}

bool Section::is_table(std::string_view key) const {
  const toml::node* node = find(key);
  return node != nullptr && node->is_table();
}

std::vector<std::pair<std::string, double>> Section::named_numbers() const {
  std::vector<std::pair<std::string, double>> values;
  if (table_ == nullptr) return values;
  for (const auto& [name, node] : *table_) values.emplace_back(name.str(), *number(name.str()));
  return values;
}

std::map<std::string, std::string> Section::properties() const {
  std::map<std::string, std::string> values;
  if (table_ == nullptr) return values;
  for (const auto& [name, node] : *table_) {
    // The names are librdkafka's. None of them is known here, so that each counts as asked for.
    const std::string key(name.str());
    asked_->keys.emplace(key);
    if (node.is_string()) {
      values[key] = *text(key);
    } else if (node.is_integer() || node.is_boolean() || node.is_floating_point()) {
      values[key] = shown(node);
    } else {
      // The message leaves the value out, which may be a password behind a name with a dot.
      refuse_line(where(&node) + ": " + dotted(key) +
                  ": allowed is a string, a number, true or false; quote names with dots in the file: \"" + key +
                  "…\" = …; on the command line they are -X NAME=VALUE");
    }
  }
  return values;
}

std::string Section::text_or_refuse(std::string_view key) const {
  std::optional<std::string> value = text(key);
  if (!value) missing(key);
  if (value->empty()) refuse(key, "a string that is not empty");
  return *value;
}

std::optional<std::string> Section::some_text(std::string_view key) const {
  std::optional<std::string> value = text(key);
  if (value && value->empty()) refuse(key, "a text that is not empty; or leave the key out");
  return value;
}

void Section::allow(std::span<const std::string> known) const {
  if (table_ == nullptr) return;
  for (const auto& [name, node] : *table_) {
    if (std::find(known.begin(), known.end(), name.str()) != known.end()) continue;
    std::string hint = did_you_mean(name.str(), known);
    // Where no known name is near, all of them are listed.
    if (hint.empty()) {
      for (const std::string& entry : known) hint += (hint.empty() ? "; known here: " : ", ") + entry;
    }
    refuse_line(where(&node) + ": " + dotted(name.str()) + ": unknown key" + hint);
  }
}

// A section that nobody took is a key of this table that nobody asked for, and is refused as such.
void Section::finish() const {
  allow(std::vector<std::string>(asked_->keys.begin(), asked_->keys.end()));
  for (const Section& child : asked_->children) child.finish();
}

SettingsTree::SettingsTree(const std::string& file, const std::vector<std::string>& overrides)
    : table_(std::make_unique<toml::table>(parse_file(file))), root_(table_.get(), "", file) {
  // In their order, so that a later override of a key replaces an earlier one.
  for (const std::string& text : overrides) apply_override(*table_, text);
}

SettingsTree::~SettingsTree() = default;

std::string SettingsTree::text_without(std::span<const std::string_view> sections) const {
  // A copy, because sections point into the document.
  toml::table kept = *table_;
  for (const std::string_view section : sections) kept.erase(section);
  std::ostringstream text;
  text << kept << '\n';
  return with_short_numbers(text.str());
}

}  // namespace nustream::config
