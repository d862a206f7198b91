package omb

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// workloadFile is an OMB workload as a file has it, with the fields of the forks.
type workloadFile struct {
	Name                    string  `yaml:"name"`
	Topics                  int64   `yaml:"topics"`
	PartitionsPerTopic      int64   `yaml:"partitionsPerTopic"`
	KeyDistributor          string  `yaml:"keyDistributor"`
	MessageSize             int64   `yaml:"messageSize"`
	UseRandomizedPayloads   bool    `yaml:"useRandomizedPayloads"`
	RandomBytesRatio        float64 `yaml:"randomBytesRatio"`
	RandomizedPayloadPool   int64   `yaml:"randomizedPayloadPoolSize"`
	PayloadFile             string  `yaml:"payloadFile"`
	SubscriptionsPerTopic   int64   `yaml:"subscriptionsPerTopic"`
	ProducersPerTopic       int64   `yaml:"producersPerTopic"`
	ConsumerPerSubscription int64   `yaml:"consumerPerSubscription"`
	ProducerRate            int64   `yaml:"producerRate"`
	ConsumerBacklogSizeGB   int64   `yaml:"consumerBacklogSizeGB"`
	BacklogDrainRatio       float64 `yaml:"backlogDrainRatio"`
	TestDurationMinutes     int64   `yaml:"testDurationMinutes"`
	WarmupDurationMinutes   int64   `yaml:"warmupDurationMinutes"`

	MessageSizeDistribution strict.Pairs `yaml:"messageSizeDistribution"`
	ConsumeDelaySeconds     float64      `yaml:"consumeDelaySeconds"`

	// Redpanda's fork.
	ExistingTopics  []string `yaml:"existingTopicList"`
	ExistingProduce []string `yaml:"existingProduceTopicList"`
	ExistingConsume []string `yaml:"existingConsumeTopicList"`
	SampleRate      int64    `yaml:"sampleRateMillis"`

	// Forks of 2020.
	ConsumerOnly      bool  `yaml:"consumerOnly"`
	StartRate         int64 `yaml:"producerStartRate"`
	AcceptableBacklog int64 `yaml:"acceptableBacklog"`
	IncrementRate     int64 `yaml:"producerIncrementRate"`
	IncrementSeconds  int64 `yaml:"producerIncrementSeconds"`
	PauseBeforeDrain  int64 `yaml:"producerPauseBeforeDrain"`
	PauseDuringDrain  int64 `yaml:"producerPauseDuringDrain"`
	ReceivedPercent   int64 `yaml:"messageRateReceivedForSubscription"`

	// Forks whose load changes during a run. OMB's own keys are near these names, and would
	// make it a constant load.
	RateList      strict.Refused `yaml:"producerRateList" refuse:"is a fork's key for rates that change during a run, and is not carried over: write a workload with load: {steps: [{rate: 1k/s, for: 5m}, {from: 1k/s, to: 2k/s, for: 5m}]}"`
	ProducersList strict.Refused `yaml:"producersPerTopicList" refuse:"is a fork's key for producers that come and go during a run, which plimsoll does not offer: write one number in producersPerTopic"`
	LogInterval   int64          `yaml:"logIntervalMillis"`

	// A fork that searches for a rate by ramps. It keeps getting keys.
	Ramp strict.Pairs `family:"ramp"`
}

// templateFile has the fields that are lists in a template of OMB's workload generator.
type templateFile struct {
	NameFormat    string  `yaml:"nameFormat"`
	Topics        []int64 `yaml:"topics"`
	Partitions    []int64 `yaml:"partitionsPerTopic"`
	MessageSize   []int64 `yaml:"messageSize"`
	Subscriptions []int64 `yaml:"subscriptionsPerTopic"`
	Producers     []int64 `yaml:"producersPerTopic"`
	Consumers     []int64 `yaml:"consumerPerSubscription"`
	Rate          []int64 `yaml:"producerRate"`
}

var listedKeys = []string{"topics", "partitionsPerTopic", "messageSize", "subscriptionsPerTopic",
	"producersPerTopic",
	"consumerPerSubscription", "producerRate", "nameFormat"}

const (
	// maxRate is the rate in OMB's own workloads that stands for "as much as possible": it
	// overdrives the system, and OMB's templates print it as max-rate.
	maxRate = 10_000_000
	// keyCount is the number of keys that OMB makes when it starts.
	keyCount = 10_000
	// rampStart is the key of a fork with the rate at which its search begins.
	rampStart = "rampStartRate"
	// The warm-up of a file that gives none, in minutes.
	warmupMinutes, redpandaWarmupMinutes = 1, 30
	maxNameBytes                         = 64
	// standInRate is the rate of plimsoll's default workload. It is used until the given rate
	// replaces it; a search may begin there.
	standInRate = 10_000
)

