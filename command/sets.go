package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// sides turns the arguments of compare into two sets of runs. Two arguments are a set each; the
// runs of others must be of two targets.
func sides(arguments []string) (a, b compare.Side, notes []string, err error) {
	groups := [][]string{arguments}
	if len(arguments) == 2 {
		groups = [][]string{arguments[:1], arguments[1:]}
	}
	seen, copies := map[string]bool{}, map[string]string{}
	var all []compare.Side
	for _, group := range groups {
		dirs, err := unseen(group, seen, len(groups) > 1)
		if err != nil {
			return a, b, nil, err
		}
		runs, unread, err := report.ReadRuns(dirs)
		if err == nil && len(groups) == 1 {
			runs, unread, err = setOf(runs, unread)
		}
		if err == nil {
			err = copied(runs, copies)
		}
		if err != nil {
			return a, b, nil, err
		}
		failed := slices.DeleteFunc(slices.Clone(runs),
			func(s *result.Saved) bool { return s.Run.State != result.Failed })
		runs, left := completed(runs)
		notes = slices.Concat(notes, unread, left)
		if len(groups) == 1 {
			all = byTarget(runs, failed)
			continue
		}
		if len(runs) == 0 {
			return a, b, nil, fmt.Errorf("%s holds no complete run", group[0])
		}
		all = append(all, compare.Side{Name: sideName(group[0], runs), Runs: runs, Failed: failed})
	}
	if len(all) != 2 {
		return a, b, notes, notTwo(all)
	}
	return all[0], all[1], notes, nil
}

// unseen returns the run directories that arguments name, each once. A run that was seen in another
// set is refused.
func unseen(arguments []string, seen map[string]bool, sets bool) (dirs []string, _ error) {
	for _, argument := range arguments {
		found, err := runDirs(argument)
		if err != nil {
			return nil, err
		}
		for _, dir := range found {
			if seen[dir] && sets {
				return nil, fmt.Errorf("run %s is in both sets: it cannot differ from itself",
					relative(dir))
			}
			if !seen[dir] {
				dirs = append(dirs, dir)
			}
			seen[dir] = true
		}
	}
	return dirs, nil
}

// byTarget divides runs by their targets.
func byTarget(runs, failed []*result.Saved) []compare.Side {
	all := compare.ByTarget(runs)
	for i := range all {
		all[i].Failed = slices.DeleteFunc(slices.Clone(failed),
			func(s *result.Saved) bool { return s.Run.Name != all[i].Name })
	}
	return all
}

// notTwo says that runs are not of two targets.
func notTwo(all []compare.Side) error {
	runs := 0
	var names []string
	for _, s := range all {
		runs += len(s.Runs)
		names = append(names, s.Name)
	}
	return fmt.Errorf("%d runs of %d targets (%s) cannot be split into A and B: name both, each a "+
		"run, a folder of runs, a quoted pattern, or several of these separated by commas",
		runs, len(all), strings.Join(names, ", "))
}

// copied refuses copies of one run: they would count as independent measurements. seen has the
// folders of earlier runs by what tells runs apart.
func copied(runs []*result.Saved, seen map[string]string) error {
	for _, s := range runs {
		key := fmt.Sprint(s.Run.ID, s.Run.Name, s.Run.StartedAt.UnixNano())
		if first, again := seen[key]; again && s.Run.Imported == nil {
			return fmt.Errorf("%s is a copy of %s: name one of them", relative(s.Dir),
				relative(first))
		}
		seen[key] = s.Dir
	}
	return nil
}

// sideName returns the name of a set: its target, and the argument where that says more.
func sideName(argument string, runs []*result.Saved) string {
	targets := compare.ByTarget(runs)
	if len(targets) == 1 {
		return targets[0].Name + ", " + filepath.Base(filepath.Clean(argument))
	}
	return filepath.Base(filepath.Clean(argument))
}

