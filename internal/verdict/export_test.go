package verdict

import "github.com/plimsoll-bench/plimsoll/result"

// Judge judges a run of which only run.json and these events were saved.
func Judge(r *result.Run, events ...result.Event) {
	s := &result.Saved{Run: *r, Events: events}
	JudgeSaved(s)
	*r = s.Run
}
