package result

import "slices"

// Import names the tool that measured an imported run.
type Import struct {
	Tool  string   `json:"tool"`
	File  string   `json:"file"`  // name of the file that was read
	Notes []string `json:"notes"` // sentences on how that tool measures, which a reader must know
	// Recorded names the figures that the file has, so that a zero of them is a measurement.
	Recorded []string `json:"recorded,omitempty"`
	// PollErrors are the calls of consumers that failed, where the tool counts them.
	PollErrors int64 `json:"poll_errors,omitempty"`
}

// The figures that Import.Recorded can name.
const (
	RecordedAcked    = "acknowledged"
	RecordedReceived = "received"
	RecordedBacklog  = "backlog"
	RecordedRefused  = "refused"
)

// Knows reports whether the tool recorded a figure. An older plimsoll did not save this.
func (i *Import) Knows(figure string) bool { return slices.Contains(i.Recorded, figure) }