// ownKeys are the keys that only OMB's workloads have.
var ownKeys = regexp.MustCompile(`(?m)^\s*\{?\s*["']?(` +
	`partitionsPerTopic|subscriptionsPerTopic|producersPerTopic|consumerPerSubscription|` +
	`producerRate|messageSize|payloadFile|keyDistributor|` +
	`testDurationMinutes|warmupDurationMinutes|useRandomizedPayloads|` +
	`consumerBacklogSizeGB|existingTopicList)["']?\s*:`)

// IsWorkload reports whether a file has keys that only OMB workloads have.
func IsWorkload(src []byte) bool { return ownKeys.Match(src) }

// Given says which values the user gives in flags, so that the file need not have them.
type Given struct {
	Rate, Duration bool
	// Search: the workload is for a search, which finds the rate and has trials of its own
	// length. It begins at the rate of the file, if there is one.
	Search bool
}

// ParseWorkload translates an OMB workload. The notes are sentences on values that OMB assumes
// without stating them, and on keys without an effect here. Rate and duration come from flags and
// apply if the file lacks them. The error is a strict.Violations with everything that is wrong.
func ParseWorkload(fileName string, src []byte, given Given) (*workload.Workload, []string, error) {
	if err := isTemplate(fileName, src); err != nil {
		return nil, nil, err
	}
	f := workloadFile{BacklogDrainRatio: 1, ReceivedPercent: 100}
	doc := strict.DecodeSparse(fileName, src, &f)
	if doc.Broken() {
		return nil, nil, doc.Err()
	}
	t := translation{file: f, doc: doc, given: given}
	t.refuse()
	w := t.workload(fileName)
	t.hold(w)
	if err := doc.Err(); err != nil {
		return nil, nil, err
	}
	return w, t.notes, nil
}

// isTemplate refuses the input of OMB's workload generator, at the first list.
func isTemplate(fileName string, src []byte) error {
	doc := strict.DecodeSparse(fileName, src, &templateFile{})
	if doc.Broken() {
		return nil
	}
	for _, key := range listedKeys {
		if !doc.Has(key) || doc.Failed(key) {
			continue
		}
		at := doc.At(key)
		return strict.Violations{
			{File: fileName, Line: at.Line, Column: at.Column, Excerpt: at.Excerpt,
				Message: "this is a template, from which OMB's generator makes a workload for " +
					"each combination of its lists: write one value for each of " +
					strings.Join(listedKeys[:7], ", ") +
					", and a file for each workload that is meant"}}
	}
	return nil
}

// translation is a workload during its translation.
type translation struct {
	file  workloadFile
	doc   *strict.Document
	given Given
	notes []string
}

func (t *translation) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// refuse rejects keys that plimsoll has no equivalent of.
func (t *translation) refuse() {
	f, reject := &t.file, t.doc.Reject
	t.refusePauses()
	if f.ConsumerOnly && !t.backlogged() {
		reject("consumerOnly", "is a key of forks of 2020 for a backlog that is read while "+
			"nothing is produced: give its size as consumerBacklogSizeGB, or remove it to "+
			"measure the steady load")
	}
	if f.ConsumeDelaySeconds != 0 {
		reject("consumeDelaySeconds",
			"asks for consumers that wait, which plimsoll does not offer yet: remove it")
	}
	if f.ReceivedPercent != 100 {
		reject("messageRateReceivedForSubscription",
			"is a fork's key for subscriptions that receive only a part of the messages; "+
				"plimsoll accounts for every message: remove it")
	}
	if (!t.given.Rate && !t.given.Search || t.backlogged()) && !t.doc.Failed("producerRate") {
		t.refuseRate()
	}
	t.refuseForEver()
}

const findPeak = "run plimsoll peak -w with this file to find the greatest rate that is stable, " +
	"or give --rate"

