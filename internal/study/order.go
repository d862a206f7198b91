package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// NewJob makes a checked job. runs is the parent of its run directories.
type NewJob func(w *workload.Workload, t *target.Target, runs string) (*bench.Job, error)

// job returns the job of a cell with the workload that is known so far.
func (c *Cell) job(newJob NewJob, runs string) (*bench.Job, error) {
	w, t, err := c.Inputs()
	if err != nil {
		return nil, err
	}
	return newJob(w, t, runs)
}

// clusterOf returns a key that is equal for jobs which can share a cluster: the target, the
// durability level and the settings of servers. Settings of clients do not matter.
func clusterOf(job *bench.Job) string {
	key := fmt.Sprintf("%s\n%d nodes of %s\nlevel %d\n%v\n%s", job.Target.Name,
		job.Target.Testbed.Nodes, job.Target.System, job.Workload.Durability, job.Target.Endpoints,
		job.Workload.Isolate.CPUs)
	for _, s := range job.System.Describe().Settings {
		if s.Server {
			key += "\n" + s.Name + "=" + job.Settings.Text(s.Name)
		}
	}
	return key
}

// grouped returns the part of clusterOf that a cell's own text holds.
func (c *Cell) grouped() string {
	level := ""
	for line := range strings.Lines(c.Workload) {
		if strings.HasPrefix(line, "durability:") {
			level = line
		}
	}
	head := c.Target
	for _, key := range []string{"settings", "credentials", "tls", "processes", "hooks"} {
		head, _, _ = strings.Cut(head, "\n"+key+":")
	}
	return strings.TrimSuffix(head, "\n") + "\n" + level
}

