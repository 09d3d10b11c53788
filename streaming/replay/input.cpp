// Turns what the command line says of the input into a window, and reads that window once or several times. In
// several passes the same records are read again, under positions that count on (folder/window.h).
#include "replay/input.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "console/signals.h"
#include "error.h"
#include "located.h"
#include "nustream/record/timestamp.h"

namespace nustream::replay {
namespace {

/// Reads the window as often as there are passes, and turns ordinals into positions, which count on through the
/// passes.
class PassReader final : public decode::Reader {
 public:
  PassReader(const config::Config& config, const folder::Window& window, std::uint64_t position,
             decode::OtherKinds other_kinds)
      : input_(config.input),
        schema_(config.schema),
        window_(window),
        records_(*window.end - window.first),
        other_kinds_(other_kinds) {
    // A resumed run may begin in any pass: 13 records behind the beginning of a window of 10 is the fourth record of
    // the second pass.
    pass_ = (position - window.first) / records_;
    if (pass_ < window.passes) open(window.ordinal(position));
  }

  bool read(record::RowBatch& batch, std::size_t rows_max) override {
    if (pass_ >= window_.passes) return false;
    if (ended_) open(window_.first);
    const std::size_t rows_before = batch.count();
    const std::size_t rejects_before = batch.rejects.size();
    const bool more = reader_->read(batch, rows_max);
    const std::uint64_t shift = pass_ * records_;
    for (std::size_t i = rows_before; i < batch.count(); ++i) batch.next[i] += shift;
    for (std::size_t i = rejects_before; i < batch.rejects.size(); ++i) {
      batch.rejects[i].position = Position{batch.rejects[i].position.value() + shift};
    }
    pass_rows_ += batch.count() - rows_before;
    if (more) return true;
    if (pass_rows_ != pass_expected_) {
      // The next pass would begin early: a record would take part again sooner than the spend assumes.
      throw Failure(Exit::data, "the input changed between passes: pass " + std::to_string(pass_ + 1) + " gave " +
                                    std::to_string(pass_rows_) + " records in place of " +
                                    std::to_string(pass_expected_) + "; restore it and go on with --resume");
    }
    // The reader of the pass that has ended stays open until the next read, since at_hand() still shows its records.
    bytes_before_ += reader_->bytes_read();
    ended_ = true;
    return ++pass_ < window_.passes;
  }

  /// Passes over marked records in the pass that is open. A lane whose passes are all read has no reader, and nothing
  /// to pass over.
  bool pass(std::span<const std::uint64_t> positions, const Look& look) override {
    return !reader_ || reader_->pass(positions, look);
  }
  [[nodiscard]] std::vector<decode::ReadRecord> at_hand(std::uint64_t position) const override {
    return reader_ ? reader_->at_hand(window_.touched(position)) : std::vector<decode::ReadRecord>();
  }

  [[nodiscard]] std::uint64_t bytes_read() const noexcept override {
    // An ended reader is counted in `bytes_before_` already.
    return bytes_before_ + (reader_ && !ended_ ? reader_->bytes_read() : 0);
  }
  [[nodiscard]] std::optional<std::uint64_t> bytes_total() const noexcept override {
    if (!reader_ || !reader_->bytes_total()) return std::nullopt;
    return *reader_->bytes_total() * window_.passes;
  }

 private:
  void open(std::uint64_t from) {
    input_.from = from;
    input_.to = window_.end;
    pass_rows_ = 0;
    pass_expected_ = *window_.end - from;
    // A refusal by kind counts once. From the second pass on, records have been used, so that nothing may be refused
    // any more.
    reader_ = decode::open_reader(input_, schema_, std::exchange(other_kinds_, decode::OtherKinds::read));
    ended_ = false;
  }

  decode::InputSettings input_;
  const record::Schema& schema_;
  folder::Window window_;
  std::uint64_t records_;
  decode::OtherKinds other_kinds_;
  std::uint64_t pass_ = 0;
  bool ended_ = false;  // the reader's pass has ended, and the next one is not open yet
  std::uint64_t pass_rows_ = 0;
  std::uint64_t pass_expected_ = 0;
  std::uint64_t bytes_before_ = 0;
  std::unique_ptr<decode::Reader> reader_;
};

/// The ordinal that `text` names, as a number or as a time. For a time the input is searched for its first record at
/// or after it, which is allowed only where times are public: an ordinal is public, and would tell of them.
std::uint64_t ordinal_of(const config::Config& config, const std::string& text, const char* option) {
  std::uint64_t ordinal = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, ordinal);
  if (error == std::errc{} && rest == end) return ordinal;
  const std::optional<record::Timestamp> time = record::parse_timestamp(text);
  if (!time) {
    throw Failure(Exit::usage, std::string(option) + " " + text +
                                   ": write an ordinal or an offset such as 1000, or an ISO 8601 time");
  }
  return with_advice(
      Exit::configuration, std::string(option) + " by time needs stream.time and stream.times_public = true",
      [&] { return decode::ordinal_at_or_after(config.input, time->epoch_seconds, console::require_no_signal); });
}

}  // namespace

folder::Window resolve_window(const config::Config& config, const folder::Options& options) {
  folder::Window window;
  window.passes = options.passes;
  window.first = options.from ? ordinal_of(config, *options.from, "--from") : decode::first_position(config.input);
  if (options.to) window.end = ordinal_of(config, *options.to, "--to");
  // Several passes are accounted for over a window of known size, so that its end has to be found first.
  if (options.passes > 1) {
    const decode::PositionRange all = decode::all_positions(config.input, console::require_no_signal);
    window.first = std::max(all.first, window.first);
    window.end = std::min(all.end, window.end.value_or(all.end));
  }
  if (window.end && *window.end < window.first)
    throw Failure(Exit::usage, "--from is behind --to: no record is left");
  return window;
}

privacy::Participation participation(const folder::Window& window, std::uint64_t minibatch) {
  if (window.passes == 1) return privacy::Participation::once();
  const std::uint64_t steps = (*window.end - window.first) / minibatch;
  if (steps == 0) {
    throw Failure(Exit::configuration, "--passes: a pass of " + std::to_string(*window.end - window.first) +
                                           " records is shorter than a minibatch of " + std::to_string(minibatch) +
                                           "; lower descent.minibatch");
  }
  return {window.passes, steps};
}

std::unique_ptr<decode::Reader> open_window(const config::Config& config, const folder::Window& window,
                                            std::uint64_t position, decode::OtherKinds other_kinds) {
  if (window.passes > 1) return std::make_unique<PassReader>(config, window, position, other_kinds);
  decode::InputSettings input = config.input;
  input.from = position;
  input.to = window.end;
  return decode::open_reader(input, config.schema, other_kinds);
}

}  // namespace nustream::replay
