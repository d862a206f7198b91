package verdict

import "github.com/plimsoll-bench/plimsoll/result"

// Judge judges a run of which nothing but run.json and these events was saved.
func Judge(r *result.Run, events ...result.Event) {
	s := &result.Saved{Run: *r, Events: events}
	JudgeSaved(s)
	*r = s.Run
}
