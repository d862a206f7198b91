package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// row is a line of a table: a name and a value for each column.
type row struct {
	Name   string
	Values []string
	// Section heads a group of rows; it is shown where it changes.
	Section string
	// Bars are how long the bar below each value is, of 100; below 0: no bar.
	Bars []int
}

// differing are the settings and circumstances in which the runs differ, what
// was asked first and the machine last.
func differing(runs []*result.Saved) []row {
	return slices.DeleteFunc(circumstances(runs), same)
}

// equal are the settings and circumstances that all runs share.
func equal(runs []*result.Saved) []row {
	return slices.DeleteFunc(circumstances(runs), func(r row) bool { return !same(r) || r.Values[0] == none })
}

// circumstances are all settings and circumstances of runs.
func circumstances(runs []*result.Saved) []row {
	rows := []row{
		each(runs, "system", func(r *result.Run) string { return r.System.Name }),
		each(runs, "servers", func(r *result.Run) string { return strings.Join(repeated(r.System.Servers), ", ") }),
		each(runs, "client", func(r *result.Run) string { return r.System.Client }),
		each(runs, "durability level", func(r *result.Run) string {
			return unlessUnknown(r, r.Durability.Asked == 0, strconv.Itoa(r.Durability.Asked))
		}),
		each(runs, "workload", func(r *result.Run) string { return r.Load.Workload }),
		each(runs, "target rate", func(r *result.Run) string {
			if r.Load.Closed != nil {
				return none
			}
			return unlessUnknown(r, r.Load.TargetRate == 0, rate(r.Load.TargetRate))
		}),
		each(runs, "rate curve", rateCurve),
		each(runs, "message size", func(r *result.Run) string {
			return unlessUnknown(r, r.Load.MessageBytes == 0, quantity.Bytes(r.Load.MessageBytes))
		}),
	}
	rows = append(rows, loadRows(runs)...)
	rows = append(rows, closedRows(runs)...)
	rows = append(rows, settingRows(runs)...)
	rows = append(rows,
		each(runs, "load and servers on one machine", func(r *result.Run) string { return unlessUnknown(r, !r.System.SharesHost, yesNo(r.System.SharesHost)) }),
		each(runs, "machine", func(r *result.Run) string { return r.Environment.Hostname }),
		each(runs, "CPU", func(r *result.Run) string {
			return unlessUnknown(r, r.Environment.Cores == 0, fmt.Sprintf("%s, %d cores", r.Environment.CPU, r.Environment.Cores))
		}),
		each(runs, "memory of the machine", func(r *result.Run) string {
			return unlessUnknown(r, r.Environment.MemoryBytes == 0, quantity.Bytes(r.Environment.MemoryBytes))
		}),
		each(runs, "file system of the data", func(r *result.Run) string { return r.Environment.DataFS }),
		each(runs, "kernel", func(r *result.Run) string { return r.Environment.Kernel }),
		each(runs, "plimsoll", func(r *result.Run) string { return r.Plimsoll.Version + " " + r.Plimsoll.Commit }),
	)
	return rows
}

// rateCurve is a curve of more than one rate, as its stretches.
func rateCurve(r *result.Run) string {
	var out []string
	for _, s := range r.Load.Segments {
		stretch := rate(s.From)
		if s.To != s.From {
			stretch += " to " + rate(s.To)
		}
		if len(r.Load.Segments) > 1 {
			stretch += " for " + seconds(s.Seconds)
		}
		out = append(out, stretch)
	}
	if len(r.Load.Segments) == 1 && r.Load.Segments[0].From == r.Load.Segments[0].To {
		return none // it is the target rate
	}
	return strings.Join(out, ", ")
}

