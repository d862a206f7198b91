package serve

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The bounds of a list.
const (
	maxEntries = 5000 // that a list reads
	maxNesting = 4    // folders below one another
)

// kinds are the kinds of entries.
var kinds = append([]string{"run"}, experiment.Names...)

// entry is one experiment in the list: a run, or a folder of runs that answer one question.
type entry struct {
	Place    string // relative to the listed folder, with slashes
	Kind     string // "": it cannot be read
	Name     string // of the target, the workload or the study
	Workload string
	State    result.State
	Started  time.Time
	Level    int     // of durability; 0: not known
	Rate     float64 // acknowledged, or the highest stable rate of a search; 0: none
	P99Ns    int64   // of publish latency; 0: none
	Remark   string  // what restricts the figures
	Bad      bool
	Notes    experiment.Notes
}

// entries reads the entries of folders. It remembers what it read of files that do not change.
type entries struct {
	mu   sync.Mutex
	read map[string]remembered // by directory
}

type remembered struct {
	entry entry
	size  int64
	at    time.Time
}

// headFile returns the file that makes a directory an experiment, or nil if it is not one.
func headFile(dir string) fs.FileInfo {
	if info, err := os.Lstat(filepath.Join(dir, result.RunFile)); err == nil && !info.IsDir() {
		return info
	}
	return experiment.HeadFile(dir)
}

// below returns the experiments below a folder, and whether there are more than maxEntries. The
// runs of an experiment belong to it and are not listed.
func (e *entries) below(root string) (all []entry, more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := map[string]remembered{}
	var visit func(place string, nesting int)
	visit = func(place string, nesting int) {
		dir := filepath.Join(root, filepath.FromSlash(place))
		if info := headFile(dir); info != nil && place != "" {
			if more = more || len(all) == maxEntries; more {
				return
			}
			r := e.one(dir, place, info)
			now[dir] = r
			r.entry.Notes = experiment.ReadNotes(dir)
			all = append(all, r.entry)
			return
		}
		inside, err := os.ReadDir(dir)
		if err != nil || nesting == maxNesting {
			return
		}
		for _, d := range inside {
			if d.IsDir() && !strings.HasPrefix(d.Name(), ".") && !more {
				visit(path.Join(place, d.Name()), nesting+1)
			}
		}
	}
	visit("", 0)
	e.read = now
	return all, more
}

// one reads the entry of a directory, unless it is known already.
func (e *entries) one(dir, place string, info fs.FileInfo) remembered {
	r := e.read[dir]
	if r.entry.State != result.Running && r.size == info.Size() && r.at.Equal(info.ModTime()) {
		return r
	}
	return remembered{read(dir, place), info.Size(), info.ModTime()}
}

// read reads the entry of a directory. An entry that cannot be read says why.
func read(dir, place string) (e entry) {
	e.Place, e.Name = place, path.Base(place)
	if err := linksWithin(dir, dir); err != nil {
		return e.broken(dir, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, result.RunFile)); err == nil {
		r, err := result.ReadHead(dir)
		if err != nil {
			return e.broken(dir, err)
		}
		e.ofRun(r)
		return e
	}
	r, err := experiment.ReadHead(dir)
	if err != nil {
		return e.broken(dir, err)
	}
	e.Kind, e.Name, e.State, e.Started = r.Kind, cmp.Or(r.Name, e.Name), r.State, r.StartedAt
	e.Remark = r.StateReason
	if s, err := peak.Folders.Read(dir); err == nil {
		e.Level, e.Rate = s.Durability.Level, s.Bracket.StableRate
	}
	if s, err := verify.Folders.Read(dir); err == nil && slices.ContainsFunc(s.Guarantees,
		func(g verify.Guarantee) bool { return g.Promised && g.Outcome == result.Broken }) {
		e.Remark, e.Bad = "broke a promise", true
	}
	return e
}

