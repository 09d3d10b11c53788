// A TOML document with command-line overrides on top. It is read key by key. So a key that nobody asked for is an
// error, which names the nearest known key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "error.h"
#include "nustream/base/error.h"

// The document's types stay out of this header: toml++ costs every file that includes it seconds of compile time.
namespace toml {
inline namespace v3 {
class node;
class table;
}  // namespace v3
}  // namespace toml

namespace nustream::config {

/// One table of the settings. Asking for a key makes it known, and finish() refuses keys that nobody asked for. Every
/// refusal is a Failure(configuration): "file:line:column: section.key = value: what is allowed".
class Section {
 public:
  Section(const toml::table* table, std::string path, std::string file);

  [[nodiscard]] bool has(std::string_view key) const;
  /// Whether the table is absent, or has no keys.
  [[nodiscard]] bool is_empty() const noexcept;
  [[nodiscard]] std::optional<double> number(std::string_view key) const;  ///< finite: refuses inf and nan
  /// A whole number that is not negative; refuses anything else with `allowed`.
  [[nodiscard]] std::optional<std::uint64_t> count(std::string_view key,
                                                   std::string_view allowed = "a whole number >= 0") const;
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
  [[nodiscard]] std::vector<double> numbers(std::string_view key) const;  ///< each of them finite
  /// An array of numbers, which may be infinite; a single number counts as an array of one. Refuses anything else
  /// with `allowed`.
  [[nodiscard]] std::vector<double> number_or_numbers(
      std::string_view key, std::string_view allowed = "a number or an array of numbers") const;
  /// An array of strings; a single string counts as an array of one.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  /// The tables of an array of tables, such as [[features]].
  [[nodiscard]] std::vector<Section> tables(std::string_view key) const;
  /// A table inside this one; an empty section where there is none.
  [[nodiscard]] Section section(std::string_view key) const;

  /// Whether the key was set on the command line.
  [[nodiscard]] bool is_override(std::string_view key) const;
  /// Whether the key is there and is a whole number.
  [[nodiscard]] bool is_count(std::string_view key) const;
  /// Whether the key is there and is a string, or is a table.
  [[nodiscard]] bool is_text(std::string_view key) const;
  [[nodiscard]] bool is_table(std::string_view key) const;
  /// Every key of the section with its number, for names that the settings themselves choose.
  [[nodiscard]] std::vector<std::pair<std::string, double>> named_numbers() const;
  /// Every key of the section with its value as text, for settings that are passed on unchanged.
  [[nodiscard]] std::map<std::string, std::string> properties() const;

  [[nodiscard]] std::string text_or_refuse(std::string_view key) const;
  /// A text that may be left out and may not be empty: to set a name to nothing is no way to leave it out.
  [[nodiscard]] std::optional<std::string> some_text(std::string_view key) const;

  /// A number as the strong type T, within the range that T allows.
  template <class T>
  [[nodiscard]] std::optional<T> as(std::string_view key) const {
    const std::optional<double> value = number(key);
    if (!value) return std::nullopt;
    try {
      return T{*value};
    } catch (const InvalidParameter& error) {
      refuse(key, error.allowed());
    }
  }
  template <class T>
  [[nodiscard]] T required(std::string_view key) const {
    std::optional<T> value = as<T>(key);
    if (!value) missing(key);
    return *value;
  }

  /// The meaning of a named choice. Refuses other names, and lists the choices and the nearest one. `elsewhere` is a
  /// choice that the caller has looked for before; it is listed too.
  template <class T>
  [[nodiscard]] T choice(std::string_view key, T fallback,
                         std::initializer_list<std::pair<std::string_view, T>> choices,
                         std::string_view elsewhere = {}) const {
    const std::optional<std::string> name = text(key);
    if (!name) return fallback;
    std::vector<std::string> names;
    for (const auto& [known, value] : choices) {
      if (known == *name) return value;
      names.emplace_back(known);
    }
    if (!elsewhere.empty()) names.emplace_back(elsewhere);
    refuse_choice(key, *name, names);
  }

  /// Where the key stands, and its name: "stream.toml:12:1: kafka.brokers", or "--set kafka.brokers". It never has
  /// the value, which may be a secret.
  [[nodiscard]] std::string place_of(std::string_view key) const;
  /// The section's name and where it begins: "features.0 at stream.toml:8:1".
  [[nodiscard]] std::string place() const;
  /// Throws "file:line:column: path.key = value: allowed is …". A key that is not there has its section's place.
  [[noreturn]] void refuse(std::string_view key, std::string_view allowed) const;
  /// Throws that the key is missing, and names a key in its place that was probably meant for it.
  [[noreturn]] void missing(std::string_view key) const;
  /// Refuses keys of this table that are not in `known`; keys of tables inside it are not looked at.
  void allow(std::span<const std::string> known) const;
  /// Refuses keys that nobody asked for, here and in the sections taken from here.
  void finish() const;

 private:
  struct Asked;
  [[nodiscard]] const toml::node* find(std::string_view key) const;
  /// The section of `table`, which is inside this one. Whoever asks again gets a copy of the same one.
  [[nodiscard]] Section child(const toml::table* table, const std::string& path) const;
  [[noreturn]] void refuse_choice(std::string_view key, const std::string& value,
                                  const std::vector<std::string>& names) const;
  [[nodiscard]] std::string where(const toml::node* node) const;
  [[nodiscard]] std::string dotted(std::string_view key) const;

  const toml::table* table_;  // null where it is absent
  std::string path_;
  std::string file_;
  std::shared_ptr<Asked> asked_;  // copies share it, because they are about the same table
};

/// The parsed document. It owns the tables that sections point into.
class SettingsTree {
 public:
  /// Reads `file` and applies `overrides` ("section.key=value") in order. A value that is not TOML is taken as a
  /// string, and "features.0.center=1" reaches into arrays. Throws Failure(io) where the file cannot be read, and
  /// Failure(configuration) where it is not TOML.
  SettingsTree(const std::string& file, const std::vector<std::string>& overrides);
  ~SettingsTree();

  /// Replaces every value "private" that is to be measured (config/ranges.h) by a placeholder, or removes its key
  /// where there is a default. Returns their dotted keys, such as "features.0.center".
  struct Private {
    std::vector<std::string> keys;
    std::string
        place;  ///< of the first one: "stream.toml:12:10", or "--set features.0.center"; "" where there is none
  };
  Private take_private_out();
  SettingsTree(const SettingsTree&) = delete;
  SettingsTree& operator=(const SettingsTree&) = delete;

  [[nodiscard]] const Section& root() const noexcept { return root_; }
  /// The document with its overrides as TOML, without the sections that are named.
  [[nodiscard]] std::string text_without(std::span<const std::string_view> sections) const;

 private:
  std::unique_ptr<toml::table> table_;
  Section root_;
};

/// Says what a `text` that is not TOML, or is empty, is and which command was probably meant; "" where it looks like
/// settings. The sentence holds nothing of the text.
[[nodiscard]] std::string told_as_data(std::string_view text, const std::string& file);

/// A hint where that line of the text (the first one is 1) sets a number that begins with its point, which TOML does
/// not know: "; write 0.5 for .5". Empty where there is none.
[[nodiscard]] std::string hint_for_point(std::string_view text, std::size_t line);

/// `toml` with each number of more than 16 characters replaced by the shortest text that reads as the same number:
/// 1e-06, not 9.9999999999999995e-07. What stands in quotes stays as it is. Contract: `toml` was written by a printer
/// and has no comments.
[[nodiscard]] std::string with_short_numbers(std::string_view toml);

}  // namespace nustream::config
