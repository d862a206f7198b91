package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Comparable returns one warning for each reason not to rank runs against one another:
// different guarantees or different loads. It returns none when the runs are comparable.
// The table workload.Fields declares which fields of a workload matter: its name, its warm-up, its
// drain, its objectives, and what was done to servers and machine (faults, page cache, CPUs) do
// not.
func Comparable(runs []*result.Run) []result.Warning {
	var out list
	warn := out.warn
	if slices.ContainsFunc(runs, func(r *result.Run) bool { return r.Imported != nil }) {
		warn("imported",
			"these runs are not comparable: another tool measured some of them, and it did not "+
				"record their rate, durability and settings")
	}
	if levels := distinct(runs, guaranteed); len(levels) > 1 {
		warn("durability_differs",
			"these runs are not comparable: their durability differs (%s), and an "+
				"acknowledgement that promises less is cheaper to give",
			strings.Join(levels, ", "))
	}
	single := func(r *result.Run) bool { return r.Durability.Single() }
	several := func(r *result.Run) bool { return !single(r) } // or not known
	if slices.ContainsFunc(runs, single) && slices.ContainsFunc(runs, several) {
		warn("copies_differ",
			"these runs are not comparable: some keep %s of each message and others several, "+
				"which cost more", result.SingleCopy)
	}
	if models := distinct(runs,
		func(r *result.Run) string { return r.Load.Delivery }); len(models) > 1 {
		warn("delivery_differs",
			"these runs are not comparable: their delivery guarantees differ (%s)", strings.Join(
				models, ", "))
	}
	own := slices.DeleteFunc(slices.Clone(runs),
		func(r *result.Run) bool { return r.Imported != nil })
	if words := distinct(own, aimed); len(words) > 1 {
		warn("clients_differ",
			"these runs are not comparable: the settings of their clients have different aims "+
				"(%s), and a client that waits for more messages trades latency for cost",
			strings.Join(words, ", "))
	}
	if models := distinct(runs,
		func(r *result.Run) string { return r.Load.Model }); len(models) > 1 {
		warn("model_differs",
			"these runs are not comparable: their load models differ (%s): a closed loop offers "+
				"only what the system answers, and its latencies leave out the messages that "+
				"waited meanwhile",
			strings.Join(models, " and ")+" loop")
	}
	if names := differentLoads(runs); len(names) > 0 {
		warn("workload_differs", "these runs are not comparable: their workloads differ in %s",
			strings.Join(names, ", "))
	}
	return out
}

// guaranteed returns the durability level of a run: as read back, or else as requested.
func guaranteed(r *result.Run) string {
	switch d := r.Durability; {
	case d.Level > 0:
		return fmt.Sprintf("level %d", d.Level)
	case d.Asked > 0:
		return fmt.Sprintf("level %d, not read back", d.Asked)
	}
	return "no level on record"
}

// aimed returns the aim of a run's clients, which older runs do not record.
func aimed(r *result.Run) string { return string(workload.Clients(r.Load.Clients).Word()) }

func distinct(runs []*result.Run, value func(*result.Run) string) []string {
	var out []string
	for _, r := range runs {
		if v := value(r); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// differentLoads names the recorded fields of the workloads that differ between the runs and
// change the load.
func differentLoads(runs []*result.Run) []string {
	all := make([]workload.Values, len(runs))
	for i, r := range runs {
		all[i] = workload.Recorded(r)
	}
	var out []string
	for _, f := range workload.Differing(all) {
		if f.Role == workload.Offered {
			out = append(out, f.Name)
		}
	}
	return out
}
