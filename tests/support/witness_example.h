// A witness of a known stream, and entries of its ledger.
#pragma once

#include <cstdint>
#include <string>

#include "journal/ledger_chain.h"
#include "journal/witness.h"

namespace nustream::tests {

inline journal::LedgerEntry entry(std::uint32_t epoch, std::uint64_t steps) {
  return {"mine",
          LaneId{0},
          EpochId{epoch},
          Position{0},
          Position{steps},
          StepCount{steps},
          Rho{0.125},
          Rho{0.25},
          std::string(64, 'd'),
          {privacy::Adjacency::zero_out},
          true,
          journal::Overlap::disjoint};
}

inline journal::Witness example(std::uint64_t steps = 1000) {
  journal::Witness witness;
  for (std::size_t i = 0; i < witness.account.size(); ++i) witness.account[i] = static_cast<std::uint8_t>(i);
  witness.stream = "mine";
  witness.lane = LaneId{3};
  witness.folder = "/data/mine";
  witness.epoch = EpochId{2};
  witness.steps = StepCount{steps};
  witness.ledger_head.fill(0xab);
  witness.epochs = {entry(0, 500), entry(2, steps)};
  return witness;
}

}  // namespace nustream::tests
