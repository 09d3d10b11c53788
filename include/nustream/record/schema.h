// Says which fields of a record become which numbers of a row. All maps are public and fixed before any data is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/record/batch.h"
#include "nustream/record/timestamp.h"

namespace nustream::record {

/// A public map from one field's text to a number. A field that cannot be mapped (not a number, the log of a value ≤
/// 0, not a timestamp) makes the whole record unusable: it takes its step with a zero gradient.
enum class Transform {
  identity,
  log,  ///< natural logarithm
  log1p,
  sqrt,
  square,
  indicator,    ///< 1 where the field's text equals `equals`, else 0
  hour,         ///< 0 … 23 from an ISO 8601 timestamp, as written (no time zone conversion)
  day_of_week,  ///< 0 Monday … 6 Sunday
  label,        ///< the place of the field's text in `labels`, from 0, without the spaces and tabs around it
  custom,       ///< what `reader` reads
  other,        ///< 1 where the field's text is none of `labels`, byte for byte, else 0
  bucket,       ///< 1 where bucket_of(text, `buckets`) is `bucket`, else 0
  bin,          ///< 1 where `from` ≤ the number < `below`, else 0
};

/// Whether the transform makes 0 or 1 of a field. Such a feature needs neither centre nor scale.
[[nodiscard]] constexpr bool is_indicator(Transform transform) noexcept {
  return transform == Transform::indicator || transform == Transform::other || transform == Transform::bucket ||
         transform == Transform::bin;
}

/// Reads texts as numbers for code that looks at an input without a run. It is never part of a run's settings. It
/// must outlive the readers that hold it.
class TextReader {
 public:
  virtual ~TextReader() = default;
  /// The number that a text stands for: finite, whatever the text is.
  virtual double read(std::string_view text) noexcept = 0;
};

/// Identifies users by the texts of their identifiers. It keeps the identifiers as hashes until forget(), because a
/// row is made of numbers and a hash has too many bits to be one.
class UserReader {
 public:
  virtual ~UserReader() = default;
  /// The number by which find() knows this identifier's user. It is infinity where the user counts in another lane,
  /// so that the record is unusable in this one.
  virtual double read(std::string_view identifier) noexcept = 0;
  [[nodiscard]] virtual RowUser find(double number) const noexcept = 0;
  /// Says that find() will not be asked again for any number that read() has returned so far.
  virtual void forget() noexcept = 0;
};

/// Says where a record names its user, in a schema whose unit of privacy is the user.
struct UserColumn {
  std::string column;
  std::vector<std::string> nobody{};  ///< identifiers that stand for no user, compared byte for byte
  UserReader* reader = nullptr;       ///< must outlive what is built from the schema; null if nobody asks for the
                                      ///< user
};

/// One field under one transform.
struct Term {
  std::string column;
  Transform transform = Transform::identity;
  std::string equals;                 ///< for Transform::indicator
  std::vector<std::string> labels{};  ///< for Transform::label the texts of the classes; for other the known texts
  TextReader* reader = nullptr;       ///< for Transform::custom
  TimeUnit unit = TimeUnit::none;     ///< for Transform::hour and day_of_week, of texts that are numbers
  std::uint32_t buckets = 0;          ///< for Transform::bucket: how many there are
  std::uint32_t bucket = 0;           ///< for Transform::bucket: which of them
  double from = 0;                    ///< for Transform::bin
  double below = 0;                   ///< for Transform::bin
};

/// One number of a row: (clamp(value, lower, upper) − center)/scale. `value` is the first term, or the product of
/// both terms (an interaction).
struct Feature {
  std::string name;  ///< as it is shown in releases
  Term first;
  std::optional<Term> second;
  double center = 0;
  double scale = 1;  ///< > 0
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

/// How much a record counts. Its gradient is multiplied by w before it is clipped; for running sums, its row is
/// multiplied by the root of w before it is scaled. So no weight widens what a record can do.
struct Weight {
  Term term;
  /// A larger w counts as this one. A w below 0 makes the record unusable.
  double most = std::numeric_limits<double>::infinity();
};

/// How long, or over how much, a record counted. A count y over an exposure E is Poisson with mean E·exp(θᵀx), so its
/// gradient is that of the rate y/E with weight E.
struct Exposure {
  Term term;
  bool is_log = false;  ///< the column holds ln E, an offset
  /// A larger E counts as this one in the weight. An E that is not above 0 makes the record unusable.
  double most = std::numeric_limits<double>::infinity();
};

/// A row is [1 if intercept, features…], together with the target y where there is one.
struct Schema {
  std::vector<Feature> features;
  std::optional<Feature> target;
  bool intercept = false;
  std::size_t labels = 0;  ///< the target is one of 0, 1, …, labels − 1; 0 stands for any number
  bool counts = false;     ///< the target is a number >= 0
  /// Whether the target alone is private. A record that is unusable because of its target alone gets NaN as its
  /// target. It keeps its features, which must not reveal that the target is unusable.
  bool features_public = false;
  /// If there is a user column, a record without a user is unusable.
  std::optional<UserColumn> user{};
  std::optional<Weight> weight{};
  std::optional<Exposure> exposure{};

  [[nodiscard]] bool is_weighted() const noexcept { return weight || exposure; }
  [[nodiscard]] std::size_t dimension() const noexcept { return features.size() + (intercept ? 1 : 0); }
};

}  // namespace nustream::record
