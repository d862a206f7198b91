// Package skew keeps a worker's clock on the coordinator's time, and says by how much the
// two can differ.
//
// A worker wraps its own clock in a Clock. It exchanges four timestamps with the
// coordinator one to ten times a second (Pace) and gives each Exchange to Clock.Add. An Estimator
// turns the exchanges into a Line, the coordinator's clock less the worker's own, with a
// bound. The Clock follows the line, so due times, stamps, latencies and accounts of all
// workers are on one clock.
//
// It does not touch the machine's clock, sends nothing, and knows no transport. What the kernel
// (Evidence) and chrony (AskChrony) say of the clock is shown to people, and used for nothing.
//
// # The bound is guaranteed
//
// No statistics are in it. A message cannot arrive before it was sent, so each exchange
// confines the offset from both sides, whatever the delays were: it was at most
// ReceivedNs-SentNs when the worker sent, and at least AnsweredNs-ReturnedNs when the
// answer was back. The Estimator returns the middle of all offsets that agree with the
// exchanges of the last minute, and half of their range as the bound. It assumes only how
// much a drift can be (MaxDriftPPM) and how fast it can change (JumpPPM and
// WanderPPMPerSecond). docs/design/clocks.md gives the reasons and what it cannot see.
//
// # Steps
//
// Exchanges that no drift explains prove that a clock stepped. The Estimator names the step
// and begins again. A step that is smaller than the round trips can pass unseen.
//
// # The disciplined clock
//
// A Clock never goes back and never jumps, except in Jump, before a run begins. It
// approaches the line at MaxSlewPPM at most, so a latency that is measured on it alone is
// wrong by no more than that share and the drift's. State.BoundNs includes the distance
// that remains.
//
// # Costs
//
// Reading the time costs an atomic load, two comparisons and a multiplication more than the
// worker's own clock, and no allocation. An exchange costs microseconds. An Estimator keeps
// at most maxExchanges exchanges, 32 bytes each.
package skew
