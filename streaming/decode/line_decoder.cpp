#include "decode/line_decoder.h"

#include <algorithm>

#include "decode/csv_number.h"
#include "error.h"

namespace nustream::decode {
namespace {

bool reads(const record::Feature& feature, const std::string& column) {
  return feature.first.column == column || (feature.second && feature.second->column == column);
}

}  // namespace

std::string private_column(const record::Schema& schema) {
  if (!schema.features_public || !schema.target) return {};
  const std::string& column = schema.target->first.column;
  const bool shared = std::any_of(schema.features.begin(), schema.features.end(),
                                  [&](const record::Feature& feature) { return reads(feature, column); }) ||
                      (schema.weight && schema.weight->term.column == column) ||
                      (schema.exposure && schema.exposure->term.column == column);
  if (shared || (schema.target->second && schema.target->second->column != column)) {
    throw Failure(Exit::configuration, "column '" + column +
                                           "': where the target alone is private it is read from one column, which "
                                           "no feature reads; change target or features");
  }
  return column;
}

std::unique_ptr<LineDecoder> make_line_decoder(const InputSettings& settings, std::span<const record::Field> fields,
                                               const std::string& private_column) {
  switch (settings.format) {
    case Format::csv:
      return make_csv_decoder(settings, fields, private_column);
    case Format::json_lines:
      if (!private_column.empty()) {
        throw Failure(Exit::configuration,
                      "column '" + private_column +
                          "': in JSON the target's text decides how the rest of its object is read, "
                          "so the target cannot be all that is private; use CSV with the target last");
      }
      return make_json_decoder(settings, fields);
  }
  __builtin_unreachable();
}

double read_text(const record::Field& field, std::string_view text, const InputSettings& settings) {
  switch (settings.format) {
    case Format::csv:
      return field.reading == record::Reading::number ? read_csv_number(text, settings.decimal)
                                                      : record::read_field(field, text);
    case Format::json_lines:
      return record::read_field(field, text);
  }
  __builtin_unreachable();
}

}  // namespace nustream::decode
