// Package studies makes the report on studies: the tables of measured figures beside the published
// ones, whether the claims hold here, the answers over several rounds, and the plan of a study
// before it is measured.
//
// It promises that every cell stands in the report, with a reason for each that has no figure. The
// grid and its judgements are in internal/study.
package studies
