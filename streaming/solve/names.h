// The features that an option names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "error.h"
#include "nustream/record/schema.h"

namespace nustream::solve {

/// Throws Failure(configuration), which lists the features that can be named.
[[noreturn]] inline void refuse_name(const std::string& option, const std::string& name,
                                     std::span<const record::Feature> features) {
  std::string names;
  for (const record::Feature& feature : features) names += (names.empty() ? "" : ", ") + feature.name;
  throw Failure(Exit::configuration, option + " " + name + ": allowed is one of " + names);
}

/// The number of the feature among `features`. Throws as refuse_name() does where it is none of them.
[[nodiscard]] inline std::size_t number_of(const std::string& option, const std::string& name,
                                           std::span<const record::Feature> features) {
  const auto found = std::ranges::find(features, name, &record::Feature::name);
  if (found == features.end()) refuse_name(option, name, features);
  return static_cast<std::size_t>(found - features.begin());
}

/// The numbers of the features that --features names, rising and without repetition; all of them where it names none.
[[nodiscard]] inline std::vector<std::size_t> numbers_of(const std::vector<std::string>& names,
                                                         std::span<const record::Feature> features) {
  std::vector<std::size_t> numbers;
  for (const std::string& name : names) numbers.push_back(number_of("--features", name, features));
  for (std::size_t j = 0; names.empty() && j < features.size(); ++j) numbers.push_back(j);
  std::ranges::sort(numbers);
  const auto twice = std::ranges::unique(numbers);
  numbers.erase(twice.begin(), twice.end());
  return numbers;
}

}  // namespace nustream::solve