// runDirs returns the run directories that an argument names, with links resolved. The argument
// is a run, a folder of runs, a pattern, or several of these separated by commas.
func runDirs(argument string) ([]string, error) {
	var out []string
	pieces := []string{argument}
	if _, err := os.Stat(argument); err != nil {
		pieces = strings.Split(argument, ",")
	}
	for _, piece := range pieces {
		if piece == "" {
			return nil, fmt.Errorf("%q names an empty path: name runs, folders of runs or quoted "+
				"patterns, separated by commas", argument)
		}
		paths := []string{piece}
		if _, err := os.Stat(piece); err != nil && strings.ContainsAny(piece, "*?[") {
			if paths, err = filepath.Glob(piece); err != nil {
				return nil, fmt.Errorf("%q is not a pattern: close each [ with a ]", piece)
			}
			if len(paths) == 0 {
				return nil, fmt.Errorf("no run matches the pattern %q", piece)
			}
		}
		for _, path := range paths {
			found, err := runsAt(path)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// runsAt returns a run directory itself, or the run directories in a folder.
func runsAt(path string) ([]string, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err == nil {
		path, err = filepath.Abs(resolved)
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not exist: name a run or a folder of runs", path)
	}
	if result.IsRun(path) {
		return []string{path}, nil
	}
	if err := experiment.Damaged(path); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("%s is neither a run nor a folder of runs", path)
	}
	var out []string
	for _, e := range entries {
		// A link points to a run in the same folder.
		if inner := filepath.Join(path, e.Name()); e.IsDir() && !strings.HasPrefix(e.Name(), ".") &&
			result.IsRun(inner) {
			out = append(out, inner)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf(
			"%s holds no runs: name a run directory, or the folder that plimsoll run --runs made",
			relative(path))
	}
	return out, nil
}

// setOf returns runs of one set of trials: for a single run, all of the set that it belongs to.
func setOf(runs []*result.Saved, unread []string) ([]*result.Saved, []string, error) {
	if len(runs) != 1 || len(unread) > 0 {
		return runs, unread, oneSet(runs)
	}
	run := runs[0]
	if run.Run.Trial == nil {
		return nil, nil, fmt.Errorf(
			"run %s does not belong to a set of trials: write plimsoll compare A B",
			run.Run.ID)
	}
	dirs, err := runsAt(filepath.Dir(run.Dir))
	if err != nil {
		return nil, nil, err
	}
	// Only these runs are read whole, because the folder may hold years of runs.
	return report.ReadRuns(slices.DeleteFunc(dirs, func(dir string) bool {
		var about struct{ Trial *result.Trial }
		return result.ReadDocument(dir, result.RunFile, "a run", &about) == nil &&
			(about.Trial == nil || about.Trial.Set != run.Run.Trial.Set)
	}))
}

// oneSet refuses runs of different sets of trials.
func oneSet(runs []*result.Saved) error {
	seen := map[string]bool{}
	var ways []string
	for _, s := range runs {
		set := ""
		if s.Run.Trial != nil {
			set = s.Run.Trial.Set
		}
		if set != "" && !seen[set] && len(ways) < 3 {
			ways = append(ways, "plimsoll compare "+relative(s.Dir))
		}
		seen[set] = true
	}
	if len(seen) < 2 {
		return nil
	}
	return errors.New(
		"these runs are of different sets of trials: name one set by any run of it (" +
			strings.Join(ways, "; ") + "), or two sets as A and B")
}

// completed returns the complete runs, and a note for each run that it leaves out. Of a set that
// went on until its figures were known it leaves out the runs that are not ranked, as the set did.
func completed(runs []*result.Saved) (kept []*result.Saved, notes []string) {
	for _, s := range runs {
		if s.Run.State == result.Complete {
			kept = append(kept, s)
			continue
		}
		notes = append(notes, fmt.Sprintf("run %s is left out: it is %s", s.Run.ID, s.Run.State))
	}
	if _, until := compare.GoalOf(kept); !until {
		return kept, notes
	}
	var ranked []*result.Saved
	var others []string
	rounds := map[string]int{}
	for _, s := range kept {
		of, why := verdict.RankingOf(&s.Run)
		if of == verdict.Ranked {
			ranked = append(ranked, s)
			rounds[s.Run.Name]++
			continue
		}
		others = append(others, fmt.Sprintf("run %s is left out: it is %s", s.Run.ID, why.Sentence))
	}
	for _, s := range kept {
		if rounds[s.Run.Name] < compare.LeastRounds { // too few are left
			return kept, notes
		}
	}
	return ranked, append(notes, others...)
}
