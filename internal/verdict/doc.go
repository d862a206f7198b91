// Package verdict judges a result: pure functions from a run to what may be
// believed of it.
//
// It promises that a run can be judged again at any time, by a newer plimsoll
// too, from its directory alone. It measures nothing.
package verdict
