package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

// prepareLimit bounds everything before the load, a large cluster's start
// included; prepareTime adds what a crowd takes.
const prepareLimit = 5 * time.Minute

// thisMachine names the clock of a run whose workers are all in this process.
const thisMachine load.ClockName = "this machine"

// prepare does everything before the load: it connects to the cluster, creates topics, reads the
// durability back, and opens consumers and producers.
func (s *session) prepare(ctx context.Context) error {
	encrypted, err := s.job.Trust.Config()
	if err != nil {
		return err
	}
	options := system.Options{
		Endpoints: s.job.Target.Endpoints, Settings: s.job.Settings,
		Durability:  s.job.Workload.Durability,
		Credentials: system.Credentials(s.job.Secrets), TLS: encrypted,
		MaxUSD: s.job.MaxUSD,
	}
	if err := s.begin(result.PhaseConnect, s.connectSentence()); err != nil {
		return err
	}
	if err := s.isolate(ctx); err != nil {
		return err
	}
	if s.job.Cluster == nil {
		if err := s.job.fetch(ctx, s.watch); err != nil {
			return err
		}
	}
	if err := s.provision(ctx, &options); err != nil {
		return err
	}
	if err := s.warm(ctx); err != nil {
		return err
	}
	s.listen()
	ctx, cancel := context.WithTimeout(ctx, prepareTime(s.job.Workload))
	defer cancel()
	if err := s.separateServers(); err != nil {
		return err
	}
	cluster, err := s.job.System.Connect(ctx, options)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", s.job.Target.Name, err)
	}
	s.cluster = cluster
	if err := s.checkRolling(); err != nil {
		return err
	}
	if err := s.findTopics(ctx); err != nil {
		return err
	}
	s.plan = s.job.planOf(runNumber(s.job.Workload.Seed, s.run.StartedAt))
	if err := s.engage(ctx, options); err != nil {
		return err
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	if err := s.readyFaults(ctx); err != nil {
		return err
	}
	return s.observe()
}

// start prepares a connected cluster for the load, and records how long each step takes.
func (s *session) start(ctx context.Context) error {
	progress := func(sentence string) { s.watch.Phase(result.PhaseConnect, sentence) }
	startup := &s.run.Startup
	startup.ConnectNs = s.sinceBegan()
	if w := s.run.Warming; w != nil && !w.Shared {
		startup.ConnectNs -= w.TookNs
	}
	steps := []struct {
		took *int64
		do   func() error
	}{
		{&startup.TopicsNs, func() (err error) {
			if s.job.Workload.Existing == nil {
				s.created, err = createTopics(ctx, s.cluster, s.plan.Topics(), progress)
			}
			return err
		}},
		{&startup.ReadBackNs, func() error { return s.readBack(ctx) }},
		{&startup.OpenNs, func() error {
			return load.Together(s.workers, func(i int) error { return s.workers[i].Open(ctx) })
		}},
		{&startup.ReadyNs, func() error {
			ready, err := load.Prove(ctx, &s.plan, s.workers, progress)
			startup.Proofs, s.run.Connections = ready.Messages, ready.Connections
			return err
		}},
	}
	for _, step := range steps {
		began := s.sinceBegan()
		if err := step.do(); err != nil {
			return err
		}
		*step.took = s.sinceBegan() - began
	}
	spent := measure.NewSelf().Read()
	startup.Goroutines, startup.RSSBytes = spent.Goroutines, spent.RSSBytes
	return nil
}

func (s *session) connectSentence() string {
	name := s.job.Target.Name
	if s.job.starts() && s.job.Cluster == nil {
		return s.job.startSentence()
	}
	if len(s.job.Target.Endpoints) > 0 {
		return fmt.Sprintf("connecting to %s at %s", name,
			strings.Join(s.job.Target.Endpoints, ", "))
	}
	return "connecting to " + name
}

// fetch downloads the servers, in all versions that the run starts. It has no time limit: the user
// sees its progress and can interrupt it.
func (j *Job) fetch(ctx context.Context, watch Watch) error {
	f, fetches := j.System.(system.Fetcher)
	if !fetches || !j.starts() {
		return nil
	}
	if j.Hosts != nil {
		watch.Phase(result.PhaseConnect, "waiting until the hosts have what the servers need")
		if err := j.options("").Fetch(ctx); err != nil {
			return fmt.Errorf("start %s: %w", j.Target.Name, err)
		}
		return nil
	}
	all, err := j.versions()
	for i := 0; i < len(all) && err == nil; i++ {
		err = f.Fetch(ctx, all[i],
			func(sentence string) { watch.Phase(result.PhaseConnect, sentence) })
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", j.Target.Name, err)
	}
	return nil
}

