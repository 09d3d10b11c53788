// Appends rows to a batch, in the order of their records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "decode/merged_readings.h"
#include "nustream/record/batch.h"
#include "nustream/record/row.h"

namespace nustream::decode {

/// A time that is not known.
inline constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

/// Writes one row a record, whatever the record holds: the one place where an ordinal becomes a position and an
/// unusable record a row of zeros.
class RowWriter {
 public:
  /// The next record written has `ordinal`. `timed`: the batch gets times. `merged`: what is written are the readings
  /// of lines, to be put together with those beside them, the first row's first; null: they are all there is.
  RowWriter(const record::RowBuilder& builder, bool timed, std::uint64_t ordinal, record::RowBatch& batch,
            MergedReadings* merged = nullptr)
      : builder_(&builder),
        batch_(&batch),
        merged_(merged),
        first_row_(batch.count()),
        row_(first_row_),
        ordinal_(ordinal),
        timed_(timed) {}

  /// Makes room for `rows` more; every one of them must then be written.
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

  /// The row of a record whose fields were read as `readings`; one of zeros where they make no row.
  void write(const double* readings, double time = no_time) {
    if (merged_ != nullptr) readings = merged_->merge(readings, row_ - first_row_);
    if (build(readings)) {
      identify(readings);
    } else {
      note(builder_->reason(readings));
    }
    finish(time);
  }

  /// The same of a record that can be used; else false, and it is still to be written.
  [[nodiscard]] bool write_usable(const double* readings, double time) {
    const double* const all = merged_ != nullptr ? merged_->merge(readings, row_ - first_row_) : readings;
    if (!build(all)) return false;
    identify(all);
    finish(time);
    return true;
  }

  /// The row of zeros of a record that cannot be used. It keeps its time where times are public.
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
