package pulsar

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// How Pulsar 4.0 and BookKeeper 4.17 give the levels:
//
// A broker sends each entry to write-quorum bookies and answers the producer
// when ack-quorum of them have answered. A bookie with journalSyncData answers
// when the entry is synced with the journal, without it when the entry is
// written and not synced.
//
// So the ack quorum decides a level's replication, and a namespace's persistence policy sets it.
// The journal decides the sync, and a bookie has one journal for all topics, so levels 1 and 3
// need other bookies than levels 2 and 4. TestAcknowledgementWaitsForSync proves it with delayed
// syncs of one, two and three bookies.

func levels() map[workload.Level]system.Guarantee {
	return map[workload.Level]system.Guarantee{
		workload.SyncSync: {
			How: "ensemble 3, write quorum 3, ack quorum 2; bookies with journalSyncData=true, " +
				"journalWriteData=true"},
		workload.SyncAsync: {
			How: "ensemble 3, write quorum 3, ack quorum 2; bookies with journalSyncData=false"},
		workload.AsyncSync: {
			How: "ensemble 3, write quorum 3 (of fewer bookies their number), ack quorum 1; " +
				"bookies with journalSyncData=true, journalWriteData=true"},
		workload.AsyncAsync: {
			How: "ensemble 3, write quorum 3 (of fewer bookies their number), ack quorum 1; " +
				"bookies with journalSyncData=false"},
	}
}

// persistence is the namespace's policy, which decides the level's replication.
func (c *cluster) persistence() *persistence {
	p := persistence{Ensemble: c.copies.ensemble, WriteQuorum: c.copies.writeQuorum, AckQuorum: 1,
		MarkDeleteRate: 1}
	if c.level.Majority() {
		p.AckQuorum = driver.Majority(p.WriteQuorum)
	}
	return &p
}

// levelProblems returns the reasons why the settings cannot give the level.
func levelProblems(s system.Settings, l workload.Level) strict.Violations {
	if bad := driver.CheckLevel(pulsarSystem{}.Describe(), l); bad != nil {
		return bad
	}
	if s.Text(setTopology) == standalone {
		if l.Majority() {
			return strict.Violations{s.Wrong(setTopology,
				fmt.Sprintf("cannot be standalone at durability level %d, which waits for a "+
					"majority of copies: take colocated or tiered, or level %d", l, l+2))}
		}
		return nil
	}
	var bad strict.Violations
	e, w, least := s.Count(setEnsemble), s.Count(setWriteQuorum), int64(driver.LeastCopies(l))
	if e < least || e > maxEnsemble {
		bad = append(bad, s.Wrong(setEnsemble,
			fmt.Sprintf("must be from %d to %d at durability level %d", least, maxEnsemble, l)))
	}
	if w < least || w > max(e, least) && s.Given(setWriteQuorum) {
		bad = append(bad, s.Wrong(setWriteQuorum,
			fmt.Sprintf("must be from %d to %s, which is %d", least, setEnsemble, e)))
	}
	return bad
}

// ReadDurability reads the namespace's policy, the current ledgers' quorums and
// every bookie's journal from the live cluster.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (system.Evidence,
	error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	r := reading{Reading: driver.Reading{Level: c.level}, want: *c.persistence(),
		bookies: map[string]bool{}}
	var policy persistence
	if err := c.admin.get(ctx, "/admin/v2/namespaces/"+c.namespace()+"/persistence",
		&policy); err != nil {
		return system.Evidence{}, fmt.Errorf("read the persistence policy of %s: %w",
			c.namespace(), c.explainAdmin(err))
	}
	if err := r.policy(c.namespace(), policy); err != nil {
		return system.Evidence{}, err
	}
	for _, t := range topics {
		if err := c.readLedgers(ctx, &r, t); err != nil {
			return system.Evidence{}, fmt.Errorf("topic %s: %w", t.Name, err)
		}
	}
	if err := c.readJournals(ctx, &r); err != nil {
		return system.Evidence{}, err
	}
	return r.Evidence(), nil
}

// reading collects the facts of the live cluster and compares them with the level.
type reading struct {
	driver.Reading
	want    persistence
	bookies map[string]bool // that hold a ledger
}

func (r *reading) policy(namespace string, p persistence) error {
	r.Add(namespace, "persistence", p.String(), "admin API, namespace policies")
	return r.holds("the namespace", p)
}

// holds returns an error if quorums differ from the level's.
func (r *reading) holds(what string, p persistence) error {
	if p.Ensemble != r.want.Ensemble || p.WriteQuorum != r.want.WriteQuorum ||
		p.AckQuorum != r.want.AckQuorum {
		return r.Contradicts(r.want.String(), "%s has %s", what, p)
	}
	return nil
}

const (
	// mostRead bounds the partitions whose ledgers are read: a sample spread over all partitions.
	mostRead = 64
	readers  = 8 // requests at one time
)

// ledger holds the part of a ledger's metadata that decides the level.
type ledger struct {
	quorums persistence
	bookies []string
}

