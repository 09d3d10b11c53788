// The code of kernel.h, compiled once for each instruction set. NUSTREAM_KERNEL names the function to define.
//
// Nothing here may call an inline function of a shared header unless it is always inlined. The linker could otherwise
// keep the copy with the wider instructions for everyone.
#include <cmath>
#include <utility>

#include "descent/kernel.h"
#include "descent/pack.h"
#include "descent/private_step.h"
#include "nustream/model/visit.h"

namespace nustream::descent::kernel {
namespace {

// The d entries as packs. `fixed` is the number of packs where the compiler is to know it, and 0 otherwise.
template <std::size_t fixed>
struct Shape {
  std::size_t before_last;  // number of packs before the last one
  First last;

  explicit Shape(std::size_t dimension)
      : before_last((dimension - 1) / pack_size), last{dimension - before_last * pack_size} {}

  // Calls body(p, Whole or First) for each pack p.
  template <class Body>
  void each(const Body& body) const {
    if constexpr (fixed == 0) {
      for (std::size_t p = 0; p < before_last; ++p) body(p, Whole{});
      body(before_last, last);
    } else {
      // There is no loop here: with constant indices the compiler keeps the packs in registers.
      [&]<std::size_t... p>(std::index_sequence<p...>) {
        (body(p, Whole{}), ...);
      }(std::make_index_sequence<fixed - 1>());
      body(fixed - 1, last);
    }
  }

  // Σ_p term(p, Whole or First). Where there are many packs, four separate sums are kept, so that additions do not
  // wait for each other.
  template <class Term>
  [[nodiscard]] double sum(const Term& term) const {
    if constexpr (fixed == 0) {
      Reals sums[4] = {};
      std::size_t p = 0;
      for (; p + 4 <= before_last; p += 4) {
        for (std::size_t i = 0; i < 4; ++i) sums[i] = sums[i] + term(p + i, Whole{});
      }
      for (; p < before_last; ++p) sums[0] = sums[0] + term(p, Whole{});
      sums[1] = sums[1] + term(before_last, last);
      return kernel::sum((sums[0] + sums[2]) + (sums[1] + sums[3]));
    } else {
      Reals total = term(fixed - 1, last);
      [&]<std::size_t... p>(std::index_sequence<p...>) {
        ((total = total + term(p, Whole{})), ...);
      }(std::make_index_sequence<fixed - 1>());
      return kernel::sum(total);
    }
  }
};

// Reads and writes pack p of a vector that is not padded.
template <class Entry, class Entries>
inline auto get(const Entry* vector, std::size_t p, Entries entries) {
  return get(vector + p * pack_size, entries);
}
template <class Entries>
inline void put(double* vector, std::size_t p, Entries entries, const Reals& value) {
  put(vector + p * pack_size, entries, value);
}

// The iterate. It lives in registers where its number of packs is known, and in the job's memory otherwise.
template <std::size_t fixed>
struct Iterate {
  Reals packs[fixed];

  explicit Iterate(const Job& job) {
    _Pragma("GCC unroll 4") for (std::size_t p = 0; p < fixed; ++p) packs[p] = load(job.theta + p * pack_size);
  }
  void save(const Job& job) const {
    for (std::size_t p = 0; p < fixed; ++p) store(job.theta + p * pack_size, packs[p]);
  }
  [[nodiscard]] Reals get(std::size_t p) const { return packs[p]; }
  void set(std::size_t p, const Reals& value) { packs[p] = value; }
};

template <>
struct Iterate<0> {
  double* memory;

