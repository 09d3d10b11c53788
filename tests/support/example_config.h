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

/// Instrumental variables with a control and two instruments; `first_stage` is what [first_stage] has beside its step
/// size.
inline std::string two_stage_config(const std::string& first_stage) {
  return R"([stream]
name = "instruments"
input = "rows.csv"
columns = ["w", "z", "v", "e", "y"]
header = false
[target]
column = "y"
[[features]]
column = "w"
[[instruments]]
column = "z"
[[instruments]]
column = "v"
[[endogenous]]
column = "e"
[descent]
step_size = 1e-3
clip_norm = 2.0
[first_stage]
step_size = 1e-3
)" + first_stage +
         R"(
[privacy]
rho = 2
delta = 1e-6
[noise]
nu = 0.02
[release]
every = 1
)";
}

/// Intervals whose second moments cost half of ρ.
inline std::string sandwich_config() {
  return R"([stream]
name = "sandwich"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "a"
[[features]]
column = "b"
[descent]
step_size = 1e-3
clip_norm = 2.0
average = "tail"
average_from = 3
[privacy]
rho = 2
delta = 1e-6
[noise]
nu = 0.02
[release]
every = 1
[intervals]
kind = "sandwich"
second_moment_clip = 4.0
squared_residual_clip = 3.0
share = 0.5
)";
}

/// A model that is solved from running sums, with bounds that records reach in every direction.
inline std::string moments_config() {
  return R"([stream]
name = "sums"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "a"
[[features]]
column = "b"
[model]
estimator = "moments"
[moments]
row_norm = 1.25
residual_bound = 2
[privacy]
rho = 2
delta = 1e-6
[release]
every = 1000
)";
}

/// A descent over a table.
inline std::string table_config() {
  return R"([stream]
name = "table"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x"
[descent]
step_size = 0.3
clip_norm = 2.0
minibatch = 2
[privacy]
rho = 0.5
delta = 1e-6
[estimate]
steps = 6
)";
}

/// A table with ten runs, each of which has its share of ρ.
inline std::string runs_config() {
  return table_config() + "[intervals]\nkind = \"runs\"\ncount = 10\n";
}

}  // namespace nustream::tests
