package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/searches"
	"github.com/plimsoll-bench/plimsoll/internal/report/studies"
	"github.com/plimsoll-bench/plimsoll/internal/serve"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type studyCommand struct {
	List listStudies `cmd:"" help:"List the studies that are built in."`
	Show showStudy   `cmd:"" help:"Print a study: question, source, tables with the published figures, and the cells to measure here; nothing is started."`
	Run  runStudy    `cmd:"" help:"Measure a study's cells and show the figures beside the published ones."`
}

type listStudies struct{ printed }

// Run lists the built-in studies.
func (c *listStudies) Run(con console) error {
	t := document.Table{ID: "studies", Corner: "study", Head: document.Heads("title")}
	for _, name := range study.Names() {
		s, err := study.Find(name)
		if err != nil {
			return err
		}
		t.Add(name, s.Title)
	}
	return c.print(con, listing("The studies that are built in", t))
}

// studyInputs are the flags for the study and its cells.
type studyInputs struct {
	Name   string   `arg:"" name:"NAME|FILE" help:"A built-in study (plimsoll study list) or a YAML file."`
	Scale  string   `default:"smoke" placeholder:"SCALE" help:"smoke takes up to 45 minutes (equal-footing 150), brief up to 150 on two cores, small takes hours on a few, full is the published size."`
	Target []string `short:"t" sep:"none" placeholder:"NAME=FILE" help:"Measure a running cluster of yours in the place of the study's target NAME: FILE is a target with endpoints, as for plimsoll run; repeat it for several."`
	Only   []string `placeholder:"NAME" help:"Measure only these tables, and only these systems, targets or values of axes."`
	Runs   string   `default:"runs" type:"path" placeholder:"DIR" help:"The parent of the study's folder."`

	onHosts  int   // machines that servers start on; 0: this one
	atMostNs int64 // time of further rounds; 0: the study's own
}

// wanted returns the study, the plan for the flags, and an estimate of its cost. Its errors are in
// the input.
func (in *studyInputs) wanted() (s *study.Study, p *study.Plan, e study.Estimate, err error) {
	if s, err = study.Find(in.Name); err == nil {
		p, e, err = in.plan(s)
	}
	return s, p, e, err
}

// plan returns the plan of a study for the flags, and an estimate of its cost.
func (in *studyInputs) plan(s *study.Study) (p *study.Plan, e study.Estimate, err error) {
	scale, err := s.Scale(in.Scale)
	if err != nil {
		return p, e, fmt.Errorf("--scale: %w", err)
	}
	own, err := in.own()
	if err == nil {
		err = s.Replace(own)
	}
	if err != nil {
		return p, e, fmt.Errorf("--target: %w", err)
	}
	if p, err = study.NewPlan(s, scale, in.Only); err != nil {
		return p, e, err
	}
	if in.atMostNs > 0 && !s.GoesOn(in.Scale) {
		return p, e, fmt.Errorf("--at-most: %s has no further rounds at scale %s: they need cells "+
			"that are measured more than once, and claims or until in a table; leave it out",
			s.Name, in.Scale)
	}
	p.Asked.Command, p.Plimsoll, p.AtMostNs = os.Args, build(), in.atMostNs
	e, err = study.Prepare(s, p, jobMaker(nil, in.onHosts), in.Runs)
	return p, e, err
}

// own returns the clusters that take the place of targets.
func (in *studyInputs) own() (all []study.Own, err error) {
	for _, argument := range in.Target {
		name, file, _ := strings.Cut(argument, "=")
		if name == "" || file == "" {
			return nil, fmt.Errorf("%q is not NAME=FILE: name a target of the study, and a file "+
				"with the endpoints of your cluster", argument)
		}
		t, _, err := findTarget(file)
		if err != nil {
			return nil, err
		}
		job, err := uncheckedJob(nil, t, in.Runs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", argument, err)
		}
		if !system.RunsElsewhere(job.System, t) {
			return nil, fmt.Errorf("%s names no running cluster: give it endpoints, or leave "+
				"-t %s out and plimsoll starts the servers", file, argument)
		}
		o := study.Own{Target: name, File: file, Servers: map[string]string{}}
		for _, d := range job.System.Describe().Settings {
			if d.Server {
				o.Servers[d.Name] = job.Settings.Text(d.Name)
			}
		}
		of := *t
		of.Settings = forClients(job.System.Describe().Settings, t.Settings)
		o.YAML = of.YAML()
		all = append(all, o)
	}
	return all, nil
}

