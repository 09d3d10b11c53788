// z = B w for a rational correlation by its recurrence; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "generator.h"
#include "nustream/noise/gaussian.h"

namespace nustream::noise {

/// z_t = w_t − Σ_i a_i s_{i,t}, s_{i,t+1} = p_i s_{i,t} + w_t, s_{i,0} = 0, on the loops of `set`: 2m multiply-adds
/// per sample, memory of m values per coordinate (row-major poles × dimension). Zero poles give z = w.
///
/// Source: math of docs/notation.md; the values s are those of β's expansion into β_t = −Σ_i a_i p_i^{t−1}.
[[nodiscard]] std::unique_ptr<Generator> make_recurrent(const Rational& rational, std::size_t dimension,
                                                        InstructionSet set);
/// The same from β_t = −Σ_i a_i p_i^{t−1} itself; as many weights as poles.
[[nodiscard]] std::unique_ptr<Generator> make_recurrent(std::vector<double> p, std::vector<double> a,
                                                        std::size_t dimension, InstructionSet set);

}  // namespace nustream::noise
