// Lines of settings that random streams of every kind have.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "random_stream.h"

namespace nustream::tests::settings {

using Random = std::mt19937_64;

template <class... Texts>
std::string one_of(Random& random, Texts... texts) {
  const std::string all[] = {texts...};
  return all[random() % sizeof...(texts)];
}

/// Adds users to a stream: their column, and in one stream of three times, by which limits hold within windows.
/// Returns the lines of [privacy] and of [users]. Records of some_times() fill short windows with a few records and
/// long ones with many.
std::string add_users(Random& random, const StreamLimits& limits, RandomStream& stream);
/// The lines of [stream] about its records and their times.
std::string format_of(const RandomStream& stream);
/// Adds columns. They are `bounded` for a first stage without a clip norm, which would leave the numbers where values
/// are far out.
void add_columns(std::string& toml, RandomStream& stream, const char* section, const std::string& prefix,
                 std::uint64_t count, bool bounded, Random& random);
/// Adds features of keys and headers where a topic's records may have them.
std::string add_beside_values(Random& random, const StreamLimits& limits, RandomStream& stream);
/// Which records are neighbours, and what the whole stream may cost.
std::string privacy_of(Random& random, const StreamLimits& limits);

/// Random settings of a model that is solved from running sums: random_sums.cpp.
RandomStream random_sums(Random& random, const StreamLimits& limits);

}  // namespace nustream::tests::settings
