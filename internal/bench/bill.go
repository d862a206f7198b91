package bench

import (
	"fmt"
	"math"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
)

// EstimateBill returns the estimated cost of the run; charged is false if it costs nothing.
func (j *Job) EstimateBill() (b system.Bill, charged bool) {
	estimate := j.System.Describe().EstimateBill
	if estimate == nil {
		return b, false
	}
	w, e := j.Workload, j.Estimate()
	for k := range w.TopicKinds() {
		message := w.Message
		if k.Class >= 0 {
			message = w.MessageOf(k.Class)
		}
		of, charges := estimate(j.Settings, j.Target, system.Expected{
			Messages:     whole(float64(e.Messages) * k.Share),
			MessageBytes: int64(math.Ceil(message.Mean())),
			Topics:       k.Topics, Partitions: k.Partitions, Producers: w.Producers,
			Subscriptions: w.AllSubscriptions(), Consumers: w.Consumers,
			Length: e.Length + w.Drain,
		})
		of.Requests, of.USD = of.Requests+b.Requests, of.USD+b.USD
		b, charged = of, charged || charges
	}
	return b, charged
}

// CheckBill refuses a run whose estimated cost exceeds the limit.
func (j *Job) CheckBill() error {
	b, charged := j.EstimateBill()
	if !charged || j.MaxUSD == 0 || b.USD <= j.MaxUSD {
		return nil
	}
	return fmt.Errorf("the run would cost about %s (%s), and --max-cost allows %s: lower "+
		"the rate or the duration, or allow more", result.Dollars(b.USD), b.Price,
		result.Dollars(j.MaxUSD))
}

// billOf returns the estimate for the result; nil: the run costs nothing.
func billOf(j *Job) *result.Bill {
	b, charged := j.EstimateBill()
	if !charged {
		return nil
	}
	return &result.Bill{EstimatedRequests: b.Requests, EstimatedUSD: b.USD, MaxUSD: j.MaxUSD,
		Price: b.Price}
}

// costLimit ends the load when the limit of cost is reached. The drain goes on, so that sent
// messages are received and accounted for.
type costLimit struct {
	idle
	run     *run
	spender system.Spender
}

func (p *costLimit) interval(e ended) error {
	b, _ := p.spender.Spent()
	if !b.Exhausted || !e.going || p.run.stopReason != "" || e.phase == result.PhaseDrain {
		return nil
	}
	p.run.stopReason = fmt.Sprintf("sending stopped at --max-cost %s, after %d requests for %s",
		result.Dollars(p.run.job.MaxUSD), b.Requests, result.Dollars(b.USD))
	p.run.note(p.run.stopReason)
	p.run.watch.Phase(e.phase, p.run.stopReason)
	return p.run.cut(p.run.course.Stop(p.run.job.Clock.Now()))
}

// fillBill writes the cost of the run. It is called when the clients are closed.
func (s *session) fillBill() {
	spender, able := s.cluster.(system.Spender)
	if !able || s.run.Bill == nil {
		return
	}
	b, _ := spender.Spent()
	s.run.Bill.Requests, s.run.Bill.USD = b.Requests, b.USD
}