  explicit Iterate(const Job& job) : memory(job.theta) {}
  void save(const Job& /*job*/) const {}
  [[nodiscard]] Reals get(std::size_t p) const { return load(memory + p * pack_size); }
  void set(std::size_t p, const Reals& value) { store(memory + p * pack_size, value); }
};

inline bool is_finite(double value) {
  return value - value == 0;
}

// The gradient of one record: on_grid(factor, x), or job.units where the record is out of range.
struct RecordGradient {
  const double* x;
  double factor;
  bool out_of_range;
};

template <class Shape, class Iterate, class Formula>
inline RecordGradient record_gradient(const Shape& shape, const Iterate& theta, const Formula& formula, Job& job,
                                      std::size_t record) {
  const double* const x = job.x + record * job.dimension;
  const double y = Formula::uses_target ? job.y[record] : 0.0;
  const double squares = shape.sum([&](std::size_t p, auto entries) {
    const Reals row = get(x, p, entries);
    return row * row;
  });
  double prediction = 0;
  if constexpr (Formula::uses_prediction) {
    prediction = shape.sum([&](std::size_t p, auto entries) { return get(x, p, entries) * theta.get(p); });
  }
  double slope = formula.slope(prediction, y);
  if (job.weights != nullptr) slope *= job.weights[record];

  // An infinite slope may pass, because clip_gradient() keeps its direction.
  const bool in_range = squares_in_range(squares) && slope == slope && is_finite(y);
  if (__builtin_expect(!in_range, 0)) {
    if (clip_out_of_range(job, slope, x, y, Formula::uses_target)) ++job.clipped;
    return {x, 0, true};
  }
  // The root and the quotient in clip_gradient() do not depend on θ, so they need not wait for the step before.
  const ClippedGradient clipped = clip_gradient(slope, __builtin_sqrt(squares), {job.units_per_gradient, job.radius});
  job.clipped += clipped.is_long ? 1U : 0U;
  return {x, clipped.factor, false};
}

template <class Entries>
inline Integers gradient_pack(const Job& job, const RecordGradient& gradient, std::size_t p, Entries entries) {
  if (__builtin_expect(gradient.out_of_range, 0)) return get(job.units, p, entries);
  return on_grid(gradient.factor, get(gradient.x, p, entries));
}

template <class Shape, class Iterate>
inline void project(const Shape& shape, Iterate& theta, const Job& job) {
  if (job.bounds.lower != nullptr) {
    shape.each([&](std::size_t p, auto) {
      const std::size_t at = p * pack_size;
      theta.set(p, clamp(theta.get(p), load(job.bounds.lower + at), load(job.bounds.upper + at)));
    });
  } else if (job.bounds.ball_radius > 0) {
    const double squares = shape.sum([&](std::size_t p, auto) { return theta.get(p) * theta.get(p); });
    if (squares_in_range(squares)) {
      const double factor = job.bounds.ball_radius / __builtin_sqrt(squares);
      if (factor >= 1) return;
      shape.each([&](std::size_t p, auto) { theta.set(p, theta.get(p) * broadcast(factor)); });
    } else {
      theta.save(job);
      project_out_of_range(job);
      theta = Iterate(job);
    }
  }
}

// θ̄ ← θ̄ + gain (θ − θ̄), as descent/averaging.h says.
template <class Shape, class Iterate>
inline void average(const Shape& shape, const Iterate& theta, const Job& job, double gain) {
  shape.each([&](std::size_t p, auto entries) {
    const Reals before = get(job.average, p, entries);
    put(job.average, p, entries, before + broadcast(gain) * (theta.get(p) - before));
  });
}

// Moves pack p of v and then of θ.
template <class Iterate>
inline void move_by_velocity(Iterate& theta, const Job& job, const MomentumStep& step, std::size_t p,
                             const Reals& noisy) {
  double* const at = job.velocity + p * pack_size;
  const Reals velocity = step.velocity(load(at), theta.get(p), noisy);
  store(at, velocity);
  theta.set(p, step.moved(theta.get(p), velocity));
}

// θ ← Π(θ(1 − ηλ) − η(Σ_i u_i + z)s/m), or a step by the velocity with momentum. The last record's gradient goes
// straight into the step, so that a step of one record never touches the sum in memory.
template <class Shape, class Iterate, class Formula>
inline void step(const Shape& shape, Iterate& theta, const Formula& formula, Job& job, std::size_t t) {
  const std::size_t begin = t * job.minibatch;
  const std::size_t last = begin + job.minibatch - 1;
  for (std::size_t record = begin; record < last; ++record) {
    const RecordGradient one = record_gradient(shape, theta, formula, job, record);
    shape.each([&](std::size_t p, auto entries) {
      const Integers gradient = gradient_pack(job, one, p, entries);
      std::int64_t* const sum = job.sum + p * pack_size;
      store(sum, record == begin ? gradient : saturating_add(load(sum), gradient));
    });
  }
  const RecordGradient one = record_gradient(shape, theta, formula, job, last);
  const double l2 = job.l2;
  const NoisyStep noisy_step = NoisyStep::of(job.step_sizes[t], l2, job.gradient_per_unit);
  const std::int64_t* const noise = job.noise + t * job.dimension;
  shape.each([&](std::size_t p, auto entries) {
    const Integers gradient = gradient_pack(job, one, p, entries);
    const Integers sum = job.minibatch == 1 ? gradient : saturating_add(load(job.sum + p * pack_size), gradient);
    Reals noisy = add_noise(sum, get(noise, p, entries));
    if (__builtin_expect(job.velocity != nullptr, 0)) {
      move_by_velocity(theta, job, {job.momentum, job.step_sizes[t], l2, job.gradient_per_unit}, p, noisy);
    } else {
      theta.set(p, noisy_step.moved(theta.get(p), noisy));
    }
  });
  project(shape, theta, job);
  if (job.average != nullptr && job.average_gains[t] > 0) average(shape, theta, job, job.average_gains[t]);
}

template <std::size_t fixed, class Formula>
void run_shape(const Formula& formula, Job& job) {
  const Shape<fixed> shape(job.dimension);
  Iterate<fixed> theta(job);
  for (std::size_t t = 0; t < job.steps; ++t) step(shape, theta, formula, job, t);
  theta.save(job);
}

}  // namespace

void NUSTREAM_KERNEL(Job& job) {
  model::visit(job.loss, [&](const auto& formula) {
    switch ((job.dimension + pack_size - 1) / pack_size) {
      case 1:
        return run_shape<1>(formula, job);
      case 2:
        return run_shape<2>(formula, job);
      case 3:
        return run_shape<3>(formula, job);
      case 4:
        return run_shape<4>(formula, job);
      default:
        return run_shape<0>(formula, job);
    }
  });
}

}  // namespace nustream::descent::kernel
