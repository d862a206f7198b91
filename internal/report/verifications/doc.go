// Package verifications makes the report on verifications: which promises held under which faults,
// with the evidence of each round and the command that repeats it.
//
// The rounds and their judgements are in internal/verify. A promise that held in some rounds was
// not broken in them; the report says of how many.
package verifications
