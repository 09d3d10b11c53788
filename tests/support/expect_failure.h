// Checks a call that has to end in a Failure of one exit code.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "error.h"

namespace nustream::tests {

/// Expects that `call` throws Failure(code), whose text is one line that holds `part`.
template <class Call>
void expect_failure(Exit code, Call call, const std::string& part = {}) {
  try {
    call();
    ADD_FAILURE() << "no failure; expected exit code " << static_cast<int>(code);
  } catch (const Failure& failure) {
    const std::string line = failure.what();
    EXPECT_EQ(static_cast<int>(failure.code()), static_cast<int>(code)) << line;
    EXPECT_NE(line.find(part), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

}  // namespace nustream::tests
