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
	if len(w.Scaling) != 2 || w.Scaling[1] != (GroupSize{At: 10 * time.Second, Consumers: 10}) {
		t.Errorf("%+v", w.Scaling)
	}
	for text, want := range map[string]string{
		"[{at: 5s, consumers: 2}]":                         "is 2, as before",
		"[{at: 5s, consumers: 0}]":                         "leaves subscription 1 without a consumer",
		"[{at: 5s, consumers: 3}]":                         "must be from 0 to 2",
		"[{at: 5s, consumers: 1, subscription: 2}]":        "must be from 0 to 1",
		"[{at: 5s, consumers: 1, subscription: 0}]":        "is counted from 1",
		"[{at: 15s, consumers: 1}]":                        "before the end of the window (15s)",
		"[{at: 5s, consumers: 1}, {at: 5s, consumers: 2}]": "must be after 5s",
		"[{at: 5s}]": "lacks consumers",
		"[{at: 5s, consumers: 1}], backlog: {for: 10s}": "without a backlog",
	} {
		_, err := Parse("w.yaml", []byte("scaling: "+strings.Replace(text, ", backlog", "\nbacklog", 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A group may be away for a time, and one subscription of several may change alone.
func TestScalingToNone(t *testing.T) {
	w, err := Parse("w.yaml", []byte("{subscriptions: 2, scaling: [{at: 5s, consumers: 0, "+
		"subscription: 2}, {at: 10s, consumers: 2}]}"))
	if err != nil {
		t.Fatal(err)
	}
	readsBack(t, w)
	if !w.Leaves() || w.Scaling[0].Of(1) || !w.Scaling[0].Of(2) || !w.Scaling[1].Of(1) {
		t.Errorf("%+v", w.Scaling)
	}
}

// A load may pause, and begin with nothing.
func TestStepsWithoutLoad(t *testing.T) {
	w, err := Parse("w.yaml", []byte("load: {steps: [{rate: 0/s, for: 5s}, {rate: 1k/s, for: 5s}, "+
		"{from: 1k/s, to: 0/s, for: 2s}, {rate: 0/s, for: 3s}]}"))
	if err != nil {
		t.Fatal(err)
	}
	readsBack(t, w)
	if w.OfferedMessages() != 6000 || w.WarmupMessages() != 0 {
		t.Errorf("%d messages, and %d before", w.OfferedMessages(), w.WarmupMessages())
	}
	const nothing = "{rate: 0/s, for: 5s}"
	for text, want := range map[string]string{
		"load: {rate: 0/s}": "load.rate must be above 0",
		"load: {steps: [" + nothing + ", " + nothing + "]}": "before the first message is due",
		"load: {steps: [{rate: -1/s, for: 5s}]}":            "rate",
		"{warmup: auto, load: {steps: [" + nothing +
			", {rate: 9/s, for: 9s}]}}": "begins with 0/s",
	} {
		_, err := Parse("w.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
