// A small valid configuration that tests change one key at a time.
#pragma once

#include <string>

namespace nustream::tests {

inline std::string example_config() {
  return R"([stream]
name = "example"
input = "rows.csv"

[target]
column = "y"

[[features]]
column = "x"
center = 0.5
scale = 2.0

[descent]
step_size = 0.01
clip_norm = 1.0

[privacy]
rho = 0.5
delta = 1e-6

[noise]
nu = 0.01

[state]
directory = "state"
)";
}

}  // namespace nustream::tests
