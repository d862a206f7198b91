package workload

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

const objectivesKey = "objectives"

// maxObjective is the greatest length of an objective, in bytes.
const maxObjective = 64

// checkObjectives checks the form of the objectives. Which figures there are is known where runs
// are judged (internal/compare).
func (w *Workload) checkObjectives(doc *strict.Document) {
	if len(w.Objectives) > MaxObjectives {
		doc.Reject(objectivesKey, fmt.Sprintf("must be at most %d, not %d", MaxObjectives,
			len(w.Objectives)))
		return
	}
	for i, text := range w.Objectives {
		if strings.TrimSpace(text) == "" || len(text) > maxObjective || !strict.IsText(text) {
			doc.Reject(fmt.Sprintf("%s[%d]", objectivesKey, i), fmt.Sprintf(
				"must be a condition of at most %d bytes, like publish.p99 < 20ms", maxObjective))
		}
	}
}
