// Computes z = B w for a rational correlation by its recurrence; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "generator.h"
#include "nustream/noise/gaussian.h"

namespace nustream::noise {

/// z_t = w_t − Σ_i a_i s_{i,t}, s_{i,t+1} = p_i s_{i,t} + w_t, s_{i,0} = 0, on the loops of `set`. A sample costs 2m
/// multiply-adds, and the memory is m values per coordinate, row-major poles × dimension. Zero poles give z = w.
///
/// Source: docs/notation.md; the states s belong to the terms of β_t = −Σ_i a_i p_i^{t−1}.
[[nodiscard]] std::unique_ptr<Generator> make_recurrent(const Rational& rational, std::size_t dimension,
                                                        InstructionSet set);
/// The same filter from the p_i and a_i of β_t = −Σ_i a_i p_i^{t−1}. There must be as many weights as poles.
[[nodiscard]] std::unique_ptr<Generator> make_recurrent(std::vector<double> p, std::vector<double> a,
                                                        std::size_t dimension, InstructionSet set);

}  // namespace nustream::noise