// provision starts a cluster if the target names none, or uses the caller's.
func (s *session) provision(ctx context.Context, o *system.Options) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTime(s.job.Workload))
	defer cancel()
	s.run.System.SharesHost = load.SharesMachine(o.Endpoints)
	if !s.job.starts() {
		return nil
	}
	if held := s.job.Cluster; held != nil {
		s.testbed, s.held = held.testbed, true
		s.run.Startup.SharedServersNs = held.startNs
	} else {
		began := s.sinceBegan()
		bed, err := s.job.up(ctx, filepath.Join(s.writer.Dir(), result.LogsDir))
		if err != nil {
			return err
		}
		s.testbed = bed
		s.run.Startup.ServersNs = s.sinceBegan() - began
	}
	cluster := s.testbed.Cluster()
	if err := s.readTrust(cluster); err != nil {
		return err
	}
	o.Endpoints, o.Credentials, o.TLS = cluster.Endpoints(), cluster.Credentials(), cluster.TLS()
	s.run.System.Endpoints, s.run.System.Provisioned = o.Endpoints, true
	s.run.System.SharesHost = load.SharesMachine(o.Endpoints)
	if hosts := s.testbed.Hosts(); hosts != nil {
		s.run.System.Hosts = hosts.Describe()
		s.run.System.SharesHost = slices.ContainsFunc(s.run.System.Hosts,
			func(h result.Host) bool { return h.SameMachine })
	} else {
		s.run.Environment.DataFS = fileSystem(s.job.dataDir())
	}
	for _, n := range cluster.Nodes() {
		s.run.System.Nodes = append(s.run.System.Nodes, s.nodeOf(n))
	}
	return nil
}

// nodeOf returns a node as a result has it.
func (s *session) nodeOf(n system.Node) result.Node {
	log, err := filepath.Rel(s.writer.Dir(), n.Log)
	if err != nil {
		log = n.Log
	}
	return result.Node{Name: n.Name, Address: n.Address, PID: n.PID, Log: log}
}

// readTrust reads the authority of a testbed whose connections are encrypted, for workers in other
// processes.
func (s *session) readTrust(cluster system.Provisioned) error {
	signed, able := cluster.(interface{ CAFile() string })
	if !able || signed.CAFile() == "" {
		return nil
	}
	trust, err := target.TLS{Enabled: true, CAFile: signed.CAFile()}.Trust()
	if err != nil {
		return fmt.Errorf("read the testbed's authority: %w", err)
	}
	s.trust = trust
	return nil
}

// readBack reads durability and versions from the live cluster.
func (s *session) readBack(ctx context.Context) error {
	versions, err := s.cluster.ServerVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the servers' versions: %w", err)
	}
	s.run.System.Servers = versions
	evidence, err := s.cluster.ReadDurability(ctx, s.plan.Topics())
	if err != nil {
		return fmt.Errorf("read the durability back: %w", err)
	}
	s.run.Durability.Level, s.run.Durability.Stated = int(evidence.Level), evidence.Stated
	s.run.Durability.Evidence = condensed(evidence.Facts)
	s.recordCopies(evidence.Copies)
	if evidence.Level != s.job.Workload.Durability {
		return fmt.Errorf(
			"durability level %d was asked for, and the cluster is at level %d: its settings "+
				"prevent it",
			s.job.Workload.Durability, evidence.Level)
	}
	return nil
}

// recordCopies records how many copies of each message the cluster keeps. It is also the value of a
// setting that the target leaves to the number of servers.
func (s *session) recordCopies(copies int) {
	d := &s.run.Durability
	d.Copies = copies
	if d.Single() {
		d.Meaning += ", " + result.SingleCopy
	}
	if copies == 0 {
		return
	}
	left := s.job.System.Describe().Copies
	for i := range s.run.Settings {
		set := &s.run.Settings[i]
		if slices.Contains(left, set.Name) && !s.job.Settings.Given(set.Name) {
			set.Value = strconv.Itoa(copies)
		}
	}
}
