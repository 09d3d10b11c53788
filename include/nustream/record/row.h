// Makes a schema ready to turn records into rows: which fields to read, and the public maps over them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/record/schema.h"

namespace nustream::record {

/// How the text of one field is read as a number.
enum class Reading {
  number,       ///< parse_number
  equals,       ///< 1 where the text equals the given one, byte for byte, else 0
  hour,         ///< hour of a timestamp
  day_of_week,  ///< day of the week of a timestamp
  label,        ///< place of the text among the given ones
  custom,       ///< what a TextReader reads
  other,        ///< 1 where the text is none of the given ones, byte for byte, else 0
  bucket,       ///< number of the bucket that the text falls into
  user,         ///< number that a UserReader gives to the text, unless the text stands for no user
};

/// One column under one reading. Terms that read the same share a field.
struct Field {
  std::string column;
  Reading reading;
  std::string equals;               ///< for Reading::equals
  std::vector<std::string> labels;  ///< for Reading::label and other; for Reading::user the texts that stand for
                                    ///< nobody
  TextReader* reader = nullptr;     ///< for Reading::custom
  TimeUnit unit = TimeUnit::none;   ///< for Reading::hour and day_of_week
  UserReader* users = nullptr;      ///< for Reading::user; null: any number will do
  std::uint32_t buckets = 0;        ///< for Reading::bucket

  friend bool operator==(const Field&, const Field&) = default;
};

/// The reading of a field that the record does not have. It is a NaN, like that of a text that cannot be read. Its
/// payload, which copies keep, distinguishes the two; only is_missing() may ask for it.
inline constexpr double missing = std::bit_cast<double>(std::uint64_t{0x7ff8'0000'0000'0001});
[[nodiscard]] constexpr bool is_missing(double reading) noexcept {
  return std::bit_cast<std::uint64_t>(reading) == std::bit_cast<std::uint64_t>(missing);
}

/// The reading of a field that is there but holds no text. Only is_empty() may ask for its payload.
inline constexpr double empty = std::bit_cast<double>(std::uint64_t{0x7ff8'0000'0000'0002});
[[nodiscard]] constexpr bool is_empty(double reading) noexcept {
  return std::bit_cast<std::uint64_t>(reading) == std::bit_cast<std::uint64_t>(empty);
}
/// The reading of a text that is neither a number nor a time: `empty` if the text is empty or blank (spaces and
/// tabs), otherwise NaN.
[[nodiscard]] double unreadable_text(std::string_view text) noexcept;

/// The number that `text` is under the field's reading: finite, or NaN where it cannot be read.
[[nodiscard]] double read_field(const Field& field, std::string_view text) noexcept;

/// Which of `buckets` (> 0) a text falls into: its FNV-1a hash in 64 bits, whose bits are mixed once more (the last
/// three lines of MurmurHash3's 64-bit finaliser), modulo `buckets`. It is a public function of the text's bytes, the
/// same on every machine and in every version (docs/formats/input.md).
[[nodiscard]] std::uint32_t bucket_of(std::string_view text, std::uint32_t buckets) noexcept;

/// The maps of a schema over the numbers that its fields were read as. It is immutable once built, and safe to share.
class RowBuilder {
 public:
  /// Throws InvalidParameter where a feature has no column, a scale that is not finite and > 0, a center that is not
  /// finite, or bounds that are NaN or leave nothing between them.
  explicit RowBuilder(const Schema& schema);

  /// The fields to read from every record, without duplicates, in the order in which build() takes them.
  [[nodiscard]] std::span<const Field> fields() const noexcept { return fields_; }
  /// How many numbers a row has: the schema's dimension.
  [[nodiscard]] std::size_t dimension() const noexcept { return dimension_; }

  /// Writes the row of one record to `x` (dimension() numbers, the intercept first) and its target to `y` (0 without
  /// a target). `readings` are the numbers of fields(): NaN where a field could not be read, and `missing` where the
  /// record does not have it.
  ///
  /// Returns false where the record is unusable: where a reading or a result is not finite, or the target is no
  /// label. `x` and `y` are then all zero, a row whose gradient is zero under every loss. But where features are
  /// public and the target alone is unusable, `x` stays and `y` is NaN.
  ///
  /// `weight`, unless null, becomes how much the record counts: 1 where has_weights() is false, and 0 for an unusable
  /// record.
  [[nodiscard]] bool build(const double* readings, double* x, double& y, double* weight = nullptr) const noexcept;

  /// Whether records have weights. A caller who ignores the weights computes another estimate.
  [[nodiscard]] bool has_weights() const noexcept { return weight_ || exposure_; }

  /// Whether records name a user.
  [[nodiscard]] bool has_users() const noexcept { return user_field_.has_value(); }
  /// The user whose record build() took; nobody where no UserReader identifies users.
  [[nodiscard]] RowUser user(const double* readings) const noexcept;
  /// Says that the readings before this call will not be asked about again.
  void forget_users() const noexcept;

  /// Why build() refused these readings: one line with the column's name, and never a field's value.
  [[nodiscard]] std::string reason(const double* readings) const;

 private:
  struct Factor {
    std::uint32_t field;
    Transform transform;
    double from = 0, below = 0;  // for a bin; a bucket is the bin of its own number
  };
  struct Map {
    std::string name;
    Factor first;
    std::optional<Factor> second;
    double center, scale, lower, upper;
  };

  [[nodiscard]] Factor factor(const Term& term);
  [[nodiscard]] Map map(const Feature& feature);
  [[nodiscard]] static double value(const Factor& factor, const double* readings) noexcept;
  [[nodiscard]] static double value(const Map& map, const double* readings) noexcept;
  [[nodiscard]] double exposure(const double* readings) const noexcept;
  [[nodiscard]] double weight(const double* readings) const noexcept;
  [[nodiscard]] bool is_target(double value) const noexcept;
  [[nodiscard]] std::string reason_of_field(std::size_t f, double reading) const;  ///< where the reading is not
                                                                                   ///< finite
  [[nodiscard]] std::string reason_of_values(const double* readings) const;        ///< where all readings are finite
  [[nodiscard]] std::string no_label() const;

  std::vector<Field> fields_;
  std::vector<Map> maps_;  ///< the features, then the target where there is one
  std::size_t features_ = 0;
  std::size_t dimension_ = 0;
  bool intercept_ = false;
  std::size_t labels_ = 0;
  bool counts_ = false;
  bool features_public_ = false;
  std::optional<std::uint32_t> user_field_;
  std::optional<Factor> weight_, exposure_;
  double weight_most_ = 0, exposure_most_ = 0;
  bool exposure_is_log_ = false;
  bool copies_ = false;  ///< every feature is the field of its own number, unchanged
};

}  // namespace nustream::record
