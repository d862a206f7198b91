package omb

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// sizesKey is OMB's key of a distribution of sizes: weights of ranges.
const sizesKey = "messageSizeDistribution"

// sizes gives the workload the file's distribution of sizes. OMB sends one size for each range, the
// middle. Here sizes are drawn evenly from the range, so that the mean is the same.
func (t *translation) sizes(w *workload.Workload) {
	if !t.doc.Has(sizesKey) {
		return
	}
	w.Message.Size = workload.StampBytes // a wrong distribution is one error
	if t.doc.Failed(sizesKey) {
		return
	}
	var sizes workload.Sizes
	total, short := 0.0, false
	for _, p := range t.file.MessageSizeDistribution {
		path := sizesKey + "." + p.Name
		weight, err := strconv.ParseInt(p.Value, 10, 32)
		least, most, isRange := sizeRange(p.Name)
		switch {
		case !isRange:
			t.doc.Reject(path, "is not a range of sizes: write it like 256-1024 or 1KB-4KB")
		case err != nil || weight < 0:
			t.doc.Reject(path, "has no weight: write a whole number, 0 or more")
		case weight > 0:
			short = short || least < workload.StampBytes
			total += float64(weight)
			sizes.Parts = append(sizes.Parts, workload.SizePart{Share: float64(weight),
				Least: max(least, workload.StampBytes), Most: max(most, workload.StampBytes)})
		}
	}
	if t.doc.Failed(sizesKey) {
		return
	}
	if total == 0 {
		t.doc.Reject(sizesKey, "has no weight above 0: give one to a range at least")
		return
	}
	for i := range sizes.Parts {
		sizes.Parts[i].Share /= total
	}
	w.Message.Size, w.Message.Sizes = 0, &sizes
	t.note("%s: sizes are drawn evenly from each range, both ends included. OMB sends one size "+
		"for each range, the middle, so the mean is the same", sizesKey)
	if short {
		t.note("%s has sizes below %s, which become %[2]s: each message carries a stamp of that "+
			"size", sizesKey, quantity.Bytes(workload.StampBytes))
	}
	if t.doc.Has("messageSize") {
		t.note("messageSize has no effect, here and in OMB, because %s is given", sizesKey)
	}
}

// sizeRange reads a range of sizes as OMB writes it: 256-1024, 1KB-4KB.
func sizeRange(text string) (least, most int64, ok bool) {
	from, to, found := strings.Cut(text, "-")
	least, fromOK := ombSize(from)
	most, toOK := ombSize(to)
	return least, most, found && fromOK && toOK && least <= most
}

// ombSize reads a size: a whole number with B, KB or MB behind it, or nothing.
func ombSize(text string) (int64, bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	unit := int64(1)
	for suffix, bytes := range map[string]int64{"KB": 1 << 10, "MB": 1 << 20} {
		if number, has := strings.CutSuffix(text, suffix); has {
			text, unit = number, bytes
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(text, "B")), 10, 32)
	return n * unit, err == nil && n >= 0
}

// existing gives the workload the topics that the file names instead of numbers of its own, as
// files of Redpanda's fork can.
func (t *translation) existing(w *workload.Workload) {
	f := &t.file
	names := f.ExistingTopics
	key := "existingTopicList"
	if len(f.ExistingProduce)+len(f.ExistingConsume) > 0 {
		key = "existingProduceTopicList"
		if len(f.ExistingProduce) == 0 {
			key = "existingConsumeTopicList"
		}
		if len(names) == 0 {
			names = f.ExistingProduce
		}
		if !sameNames(names, f.ExistingConsume) || !sameNames(names, f.ExistingProduce) {
			t.doc.Reject(key, "is a key of Redpanda's fork for topics that are only produced to "+
				"or only consumed from; plimsoll accounts for every message: name the same "+
				"topics in existingTopicList")
			w.Topics, w.Partitions = 1, 1 // which topics is one error
			return
		}
	}
	if len(names) == 0 {
		return
	}
	if f.Topics > 0 {
		t.doc.Reject("topics", "follows from the topics that "+key+" names: remove it")
	}
	if f.PartitionsPerTopic > 0 {
		t.note("partitionsPerTopic has no effect: the topics of %s have partitions of their own",
			key)
	}
	w.Existing, w.Topics, w.Partitions = names, len(names), 1
	t.note("%s is a key of Redpanda's fork: plimsoll reads these topics with subscriptions of its "+
		"own, from the end", key)
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
