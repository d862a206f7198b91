package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// row is a line of a comparison: a name and a value for each run.
type row struct {
	Name   string
	Values []string
}

// differing are the settings and circumstances in which the runs differ, what
// was asked first and the machine last.
func differing(runs []*result.Saved) []row {
	rows := []row{
		each(runs, "system", func(r *result.Run) string { return r.System.Name }),
		each(runs, "servers", func(r *result.Run) string { return strings.Join(repeated(r.System.Servers), ", ") }),
		each(runs, "client", func(r *result.Run) string { return r.System.Client }),
		each(runs, "durability level", func(r *result.Run) string { return strconv.Itoa(r.Durability.Asked) }),
		each(runs, "workload", func(r *result.Run) string { return r.Load.Workload }),
		each(runs, "target rate", func(r *result.Run) string { return rate(r.Load.TargetRate) }),
		each(runs, "message size", func(r *result.Run) string { return quantity.Bytes(r.Load.MessageBytes) }),
		each(runs, "window", func(r *result.Run) string { return seconds(r.Load.WindowSeconds) }),
	}
	rows = append(rows, settingRows(runs)...)
	rows = append(rows,
		each(runs, "load and servers on one machine", func(r *result.Run) string { return strconv.FormatBool(r.System.SharesHost) }),
		each(runs, "machine", func(r *result.Run) string { return r.Environment.Hostname }),
		each(runs, "CPU", func(r *result.Run) string { return fmt.Sprintf("%s, %d cores", r.Environment.CPU, r.Environment.Cores) }),
		each(runs, "kernel", func(r *result.Run) string { return r.Environment.Kernel }),
		each(runs, "plimsoll", func(r *result.Run) string { return r.Plimsoll.Version + " " + r.Plimsoll.Commit }),
	)
	return slices.DeleteFunc(rows, same)
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

// settingRows is a row for each setting of the groups that all runs have, in the
// order in which the runs list them, and one row for what is peculiar to each.
func settingRows(runs []*result.Saved) []row {
	type key struct{ group, name string }
	var order []key
	values := map[key]map[int]string{}
	own := row{Name: "settings of its own"}
	for i, s := range runs {
		own.Values = append(own.Values, none)
		for _, set := range s.Run.Settings {
			if !allHave(runs, set.Group) {
				own.Values[i] = strings.TrimPrefix(own.Values[i]+", ", none+", ") + clean(set.Name) + " " + clean(set.Value)
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
	return append(rows, own)
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

// figureRows are the figures that a comparison sets side by side.
func figureRows(runs []*result.Saved) []row {
	rows := []row{
		each(runs, "state", stateWord),
		each(runs, "durability read back", func(r *result.Run) string {
			if r.Durability.Level == 0 {
				return none
			}
			return level(r.Durability.Level)
		}),
		each(runs, "offered", measured(func(s result.Summary) string { return rate(s.OfferedRate) })),
		each(runs, "acknowledged", measured(func(s result.Summary) string {
			return fmt.Sprintf("%s (%s)", rate(s.AchievedRate), share(s.AchievedRate, s.OfferedRate))
		})),
		each(runs, "acknowledged bytes", measured(func(s result.Summary) string { return bytesPerSecond(s.BytesPerS) })),
		each(runs, "received", measured(func(s result.Summary) string { return rate(s.ReceivedRate) })),
	}
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		for _, p := range []float64{50, 99, 99.9} {
			rows = append(rows, each(runs, seriesTitle(series)+" "+percentileName(p), func(r *result.Run) string {
				return at(r.Summary.Series(series), p)
			}))
		}
		rows = append(rows, each(runs, seriesTitle(series)+" max", func(r *result.Run) string {
			return greatest(r.Summary.Series(series))
		}))
	}
	count := row{Name: "warnings"}
	for _, s := range runs {
		count.Values = append(count.Values, strconv.Itoa(len(warnings(s))))
	}
	return append(rows,
		each(runs, "lost", accounted(func(t result.SubscriptionLedger) int64 { return t.Lost })),
		each(runs, "duplicate", accounted(func(t result.SubscriptionLedger) int64 { return t.Duplicate })),
		each(runs, "reordered", accounted(func(t result.SubscriptionLedger) int64 { return t.Reordered })),
		each(runs, "failed", func(r *result.Run) string { return quantity.Count(r.Counters.Failed) }),
		each(runs, "greatest backlog", measured(func(s result.Summary) string { return quantity.Count(s.MaxBacklog) })),
		each(runs, "limited by plimsoll itself", func(r *result.Run) string {
			if r.Summary.Generator.Limited {
				return "yes: not to be ranked"
			}
			return "no"
		}),
		count,
	)
}

func measured(value func(result.Summary) string) func(*result.Run) string {
	return func(r *result.Run) string {
		if r.Summary.WindowNs <= 0 {
			return none
		}
		return value(r.Summary)
	}
}

func accounted(value func(result.SubscriptionLedger) int64) func(*result.Run) string {
	return func(r *result.Run) string {
		if !r.Ledger.Accounted {
			return none
		}
		return quantity.Count(value(total(r.Ledger)))
	}
}

func seriesTitle(series result.Series) string {
	for _, w := range seriesWords {
		if w.series == series {
			return w.title
		}
	}
	return string(series)
}
