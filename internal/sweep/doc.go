// Package sweep measures a workload in many variants: every combination of given
// values of some keys of the workload or some settings of the target.
//
// It promises that every error in keys and values is reported before anything starts;
// that each combination, a cell, becomes an ordinary run directory inside the sweep's
// folder; that a failing cell does not lose the others; and that a sweep which was
// killed at any moment resumes without repeating a cell whose run is complete.
//
// A cell is complete when a run in the folder is complete and asked for exactly the
// cell's workload and target. So no crash repeats or loses a cell, whatever the plan in
// the folder says.
package sweep
