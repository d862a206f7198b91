//go:build race

package verify_test

// raceDetector reports a build with the race detector, which slows each message about 20
// times.
const raceDetector = true
