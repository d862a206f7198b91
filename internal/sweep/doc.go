// Package sweep measures a workload in many variants: every combination of the
// values that some of its keys, or some settings of its target, are to take.
//
// It promises that all that is wrong with keys and values is said before
// anything starts; that each combination, a cell, becomes an ordinary run
// directory inside the sweep's folder; that a cell which fails does not lose the
// others; and that a sweep which was killed at any moment goes on without
// repeating a cell whose run is complete. What a folder holds is told by the
// runs in it: sweep.json is the plan, and says how far it was known to be.
//
// It measures nothing itself and judges nothing: whoever runs a sweep gives it
// the function that measures a cell.
//
// A cell is complete when a run in the folder is complete and asked for exactly the
// cell's workload and target. So no crash repeats or loses a cell, whatever sweep.json
// had time to say.
package sweep
