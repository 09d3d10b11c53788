// Records of the audit's own, as text in a stream's own format.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "nustream/record/row.h"

namespace nustream::audit {

/// One value for the columns of each kind.
struct Values {
  double feature;     ///< instruments and controls too
  double endogenous;  ///< of two-stage models
  double target;      ///< NaN: what cannot be read
  /// The one column whose feature is not 0, where only one is to be; "" for none but the intercept. Null: all.
  const std::string* axis = nullptr;
  double weight = 1;                                ///< where records have one
  double exposure = 1;                              ///< where they have one
  std::string_view user = "nustream-audit-canary";  ///< where the unit is the user, whose record it is
};

/// Lines of the format that the settings name, without their newlines. Settings and fields outlive it.
class RecordWriter {
 public:
  RecordWriter(const config::Config& config, std::span<const record::Field> fields);

  /// Of a CSV that has one; else empty.
  [[nodiscard]] std::string header() const;
  /// A record that cannot be used.
  [[nodiscard]] std::string null() const;
  /// What a column's field holds.
  [[nodiscard]] std::string text(const std::string& column, const Values& values) const;
  [[nodiscard]] static std::string text_of(const record::Field& field, const Values& values, bool is_zero);
  [[nodiscard]] std::string record(const Values& values) const;

 private:
  [[nodiscard]] bool is_endogenous(const std::string& column) const;
  /// Of a column that says how much a record counts, or over how long: what is written there; else nothing.
  [[nodiscard]] std::optional<double> counting(const std::string& column, const Values& values) const;
  /// Under which the column's feature is 0.
  [[nodiscard]] double centre_of(const std::string& column) const;
  [[nodiscard]] std::string no_number() const;
  [[nodiscard]] const record::Field* field_of(const std::string& column) const;
  [[nodiscard]] std::string quoted(const std::string& column, const std::string& text) const;
  [[nodiscard]] std::string joined(const std::vector<std::string>& texts) const;
  [[nodiscard]] std::string in_quotes(const std::string& text) const;

  const config::Config& config_;
  std::span<const record::Field> fields_;
  std::vector<std::string> columns_;
};

}  // namespace nustream::audit
