// Text in, rows out, by the shipped decoder and row builder. The two texts of a game are made once and decoded anew
// in every game, because decoding is part of what is audited.
#include "audit/game_rows.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>

#include "decode/line_buffer.h"
#include "error.h"

namespace nustream::audit {
namespace {

constexpr std::size_t slack = decode::LineBuffer::slack;

/// Whether two rows are the same, where NaN counts as equal to NaN.
bool same(std::span<const double> one, std::span<const double> two) {
  return std::ranges::equal(one, two, [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

}  // namespace

/// Both texts are decoded once here, so that an audit whose canary is lost on the way refuses to begin.
GameRows::GameRows(const config::Config& config, const GameShape& shape, const Canary& canary)
    : config_(config),
      shape_(shape),
      canary_(canary),
      builder_(config.schema),
      decoder_(decode::make_line_decoder(config.input, builder_.fields(), decode::private_column(config.schema))) {
  if (decoder_->has_header()) decoder_->begin_file(canary_.header, "the audit's own stream");
  texts_[0] = text(canary_.absent);
  texts_[1] = text(canary_.record);
  require_arrival(texts_[1], canary_.row);
  require_arrival(texts_[0], canary_.absent_row);
}

void GameRows::require_arrival(const std::string& lines, const Row& row) {
  const record::RowBatch rows = decoded(lines);
  const auto at = static_cast<std::size_t>(shape_.at.front() * config_.descent.minibatch);
  const auto* const x = rows.x.data() + at * rows.dimension;
  const double weight = rows.weights.empty() ? 1 : rows.weights[at];
  if (same({x, rows.dimension}, row.x) && same({&rows.y[at], 1}, {&row.y, 1}) && weight == row.weight) return;
  throw Failure(Exit::configuration,
                config_.file +
                    ": the audit's own record does not arrive at the lane as it was written; are its columns' names "
                    "readable in this format, and stream.record_bytes_max large enough?");
}

bool GameRows::has_records(std::uint64_t step) const {
  // [begin, end) is the epoch of the step.
  const std::uint64_t begin = step / shape_.steps_of_epoch() * shape_.steps_of_epoch();
  const std::uint64_t end = begin + shape_.steps_of_epoch();
  const auto first = std::ranges::lower_bound(shape_.at, begin);
  const auto behind = std::ranges::lower_bound(shape_.at, end);
  if (first == behind || step < *first) return false;
  return end == shape_.steps || step <= *std::prev(behind);
}

std::string GameRows::text(const std::string& canary) const {
  std::string lines(slack, '\n');
  for (std::uint64_t step = 0; step < shape_.steps; ++step) {
    const bool of_user = config_.users.has_value();
    const bool here = of_user ? has_records(step) : shape_.takes_part(step);
    for (std::uint64_t i = 0; i < config_.descent.minibatch; ++i) {
      // A record is the first of its step; a user has all records of the step, and only its limits bound what they
      // do.
      lines += here && (i == 0 || of_user) ? canary : canary_.null;
      lines += '\n';
    }
  }
  return lines.append(slack, '\n');
}

record::RowBatch GameRows::decoded(const std::string& lines) {
  record::RowBatch rows;
  rows.dimension = builder_.dimension();
  // Each game meets its users for the first time.
  builder_.forget_users();
  decode::RowWriter writer(builder_, false, 0, rows);
  std::string_view left = std::string_view(lines).substr(slack, lines.size() - 2 * slack);
  while (!left.empty())
    left.remove_prefix(decoder_->decode(left, shape_.steps * config_.descent.minibatch, writer).bytes);
  date(rows);
  return rows;
}

void GameRows::date(record::RowBatch& rows) const {
  if (!config_.descent.users || !config_.descent.users->windows()) return;
  const auto length = std::chrono::duration<double>(config_.descent.users->windows()->period.length()).count();
  for (std::size_t i = 0; i < rows.count(); ++i) {
    const std::uint64_t window = shape_.window_of(i / config_.descent.minibatch);
    // The middle of a window is far from both of its borders, whatever rounding does.
    rows.times.push_back((static_cast<double>(window) + .5) * length);
  }
}

}  // namespace nustream::audit
