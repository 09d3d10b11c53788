// Writes the audit's own records as text in a stream's own format.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/line_encoder.h"
#include "config/config.h"
#include "nustream/record/row.h"

namespace nustream::audit {

/// One value for the columns of each kind.
struct Values {
  double feature;     ///< instruments and controls too
  double endogenous;  ///< regressors of two-stage models
  double target;      ///< NaN writes a target that cannot be read
  /// The one column whose feature is not 0, where only one is to be; "" where all are 0 but the intercept. Null: no
  /// feature is set to 0.
  const std::string* axis = nullptr;
  double weight = 1;                                ///< where records have a weight
  double exposure = 1;                              ///< where records have an exposure
  std::string_view user = "nustream-audit-canary";  ///< whose record it is, where the unit is the user
};

/// Writes lines of the format that the settings name, without their newlines. `config` and `fields` have to outlive
/// it.
class RecordWriter {
 public:
  RecordWriter(const config::Config& config, std::span<const record::Field> fields);

  /// The header line, where files of the format have one; else empty.
  [[nodiscard]] std::string header() const { return has_header(config_.input) ? encoder_->header(columns_) : ""; }
  /// A record that cannot be used.
  [[nodiscard]] std::string null() const { return encoder_->null(); }
  /// The text that stands in a column's field.
  [[nodiscard]] std::string text(const std::string& column, const Values& values) const;
  [[nodiscard]] static std::string text_of(const record::Field& field, const Values& values, bool is_zero);
  [[nodiscard]] std::string record(const Values& values) const;

 private:
  [[nodiscard]] bool is_endogenous(const std::string& column) const;
  /// What is written in a column that says how much a record counts, or over how long; nothing for other columns.
  [[nodiscard]] std::optional<double> counting(const std::string& column, const Values& values) const;
  /// The value of the column at which its feature is 0.
  [[nodiscard]] double centre_of(const std::string& column) const;
  [[nodiscard]] const record::Field* field_of(const std::string& column) const;

  const config::Config& config_;
  std::span<const record::Field> fields_;
  std::unique_ptr<LineEncoder> encoder_;
  std::vector<std::string> columns_;
};

}  // namespace nustream::audit
