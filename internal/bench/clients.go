package bench

import (
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
)

// Clients returns what the workload's word for the clients sets.
func (j *Job) Clients() result.Clients {
	d, word := j.System.Describe(), j.Workload.Clients.Word()
	set, kept := j.Settings.Aimed()
	settings := func(all []target.Setting) (out []result.Setting) {
		for _, s := range all {
			out = append(out, result.Setting{Group: d.Name, Name: s.Name, Value: s.Value})
		}
		return out
	}
	return result.Clients{Word: string(word), Meaning: word.Meaning(), How: d.Clients[word].How,
		Set: settings(set), Kept: settings(kept)}
}

// Waits returns the waits that the settings cause.
func (j *Job) Waits() []result.Wait {
	return j.System.Describe().WaitsOf(j.request())
}