// jobMaker makes the jobs of a study's cells, for a crew or, with nil, without one. Their servers
// start on so many hosts; 0: on this machine.
func jobMaker(crew *crew, onHosts int) study.NewJob {
	return func(w *workload.Workload, t *target.Target, runs string) (*bench.Job, error) {
		job, err := newJob(w, t, runs, onHosts)
		if err != nil {
			return nil, err
		}
		if crew != nil {
			if err := crew.take(job); err != nil {
				return nil, err
			}
		}
		return job, job.FindSoftware() // a cell whose servers cannot start here is left out
	}
}

type showStudy struct {
	studyInputs
	printed
	Hosts int `placeholder:"N" help:"Plan for servers on N hosts, whose disk and software are not looked at."`
}

// Run prints a study and the cells to measure here.
func (c *showStudy) Run(con console) error {
	c.onHosts = c.Hosts
	s, p, e, err := c.wanted()
	if err != nil {
		return inputError{err}
	}
	r, err := studies.New(s, p, make([]study.Measured, len(p.Cells)))
	if err != nil {
		return err
	}
	d := studies.Plan(r)
	d.Blocks = append(d.Blocks, document.Block{Facts: append(studyCost(p, e), needs(e)...)})
	return c.print(con, d)
}

type runStudy struct {
	studyInputs
	uiFlags
	fleetFlags
	AtMost string     `name:"at-most" placeholder:"LENGTH" help:"The longest time for rounds beyond the planned ones. They repeat the cells of undecided claims, and of figures that are not known as well as the study asks. Default: the study's at_most; without one there are no such rounds."`
	Resume resumeFlag `placeholder:"[DIR]" help:"Continue the study in DIR, or the newest of this name and scale; complete cells are not repeated, and parts that --only leaves out stay."`
	JSON   bool       `name:"json" help:"Print the result as JSON instead of tables."`
	extent
}

// Run measures every cell and shows the figures beside the published ones.
func (c *runStudy) Run(con console) error {
	_, c.onHosts = c.away()
	return c.followed(con, c.Runs, func(ctx context.Context, page *serve.Live) error {
		s, folder, err := c.folder(con)
		if folder != nil {
			defer func() { _ = folder.Close() }()
		}
		if err != nil {
			return err
		}
		page.Show(folder.Dir())
		return c.hired(ctx, con, nil, func(crew *crew) error {
			return c.measure(ctx, con, s, folder, crew)
		})
	})
}

// measure measures every cell that is left and shows the figures of all.
func (c *runStudy) measure(ctx context.Context, con console, s *study.Study,
	folder *study.Folder, crew *crew) error {
	watch := &peakWatch{roundsWatch: newRoundsWatch(con.err)}
	failed := study.Run(ctx, study.Options{Folder: folder, Study: s, Job: jobMaker(crew, c.onHosts),
		Watch: watch, Ran: writeOwnReport})
	watch.Close()
	measured, err := c.show(con, s, folder)
	sayContinue(ctx, con, folder.Dir())
	return exitOf(ctx, errors.Join(failed, err),
		folder.Saved.Left() == 0 && !slices.ContainsFunc(measured, unsoundCell))
}

// folder makes the study's folder, or opens the folder to continue, and prints the estimate. It may
// return a folder also with an error.
func (c *runStudy) folder(con console) (s *study.Study, folder *study.Folder, err error) {
	if c.AtMost != "" {
		atMost, err := parseAtMost(c.AtMost)
		if err != nil {
			return nil, nil, inputError{err}
		}
		c.atMostNs = int64(atMost)
	}
	s, p, e, err := c.wanted()
	if err == nil && e.Absent == len(p.Cells) {
		err = fmt.Errorf("nothing of %s can be measured here: %s", s.Name, p.Cells[0].Reason)
	}
	found := s
	if err == nil && c.Resume.given {
		s, folder, err = c.resumed(s, p)
	}
	if err != nil {
		return s, folder, inputError{err}
	}
	if folder != nil {
		p = folder.Saved
		e, err = study.Prepare(s, p, jobMaker(nil, c.onHosts), folder.Dir())
	}
	if err == nil {
		cost := studyCost(p, e)
		if s != found {
			cost.add("as begun", "the folder's text of the study is used; plimsoll has another")
		}
		err = showFacts(con.err, cost)
	}
	if err == nil && folder == nil {
		folder, err = study.Create(c.Runs, p)
	}
	return s, folder, err
}

