package history

import (
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
	case (result.IsRun(path) || peak.Is(path)) && !r.tagged(path):
		r.left["without the tag "+r.tag]++
	case result.IsRun(path):
		r.run(path)
	case peak.Is(path):
		r.search(path)
	case verify.Is(path):
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
	s := r.seriesOf(run)
	s.Points = append(s.Points, p)
}

// seriesOf returns the series whose runs may be compared with a run.
func (r *reader) seriesOf(run *result.Run) *Series {
	for _, s := range r.Series {
		if s.first != nil && s.Target == run.Name && s.System == run.System.Name &&
			len(verdict.Comparable([]*result.Run{s.first, run})) == 0 {
			return s
		}
	}
	s := newSeries(run.Name, run.System.Name, run.Load.Workload, run.Durability.Level)
	s.first = run
	r.Series = append(r.Series, s)
	return s
}

// search adds a search for a peak.
func (r *reader) search(dir string) {
	if !r.Figures[0].OfSearch() {
		return
	}
	found, err := peak.Read(dir)
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
	asked := found.Resolved
	if asked.Workload == "" {
		asked = result.Resolved{Workload: found.Asked.Workload, Target: found.Asked.Target}
	}
	level := found.Durability.Level
	key := fmt.Sprintf("%s\x00%s\x00%d", asked.Workload, found.Name, level)
	at := slices.IndexFunc(r.Series, func(s *Series) bool { return s.key == key })
	if at < 0 {
		s := newSeries(found.Name, found.System.Name, found.Load.Workload, level)
		s.key = key
		at, r.Series = len(r.Series), append(r.Series, s)
	}
	s := r.Series[at]
	s.Points = append(s.Points, Point{ID: found.ID, Dir: dir, At: found.StartedAt,
		Plimsoll: build(found.Plimsoll), Servers: strings.Join(found.System.Servers, ", "),
		Values: map[string]float64{r.Figures[0].Name: found.Bracket.StableRate}})
}

func newSeries(target, system, workload string, level int) *Series {
	s := &Series{Target: target, System: system, Workload: workload, Level: level}
	s.Name = strings.Join([]string{target, workload, fmt.Sprintf("level %d", level)}, ", ")
	return s
}

// build returns the version of a plimsoll, with its commit.
func build(b result.Build) string {
	commit := b.Commit
	if len(commit) > 8 {
		commit = commit[:8]
	}
	return strings.TrimSpace(b.Version + " " + commit)
}

// finish orders the series, and makes equal names distinct.
func (r *reader) finish() {
	for _, s := range r.Series {
		slices.SortStableFunc(s.Points, func(a, b Point) int { return a.At.Compare(b.At) })
	}
	slices.SortStableFunc(r.Series, func(a, b *Series) int {
		if names := strings.Compare(a.Name, b.Name); names != 0 {
			return names
		}
		return a.Points[0].At.Compare(b.Points[0].At)
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
