// Appends rows to a batch, in the order of their records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "decode/merged_readings.h"
#include "nustream/record/batch.h"
#include "nustream/record/row.h"
#include "nustream/record/timestamp.h"

namespace nustream::decode {

/// A time that is not known.
inline constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

/// Seconds since 1970-01-01T00:00:00Z, from an ISO 8601 timestamp (record/timestamp.h) or from a plain number of
/// `unit`s; no_time where the text is neither.
[[nodiscard]] inline double read_event_time(std::string_view text, record::TimeUnit unit) noexcept {
  const auto time = record::parse_time(text, unit);
  return time ? time->epoch_seconds : no_time;
}

/// Writes one row for each record, whatever the record holds. Only this class turns an ordinal into a position, and
/// an unusable record into a row of zeros.
class RowWriter {
 public:
  /// The next record that is written has `ordinal`. `timed` says that the batch gets times. `merged` holds the
  /// readings beside the lines, beginning with the first row's; write() is given the lines' readings and combines the
  /// two. It is null where all readings are in the lines.
  RowWriter(const record::RowBuilder& builder, bool timed, std::uint64_t ordinal, record::RowBatch& batch,
            MergedReadings* merged = nullptr)
      : builder_(&builder),
        batch_(&batch),
        merged_(merged),
        first_row_(batch.count()),
        row_(first_row_),
        ordinal_(ordinal),
        timed_(timed) {}

  /// Makes room for `rows` more rows, all of which must then be written.
  void reserve(std::size_t rows) {
    const std::size_t count = batch_->count() + rows;
    batch_->dimension = builder_->dimension();
    batch_->x.resize(count * builder_->dimension());
    batch_->y.resize(count);
    batch_->next.resize(count);
    if (timed_) batch_->times.resize(count, no_time);
    if (builder_->has_users()) batch_->users.resize(count);  // of nobody, until their rows are built
    if (builder_->has_weights()) batch_->weights.resize(count);
  }

  /// Writes the row of a record whose fields were read as `readings`; a row of zeros where they do not make a row.
  void write(const double* readings, double time = no_time) {
    if (merged_ != nullptr) readings = merged_->merge(readings, row_ - first_row_);
    if (build(readings)) {
      identify(readings);
    } else {
      note(builder_->reason(readings));
    }
    finish(time);
  }

  /// Writes the row if the record can be used. Returns false if not, and the record is still to be written.
  [[nodiscard]] bool write_usable(const double* readings, double time) {
    const double* const all = merged_ != nullptr ? merged_->merge(readings, row_ - first_row_) : readings;
    if (!build(all)) return false;
    identify(all);
    finish(time);
    return true;
  }

  /// Writes a row of zeros for a record that cannot be used. It keeps its time where times are public.
  void write_unusable(std::string reason, double time = no_time) {
    note(std::move(reason));
    finish(time);
  }

 private:
  [[nodiscard]] bool build(const double* readings) {
    double* const x = batch_->x.data() + row_ * builder_->dimension();
    double* const weight = builder_->has_weights() ? batch_->weights.data() + row_ : nullptr;
    return builder_->build(readings, x, batch_->y[row_], weight);
  }
  void identify(const double* readings) {
    if (builder_->has_users()) batch_->users[row_] = builder_->user(readings);
  }
  void note(std::string reason) { batch_->rejects.push_back({Position{ordinal_}, std::move(reason)}); }
  void finish(double time) {
    if (timed_) batch_->times[row_] = time;
    batch_->next[row_] = ++ordinal_;
    ++row_;
  }

  const record::RowBuilder* builder_;
  record::RowBatch* batch_;
  MergedReadings* merged_;
  std::size_t first_row_;
  std::size_t row_;
  std::uint64_t ordinal_;
  bool timed_;
};

}  // namespace nustream::decode
