package bench

import (
	"math"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
)

// classes returns what became of each class of messages.
func (r *run) classes(accounts load.Account, e load.Evidence) (all []result.Class) {
	w := r.job.Workload
	for i, c := range w.Classes {
		of := r.plan.OfClass(accounts, i)
		ledger, arrived := r.plan.Judge(of, e)
		producers := c.Producers(w.Producers)
		if w.OwnTopics() {
			producers = w.Producers
		}
		one := result.Class{Name: c.Name, Producers: producers,
			MessageBytes: int64(math.Round(w.MessageOf(i).Mean()))}
		for _, s := range ledger.Subscriptions {
			one.Lost, one.Unread = one.Lost+s.Lost, one.Unread+s.Unread
		}
		var n measure.SentCounts
		within := int64(0)
		for _, s := range of.Sent {
			within += s.AckedWithin
			for k := range s.Lanes {
				n = n.Plus(s.Lanes[k].From(s.Lanes[k].MeasuredFrom))
				one.Acked += s.Lanes[k].From(0).Acked
			}
		}
		// The schedule gives each producer the same number of messages, to within one.
		due := int64(math.Round(float64(r.run.Counters.Scheduled) * c.Share))
		unsent := min(max(0, due-n.Handed), r.run.Counters.Unsent)
		one.Publish = r.censored(result.OfClass(result.Publish, c.Name), nil, result.Missing{
			Unanswered: max(0, n.Handed-n.Acked-n.Refused), Refused: n.Refused, Unsent: unsent})
		one.EndToEnd = r.censored(result.OfClass(result.EndToEnd, c.Name), nil,
			notReceived(n.Handed+unsent, n.Refused, unsent, arrived,
				int64(w.Subscriptions))).WithError(r.clocksDifferNs())
		if s := r.course.Window(); s.EndNs > s.MeasureNs {
			offered, answered := r.loadSeconds()
			one.AckedRate = r.run.Load.Own(float64(within)/answered,
				float64(due-n.Refused)/offered)
		}
		all = append(all, one)
	}
	return all
}

// notReceived divides the messages of so many that did not arrive at each of the subscriptions.
func notReceived(scheduled, refused, unsent, arrived, subscriptions int64) result.Missing {
	absent := max(0, scheduled*subscriptions-arrived)
	out := result.Missing{Unsent: min(absent, unsent*subscriptions)}
	out.Refused = min(absent-out.Unsent, refused*subscriptions)
	out.NotReceived = absent - out.Unsent - out.Refused
	return out
}