func (t *translation) refuseRate() {
	switch rate := t.file.ProducerRate; {
	case t.backlogged() && (rate == 0 || rate >= maxRate):
		t.doc.Reject("producerRate", fmt.Sprintf("is %s, but a backlog needs a rate: write the "+
			"messages per second to send while it grows and is read",
			quantity.Count(rate)))
	case rate == 0:
		t.doc.Reject("producerRate",
			"is 0 or absent, and OMB then searches for a rate: "+findPeak)
	case rate >= maxRate:
		t.doc.Reject("producerRate", fmt.Sprintf(
			"is %s, which in OMB's files means no limit; OMB overloads the system and finds no "+
				"rate: %s",
			quantity.Count(rate), findPeak))
	}
}

// workload returns the workload of the file.
func (t *translation) workload(fileName string) *workload.Workload {
	f := &t.file
	w := workload.Default()
	w.Name = t.name(fileName)
	w.Description = "From an OpenMessaging Benchmark workload"
	w.Topics, w.Partitions = int(f.Topics), int(f.PartitionsPerTopic)
	w.Producers, w.Subscriptions, w.Consumers = int(f.ProducersPerTopic), int(
		f.SubscriptionsPerTopic), int(f.ConsumerPerSubscription)
	if w.Subscriptions == 0 {
		t.note("subscriptionsPerTopic is 0 or absent: producers only")
	}
	w.Message.Size = f.MessageSize
	t.sizes(w)
	t.existing(w)
	t.payload(w)
	t.keys(w)
	w.Warmup = minutes(t.warmup())
	w.Duration = minutes(f.TestDurationMinutes)
	if t.given.Duration || t.given.Search && f.TestDurationMinutes == 0 {
		w.Duration = time.Minute
	}
	w.SetRate(float64(t.rate()))
	w.LimitInFlight()
	t.backlog(w)
	t.withoutEffect()
	t.note("an OMB workload has no durability level, its drivers have: level %d applies, unless "+
		"--durability is given", w.Durability)
	return w
}

// rate returns the rate of the workload, or the one at which a search begins.
func (t *translation) rate() int64 {
	f := &t.file
	none := f.ProducerRate <= 0 || f.ProducerRate >= maxRate
	switch {
	case t.backlogged():
	case t.given.Rate:
		return standInRate
	case t.given.Search && none && f.StartRate > 0:
		return f.StartRate
	case t.given.Search && none:
		for _, p := range f.Ramp {
			if n, err := strconv.ParseInt(p.Value, 10, 64); p.Name == rampStart && err == nil &&
				n > 0 {
				return n
			}
		}
		return standInRate
	}
	return f.ProducerRate
}

func minutes(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Minute)
	return time.Duration(min(max(n, -1), most)) * time.Minute
}

