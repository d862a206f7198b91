package row

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Differing are the settings and circumstances in which the runs differ: the workload first,
// the machine last.
func Differing(runs []*result.Saved) []document.Row {
	return slices.DeleteFunc(circumstances(runs), Same)
}

// Equal are the settings and circumstances that all runs share.
func Equal(runs []*result.Saved) []document.Row {
	return slices.DeleteFunc(circumstances(runs), func(r document.Row) bool {
		return !Same(r) || r.Values[0].Words == document.None
	})
}

// circumstances are all settings and circumstances of runs.
func circumstances(runs []*result.Saved) []document.Row {
	rows := []document.Row{
		each(runs, "system", func(r *result.Run) string { return r.System.Name }),
		each(runs, "servers", func(r *result.Run) string {
			return strings.Join(phrase.Repeated(r.System.Servers), ", ")
		}),
		each(runs, "client", func(r *result.Run) string { return r.System.Client }),
	}
	rows = append(rows, loadRows(runs)...)
	rows = append(rows, settingRows(runs)...)
	rows = append(rows,
		each(runs, "load and servers on one machine",
			func(r *result.Run) string {
				return fact.UnlessUnknown(r, !r.System.SharesHost,
					phrase.YesNo(r.System.SharesHost))
			}),
		each(runs, "machine", func(r *result.Run) string { return r.Environment.Hostname }),
		each(runs, "CPU", func(r *result.Run) string {
			return fact.UnlessUnknown(r, r.Environment.Cores == 0,
				fact.Processors(r.Environment.CPU, r.Environment.Cores))
		}),
		each(runs, "memory of the machine", func(r *result.Run) string {
			return fact.UnlessUnknown(r, r.Environment.MemoryBytes == 0,
				quantity.Bytes(r.Environment.MemoryBytes))
		}),
		each(runs, "file system of the data",
			func(r *result.Run) string { return r.Environment.DataFS }),
		each(runs, "kernel", func(r *result.Run) string { return r.Environment.Kernel }),
		each(runs, "plimsoll",
			func(r *result.Run) string { return r.Plimsoll.Version + " " + r.Plimsoll.Commit }),
	)
	return rows
}

// became are the fields of a workload whose actual values a run records: the lengths of its
// warm-up and of its window.
var became = map[string]func(*result.Run) string{
	"warmup": func(r *result.Run) string {
		return fact.UnlessUnknown(r, r.Load.WarmupSeconds == 0, warmup(r))
	},
	"duration": func(r *result.Run) string { return phrase.Seconds(r.Load.WindowSeconds) },
}

// loadRows is a row for each field of the workloads but the description, which is prose.
func loadRows(runs []*result.Saved) []document.Row {
	recorded := map[*result.Run]workload.Values{}
	for _, s := range runs {
		recorded[&s.Run] = workload.Recorded(&s.Run)
	}
	rows := []document.Row{each(runs, "load model",
		func(r *result.Run) string { return modelOf(r.Load) })}
	for _, f := range workload.Fields() {
		value := became[f.Path]
		if value == nil {
			value = func(r *result.Run) string { return plainWords(recorded[r][f.Path]) }
		}
		if f.Path != "description" {
			rows = append(rows, each(runs, f.Name, value))
		}
	}
	return rows
}

// plainWords is a value of a workload's key for people.
func plainWords(value string) string {
	switch value {
	case "true", "false":
		return phrase.YesNo(value == "true")
	}
	return strings.ReplaceAll(value, "_", " ")
}

// modelOf is the load model: a schedule or the system's answers set the rate.
func modelOf(l result.Load) string {
	if l.Model == "" {
		return ""
	}
	return l.Model + " loop"
}

// warmup is the length of a run's warm-up, and whether it reached a steady state.
func warmup(r *result.Run) string {
	switch {
	case r.Settling == nil:
		return phrase.Seconds(r.Load.WarmupSeconds)
	case r.Settling.Settled:
		return phrase.Seconds(r.Load.WarmupSeconds) + ", until steady state"
	}
	return phrase.Seconds(r.Load.WarmupSeconds) + ", no steady state"
}

func each(runs []*result.Saved, name string, value func(*result.Run) string) document.Row {
	out := document.Row{Name: name}
	for _, s := range runs {
		words := cmp.Or(document.Clean(value(&s.Run)), document.None)
		out.Values = append(out.Values, document.Cell{Words: words})
	}
	return out
}

// Same reports whether all runs have the same value.
func Same(r document.Row) bool {
	return !slices.ContainsFunc(r.Values,
		func(c document.Cell) bool { return c.Words != r.Values[0].Words })
}

// Seed names the row of the runs' seeds.
const Seed = "seed"

// settingRows is a row for each setting of the groups that all runs have, in the order in
// which the runs list them.
func settingRows(runs []*result.Saved) []document.Row {
	var rows []document.Row
	at := map[[2]string]int{}
	for i, s := range runs {
		for _, set := range s.Run.Settings {
			if !allHave(runs, set.Group) {
				continue
			}
			key := [2]string{set.Group, set.Name}
			if _, is := at[key]; !is {
				at[key] = len(rows)
				rows = append(rows, document.Row{
					Name:   document.Clean(set.Group) + " " + document.Clean(set.Name),
					Values: slices.Repeat([]document.Cell{{Words: document.None}}, len(runs))})
			}
			rows[at[key]].Values[i].Words = cmp.Or(document.Clean(set.Value), document.None)
		}
	}
	return rows
}

// OwnSettings are the settings of each run that not all runs have, a line each. It is nil if there
// are none.
func OwnSettings(runs []*result.Saved) []string {
	out, some := make([]string, len(runs)), false
	for i, s := range runs {
		var own []string
		for _, set := range s.Run.Settings {
			if !allHave(runs, set.Group) {
				own = append(own, document.Clean(set.Name)+" "+document.Clean(set.Value))
			}
		}
		out[i] = document.None
		if len(own) > 0 {
			out[i], some = strings.Join(own, "\n"), true
		}
	}
	if !some {
		return nil
	}
	return out
}

// allHave reports whether each run has settings of a group: settings of different systems
// cannot be compared.
func allHave(runs []*result.Saved, group string) bool {
	for _, s := range runs {
		if !slices.ContainsFunc(s.Run.Settings,
			func(set result.Setting) bool { return set.Group == group }) {
			return false
		}
	}
	return true
}
