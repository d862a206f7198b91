package probe

import "github.com/plimsoll-bench/plimsoll/system"

// row is one question and the function that tries it; nil: only the system's description has an
// answer, because it would take code of that system's own to try it.
type row struct {
	Name     string
	Question string
	try      func(t *attempt) (Finding, error)
}

// rows are the questions of the qualitative half of the UFCG study of 2020, in the order of
// printing.
var rows = []row{
	{"time decoupling", "does a consumer that was away get the messages published meanwhile?",
		(*attempt).timeDecoupling},
	{system.CompetingConsumers,
		"does each message go to only one consumer of a subscription?",
		(*attempt).competing},
	{"multicast", "does each of several subscriptions get every message?", (*attempt).multicast},
	{"order in a partition",
		"do one producer's messages to a partition arrive in the order of sending?",
		(*attempt).partitionOrder},
	{"global order", "do they arrive in that order across all partitions of a topic?",
		(*attempt).globalOrder},
	{"order on redelivery", "is the order kept when a consumer dies and another gets its messages?",
		(*attempt).redeliveryOrder},
	{"at most once", "can a consumer exclude that a message comes twice, even if it dies?",
		(*attempt).atMostOnce},
	{"at least once", "can a consumer exclude that a message is lost, even if it dies?",
		(*attempt).atLeastOnce},
	{system.ExactlyOnce, "does a message that its publisher had to send twice arrive once?",
		nil},
	{"redelivery",
		"does a message go to another consumer when its consumer dies while handling it?",
		(*attempt).redelivery},
	{system.Replay,
		"can a subscription read acknowledged messages again?", (*attempt).replay},
	{system.PublisherAcks,
		"which acknowledgement can a publisher wait for? Does it learn of a refusal?",
		nil},
	{system.RoutingDirect,
		"does a message reach only the consumers that asked for its key?",
		nil},
	{system.RoutingPattern,
		"does a message reach the consumers whose pattern of words matches its key?",
		nil},
	{"routing: fanout", "does a message reach all bound consumers, whatever its key?",
		(*attempt).fanout},
	{system.RoutingHeaders,
		"does a message reach only the consumers that asked for its headers?",
		nil},
	{system.MessageTTL, "does a message vanish if it is not read within its time to live?",
		nil},
	{system.Priorities, "does an urgent message overtake waiting messages?",
		nil},
	{system.DelayedDelivery, "can a publisher have a message delivered later?",
		nil},
	{system.DeadLetters, "does the system put rejected messages aside?",
		nil},
	{system.FlowControl, "do the servers block or refuse a publisher that exceeds a bound?",
		nil},
	{system.Transactions,
		"do all messages of a transaction arrive, or none if it is aborted?",
		nil},
}

// Rows are the names of the questions, in their order.
func Rows() []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
	}
	return names
}

// Untried are the names of the questions that only a system's description answers.
func Untried() (names []string) {
	for _, r := range rows {
		if r.try == nil {
			names = append(names, r.Name)
		}
	}
	return names
}
