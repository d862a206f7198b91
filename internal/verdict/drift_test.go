package verdict

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
)

// seeds is the number of generated windows with a planted leak, which must be found, and of
// windows without one, in which none may be claimed.
const seeds = 20

const reading = int64(10 * time.Second)

// wander is correlated noise: a first-order autoregression with a standard deviation of 1.
type wander struct {
	*rand.Rand
	memory, state float64
}

func newWander(r *rand.Rand, memory float64) *wander {
	return &wander{r, memory, r.NormFloat64()}
}

func (w *wander) next() float64 {
	w.state = w.memory*w.state + math.Sqrt(1-w.memory*w.memory)*w.NormFloat64()
	return w.state
}

// saw rises from 0 to 1 over each period.
func saw(at, period int64) float64 { return float64(at%period) / float64(period) }

// planted holds the faults of a generated window.
type planted struct {
	hours     float64
	leak      float64 // bytes an hour, of the memory of n1
	slower    float64 // growth of publish p50 in an hour, as a share
	deadRows  float64 // an hour
	retention float64 // share of the window after which the log stops growing; 0: never
}

const (
	mb       = 1 << 20
	payload  = 200 * 1024 * 3600.0 // bytes an hour
	messages = 200 * 3600.0        // an hour
)

// soak generates a window with the noise of real servers: collections of every minute or so,
// a wander over several minutes, a cache that fills at the start, checkpoints, vacuums, and
// latencies that are worse for minutes.
func soak(seed uint64, p planted) *result.Saved {
	s := &result.Saved{Run: *good()}
	r := &s.Run
	r.Load.Segments = []result.Segment{{From: 200, To: 200}}
	r.Load.MessageBytes = 1024
	r.Summary.AchievedRate, r.Summary.WindowNs = 200, int64(p.hours*float64(time.Hour))
	r.Observation.Servers = []string{"n1"}
	r.Environment.MemoryBytes = 1 << 30
	random := rand.New(rand.NewPCG(seed, 7))
	memory, own, rate := newWander(random, 0.98), newWander(random, 0.95), newWander(random, 0.3)
	collect := int64(float64(time.Minute) * (0.5 + random.Float64()))
	vacuum := int64(float64(time.Minute) * (1 + 5*random.Float64()))
	begun := 300 * int64(time.Second)
	for at := int64(0); at < r.Summary.WindowNs; at += reading {
		hour := float64(at) / float64(time.Hour)
		acked := int64(2000 + 3*rate.next())
		i := result.Interval{Phase: result.PhaseMeasure, StartNs: begun + at,
			EndNs: begun + at + reading, Acked: acked, Received: acked,
			RSSBytes: int64(80*mb + 1*mb*own.next() + 3*mb*saw(at, collect))}
		s.Intervals = append(s.Intervals, i)
		kept := hour
		if p.retention > 0 {
			kept = min(hour, p.retention*p.hours)
		}
		filled := 1 - math.Exp(-hour/p.hours*12) // a cache
		disk := 64*mb + payload*1.02*kept + 16*mb*saw(at, 5*int64(time.Minute))
		s.Resources = append(s.Resources, result.Resources{Phase: i.Phase, StartNs: i.StartNs,
			EndNs: i.EndNs,
			Processes: []result.ProcessUse{{Name: "n1", RSSBytes: int64(60*mb +
				0.5*mb*memory.next() + 10*mb*saw(at, collect) + 8*mb*filled + p.leak*hour)}},
			Gauges: []result.Gauge{
				{Name: result.DataOnDisk + "n1", Unit: "bytes", Value: disk},
				{Name: result.DataFiles + "n1", Value: math.Floor(disk / (8 * mb))},
				{Name: "live rows", Value: messages * kept},
				{Name: "dead rows", Value: 20_000*saw(at, vacuum)*(1+0.2*random.Float64()) +
					p.deadRows*hour},
				{Name: "vacuums", Value: float64(at / vacuum), Counter: true},
				{Name: "since the last vacuum", Unit: "s", Value: 360 * saw(at, vacuum)},
				{Name: "oldest transaction", Unit: "s", Value: hour*3600 + 5},
			}})
	}
	latencies(s, random, begun, p)
	return s
}

