package studies

import (
	"github.com/plimsoll-bench/plimsoll/result"
)

// studyWarning is a warning of runs and searches below a study.
type studyWarning struct {
	result.Warning
	Of int `json:"of"` // so many runs and searches
}