// resumed opens the folder to continue, and returns the study. A built-in study is read from the
// folder, because an earlier plimsoll may have had another text of it. It may return a folder also
// with an error.
func (c *runStudy) resumed(s *study.Study, wanted *study.Plan) (of *study.Study,
	folder *study.Folder, err error) {
	dir := c.Resume.dir
	if dir == "" {
		if dir, err = study.FindFolder(c.Runs, wanted); err != nil {
			return s, nil, err
		}
	}
	if folder, err = study.Folders.Open(dir); err != nil {
		return s, nil, err
	}
	if begun := folder.Saved.Study; begun != s.YAML && folder.Saved.Name == s.Name &&
		slices.Contains(study.Names(), c.Name) {
		if s, err = study.Parse(c.Name+" in "+dir, []byte(begun)); err == nil {
			wanted, _, err = c.plan(s)
		}
	}
	if err == nil {
		err = study.GoOn(folder, wanted)
	}
	return s, folder, err
}

// studyCost are the cells, the time and the disk space that a plan needs.
func studyCost(p *study.Plan, e study.Estimate) (all facts) {
	all.add("study", p.Name+" at scale "+p.Scale)
	if len(p.Only) > 0 {
		all.add("only", strings.Join(p.Only, ", "))
	}
	cells := fmt.Sprintf("%d, %d to be measured", len(p.Cells), e.Cells-e.Same)
	if e.Same > 0 {
		cells += fmt.Sprintf(", %d equal to others", e.Same)
	}
	if e.Absent > 0 {
		cells += fmt.Sprintf(", %d not measured here, or left out", e.Absent)
	}
	all.add("cells", cells)
	all.add("time", fmt.Sprintf("about %s, with %d starts of clusters",
		quantity.Duration(int64(e.Length)), e.Clusters))
	if e.Clusters > 0 {
		all.add("disk", "up to about "+quantity.Bytes(e.DiskBytes)+
			" at a time for servers, deleted with their cluster")
	}
	var told []string
	for _, c := range p.Cells {
		if sentence := c.Table + " at " + c.At + ": " + c.Reason; c.Absent &&
			!slices.Contains(told, c.Reason) {
			all.add("not here", sentence)
			told = append(told, c.Reason)
		}
	}
	return all
}

// needs are what the cells of each target need of machines, whether or not this one has it.
func needs(e study.Estimate) (all facts) {
	for _, name := range slices.Sorted(maps.Keys(e.Needs)) {
		n, disk := e.Needs[name], ""
		if n.DiskBytes > 0 {
			disk = "up to " + quantity.Bytes(n.DiskBytes) + " of disk, all servers together, and "
		}
		all.add("needs", fmt.Sprintf("%s: %sup to %s of memory for the load", name, disk,
			quantity.Bytes(n.MemoryBytes)))
	}
	return all
}

// unsoundCell reports whether the system broke a promise in a cell, or lost a server.
func unsoundCell(m study.Measured) bool {
	return m.Run != nil && isUnsound(m.Run) || m.Search != nil &&
		slices.ContainsFunc(m.Search.Trials, func(t peak.Trial) bool { return t.Unsound })
}

// show prints a study's figures and writes its report. It returns what was measured.
func (c *runStudy) show(con console, s *study.Study, folder *study.Folder) ([]study.Measured,
	error) {
	measured := study.Measurements(folder.Dir(), folder.Saved)
	r, err := studies.New(s, folder.Saved, measured)
	if err != nil {
		return nil, err
	}
	for _, m := range measured {
		if m.Search != nil {
			_, failed := writePage(m.Search.Dir, searches.Report([]*peak.Saved{m.Search}).Page)
			err = errors.Join(err, failed)
		}
	}
	all := studies.Report([]studies.Result{r})
	return measured, errors.Join(err, con.print(all, folder.Dir(), c.extent, c.JSON))
}