// latencies adds histograms of one minute each.
func latencies(s *result.Saved, random *rand.Rand, begun int64, p planted) {
	level := newWander(random, 0.8)
	for at := int64(0); at < s.Run.Summary.WindowNs; at += int64(time.Minute) {
		worse := math.Exp(0.05 * level.next())
		slower := 1 + p.slower*float64(at)/float64(time.Hour)
		for _, series := range []result.Series{result.Publish, result.EndToEnd} {
			h := hdr.NewPacked(result.HistogramMinNs, result.HistogramMaxNs,
				result.HistogramDigits)
			for k := range 100 {
				tail := math.Exp(1.2 * float64(k-50) / 50 * math.Exp(0.05*random.NormFloat64()))
				if err := h.RecordValues(int64(1e6*worse*slower*tail), 120); err != nil {
					panic(err)
				}
			}
			s.Latency = append(s.Latency, result.IntervalLatency{Series: series, Histogram: h,
				StartNs: begun + at, EndNs: begun + at + int64(time.Minute)})
		}
	}
}

// trendsIn returns the verdict on trends, and the course of each figure.
func trendsIn(s *result.Saved) (v result.Verdict, courses map[string]result.Trend) {
	JudgeSaved(s)
	courses = map[string]result.Trend{}
	if s.Run.Trends != nil {
		for _, f := range s.Run.Trends.Figures {
			courses[f.Name] = f
		}
	}
	for _, one := range s.Run.Verdicts {
		if one.Name == Trends {
			v = one
		}
	}
	return v, courses
}

// No leak is claimed without one, and every kind of expected growth has its own word. The interval
// of one slope in 20 misses 0 by chance, so a few windows without a leak do not exclude one.
func TestNoLeakIsClaimedWithoutOne(t *testing.T) {
	unsure := 0
	defer func() {
		if unsure > seeds/10 {
			t.Errorf("%d windows of %d seeds do not exclude a leak", unsure, seeds)
		}
	}()
	for seed := range uint64(seeds) {
		windows := []planted{{hours: 2}, {hours: 2, retention: 0.3}}
		if seed < 4 {
			windows = append(windows, planted{hours: 24})
		}
		for _, p := range windows {
			v, courses := trendsIn(soak(seed, p))
			if v.Outcome == result.Unknown && courses["memory of n1"].Course == result.MayGrow {
				unsure++
			} else if v.Outcome != result.Holds {
				t.Errorf("seed %d, %+v: %s: %s", seed, p, v.Outcome, v.Sentence)
			}
			kept := result.WithMessages
			if p.retention > 0 {
				kept = result.LevelledOff
			}
			for name, want := range map[string]result.Course{
				result.DataOnDisk + "n1": kept, result.DataFiles + "n1": kept, "live rows": kept,
				"oldest transaction": result.WithTime,
			} {
				if got := courses[name]; got.Course != want {
					t.Errorf("seed %d, %+v: %+v, want %s", seed, p, got, want)
				}
			}
			if _, known := courses["vacuums"]; known {
				t.Error("a counter is judged")
			}
		}
	}
}

// A leak is found, and nothing else with it.
func TestALeakIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		planted
		perHour float64
	}{
		"memory of n1": {planted{hours: 2, leak: 8 * mb}, 8 * mb},
		"dead rows":    {planted{hours: 2, deadRows: 20_000}, 20_000},
		"publish p50":  {planted{hours: 2, slower: 0.7}, 0.7e6},
	} {
		for seed := range uint64(seeds) {
			v, courses := trendsIn(soak(seed, c.planted))
			f := courses[name]
			if f.Course != result.Grows || v.Outcome != result.Broken ||
				!strings.Contains(v.Sentence, name+" grew by ") {
				t.Errorf("%s, seed %d: %+v: %s: %s", name, seed, f, v.Outcome, v.Sentence)
			}
			if math.Abs(f.PerHour/c.perHour-1) > 0.35 {
				t.Errorf("%s, seed %d: %v an hour, planted %v", name, seed, f.PerHour, c.perHour)
			}
			for other, f := range courses {
				expected := other == name || c.slower > 0 && f.Unit == result.UnitNs
				if f.Course == result.Grows && !expected {
					t.Errorf("%s, seed %d: %s grows too: %+v", name, seed, other, f)
				}
			}
		}
	}
}