// early returns which cells come first: those whose peaks give rates to cells of other clusters,
// with all cells of their own cluster, unless that takes such a rate itself.
func (s *Study) early(p *Plan) []bool {
	lent, lends, borrows := map[[2]string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range p.Cells {
		c := &p.Cells[i]
		r := s.rate(c.Rate)
		if r == nil || len(r.At) == 0 || p.Scale == Full || c.Absent {
			continue
		}
		for _, at := range s.peaksOf(p, c) {
			peak := p.find(r.Table, at, 0)
			if peak != nil && peak.grouped() == c.grouped() {
				continue
			}
			borrows[c.grouped()] = true
			if peak != nil {
				lent[[2]string{r.Table, at}], lends[peak.grouped()] = true, true
			}
		}
	}
	out := make([]bool, len(p.Cells))
	for i := range p.Cells {
		c := &p.Cells[i]
		key := c.grouped()
		out[i] = c.Equal == 0 && lent[[2]string{c.Table, c.At}] || lends[key] && !borrows[key]
	}
	return out
}

// order returns the indexes of the cells in the order of measurement, without absent cells. The
// cells that come early are first, then the others. Within both parts the cells of one cluster
// stand together, its peaks first; the second part begins with the last cluster of the first. A
// study with rounds has a different order; see inRounds.
func order(s *Study, p *Plan) []int {
	if slices.ContainsFunc(p.Cells, func(c Cell) bool { return c.Round > 0 }) {
		return s.inRounds(p)
	}
	first, last := s.early(p), ""
	var out []int
	for _, early := range []bool{true, false} {
		var part []int
		clusters := map[string]int{last: 0} // their turns
		turns := make([][]int, len(p.Cells))
		for i := range p.Cells {
			c, others := &p.Cells[i], 1
			if c.Absent || first[i] != early {
				continue
			}
			key := c.grouped()
			if _, known := clusters[key]; !known {
				last, clusters[key] = key, len(clusters)
			}
			if c.Measure == MeasurePeak { // which gives rates to the others
				others = 0
			}
			part, turns[i] = append(part, i), []int{clusters[key], others}
		}
		slices.SortStableFunc(part,
			func(a, b int) int { return slices.Compare(turns[a], turns[b]) })
		out = append(out, part...)
	}
	return out
}

// Estimate is the expected cost of the remaining cells.
type Estimate struct {
	Cells, Absent int
	Same          int // cells that are the same measurement as another
	Clusters      int // starts of servers
	Length        time.Duration
	DiskBytes     int64 // for servers, at a time
	// Needs has what each cell needs of the machines of servers and load, also where this machine
	// or the user's cluster does not have it, as the greatest of its target.
	Needs map[string]Need
}

// Need is what cells need of machines.
type Need struct {
	DiskBytes   int64 // of all servers together
	MemoryBytes int64 // of the process that offers the load
}

// need adds what a cell needs to its target. The servers of a cluster that runs count like those
// that plimsoll starts.
func (e *Estimate) need(of *Target, c *Cell, job *bench.Job, scale Scale) {
	on, to := *job, *job.Target
	to.Endpoints, to.Testbed.Nodes = nil, int(of.Nodes)
	on.Target = &to
	n := e.Needs[of.Name]
	n.DiskBytes = max(n.DiskBytes, mostDisk(c, &on, scale))
	n.MemoryBytes = max(n.MemoryBytes, on.Estimate().MemoryBytes)
	e.Needs[of.Name] = n
}

// The assumptions of an estimate.
const (
	startTakes     = 25 * time.Second // a cluster of three servers, from its start to its end
	warmTakes      = time.Minute      // its warm-up
	aroundRun      = 4 * time.Second  // topics, connections, drain and account of a run
	aroundTopic    = 10 * time.Millisecond
	assumedRate    = 50_000.0   // messages per second of a peak at the smaller scales
	publishedPeak  = 1_000_000. // messages per second of a peak at the published scale
	searchingShare = 0.5        // the share of a search's time with load near the peak
	quickDisk      = 8          // what searches of a quick system fill, as a multiple
)

// Prepare adds the cells at equal durability levels to a plan, marks cells as absent whose jobs are
// refused unless they are done, and estimates the cost of the others. The error is about the
// study's file.
func Prepare(s *Study, p *Plan, newJob NewJob, runs string) (Estimate, error) {
	scale, err := s.Scale(p.Scale)
	if err != nil {
		return Estimate{}, err
	}
	e := Estimate{Needs: map[string]Need{}}
	if err := s.equalize(p, newJob, runs); err != nil {
		return e, err
	}
	jobs := map[int]*bench.Job{}
	for i := range p.Cells {
		c := &p.Cells[i]
		if c.Absent || c.State == experiment.Done {
			continue
		}
		job, err := c.job(newJob, runs)
		var wrong strict.Violations
		switch is := errors.As(err, &wrong); {
		case is && !s.Ranks() && s.ownOf(s.targetAt(c)) == nil:
			return e, fmt.Errorf("table %s at %s: %w", c.Table, c.At, err)
		case is: // a level that the settings rule out, or what a file of the user's rules out
			err = errors.New(firstOf(err))
		case err == nil && s.Ranks():
			err = job.CheckLevel()
		}
		if err == nil {
			e.need(s.target(s.targetAt(c)), c, job, scale)
		}
		if err == nil && job.OnHosts == 0 { // hosts look at their own disks
			err = testbed.CheckDisk(nearestExisting(runs), diskOf(c, job, scale))
		}
		if err != nil {
			c.absent(err.Error())
			continue
		}
		jobs[i] = job
	}
	e.add(s, p, jobs, scale)
	return e, nil
}

// add adds the costs of the cells that are not done, and counts the absent ones.
func (e *Estimate) add(s *Study, p *Plan, jobs map[int]*bench.Job, scale Scale) {
	seen := map[experiment.Identity]bool{}
	serves, present := "", order(s, p)
	e.Absent = len(p.Cells) - len(present)
	for _, i := range present {
		c := &p.Cells[i]
		if c.State == experiment.Done {
			continue
		}
		e.Cells++
		id := c.identity()
		id.Workload += c.Rate
		if seen[id] {
			e.Same++
			continue
		}
		seen[id] = true
		if key := clusterOf(jobs[i]); key != serves {
			serves = key
			if system.Starts(jobs[i].System, jobs[i].Target) {
				e.Clusters++
				e.Length += startTakes + warmTakes
			}
		}
		e.Length += lengthOf(c, jobs[i], scale)
		e.DiskBytes = max(e.DiskBytes, mostDisk(c, jobs[i], scale))
	}
}

// nearestExisting returns the directory, or its nearest parent that exists.
func nearestExisting(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func lengthOf(c *Cell, job *bench.Job, scale Scale) time.Duration {
	if c.Measure == MeasurePeak {
		return time.Duration(scale.Search)
	}
	w := job.Workload
	return w.Warmup + w.Duration + aroundRun + time.Duration(w.AllPartitions())*aroundTopic
}

// mostDisk returns what the servers of a cell may fill. At the smaller scales searches follow one
// another so soon that the topics of the one before, which systems delete a minute late, are still
// there, and a quick system carries more than the assumed rate.
func mostDisk(c *Cell, job *bench.Job, scale Scale) int64 {
	if c.Measure == MeasurePeak && !scale.Published {
		return quickDisk * diskOf(c, job, scale)
	}
	return diskOf(c, job, scale)
}

// diskOf returns what the servers of a cell fill at the assumed rate.
func diskOf(c *Cell, job *bench.Job, scale Scale) int64 {
	if c.Measure != MeasurePeak || job.Estimate().DiskBytes == 0 {
		return job.Estimate().DiskBytes
	}
	rate := assumedRate
	if scale.Published {
		rate = publishedPeak
	}
	messages := rate * time.Duration(scale.Search).Seconds() * searchingShare
	copies := float64(job.Target.Testbed.Nodes)
	return int64(messages * job.Workload.Message.Mean() * copies)
}