func (e *entry) ofRun(r *result.Run) {
	e.Kind, e.Name, e.State, e.Started = "run", cmp.Or(r.Name, e.Name), r.State, r.StartedAt
	e.Workload = r.Load.Workload
	e.Level, e.Rate = r.Durability.Level, r.Summary.AchievedRate
	e.P99Ns, _ = r.Summary.Series(result.Publish).At(99)
	ranked, why := verdict.RankingOf(r)
	switch {
	case r.State == result.Running:
	case len(r.Ended) > 0:
		e.Remark, e.Bad = verdict.EndedServers(r)+" ended meanwhile", true
	case !verdict.Sound(r):
		e.Remark, e.Bad = "broke a promise", true
	case r.Summary.Generator.Limited:
		e.Remark = "limited by plimsoll: not ranked"
	case ranked == verdict.RatesRanked:
		e.Remark = why.Sentence
	case r.Imported != nil:
		e.Remark = "measured by " + r.Imported.Tool
	case r.State == result.Complete && ranked == verdict.Unranked:
		e.Remark = why.Sentence + ": not ranked"
	default:
		e.Remark = r.StateReason
	}
}

func (e entry) broken(dir string, err error) entry {
	e.Remark, e.Bad = strings.ReplaceAll(sentenceOf(err), dir, e.Place), true
	return e
}

// wanted is a reader's filter and order of the list.
type wanted struct {
	Search, Kind, State, Sort string
}

// orders are the ways to sort a list, each with the greatest first.
var orders = map[string]func(a, b *entry) int{
	"started": func(a, b *entry) int { return b.Started.Compare(a.Started) },
	"name":    func(a, b *entry) int { return cmp.Compare(b.Name, a.Name) },
	"kind":    func(a, b *entry) int { return cmp.Compare(b.Kind, a.Kind) },
	"state":   func(a, b *entry) int { return cmp.Compare(b.State, a.State) },
	"level":   func(a, b *entry) int { return cmp.Compare(b.Level, a.Level) },
	"rate":    func(a, b *entry) int { return cmp.Compare(b.Rate, a.Rate) },
	"p99":     func(a, b *entry) int { return cmp.Compare(b.P99Ns, a.P99Ns) },
}

// column is the head of a column of the list.
type column struct{ Name, Class, Path, Sorted string }

// Column returns the head of a column. Its address sorts by an order, or by its reverse where the
// list is sorted by it already.
func (w wanted) Column(sort, name, class string) column {
	c, q := column{Name: name, Class: class}, url.Values{}
	by, reverse := strings.CutPrefix(w.Sort, "-")
	if orders[by] == nil {
		by, reverse = "started", false
	}
	if by == sort {
		c.Sorted = map[bool]string{false: "descending", true: "ascending"}[reverse]
		sort = map[bool]string{false: "-"}[reverse] + sort
	}
	for key, value := range map[string]string{"q": w.Search, "kind": w.Kind, "state": w.State,
		"sort": sort} {
		if value != "" {
			q.Set(key, value)
		}
	}
	c.Path = "/?" + q.Encode()
	return c
}

// of returns the wanted entries in the wanted order. Sort is the name of an order; a minus before
// it reverses the order.
func (w wanted) of(all []entry) []entry {
	words := strings.Fields(strings.ToLower(w.Search))
	kept := slices.DeleteFunc(slices.Clone(all), func(e entry) bool {
		text := strings.ToLower(strings.Join(append([]string{e.Place, e.Name, e.Workload, e.Kind,
			e.Remark, e.Notes.Note, fmt.Sprint("level ", e.Level)}, e.Notes.Tags...), "\n"))
		lacks := func(word string) bool { return !strings.Contains(text, word) }
		return w.Kind != "" && e.Kind != w.Kind || w.State != "" && string(e.State) != w.State ||
			slices.ContainsFunc(words, lacks)
	})
	name, reverse := strings.CutPrefix(w.Sort, "-")
	order := orders[name]
	if order == nil {
		order = orders["started"]
	}
	slices.SortStableFunc(kept, func(a, b entry) int {
		by := order(&a, &b)
		if reverse {
			by = -by
		}
		return cmp.Or(by, cmp.Compare(b.Place, a.Place))
	})
	return kept
}
