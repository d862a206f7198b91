package history

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// History is the figures of all experiments below a folder.
type History struct {
	Figures []figure.Figure
	Series  []*Series
	// LeftOut has a sentence for each reason why experiments are in no series.
	LeftOut []string
}

// Series is the experiments that may be compared: one target, one load, one durability level.
type Series struct {
	Name     string  `json:"name"`
	Target   string  `json:"target"`
	System   string  `json:"system"`
	Workload string  `json:"workload"`
	Level    int     `json:"level"`
	Points   []Point `json:"points"` // in order of time

	first *result.Run // the run to which others are compared; nil: of searches
	key   string      // of searches
}

// Point is one experiment.
type Point struct {
	At       time.Time `json:"time"` // of its start
	ID       string    `json:"experiment"`
	Dir      string    `json:"directory"`
	Plimsoll string    `json:"plimsoll"` // version, with the commit where it is known
	Servers  string    `json:"servers"`  // versions
	// By the name of a figure, in its unit.
	Values map[string]float64 `json:"values"`
}

// FindFigures returns the figures of a list of names with commas between: of runs, or the peak of
// searches, the confirmed stable end of their brackets.
func FindFigures(names string) ([]figure.Figure, error) {
	out, err := figure.List(names)
	for _, f := range out {
		switch {
		case f.OfSearch() && f.Name != figure.Peak:
			return nil, fmt.Errorf("%s has no history: name %s", f.Name, figure.Peak)
		case f.OfSearch() && len(out) > 1:
			return nil, errors.New("peak is a figure of searches and the others are of runs: " +
				"name the one or the others")
		}
	}
	return out, err
}

// mostFolders bounds the folders that are looked at.
const mostFolders = 200_000

// reader collects the experiments of a folder.
type reader struct {
	History
	root    string
	tag     string // that readers gave to experiments; "": all of them
	folders int
	left    map[string]int // experiments by the reason why they are left out
}

// Read reads the experiments below a folder; with a tag, those that have it. Trials of a search,
// rounds of a verification and hidden folders do not count by themselves.
func Read(root, tag string, figures []figure.Figure) (*History, error) {
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	r := &reader{History: History{Figures: figures}, root: root, tag: tag,
		left: map[string]int{}}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder: name the one that holds the experiments", root)
	}
	if err := filepath.WalkDir(root, r.visit); err != nil {
		return nil, fmt.Errorf("look for experiments: %w", err)
	}
	r.finish()
	return &r.History, nil
}

func (r *reader) visit(path string, d fs.DirEntry, err error) error {
	switch {
	case err != nil && d != nil && d.IsDir():
		r.left["a folder that cannot be read"]++
		return filepath.SkipDir
	case err != nil:
		return err
	case !d.IsDir():
		return nil
	case strings.HasPrefix(d.Name(), ".") && r.folders > 0:
		return filepath.SkipDir
	}
	if r.folders++; r.folders > mostFolders {
		return fmt.Errorf("%s holds more than %s folders: name a folder further down", path,
			quantity.Count(mostFolders))
	}
	damage := experiment.Damaged(path)
	switch {
	case damage != nil:
		r.LeftOut = append(r.LeftOut, "left out: "+damage.Error())
	case (result.IsRun(path) || peak.Folders.Is(path)) && !r.tagged(path):
		r.left["without the tag "+r.tag]++
	case result.IsRun(path):
		r.run(path)
	case peak.Folders.Is(path):
		r.search(path)
	case verify.Folders.Is(path):
	default:
		return nil
	}
	return filepath.SkipDir
}