// A figure that fills up, and whose own interval lies above 0 and reaches growth that matters, is
// not called steady: whether it grows is unknown.
func TestGrowthThatIsNotShownIsNotExcluded(t *testing.T) {
	for _, c := range []struct {
		low, high, bound float64
		fills            bool
		want             bool
	}{
		{3, 80, 10, true, true},
		{-1, 80, 10, true, false}, // it may as well not grow
		{3, 9, 10, true, false},   // too little to matter
		{3, 80, 10, false, false}, // a latency
	} {
		f := figure{fills: c.fills, bound: c.bound, values: []float64{1, 2}}
		if got := f.mayGrow(c.low, c.high); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
	unsure := 0
	for seed := range uint64(seeds) {
		v, courses := trendsIn(soak(seed, planted{hours: 2, leak: 0.9 * mb}))
		f := courses["memory of n1"]
		if f.Course == result.Steady && f.PerHourLow > 0 && v.Outcome == result.Holds {
			t.Errorf("seed %d: holds, at %v to %v an hour", seed, f.PerHourLow, f.PerHourHigh)
		}
		if f.Course == result.MayGrow && v.Outcome == result.Unknown &&
			strings.Contains(v.Sentence, "memory of n1 may have grown by ") {
			unsure++
		}
	}
	if unsure == 0 {
		t.Error("no window of a small leak is unsure")
	}
}

// The size of other machines' memory is not known, so nothing says when it is full, and plimsoll's
// own process on them is not the system's.
func TestTheMemoryOfHostsHasNoKnownEnd(t *testing.T) {
	s := soak(1, planted{hours: 2, leak: 50 * mb})
	here, courses := trendsIn(s)
	if courses["memory of n1"].FullNs == 0 || !strings.Contains(here.Sentence, "is full in") {
		t.Errorf("%+v", here)
	}
	s.Run.System.Hosts = []result.Host{{Name: "h1"}}
	for i := range s.Resources {
		host := s.Resources[i].Processes[0]
		host.Name = result.HostProcess("h1")
		s.Resources[i].Processes = append(s.Resources[i].Processes, host)
	}
	away, courses := trendsIn(s)
	if courses["memory of n1"].FullNs != 0 || strings.Contains(away.Sentence, "is full in") ||
		!courses["memory of "+result.HostProcess("h1")].Own {
		t.Errorf("%+v, %+v", away, courses)
	}
}

// memoryOf returns the readings of the simulated system's memory over two hours of virtual time.
func memoryOf(t *testing.T, settings ...target.Setting) *result.Saved {
	s := soak(1, planted{hours: 2})
	synctest.Test(t, func(t *testing.T) {
		of := sim.New(clock.Virtual(), nil)
		resolved, err := system.Resolve(of.Describe().Settings, settings)
		if err != nil {
			t.Fatal(err)
		}
		c, err := of.Connect(t.Context(), system.Options{Settings: resolved})
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Resources {
			all, err := c.(system.GaugeReader).ReadGauges(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range all {
				s.Resources[i].Gauges = append(s.Resources[i].Gauges,
					result.Gauge{Name: g.Name, Unit: g.Unit, Value: g.Value})
			}
			time.Sleep(time.Duration(reading))
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return s
}

// The leak of the simulated system is found with each seed, and none without it.
func TestTheLeakOfSimIsFound(t *testing.T) {
	for seed := range seeds {
		settings := []target.Setting{{Name: "memory", Value: "32MB"},
			{Name: "seed", Value: digits(float64(seed))}}
		v, courses := trendsIn(memoryOf(t, settings...))
		if f := courses["memory"]; f.Course != result.Steady || v.Outcome != result.Holds {
			t.Errorf("seed %d: %+v: %s", seed, f, v.Sentence)
		}
		v, courses = trendsIn(memoryOf(t, append(settings,
			target.Setting{Name: "leak", Value: "2MB"})...))
		f := courses["memory"]
		if f.Course != result.Grows || v.Outcome != result.Broken {
			t.Errorf("seed %d: %+v: %s", seed, f, v.Sentence)
		}
		if f.PerHourLow > 2.2*mb || f.PerHourHigh < 1.8*mb {
			t.Errorf("seed %d: %.3g to %.3g an hour, planted 2MB", seed, f.PerHourLow/mb,
				f.PerHourHigh/mb)
		}
	}
}

// A window that is not judged for trends has no verdict, or one that gives the reason.
func TestTrendsThatAreNotJudged(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*result.Saved)
		outcome string
		says    string
	}{
		"short": {func(s *result.Saved) { s.Intervals = s.Intervals[:170] }, "", ""},
		"backlog": {func(s *result.Saved) {
			s.Run.Backlog = &result.Backlog{End: result.BacklogCaughtUp}
		}, "", ""},
		"faults": {func(s *result.Saved) {
			s.Run.Faults = []result.Fault{{Do: "kill"}}
		}, result.Unknown, "faults were injected"},
		"curve": {func(s *result.Saved) {
			s.Run.Load.Segments = []result.Segment{{From: 100, To: 300}}
		}, result.Unknown, "the offered rate changed"},
		"asleep": {func(s *result.Saved) {
			s.Run.Sleeps = []result.Sleep{{FromNs: 3e11, ToNs: 72e11, Ns: 1e9}}
		}, result.Unknown, "for too much of it"},
	} {
		s := soak(1, planted{hours: 2})
		c.change(s)
		v, _ := trendsIn(s)
		if v.Outcome != c.outcome || !strings.Contains(v.Sentence, c.says) {
			t.Errorf("%s: %s: %s", name, v.Outcome, v.Sentence)
		}
	}
}

// The time after a sleep is left out of the blocks, and the run says that the machine slept.
func TestAfterASleepNothingDrifts(t *testing.T) {
	s := soak(3, planted{hours: 2})
	for i := 400; i < 405; i++ {
		s.Resources[i].Processes[0].RSSBytes *= 9
		s.Intervals[i].Acked = 0
	}
	at := s.Intervals[400]
	s.Run.Sleeps = []result.Sleep{{FromNs: at.StartNs, ToNs: at.EndNs, Ns: int64(time.Hour)}}
	v, _ := trendsIn(s)
	if v.Outcome != result.Holds ||
		!strings.Contains(v.Sentence, "without the 1m10s in which the machine slept") {
		t.Errorf("%s: %s", v.Outcome, v.Sentence)
	}
	warned := false
	for _, w := range s.Run.Warnings {
		warned = warned || w.Code == "sleep" && strings.Contains(w.Sentence, "once, for 1h in all")
	}
	if !warned {
		t.Errorf("no warning of the sleep: %v", s.Run.Warnings)
	}
}

// Growth that ends, growth that slows down and a sawtooth are distinguished from a leak.
func TestCourses(t *testing.T) {
	for name, c := range map[string]struct {
		at   func(x float64) float64 // x from 0 to 1
		want result.Course
	}{
		"line": {func(x float64) float64 { return 100 + 50*x }, result.Grows},
		"flat": {func(float64) float64 { return 100 }, result.Steady},
		"fills early": {
			func(x float64) float64 { return 150 - 50*math.Exp(-8*x) }, result.LevelledOff},
		"fills late": {func(x float64) float64 { return 150 - 50*math.Exp(-2.5*x) }, result.Slows},
		"saw": {func(x float64) float64 {
			return 100 + 100*math.Mod(1.6*x, 1)
		}, result.Steady},
		"one tooth": {func(x float64) float64 {
			return 100 + 100*x - 60*max(0, math.Ceil(x-0.95))
		}, result.Saws},
		"down": {func(x float64) float64 { return 150 - 50*x }, result.Falls},
	} {
		s := soak(1, planted{hours: 2})
		noise := newWander(rand.New(rand.NewPCG(1, 1)), 0.5)
		for i := range s.Resources {
			x := float64(i) / float64(len(s.Resources))
			s.Resources[i].Gauges = []result.Gauge{{Name: "figure", Unit: "bytes",
				Value: c.at(x) + 0.2*noise.next()}}
		}
		if _, courses := trendsIn(s); courses["figure"].Course != c.want {
			t.Errorf("%s: %+v, want %s", name, courses["figure"], c.want)
		}
	}
}
