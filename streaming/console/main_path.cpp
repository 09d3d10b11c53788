// One coefficient's path on one line of a terminal: its name and last value, a sparkline, and the spend. A stream has
// no end, so that the path is thinned as it grows.
#include "console/main_path.h"

#include <limits>

#include <fmt/format.h>

#include "console/path_printer.h"

namespace nustream::console {
namespace {

// More values than the sparkline has letters, so that after a halving there are still two for each letter.
constexpr std::size_t kept_values = 64;
constexpr std::size_t spark_width = 16;
constexpr std::size_t name_width = 16;

}  // namespace

std::size_t main_coefficient(const publish::ShownRelease& release) {
  // The intercept stands first where there is one.
  return release.estimate.size() > 1 && release.estimate.front().first == "intercept" ? 1 : 0;
}

void MainPath::add(const publish::ShownRelease& release) {
  if (release.estimate.empty()) return;
  const std::size_t j = main_coefficient(release);
  // What is quoted: the average once it has begun.
  const publish::NamedValues& quoted = release.average.empty() ? release.estimate : release.average;
  name_ = quoted[j].first;
  last_ = quoted[j].second;
  rho_ = release.rho;
  // One of `stride_` releases is kept; the last value is kept in any case, in `last_`.
  if (++left_out_ < stride_) return;
  left_out_ = 0;
  values_.push_back(last_);
  if (values_.size() < kept_values) return;
  // Half of the values are dropped and the stride doubles, so that any path keeps its whole length in few values.
  for (std::size_t i = 0; i < kept_values / 2; ++i) values_[i] = values_[2 * i + 1];
  values_.resize(kept_values / 2);
  stride_ *= 2;
}

std::string MainPath::shown(std::size_t room, bool unicode) const {
  if (name_.empty()) return {};
  const std::string name = fmt::format("  {} {}", chart::fitted(name_, name_width, unicode), shown_number(last_));
  const std::string spend = fmt::format("  rho {:.4g}", rho_);
  const std::size_t letters = chart::letters(name);
  // What matters least goes first: the sparkline, then the spend, then all of it.
  if (letters > room) return {};
  if (letters + spend.size() > room) return name;
  const std::size_t left = room - letters - spend.size();
  if (left < 5) return name + spend;
  return name + ' ' + chart::sparkline(values_, std::min(spark_width, left - 1), unicode) + spend;
}

}  // namespace nustream::console
