package report

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/runs"
	"github.com/plimsoll-bench/plimsoll/internal/report/searches"
	"github.com/plimsoll-bench/plimsoll/internal/report/studies"
	"github.com/plimsoll-bench/plimsoll/internal/report/sweeps"
	"github.com/plimsoll-bench/plimsoll/internal/report/verifications"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Read reads the report of directories: of runs, or of the folders of experiments of one kind.
func Read(dirs []string) (form.Report, error) {
	all := make([]string, len(dirs))
	for i, dir := range dirs {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		if err := experiment.Damaged(dir); err != nil {
			return form.Report{}, err
		}
		all[i] = dir
	}
	for _, kind := range kinds {
		if r, is, err := kind(all); is || err != nil {
			return r, err
		}
	}
	saved, left, err := ReadRuns(all)
	if err != nil {
		return form.Report{}, err
	}
	return leftOut(runs.Report(saved), left), nil
}

// leftOut returns a report that says which runs it lacks.
func leftOut(r form.Report, left []string) form.Report {
	if len(left) == 0 {
		return r
	}
	r.LeftOut = left
	whole := r.Document
	r.Document = func() document.Document {
		d := whole()
		d.Blocks = append([]document.Block{part.Warnings(left)}, d.Blocks...)
		return d
	}
	return r
}

// ReadRuns reads the runs in directories, and returns a sentence for each that cannot be read. The
// error is the first one's, if none can.
func ReadRuns(dirs []string) (saved []*result.Saved, left []string, _ error) {
	var first error
	for _, dir := range dirs {
		s, err := verdict.Read(dir)
		if err != nil {
			first = cmp.Or(first, err)
			left = append(left, "left out: "+err.Error())
			continue
		}
		saved = append(saved, s)
	}
	if len(saved) == 0 {
		return nil, nil, first
	}
	return saved, left, nil
}

// kinds read the folders of the experiments of a kind, where all directories are such folders.
var kinds = []func([]string) (form.Report, bool, error){
	folders("sweeps", sweep.Folders.Is, sweeps.Read,
		func(all []form.Report) form.Report { return all[0] }),
	folders("studies", study.Folders.Is, studies.Read, studies.Report),
	folders("verifications", verify.Folders.Is, verify.Folders.Read, verifications.Report),
	folders("searches for a peak", peak.Folders.Is, peak.Folders.Read, searches.Report),
}

// folders reads the experiments of a kind; none or all of the directories must be its folders.
func folders[T any](kind string, is func(string) bool, read func(string) (T, error),
	report func([]T) form.Report) func([]string) (form.Report, bool, error) {
	return func(dirs []string) (form.Report, bool, error) {
		n := 0
		for _, dir := range dirs {
			if is(dir) {
				n++
			}
		}
		switch {
		case n == 0:
			return form.Report{}, false, nil
		case n < len(dirs):
			return form.Report{}, false,
				fmt.Errorf("%s and other results cannot be laid side by side: name only "+
					"the one or the other", kind)
		case n > 1 && kind == "sweeps":
			return form.Report{}, false,
				errors.New("sweeps are reported one by one: name one of them")
		}
		all := make([]T, len(dirs))
		for i, dir := range dirs {
			var err error
			if all[i], err = read(dir); err != nil {
				return form.Report{}, false, err
			}
		}
		return report(all), true, nil
	}
}
