//go:build race

package load

// raceDetector makes each message some twenty times as slow.
const raceDetector = true