// loadRows is a row for each part of the load but its rate and message size.
func loadRows(runs []*result.Saved) []row {
	number := func(of func(result.Load) int) func(*result.Run) string {
		return func(r *result.Run) string { return unlessUnknown(r, of(r.Load) == 0, strconv.Itoa(of(r.Load))) }
	}
	return []row{
		each(runs, "arrivals", func(r *result.Run) string {
			return unlessUnknown(r, r.Load.Arrivals == "" && r.Load.Closed == nil,
				strings.TrimSuffix(strings.TrimSpace(r.Load.Model+" loop, "+r.Load.Arrivals), ","))
		}),
		each(runs, "delivery", func(r *result.Run) string { return strings.ReplaceAll(r.Load.Delivery, "_", " ") }),
		each(runs, "topics", number(func(l result.Load) int { return l.Topics })),
		each(runs, "partitions of a topic", number(func(l result.Load) int { return l.Partitions })),
		each(runs, "producers of a topic", number(func(l result.Load) int { return l.Producers })),
		each(runs, "subscriptions of a topic", number(func(l result.Load) int { return l.Subscriptions })),
		each(runs, "consumers of a subscription", number(func(l result.Load) int { return l.Consumers })),
		each(runs, "keys", keys),
		each(runs, "messages without a key go", func(r *result.Run) string {
			return strings.ReplaceAll(r.Load.Spread, "_", " ")
		}),
		each(runs, "audit", func(r *result.Run) string {
			if !r.Load.Audit {
				return none
			}
			return yesNo(r.Load.Audit)
		}),
		each(runs, "incompressible", func(r *result.Run) string {
			return unlessUnknown(r, r.Load.IncompressiblePct == 0, share(r.Load.IncompressiblePct, 100))
		}),
		each(runs, "in flight at most, per producer", number(func(l result.Load) int { return l.MaxInFlight })),
		each(runs, "warm-up", func(r *result.Run) string { return unlessUnknown(r, r.Load.WarmupSeconds == 0, warmup(r)) }),
		each(runs, "window", func(r *result.Run) string { return seconds(r.Load.WindowSeconds) }),
		each(runs, "backlog", func(r *result.Run) string { return r.Load.Backlog }),
		each(runs, "page cache dropped before", func(r *result.Run) string {
			return unlessUnknown(r, !r.Load.DropPageCache, yesNo(r.Load.DropPageCache))
		}),
		each(runs, rowSeed, func(r *result.Run) string {
			return unlessUnknown(r, r.Seed == 0, strconv.FormatUint(r.Seed, 10))
		}),
	}
}

// keys is how messages are keyed, with how many keys and how unevenly where that was
// recorded.
func keys(r *result.Run) string {
	out := strings.ReplaceAll(r.Load.Keys, "_", " ")
	if r.Load.KeyCount > 0 {
		out += " over " + quantity.Count(int64(r.Load.KeyCount))
	}
	if r.Load.KeyExponent > 0 {
		out += ", exponent " + strconv.FormatFloat(r.Load.KeyExponent, 'f', -1, 64)
	}
	return out
}

// warmup is how long a run warmed up, and whether it decided that itself.
func warmup(r *result.Run) string {
	switch {
	case r.Settling == nil:
		return seconds(r.Load.WarmupSeconds)
	case r.Settling.Settled:
		return seconds(r.Load.WarmupSeconds) + ", until settled"
	}
	return seconds(r.Load.WarmupSeconds) + ", never settled"
}

func yesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

func each(runs []*result.Saved, name string, value func(*result.Run) string) row {
	out := row{Name: name}
	for _, s := range runs {
		v := clean(value(&s.Run))
		if v == "" {
			v = none
		}
		out.Values = append(out.Values, v)
	}
	return out
}

func same(r row) bool {
	return !slices.ContainsFunc(r.Values, func(v string) bool { return v != r.Values[0] })
}

// rowSeed names the row of the runs' seeds.
const rowSeed = "seed"

// rowOwnSettings names the row of settings that have nothing to stand beside.
const rowOwnSettings = "settings of its own"

// settingRows is a row for each setting of the groups that all runs have, in the
// order in which the runs list them, and one row for what is peculiar to each.
func settingRows(runs []*result.Saved) []row {
	type key struct{ group, name string }
	var order []key
	values := map[key]map[int]string{}
	for i, s := range runs {
		for _, set := range s.Run.Settings {
			if !allHave(runs, set.Group) {
				continue
			}
			k := key{set.Group, set.Name}
			if values[k] == nil {
				values[k] = map[int]string{}
				order = append(order, k)
			}
			values[k][i] = clean(set.Value)
		}
	}
	var rows []row
	for _, k := range order {
		r := row{Name: clean(k.group) + " " + clean(k.name)}
		for i := range runs {
			v, ok := values[k][i]
			if !ok || v == "" {
				v = none
			}
			r.Values = append(r.Values, v)
		}
		rows = append(rows, r)
	}
	return append(rows, row{Name: rowOwnSettings, Values: ownSettings(runs, ", ")})
}

// ownSettings are the settings of each run that not all have.
func ownSettings(runs []*result.Saved, between string) []string {
	out := make([]string, len(runs))
	for i, s := range runs {
		var own []string
		for _, set := range s.Run.Settings {
			if !allHave(runs, set.Group) {
				own = append(own, clean(set.Name)+" "+clean(set.Value))
			}
		}
		out[i] = none
		if len(own) > 0 {
			out[i] = strings.Join(own, between)
		}
	}
	return out
}

// allHave reports whether each run has settings of a group: those of
// different systems have nothing to stand beside.
func allHave(runs []*result.Saved, group string) bool {
	for _, s := range runs {
		if !slices.ContainsFunc(s.Run.Settings, func(set result.Setting) bool { return set.Group == group }) {
			return false
		}
	}
	return true
}

func seriesTitle(series result.Series) string {
	for _, w := range seriesWords {
		if w.series == series {
			return w.title
		}
	}
	return string(series)
}
