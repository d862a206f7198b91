//go:build race

package prove

// raceDetector makes each message some twenty times as slow.
const raceDetector = true
