package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
)

// failures are the targets of a command whose runs failed.
type failures []failure

type failure struct {
	target string
	saved  *result.Saved // nil: nothing was measured
	err    error
}

// end returns the error of the command. With several targets, the error names the failed ones, and
// the runs of the others record each target without a run.
func (f failures) end(targets int, runs []*result.Saved) error {
	if len(f) == 0 {
		return nil
	}
	if targets == 1 {
		return f[0].err
	}
	var sentences, leftOut []string
	for _, one := range f {
		sentence := strings.ReplaceAll(strings.TrimSpace(one.err.Error()), "\n", "; ")
		sentences = append(sentences, fmt.Sprintf("target %s: %s", one.target, sentence))
		if one.saved == nil {
			leftOut = append(leftOut, one.target+": its run failed: "+sentence)
		}
	}
	var errs []error
	for _, s := range runs {
		if len(leftOut) == 0 {
			break
		}
		s.Run.Asked.LeftOut = append(s.Run.Asked.LeftOut, leftOut...)
		errs = append(errs, result.Save(s.Dir, &s.Run))
	}
	if err := errors.Join(errs...); err != nil {
		sentences = append(sentences, err.Error())
	}
	return errors.New(strings.Join(sentences, "\nplimsoll: "))
}