// name returns the file's name, in the characters that plimsoll allows in names.
func (t *translation) name(fileName string) string {
	base := filepath.Base(fileName)
	given := cmp.Or(t.file.Name, strings.TrimSuffix(base, filepath.Ext(base)))
	name := plainName(given)
	if name != t.file.Name && t.file.Name != "" {
		t.note("the workload is called %s here: names have letters, digits, - _ and . and at "+
			"most %d of them", name, maxNameBytes)
	}
	return name
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// plainName makes a valid name of text.
func plainName(s string) string {
	s = strings.TrimLeft(notInNames.ReplaceAllString(strings.TrimSpace(s), "-"), "-._")
	if len(s) > maxNameBytes {
		s = s[:maxNameBytes]
	}
	return cmp.Or(strings.TrimRight(s, "-"), "omb")
}

// payload returns the share of the messages that no codec can shrink.
func (t *translation) payload(w *workload.Workload) {
	f := &t.file
	if f.UseRandomizedPayloads {
		w.Message.Incompressible = f.RandomBytesRatio
		if f.RandomizedPayloadPool > 0 {
			t.note("randomizedPayloadPoolSize %s has no effect: plimsoll makes a new payload for "+
				"each message; OMB repeats those of a pool", quantity.Count(
				f.RandomizedPayloadPool))
		} else {
			t.note("randomizedPayloadPoolSize is 0: OMB fails at the first message; plimsoll " +
				"needs no pool")
		}
		if f.PayloadFile != "" {
			t.note("payloadFile has no effect, here and in OMB, because useRandomizedPayloads is " +
				"true")
		}
		return
	}
	w.Message.Incompressible = 1
	from := "payloadFile is missing, and OMB fails without it"
	if f.PayloadFile != "" {
		from = "payloadFile is not read"
	}
	t.note("%s: plimsoll makes a new payload for each message, of bytes that no codec shrinks. "+
		"OMB repeats one payload, so compression shrinks its batches and not these", from)
	if f.RandomBytesRatio != 0 || f.RandomizedPayloadPool != 0 {
		t.note("randomBytesRatio and randomizedPayloadPoolSize have no effect, here and in OMB, " +
			"because useRandomizedPayloads is false")
	}
}

func (t *translation) keys(w *workload.Workload) {
	kind := workload.KeysNone
	switch word := t.file.KeyDistributor; word {
	case "", "NO_KEY":
	case "KEY_ROUND_ROBIN":
		kind = workload.KeysRoundRobin
	case "RANDOM_NANO":
		kind = workload.KeysRandom
	case "INCREMENTING_KEY":
		kind = workload.KeysRoundRobin
		t.note("keyDistributor INCREMENTING_KEY, a fork's, makes every key unique; plimsoll "+
			"cycles through %s keys", quantity.Count(keyCount))
	default:
		t.note("unknown keyDistributor %.40q: OMB silently uses NO_KEY, and so does plimsoll", word)
	}
	w.Keys = workload.Keys{Kind: kind}
	if kind != workload.KeysNone {
		w.Keys.Count = keyCount
		w.Spread = "" // the key decides
	}
}

// warmup returns the length of the warm-up in minutes.
func (t *translation) warmup() int64 {
	if t.doc.Has("warmupDurationMinutes") {
		return t.file.WarmupDurationMinutes
	}
	if t.doc.Has("sampleRateMillis") {
		t.note("warmupDurationMinutes is absent: %d minutes, as in the fork that "+
			"sampleRateMillis comes from", redpandaWarmupMinutes)
		return redpandaWarmupMinutes
	}
	t.note("warmupDurationMinutes is absent: %d minute, as in OMB", warmupMinutes)
	return warmupMinutes
}

// withoutEffect notes the given keys that have no effect here.
func (t *translation) withoutEffect() {
	for _, key := range []string{"sampleRateMillis", "logIntervalMillis"} {
		if t.doc.Has(key) {
			t.note("%s has no effect: plimsoll keeps a line a second", key)
		}
	}
	t.searching()
	for _, key := range []string{"backlogDrainRatio", "producerPauseBeforeDrain",
		"producerPauseDuringDrain"} {
		if t.doc.Has(key) && !t.backlogged() {
			t.note("%s has no effect, because no backlog is built", key)
		}
	}
}

// searching notes the keys by which forks search for a rate.
func (t *translation) searching() {
	var keys []string
	for _, key := range []string{"producerStartRate", "acceptableBacklog", "producerIncrementRate",
		"producerIncrementSeconds"} {
		if t.doc.Has(key) {
			keys = append(keys, key)
		}
	}
	for _, p := range t.file.Ramp {
		keys = append(keys, p.Name)
	}
	if len(keys) == 0 {
		return
	}
	are := "is a key"
	if len(keys) > 1 {
		are = "are keys"
	}
	if t.given.Search {
		t.note("%s %s of a fork's search for a rate: plimsoll's search begins at %s and follows "+
			"its own flags", strings.Join(keys, ", "), are,
			quantity.Rate(float64(t.rate())))
		return
	}
	t.note("%s %s of a fork's search for a rate, and a run with a rate ignores them: use "+
		"plimsoll peak to search", strings.Join(keys, ", "), are)
}

// inOMB has OMB's names of the keys that a workload's rules mention.
var inOMB = map[string]string{
	"name": "name", "topics": "topics", "partitions": "partitionsPerTopic",
	"producers":     "producersPerTopic",
	"subscriptions": "subscriptionsPerTopic", "consumers": "consumerPerSubscription",
	"message.size":           "messageSize",
	"message.incompressible": "randomBytesRatio", "load.rate": "producerRate",
	"existing_topics": "existingTopicList",
	"warmup":          "warmupDurationMinutes",
	"duration":        "testDurationMinutes", "backlog": "consumerBacklogSizeGB",
}

// hold checks the workload by plimsoll's own rules, and reports violations with OMB's names at
// OMB's lines.
func (t *translation) hold(w *workload.Workload) {
	var broken strict.Violations
	if !errors.As(w.Validate(), &broken) {
		return
	}
	for _, v := range broken {
		path, rule, _ := strings.Cut(v.Message, " ")
		path, _, _ = strings.Cut(path, "[")
		key := inOMB[path]
		if path == "message.size" && w.Message.Sizes != nil {
			key = sizesKey
		}
		if key != "" {
			t.doc.Reject(key, rule)
			continue
		}
		t.doc.Reject("", v.Message)
	}
}
