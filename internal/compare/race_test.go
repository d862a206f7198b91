//go:build race

package compare

// raceDetector makes a simulation some ten times as slow.
const raceDetector = true
