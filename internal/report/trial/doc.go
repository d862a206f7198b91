// Package trial says in words what a search for a peak and its trials found: the purpose and
// outcome of a trial, the bracket, the side that limited, and the warnings.
//
// The state of a search under way and its report use the same words.
package trial
