// Reads the small configuration of tests with overrides: the settings, or the message that refuses them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/config.h"
#include "config/mechanism.h"
#include "error.h"
#include "example_config.h"
#include "temporary_folder.h"

namespace nustream::config {

inline Config read(const std::vector<std::string>& overrides, const std::string& text = tests::example_config()) {
  const tests::TemporaryFolder folder;
  return read_config(folder.write("example.toml", text), overrides);
}

inline std::string refusal(const std::vector<std::string>& overrides,
                           const std::string& text = tests::example_config()) {
  try {
    const Config config = read(overrides, text);
    static_cast<void>(make_mechanism(config, privacy::Participation::once()));
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::configuration) << failure.what();
    return failure.what();
  }
  return "accepted";
}

}  // namespace nustream::config