// tagged reports whether an experiment, or one that it belongs to, has the tag.
func (r *reader) tagged(dir string) bool {
	for r.tag != "" && !slices.Contains(experiment.ReadNotes(dir).Tags, r.tag) {
		if dir == r.root || dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
	return true
}

// run adds a run to the series that it belongs to.
func (r *reader) run(dir string) {
	if r.Figures[0].OfSearch() {
		return
	}
	run, err := result.ReadHead(dir)
	if err != nil {
		r.LeftOut = append(r.LeftOut, "left out: "+err.Error())
		return
	}
	counts := !slices.ContainsFunc(r.Figures, func(f figure.Figure) bool { return !f.IsCount() })
	switch ranked, why := verdict.RankingOf(run); {
	case counts: // a loss in a run that cannot be ranked is a loss
	case ranked == verdict.Unranked:
		r.left[why.Sentence]++
		return
	case ranked == verdict.RatesRanked && slices.ContainsFunc(r.Figures, figure.Figure.IsLatency):
		r.left["overloaded"]++
		return
	}
	p := Point{ID: run.ID, Dir: dir, At: run.StartedAt, Plimsoll: build(run.Plimsoll),
		Servers: strings.Join(run.System.Servers, ", "), Values: map[string]float64{}}
	for _, f := range r.Figures {
		v, ok := f.Value(run)
		if !ok {
			r.left["no exact "+f.Name]++
			return
		}
		p.Values[f.Name] = v
	}
	r.add(p, Series{Target: run.Name, System: run.System.Name, Workload: run.Load.Workload,
		Level: run.Durability.Level, first: run}, func(s *Series) bool {
		return s.Target == run.Name && s.System == run.System.Name &&
			len(verdict.Comparable([]*result.Run{s.first, run})) == 0
	})
}

// add adds a point to the series that it is of, or to a fresh one.
func (r *reader) add(p Point, fresh Series, is func(*Series) bool) {
	at := slices.IndexFunc(r.Series, is)
	if at < 0 {
		fresh.Name = fmt.Sprintf("%s, %s, level %d", fresh.Target, fresh.Workload, fresh.Level)
		at, r.Series = len(r.Series), append(r.Series, &fresh)
	}
	r.Series[at].Points = append(r.Series[at].Points, p)
}

// search adds a search for a peak.
func (r *reader) search(dir string) {
	if !r.Figures[0].OfSearch() {
		return
	}
	found, err := peak.Folders.Read(dir)
	switch {
	case err != nil:
		r.LeftOut = append(r.LeftOut, "left out: "+err.Error())
		return
	case found.State != result.Complete:
		r.left[string(found.State)]++
		return
	case found.Bracket.Confirmed == 0:
		r.left["no confirmed stable rate"]++
		return
	}
	level := found.Durability.Level
	key := fmt.Sprintf("%s\x00%s\x00%d",
		cmp.Or(found.Resolved.Workload, found.Asked.Workload), found.Name, level)
	r.add(Point{ID: found.ID, Dir: dir, At: found.StartedAt, Plimsoll: build(found.Plimsoll),
		Servers: strings.Join(found.System.Servers, ", "),
		Values:  map[string]float64{r.Figures[0].Name: found.Bracket.StableRate}},
		Series{Target: found.Name, System: found.System.Name, Workload: found.Load.Workload,
			Level: level, key: key},
		func(s *Series) bool { return s.key == key })
}

// build returns the version of a plimsoll, with its commit.
func build(b result.Build) string {
	return strings.TrimSpace(b.Version + " " + b.Commit[:min(len(b.Commit), 8)])
}

// finish orders the series, and makes equal names distinct.
func (r *reader) finish() {
	for _, s := range r.Series {
		slices.SortStableFunc(s.Points, func(a, b Point) int { return a.At.Compare(b.At) })
	}
	slices.SortStableFunc(r.Series, func(a, b *Series) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Points[0].At.Compare(b.Points[0].At))
	})
	seen := map[string]int{}
	for _, s := range r.Series {
		if seen[s.Name]++; seen[s.Name] > 1 {
			s.Name = fmt.Sprintf("%s (%d)", s.Name, seen[s.Name])
		}
	}
	for _, why := range slices.Sorted(maps.Keys(r.left)) {
		r.LeftOut = append(r.LeftOut, fmt.Sprintf("left out: %s, %s",
			quantity.Plural(r.left[why], "experiment", "experiments"), why))
	}
}

// Keep removes the series whose names do not contain the text.
func (h *History) Keep(text string) {
	h.Series = slices.DeleteFunc(h.Series,
		func(s *Series) bool { return !strings.Contains(s.Name, text) })
}

// column returns the values of a figure.
func (s *Series) column(name string) []float64 {
	out := make([]float64, len(s.Points))
	for i, p := range s.Points {
		out[i] = p.Values[name]
	}
	return out
}
