package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Values of the setting group_type, by the names that Kafka gives the types.
const (
	groupClassic  = "classic"
	groupConsumer = "consumer"
	groupShare    = "share"
)

// newerType is a type of groups that older brokers do not know.
type newerType struct {
	major, minor int   // the first version that has it ready for use
	key, least   int16 // a request of its members, and its least version that is ready
	variant      string
}

var newerTypes = map[string]newerType{
	groupConsumer: {4, 0, kmsg.ConsumerGroupHeartbeat.Int16(), 0, "consumer groups of KIP-848"},
	// In 4.1 share groups are a preview, with version 1.
	groupShare: {4, 2, kmsg.ShareFetch.Int16(), 2, "share groups"},
}

// since returns the first version that has the type.
func (n newerType) since() string { return fmt.Sprintf("%d.%d", n.major, n.minor) }

// in reports whether a version has the type. A text that is no version is refused elsewhere.
func (n newerType) in(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return true
	}
	return major > n.major || major == n.major && minor >= n.minor
}

// sharesRecords reports whether subscriptions are share groups.
func sharesRecords(s system.Settings) bool { return s.Text(setGroupType) == groupShare }

// groupProblems returns what contradicts the type of the groups in a request.
func groupProblems(c system.Check) (bad strict.Violations) {
	kind := c.Settings.Text(setGroupType)
	if kind == groupShare && c.Delivery == workload.ExactlyOnce {
		bad = append(bad, c.Settings.Wrong(setGroupType, "a share group cannot deliver "+
			"exactly_once: take "+groupClassic+" or "+groupConsumer+", or another delivery"))
	}
	newer, is := newerTypes[kind]
	if v := c.Settings.Text(system.SettingVersion); is && c.Nodes > 0 && !newer.in(v) {
		bad = append(bad, c.Settings.Wrong(setGroupType, fmt.Sprintf("%s needs Kafka %s or "+
			"later, and %s is %s", kind, newer.since(), system.SettingVersion, v)))
	}
	return bad
}

// checkGroupType refuses brokers that do not know the type of the groups: the client library would
// take classic groups without a word.
func (c *cluster) checkGroupType(ctx context.Context) error {
	kind := c.Text(setGroupType)
	newer, is := newerTypes[kind]
	if !is {
		return nil
	}
	all, err := c.admin.ApiVersions(ctx)
	if err != nil {
		return c.explain(err)
	}
	for _, v := range all.Sorted() {
		most, known := v.KeyMaxVersion(newer.key)
		if v.Err == nil && (!known || most < newer.least) {
			return fmt.Errorf("broker %d does not know groups of %s %s: take %s, or Kafka %s or "+
				"later", v.NodeID, setGroupType, kind, groupClassic, newer.since())
		}
	}
	return nil
}

// balancers returns how partitions are shared among the members.
func (c *cluster) balancers() []kgo.Opt {
	if c.Text(setGroupType) == groupClassic {
		return []kgo.Opt{kgo.Balancers(balancers[c.Text(setAssignment)]())}
	}
	// The library names the brokers' assignors, uniform and range, by balancers of its own.
	own := kgo.StickyBalancer()
	if c.Text(setAssignment) == assignRange {
		own = kgo.RangeBalancer()
	}
	return []kgo.Opt{kgo.ServerSideBalancer(), kgo.Balancers(own)}
}

// What follows from the type of the groups, for the description.

func variant(o system.Options) string {
	return newerTypes[o.Settings.Text(setGroupType)].variant
}

func unordered(s system.Settings) string {
	if sharesRecords(s) {
		return "the members of a share group take records of one partition side by side"
	}
	return ""
}

func refuseReturns(s system.Settings) string {
	if sharesRecords(s) {
		return ""
	}
	return "a consumer group moves its position past every record"
}

// refuseExisting: a consumer group of plimsoll's own takes no records from others.
func refuseExisting(s system.Settings) string {
	if sharesRecords(s) {
		return "a share group begins where its first member finds the end of the topic"
	}
	return ""
}