// readLedgers reads the current ledger of each partition.
func (c *cluster) readLedgers(ctx context.Context, r *reading, t system.Topic) error {
	n := min(t.Partitions, mostRead)
	found := make([]ledger, n)
	err := system.Each(ctx, n, readers, nil, func(ctx context.Context, i int) (err error) {
		partition := i * t.Partitions / n
		if found[i], err = c.readLedger(ctx, t, partition); err != nil {
			return fmt.Errorf("partition %d: %w", partition, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, l := range found {
		if err := r.holds("a partition's ledger", l.quorums); err != nil {
			return err
		}
		r.Copies(l.quorums.WriteQuorum)
		for _, b := range l.bookies {
			r.bookies[b] = true
		}
	}
	r.Add(t.Name, "current ledgers", found[0].quorums.String(),
		fmt.Sprintf("ledger metadata of %d of %d partitions", n, t.Partitions))
	return nil
}

var (
	ensembleSize = regexp.MustCompile(`ensembleSize=(\d+)`)
	writeQuorum  = regexp.MustCompile(`writeQuorumSize=(\d+)`)
	ackQuorum    = regexp.MustCompile(`ackQuorumSize=(\d+)`)
	ensembles    = regexp.MustCompile(`ensembles=\{(.*?)\}`)
	ensembleOf   = regexp.MustCompile(`\[(.*?)\]`)
)

func (c *cluster) readLedger(ctx context.Context, t system.Topic, partition int) (ledger, error) {
	var stats struct {
		Ledgers []struct {
			Metadata string `json:"metadata"`
		} `json:"ledgers"`
	}
	path := fmt.Sprintf("%s-partition-%d/internalStats?metadata=true", c.adminPath(t.Name),
		partition)
	if err := c.admin.get(ctx, path, &stats); err != nil {
		return ledger{}, c.explainAdmin(err)
	}
	if len(stats.Ledgers) == 0 {
		return ledger{}, errors.New("it has no ledger yet")
	}
	return parseLedger(stats.Ledgers[len(stats.Ledgers)-1].Metadata)
}

// parseLedger reads a ledger's metadata, which the admin API gives as text for people.
func parseLedger(metadata string) (ledger, error) {
	number := func(re *regexp.Regexp) int {
		if m := re.FindStringSubmatch(metadata); m != nil {
			n, _ := strconv.Atoi(m[1]) // digits
			return n
		}
		return 0
	}
	l := ledger{quorums: persistence{Ensemble: number(ensembleSize),
		WriteQuorum: number(writeQuorum), AckQuorum: number(ackQuorum)}}
	if l.quorums.Ensemble == 0 || l.quorums.WriteQuorum == 0 || l.quorums.AckQuorum == 0 {
		return ledger{}, errors.New("its ledger's metadata lacks the quorums")
	}
	if m := ensembles.FindStringSubmatch(metadata); m != nil {
		for _, one := range ensembleOf.FindAllStringSubmatch(m[1], -1) {
			l.bookies = append(l.bookies, splitList(one[1])...)
		}
	}
	return l, nil
}

// readJournals reads the configuration of every bookie that may hold a ledger. A bookie shows the
// values in its file; missing ones have BookKeeper's defaults.
func (c *cluster) readJournals(ctx context.Context, r *reading) error {
	for _, b := range c.allBookies(ctx) {
		r.bookies[b] = true
	}
	all := slices.Sorted(maps.Keys(r.bookies))
	if len(all) == 0 && r.Level.Synced() {
		return r.Contradicts("journalSyncData=true", "the cluster does not name its bookies: "+
			"take level %d", r.Level+1)
	}
	for _, bookie := range all {
		journal, err := c.readJournal(ctx, bookie)
		if err != nil && r.Level.Synced() {
			return r.Contradicts("journalSyncData=true",
				"bookie %s cannot be asked: enable its HTTP server and name the port as %s, or "+
					"take level %d: %w",
				bookie, setBookieHTTPPort, r.Level+1, err)
		}
		if err != nil {
			r.Add(bookie, "journalSyncData", "not readable: "+err.Error(), fromBookie)
			continue
		}
		r.Add(bookie, "journalSyncData", journal.sync, fromBookie)
		r.Add(bookie, "journalWriteData", journal.write, fromBookie)
		if (journal.sync == "true" && journal.write == "true") != r.Level.Synced() {
			return r.Contradicts(fmt.Sprintf("journalSyncData=%t", r.Level.Synced()),
				"bookie %s has journalSyncData=%s, journalWriteData=%s: the setting is the "+
					"bookie's, for all topics, so restart it with another, or take another level",
				bookie, journal.sync, journal.write)
		}
	}
	return nil
}

const fromBookie = "bookie's HTTP server, server_config"

// allBookies returns the bookies that the brokers know; nil when they do not answer.
func (c *cluster) allBookies(ctx context.Context) []string {
	var told struct {
		Bookies []struct {
			ID string `json:"bookieId"`
		} `json:"bookies"`
	}
	if err := c.admin.get(ctx, "/admin/v2/bookies/all", &told); err != nil {
		return nil
	}
	var all []string
	for _, b := range told.Bookies {
		all = append(all, b.ID)
	}
	return all
}

type journal struct{ sync, write string }

// askBookie reads an answer of a bookie's HTTP server.
func (c *cluster) askBookie(ctx context.Context, bookie, path string, into any) error {
	host, _, err := net.SplitHostPort(bookie)
	if err != nil {
		return errors.New("its name is not its address")
	}
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	return driver.GetPlain(ctx, driver.At(host, int(c.Count(setBookieHTTPPort))), path, into)
}

func (c *cluster) readJournal(ctx context.Context, bookie string) (journal, error) {
	config := map[string]any{}
	if err := c.askBookie(ctx, bookie, "/api/v1/config/server_config", &config); err != nil {
		return journal{}, err
	}
	value := func(key string) string {
		if v, told := config[key]; told {
			return fmt.Sprint(v)
		}
		return "true"
	}
	return journal{value("journalSyncData"), value("journalWriteData")}, nil
}
