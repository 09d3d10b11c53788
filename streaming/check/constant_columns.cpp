// Compares usable rows with the first of them until no feature is left that has had one value alone, and finds words
// for those that are left. What is found goes to the operator alone; the run does not change.
#include "check/constant_columns.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "check/tally.h"

namespace nustream::check {
namespace {

using record::Transform;

/// Features that are made of one list have the same key: that of their column, and the kind of list. A feature that
/// is no indicator has a key of its own.
std::pair<std::string, int> list_of(const record::Feature& feature, std::size_t place) {
  const Transform transform = feature.first.transform;
  if (!record::is_indicator(transform) || feature.second) return {std::string(), static_cast<int>(place)};
  // The indicator of all other texts belongs to the list of the texts that are named.
  const bool is_of_texts = transform == Transform::indicator || transform == Transform::other;
  return {feature.first.column, static_cast<int>(is_of_texts ? Transform::indicator : transform)};
}

/// "'a', 'b', 'c', 'd' and 3 more".
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  return names.size() <= most ? text : fmt::format("{} and {} more", text, names.size() - most);
}

}  // namespace

ConstantColumns::ConstantColumns(const record::Schema& schema)
    : schema_(schema), skipped_(schema.intercept ? 1 : 0), constant_(schema.features.size()) {
  std::iota(constant_.begin(), constant_.end(), std::size_t{0});
}

void ConstantColumns::compare(const record::RowBatch& rows, std::size_t row) {
  const double* const x = rows.x.data() + row * rows.dimension + skipped_;
  if (usable_++ == 0) {
    first_.assign(x, x + schema_.features.size());
    first_target_ = rows.y[row];
  }
  // Once a feature has varied it is looked at no more.
  std::erase_if(constant_, [&](std::size_t j) { return x[j] != first_[j]; });
  target_is_constant_ = target_is_constant_ && rows.y[row] == first_target_;
  weighs_nothing_ = weighs_nothing_ && !rows.weights.empty() && rows.weights[row] == 0;
}

void ConstantColumns::take(const record::RowBatch& rows, std::size_t first) {
  // Rejects are kept by position, not by row: a reject belongs to the row that ends behind its position.
  auto reject = rows.rejects.begin();
  std::uint64_t begin = first == 0 ? 0 : rows.next[first - 1];
  for (std::size_t row = first; row < rows.count(); begin = rows.next[row++]) {
    while (reject != rows.rejects.end() && reject->position.value() < begin) ++reject;
    const bool is_rejected = reject != rows.rejects.end() && reject->position.value() < rows.next[row];
    if (!is_rejected) compare(rows, row);
  }
}

/// Whether a feature that has one value in all rows may be an intercept that the settings made by themselves.
bool ConstantColumns::stands_for_intercept(std::size_t feature) const {
  return skipped_ == 0 && first_[feature] != 0 && !record::is_indicator(schema_.features[feature].first.transform);
}

std::vector<std::string> ConstantColumns::names() const {
  std::map<std::pair<std::string, int>, std::size_t> varying;  // features of each list that are not constant
  for (std::size_t j = 0; j < schema_.features.size(); ++j) ++varying[list_of(schema_.features[j], j)];
  for (const std::size_t j : constant_) --varying[list_of(schema_.features[j], j)];
  std::vector<std::string> names;
  bool has_intercept = skipped_ > 0;
  for (const std::size_t j : constant_) {
    // A text that nobody has among the first records is no news while other texts of the same list vary.
    if (varying[list_of(schema_.features[j], j)] > 0) continue;
    if (!has_intercept && stands_for_intercept(j)) {
      has_intercept = true;
    } else {
      names.push_back(schema_.features[j].name);
    }
  }
  return names;
}

std::string ConstantColumns::in_words(Of of, const std::string& look) const {
  if (usable_ < usable_judged) return {};
  const bool is_first = of == Of::first_records;
  const std::string records = is_first ? fmt::format("the first {} usable records all have", with_separators(usable_))
                                       : fmt::format("all {} usable records have", with_separators(usable_));
  const std::string meanwhile = is_first ? "while that stays so, " : "";
  const std::string more = look + " shows the texts and ranges";
  if (schema_.is_weighted() && weighs_nothing_) {
    return fmt::format("{} weight 0: {}what is released is noise alone; {}", records, meanwhile, more);
  }
  const std::vector<std::string> same = names();
  std::string what = same.empty() ? std::string() : " the same " + listed(same);
  if (schema_.target && target_is_constant_) {
    what += fmt::format("{} the same target '{}'", what.empty() ? "" : " and", schema_.target->name);
  }
  if (what.empty()) return {};
  const std::string follows = !schema_.target ? "what is released of them can tell no more than that"
                              : same.empty()  ? "there is nothing for the features to explain"
                                              : "what is released of them tells nothing";
  return fmt::format("{}{}: {}{}; {}", records, what, meanwhile, follows, more);
}

}  // namespace nustream::check
