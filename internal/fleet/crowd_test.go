package fleet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// crowdVariable has the test binary run as a process of simulated workers: their number, the
// coordinator's address and its token.
const crowdVariable = "PLIMSOLL_TEST_CROWD"

// runCrowd joins so many workers through a port that counts bytes. It tells their number for each
// line that it reads, and ends with its input.
func runCrowd(argument string) error {
	var workers int
	var coordinator, text string
	if _, err := fmt.Sscan(argument, &workers, &coordinator, &text); err != nil {
		return err
	}
	token, err := ParseToken(text)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var carried atomic.Int64
	go forward(listener, coordinator, &carried)
	histograms := drawHistograms()
	for i := range workers {
		s := &simulated{histograms: histograms}
		s.options = WorkerOptions{Coordinator: listener.Addr().String(), Token: token,
			Name: fmt.Sprintf("w%03d", i), Host: "here", Version: version, Cores: 1,
			Clock: clock.Precise()}
		go func() {
			if err := s.work(context.Background()); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(carried.Load())
	}
	return nil
}

// forward carries connections to an address, and counts what they carry, both ways.
func forward(from net.Listener, to string, carried *atomic.Int64) {
	for {
		near, err := from.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", to)
		if err != nil {
			_ = near.Close()
			continue
		}
		pump := func(into, out net.Conn) {
			_, _ = io.Copy(io.MultiWriter(into, counter{carried}), out)
			_ = into.Close()
		}
		go pump(near, far)
		go pump(far, near)
	}
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}

// drawHistograms returns some intervals' histograms of ten series in both phases.
func drawHistograms() (all [][]measure.Histogram) {
	rng := rand.New(rand.NewPCG(1, 2))
	series := slices.Concat(result.AllSeries, result.Beside)[:10]
	spare := measure.NewLive(series...)
	r := measure.NewRecorder(series...)
	for range 8 {
		for i := range series {
			width := 0.12 + 0.02*float64(i)
			for n := range 40_000 {
				ns := int64(1e6 * math.Exp(width*rng.NormFloat64()))
				r.Add(i, measure.Phase(n%2), ns)
			}
		}
		var one []measure.Histogram
		one, spare = r.Collect(spare)
		all = append(all, one)
	}
	return all
}

// simulated is a worker that has joined for real, and makes its answers up.
type simulated struct {
	workerEnd
	histograms [][]measure.Histogram

	share    load.Share
	window   load.Window
	interval int64
}

// work is Work, with made-up answers.
func (s *simulated) work(ctx context.Context) error {
	s.words = make(chan *word, wordsRoom)
	me := hello{Name: s.options.Name, Host: s.options.Host, Version: version, Cores: 1}
	mine, err := s.join(ctx, me)
	if err != nil {
		return err
	}
	conn, err := s.dial(mine)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer func() {
		cancel()
		beside.Wait()
		_ = conn.Close()
	}()
	stream, err := conn.NewStream(ctx, &workStream, methodWork)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(&me); err != nil {
		return err
	}
	beside.Go(func() { s.send(ctx, stream) })
	beside.Go(func() { _ = s.keepTime(ctx, conn) })
	for {
		o := new(order)
		if stream.RecvMsg(o) != nil {
			return nil // the coordinator has ended the fleet
		}
		answer, err := s.pretend(o)
		s.answer(ctx, o.Call, answer, err)
	}
}

// pretend answers an order as a worker would that does all of its share.
func (s *simulated) pretend(o *order) (answer any, err error) {
	switch o.Do {
	case actionBegin:
		var a Assignment
		err = s.read(o.Body, &a)
		s.share, s.interval = a.Plan.Share, 0
	case actionStart, actionCut:
		err = s.read(o.Body, &s.window)
	case actionReady:
		var all measure.Numbers
		for i := range costPartitions {
			all.Add(int64(i))
		}
		answer = load.Readiness{Messages: 1, Received: []measure.Set{all.Set()}}
	case actionSample:
		var histograms bool
		err = s.read(o.Body, &histograms)
		answer = s.timed(s.sample(histograms))
	case actionAccount:
		answer = s.account()
	}
	return answer, err
}

func (s *simulated) sample(histograms bool) load.Sample {
	now := clock.Now()
	done := float64(now-s.window.StartNs) / float64(s.window.EndNs-s.window.StartNs)
	n := int64(costMessages * max(0, min(done, 1)))
	two := [2]int64{measure.Measured: n}
	sample := load.Sample{Worker: s.share.Worker, Clock: clockName, AtNs: now,
		Interval: s.interval,
		Counters: load.Counters{Handed: two, Acked: two, Received: two, Fresh: n,
			FreshAt: []int64{n}, AckedWithin: n, ReceivedWithin: []int64{n},
			FirstHandedNs: s.window.StartNs, LastReceived: min(now, s.window.EndNs),
			Sent: done >= 1, Opened: true},
		Processes: []load.Process{{ID: s.options.Name, CPUSeconds: 1, RSSBytes: 1 << 27}}}
	if histograms {
		s.interval++
		sample.Interval = s.interval
		at := (int(s.interval) + s.share.Worker) % len(s.histograms)
		sample.Histograms = s.histograms[at]
		sample.FirstAckNs, sample.LastAckNs = now-1e9, now
	}
	return sample
}

// account is that of a producer of all partitions, and of a consumer of its part of them.
func (s *simulated) account() load.Account {
	var lane measure.Numbers
	for seq := range int64(costMessages / costPartitions) {
		lane.Add(seq)
	}
	set, workers := lane.Set(), s.share.Workers
	sent := measure.SentAccount{Producer: s.share.Worker}
	for range costPartitions {
		sent.Lanes = append(sent.Lanes, measure.SentLane{Acked: set})
	}
	arrived := measure.ArrivedAccount{Consumer: s.share.Worker}
	for at := range workers * costPartitions {
		if at%costPartitions%workers == s.share.Worker {
			arrived.Lanes = append(arrived.Lanes, measure.ArrivedLane{Lane: at, Seen: set})
		}
	}
	return load.Account{Clock: clockName, Sent: []measure.SentAccount{sent},
		Arrived:      []measure.ArrivedAccount{arrived},
		MeanInFlight: 1, MemoryBytes: 1 << 20}
}
