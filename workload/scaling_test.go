package workload

import (
	"strings"
	"testing"
	"time"
)

func TestScaling(t *testing.T) {
	w, err := Parse("w.yaml", []byte(
		"{consumers: 10, scaling: [{at: 5s, consumers: 1}, {at: 10s, consumers: 10}]}"))
	if err != nil {
		t.Fatal(err)
	}
	readsBack(t, w)
	if len(w.Scaling) != 2 || w.Scaling[1] != (GroupSize{10 * time.Second, 10}) {
		t.Errorf("%+v", w.Scaling)
	}
	for text, want := range map[string]string{
		"[{at: 5s, consumers: 2}]":                         "is 2, as before",
		"[{at: 5s, consumers: 0}]":                         "must be from 1 to 2",
		"[{at: 5s, consumers: 3}]":                         "must be from 1 to 2",
		"[{at: 15s, consumers: 1}]":                        "before the end of the window (15s)",
		"[{at: 5s, consumers: 1}, {at: 5s, consumers: 2}]": "must be after 5s",
		"[{at: 5s}]":                                       "lacks consumers",
		"[{at: 5s, consumers: 1}], backlog: {for: 10s}":    "without a backlog",
	} {
		_, err := Parse("w.yaml", []byte("scaling: "+strings.Replace(text, ", backlog", "\nbacklog", 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
