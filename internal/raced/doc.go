// Package raced says whether the race detector watches this program, which makes each message some
// twenty times as slow. It is for tests, whose bounds of real time do not hold then.
package raced
